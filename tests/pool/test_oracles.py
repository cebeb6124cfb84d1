"""Few labels against design formulas in rationals, printed tables, a general optimiser and known ends."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import beta, gamma, norm, t

import abstain
from abstain.pool import Sample
from abstain.pool._interval import _around, _estimate, _light, estimate
from abstain.pool._pool import Pool, fit
from tests.pool.test_estimate import SCORE, evaluated, labelled


@pytest.mark.parametrize(("looks", "constant"), [(1, 1.960), (2, 1.977), (3, 2.004), (4, 2.024), (5, 2.040)])
def test_levels_are_those_of_the_printed_tables(looks, constant):
    """O'Brien and Fleming's constants at 5 %, as Jennison and Turnbull (2000, table 2.3) print them."""
    for look in range(1, looks + 1):
        bound = -norm.ppf(0.5 - 0.5 * abstain.pool.interim_level(look, looks))
        assert bound == pytest.approx(constant * np.sqrt(looks / look), abs=0.0006 * np.sqrt(looks / look))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.9, 1.0])
def test_the_risk_model_is_at_the_posterior_mode(share):
    """A general optimiser finds no better coefficients."""
    rng = np.random.default_rng(3)
    z = rng.standard_normal(60)
    x, loss = np.stack([np.ones(60), z, z * z - 1.0], axis=1), (rng.random(60) < share).astype(float)
    weight = rng.uniform(0.5, 2.0, 60)

    def minus_log_posterior(b):
        p = 1.0 / (1.0 + np.exp(-x @ b))
        likelihood = weight / weight.mean() @ (loss * np.log(p) + (1.0 - loss) * np.log(1.0 - p))
        return float(0.5 * np.sum(((b - [-2.0, -0.8, 0.0]) / [3.0, 0.7, 0.25]) ** 2) - likelihood)

    best = minimize(minus_log_posterior, np.zeros(3), tol=1e-12).x
    assert fit(x, loss, weight) == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize(("tied", "above", "moved"), [(50, 4, True), (49, 4, False), (50, 5, False)])
def test_beside_a_tie_of_half_of_the_rows_none_may_be_wrong_or_as_many_as_labels_miss(tied, above, moved):
    """Where fewer than five labels lie there."""
    pool, chosen = Pool.of(np.r_[np.linspace(3.0, 2.0, 100 - tied), np.ones(tied)]), abstain.metrics.get("auroc_f")
    rows = np.r_[:above, 100 - tied : 120 - tied - above]
    sample = Sample(pool, rows, np.arange(20) % 2.0, np.zeros(20, int), np.full(20, 0.2), np.ones(100, bool), (20,))
    wanted = []
    for errors in (0.0, -np.log(0.025) * 5.0) if moved else ():
        loss = sample.estimated.loss.copy()
        loss[:-1] = errors / (100 - tied)
        wanted.append(chosen(pool.table(loss)))
    assert _around(chosen, sample, 0.95) == pytest.approx(wanted)


LIGHT = [
    (4, 0, True, "only 4 errors are among the 20"),
    (16, 0, False, "only 4 right predictions are among the 20"),
    (5, 4, True, "only 4 of 20 labelled rows contradict the judge"),
    (5, 5, True, "None"),
    (15, 0, False, "None"),
]


@pytest.mark.parametrize(("errors", "against", "judge", "said"), LIGHT)
def test_what_is_light_is_said(errors, against, judge, said):
    """Fewer than five errors, right predictions, or rows against a judge."""
    loss = (np.arange(20) < errors) * 1.0
    risk = np.where(np.arange(20) < against, 1.0 - loss, loss)
    pool = SimpleNamespace(judge=loss if judge else None)
    sample = SimpleNamespace(errors=float(errors), n=20, loss=loss, risk=risk, rows=np.arange(20), pool=pool)
    assert str(_light(sample)).startswith(said)


SCORES = [9, 7, 7, 6, 4, 4, 4, 1]
GUESS = [Fraction(k, 8) for k in (1, 2, 1, 3, 4, 2, 5, 6)]


def augrc_by_labels(rows, loss, stands_for):
    """Return what rows add to AUGRC, guessed, and what labels correct: each for as many rows as it stands for."""
    adds = [sum(Fraction(2 * (other < one) + (other == one), 2) for other in SCORES) / 64 for one in SCORES]
    corrected = sum(
        rate * adds[row] * (known - GUESS[row]) for row, known, rate in zip(rows, loss, stands_for, strict=True)
    )
    return sum((a * b for a, b in zip(adds, GUESS, strict=True)), corrected)


@pytest.mark.parametrize("chances", [(Fraction(1, 2),) * 3, (Fraction(3, 4), Fraction(1, 2), Fraction(1, 4))])
def test_two_stages_are_the_design_formula_in_rationals(chances):
    """Two rows of eight, then three of the six left: a stage weighs n/(M (M - n)), so even ones are one sample."""
    rows, loss = [1, 6, 0, 3, 4], [0, 1, 1, 0, 1]
    weights = Fraction(2, 8 * 6), Fraction(3, 6 * 3)
    first, second = (each / sum(weights) for each in weights)
    stands_for = [first / Fraction(2, 8) + second] * 2 + [second / chance for chance in chances]
    assert (set(stands_for) == {Fraction(8, 5)}) == (len(set(chances)) == 1)
    sample = Sample(
        Pool.of(np.array(SCORES, dtype=float)), np.array(rows), np.array(loss, dtype=float),
        np.array([0, 0, 1, 1, 1]), np.array([0.25, 0.25, *map(float, chances)]), np.ones(8, bool), (2, 3),
    )  # fmt: skip
    found = abstain.metrics.get("augrc")(sample.with_guess(np.array([float(each) for each in GUESS])))
    assert found == pytest.approx(float(augrc_by_labels(rows, loss, stands_for)), rel=1e-13)


def test_the_variance_of_an_even_sample_is_cochrans():
    """N^2 (1 - n/N) s^2 / n, with s^2 over n - 1, in rationals."""
    terms = [Fraction(k, 16) for k in (3, -2, 0, 7, -5)]
    mean = sum(terms) / 5
    expected = 64 * (1 - Fraction(5, 8)) * (sum((each - mean) ** 2 for each in terms) / 4) / 5
    sample = Sample(
        Pool.of(np.array(SCORES, dtype=float)), np.arange(5), np.zeros(5), np.zeros(5, int), np.full(5, 0.625),
        np.ones(8, bool), (5,),
    )  # fmt: skip
    assert sample.variance_of(np.array([float(each) for each in terms]), 0.0) == pytest.approx(float(expected))


@pytest.mark.parametrize("unseen", ["random", "top"])
@pytest.mark.parametrize("metric", ["cwsa", "cwsa_plus"])
def test_an_interval_on_the_linear_scale_is_its_formula(metric, unseen):
    """Student's t; an error more at a random row; at the top, errors of -log(0.025) expected labels, all missed."""
    rng = np.random.default_rng(0)
    score = rng.random(500)
    loss = (rng.random(500) > score).astype(float)
    plan = abstain.plan_labels(score, n=100, seed=0)
    found = evaluated(plan, metric, loss=loss, score=score, unseen=unseen, target="pool").measurements[0]
    sample, chosen = abstain.pool.sample_of(plan, np.where(plan.stage > 0, loss, np.nan)), abstain.metrics.get(metric)
    gradient = np.array([chosen.value(sample.pool.table(sample.estimated.loss + 1e-6 * (np.arange(500) == k)))
                         for k in range(500)])  # fmt: skip
    per_block = (gradient - chosen.value(sample.estimated)) / 1e-6
    per_row, error = per_block[sample.pool.block], found.standard_error
    reach = t.ppf(0.975, 99 - sample.pool.features.shape[1]) * error
    labelled = per_row[sample.rows]
    moved = found.value + 4.0 * labelled.mean()  # a label stands for five rows, four of them without one
    further = moved - 1.959964 * np.sqrt(error**2 + 16.0 * np.mean(labelled**2))
    units = -np.log(0.025) if unseen == "top" else 0.0
    heavy = np.sort(np.abs(np.delete(per_row, sample.rows)))[::-1]
    missed = np.interp(5.0 * units, np.arange(401.0), np.append(0.0, np.cumsum(heavy)))
    assert found.high == pytest.approx(found.value + reach, rel=1e-6)
    assert found.low == pytest.approx(min(further, found.value - np.hypot(reach, missed)), rel=1e-6)
    assert ("has room for an unseen error there" in str(found.warning)) == (unseen == "top")


def some(judge, wrong, seed):
    """Return a sample of two stages: of unequal chances, then an even one."""
    rng = np.random.default_rng(seed)
    score, n = np.round(rng.random(120), 2), 36
    said = (rng.random(120) < 0.5) * 1.0 if judge else None
    rows, stage = np.sort(rng.permutation(120)[:n]), np.repeat([0, 1], [20, 16])
    loss = (rng.random(n) < wrong) * 1.0
    chance = np.where(stage == 0, rng.uniform(0.1, 0.5, n), 0.16)
    return Sample(Pool.of(score, said), rows, loss, stage, chance, np.ones(120, bool), (20, 16))


def gamma_at(mean, variance, tail):
    """Return a quantile of the gamma distribution of these moments."""
    return float(gamma.ppf(tail, mean**2 / variance, scale=variance / mean)) if mean > 0.0 else 0.0


@pytest.mark.parametrize("judge", [False, True])
@pytest.mark.parametrize("wrong", [0.0, 0.2, 0.8])
@pytest.mark.parametrize("metric", ["aurc", "augrc", "selective_risk(coverage=0.5)"])
def test_ends_of_sums_of_rare_events_are_gamma_quantiles(metric, wrong, judge):
    """Of errors, or where most are wrong, of right predictions; one not seen at a random row, or where it counts most.

    Where a judge says wrong a right prediction may be unseen, too.
    """
    chosen = abstain.metrics.parse(metric)
    for seed in range(4):
        sample = some(judge, wrong, seed)
        pool, g, table = sample.pool, sample.expansion, sample.estimated
        one = [
            chosen.value(pool.table(table.loss + (np.arange(len(table)) == k)), **chosen.options)
            for k in range(len(table))
        ]
        adds = (np.array(one) - chosen.value(table, **chosen.options))[pool.block]
        w, value = adds[sample.rows], float(chosen.value(table, **chosen.options))
        variance, many = sample.variance(adds), 2 * sample.loss.sum() > sample.n
        extra = np.maximum(g - 1.0, 0.0)
        square = extra * np.maximum(extra, 1.0) * w**2
        top = sample.at_top(adds, -np.log(0.025))
        seen, mean, sure = sample.loss, value, sample.risk[sample.rows]
        if many:
            seen, mean, sure = 1.0 - seen, float(adds.sum()) - value, 1.0 - sure
        low = gamma_at(mean, variance, 0.025) if any(w[seen > 0.0]) else 0.0
        more = float(np.mean((g - 1.0) * w))
        ends = [(mean, variance), (mean + more, variance + np.mean(square)), (mean + top, variance + top**2)]
        high = max(gamma_at(*each, 0.975) for each in ends)
        if judge:
            chance = np.abs((g - 1.0) * w) * sure
            chance /= chance.sum()
            fewer, spread = float(chance @ ((g - 1.0) * w)), float(chance @ square)
            vain = (g - 1.0) * w * sure * (1.0 - seen)
            room = gamma_at(vain.sum() + fewer, float(vain @ vain) + spread, 0.975) - vain.sum()
            low = min(low, gamma_at(mean - fewer, variance + spread, 0.025), max(mean - room, 0.0))
        if many:
            alone = g * w * seen
            low = min(low, gamma_at(alone.sum(), float(alone @ alone), 0.025))
            low, high = float(adds.sum()) - high, float(adds.sum()) - low
        known = np.isin(np.arange(120), sample.rows)
        filled = [np.where(known, 0.0, fill * (adds > 0.0)) for fill in (0.0, 1.0)]
        for column in filled:
            column[sample.rows] = sample.loss
        least, most = (float(chosen.value(pool.table(pool.sums(column)), **chosen.options)) for column in filled)
        found = _estimate(chosen, sample, 0.95, "pool", "top")
        value = min(max(value, least), most)
        assert found.value == pytest.approx(value, rel=1e-9)
        wanted = min(max(low, least), value), max(min(high, most), value)
        assert (found.low, found.high) == pytest.approx(wanted, rel=1e-5, abs=1e-9), (seed, wanted)


@pytest.mark.parametrize("wrong", [0.15, 0.5, 0.85])
def test_ends_of_a_ranking_are_on_the_scale_of_log_odds(wrong):
    """Student's t with as many degrees as there are rarer labels; beta quantiles of one error more, and one fewer."""
    chosen = abstain.metrics.get("auroc_f")
    for seed in range(3):
        sample = some(False, wrong, seed)
        pool, table, extra = sample.pool, sample.estimated, np.maximum(sample.expansion - 1.0, 0.0)
        here = np.arange(len(table))
        adds = np.array([chosen.value(pool.table(table.loss + 1e-6 * ((here == k) * 1.0))) for k in here])
        adds = ((adds - chosen.value(table)) / 1e-6)[pool.block]
        value, few = float(chosen.value(table)), float(min(sample.loss.sum(), 36 - sample.loss.sum()))
        shift = t.ppf(0.975, few) * np.sqrt(sample.variance(adds)) / (value * (1.0 - value))
        ends = [1.0 / (1.0 + (1.0 - value) / value * np.exp(way * shift)) for way in (-1.0, 1.0)]
        square = float(np.mean(extra * np.maximum(extra, 1.0) * adds[sample.rows] ** 2))
        spread = ((few + 1.0) / few) ** 2 * (sample.variance(adds) + square)
        added = pool.sums((sample.expansion - 1.0) / 36.0, sample.rows)
        for way in (1.0, -1.0):
            mean = 1.0 - float(chosen.value(pool.table(table.loss + way * added)))
            size = mean * (1.0 - mean) / spread - 1.0
            tails = [
                beta.ppf(tail, mean * size, (1.0 - mean) * size) if size > 0.0 else float(tail > 0.5)
                for tail in (0.025, 0.975)
            ]
            ends += [1.0 - tail for tail in tails]
        found = _estimate(chosen, sample, 0.95, "pool", "top")
        assert (found.low, found.high) == pytest.approx((min(ends), max(ends)), rel=1e-4, abs=1e-5)


def test_a_coverage_within_a_tie_has_room_for_that_of_the_population():
    """The share of a tied score is known up to the error of the pool, at half of what the level leaves out."""
    plan = abstain.plan_labels(SCORE, n=100, seed=0)
    sample = abstain.pool.sample_of(plan, labelled(plan))
    reach = norm.ppf(0.9875) * np.sqrt(0.8 * 0.2 / len(SCORE))
    each = [abstain.metrics.get("selective_risk", coverage=coverage) for coverage in (0.8, 0.8 - reach, 0.8 + reach)]
    found = [_estimate(metric, sample, 0.95, "population", "random") for metric in each]
    ends = estimate(each[0], sample, 0.95, "population", "random")[1:3]
    assert ends == pytest.approx((min(one.low for one in found), max(one.high for one in found)), rel=1e-9)
    assert ends != (found[0].low, found[0].high)


@pytest.mark.parametrize("differ", ["some", "none", "all"])
def test_a_planned_difference_is_its_formula(differ):
    """Guessed where both agree by one risk, where they differ by that of either; with as much of it as helps most."""
    rng = np.random.default_rng(3)
    a, b = rng.random(300), rng.random(300)
    other = np.zeros(300, bool) if differ == "none" else rng.random(300) < (0.3 if differ == "some" else 2.0)
    first = (rng.random(300) < 0.6 * (1.0 - a)) * 1.0
    second = np.where(other, np.where(rng.random(300) < 0.8, 1.0 - first, 1.0), first)
    compare = b if differ == "none" else (b, np.zeros(300, int), other * 1)
    plan = abstain.plan_labels(a, n=80, compare=compare, seed=0)
    seen = plan.stage > 0
    losses = {name: np.where(seen, loss, np.nan) for name, loss in (("a", first), ("b", second))}
    loss = losses if other.any() else losses["a"]
    found = abstain.compare(loss, {"a": a, "b": b}, "augrc", plan=plan, level=0.9).difference("a", "b")
    chosen, sample = abstain.metrics.get("augrc"), abstain.pool.pair_of(plan, [losses["a"], losses["b"]])[0]
    adds = [np.array([chosen.of((np.arange(300) == k) * 1.0, score) for k in range(300)]) for score in (a, b)]
    rows, g = sample.rows, sample.expansion
    rank = [Pool.of(score).rank for score in (a, b)]
    z, gap = 0.5 * (rank[0] + rank[1]), rank[0] - rank[1]
    x, agree = np.stack([np.ones(300), z, z * z - 1.0], axis=1), ~other[rows]
    expit = lambda x: 1.0 / (1.0 + np.exp(-x))  # noqa: E731
    guess = np.zeros(300)
    if agree.any():
        guess = (adds[0] - adds[1]) * expit(x @ fit(x[rows[agree]], first[rows][agree], g[agree]))
    if not agree.all():
        wrong = []
        for sign, of in ((1.0, first), (-1.0, second)):
            line = np.stack([np.ones(300), sign * gap], axis=1)
            prior = np.array([-0.2, 0.5]), np.array([1.5, 1.0])
            right = fit(line[rows[~agree]], 1.0 - of[rows][~agree], g[~agree], *prior)
            wrong.append(1.0 - expit(line @ right))
        guess = np.where(other, adds[0] * wrong[0] - adds[1] * wrong[1], guess)
    d = adds[0][rows] * first[rows] - adds[1][rows] * second[rows]
    tried = np.linspace(0.0, 1.0, 2001)
    spread = [sample.variance_of(d - share * guess[rows], 4.0) for share in tried]
    share = tried[int(np.argmin(spread))]
    value = share * guess.sum() + g @ (d - share * guess[rows])
    unseen = (g - 1.0) * np.where(other[rows], 0.0, adds[0][rows] - adds[1][rows])
    error = np.sqrt(min(spread) + np.mean(unseen**2))
    sign = 1.0 if found.a == "a" else -1.0
    assert sign * found.difference == pytest.approx(value, abs=2e-3 * error)
    assert found.standard_error == pytest.approx(error, rel=1e-4)
    assert found.df == 0.4 * 80
    assert found.p_value == pytest.approx(2.0 * t.sf(abs(value) / error, 32.0), rel=0.02)
    reach = t.ppf(0.95, 32.0) * error
    assert (found.high - found.difference, found.difference - found.low) == pytest.approx((reach, reach), rel=1e-4)
