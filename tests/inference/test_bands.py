"""Bands of the risk-coverage curve: formulas against slow ones, coverage by simulation with known truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import betaincinv, ndtr

import abstain
from abstain.inference import risk_band
from abstain.inference._bands import _graded
from abstain.inference._influence import aggregated
from abstain.inference._points import points_of, spread, units_of, unseen_of
from abstain.inference._resample import Sampling
from abstain.inference._spread import powers_of
from tests.inference.populations import POPULATIONS, allowance

# ---------------------------------------------------------------------- formulas


@pytest.mark.parametrize("generalized", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_spread_is_that_of_the_terms(generalized, clustered, weighted):
    """Standard errors and degrees of freedom equal those of w (l A - R B)/D, written out for every threshold."""
    rng = np.random.default_rng(0)
    n = 60
    loss, score = rng.exponential(size=n) * (rng.random(n) < 0.7), np.round(3.0 * rng.normal(size=n)) / 3.0
    weight = rng.gamma(2.0, size=n) if weighted else None
    cluster = rng.integers(0, 12, n) if clustered else None
    points = points_of(loss, score, weight, cluster, generalized)
    error, df = spread(points)
    w = np.ones(n) if weight is None else weight
    for j, threshold in enumerate(points.threshold):
        accepted = score >= threshold
        within = np.ones(n) if generalized else accepted
        terms = w * (loss * accepted - points.risk[j] * within) / np.sum(w * within)
        summed = aggregated(terms, Sampling.of(len(terms), None, cluster))[:, 0]
        wanted = np.sum(summed**2)
        if cluster is not None:
            sizes = np.bincount(cluster, w * within)
            number, m = sizes.sum() ** 2 / np.sum(sizes**2), len(summed)
            wanted = wanted * (m - 1) / m * number / (number - 1) if number > 1 + 1e-9 else 0.0
            assert df[j] <= max(number - 1, 1.0) + 1e-9
            if error[j] > 1e-9:
                assert df[j] == pytest.approx(min(powers_of(summed).df, number - 1), rel=1e-6)
        np.testing.assert_allclose(error[j], np.sqrt(wanted), rtol=1e-7, atol=1e-9)
        if not clustered and error[j] > 1e-9:
            np.testing.assert_allclose(df[j], powers_of(terms).df, rtol=1e-6)


@pytest.mark.parametrize("generalized", [False, True])
@pytest.mark.parametrize("kind", ["binary", "graded", "weighted", "clusters"])
def test_a_simultaneous_band_is_a_pointwise_one_at_the_quantile_of_the_largest_deviation(kind, generalized):
    """Each multiplier by hand: of all thresholds from min_coverage on that have a spread; below nothing is said."""
    rng = np.random.default_rng(1)
    n, risk = 60, "generalized" if generalized else "selective"
    loss, score = (rng.random(n) < 0.3) * (1.0 if kind == "binary" else rng.random(n)), rng.random(n)
    score = np.round(score, 1) if kind == "clusters" else score
    given = {"sample_weight": rng.random(n) + 0.5} if kind == "weighted" else {}
    given |= {"clusters": np.arange(n) // 3, "unseen": "alike"} if kind == "clusters" else {}
    band = risk_band(loss, score, kind="simultaneous", min_coverage=0.4, n_draws=100, rng=7, risk=risk, **given)
    weight, unit = given.get("sample_weight", np.ones(n)), given.get("clusters")
    points = points_of(loss, score, given.get("sample_weight"), unit, generalized)
    error, _ = spread(points)
    order, normal = np.argsort(-score, kind="stable"), np.random.default_rng(7)
    draws = [normal.standard_normal(n if unit is None else 20) for _ in range(100)]
    by_row = draws if unit is None else [each[unit[order]] for each in draws]
    w, ell, ranked = weight[order], loss[order], score[order]
    largest = []
    for each in by_row:
        deviations = []
        for t, coverage, found, se in zip(points.threshold, points.coverage, points.risk, error, strict=True):
            inside = ranked >= t
            if coverage >= 0.4 and se > 0.0 and found > 0.0:
                within = np.ones(n) if generalized else inside
                deviations.append(abs(np.sum(each * w * (ell * inside - found * within))) / np.sum(w * within) / se)
        largest.append(max(deviations))
    tail = stats.norm.sf(np.quantile(largest, 0.95, method="higher"))
    wanted = risk_band(loss, score, level=1.0 - 2.0 * tail, risk=risk, **given)
    told = band.coverage >= 0.4
    np.testing.assert_allclose(band.low, np.where(told, wanted.low, 0.0), rtol=1e-9)
    np.testing.assert_allclose(band.high, np.where(told, wanted.high, 1.0), rtol=1e-9)


@pytest.mark.parametrize("most", [1.0, 0.9])
def test_dkw_is_its_formula(most):
    """(G +- d)/(c -+ e), clipped; nothing is known where less than e is accepted; d is more for graded losses."""
    n = 400
    loss, score = POPULATIONS[3].draw(n, np.random.default_rng(4))
    band, whole = (
        risk_band(most * loss, score, kind="simultaneous", method="dkw", risk=each)
        for each in ("selective", "generalized")
    )
    around, found = np.sqrt(np.log(80.0) / (2.0 * n)), band.risk * band.coverage
    more, alone = around, np.sqrt(np.log(40.0) / (2.0 * n))
    if most < 1.0:
        more, alone = (_graded(each) / np.sqrt(n) for each in (0.025, 0.05))
    np.testing.assert_allclose(band.low, np.maximum(found - more, 0.0) / np.minimum(band.coverage + around, 1.0))
    few = band.coverage <= around
    assert (band.high[few] == 1.0).all()
    np.testing.assert_allclose(band.high[~few], np.minimum((found + more)[~few] / (band.coverage - around)[~few], 1.0))
    np.testing.assert_allclose(whole.high, np.minimum(whole.risk + alone, 1.0))


def test_the_graded_deviation_is_a_valid_tail():
    """A little above Massart's: between 1 and 1.2 times, and its bound on the tail is met."""
    for alpha in (0.2, 0.05, 0.001):
        plain = np.sqrt(np.log(2.0 / alpha) / 2.0)
        x = _graded(alpha)
        assert plain < x < 1.25 * plain
        s = np.linspace(0.6, x, 50, endpoint=False)
        t = np.linspace(0.0, 8.0, 200_001)
        tail = 2.0 * np.exp(-2.0 * t**2)
        bounds = [np.trapezoid(tail[t >= each], t[t >= each]) / (x - each) for each in s]
        np.testing.assert_allclose(min(bounds), alpha, rtol=0.01)


# ---------------------------------------------------------------------- coverage


def truth(population, band):
    """The population's risk at the thresholds of a band."""
    coverage = -band.threshold / (population.levels or 1)
    generalized = population.accumulated(coverage)
    return generalized if band.risk_kind == "generalized" else generalized / coverage


@pytest.mark.parametrize("risk", ["selective", "generalized"])
@pytest.mark.parametrize(("which", "n", "options"), [(1, 300, {}), (5, 300, {}), (3, 30, {"method": "dkw"})])
def test_simultaneous_bands_cover(which, n, options, risk):
    """All thresholds at once, at the nominal level up to 2.6 Monte Carlo errors; by DKW at every sample size."""
    rng, hits = np.random.default_rng(5), 0
    for _ in range(120):
        sample, given = POPULATIONS[which].draw(n, rng), {"n_draws": 100, "rng": rng, "risk": risk, **options}
        band = risk_band(*sample, kind="simultaneous", **given)
        true = truth(POPULATIONS[which], band)
        hits += ((band.low <= true + 1e-12) & (true <= band.high + 1e-12)).all()
    assert hits / 120 >= 0.95 - allowance(0.95, 120) * ("method" not in options)


def test_the_ends_of_a_clustered_band_are_their_formula():
    """Below, what lies further out of the scales of logarithms and of roots; above, room for a cluster with losses.

    With fewer than 20 clusters the upper end also has room for a share of them that is wrong as a whole.
    """
    rng = np.random.default_rng(4)
    loss, score, cluster = rng.exponential(size=300) * (rng.random(300) < 0.2), rng.random(300), np.arange(300) // 4
    loss = loss / loss.max()
    points = points_of(loss, score, None, cluster, False)
    whole, band = (risk_band(loss, score, clusters=cluster, unseen=each) for each in ("whole", "alike"))
    (error, df), number, unseen = spread(points), units_of(points), unseen_of(points)
    told = np.flatnonzero((number >= 5.32) & (points.risk > 0.0) & (error > 0.0))
    assert told.size > 100
    for j in told:
        shift = stats.t.ppf(0.975, df[j]) * error[j] / points.risk[j]
        low = min(points.risk[j] * np.exp(-shift), points.risk[j] * max(1.0 - 0.5 * shift, 0.0) ** 2)
        mean, variance = points.risk[j] + unseen[j], error[j] ** 2 + unseen[j] ** 2
        room = stats.gamma.ppf(0.975, mean**2 / variance, scale=variance / mean)
        high = min(max(points.risk[j] * np.exp(shift), room), 1.0)
        np.testing.assert_allclose([band.low[j], band.high[j]], [low, high], rtol=1e-6)
        share = 1.0 - 0.025 ** (1.0 / number[j]) if number[j] < 20.0 else 0.0  # (1 - share)^number = 0.025
        wanted = max(high, points.risk[j] * (1.0 - share) + share)
        np.testing.assert_allclose([whole.low[j], whole.high[j]], [low, wanted], rtol=1e-6)


@pytest.mark.parametrize("clustered", [False, True])
def test_rows_of_weight_0_are_no_rows(clustered):
    """Neither a threshold, nor a unit, nor a cluster of their own comes from them."""
    rng = np.random.default_rng(9)
    loss, score, weight, cluster = rng.random(80) < 0.3, rng.random(80), rng.random(80) + 0.5, np.arange(80) // 2
    weight[60:] = 0.0

    def band(rows):
        given = {"clusters": cluster[rows]} if clustered else {}
        return risk_band(loss[rows], score[rows], sample_weight=weight[rows], **given)

    np.testing.assert_equal(vars(band(slice(80))), vars(band(slice(60))))


def test_clustered_bands_cover():
    """Ten copies of each image share their fate; selective risk at all thresholds over a fifth of the coverage."""
    rng, hits = np.random.default_rng(8), 0

    def images(n):
        effect = np.repeat(rng.normal(size=n), 10)
        score = effect + 0.3 * rng.normal(size=effect.size)
        return (rng.random(effect.size) < ndtr(-3.0 - 3.0 * effect)).astype(float), score

    curve = abstain.risk_coverage_curve(*images(40_000))
    given = {"kind": "simultaneous", "clusters": np.arange(1000) // 10, "n_draws": 100, "min_coverage": 0.2, "rng": rng}
    for _ in range(60):
        band = risk_band(*images(100), **given)
        true = curve.selective_risk[np.minimum(np.searchsorted(-curve.threshold, -band.threshold), len(curve) - 1)]
        hits += ((band.low <= true) & (true <= band.high))[band.coverage >= 0.2].all()
    assert hits / 60 > 0.92 - allowance(0.92, 60)


@pytest.mark.parametrize("kind", ["pointwise", "simultaneous"])
def test_coverage_at_risk_is_covered_by_inversion(kind):
    """R(c) = .2 c^2 rises through .08 at c = sqrt(.4)."""
    rng, hits = np.random.default_rng(9), 0
    for _ in range(200):
        band = risk_band(*POPULATIONS[3].draw(300, rng), kind=kind, n_draws=100, rng=rng)
        interval = band.coverage_at_risk_interval(0.08)
        hits += int(interval.low <= np.sqrt(0.4) <= interval.high)
    assert hits / 200 >= 0.94 - allowance(0.94, 200)


# ---------------------------------------------------------------------- thin data and bad input


@given(
    n=st.sampled_from([80, 25_000]),
    rate=st.sampled_from([0.0005, 0.01, 0.1, 0.5, 0.97]),
    level=st.sampled_from([0.5, 0.9, 0.95, 0.999, 1.0 - 1e-5]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=20)
def test_exact_ends_are_those_of_each_threshold(n, rate, level, seed):
    """To 10 digits those of SciPy, one at a time; from 20,000 thresholds on they are interpolated."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    loss = (rng.random(n) < rate * (1.5 - score)).astype(float)
    band, whole = (risk_band(loss, score, level=level, risk=each) for each in ("selective", "generalized"))
    ranked, tail = loss[np.argsort(-score)].cumsum(), 0.5 - 0.5 * level
    for k in np.unique(np.r_[np.geomspace(1, n, 60).astype(int) - 1, rng.integers(0, n, 60)]).tolist():
        for found, of in ((band, k + 1), (whole, n)):
            low = betaincinv(ranked[k], of - ranked[k] + 1.0, tail) if ranked[k] else 0.0
            high = betaincinv(ranked[k] + 1.0, of - ranked[k], 1.0 - tail) if ranked[k] < of else 1.0
            np.testing.assert_allclose([found.low[k], found.high[k]], [low, high], rtol=1e-10)
    assert band.method == "Clopper-Pearson"
