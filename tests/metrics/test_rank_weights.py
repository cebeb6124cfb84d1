"""Bias and error of the rank weights against the printed sums, quadrature and simulation; sums at any rank."""

import math
from fractions import Fraction

import numpy as np
import pytest

import abstain
from abstain.metrics._rank_weights import _harmonic_tail, _stirling_tail

ESTIMATORS = ("harmonic", "log", "sele")
SIZES = (1, 2, 5, 30, 200)
BETAS = (0.0, 1e-6, 0.1, 0.5, 0.9, 0.999)


def weight(n, r, estimator):
    """Weight of ascending rank r by its definition: Eq. 13, Eq. 18, Eq. 33."""
    if estimator == "harmonic":
        return sum((Fraction(1, k) for k in range(n - r + 1, n + 1)), Fraction(0))
    return -math.log1p(-r / (n + 1)) if estimator == "log" else Fraction(r, n)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("n", SIZES)
def test_rank_weights_equal_their_definitions(n, estimator):
    """Each weight equals its exact definition; the harmonic ones have mean 1 (Eq. 14), the log ones less (Eq. 19)."""
    found = abstain.rank_weights(n, estimator)
    np.testing.assert_allclose(found, [float(weight(n, r, estimator)) for r in range(1, n + 1)], rtol=4e-15)
    if estimator == "harmonic":
        assert found.mean() == pytest.approx(1.0, rel=1e-14)
    else:
        assert found.mean() < 1.0 or (n, estimator) == (1, "sele")


@pytest.mark.parametrize("estimator", ["harmonic", "log"])
def test_rank_weights_are_the_estimators_of_aurc(estimator):
    """Mean of weight x loss is AURC by that estimator; SELE has weight r/n."""
    loss = np.random.default_rng(0).random(50)
    expected = np.mean(abstain.rank_weights(50, estimator) * loss)
    assert abstain.aurc(loss, np.arange(50.0), estimator=estimator) == pytest.approx(expected, rel=1e-13)
    assert abstain.sele(loss, np.arange(50.0)) == pytest.approx(np.mean(abstain.rank_weights(50, "sele") * loss))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("n", SIZES)
def test_bias_equals_the_printed_sum(n, estimator):
    """Propositions 3.3, 3.4 and A.2: sum of weight x binomial probability, plus ln(1 - beta)."""
    for beta in BETAS:
        chances = [math.comb(n - 1, r) * beta**r * (1.0 - beta) ** (n - 1 - r) for r in range(n)]
        terms = [float(weight(n, r + 1, estimator)) * chance for r, chance in enumerate(chances)]
        expected = math.fsum([*terms, math.log1p(-beta)])
        assert abstain.rank_weight_bias(n, [beta], estimator)[0] == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_mse_by_quadrature(n, estimator):
    """Propositions 3.5 and A.3: mean over beta ~ Beta(r, n + 1 - r) of (weight + ln(1 - beta))^2."""
    from scipy.integrate import quad
    from scipy.stats import beta as beta_distribution

    for r in sorted({1, (n + 1) // 2, n}):
        alpha = float(weight(n, r, estimator))
        expected = quad(  # in u = -ln(1 - beta), where the logarithm is no singularity
            lambda u: (alpha - u) ** 2 * beta_distribution.pdf(-math.expm1(-u), r, n + 1 - r) * math.exp(-u),  # noqa: B023
            0.0, 60.0, limit=400, points=[0.1, 1.0, 5.0],
        )[0]  # fmt: skip
        assert abstain.rank_weight_mse(n, [r], estimator)[0] == pytest.approx(expected, rel=1e-7)


# ---------------------------------------------------------------------- sums over runs of ranks


RUNS = [(0, 1), (0, 5), (3, 4), (0, 16), (15, 17), (16, 40), (10, 3000), (999_999, 1_000_002), (10**9, 10**9 + 3)]


def last_run(low, high, estimator):
    """Return the mean rank weight of the least confident high - low of high rows, which are one tie and all wrong."""
    value = abstain.aurc([0.0, 1.0], [2.0, 1.0], estimator=estimator, sample_weight=[low, high - low])
    return value * high / (high - low)


@pytest.mark.parametrize(("low", "high"), RUNS)
def test_weights_are_exact_at_any_rank(low, high):
    """The mean over a tie of H_n - H_{n-r}, and of -ln(1 - r/(n + 1)), is the exact one to a few roundings."""
    total = sum((Fraction(k - low, k) for k in range(low + 1, high + 1)), Fraction(0))  # 1/k of each of k - low ranks
    assert last_run(low, high, "harmonic") == pytest.approx(float(total / (high - low)), rel=1e-12, abs=2e-15)
    logs = math.fsum(-math.log1p(-r / (high + 1)) for r in range(1, high - low + 1))
    assert last_run(low, high, "log") == pytest.approx(logs / (high - low), rel=1e-12, abs=2e-14)  # logarithms of 1e9


@pytest.mark.parametrize("n", [0.5, 1.5])
def test_series_have_the_coefficients_of_their_expansions(n):
    """In x = n + 1/2 those of ln n! and of H_n are Bernoulli polynomials at 1/2, of which each has five terms."""
    bernoulli, x = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66], n + 0.5
    at_half = [(2.0 ** (1 - 2 * k) - 1.0) * each for k, each in enumerate(bernoulli, 1)]
    logs = sum(each / (2 * k * (2 * k - 1) * x ** (2 * k - 1)) for k, each in enumerate(at_half, 1))
    sums = -sum(each / (2 * k * x ** (2 * k)) for k, each in enumerate(at_half, 1))
    assert _stirling_tail(np.array([n]))[0] == pytest.approx(logs, rel=1e-13)
    assert _harmonic_tail(np.array([n]))[0] == pytest.approx(sums, rel=1e-13)
