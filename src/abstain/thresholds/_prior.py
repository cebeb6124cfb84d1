r"""A certificate for a population with another mix of classes: label shift with a prior that is known.

Rows of class y have the weight :math:`w_y = q_y\, n / n_y`, with the target's prior q and the numbers :math:`n_y` of
this sample. Given these numbers the rows are independent, and at a threshold whose risk in the target is not below the
limit the gains :math:`X_i = w_i A_i (\alpha - L_i) / \max w` have expectations whose *sum* is at most 0. A product of
independent factors :math:`1 + \lambda X_i` then has an expectation of at most 1, since the geometric mean of their
expectations is below the arithmetic one. So the bets on a fixed grid (:mod:`abstain.thresholds._grid_bets`) are valid
at one interim analysis, with the prior of this sample estimated from itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain._checks import check_loss, failure_probability, listed, plain, positive, real, same_length, vector
from abstain._typing import AnyArray, ArrayLike
from abstain.thresholds import _grid_bets as bets

#: By how much a prior may miss 1, as written with a few digits.
SLACK = 1e-6


def prior_threshold(
    loss: ArrayLike,
    confidence: ArrayLike,
    labels: ArrayLike,
    *,
    prior: Mapping[Any, float],
    risk: float,
    delta: float,
    scores: ArrayLike | None = None,
    thresholds: ArrayLike | None = None,
    max_loss: float = 1.0,
) -> float:
    r"""Return the lowest threshold whose risk is certified for a population with another mix of classes.

    .. math:: P\{R_q(\hat\tau) > r\} \le \delta, \qquad
        R_q(\tau) = \frac{\sum_y q_y E[A_\tau L \mid y]}{\sum_y q_y P(A_\tau \mid y)}

    Parameters
    ----------
    loss, confidence, labels : array-like of shape (n_samples,)
        Calibration rows with their true classes.
    prior : dict of class to float
        Shares of the classes in the target population, which must be *known*; they sum to 1. Shares that were
        estimated from rows have an error of their own, which no certificate here includes.
    risk, delta : float
        Limit of the mean loss of what is accepted in the target, and the probability that the certificate fails.
    scores : array-like of shape (n_samples,), optional
        Scores of *other* rows, without labels: their quantiles are the thresholds that are tried.
    thresholds : array-like of shape (n_thresholds,), optional
        Thresholds that were fixed before these rows were seen, instead of ``scores``.
    max_loss : float > 0
        Largest possible loss.

    Returns
    -------
    float
        Accept where the score is at least this; +inf if nothing is certified.

    Raises
    ------
    ValueError
        Shares that do not sum to 1; a class of the prior without a row, or one of the rows without a share; a loss
        above ``max_loss``; bad columns.
    TypeError
        Neither ``scores`` nor ``thresholds``, or both.

    Notes
    -----
    Assumed is that rows are independent and that within a class new rows are like these (label shift). A rare class
    that is common in the target has large weights, for which the certificate pays.

    References
    ----------
    Waudby-Smith & Ramdas (2024); the argument for a prior that is estimated from the sample is ours.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.random(8000) < 0.5
    >>> score = rng.random(8000)
    >>> wrong = rng.random(8000) < np.where(ill, 0.4, 0.1) * (1 - score)
    >>> grid = np.linspace(1, 0, 51)
    >>> for prior in ({True: 0.5, False: 0.5}, {True: 0.02, False: 0.98}):
    ...     found = abstain.thresholds.prior_threshold(
    ...         wrong, score, ill, prior=prior, risk=0.05, delta=0.05, thresholds=grid
    ...     )
    ...     print(round(found, 2))
    0.66
    0.24
    """
    losses, score = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None)
    classes = plain(labels, "labels")
    if classes.ndim != 1:
        raise TypeError(f"labels must be one-dimensional, one class per sample, got shape {classes.shape}")
    names, number = np.unique(classes, return_inverse=True)
    n = same_length(loss=losses, confidence=score, labels=number)
    check_loss(losses, np)
    largest = positive(max_loss, "max_loss", "give the largest possible loss")
    if losses.max() > largest:
        raise ValueError(f"max_loss={largest:g} is below a loss that occurs, {losses.max():g}; give a true bound")
    limit = positive(risk, "risk") / largest
    if not limit < 1.0:
        raise ValueError(f"risk must be below max_loss={largest:g}, got {risk!r}; every threshold attains it")
    shares = _shares(prior, names.tolist())
    weight = (shares * n / np.bincount(number))[number]
    grid = bets.grid_of(scores, thresholds)
    cell = bets.cells(grid, score)
    gain = weight / weight.max() * (limit - losses / largest)
    sums = bets.by_cell(bets.log_factors(gain, limit, 1.0), cell, len(grid))
    nothing = np.zeros(len(grid), dtype=bool)
    certified = bets.certify(bets.log_evidence(sums), nothing, -np.log(failure_probability(delta)))
    return float(grid[np.flatnonzero(certified)[-1]]) if certified.any() else float("inf")


def _shares(prior: Mapping[Any, float], names: list[Any]) -> AnyArray:
    """Return the share of each class that occurs."""
    if not isinstance(prior, Mapping):
        raise TypeError(
            f"prior must be a dict of class to share, got {type(prior).__name__}; shares that were estimated from "
            "rows of the target are refused, because their error is not in the certificate"
        )
    given = np.array([real(share, "prior", ">= 0") for share in prior.values()])
    if not ((given >= 0.0) & np.isfinite(given)).all() or abs(given.sum() - 1.0) > SLACK:
        raise ValueError(f"prior must hold shares >= 0 that sum to 1, got a sum of {given.sum():g}")
    absent = [each for each in prior if each not in names and prior[each] > 0.0]
    if absent:
        raise ValueError(
            f"prior names {listed(map(str, absent))}, of which labels hold no row: nothing can be said of it"
        )
    unknown = [each for each in names if each not in prior]
    if unknown:
        raise ValueError(f"prior has no share for {listed(map(str, unknown))}; give 0 if the target has none")
    return np.array([prior[each] for each in names], dtype=np.float64)
