"""OpenMax: the probability of an unknown class, from distances of logits to class means."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._checks import whole
from abstain._typing import FloatArray
from abstain.outputs import Outputs
from abstain.scores._arrays import arange, logsumexp
from abstain.scores._batch import Batch
from abstain.scores._score import Score


def openmax(batch: Batch, state: dict[str, Any], *, alpha: int = 3, shift: bool = False) -> Any:
    """-p_unknown, with p = softmax([z', z_unknown]), z'_k = z_k (1 - omega_k F_k), z_unknown = sum_k z_k omega_k F_k.

    omega_k = (alpha + 1 - i)/alpha for the class of the i-th largest logit, i = 1 .. alpha, else 0.
    F_k = 1 - exp(-exp((||z - m_k|| - a_k)/c_k)) is how extreme the distance to the mean logits m_k of the correct
    fit samples of class k is: a Gumbel distribution of minima with location a_k and scale c_k, fitted by maximum
    likelihood to the ``tail`` largest distances. (That is what the published code computes: it shifts the tail by
    10,000 before it fits a Weibull distribution.) A class with fewer than two correct samples has F_k = 0; one
    whose distances differ by less than 1e-6 of ||m_k|| has that scale, above rounding: F_k is then a step.

    As published, a negative leading logit turns the correction around; ``shift=True`` first subtracts the smallest
    logit of the row.
    """
    alpha = whole(alpha, "alpha", usual=3)
    xp = batch.xp
    z, means = batch.logits, state["means"]
    width = z.shape[1]
    squared = xp.sum(z * z, axis=1)[:, None] - 2.0 * (z @ means.T) + xp.sum(means * means, axis=1)[None, :]
    distance = xp.sqrt(xp.where(squared > 0.0, squared, xp.zeros_like(squared)))
    exponent = (distance - state["location"][None, :]) / state["scale"][None, :]
    extreme = -xp.expm1(-xp.exp(xp.where(exponent < 700.0, exponent, xp.full_like(exponent, 700.0))))
    extreme = xp.where(state["fitted"][None, :] > 0.0, extreme, xp.zeros_like(extreme))
    leading = min(alpha, width)
    order = xp.argsort(-z, axis=1, stable=True)[:, :leading]
    value = z - xp.min(z, axis=1, keepdims=True) if shift else z
    taken = xp.zeros_like(z)
    classes = arange(width, xp, batch.device)[None, :]
    for rank in range(leading):
        here = classes == order[:, rank][:, None]
        taken = xp.where(here, value * extreme * ((alpha - rank) / alpha), taken)
    unknown = xp.sum(taken, axis=1)
    with np.errstate(over="ignore"):
        return -1.0 / (1.0 + xp.exp(logsumexp(value - taken, xp) - unknown))


def fit(outputs: Outputs, *, tail: int = 20) -> dict[str, Any]:
    """Fit mean logits and the tail of the distances of each class, on its correct samples."""
    tail = whole(tail, "tail", 2, usual=20)
    logits, labels = np.asarray(outputs.logits), np.asarray(outputs.labels)
    width = logits.shape[1]
    correct = outputs.predicted() == labels
    means, location, scale, fitted = np.zeros((width, width)), np.zeros(width), np.ones(width), np.zeros(width)
    for k in np.unique(labels[correct]):
        own = logits[correct & (labels == k)]
        means[k] = own.mean(axis=0)
        if len(own) >= 2:
            distances = np.sort(np.linalg.norm(own - means[k], axis=1))[-tail:]
            floor = 1e-6 * max(float(np.linalg.norm(means[k])), float(distances[-1]), 1e-300)
            location[k], scale[k] = gumbel_of_minima(distances, floor)
            fitted[k] = 1.0
    return {
        "means": means, "location": location, "scale": scale, "fitted": fitted, "n_classes": np.int64(width),
    }  # fmt: skip


def gumbel_of_minima(x: FloatArray, floor: float = 0.0) -> tuple[float, float]:
    """Return location a and scale c of the most likely F(x) = 1 - exp(-exp((x - a)/c)).

    c solves c = sum x e^{x/c} / sum e^{x/c} - mean(x), whose right side falls as c grows: bracketed Newton steps.
    Values that are equal, or differ by less than ``floor``, have that scale: a step.
    """
    top, mean = float(x.max()), float(x.mean())
    spread = float(x.std())
    if spread <= floor:
        return top, floor
    low, high, c = 0.0, top - mean, spread
    for _ in range(200):
        weight = np.exp((x - top) / c)
        weight /= weight.sum()
        centre = float(weight @ x)
        gap = centre - mean - c
        low, high = (c, high) if gap > 0.0 else (low, c)
        slope = -float(weight @ (x - centre) ** 2) / c**2 - 1.0
        step = c - gap / slope
        new = step if low < step < high else 0.5 * (low + high)
        if abs(new - c) <= 1e-15 * c:
            break
        c = new
    return top + c * float(np.log(np.mean(np.exp((x - top) / c)))), c


SCORES = (
    Score(
        "openmax",
        "OpenMax",
        openmax,
        ("logits",),
        "Bendale & Boult, Towards open set deep networks, CVPR 2016",
        "[-1, 0]",
        fit,
        ("logits", "labels"),
        "train",
        grid={"tail": (20,), "alpha": (3,)},
        cost="K^2",
    ),
)
