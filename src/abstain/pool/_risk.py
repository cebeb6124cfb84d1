"""The risk model: a penalised logistic regression that guesses the loss of a row from its rank (and a judge).

It need not be right. The difference estimator is unbiased whatever is guessed; a calibrated guess makes it precise.
"""

from __future__ import annotations

import numpy as np

from abstain._typing import FloatArray

#: Gaussian priors of intercept, slope, square, judge and judge x slope: means and standard deviations.
MEANS = np.array([-2.0, -0.8, 0.0, 0.0, 0.0])
SPREADS = np.array([3.0, 0.7, 0.25, 2.0, 0.5])
#: Errors that count as much as the overall risk where probabilities are planned by a fit.
SHRINK = 5.0


def expit(x: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(-x)), far out too."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * x))


def fit(
    features: FloatArray, loss: FloatArray, weight: FloatArray, means: FloatArray = MEANS, spreads: FloatArray = SPREADS
) -> FloatArray:
    """Return the coefficients at the posterior mode, by Newton's method with step halving, started at the mean risk.

    Rows count by ``weight``, scaled to a mean of 1. Without halving the steps oscillate at high risks, and the estimate
    stays unbiased while it quietly loses precision.
    """
    p = features.shape[1]
    mean, precision = means[:p], 1.0 / spreads[:p] ** 2
    weight = weight / weight.mean()
    share = (weight @ loss + 0.5) / (weight.sum() + 1.0)
    coefficients = np.zeros(p)
    coefficients[0] = np.log(share / (1.0 - share))

    def objective(b: FloatArray) -> float:
        x = features @ b
        return float(weight @ (np.logaddexp(0.0, x) - loss * x) + 0.5 * precision @ (b - mean) ** 2)

    value = objective(coefficients)
    for _ in range(50):
        risk = expit(features @ coefficients)
        slope = features.T @ (weight * (risk - loss)) + precision * (coefficients - mean)
        curvature = (features * (weight * risk * (1.0 - risk))[:, None]).T @ features + np.diag(precision)
        step = np.linalg.solve(curvature, slope)
        size = 1.0
        while size > 1e-6 and (lower := objective(coefficients - size * step)) > value:
            size *= 0.5
        if size <= 1e-6:
            break
        coefficients, gained, value = coefficients - size * step, value - lower, lower
        if gained < 1e-9 * (1.0 + abs(value)):
            break
    return coefficients


def generic(rank: FloatArray, error_rate: float | None = None) -> FloatArray:
    """Return what is expected of a usual score before any label is seen, moved to an error rate if one is known."""
    if error_rate is None:
        return expit(-2.0 - 0.8 * rank)
    low, high = -40.0, 40.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if expit(middle - 0.8 * rank).mean() < error_rate else (low, middle)
    return expit(0.5 * (low + high) - 0.8 * rank)


def shrunk(risk: FloatArray, errors: float) -> FloatArray:
    """Return a fitted risk drawn towards its mean where few errors were seen."""
    mean = float(risk.mean())
    return mean + (risk - mean) * errors / (errors + SHRINK)
