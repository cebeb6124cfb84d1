"""Slow, obviously right references in double precision, written from the papers' formulas."""

import math

import numpy as np
import torch

from abstain import nn


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


#: Objectives of logits and labels.
OBJECTIVES = {"AURC": nn.AURCLoss(), "AURC log, exact": nn.AURCLoss("log", ties="exact")}
OBJECTIVES |= {"AURC plugin": nn.AURCLoss("plugin"), "SELE": nn.SELELoss(unit_mean=True), "CWSA": nn.CWSALoss()}
OBJECTIVES |= {"AUGRC": nn.AUGRCLoss(ties="exact", confidence="neg_entropy")}
OBJECTIVES |= {"CWSA, hard": nn.CWSALoss(correctness="hard"), "warm-up": nn.DeepGamblersLoss(2.2, warm_up_epochs=1)}
OBJECTIVES |= {"Deep Gamblers": lambda z, y: nn.deep_gamblers_loss(z, y, 2.2)}
OBJECTIVES |= {"Bayesian": lambda z, y: nn.bayesian_aurc_loss(torch.stack([z, 2 * z]), y, ranking="predictive")}
OBJECTIVES |= {"ConfidNet": lambda z, y: nn.confidnet_loss(z[:, 0], z, y)}
OBJECTIVES |= {"DeVries": lambda z, y: sum(nn.devries_losses(z, z[:, 0], y))}
OBJECTIVES |= {"CRL": lambda z, y: nn.crl_loss(z.softmax(1).amax(1), y / 4)}
