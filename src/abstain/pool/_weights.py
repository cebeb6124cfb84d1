"""What a metric weighs each loss with, once the scores of the whole pool are known; and which metrics allow that."""

from __future__ import annotations

import numpy as np

from abstain._checks import UnmetNeed
from abstain._typing import FloatArray
from abstain.blocks import TieBlocks
from abstain.metrics import Metric
from abstain.pool._pool import Pool

#: A metric is a function of so many linear ones at most: area, error rate and one more.
MOST_PARTS = 3
_TABLES = 6


def per_block(metric: Metric, table: TieBlocks) -> FloatArray:
    """Return the derivative of the metric with respect to the loss sum of each block, the scores held."""
    if metric.attribution is not None:
        return metric.attribution_of(table)[1]
    return metric.smooth.gradient_of(table).loss


def per_row(metric: Metric, table: TieBlocks, pool: Pool) -> FloatArray:
    """Return what one more error in a row adds to the metric: of shape (n_rows,)."""
    return per_block(metric, table)[pool.block]


def _parts(metric: Metric) -> int:
    """Return of how many linear metrics this one is a function: so many dimensions its derivatives span.

    With f = h(L_1(s), ..., L_k(s)) every derivative with respect to the loss sums s is a combination of the k weights
    of L_1 to L_k, wherever it is taken; and a function whose derivatives lie in k dimensions is one of k linear forms.
    """
    rng = np.random.default_rng(0)
    n = 24
    score, count = np.linspace(0.99, 0.02, n), rng.integers(2, 9, n).astype(float)
    tables = [TieBlocks(score, count, count * rng.uniform(0.05, 0.95, n), count, binary=True) for _ in range(_TABLES)]
    found = np.stack([per_block(metric, table) for table in tables])
    size = np.linalg.svd(found, compute_uv=False)
    return int(np.count_nonzero(size > 1e-9 * size[0]))


def require(metric: Metric) -> None:
    """Refuse, by name, a metric whose value does not follow from sums over the pool."""
    why = ""
    if metric.input != "blocks":
        why = "takes class probabilities or scores of two data sets, not one score"
    elif metric.attribution is None and (
        metric.inference_kind not in ("smooth", "quantile") or metric.smooth.gradient is None
    ):
        why = "is no function of sums of losses"
    elif _parts(metric) > MOST_PARTS:
        why = "is a function of the whole curve, not of a few sums of losses"
    if why:
        raise UnmetNeed(
            f"{metric.name} {why}, so a few labels of a pool do not estimate it; ask for augrc, aurc, sele, risk, "
            "selective_risk(coverage=...), auroc_f or the like"
        )
