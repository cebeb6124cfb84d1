"""Scores of logits and probabilities that are not fitted, and those that come with the outputs."""

from __future__ import annotations

from abstain._checks import not_negative, positive, whole
from abstain._typing import Array
from abstain.scores._batch import Batch, astype, largest, logsumexp, x_log_y


def msp(batch: Batch) -> Array:
    """max_k p_k, the estimated probability of being right.

    For a threshold that people read. It saturates: every logit margin beyond 37 gives 1 in float64 (beyond 17 in
    float32), and such samples tie. ``neg_log_error`` has the same order and keeps them apart.
    """
    return batch.xp.max(batch.p if batch.logits is None else batch.by_size.p, axis=1)


def neg_log_error(batch: Batch) -> Array:
    """-log(1 - max_k p_k): ordered like the MSP, also where that is 1 to the last digit.

    1 - max p is summed from the other classes, as logarithms: a logit margin of 60 gives 60, not infinity.
    Saved probabilities keep their small entries where the largest has saturated, so the ties of a float32 MSP at 1
    are resolved; elsewhere the order is that of the MSP but for the rounding of the saved values. Infinite only where
    all other probabilities are 0.
    """
    return 0.0 - log_error(batch)


def log_error(batch: Batch) -> Array:
    """Return log(1 - max_k p_k)."""
    return logsumexp(batch.by_size.log_p[:, :-1], batch.xp)


def neg_entropy(batch: Batch) -> Array:
    """sum_k p_k log p_k, with 0 log 0 = 0."""
    batch = batch.by_size
    total = batch.xp.sum(x_log_y(batch.p, batch.log_p, batch.xp), axis=1)
    return batch.xp.where(total < 0.0, total, batch.xp.zeros_like(total))


def softmax_margin(batch: Batch) -> Array:
    """p_(1) - p_(2), the lead of the first class over the second.

    Leads that are equal in decimals, as .6 - .5 and .55 - .45, are no ties: such p are rounded before they come here.
    """
    p = batch.by_size.p
    return p[:, -1] - p[:, -2]


def neg_gini(batch: Batch) -> Array:
    """-sum_k p_k (1 - p_k) = sum_k p_k^2 - 1, with 1 - max p summed from the other classes.

    Ordered like DOCTOR's D_alpha = (1 - g)/g with g = sum_k p_k^2, which is accepted where it is low.
    """
    xp, p = batch.xp, batch.by_size.p
    others = p[:, :-1]
    rest = xp.sum(others, axis=1)
    top = p[:, -1]
    return 0.0 - (top * rest + xp.sum(others * (1.0 - others), axis=1))


def max_logit(batch: Batch) -> Array:
    """max_k z_k."""
    return batch.xp.max(batch.logits, axis=1)


def logit_margin(batch: Batch) -> Array:
    """z_(1) - z_(2), the lead of the first class over the second before the softmax."""
    top = largest(batch.logits, 2, batch.xp)
    return batch.xp.max(top, axis=1) - batch.xp.min(top, axis=1)


def energy(batch: Batch, *, temperature: float = 1.0) -> Array:
    """T log sum_k exp(z_k / T), the negative free energy at temperature T."""
    temperature = positive(temperature, "temperature")
    return temperature * logsumexp(batch.by_size.logits / temperature, batch.xp)


def gen(batch: Batch, *, gamma: float = 0.1, top: int = 100, floor: float | str = 0.0) -> Array:
    """-sum over the ``top`` largest p of p^gamma (1 - p)^gamma, the generalized entropy.

    Computed as exp(gamma (log p + log(1 - p))), with 1 - max p summed from the other classes, so that tiny
    probabilities count as what they are. ``top`` beyond the number of classes means all of them.

    ``floor`` is for comparison with other implementations, whose rankings differ at small gamma: ``"float32"``
    computes softmax and powers in single precision, where tiny p become 0 (published numbers); a number such as 1e-7
    clips every p to [floor, 1 - floor] (pytorch-ood, which also divides by the number of classes).
    """
    gamma, top = positive(gamma, "gamma"), whole(top, "top", usual=100)
    xp, batch = batch.xp, batch.by_size
    if floor == "float32":
        p = astype(largest(batch.p, top, xp), "float32", xp)
        return 0.0 - astype(xp.sum((p * (1.0 - p)) ** gamma, axis=1), "float64", xp)
    floor = not_negative(floor, "floor")
    if floor >= 0.5:
        raise ValueError(f"floor must be below 0.5, got {floor!r}; 1e-7 is usual")
    if floor > 0.0:
        p = largest(xp.clip(batch.p, floor, 1.0 - floor), top, xp)
        return 0.0 - xp.sum((p * (1.0 - p)) ** gamma, axis=1)
    first = xp.exp(gamma * (xp.max(batch.log_p, axis=1) + log_error(batch)))
    if top == 1:
        return 0.0 - first
    # p (1 - p) grows with p up to 1/2, and no class but the first is beyond: the largest terms are those wanted
    rest = batch.log_p[:, :-1]
    terms = xp.exp(gamma * (rest + xp.log1p(-xp.exp(rest))))
    return 0.0 - (first + xp.sum(largest(terms, top - 1, xp), axis=1))


def confidence(batch: Batch) -> Array:
    """The column ``confidence`` of the outputs."""
    return batch.confidence


def column(batch: Batch, *, column: str = "") -> Array:
    """The column of ``outputs.scores`` that ``column`` names: any external score, to be fitted and combined."""
    return batch.scores[column]
