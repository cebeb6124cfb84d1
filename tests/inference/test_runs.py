"""Several training runs: two sources of variance, each estimated as simulation says."""

import numpy as np
import pytest
from scipy import stats

import abstain
from abstain.inference import paired, panel
from abstain.inference._spread import components, of_pair, satterthwaite
from tests.inference.populations import allowance
from tests.tiers import repeated

AUGRC = abstain.metrics.get("augrc")


def models(n, runs, seed_sd, rng, k=2):
    """Return losses and scores of k equally good models; each run draws its own error rate and noise."""
    difficulty = rng.standard_normal(n)
    losses, scores = {}, {}
    for name in "abcdef"[:k]:
        own = seed_sd * rng.standard_normal(runs)
        common = rng.random(n)
        chance = np.minimum(0.2 * np.exp(difficulty - 0.5 + own[:, None]), 1.0)
        drawn = np.where(rng.random((runs, n)) < 0.5, common, rng.random((runs, n)))
        losses[name] = (drawn < chance).astype(float)
        scores[name] = -difficulty + rng.standard_normal((runs, n))
    return losses, scores


@pytest.mark.parametrize(("runs", "seed_sd"), [(2, 0.4), (3, 0.15), (5, 0.4)])
@repeated(60, 400)
def test_two_equal_models_rarely_differ(runs, seed_sd, repetitions):
    """R = 2 has one degree of freedom per model: 1 % more is granted to Satterthwaite's approximation."""
    rng = np.random.default_rng(runs)
    n = 200
    wrong = sum(
        paired(AUGRC, panel(*models(n, runs, seed_sd, rng)), rng=rng).differences[0].significant
        for _ in range(repetitions)
    )
    assert wrong / repetitions <= (0.07 if runs == 2 else 0.06) + allowance(0.06, repetitions)


def test_components_by_hand():
    values = np.array([1.0, 2.0, 4.0])
    terms = np.array([[0.1, -0.1], [0.2, -0.2], [0.3, -0.3]])
    parts = components(values, terms, np.inf)
    inside = 2 * (0.01 + 0 + 0.01) / 2
    assert parts.test == pytest.approx(2 * 0.2**2)
    assert parts.seed == pytest.approx((np.var(values, ddof=1) - inside) / 3)
    shared, between = parts.test - inside / 3, np.var(values, ddof=1) / 3
    assert parts.df == pytest.approx((shared + between) ** 2 / (between**2 / 2))
    two = components(values[:2], terms[:2], np.inf)  # nothing is subtracted
    assert (two.test, two.seed) == (pytest.approx(2 * 0.15**2), pytest.approx(0.25))
    one = components(values[:1], terms[:1], 7.0)
    assert np.isnan(one.seed)
    assert (one.total, one.df) == (pytest.approx(0.02), 7.0)
    flat = components(np.ones(3), terms, 9.0)
    assert (flat.seed, flat.df) == (0.0, 9.0)


def test_welch_and_satterthwaite_as_in_scipy():
    """Without test-set noise the unpaired difference is Welch's t-test, the paired one Student's."""
    rng = np.random.default_rng(0)
    a, b, none = rng.standard_normal(5), 3 * rng.standard_normal(8), np.zeros((1, 4))
    parts = of_pair((a, b), (none.repeat(5, 0), none.repeat(8, 0)), np.inf, False)
    welch = stats.ttest_ind(a, b, equal_var=False)
    assert parts.df == pytest.approx(welch.df)
    assert (a.mean() - b.mean()) / np.sqrt(parts.total) == pytest.approx(welch.statistic)
    parts = of_pair((a, b[:5]), (none.repeat(5, 0),) * 2, np.inf, True)
    assert parts.df == pytest.approx(4)
    assert np.sqrt(parts.total) == pytest.approx(stats.sem(a - b[:5]))
    assert satterthwaite((1.0, np.inf), (0.0, 3.0)) == np.inf


def test_pairing_of_runs_is_an_argument_with_a_sensible_default():
    rng = np.random.default_rng(1)
    losses, scores = models(300, 5, 0.5, rng, k=1)
    other = scores["a"] + 0.1 * rng.standard_normal((5, 300))
    both = {"a": scores["a"], "b": other}
    paired_ = abstain.compare(losses["a"], both)
    assert paired_.paired_runs
    apart = abstain.compare(losses["a"], both, paired_runs=False)
    assert apart.differences[0].error_runs > 3 * paired_.differences[0].error_runs
    assert apart.differences[0].error_test == pytest.approx(paired_.differences[0].error_test)
    assert not abstain.compare({"a": losses["a"], "b": losses["a"]}, both).paired_runs
    assert "subtracted run by run" in str(paired_)
    assert "independent" in str(apart)


def test_the_table_shows_both_parts():
    losses, scores = models(300, 4, 0.3, np.random.default_rng(2))
    row = abstain.compare(losses, scores).table[0]
    assert row["standard_error"] == pytest.approx(np.hypot(row["error_test"], row["error_runs"]))
    assert row["n_runs"] == 4
    assert row["low"] < row["estimate"] < row["high"]
    losses["c"], scores["c"] = losses["a"][0], scores["a"][0]
    mixed = abstain.compare(losses, scores)
    assert np.isnan(mixed.difference("a", "c").error_runs)
    assert "one training run of c" in str(mixed)


def test_identical_runs_are_one_run():
    losses, scores = models(200, 1, 0.0, np.random.default_rng(3))
    once = abstain.compare(losses, scores).differences[0]
    thrice = abstain.compare(
        {name: np.repeat(loss, 3, axis=0) for name, loss in losses.items()},
        {name: np.repeat(score, 3, axis=0) for name, score in scores.items()},
    ).differences[0]
    assert thrice.standard_error == pytest.approx(once.standard_error)
    assert thrice.p_value == pytest.approx(once.p_value)
    assert thrice.error_runs == 0.0
    assert np.isnan(once.error_runs)
