"""Platt scaling of one score, and combinations of several, fitted on a validation split."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from abstain._checks import UnmetNeed, not_negative
from abstain._typing import Array, FloatArray, Namespace
from abstain.outputs import Outputs
from abstain.scores._batch import Batch, State, astype
from abstain.scores._catalogue import parse, score_of
from abstain.scores._fitted import FittedScore
from abstain.scores._score import Score

#: Finite scores stand for infinite ones: this many standard deviations from the mean.
_FAR = 1e3

#: What is combined unless asked otherwise.
_PAIR = ("neg_log_error", "max_logit")


def platt(columns: Array, state: State, batch: Batch) -> Array:
    """sigmoid(a s + b), the probability of being right, with a and b of the least log-loss on the fit data.

    Targets are Platt's, (n_right + 1)/(n_right + 2) and 1/(n_wrong + 2). For thresholds that people read; the order
    of a score needs no scaling, and here it can suffer: a warning says so where the fit turns it around (a < 0), makes
    it constant (a = 0), or ties samples whose probability rounds to 1.
    """
    xp = batch.xp
    return _sigmoid(_linear(_standard(columns, state, xp), state), xp)


def fit_platt(outputs: Outputs, *, score: str | Score | FittedScore = "max_logit") -> State:
    """Fit a and b, and say what they do to the order."""
    state, columns, parts = _components(outputs, (score,))
    right = outputs.error == 0.0
    n_right, n_wrong = int(right.sum()), int((~right).sum())
    target = np.where(right, (n_right + 1) / (n_right + 2), 1 / (n_wrong + 2))
    standard = _standard(columns, state, np)
    weights, intercept = logistic(standard.T, target, 0.0)
    scaled = _sigmoid(weights @ standard + intercept, np)
    name, problem = parts[0].entry.spec, None
    if n_wrong == 0:
        weights, problem = 0.0 * weights, "becomes constant: the fit data have no errors; fit on more rows"
    elif weights[0] < 0:
        problem = "turns around: its slope is negative on the fit data, so it may say nothing; rank by the score itself"
    elif tied := len(np.unique(columns)) - len(np.unique(scaled)):
        problem = f"ties {tied} distinct values: their probabilities round to one number; rank by the score itself"
    if problem is not None:
        warnings.warn(f"platt: {name} {problem}", stacklevel=6)
    return state | {"weights": weights, "intercept": np.float64(intercept), "parts": parts}


def combine_logistic(columns: Array, state: State, batch: Batch) -> Array:
    """sum_j a_j x_j + b, the log-odds of being right, with the standardised scores x_j.

    a and b have the least log-loss on the fit data plus ``ridge`` ||a||^2 / 2. A name in ``scores`` stands for a score
    without a fit, or for a column of ``outputs.scores``; fitted scores are given as they are, fitted on *other* rows.
    Infinite scores count as 1000 standard deviations. Log-odds, not probabilities: they do not saturate.
    """
    return _linear(_standard(columns, state, batch.xp), state)


def combine_ranks(columns: Array, state: State, batch: Batch) -> Array:
    """sum_j a_j F_j(s_j), with the share F_j of fit samples that score lower (ties half) and a as below.

    Ranks are free of scale and outliers, and bounded: a score beyond all fit samples counts as 1. a are the weights
    of a logistic regression of being right on the standardised ranks, with ``ridge`` ||a||^2 / 2; ``scores`` as for
    ``combine_logistic``.
    """
    xp = batch.xp
    shares = [_share(columns[j, ...], state["sorted"][j, ...], xp) for j in range(columns.shape[0])]
    return _linear(_standard(xp.stack(shares, axis=0), state, xp), state)


def fit_logistic(outputs: Outputs, *, scores: Sequence[str | Score | FittedScore] = _PAIR, ridge: float = 1.0) -> State:
    """Fit one weight per score."""
    state, columns, parts = _components(outputs, scores)
    return state | _weights(_standard(columns, state, np), outputs, ridge) | {"parts": parts}


def fit_ranks(outputs: Outputs, *, scores: Sequence[str | Score | FittedScore] = _PAIR, ridge: float = 1.0) -> State:
    """Fit one weight per rank."""
    _, columns, parts = _components(outputs, scores)
    ordered = np.sort(columns, axis=1)
    shares = np.stack([_share(column, below, np) for column, below in zip(columns, ordered, strict=True)])
    state = _scale(shares)
    return state | _weights(_standard(shares, state, np), outputs, ridge) | {"sorted": ordered, "parts": parts}


def _components(
    outputs: Outputs, scores: Sequence[str | Score | FittedScore]
) -> tuple[State, FloatArray, tuple[FittedScore, ...]]:
    """Return location and scale of each score, the scores, and the fitted parts."""
    if isinstance(scores, str | FittedScore | Score) or not isinstance(scores, Sequence):
        raise TypeError(f"scores must be a sequence of names and fitted scores, got {scores!r}; write [{scores!r}]")
    if not scores:
        raise ValueError(f"scores={scores!r} names no score; give at least one name or fitted score")
    parts = tuple(_part(score, outputs) for score in scores)
    columns = np.stack([part.score(outputs) for part in parts])
    for part, column in zip(parts, columns, strict=True):
        if np.isnan(column).any():
            raise ValueError(f"{part.entry.spec} is NaN for {int(np.isnan(column).sum())} fit samples; leave them out")
    return _scale(columns), columns, parts


def _part(score: str | Score | FittedScore, outputs: Outputs) -> FittedScore:
    if isinstance(score, FittedScore):
        return score
    if isinstance(score, str) and score in (outputs.scores or {}):
        return score_of("column").fit(column=score)
    if not isinstance(score, str | Score):
        raise TypeError(f"a combination is made of names and fitted scores, got {score!r}")
    entry = score if isinstance(score, Score) else parse(score)
    if entry.fit_function is not None:
        raise UnmetNeed(
            f"{entry.name} in a combination must be fitted first, on other rows than the combination: "
            f"give abstain.scores.get({entry.name!r}).fit(outputs) instead of its name"
        )
    return entry.fit()


def _scale(columns: FloatArray) -> State:
    finite = np.where(np.isfinite(columns), columns, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column without finite values
        centre, spread = np.nanmean(finite, axis=1), np.nanstd(finite, axis=1)
    return {
        "centre": np.nan_to_num(centre),
        "spread": np.where(np.nan_to_num(spread) > 0.0, np.nan_to_num(spread), 1.0),
    }


def _standard(columns: Array, state: State, xp: Namespace) -> Array:
    standard = (columns - state["centre"][:, None]) / state["spread"][:, None]
    return xp.clip(standard, -_FAR, _FAR)


def _weights(standard: FloatArray, outputs: Outputs, ridge: float) -> State:
    ridge = not_negative(ridge, "ridge")
    right = (outputs.error == 0.0).astype(np.float64)
    if right.min() == right.max():
        which = "right" if right[0] else "wrong"
        raise ValueError(f"every fit sample is {which}: nothing to distinguish; fit on a split with both")
    weights, intercept = logistic(standard.T, right, ridge)
    return {"weights": weights, "intercept": np.float64(intercept)}


def _linear(standard: Array, state: State) -> Array:
    return state["weights"] @ standard + state["intercept"]


def _share(values: Array, ordered: Array, xp: Namespace) -> Array:
    """Return (number lower + number not higher) / 2n."""
    below = xp.searchsorted(ordered, values, side="left") + xp.searchsorted(ordered, values, side="right")
    return astype(below, "float64", xp) / (2.0 * ordered.shape[0])


def _sigmoid(x: Array, xp: Namespace) -> Array:
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0.0, xp.ones_like(small), small) / (1.0 + small)


def logistic(columns: FloatArray, target: FloatArray, ridge: float) -> tuple[FloatArray, float]:
    """Return weights a and intercept b of the least sum log-loss of sigmoid(x a + b) + ridge ||a||^2 / 2.

    ``columns`` (n, d) should be standardised; ``target`` (n,) lies in [0, 1]. Steps are halved until the loss falls.
    """
    design = np.column_stack([columns, np.ones(len(target))])
    penalty = np.full(design.shape[1], ridge)
    penalty[-1] = 0.0
    theta = np.zeros(design.shape[1])
    loss = _loss(design, target, penalty, theta)
    for _ in range(100):
        p = _sigmoid(design @ theta, np)
        gradient = design.T @ (p - target) + penalty * theta
        hessian = (design.T * (p * (1.0 - p))) @ design + np.diag(penalty + 1e-12 * len(target))
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-10 and (new := _loss(design, target, penalty, theta - size * step)) > loss:
            size *= 0.5
        if size <= 1e-10 or np.max(np.abs(size * step)) <= 1e-12 * max(1.0, float(np.max(np.abs(theta)))):
            break
        theta, loss = theta - size * step, new
    return theta[:-1], float(theta[-1])


def _loss(design: FloatArray, target: FloatArray, penalty: FloatArray, theta: FloatArray) -> float:
    x = design @ theta
    return float(np.sum(np.logaddexp(0.0, x) - target * x) + 0.5 * penalty @ theta**2)
