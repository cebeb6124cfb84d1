"""GEN, the generalized entropy of the largest probabilities."""

from __future__ import annotations

from typing import Any

from abstain._checks import not_negative, positive, whole
from abstain.scores._arrays import astype, largest
from abstain.scores._batch import Batch
from abstain.scores._score import Score
from abstain.scores._softmax import log_error


def gen(batch: Batch, *, gamma: float = 0.1, top: int = 100, floor: float | str = 0.0) -> Any:
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


SCORES = (
    Score(
        "gen",
        "Generalized entropy (GEN)",
        gen,
        ("probabilities",),
        "Liu, Lochman & Zach, GEN: pushing the limits of softmax-based out-of-distribution detection, CVPR 2023",
        "(-min(top, K), 0]",
        grid={"gamma": (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0), "top": (10, 50, 100, 200, 500, 1000)},
    ),
)
