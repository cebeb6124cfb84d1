"""What a few labels say of a pool: exact where all are labelled, unbiased by every design, covered by the interval."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import abstain
from abstain.pool import Sample
from abstain.pool._estimate import stage_weights
from abstain.pool._pool import Pool
from abstain.pool._sampling import proportional, spread

RNG = np.random.default_rng(5)
N = 600
SCORE = np.round(RNG.random(N), 2)
LOSS = (RNG.random(N) < 0.5 * (1.0 - SCORE) ** 2 + 0.02).astype(float)
LINEAR = ("augrc", "aurc", "sele", "risk", "selective_risk(coverage=0.8)", "generalized_risk(coverage=0.3)")


def labelled(plan, loss=LOSS):
    """Return the losses that the plan asked for, NaN elsewhere."""
    return np.where(plan.stage > 0, loss, np.nan)


def evaluated(plan, metrics="augrc", loss=LOSS, score=SCORE, **options):
    """Evaluate a pool with what the plan asked for."""
    return abstain.evaluate(loss=labelled(plan, loss), confidence=score, plan=plan, metrics=metrics, **options)


def entries(score, loss, n, metrics, runs=60, **options):
    """Return what n labels say in so many draws of them, metric by metric."""
    plans = (abstain.plan_labels(score, n=n, seed=seed, **options) for seed in range(runs))
    return list(zip(*(evaluated(plan, metrics, loss, score).measurements for plan in plans), strict=True))


@pytest.mark.parametrize("score", [SCORE, np.zeros(N), np.round(SCORE, 1)], ids=["ties", "one", "few"])
@pytest.mark.parametrize("stages", [1, 2])
def test_all_rows_labelled_give_what_evaluate_gives(score, stages):
    """With every label there is nothing to estimate: the values are those of the pool, ties included."""
    plan = abstain.plan_labels(score, n=N if stages == 1 else 200, seed=0)
    if stages == 2:
        plan = plan.extend(labelled(plan), n=N - 200, seed=1)
    found = evaluated(plan, "all", score=score)
    plain = abstain.evaluate(loss=LOSS, confidence=score, metrics="all", level=None)
    expected = {entry.metric: entry.value for entry in plain.measurements}
    known = [entry for entry in found.measurements if entry.value == entry.value]
    assert {entry.metric.split("(")[0] for entry in known} >= {"augrc", "aurc", "sele", "auroc_f", "naurc", "risk"}
    for entry in known:
        assert entry.value == pytest.approx(expected[entry.metric], rel=1e-12, abs=1e-12)
        assert entry.low == entry.value == entry.high


@pytest.mark.parametrize("leaning", [False, True])
@pytest.mark.parametrize("metric", LINEAR)
def test_unbiased_over_all_samples_of_two_stages(metric, leaning):
    """The mean over every first and second stage is the value of the pool, whatever is guessed and first seen."""
    score, loss = SCORE[:6], np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    pool, chosen, guess = Pool.of(score), abstain.metrics.parse(metric), np.linspace(0.7, 0.2, 6)
    mean, shares = 0.0, []
    for first in combinations(range(6), 2):
        left = [row for row in range(6) if row not in first]
        chance = 0.1 + loss[list(first)].sum() * np.arange(4.0) + np.arange(4.0) * (not leaning)
        chance = chance / chance.sum()
        for row, probability in zip(left, chance, strict=True):
            rows, stage, drawn = np.array([*first, row]), np.array([0, 0, 1]), np.array([2 / 6, 2 / 6, probability])
            sample = Sample(pool, rows, loss[rows], stage, drawn, np.ones(6, bool), (2, 1), leaning=leaning)
            mean += probability / 15.0 * chosen(sample.with_guess(guess))
            shares.append(sample.shares)
    assert mean == pytest.approx(chosen.of(loss, score), abs=1e-12)
    assert np.ptp(shares, axis=0).max() == 0.0
    assert (shares[0][1] > stage_weights([2, 1], 6)[1]) == leaning


def test_inclusion_probabilities_are_exact():
    """Rows spread over the confidence come as often as was said, always so many, certain ones always."""
    order = np.argsort(-SCORE[:60], kind="stable")
    size = np.linspace(0.2, 3.0, 60)
    size[7] = 200.0
    probability = proportional(size, 15)
    assert probability.sum() == pytest.approx(15.0)
    assert probability[7] == 1.0
    rng, count, draws = np.random.default_rng(0), np.zeros(60), 4000
    for _ in range(draws):
        rows = spread(order, probability, rng)
        assert len(rows) == len(set(rows.tolist())) == 15
        count[rows] += 1.0
    z = (count - draws * probability) / np.sqrt(np.maximum(draws * probability * (1.0 - probability), 1e-9))
    assert np.abs(z).max() < 4.0
    assert 0.7 < z.std() < 1.3
    assert count[7] == draws


def test_intervals_cover_and_beat_plain_evaluation():
    """On a pool whose score ranks well 95 % intervals cover, the variance is honest, and fewer labels are needed."""
    rng, runs, names = np.random.default_rng(3), 80, ("augrc", "aurc", "auroc_f")
    score = rng.random(2000)
    loss = (rng.random(2000) < 0.9 * (1.0 - score) ** 2).astype(float)
    truth = [abstain.metrics.get(name).of(loss, score) for name in names]
    found, plain = [], []
    for seed in range(runs):
        plan = abstain.plan_labels(score, n=150, seed=seed)
        few = evaluated(plan, list(names), loss, score)
        found.append([(entry.value, entry.low, entry.high) for entry in few.measurements])
        rows = plan.planned
        plain.append([abstain.metrics.get(name).of(loss[rows], score[rows]) for name in names])
    values = np.array(found)
    covered = np.mean((values[:, :, 1] <= truth) & (truth <= values[:, :, 2]), axis=0)
    ratio = np.mean((values[:, :, 0] - truth) ** 2, axis=0) / np.mean((np.array(plain) - truth) ** 2, axis=0)
    assert np.all(covered > 0.9)
    assert ratio[0] < 0.85
    assert ratio[1] < 0.9
    assert ratio[2] < 1.15


def test_an_area_in_percent_has_the_interval_in_percent():
    """Room for an unseen error at the top is scaled as well."""
    image = abstain.metrics.image_of(abstain.aurc, 0.0, 100.0)
    percent = replace(abstain.metrics.get("aurc"), name="percent", image=image, **image.facts())
    plan = abstain.plan_labels(SCORE, n=100, seed=0)
    one, found = (evaluated(plan, each).measurements[0] for each in ("aurc", percent))
    assert found.method == one.method == "gamma, one unseen error at the top"
    assert (found.value, found.low, found.high) == pytest.approx((100 * one.value, 100 * one.low, 100 * one.high))


def test_the_population_needs_a_wider_interval():
    """With every label the interval of the population is that of a sample."""
    found = evaluated(abstain.plan_labels(SCORE, n=N, seed=0), target="population").measurements[0]
    plain = abstain.evaluate(loss=LOSS, confidence=SCORE, metrics="augrc").measurements[0]
    assert found.high - found.low == pytest.approx(plain.high - plain.low, rel=0.1)


def test_only_counted_rows_are_drawn_and_nothing_else_is_said():
    """A plan for the risk at a coverage draws accepted rows alone; a metric that counts the others is refused."""
    plan = abstain.plan_labels(SCORE, n=80, metric="selective_risk(coverage=0.5)", seed=0)
    assert SCORE[plan.planned].min() >= np.quantile(SCORE, 0.45)
    assert evaluated(plan, "selective_risk(coverage=0.5)").measurements[0].high < 1.0
    with pytest.raises(ValueError, match=r"the plan draws no label from \d+ rows that AUGRC counts"):
        evaluated(plan)


@pytest.mark.filterwarnings("ignore:100 % of the losses are 1")
def test_no_error_among_the_labels():
    """Without an error the interval starts at 0 and reserves room; what divides by the errors has no value."""
    loss = np.zeros(N)
    plan = abstain.plan_labels(SCORE, n=100, seed=0)
    risk_, auroc = evaluated(plan, ["risk", "auroc_f"], loss).measurements
    assert risk_.low == 0.0
    assert 0.02 < risk_.high < 0.06
    assert str(risk_.warning).startswith("only 0 errors are among the 100 labelled rows")
    assert auroc.reason == "no error is among the 100 labelled rows; label more"
    few = abstain.plan_labels(SCORE, n=8, seed=0)
    loss[few.planned[:4]] = 1.0
    assert str(evaluated(few, "risk", loss).measurements[0].warning).startswith("only 4 errors are among the 8")
    loss[few.planned[4]] = 1.0
    assert "only 3 right predictions are among the 8" in str(evaluated(few, "risk", loss).measurements[0].warning)
    loss = np.zeros(N)
    everything = evaluated(plan, ["risk", "auroc_f"], loss + 1.0).measurements
    assert everything[0].high == 1.0
    assert "right prediction" in str(everything[1].reason)


def wide_tie():
    """Return 2,000 rows of which 99 % share one score; half of the others, below it, are wrong."""
    score = np.where(np.arange(2000) < 1980, 0.9, 0.9 - np.linspace(0.1, 0.2, 2000))
    return score, (np.random.default_rng(1).random(2000) < np.where(score == 0.9, 0.05, 0.5)).astype(float)


def rare(rate):
    """Return 800 rows of which this share is wrong, whatever their score."""
    rng = np.random.default_rng(2)
    return rng.random(800), (rng.random(800) < rate).astype(float)


COVERED = [
    (["augrc"], rare(0.03), 100, 0.9),
    (["augrc", "e_augrc", "e_aurc", "naurc"], rare(0.97), 100, 0.9),
    (["auroc_f"], wide_tie(), 200, 0.95),  # 77 % without room for what lies below the tie
]


@pytest.mark.filterwarnings("ignore:.* of the losses are 1")
@pytest.mark.parametrize(("metrics", "pool", "n", "least"), COVERED)
def test_intervals_cover_where_little_is_seen(metrics, pool, n, least):
    """Room is reserved for what is rare: unseen errors, right answers where most are wrong, rows beside a tie."""
    score, loss = pool
    truths = abstain.evaluate(loss=loss, confidence=score, metrics=metrics, level=None)
    for metric, found in zip(metrics, entries(score, loss, n, metrics), strict=True):
        truth, said = truths.value(metric), [each for each in found if each.value == each.value]
        assert len(said) > 40  # without a right answer among the labels nothing is said
        assert all(each.low <= each.value <= each.high for each in said)
        assert np.mean([each.low <= truth <= each.high for each in said]) >= least, metric


def test_a_judge_that_is_seldom_contradicted_may_be_wrong_unseen():
    """Rows that it accuses in vain are few among the labels: intervals cover, and a note says how few."""
    rng = np.random.default_rng(7)
    score = rng.random(2000)
    loss = (rng.random(2000) < 0.6 * (1.0 - score) ** 2).astype(float)
    judge = np.where((rng.random(2000) < 0.02) & (loss == 0.0), 1.0, loss)
    (found,), truth = entries(score, loss, 150, "augrc", 100, judge=judge), abstain.augrc(loss, score)
    assert np.mean([each.low <= truth <= each.high for each in found]) >= 0.94  # 88 without room for one not seen
    assert 50 < sum("contradict the judge" in str(each.warning) for each in found) < 100


@pytest.mark.filterwarnings("ignore:.* of the losses are 1")
def test_labels_at_random_say_what_a_uniform_plan_says():
    """It is one; a few errors among them are said to be few."""
    plan = abstain.plan_labels(SCORE, n=100, seed=0)
    for errors in (3, 4, 5, 95, 96):
        known = np.where(plan.stage > 0, 0.0, np.nan)
        known[plan.planned[:errors]] = 1.0
        one = abstain.evaluate(loss=known, confidence=SCORE, plan=plan, metrics=list(LINEAR))
        two = abstain.evaluate(loss=known, confidence=SCORE, labelled="at random", metrics=list(LINEAR))
        assert bool(one.provenance["few_labels"]["one_more_error"]) == (errors < 5)
        for each, same in zip(one.measurements, two.measurements, strict=True):
            assert (each.value, each.low, each.high) == pytest.approx((same.value, same.low, same.high), rel=1e-12)
            few = min(errors, 100 - errors)
            assert (f"only {few} " in str(each.warning)) == (f"only {few} " in str(same.warning)) == (few < 5)


@pytest.mark.filterwarnings("ignore:confidence is higher where the loss is higher")
@pytest.mark.parametrize("worst", [False, True], ids=["perfect", "inverted"])
def test_a_ranking_that_looks_perfect_may_be_so(worst):
    """If no labelled pair contradicts a perfect (or perfectly wrong) ranking, the interval holds its value."""
    score = np.random.default_rng(6).permutation(N) / N
    loss = (score > 0.8 if worst else score < 0.2).astype(float)
    plan = abstain.plan_labels(score, n=150, seed=3)
    found = evaluated(plan, ["auroc_f", "prediction_rejection_ratio", "naugrc"], loss, score)
    for entry, value in zip(found.measurements, (0.0, -1.0, 2.0) if worst else (1.0, 1.0, 0.0), strict=True):
        assert min(abs(entry.low - value), abs(entry.high - value)) < 1e-9


@pytest.mark.parametrize("n", [1000, 300])
def test_a_tie_of_the_population_is_covered_however_many_rows_are_labelled(n):
    """Half of the population is tied at 5 % errors and ends at the coverage: with all labels, many, or few."""
    hits, rng = 0, np.random.default_rng(n)
    for seed in range(60):
        score = (rng.random(1000) < 0.5).astype(float)
        loss = (rng.random(1000) < np.where(score > 0.5, 0.05, 0.4)).astype(float)
        plan = abstain.plan_labels(score, n=n, seed=seed)
        entry = evaluated(plan, "selective_risk(coverage=0.5)", loss, score, target="population").measurements[0]
        hits += entry.low <= 0.05 <= entry.high
    assert hits >= 53


def test_one_row_without_a_label_may_be_anything():
    """Up to three rows are left: the interval holds all that they could be, and no more."""
    score, loss = np.linspace(0.0, 1.0, 40), np.tile([1.0, 0.0, 0.0, 0.0], 10)
    for left in (1, 3):
        plan = abstain.plan_labels(score, n=40 - left, seed=0)
        entry = evaluated(plan, "risk", loss, score).measurements[0]
        seen = loss[plan.stage > 0].sum()
        assert (entry.low, entry.high) == pytest.approx((seen / 40, (seen + left) / 40))
    plan = abstain.plan_labels(score, n=36, seed=0)
    assert evaluated(plan, "risk", loss, score).measurements[0].high < (loss[plan.planned].sum() + 4) / 40
