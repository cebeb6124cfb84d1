"""The risk at every attainable threshold, and the standard error of each."""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from abstain._typing import ArrayLike, FloatArray, IntArray
from abstain.inference._columns import scored
from abstain.inference._resample import codes
from abstain.inference._rests_on import effective_number
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


class _Sums(NamedTuple):
    """Running sums within the cluster of each row, up to it and before it: of losses less a centre, and of weights."""

    loss: FloatArray
    weight: FloatArray
    loss_before: FloatArray
    weight_before: FloatArray
    centre: float

    @classmethod
    def of(cls, points: Points) -> _Sums:
        """Sum once; what is divided by all of a cluster has its whole weight from the start."""
        assert points.cluster is not None
        order = np.argsort(points.cluster, kind="stable")
        starts = np.flatnonzero(np.diff(points.cluster[order], prepend=-1))

        def before(column: FloatArray) -> FloatArray:
            sums = np.cumsum(column[order]) - column[order]
            result = np.empty_like(sums)
            result[order] = sums - np.repeat(sums[starts], np.diff(starts, append=order.size))
            return result

        centre = 0.0 if points.generalized else float(np.average(points.loss, weights=points.weight))
        own = points.weight * (points.loss - centre)
        if points.generalized:
            whole: FloatArray = np.bincount(points.cluster, points.weight)[points.cluster].astype(np.float64)
            return cls(before(own) + own, whole, before(own), whole, centre)
        first, second = before(own), before(points.weight)
        return cls(first + own, second + points.weight, first, second, centre)

    def moment(self, points: Points, power: int) -> FloatArray:
        """Return at each point the sum over clusters of (loss - risk times weight) to a power."""
        assert points.cluster is not None
        result = np.zeros_like(points.risk)
        for k in range(power + 1):
            change = self.loss**k * self.weight ** (power - k) - self.loss_before**k * self.weight_before ** (power - k)
            total = np.cumsum(change)[points.end]
            if points.generalized and k == 0:  # a cluster counts before any of its rows is accepted
                total = total + np.sum(np.bincount(points.cluster, points.weight) ** power)
            result += comb(power, k) * total * (self.centre - points.risk) ** (power - k)
        return np.maximum(result, 0.0)

    def units(self, points: Points) -> FloatArray:
        """Return the effective number of clusters at each point: as many of equal weight show the same."""
        assert points.cluster is not None
        if points.generalized:
            return np.full_like(points.risk, effective_number(points.weight, points.cluster))
        square = np.cumsum(self.weight**2 - self.weight_before**2)[points.end]
        return np.asarray(np.cumsum(points.weight)[points.end] ** 2 / square)

    def unseen(self, points: Points) -> FloatArray:
        """Return what one more cluster with losses adds to the risk at each point, if it is as one of those seen.

        Of these one is drawn in proportion to its losses. Without a loss there is none.
        """
        sums, before = (
            a + self.centre * b for a, b in ((self.loss, self.weight), (self.loss_before, self.weight_before))
        )
        if points.generalized:
            sums, before = self.loss, self.loss_before
        square = np.cumsum(sums**2 - before**2)[points.end]
        total = np.cumsum(points.weight * points.loss)[points.end]
        return np.asarray(square / np.where(total > 0.0, total, 1.0) / points.denominator)


def units_of(points: Points) -> FloatArray:
    """Return the effective number of rows, or clusters, at each point."""
    if points.cluster is not None:
        return _Sums.of(points).units(points)
    if points.generalized:
        return np.full_like(points.risk, effective_number(points.weight))
    return np.asarray(np.cumsum(points.weight)[points.end] ** 2 / np.cumsum(points.weight**2)[points.end])


def unseen_of(points: Points) -> FloatArray | None:
    """Return at each point what an unseen cluster adds to the risk; None without clusters."""
    return None if points.cluster is None else _Sums.of(points).unseen(points)


def spread(points: Points) -> tuple[FloatArray, FloatArray]:
    """Return standard error and degrees of freedom per point."""
    if points.cluster is None:
        second, fourth = _even_moment(points, 2), _even_moment(points, 4)
        with np.errstate(divide="ignore", invalid="ignore"):
            df = 2.0 / np.maximum(fourth / second**2 - 1.0 / points.loss.size, 1e-12)
        return np.sqrt(second) / points.denominator, np.where(second > 0.0, df, 1.0)
    sums = _Sums.of(points)
    second, fourth, number = sums.moment(points, 2), sums.moment(points, 4), sums.units(points)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = 2.0 / np.maximum(fourth / second**2 - 1.0 / points.n_units, 1e-12)
        # a cluster of the share h pulls the risk towards itself, and hides h of its own deviation
        second = np.where(number > 1.0, second * number / (number - 1.0), 0.0)
    return np.sqrt(second) / points.denominator, np.where(second > 0.0, np.minimum(df, number - 1.0), 1.0)
