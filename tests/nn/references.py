"""Slow, obviously right references in double precision, written from the papers' formulas."""

import math

import numpy as np


def log_softmax(logits):
    """Log-probabilities, row by row."""
    logits = np.asarray(logits, dtype=np.float64)
    top = logits.max(axis=-1, keepdims=True)
    return logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))


def rank_weight(estimator, r, n):
    """Weight of ascending rank r among n."""
    match estimator:
        case "harmonic" | "plugin":
            return sum(1.0 / k for k in range(n - r + 1, n + 1))
        case "log":
            return -math.log(1.0 - r / (n + 1.0))
        case "sele":
            return r / n
        case "augrc":
            return (r - 0.5) / n


def weights(confidence, estimator):
    """Weights with ties as the core's metrics treat them, by loops over pairs."""
    n = len(confidence)
    result = []
    for g in confidence:
        ranks = [sum(h < g for h in confidence) + 1 + k for k in range(sum(h == g for h in confidence))]
        match estimator:
            case "sele":
                result.append(max(ranks) / n)
            case "plugin":  # every sample j that is not above it accepts it: 1 / number accepted with j
                result.append(sum(1.0 / sum(k >= h for k in confidence) for h in confidence if g >= h))
            case _:
                result.append(sum(rank_weight(estimator, r, n) for r in ranks) / len(ranks))
    return np.array(result)


def numerical_gradient(function, point, step=1e-6):
    """Central differences in double precision."""
    point = np.asarray(point, dtype=np.float64)
    gradient = np.zeros_like(point)
    for position in np.ndindex(point.shape):
        moved = [point.copy(), point.copy()]
        moved[0][position] += step
        moved[1][position] -= step
        gradient[position] = (function(moved[0]) - function(moved[1])) / (2 * step)
    return gradient
