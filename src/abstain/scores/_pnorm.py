"""MaxLogit-pNorm: the largest centred logit relative to the norm of all, with p chosen on held-out data."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._checks import not_negative
from abstain.outputs import Outputs
from abstain.scores._arrays import astype
from abstain.scores._batch import Batch
from abstain.scores._score import Score
from abstain.scores._softmax import neg_log_error

#: Stands for the maximum softmax probability among the choices of p.
FALLBACK = -1.0


def p_norm(batch: Batch, p: float) -> Any:
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


def max_logit_pnorm(batch: Batch, state: dict[str, Any]) -> Any:
    """max_k u_k / ||u||_p with u_k = z_k - mean(z).

    The fit chooses p from 0, 1, ..., 9 by the least AURC on held-out data, and falls back to the MSP (as
    ``neg_log_error``, which has its order) where that is better. p = 0 divides by the number of entries that are not
    0. ``p=`` fixes p and leaves nothing to choose; the fit data are then only looked at for their number of classes.
    """
    p = float(state["p"])
    return neg_log_error(batch) if p == FALLBACK else p_norm(batch, p)


def fit(outputs: Outputs, *, p: float | None = None) -> dict[str, Any]:
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


SCORES = (
    Score(
        "max_logit_pnorm",
        "MaxLogit p-norm",
        max_logit_pnorm,
        ("logits",),
        "Cattelan & Silva, How to fix a broken confidence estimator, UAI 2024",
        "[0, inf]",
        fit,
        ("logits", "loss"),
        "validation",
    ),
)
