"""Resampling counts: how often each sample is drawn. One draw serves all scores, models and runs, so all are paired.

A bootstrap sample of n rows is n integers; its weights are their ``bincount``. That is the multinomial
distribution at an eighth of the cost of ``Generator.multinomial``. What is drawn are units: samples, or whole
clusters; within strata the number of units stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from abstain._checks import plain, same_length
from abstain._typing import ArrayLike, FloatArray, IntArray

#: Replicates per chunk; the compiled kernel keeps as many in its lanes.
LANES = 32

#: One row per replicate. A count above 255 has a probability below 1e-500.
Counts = npt.NDArray[np.uint8]


def codes(column: ArrayLike, name: str, n: int) -> IntArray:
    """Return group numbers 0, 1, ... of a column of any type."""
    if np.ma.is_masked(column):
        raise ValueError(f"{name}[{int(np.argmax(np.ma.getmaskarray(column)))}] is masked; give every sample a group")
    values = plain(column, name, "one group per sample")
    if values.ndim != 1:
        raise ValueError(f"{name} must hold one group per sample, got shape {values.shape}")
    same_length(**{"loss": np.empty(n), name: values})
    missing = np.array([_is_null(value) for value in values]) if values.dtype == object else values != values
    if missing.any():
        raise ValueError(f"{name}[{int(np.argmax(missing))}] is missing; give every sample a group")
    try:
        numbers: IntArray = np.unique(values, return_inverse=True)[1]
    except TypeError as error:
        raise TypeError(f"{name} holds values that cannot be ordered ({error}); convert them to text first") from None
    return numbers


def _is_null(value: object) -> bool:
    """Whether a value is None, NaN or what pandas has in their place."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


@dataclass(frozen=True, eq=False)
class Plan:
    """How to resample: units, and the strata within which they are drawn.

    ``unit``: number of each sample's unit (None: every sample is its own); ``strata``: the units of each stratum
    (None: one stratum); ``smallest``: units of the smallest stratum.
    """

    n: int
    n_units: int
    unit: IntArray | None
    strata: tuple[IntArray, ...] | None
    smallest: int

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return how often each unit occurs in one replicate."""
        if self.strata is None:
            return _draw(self.n_units, rng)
        count = np.empty(self.n_units)
        for members in self.strata:
            count[members] = _draw(members.size, rng)
        return count

    def chunks(self, n_resamples: int, rng: np.random.Generator) -> Iterator[tuple[int, Counts]]:
        """Yield the first replicate's number and the counts, shape (at most LANES, n), of one chunk after another.

        Replicate b is the same however many follow.
        """
        for first in range(0, n_resamples, LANES):
            counts = np.empty((min(LANES, n_resamples - first), self.n), np.uint8)
            for row in counts:
                drawn = self.draw(rng)
                row[:] = drawn if self.unit is None else drawn[self.unit]
            yield first, counts


def _draw(size: int, rng: np.random.Generator) -> FloatArray:
    return np.bincount(rng.integers(0, size, size), minlength=size)  # type: ignore[return-value]


def plan(n: int, strata: ArrayLike | None = None, clusters: ArrayLike | None = None) -> Plan:
    """Return how to resample n samples: each on its own, within strata, as whole clusters, or clusters within strata.

    Raises
    ------
    ValueError
        Columns of another length; a cluster in two strata; nothing to resample, because every stratum holds a
        single unit.
    """
    stratum = None if strata is None else codes(strata, "strata", n)
    unit = None if clusters is None else codes(clusters, "clusters", n)
    n_units = n if unit is None else int(unit.max()) + 1
    what = "sample" if unit is None else "cluster"
    if unit is not None and n_units < 2:
        raise ValueError("clusters holds a single cluster; at least two are needed to resample them")
    if stratum is None:
        return Plan(n, n_units, unit, None, n_units)
    if unit is not None:
        stratum = _stratum_of_clusters(stratum, unit, n_units)
    sizes = np.bincount(stratum)
    if sizes.max() < 2:
        raise ValueError(f"every stratum holds a single {what}, so every replicate would be the data; use fewer strata")
    groups = tuple(np.split(np.argsort(stratum, kind="stable"), np.cumsum(sizes)[:-1]))
    return Plan(n, n_units, unit, groups if len(groups) > 1 else None, int(sizes.min()))


def _stratum_of_clusters(stratum: IntArray, unit: IntArray, n_units: int) -> IntArray:
    """Return the stratum of each cluster; a cluster must lie within one."""
    result = np.zeros(n_units, dtype=np.intp)
    result[unit] = stratum
    astray = np.flatnonzero(result[unit] != stratum)
    if astray.size:
        raise ValueError(
            f"the cluster of sample {astray[0]} lies in two strata; whole clusters are drawn within a stratum, "
            "so give one stratum per cluster, or leave strata or clusters out"
        )
    return result
