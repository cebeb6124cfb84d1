"""What theory says: weights expected at a population rank, bias of the estimators, errors of the weights, rates."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from abstain import rank_weights
from abstain._typing import FloatArray
from experiments.finite_sample._estimates import tie_averaged


@cache
def expected_weight(n: int, population: int, estimator: str) -> FloatArray:
    """E[weight | population rank R] for R = 1..population, when n - 1 others are drawn without replacement.

    The rank in the batch is 1 + hypergeometric; the paper's binomial (Propositions 3.3, 3.4, A.2) is the limit of a
    large population. Evaluated on a grid that is dense at the top, where the weights are steep, and interpolated.
    """
    if estimator == "sele":
        return np.asarray((1.0 + (n - 1.0) * np.arange(population) / (population - 1.0)) / n)
    from scipy.stats import hypergeom

    above = np.unique(np.concatenate([np.arange(60), np.geomspace(60, population - 1, 240)]).astype(int))
    above = above[above < population]
    weight = rank_weights(n, "harmonic" if estimator == "harmonic" else "log")
    below = population - 1 - above
    grid = hypergeom.pmf(np.arange(n), population - 1, below[:, None], n - 1) @ weight
    every = np.arange(population - 1, -1, -1)  # samples above rank 1, 2, ..., population
    return np.asarray(np.interp(np.log(every + 1.0), np.log(above + 1.0), grid))


def expected_estimate(loss: FloatArray, score: FloatArray, n: int, estimator: str) -> float:
    """Expectation of the estimator on batches of n: sum over the population of expected weight times loss."""
    order = np.argsort(score)
    name = "sele" if "SELE" in estimator else estimator
    weight = tie_averaged(score[order][None], expected_weight(n, len(loss), name))[0]
    value = float(np.mean(weight * loss[order]))
    return 2.0 * value if estimator == "2 x SELE" else value


def weight_mse_given_percentile(n: int, beta: FloatArray, estimator: str) -> FloatArray:
    """E[(weight + ln(1 - beta))^2 | beta], the error of the weight of a sample whose population rank is known.

    Not what Proposition 3.5 gives, which is the error at a known rank in the batch.
    """
    from scipy.stats import binom

    weight = rank_weights(n, "harmonic" if estimator == "harmonic" else "log")
    chance = binom.pmf(np.arange(n), n - 1, beta[:, None])
    return np.asarray(np.sum(chance * (weight + np.log1p(-beta)[:, None]) ** 2, axis=1))


class Rate(NamedTuple):
    """Fits of an error against n: the exponent of a power law, and how well two one-parameter laws fit."""

    exponent: float
    exponent_se: float
    misfit_root: float
    misfit_root_log: float


def fit_rate(n: FloatArray, error: FloatArray) -> Rate:
    """Fit error ~ n^-a, and compare c sqrt(1/n) with c sqrt(ln(n)/n) by the spread of the logarithms around them."""
    x, y = np.log(n), np.log(error)
    slope = np.polyfit(x, y, 1)
    residual = y - np.polyval(slope, x)
    se = np.sqrt(residual @ residual / max(len(x) - 2, 1) / np.sum((x - x.mean()) ** 2))
    root = y + 0.5 * x
    root_log = y - 0.5 * (np.log(x) - x)
    return Rate(float(slope[0]), float(se), float(root.std()), float(root_log.std()))
