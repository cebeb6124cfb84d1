"""Scores after a change of the features: ReAct, DICE, ASH, SCALE; and the gradient of the last layer."""

from __future__ import annotations

import numpy as np

from abstain._checks import fraction
from abstain._typing import Array, Namespace
from abstain.outputs import Outputs
from abstain.scores import _features
from abstain.scores._batch import Batch, State, astype, kth_largest, logsumexp


def react(batch: Batch, state: State) -> Array:
    """LSE(W min(h, c) + b), c the quantile ``quantile`` of all entries of all fit features together."""
    xp = batch.xp
    clipped = xp.where(batch.features < state["clip"], batch.features, xp.zeros_like(batch.features) + state["clip"])
    return logsumexp(batch.logits_of(clipped), xp)


def fit_react(outputs: Outputs, *, quantile: float = 0.9) -> State:
    """Return the value at which features are clipped."""
    features: Array = outputs.features
    level = fraction(quantile, "quantile")
    clip = np.quantile(np.asarray(features, dtype=np.float64), level)
    return {"clip": np.float64(clip), "n_features": np.int64(features.shape[1])}


def dice(batch: Batch, state: State) -> Array:
    """LSE((W * M) h + b), M = 1 where the mean contribution V_kj = W_kj mean(h_j) is above its ``sparsity`` quantile.

    ``sparsity=0.9`` keeps the tenth of the weights that contribute most; the quantile is that of all entries of V.
    """
    return logsumexp(batch.logits_of(batch.features, (state["weight"], state["bias"])), batch.xp)


def fit_dice(outputs: Outputs, *, sparsity: float = 0.9) -> State:
    """Return the weights that are kept."""
    weight, bias = (np.asarray(part) for part in outputs.head)
    contribution = weight * _features.mean(outputs.features)[None, :]
    kept = contribution > np.quantile(contribution, fraction(sparsity, "sparsity"))
    return {"weight": weight * kept, "bias": bias.copy(), "n_features": np.int64(weight.shape[1])}


#: exp of more would not leave room for the product with W; reached only where fewer than 1 in 600 units are kept.
LARGEST_EXPONENT = 600.0


def ash_p(batch: Batch, *, percentile: float = 0.9) -> Array:
    """LSE(W h' + b), h' = h where it is among the k largest of its row, else 0; k = d - round(d percentile).

    Of equal entries at the edge the first stay. Features must be >= 0 (after a ReLU); other features are an error.
    """
    kept, _, _ = _kept(batch, percentile, "ash_p")
    return logsumexp(batch.logits_of(kept), batch.xp)


def ash_b(batch: Batch, *, percentile: float = 0.9) -> Array:
    """LSE(W h' + b), h' = s1/k where h is among the k largest of its row, else 0; s1 = sum of the row before.

    Entries that are 0 stay 0, also where fewer than k are positive; published code then raises some of them.
    """
    xp = batch.xp
    kept, total, k = _kept(batch, percentile, "ash_b")
    weight, bias = batch.head
    # one level per row commutes with W
    logits = (astype(kept > 0.0, "float64", xp) @ batch.double(weight).T) * (total / k)[:, None] + batch.double(bias)
    return logsumexp(logits, xp)


def ash_s(batch: Batch, *, percentile: float = 0.9) -> Array:
    """LSE(W h' + b), h' = h exp(s1/s2) where h is among the k largest of its row, else 0.

    s1 and s2 are the sums of the row before and after pruning; s1/s2 counts as 600 at most, so that exp does not
    overflow. A row of zeros stays as it is.
    """
    kept, total, _ = _kept(batch, percentile, "ash_s")
    factor = _factor(total, batch.xp.sum(kept, axis=1), batch.xp)
    return logsumexp(batch.logits_of(kept * factor[:, None]), batch.xp)


def scale(batch: Batch, *, percentile: float = 0.85) -> Array:
    """LSE(W h' + b), h' = h exp(s1/s2) for the whole row; s2 = sum of its k largest entries, s1 = of all.

    k = d - round(d percentile). s1/s2 counts as 600 at most, so that exp does not overflow. A row of zeros stays as
    it is. Features must be >= 0 (after a ReLU).
    """
    xp = batch.xp
    features, k = _checked(batch, percentile, "scale")
    edge = kth_largest(features, k, xp)
    above = features > edge[:, None]
    zero = xp.zeros_like(features)
    number = xp.sum(xp.where(above, zero + 1.0, zero), axis=1)
    strongest = xp.sum(xp.where(above, features, zero), axis=1) + (k - number) * edge
    factor = _factor(xp.sum(features, axis=1), strongest, xp)
    weight, bias = batch.head
    # one factor per row commutes with W: no scaled copy of the features
    logits = (features @ batch.double(weight).T) * factor[:, None] + batch.double(bias)
    return logsumexp(logits, xp)


def _checked(batch: Batch, percentile: float, name: str) -> tuple[Array, int]:
    features = batch.features
    smallest = float(batch.xp.min(features))
    if smallest < 0.0:
        raise ValueError(
            f"{name} needs features >= 0 (after a ReLU), but the smallest is {smallest:.4g}: a "
            "share of a sum means nothing for signed features; use another score, or features clipped at 0"
        )
    d = features.shape[1]
    return features, max(d - int(np.round(d * fraction(percentile, "percentile"))), 1)


def _kept(batch: Batch, percentile: float, name: str) -> tuple[Array, Array, int]:
    """Return the features with all but the k largest set to 0, the row sums before, and k."""
    xp = batch.xp
    features, k = _checked(batch, percentile, name)
    edge = kth_largest(features, k, xp)[:, None]
    kept = features >= edge
    surplus = xp.sum(astype(kept, "int32", xp), axis=1) - k
    if bool(xp.any((surplus > 0) & (edge[:, 0] > 0.0))):  # zeros at the edge stay zero whether kept or not
        tied = features == edge
        place = xp.cumulative_sum(astype(tied, "int64", xp), axis=1)
        kept = kept & ~(tied & (place > place[:, -1:] - surplus[:, None]))
    return xp.where(kept, features, xp.zeros_like(features)), xp.sum(features, axis=1), k


def _factor(total: Array, strongest: Array, xp: Namespace) -> Array:
    """Return exp(s1/s2), 1 for a row of zeros."""
    empty = strongest <= 0.0
    ratio = total / xp.where(empty, xp.ones_like(strongest), strongest)
    ratio = xp.where(ratio < LARGEST_EXPONENT, ratio, xp.zeros_like(ratio) + LARGEST_EXPONENT)
    return xp.exp(xp.where(empty, xp.zeros_like(ratio), ratio))


def gradnorm(batch: Batch) -> Array:
    """||h||_1 sum_k |K p_k - 1|, the L1 norm of d/dW of sum_k -log p_k.

    The gradient is the outer product of (K p - 1) and h, whose L1 norm is a product of two norms: no backward pass.
    The target is uniform and not normalised, so the value is K times that of a mean over classes.
    """
    xp = batch.xp
    p = batch.by_size.p
    return xp.sum(xp.abs(batch.features), axis=1) * xp.sum(xp.abs(p.shape[1] * p - 1.0), axis=1)
