"""Two scores: chosen, certified, deployed and watched together."""

import numpy as np
import polars as pl
import pytest

import abstain
from abstain.thresholds import apply_policy, audit, choose_pair
from tests.refusal import refused
from tests.tiers import repeated

N = 6000


def rows(seed, n=N, share=0.15):
    """Return loss, confidence, OOD score and which rows are OOD: these are confident, and told by the second score."""
    rng = np.random.default_rng(seed)
    ood = rng.random(n) < share
    confidence = np.where(ood, rng.beta(4, 2, n), rng.beta(5, 1.2, n))
    loss = np.where(ood, True, rng.random(n) > 0.5 + 0.5 * confidence)
    return loss.astype(float), confidence, rng.normal(2.5 * ~ood, 1.0), ood


def pair(seed=0, **options):
    """Return a pair that was chosen on such rows."""
    loss, confidence, second, ood = rows(seed)
    if "prevalence" in options:
        options["is_ood"] = ood
    return choose_pair(loss, confidence, second, risk=0.1, delta=0.1, rng=0, **options)


@pytest.mark.parametrize("options", [{}, {"prevalence": 0.05}, {"second_threshold": 1.0}])
def test_the_guarantee_names_its_population(options):
    """Rows as drawn, or ID and OOD rows at a prevalence; a threshold fixed before leaves all rows to certify."""
    found = pair(**options)
    words = found.guarantee().statement
    drawn = "with probability at least 0.9 over the draw of the calibration rows, the mean loss of what"
    assert words.startswith(drawn)
    assert ("of ID rows and OOD rows at a prevalence of 0.05" in words) == ("prevalence" in options)
    assert (found.n_chose == 0) == ("second_threshold" in options)
    loss, confidence, second, ood = rows(3, 200_000)
    accepted = found.accept(confidence, second)
    weight = np.where(ood, 0.05 / ood.mean(), 0.95 / (~ood).mean()) if "prevalence" in options else np.ones(len(loss))
    assert np.average(loss[accepted], weights=weight[accepted]) <= 0.1
    drawn = choose_pair(*rows(0)[:3], risk=0.1, delta=0.1, is_ood=rows(0)[3], rng=0)
    assert "of ID and OOD rows as they were drawn (15.6 % OOD)" in drawn.guarantee().statement
    inside = choose_pair(*rows(0)[:3], risk=0.3, delta=0.1, is_ood=np.zeros(N), rng=0)
    assert "both scores accept, of ID rows, is at most 0.3" in inside.guarantee().statement


def test_every_form_of_the_policy_decides_alike(tmp_path):
    """Loaded, by rows, by columns, as a Python file and by apply: missing and low scores included."""
    found = pair()
    found.save(tmp_path / "p.json", score="c", second="o")
    policy = abstain.load_policy(tmp_path / "p.json")
    assert policy == found.policy(score="c", second="o")
    _, confidence, second, _ = rows(0)
    confidence[:3], second[2:5] = np.nan, np.nan
    second[5] = found.second_threshold
    frame = pl.DataFrame({"c": confidence, "o": second})
    many = policy.decide(confidence, second=second)
    assert np.array_equal(many.accepted, found.accept(confidence, second))
    assert (many.counts["below_second_threshold"] > 0, many.counts["missing_score"]) == (True, 5)
    names = {"__name__": "exported"}
    exec(policy.to_python(), names)
    each = ([names["decide"](row)[1] for row in frame.to_dicts()], policy.decide(frame).reason.tolist())
    assert many.reason.tolist() == each[0] == each[1] == [policy.decide(row).reason for row in frame.to_dicts()]
    frame.write_csv(tmp_path / "new.csv")
    done = apply_policy(policy, tmp_path / "new.csv", tmp_path / "out.csv")
    assert (done.n_accepted, done.n_unscored) == (int(many.accepted.sum()), 5)
    assert pl.read_csv(tmp_path / "out.csv")["accepted"].to_list() == many.accepted.tolist()


def test_a_second_score_of_the_same_classes(tmp_path):
    """Both computed from logits: one matrix decides, and so does a file of them."""
    rng = np.random.default_rng(0)
    z = 3.0 * rng.standard_normal((3000, 3))
    first, second = (abstain.policy.compute(name, "logits", z, 1.5) for name in ("msp", "max_logit"))
    loss = (rng.random(3000) > 0.5 + 0.5 * first).astype(float)
    found = choose_pair(loss, first, second, risk=0.2, delta=0.1, rng=0)
    columns = ["z_0", "z_1", "z_2"]
    policy = found.policy(score="msp", second="max_logit", second_computed=True, logits=columns, temperature=1.5)
    policy.save(tmp_path / "p.json")
    expected = found.accept(first, second)
    assert np.array_equal(abstain.load_policy(tmp_path / "p.json").decide(z).accepted, expected)
    pl.DataFrame(z, schema=columns).write_parquet(tmp_path / "new.parquet")
    assert apply_policy(policy, tmp_path / "new.parquet", tmp_path / "out.parquet").n_accepted == expected.sum()
    message = "second_computed= needs the columns of the classes"
    refused(TypeError, message, found.policy, score="s", second="o", second_computed=True)


def test_a_pair_is_audited_as_one_score():
    """What the policy does on new rows is what the pair does."""
    found = pair()
    loss, confidence, second, _ = rows(5)
    policy, score = found.policy(score="c", second="o").as_one(confidence, second)
    seen = audit(policy, loss, score)
    accepted = found.accept(confidence, second)
    assert seen.n_accepted == accepted.sum()
    assert seen.risk == pytest.approx(loss[accepted].mean())
    assert seen.satisfied is not False
    refused(TypeError, "this policy has two scores", found.policy(score="c", second="o").accept, confidence)


@pytest.mark.parametrize(("n_far", "prevalence", "expected"), [(3000, 0.05, 3112), (60, 0.2, 193), (900, 0.6, 1388)])
def test_the_rows_of_a_prevalence_are_draws_of_it(n_far, prevalence, expected):
    """Their number is fixed, that of OOD rows among them binomial in mean and variance."""
    ood = np.arange(3000 + n_far) < n_far
    loss, score = ood * 1.0, np.ones(len(ood))
    far = []
    for seed in range(200):
        found = choose_pair(
            loss, score, score, risk=0.9, delta=0.1, is_ood=ood, prevalence=prevalence, second_threshold=0.0, rng=seed
        ).found
        assert (found.calibration.n, found.coverage) == (expected, 1.0)
        far.append(found.risk * expected)
    spread = expected * prevalence * (1.0 - prevalence)
    assert abs(np.mean(far) - expected * prevalence) < 4.0 * np.sqrt(spread / 200)
    assert 0.6 < np.var(far) / spread < 1.5


@pytest.mark.usefixtures("threshold_alone")
@pytest.mark.parametrize("known", [False, True])
@repeated(30, 600)
def test_pairs_that_break_the_limit_everywhere_are_rarely_certified(known, repetitions):
    """The risk of every pair is just above the limit, by rows as drawn and by a prevalence that is not the file's."""
    n, delta, broken = 600, 0.2, 0
    for seed in range(repetitions):
        rng = np.random.default_rng([seed, 7])
        ood = np.arange(n) < (n // 2 if known else 0)
        wrong = (0.102 - 0.05) / 0.95 if known else 0.102
        loss = np.where(ood, 1.0, rng.random(n) < wrong)
        scores = rng.integers(0, 20, (2, n)) / 20.0
        more = {"is_ood": ood, "prevalence": 0.05} if known else {}
        broken += choose_pair(loss, *scores, risk=0.1, delta=delta, rng=seed, **more).attainable
    assert broken <= delta * repetitions + 2.6 * np.sqrt(repetitions * delta * (1 - delta))


def test_few_rows_certify_nothing_and_say_so():
    """The pair rejects every row; other columns are refused."""
    loss, confidence, second, ood = rows(0, 30)
    for more in ({}, {"is_ood": ood, "prevalence": 0.1}):
        found = choose_pair(loss, confidence, second, risk=0.01, delta=0.05, rng=0, **more)
        assert (found.attainable, found.guarantee(), found.found.threshold) == (False, None, np.inf)
        assert not found.accept(confidence, second).any()
    loss, confidence, second, ood = rows(0, 2000)
    given = {"risk": 0.1, "delta": 0.1, "is_ood": ood, "prevalence": 0.1, "rng": 0}
    refused(TypeError, "prevalence= needs is_ood=", choose_pair, loss, confidence, second, **given | {"is_ood": None})
    refused(ValueError, "max_loss", choose_pair, 0.5 * loss, confidence, second, **given)


@pytest.mark.parametrize("limit", [2.0, 3.0])
def test_what_is_accepted_is_what_was_certified(limit):
    """Rows that tie with the second threshold are accepted by both."""
    rng = np.random.default_rng(0)
    second, conf = rng.integers(0, 5, 6000).astype(float), rng.random(6000)  # a detector of five values
    loss = (rng.random(6000) < np.where(second <= 2, 0.35, 0.01)) * 1.0
    found = choose_pair(loss, conf, second, risk=0.05, delta=0.05, second_threshold=limit)
    assert found.accept(conf, second).sum() == found.found.n_accepted
