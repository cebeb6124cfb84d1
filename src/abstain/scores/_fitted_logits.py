"""Scores of the logits that are fitted: p-norm, temperature, KL matching, OpenMax."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from abstain._checks import not_negative, positive, whole
from abstain._typing import Array, FloatArray, IntArray
from abstain.outputs import Outputs
from abstain.scores._batch import Batch, State, arange, astype, logsumexp, x_log_y
from abstain.scores._softmax import msp, neg_log_error

#: Stands for the maximum softmax probability among the choices of p.
FALLBACK = -1.0


def p_norm(batch: Batch, p: float) -> Array:
    """Return max_k u_k / ||u||_p with u = z - mean(z); 0 where all logits are equal."""
    xp = batch.xp
    logits = batch.by_size.logits
    centred = logits - xp.mean(logits, axis=1, keepdims=True)
    scale = xp.max(xp.abs(centred), axis=1)
    flat = scale <= 1e-12
    relative = centred / xp.where(flat, xp.ones_like(scale), scale)[:, None]  # no power overflows
    if p == 0:  # the number of entries that are not 0: no norm, its scale is that of the logits
        norm = xp.sum(astype(centred != 0.0, "float64", xp), axis=1)
        value = xp.max(centred, axis=1) / xp.where(flat, xp.ones_like(norm), norm)
    else:
        norm = xp.sum(xp.abs(relative) ** p, axis=1) ** (1.0 / p)
        value = xp.max(relative, axis=1) / xp.where(flat, xp.ones_like(norm), norm)
    return xp.where(flat, xp.zeros_like(value), value)


def max_logit_pnorm(batch: Batch, state: State) -> Array:
    """max_k u_k / ||u||_p with u_k = z_k - mean(z).

    The fit chooses p from 0, 1, ..., 9 by the least AURC on held-out data, and falls back to the MSP (as
    ``neg_log_error``, which has its order) where that is better. p = 0 divides by the number of entries that are not
    0. ``p=`` fixes p and leaves nothing to choose; the fit data are then only looked at for their number of classes.
    """
    p = float(state["p"])
    return neg_log_error(batch) if p == FALLBACK else p_norm(batch, p)


def fit_pnorm(outputs: Outputs, *, p: float | None = None) -> State:
    """Choose p, or the MSP, by AURC."""
    width = np.asarray(outputs.logits).shape[1]
    if p is not None:
        return {"p": np.float64(not_negative(p, "p")), "n_classes": np.int64(width)}
    from abstain.metrics import get

    loss = outputs.loss_per_sample()
    choices = np.array([FALLBACK, *range(10)])
    batch = Batch.of(outputs)
    areas = []
    for choice in choices:
        parts = [max_logit_pnorm(chunk, {"p": choice}) for chunk in batch.chunks()]
        areas.append(get("aurc").of(loss, np.concatenate(parts)))
    best = int(np.argmin(areas))  # of equals the first: the MSP
    return {"p": choices[best], "candidates": choices, "aurc": np.array(areas), "n_classes": np.int64(width)}


#: Temperatures are looked for between exp(-4) and exp(4).
LOG_RANGE = 4.0


def temp_msp(batch: Batch, state: State) -> Array:
    """max_k softmax(z/T)_k with the temperature T of the least cross-entropy on the fit data.

    Tables of failure detection call this score TEMP-MLS; it is no maximum logit (max z/T has the order of max z).
    T changes the order of the samples as soon as there are more than two classes. ``temperature=`` fixes it. The
    optimum is found by Newton steps in a bracket, T in [exp(-4), exp(4)]; where it lies at an end, as for fit data
    without errors, there is a warning.
    """
    return msp(_scaled(batch, state))


def temp_neg_log_error(batch: Batch, state: State) -> Array:
    """-log(1 - max_k softmax(z/T)_k): ordered like ``temp_msp``, also where that is 1 to the last digit."""
    return neg_log_error(_scaled(batch, state))


def fit_temperature(outputs: Outputs, *, temperature: float | None = None) -> State:
    """Return the temperature."""
    logits = np.asarray(outputs.logits)
    if temperature is None:
        temperature = best_temperature(logits, np.asarray(outputs.labels))
        if abs(np.log(temperature)) > LOG_RANGE - 1e-9:
            warnings.warn(
                f"the temperature stopped at the end of its range, {temperature:.4g}: the fit data have no errors, or "
                "their logits say nothing; give more fit data or temperature=",
                stacklevel=5,
            )
    return {"temperature": np.float64(positive(temperature, "temperature")), "n_classes": np.int64(logits.shape[1])}


def best_temperature(logits: FloatArray, labels: IntArray) -> float:
    """Return argmin_T mean cross-entropy of softmax(z/T).

    The cross-entropy is convex in b = 1/T with derivative mean(E_p[z] - z_y) and second derivative mean(Var_p[z]),
    p = softmax(b z).
    """
    centred = logits - logits.max(axis=1, keepdims=True)
    hit = centred[np.arange(len(labels)), labels].mean()
    centred = np.sort(np.ascontiguousarray(centred), axis=1)  # sums over classes in one order, whatever theirs
    low, high = np.exp(-LOG_RANGE), np.exp(LOG_RANGE)
    if _slope(centred, hit, low)[0] >= 0.0:
        return float(1.0 / low)
    if _slope(centred, hit, high)[0] <= 0.0:
        return float(1.0 / high)
    b = 1.0
    for _ in range(200):
        slope, curvature = _slope(centred, hit, b)
        low, high = (b, high) if slope < 0.0 else (low, b)
        step = b - slope / curvature if curvature > 0.0 else low
        new = step if low < step < high else float(np.sqrt(low * high))
        if abs(new - b) <= 1e-14 * b:
            break
        b = new
    return float(1.0 / b)


def _slope(centred: FloatArray, hit: float, b: float) -> tuple[float, float]:
    p = np.exp(b * centred)
    p /= p.sum(axis=1, keepdims=True)
    mean = np.sum(p * centred, axis=1)
    return float(mean.mean() - hit), float(np.mean(np.sum(p * centred**2, axis=1) - mean**2))


def _scaled(batch: Batch, state: State) -> Batch:
    return replace(batch, logits=batch.logits / float(state["temperature"]))


def klm(batch: Batch, state: State) -> Array:
    """-min_k KL(p || q_k), q_k the mean softmax of the fit samples that are predicted as class k.

    KL(p || q_k) = sum_j p_j log p_j - sum_j p_j log q_kj for all k is one matrix product. The minimum is over all
    classes. Templates are clipped at 1e-12 and normalised, so the divergence stays finite; the template of a class
    that is never predicted is that class alone. ``shrinkage=a`` replaces q_k by (m_k q_k + a q)/(m_k + a), with m_k
    samples and the mean softmax q of all: worth a try where a class has few.
    """
    xp = batch.xp
    own = xp.sum(x_log_y(batch.p, batch.log_p, xp), axis=1)
    cross = xp.max(batch.p @ state["log_templates"].T, axis=1)
    value = cross - own
    return xp.where(value < 0.0, value, xp.zeros_like(value))


def fit_klm(outputs: Outputs, *, shrinkage: float = 0.0) -> State:
    """Average the softmax by predicted class."""
    shrinkage = not_negative(shrinkage, "shrinkage")
    p = np.exp(outputs.log_probabilities())
    width = p.shape[1]
    predicted = outputs.predicted()
    counts = np.bincount(predicted, minlength=width).astype(np.float64)[:, None]
    sums = np.zeros((width, width))
    np.add.at(sums, predicted, p)
    if shrinkage > 0:
        templates = (sums + shrinkage * p.mean(axis=0)) / (counts + shrinkage)
    else:
        templates = np.where(counts > 0, sums / np.maximum(counts, 1.0), np.eye(width))
    templates = np.maximum(templates, 1e-12)
    templates /= templates.sum(axis=1, keepdims=True)
    return {"log_templates": np.log(templates), "n_classes": np.int64(width)}


def openmax(batch: Batch, state: State, *, alpha: int = 3, shift: bool = False) -> Array:
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


def fit_openmax(outputs: Outputs, *, tail: int = 20) -> State:
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
    return {"means": means, "location": location, "scale": scale, "fitted": fitted, "n_classes": np.int64(width)}


def gumbel_of_minima(x: FloatArray, floor: float = 0.0) -> tuple[float, float]:
    """Return location a and scale c of the most likely F(x) = 1 - exp(-exp((x - a)/c)).

    c solves c = sum x e^{x/c} / sum e^{x/c} - mean(x), whose right side falls as c grows.
    Values that are equal, or differ by less than ``floor``, have that scale: a step.
    """
    from scipy.optimize import brentq

    top, mean = float(x.max()), float(x.mean())
    if float(x.std()) <= floor:
        return top, floor

    def gap(c: float) -> float:
        weight = np.exp((x - top) / c)
        return float(weight @ x / weight.sum()) - mean - c

    c = brentq(gap, 1e-3 * (top - mean), top - mean, xtol=1e-300, rtol=1e-15)
    return top + c * float(np.log(np.mean(np.exp((x - top) / c)))), c
