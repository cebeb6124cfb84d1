"""Resampling counts: how often each sample is drawn. One draw serves all scores, models and runs, so all are paired.

A bootstrap sample of n rows is n integers; how often each row occurs is multinomial. Of many rows it is drawn in two
steps, which is the same distribution: how many integers fall into each block of 256 rows, and a random byte for each of
them. What is drawn are units: samples, or whole clusters; within strata the number of units stays what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from abstain._checks import is_missing, plain, same_length
from abstain._typing import ArrayLike, FloatArray, IntArray

#: Replicates per chunk; the compiled kernel keeps as many in its lanes.
LANES = 32

#: Rows that one byte distinguishes; a power of two.
BLOCK = 256
#: From so many units on blocks are cheaper than an integer per draw.
MANY = 16 * BLOCK

#: One row per replicate. A count above 255 has a probability below 1e-500.
Counts = npt.NDArray[np.uint8]
#: Count how often each row of some blocks occurs, from how many were drawn in each block and where in it; on zeros.
Tally = Callable[[IntArray, Counts, Counts], None]


def codes(column: ArrayLike, name: str, n: int) -> IntArray:
    """Return group numbers 0, 1, ... of a column of any type."""
    if np.ma.is_masked(column):
        raise ValueError(f"{name}[{int(np.argmax(np.ma.getmaskarray(column)))}] is masked; give every sample a group")
    values = plain(column, name, "one group per sample")
    if values.ndim != 1:
        raise ValueError(f"{name} must hold one group per sample, got shape {values.shape}")
    same_length(**{"loss": np.empty(n), name: values})
    missing = np.array([is_missing(each) for each in values]) if values.dtype == object else values != values
    if missing.any():
        raise ValueError(f"{name}[{int(np.argmax(missing))}] is missing; give every sample a group")
    try:
        numbers: IntArray = np.unique(values, return_inverse=True)[1]
    except TypeError as error:
        raise TypeError(f"{name} holds values that cannot be ordered ({error}); convert them to text first") from None
    return numbers


class Sampling(NamedTuple):
    """How rows were sampled: the numbers of their strata and of their clusters; None: without."""

    strata: IntArray | None = None
    clusters: IntArray | None = None

    @classmethod
    def of(cls, n: int, strata: ArrayLike | None = None, clusters: ArrayLike | None = None) -> Sampling:
        """Return it for columns of any type."""
        return cls(
            None if strata is None else codes(strata, "strata", n),
            None if clusters is None else codes(clusters, "clusters", n),
        )

    @property
    def independent(self) -> bool:
        """Whether rows were drawn one by one, from all alike."""
        return self.strata is self.clusters is None


#: Rows that were drawn one by one, from all alike.
INDEPENDENT = Sampling()


@dataclass(frozen=True, eq=False)
class Resampling:
    """How to resample: units, and the strata within which they are drawn.

    ``unit``: number of each sample's unit (None: every sample is its own); ``strata``: the units of each stratum
    (None: one stratum); ``smallest``: units of the smallest stratum.
    """

    n: int
    n_units: int
    unit: IntArray | None
    strata: tuple[IntArray, ...] | None
    smallest: int

    def draw(self, count: Counts, rng: np.random.Generator, tally: Tally) -> None:
        """Write how often each sample occurs in one replicate."""
        drawn = count if self.unit is None else np.zeros(self.n_units, np.uint8)
        if self.strata is None:
            _draw(drawn, rng, tally)
        for members in self.strata or ():
            part = np.zeros(members.size, np.uint8)
            _draw(part, rng, tally)
            drawn[members] = part
        if self.unit is not None:
            count[:] = drawn[self.unit]

    def chunks(
        self, n_resamples: int, rng: np.random.Generator, tally: Tally | None = None
    ) -> Iterator[tuple[int, Counts]]:
        """Yield the first replicate's number and the counts, shape (at most LANES, n), of one chunk after another.

        Replicate b is the same however many follow, and whatever counts what was drawn: NumPy, or with ``tally`` a
        compiled kernel. Then the counts of a sample lie side by side, in memory of shape (n, LANES). The next chunk
        overwrites them.
        """
        shape = (min(LANES, n_resamples), self.n)
        counts = np.empty(shape, np.uint8) if tally is None else np.empty((self.n, LANES), np.uint8).T
        for first in range(0, n_resamples, LANES):
            counts[:] = 0
            k = min(LANES, n_resamples - first)
            for row in counts[:k]:
                self.draw(row, rng, tally or _bincount)
            yield first, counts[:k]


def _draw(count: Counts, rng: np.random.Generator, tally: Tally) -> None:
    """Write how often each of some units occurs among as many draws."""
    size = count.size
    if size < MANY:
        count[:] = np.bincount(rng.integers(0, size, size), minlength=size)
        return
    rest, share = _shares(size)
    inside = rng.multinomial(size, share)
    count[:rest], inside = inside[:rest], inside[rest:]
    words = rng.integers(0, 1 << 64, -(-size // 8), np.uint64)
    tally(inside, words.astype("<u8", copy=False).view(np.uint8), count[rest:])


@lru_cache(maxsize=8)
def _shares(size: int) -> tuple[int, FloatArray]:
    """Return how many rows come before the blocks, one by one, and the share of each of them and of each block."""
    rest = size % BLOCK
    share = np.full(rest + size // BLOCK, BLOCK / size)
    share[:rest] = 1.0 / size
    return rest, share


def _bincount(inside: IntArray, place: Counts, count: Counts) -> None:
    """Count with NumPy."""
    rows = np.repeat(np.arange(0, count.size, BLOCK, dtype=np.int32), inside)  # short numbers, for the cache
    rows += place[: rows.size] & np.uint8(BLOCK - 1)
    count[:] = np.bincount(rows, minlength=count.size)


def resampling(n: int, sampling: Sampling = INDEPENDENT) -> Resampling:
    """Return how to resample n rows: each on its own, within strata, as whole clusters, or clusters within strata.

    Raises
    ------
    ValueError
        A single cluster; a cluster in two strata; nothing to resample, because every stratum holds a single unit.
    """
    stratum, unit = sampling
    n_units = n if unit is None else int(unit.max()) + 1
    if unit is not None and n_units < 2:
        raise ValueError("clusters holds a single cluster; at least two are needed to resample them")
    if stratum is None:
        return Resampling(n, n_units, unit, None, n_units)
    if unit is not None:
        stratum = _stratum_of_clusters(stratum, unit, n_units)
    sizes = np.bincount(stratum)
    if sizes.max() < 2:
        what = "sample" if unit is None else "cluster"
        raise ValueError(f"every stratum holds a single {what}, so every replicate would be the data; use fewer strata")
    groups = tuple(np.split(np.argsort(stratum, kind="stable"), np.cumsum(sizes)[:-1]))
    return Resampling(n, n_units, unit, groups if len(groups) > 1 else None, int(sizes.min()))


def _stratum_of_clusters(stratum: IntArray, unit: IntArray, n_units: int) -> IntArray:
    """Return the stratum of each cluster; a cluster must lie within one."""
    result = np.zeros(n_units, dtype=np.intp)
    result[unit] = stratum
    astray = np.flatnonzero(result[unit] != stratum)
    if astray.size:
        raise ValueError(f"the cluster of sample {astray[0]} lies in two strata; give one stratum per cluster")
    return result
