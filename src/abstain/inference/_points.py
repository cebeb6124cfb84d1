"""The risk at every attainable threshold, and the standard error of each."""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from abstain._typing import ArrayLike, FloatArray, IntArray
from abstain.inference._columns import scored
from abstain.inference._resample import codes
from abstain.inference._scans import Column


class Points(NamedTuple):
    """Everything per attainable point, and the sorted samples behind it.

    ``weight``, ``loss``, ``cluster``: per sample, most confident first; ``end``: position of each point's last
    sample; ``accepted``: rows accepted; ``denominator``: what the accepted loss is divided by; ``plain``: a 0/1 loss
    without weights and clusters; ``largest``: the largest loss that is possible.
    """

    threshold: FloatArray
    coverage: FloatArray
    risk: FloatArray
    weight: FloatArray
    loss: FloatArray
    cluster: IntArray | None
    n_units: int
    end: IntArray
    accepted: FloatArray
    denominator: FloatArray
    generalized: bool
    plain: bool
    weighted: bool
    largest: float


def points_of(
    loss: ArrayLike,
    confidence: ArrayLike,
    sample_weight: ArrayLike | None,
    clusters: ArrayLike | None,
    generalized: bool,
) -> Points:
    """Sort and sum once."""
    column = Column.of(loss, scored(confidence), sample_weight, oracle=False)
    n = column.order.size
    cluster = None if clusters is None else codes(clusters, "clusters", n)[column.order]
    weight, loss, block = np.ones(n) if column.weight is None else column.weight, column.loss, column.block
    kept = weight > 0.0  # a sample of weight 0 is none: it makes no point, no unit and no cluster
    if not kept.all():
        weight, loss, block = weight[kept], loss[kept], block[kept]
        cluster = None if cluster is None else np.unique(cluster[kept], return_inverse=True)[1]
    n_units = loss.size if cluster is None else int(cluster.max()) + 1
    if cluster is not None and n_units < 2:
        raise ValueError("clusters holds a single cluster; at least two are needed for a band")
    end = np.flatnonzero(np.append(np.diff(block) > 0, True))
    total = np.cumsum(weight)[end]
    denominator = np.full_like(total, total[-1]) if generalized else total
    return Points(
        threshold=column.score[block[end]],
        coverage=total / total[-1],
        risk=np.cumsum(weight * loss)[end] / denominator,
        weight=weight,
        loss=loss,
        cluster=cluster,
        n_units=n_units,
        end=end,
        accepted=(end + 1).astype(np.float64),
        denominator=denominator,
        generalized=generalized,
        plain=column.blocks.binary and column.weight is None and cluster is None,
        weighted=column.weight is not None,
        largest=1.0 if loss.max() <= 1.0 else np.inf,
    )


def _even_moment(points: Points, power: int) -> FloatArray:
    """Sum of the terms' numerators w (l A - R B) to an even power, without clusters; losses are centred first."""
    centre = float(np.average(points.loss, weights=points.weight))
    u, r, w = points.loss - centre, points.risk - centre, points.weight**power
    result = np.zeros_like(r)
    for k in range(power + 1):
        result += comb(power, k) * np.cumsum(w * u**k)[points.end] * (-r) ** (power - k)
    if points.generalized:  # what is not accepted has the term -G
        result += points.risk**power * (w.sum() - np.cumsum(w)[points.end])
    return np.maximum(result, 0.0)


def _within_clusters(x: FloatArray, y: FloatArray, cluster: IntArray) -> FloatArray:
    """Running sum over clusters of (sum of x so far) (sum of y so far)."""
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))

    def before(column: FloatArray) -> FloatArray:
        sums = np.cumsum(column[order]) - column[order]
        result = np.empty_like(sums)
        result[order] = sums - np.repeat(sums[starts], np.diff(starts, append=order.size))
        return result

    return np.cumsum(x * before(y) + y * before(x) + x * y)


def spread(points: Points) -> tuple[FloatArray, FloatArray]:
    """Return standard error and degrees of freedom per point."""
    if points.cluster is None:
        second, fourth = _even_moment(points, 2), _even_moment(points, 4)
        with np.errstate(divide="ignore", invalid="ignore"):
            df = 2.0 / np.maximum(fourth / second**2 - 1.0 / points.loss.size, 1e-12)
        return np.sqrt(second) / points.denominator, np.where(second > 0.0, df, 1.0)
    x, w, R = points.weight * points.loss, points.weight, points.risk
    squares = _within_clusters(x, x, points.cluster)[points.end]
    if points.generalized:
        whole = np.bincount(points.cluster, weights=w)
        cross = np.cumsum(x * whole[points.cluster])[points.end]
        weights = np.full_like(R, np.sum(whole**2))
        df = np.full_like(R, points.n_units - 1.0)
    else:
        cross = _within_clusters(x, w, points.cluster)[points.end]
        weights = _within_clusters(w, w, points.cluster)[points.end]
        first = np.zeros(w.size)
        first[np.unique(points.cluster, return_index=True)[1]] = 1.0
        df = np.maximum(np.cumsum(first)[points.end] - 1.0, 1.0)
    variance = np.maximum(squares - 2.0 * R * cross + R**2 * weights, 0.0)
    return np.sqrt(variance * points.n_units / (points.n_units - 1.0)) / points.denominator, df
