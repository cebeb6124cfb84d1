"""Metrics whose threshold jumps with the sample: the largest coverage at a risk, a coverage at the edge of a tie."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binom

import abstain
from abstain.inference._confidence import _tails, certain, counted, effective, thinkable
from abstain.inference._spread import both_sides, jumps
from tests.inference.populations import allowance


def misses(draw, truth, repetitions, seed=0, risk=0.05):
    """Return in how many samples the truth lies below and above the interval."""
    rng, below, above = np.random.default_rng(seed), 0, 0
    for _ in range(repetitions):
        loss, score, *weight = draw(rng)
        given = {"sample_weight": weight[0] if weight else None}
        found = abstain.confidence_interval(f"coverage_at_risk(risk={risk})", loss, score, **given)
        below += truth < found.low
        above += truth > found.high
    return below / repetitions, above / repetitions


@pytest.mark.parametrize("levels", [0, 1, 3])
@pytest.mark.parametrize(("risk", "truth"), [(0.05, 1.0), (0.0502, 0.0)])
def test_a_score_that_says_nothing_attains_everything_or_nothing(risk, truth, levels):
    """At the limit all, just above it nothing: the end in question is wrong in at most 2.5 % of the samples."""

    def draw(rng):
        return (rng.random(300) < risk) * 1.0, rng.integers(0, levels, 300) if levels else rng.random(300)

    wrong = misses(draw, truth, 600)
    assert wrong[truth == 0.0] == 0.0
    assert wrong[truth == 1.0] <= 0.025 + allowance(0.025, 600)


@pytest.mark.parametrize(("weighted", "risk"), [(False, 0.01), (True, 0.01), (True, 0.05)])
def test_a_coverage_inside_is_covered(weighted, risk):
    """Risk 0.12 u^3 at rank u, so that the selective risk at coverage c is 0.03 c^3; without and with weights."""

    def draw(rng):
        u = rng.random(300)
        loss = (rng.random(300) < 0.12 * u**3) * 1.0
        return (loss, -u, rng.lognormal(0.0, 1.0, 300)) if weighted else (loss, -u)

    assert sum(misses(draw, min(1.0, (risk / 0.03) ** (1 / 3)), 200, 1, risk)) <= 0.05 + allowance(0.05, 200)


@pytest.mark.parametrize("slope", [0.0, 0.5, 9.0])
@pytest.mark.parametrize("risk", [0.05, 0.4])
def test_both_walks_by_hand(slope, risk):
    """Against SciPy's binomial for the upper end, and the product of factors, row by row, for the lower one."""
    rng = np.random.default_rng(2)
    u = np.sort(rng.random(400))
    loss = (rng.random(400) < slope * (u**4 if slope < 1.0 else 1.0)).astype(float)
    counts = counted(abstain.TieBlocks.from_samples(loss, -u))
    errors, n = np.cumsum(loss), np.arange(1, 401)
    refuted = stats.binom.sf(errors - 1, n, risk) <= 0.02
    assert thinkable(counts, risk, 0.02) == max(np.flatnonzero(~refuted), default=-1)
    stakes = np.array([0.98, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.05]) / (1.0 - risk)
    wealth = np.mean([np.cumprod(1.0 - stake * (loss - risk)) for stake in stakes], axis=0)
    assert certain(counts, risk, 0.02) == max(np.flatnonzero(wealth >= 50.0), default=-1)


def test_the_interval_of_a_coverage_is_exact_and_holds_the_estimate():
    """By default for 0/1 losses; a bootstrap for clusters and on request, which says so; all rows at any risk."""
    rng = np.random.default_rng(3)
    loss = (rng.random(300) < 0.1) * 1.0
    score = rng.random(300) - 2.0 * loss
    for options, method in (({}, "exact walk"), ({"method": "percentile"}, "percentile"), ({"clusters": loss}, "")):
        found = abstain.confidence_interval("coverage_at_risk(risk=0.03)", loss, score, n_resamples=50, **options)
        assert method in found.method
        assert ("covers less than its level" in str(found.warning)) == (method == "percentile")
        assert method != "exact walk" or 0.0 < found.low < found.estimate < found.high < 1.0
    assert abstain.confidence_interval("coverage_at_risk(risk=1.0)", loss, score)[:3] == (1.0, 1.0, 1.0)


def test_effective_counts_show_the_variance_threshold_by_threshold():
    """As many samples as a share with the variance of the weighted one needs, at most Kish's number."""
    rng = np.random.default_rng(4)
    score, loss, weight = rng.integers(0, 12, 60), (rng.random(60) < 0.2).astype(float), rng.lognormal(0.0, 1.0, 60)
    found = effective(abstain.TieBlocks.from_samples(loss, score, weight, keep_samples=True))

    def samples(values, weights):
        share = np.average(values, weights=weights)
        variance, kish = np.sum(weights**2 * (values - share) ** 2), weights.sum() ** 2 / np.sum(weights**2)
        return min(share * (1.0 - share) * weights.sum() ** 2 / variance, kish) if 0.0 < share < 1.0 else kish

    above = [score >= each for each in np.unique(score)[::-1]]
    expected = [samples(loss[each], weight[each]) for each in above]
    np.testing.assert_allclose(found.rows, expected, rtol=1e-9)
    np.testing.assert_allclose(found.errors / expected, [np.average(loss[a], weights=weight[a]) for a in above])
    np.testing.assert_allclose(found.of, [samples(each.astype(float), weight) for each in above], rtol=1e-9)
    np.testing.assert_allclose(found.coverage, [weight[each].sum() / weight.sum() for each in above])


def test_the_edge_of_a_tie_spans_both_thresholds(monkeypatch):
    """The ends are those of the usual interval or at either threshold; of the accuracy it is the mirror."""
    loss, level = np.random.default_rng(0).random(300) < 0.3, np.repeat([5, 4, 3, 2, 1], 60)
    found = abstain.confidence_interval("selective_risk(coverage=0.8)", loss, level)
    mirrored = abstain.confidence_interval("selective_accuracy(coverage=0.8)", loss, level)
    sides = [abstain.confidence_interval(f"selective_risk(threshold={each})", loss, level) for each in (2, 1)]
    assert mirrored[:2] == pytest.approx((1.0 - found.high, 1.0 - found.low))
    assert found.method == "log-t, both sides of a tie"
    assert "edge of a wide tie" in found.warning
    monkeypatch.setattr("abstain.inference._interval.both_sides", lambda coverage, blocks: np.zeros(5, bool))
    sides.append(abstain.confidence_interval("selective_risk(coverage=0.8)", loss, level))
    assert found[:2] == (min(each.low for each in sides), max(each.high for each in sides))


def test_of_three_thresholds_at_an_edge_those_of_least_and_most_risk_count():
    """Cumulative risks of 12, 23 and 15 % of 26, 30 and 48 rows accepted: the one between has the largest."""
    levels, errors = [18, 8, 4, 18, 12], [2, 1, 4, 0, 6]
    score = -np.repeat(np.arange(5), levels)
    loss = np.concatenate([np.arange(n) < k for n, k in zip(levels, errors, strict=True)])
    found, least, most = (
        abstain.confidence_interval(f"selective_risk({at})", loss, score)
        for at in ("coverage=0.55", "threshold=-1", "threshold=-2")
    )
    assert (found.low, found.high) == (least.low, most.high)


@pytest.mark.parametrize("coverage", [0.05, 0.3, 0.5, 0.8, 0.97, 1.0])
def test_wide_ties_around_a_coverage_are_found_by_their_definition(coverage):
    """A tie that holds the coverage and exceeds two of its standard errors; and the edges of ties that are near it."""
    rng, metric = np.random.default_rng(4), abstain.metrics.get("selective_risk", coverage=coverage)
    seen = set()
    for _ in range(300):
        size = rng.integers(1, 40, rng.integers(1, 9)) * rng.integers(1, 4)
        blocks = abstain.TieBlocks.from_samples(np.zeros(size.sum()), -np.repeat(np.arange(size.size), size))
        n, end = size.sum(), np.cumsum(size)
        error = np.sqrt(coverage * (1.0 - coverage) / n)
        holding = next(k for k in range(size.size) if end[k] >= coverage * n - 1e-9)
        wide = coverage < 1.0 and size[holding] / n > 2.0 * error
        assert jumps(metric, blocks) == wide
        reach, large = 2.0 * error, [each / n >= n ** (-1.0 / 3.0) for each in size] + [False]
        edges = [abs(end[k] / n - coverage) < reach and (large[k] or large[k + 1]) for k in range(size.size - 1)]
        spanned = (end > (coverage - reach) * n) & (end - size < (coverage + reach) * n)
        assert both_sides(coverage, blocks).tolist() == (spanned & any(edges)).tolist()
        seen.add((bool(wide), any(edges)))
    assert len(seen) >= (3 if coverage < 1.0 else 1)


@pytest.mark.parametrize("risk", [0.0, 0.001, 0.05, 0.5, 0.97])
def test_many_tails_at_once(risk):
    """They are the binomial tails; effective counts need not be whole."""
    rng = np.random.default_rng(3)
    n = np.floor(10.0 ** rng.uniform(0.0, 6.5, 300))
    errors = np.minimum(np.floor(n * risk + rng.uniform(0.0, 6.0, 300) * np.sqrt(n * risk * (1.0 - risk) + 1.0)), n)
    np.testing.assert_allclose(_tails(errors, n, risk), binom.sf(errors - 1.0, n, risk), rtol=1e-9)
    assert 0.0 <= _tails(np.array([2.5]), np.array([4.5]), risk)[0] <= 1.0


def test_a_difference_ends_where_the_exact_ones_allow():
    """Distances to the exact ends add up as roots of squares; zero lies outside where p is small; without ends none."""
    rng = np.random.default_rng(0)
    loss = np.r_[np.zeros(2000), rng.random(1000) < 0.5].astype(float)
    scores = {"a": -np.arange(3000.0), "b": -np.arange(3000.0) + 900.0 * rng.normal(size=3000)}
    for risk in (0.01, 0.05):
        options = {"metric": f"coverage_at_risk(risk={risk})", "n_resamples": 200, "rng": 0}
        found = abstain.compare(loss, scores, **options).difference("a", "b")
        one, other = (abstain.confidence_interval(options["metric"], loss, each) for each in scores.values())
        low = found.difference - np.hypot(one.estimate - one.low, other.high - other.estimate)
        high = found.difference + np.hypot(one.high - one.estimate, other.estimate - other.low)
        assert found[3:5] == pytest.approx((max(low, -1.0), min(high, 1.0)))
        assert (found.p_value <= 0.05) == (found.low > 0.0)
    none = abstain.compare(loss, scores, clusters=np.arange(3000) // 2, **options).difference("a", "b")
    assert np.isnan(none.low)
    assert "no interval" in str(none.warning)


def test_what_is_too_little_has_no_ends_of_the_other_side():
    """Four of fifty clusters, which share a score, are accepted: too few, although all fifty would be enough."""
    cluster, rng = np.repeat(np.arange(50), 10), np.random.default_rng(3)
    loss, score = (rng.random(500) < 0.3) * 1.0, np.where(cluster < 4, 1.0, 0.5)
    for metric in ("selective_risk(coverage=0.08)", "selective_accuracy(coverage=0.08)"):
        found = abstain.confidence_interval(metric, loss, score, clusters=cluster)
        assert np.isnan([found.low, found.high]).all()
        assert "it rests on about 4 clusters" in found.warning
