"""Intervals: exact binomial, scales, degrees of freedom, warnings instead of silent NaN."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import recuse
from recuse import TieBlocks, inference, metrics
from recuse.inference._interval import degrees_of_freedom, of_table


@pytest.mark.parametrize(("errors", "n"), [(0, 10), (3, 10), (10, 10), (7, 1000), (1, 1)])
def test_clopper_pearson_inverts_the_binomial(errors, n):
    """The ends are the risks at which the tail probabilities equal their share."""
    low, high = inference.clopper_pearson(errors, n, 0.9)
    if errors > 0:
        assert stats.binom.sf(errors - 1, n, low) == pytest.approx(0.05)
    if errors < n:
        assert stats.binom.cdf(errors, n, high) == pytest.approx(0.05)
    expected = stats.binomtest(errors, n).proportion_ci(0.9, method="exact")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_zero_errors_give_the_rule_of_three():
    """No error in 59 accepted samples bounds the risk by 5 % at 95 %."""
    assert inference.clopper_pearson(0, 59, side="upper")[1] == pytest.approx(1 - 0.05 ** (1 / 59))
    assert inference.clopper_pearson(59, 59, side="lower") == (pytest.approx(0.05 ** (1 / 59)), 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((5, 4), "errors must lie"), ((-1, 4), "errors must lie"), ((0, 0), "n >= 1"), ((1, 4, 1.0), "inside"),
     ((1, 4, 95), "level must lie")],
)  # fmt: skip
def test_bad_binomial_arguments(arguments, message):
    """Counts and levels outside their ranges are named."""
    with pytest.raises(ValueError, match=message):
        inference.clopper_pearson(*arguments)


def problem(n=400, seed=0):
    """Scores that inform, with about 20 % errors."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    return (rng.random(n) < 0.4 * (1.0 - score)).astype(float), score


def test_log_t_interval_by_hand():
    """AUGRC: estimate times exp(-+ t SE / estimate), with 2n/(kurtosis - 1) degrees of freedom."""
    loss, score = problem()
    interval = recuse.confidence_interval("augrc", loss, score, level=0.9)
    terms = inference.influence("augrc", loss, score) / loss.size
    kurtosis = loss.size * np.sum(terms**4) / np.sum(terms**2) ** 2
    df = 2 * loss.size / (kurtosis - 1)
    width = stats.t.ppf(0.95, df) * np.sqrt(np.sum(terms**2)) / recuse.augrc(loss, score)
    assert interval.df == pytest.approx(df)
    assert interval.low == pytest.approx(interval.estimate * np.exp(-width), rel=1e-9)
    assert interval.high == pytest.approx(interval.estimate * np.exp(width), rel=1e-9)
    assert (interval.method, interval.warning) == ("log-t", None)


def test_scales_keep_the_range():
    """Areas stay positive, AUROC inside (0, 1), signed metrics may cross zero."""
    loss, score = problem(60)
    assert recuse.confidence_interval("aurc", loss, score).low > 0
    auroc = recuse.confidence_interval("auroc_f", loss, score)
    assert 0 < auroc.low < auroc.estimate < auroc.high < 1
    assert auroc.method == "logit-t"
    assert recuse.confidence_interval("cwsa", loss, score, level=0.99).method == "t"


def test_fixed_thresholds_are_exact():
    """Risk and accuracy of the accepted, for a 0/1 loss without weights, are Clopper and Pearson's."""
    loss, score = problem()
    accepted = score >= 0.5
    low, high = inference.clopper_pearson(int(loss[accepted].sum()), int(accepted.sum()))
    found = recuse.confidence_interval(metrics.get("selective_risk", threshold=0.5), loss, score)
    assert (found.low, found.high, found.method) == (low, high, "Clopper-Pearson")
    mirrored = recuse.confidence_interval(metrics.get("selective_accuracy", threshold=0.5), loss, score)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - high, 1 - low))
    weighted = recuse.confidence_interval("risk", loss, score, sample_weight=np.linspace(0.5, 1.5, loss.size))
    assert weighted.method == "log-t"


def test_no_errors_give_a_bound_and_say_so():
    """Without a single error: a one-sided bound that the worst ranking could reach, never a NaN."""
    score = np.linspace(0, 1, 100)
    worst = 1 - 0.05**0.01
    for name, bound in (("risk", worst), ("augrc", worst - worst**2 / 2), ("aurc", worst * (1 - np.log(worst)))):
        interval = recuse.confidence_interval(name, np.zeros(100), score)
        assert interval.low == 0.0
        assert interval.high == pytest.approx(bound)
        assert interval.warning is not None


def test_bound_without_errors_is_reached_by_the_worst_ranking():
    """The bound equals the area of a population whose errors are all ranked first."""
    mu = 0.1
    loss = np.repeat([1.0, 0.0], [10_000, 90_000])
    score = np.linspace(1, 0, 100_000)
    assert recuse.augrc(loss, score) == pytest.approx(mu - mu**2 / 2, abs=1e-4)
    assert recuse.aurc(loss, score) == pytest.approx(mu * (1 - np.log(mu)), abs=1e-4)


@pytest.mark.parametrize("name", ["auroc_f", "naurc", "aurc", "e_augrc", "average_precision_error"])
@pytest.mark.parametrize("loss", [np.zeros(20), np.ones(20), np.eye(1, 20)[0]])
def test_degenerate_inputs_never_give_a_silent_nan(name, loss):
    """All right, all wrong, one error: finite ends or a warning that says why not."""
    interval = recuse.confidence_interval(name, loss, np.linspace(1, 0, 20))
    assert np.isfinite([interval.low, interval.high]).all() or interval.warning


def test_few_errors_raise_the_warning_light():
    """One informative error among 200 leaves too few degrees of freedom, and the interval says so."""
    rng = np.random.default_rng(1)
    loss = np.zeros(200)
    loss[0] = 1.0
    interval = recuse.confidence_interval("aurc", loss, rng.random(200))
    assert interval.df < 5
    assert "too few informative errors" in interval.warning


def test_metrics_without_interval_say_why():
    """Hull areas and ECE get none by default; the estimate is still there."""
    loss, score = problem()
    for name in ("ece", "aurc_achievable", "mce"):
        interval = recuse.confidence_interval(name, loss, score)
        assert np.isnan(interval.low)
        assert interval.estimate > 0
        assert "bias" in interval.warning


def test_few_clusters_and_wide_ties_warn():
    """Fewer than ten clusters, and a coverage at the edge of a wide tie, are flagged."""
    loss, score = problem()
    clustered = recuse.confidence_interval("augrc", loss, score, clusters=np.arange(400) % 5)
    assert "only 5 clusters" in clustered.warning
    tied = recuse.confidence_interval(metrics.get("selective_risk", coverage=0.5), loss, (score > 0.5) * 1.0)
    assert "edge of a wide tie" in tied.warning


def test_the_table_alone_gives_nearly_the_same_interval():
    """Without fourth moments the quantile is normal; the standard error is the same."""
    loss, score = problem(2000)
    full = recuse.confidence_interval("aurc", loss, score)
    table = of_table(metrics.get("aurc"), TieBlocks.from_samples(loss, score), 0.95)
    assert table.standard_error == pytest.approx(full.standard_error, rel=1e-12)
    assert table.low == pytest.approx(full.low, rel=0.01)
    assert of_table(metrics.get("risk"), TieBlocks.from_samples(loss, score), 0.95).method == "Clopper-Pearson"


def test_degrees_of_freedom():
    """2n/(kurtosis - 1); none without spread."""
    assert degrees_of_freedom(np.zeros(5)) == 0.0
    assert degrees_of_freedom(np.array([1.0, -1.0, 1.0])) == np.inf


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.1, float("nan")])
def test_bad_levels(level):
    """A level is a fraction inside (0, 1)."""
    loss, score = problem()
    with pytest.raises(ValueError, match="level"):
        recuse.confidence_interval("augrc", loss, score, level=level)
