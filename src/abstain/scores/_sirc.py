"""SIRC: a softmax score, lowered where a feature statistic is unusually low."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from abstain.outputs import Outputs
from abstain.scores._arrays import logsumexp
from abstain.scores._batch import Batch
from abstain.scores._score import Score
from abstain.scores._softmax import log_error
from abstain.scores._vim import fit_residual, residual_norm


def log_gap(batch: Batch, first: str) -> Any:
    """Return log(s1max - s1): log(1 - MSP), or the logarithm of the entropy; -inf where s1 is at its maximum."""
    xp = batch.xp
    if first == "msp":
        return log_error(batch)
    log_p = batch.by_size.log_p
    log_p = xp.where(xp.isfinite(log_p), log_p, xp.zeros_like(log_p))  # 0 log 0 = 0 = 1 log 1
    with np.errstate(divide="ignore"):
        return logsumexp(log_p + xp.log(0.0 - log_p), xp)


def statistic(batch: Batch, state: dict[str, Any], second: str) -> Any:
    """Return s2: the L1 norm of the features, or minus the residual norm of ViM."""
    if second == "l1":
        return batch.xp.sum(batch.xp.abs(batch.features), axis=1)
    return 0.0 - residual_norm(batch, state)


def value(batch: Batch, state: dict[str, Any], first: str, second: str) -> Any:
    """Return -log(s1max - s1) - log(1 + exp(-b (s2 - a))), which has the order of the published product."""
    xp = batch.xp
    x = state["b"] * (state["a"] - statistic(batch, state, second))
    softplus = xp.where(x > 0.0, x, xp.zeros_like(x)) + xp.log1p(xp.exp(-xp.abs(x)))
    return 0.0 - log_gap(batch, first) - softplus


def fit_statistic(outputs: Outputs, second: str, state: dict[str, Any]) -> dict[str, Any]:
    """Return a = mean - 3 std and b = 1/std of s2 over the fit data; b = 0 (s2 does not count) if it is constant."""
    s2 = np.concatenate([statistic(chunk, state, second) for chunk in Batch.of(outputs).chunks()])
    mean, std = float(s2.mean()), float(s2.std())
    b = 1.0 / std if std > 1e-12 * abs(mean) else 0.0
    width = np.int64(np.asarray(outputs.features).shape[1])
    return state | {"a": np.float64(mean - 3.0 * std), "b": np.float64(b), "n_features": width}


def sirc_msp_l1(batch: Batch, state: dict[str, Any]) -> Any:
    """-log(1 - MSP) - log(1 + exp(-b (||h||_1 - a))), a = mean - 3 std and b = 1/std of ||h||_1 on the fit data."""
    return value(batch, state, "msp", "l1")


def sirc_msp_res(batch: Batch, state: dict[str, Any]) -> Any:
    """-log(1 - MSP) - log(1 + exp(-b (-v - a))), v as in ``residual``, a = mean - 3 std and b = 1/std of -v."""
    return value(batch, state, "msp", "res")


def sirc_neg_entropy_l1(batch: Batch, state: dict[str, Any]) -> Any:
    """-log H(p) - log(1 + exp(-b (||h||_1 - a))), H the entropy, a and b as in ``sirc_msp_l1``."""
    return value(batch, state, "neg_entropy", "l1")


def sirc_neg_entropy_res(batch: Batch, state: dict[str, Any]) -> Any:
    """-log H(p) - log(1 + exp(-b (-v - a))), H the entropy, v, a and b as in ``sirc_msp_res``."""
    return value(batch, state, "neg_entropy", "res")


def fit_l1(outputs: Outputs) -> dict[str, Any]:
    """Fit a and b for the L1 norm."""
    return fit_statistic(outputs, "l1", {})


def fit_res(outputs: Outputs, *, dim: int | None = None) -> dict[str, Any]:
    """Fit the subspace, then a and b for the residual norm."""
    return fit_statistic(outputs, "res", fit_residual(outputs, dim=dim))


_XIA = "Xia & Bouganis, Augmenting softmax information for selective classification with OOD data, ACCV 2022"
_of = partial(Score, source=_XIA, range="(-inf, inf]", fit_split="train")
_needs: Any = {"requires": ("probabilities", "features")}
_l1: Any = {**_needs, "fit_function": fit_l1, "fit_requires": ("features",), "cost": "K + d"}
_res: Any = {**_needs, "fit_function": fit_res, "fit_requires": ("features", "head"), "cost": "K + d^2"}

SCORES = (
    _of("sirc_msp_l1", "SIRC (MSP, ||h||_1)", sirc_msp_l1, **_l1),
    _of("sirc_msp_res", "SIRC (MSP, residual)", sirc_msp_res, **_res),
    _of("sirc_neg_entropy_l1", "SIRC (-H, ||h||_1)", sirc_neg_entropy_l1, **_l1),
    _of("sirc_neg_entropy_res", "SIRC (-H, residual)", sirc_neg_entropy_res, **_res),
)
