"""``TieBlocks``: distinct confidence scores, highest first, with their weight and loss sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from abstain._checks import UnmetNeed, one_of
from abstain._sums import cumulative
from abstain._typing import ArrayLike, FloatArray, Frame, NanPolicy
from abstain.blocks import _samples
from abstain.blocks._parts import Moments, Samples

T = TypeVar("T")


def _fixed(array: FloatArray) -> FloatArray:
    """Return a view that cannot be written to; the array that was given stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False, repr=False)
class TieBlocks:
    r"""The tie-block table: distinct confidence scores, highest first, with the sums of their samples.

    A threshold can only fall between two blocks, so ties are handled here once and for all metrics; the
    order of the rows cannot matter. Tables over disjoint rows merge by adding rows of equal score.
    Build one with :meth:`from_samples` or :meth:`from_frame`; the table is never changed.

    Parameters
    ----------
    score : ndarray of shape (n_blocks,)
        Distinct confidence scores, descending; -inf and +inf are legal.
    weight : ndarray of shape (n_blocks,)
        Weight sum :math:`m_j` > 0 of the samples with that score (their number if unweighted).
    loss : ndarray of shape (n_blocks,)
        Weighted loss sum :math:`s_j = \sum w_i \ell_i`.
    count : ndarray of shape (n_blocks,)
        Number of rows.
    binary : bool
        Whether every loss is 0 or 1. This cannot be read off the sums: (.5, .5) looks like (0, 1).
    frequencies : bool
        Whether every weight is a whole number, so that estimators defined on counts apply.
    moments : Moments, optional
        Second moments, for standard errors from the table alone.
    samples : Samples, optional
        The samples and their block ids.
    n_rejected, n_dropped : int
        Rows without a score that ``nan_policy`` rejected (they stay in N) or dropped (they do not).

    See Also
    --------
    abstain.RiskCoverageCurve : the cumulative sums of this table as a curve.

    Examples
    --------
    >>> import abstain
    >>> blocks = abstain.TieBlocks.from_samples(loss=[0, 1, 0, 1], confidence=[0.9, 0.6, 0.6, 0.3])
    >>> blocks.score, blocks.weight, blocks.loss
    (array([0.9, 0.6, 0.3]), array([1., 2., 1.]), array([0., 1., 1.]))
    >>> blocks
    TieBlocks(n=4, blocks=3, mean_loss=0.5, binary=True, largest_tie=2)
    """

    score: FloatArray
    weight: FloatArray
    loss: FloatArray
    count: FloatArray
    binary: bool
    frequencies: bool = True
    moments: Moments | None = None
    samples: Samples | None = None
    n_rejected: int = 0
    n_dropped: int = 0
    _oracle: TieBlocks | None = field(default=None)

    def __post_init__(self) -> None:
        for name in ("score", "weight", "loss", "count"):
            object.__setattr__(self, name, _fixed(getattr(self, name)))

    # ------------------------------------------------------------------ builders

    @classmethod
    def from_samples(
        cls,
        loss: ArrayLike,
        confidence: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        nan_policy: NanPolicy = "raise",
        keep_samples: bool = False,
        oracle: bool = False,
        moments: bool = False,
    ) -> TieBlocks:
        """Build the table from one loss and one confidence score per sample, with one sort.

        Parameters
        ----------
        loss : array-like of shape (n_samples,)
            Loss per sample, finite and >= 0 (for classifiers mostly 0 = right, 1 = wrong).
        confidence : array-like of shape (n_samples,)
            Confidence score, higher = more confident, any scale; +inf and -inf are legal.
        sample_weight : array-like of shape (n_samples,), optional
            Weights >= 0. Samples of weight zero count in ``n`` only where their score occurs otherwise.
        nan_policy : {"raise", "reject", "drop"}
            What a NaN score means: an error; -inf, which is ranked last and never accepted; left out and counted.
        keep_samples : bool
            Keep each sample's block id and the sort order, for contributions, pairing and training.
        oracle : bool
            Also build the loss-ordered table that optima need (a 0/1 loss does without, see :attr:`oracle`).
        moments : bool
            Also sum squares, for standard errors from the table alone.

        Returns
        -------
        TieBlocks

        Raises
        ------
        ValueError
            Lengths differ; no sample; NaN score (unless ``nan_policy`` says otherwise); NaN, infinite or
            negative loss or weight; all weights zero.
        TypeError
            A column is not numeric.

        Notes
        -----
        Lists, NumPy arrays, pandas, polars and pyarrow columns, and tensors are accepted. A tensor is sorted
        and summed on its own device; the finished table lives in NumPy. Everything is float64, -0.0 is 0.0.

        Examples
        --------
        >>> import abstain
        >>> abstain.TieBlocks.from_samples([0, 1], [0.8, float("nan")], nan_policy="drop").n_dropped
        1
        """
        one_of(nan_policy, ("raise", "reject", "drop"), "nan_policy")
        return _samples.build(cls, loss, confidence, sample_weight, nan_policy, keep_samples, oracle, moments)

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        *,
        confidence: str,
        loss: str,
        sample_weight: str | None = None,
        nan_policy: NanPolicy = "raise",
        oracle: bool = False,
        moments: bool = False,
    ) -> TieBlocks:
        """Build the table from a data frame or a scan: grouped by the engine that holds the data where scores tie.

        Where a score has eight rows or more on average, as far as the first rows show, the engine sums them and no row
        is loaded. Else a table holds hardly fewer numbers than two columns do, and these are read.

        Parameters
        ----------
        frame : polars, pandas, pyarrow, DuckDB, … frame, eager or lazy
            Anything that Narwhals accepts.
        confidence, loss : str
            Column names. Both are cast to Float64 before grouping, so -0.0 and 0.0 are one score.
        sample_weight : str, optional
            Column of weights >= 0.
        nan_policy, oracle, moments
            As in :meth:`from_samples`; a null score is treated like NaN. ``oracle`` may cost a second ``group_by``.

        Returns
        -------
        TieBlocks

        Raises
        ------
        ValueError
            Null, NaN, infinite or negative losses or weights, which are counted; no rows;
            a column that does not exist.
        TypeError
            A column is not numeric, or the object is not a data frame.

        Examples
        --------
        >>> import polars, abstain
        >>> frame = polars.LazyFrame({"msp": [0.9, 0.6, 0.6], "error": [False, True, False]})
        >>> abstain.TieBlocks.from_frame(frame, confidence="msp", loss="error").weight
        array([1., 2.])
        """
        one_of(nan_policy, ("raise", "reject", "drop"), "nan_policy")
        from abstain.blocks import _frame  # only when a frame comes

        return _frame.build(cls, frame, confidence, loss, sample_weight, nan_policy, oracle, moments)

    @classmethod
    def _of_rows(
        cls, loss: ArrayLike, confidence: ArrayLike, sample_weight: ArrayLike | None, nan_policy: NanPolicy
    ) -> TieBlocks:
        """Return what :meth:`from_samples` builds with samples and optimum; of 0/1 losses the order is left for later.

        They are sorted quicker without it, and most of what is asked of them needs none.
        """
        return _samples.build(cls, loss, confidence, sample_weight, nan_policy, "unsorted", True, False)

    @classmethod
    def _of_counted(
        cls, loss: FloatArray, score: FloatArray, weight: FloatArray | None, times: FloatArray, nan_policy: NanPolicy
    ) -> TieBlocks:
        """Build the table, and keep its entries, from checked rows that an engine counted: equal ones are one entry.

        Entries that are equal may occur again: they add up, as rows do.
        """
        failed = _samples.failures(loss, np)
        return _samples.of_columns(cls, np, loss, score, weight, nan_policy, True, True, False, failed, times)

    def merge(self, *others: TieBlocks) -> TieBlocks:
        """Return the table of all rows behind this table and the others (disjoint parts of one data set).

        Bit-exact for counts and 0/1 losses, else equal to rounding. Samples are not kept; moments and the
        oracle table are kept if every part has them. A part has not counted samples of weight zero whose score
        does not occur otherwise in it.

        Parameters
        ----------
        *others : TieBlocks

        Returns
        -------
        TieBlocks

        Raises
        ------
        TypeError
            Something else than tables; a list of them must be unpacked.

        Examples
        --------
        >>> import abstain
        >>> a = abstain.TieBlocks.from_samples([0, 1], [0.9, 0.5])
        >>> b = abstain.TieBlocks.from_samples([1], [0.5])
        >>> a.merge(b).loss
        array([0., 2.])
        """
        for part in others:
            if not isinstance(part, TieBlocks):
                raise TypeError(f"merge takes tables, got {type(part).__name__}; unpack a list: first.merge(*others)")
        return _samples.merge([self, *others])

    def reweight(self, sample_weight: ArrayLike) -> TieBlocks:
        """Return the table of the same samples under other weights, without a new sort.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,)
            The new weights, in the caller's order; they replace the old ones.

        Returns
        -------
        TieBlocks

        Raises
        ------
        UnmetNeed
            The table was built without ``keep_samples=True``.

        Examples
        --------
        >>> import abstain
        >>> blocks = abstain.TieBlocks.from_samples([0, 1], [0.9, 0.5], keep_samples=True)
        >>> blocks.reweight([1, 3]).mean_loss
        0.75
        """
        return _samples.reweight(self, sample_weight)

    # ------------------------------------------------------------------ derived tables

    @cached_property
    def oracle(self) -> TieBlocks:
        """The table of the best possible ranking: samples in order of their losses, equal losses tied.

        For a 0/1 loss it follows from the totals (its ``count`` repeats the weights). Any other loss needs
        ``oracle=True`` when the table is built.
        """
        if self._oracle is not None:
            return self._oracle
        if not self.binary:
            raise UnmetNeed(
                "the optimum of a loss that is not 0/1 needs the loss-ordered table: build TieBlocks with oracle=True"
            )
        wrong = self.total_loss
        right = self.total_weight - wrong
        weight, loss = np.array([right, wrong]), np.array([0.0, wrong])
        kept = weight > 0.0
        weight = weight[kept]
        return TieBlocks(
            np.array([0.0, -1.0])[kept], weight, loss[kept], weight, binary=True, frequencies=self.frequencies
        )

    @cached_property
    def constant(self) -> TieBlocks:
        """The table of a constant score, the random reference: one block that holds everything."""
        weight, loss = np.array([self.total_weight]), np.array([self.total_loss])
        count = np.array([float(self.n)])
        return TieBlocks(np.zeros(1), weight, loss, count, binary=self.binary, frequencies=self.frequencies)

    @property
    def _kept(self) -> Samples:
        """The samples; a table that was built without them has none."""
        if self.samples is None:
            raise UnmetNeed("this needs the samples: build TieBlocks with keep_samples=True")
        return self.samples

    # ------------------------------------------------------------------ sums

    @cached_property
    def cumulative_weight(self) -> FloatArray:
        """Weight accepted when the threshold is the score of each block: W_j."""
        return _fixed(cumulative(self.weight))

    @cached_property
    def cumulative_loss(self) -> FloatArray:
        """Weighted loss accepted when the threshold is the score of each block: L_j."""
        return _fixed(cumulative(self.loss))

    @cached_property
    def selective_risk(self) -> FloatArray:
        """Mean loss of what is accepted when the threshold is the score of each block: R_j = L_j / W_j."""
        return _fixed(self.cumulative_loss / self.cumulative_weight)

    @cached_property
    def total_weight(self) -> float:
        """Sum of all weights W; N if unweighted."""
        return float(self.cumulative_weight[-1])

    @cached_property
    def total_loss(self) -> float:
        """Sum of all weighted losses."""
        return float(self.cumulative_loss[-1])

    @property
    def mean_loss(self) -> float:
        """Risk at full coverage; the error rate for a 0/1 loss."""
        return self.total_loss / self.total_weight

    def _part(self, column: str, part: slice) -> FloatArray:
        """Return some rows of a column; a table that makes its columns when they are read makes no others."""
        return np.asarray(getattr(self, column)[part])

    def _let_go(self, sums: bool = True) -> None:
        """Give back the memory of columns that can be computed again: the risks, and the cumulative ``sums``."""
        _ = self.total_weight, self.total_loss
        for name in ("selective_risk", "cumulative_weight", "cumulative_loss")[: 3 if sums else 1]:
            self.__dict__.pop(name, None)

    @cached_property
    def _known(self) -> dict[str, Any]:
        return {}

    def once(self, name: str, compute: Callable[[], T]) -> T:
        """Return what several metrics read from this table, computed by the first of them."""
        if name not in self._known:
            self._known[name] = compute()
        found: T = self._known[name]
        return found

    @property
    def _grown_from(self) -> tuple[TieBlocks, float, float] | None:
        """Of a table whose every block has so many times the weight of another one's, and so much more loss: these.

        The table, the factor, and the loss that a unit of its weight got.
        """
        return None

    @cached_property
    def n(self) -> int:
        """Number of rows in the table."""
        return int(np.sum(self.count))

    def __len__(self) -> int:
        return len(self.score)

    @property
    def distinct_share(self) -> float:
        """Distinct scores per row, in (0, 1]; 1 means no ties."""
        return len(self) / self.n

    @property
    def largest_tie(self) -> int:
        """Rows that share the most frequent score."""
        return int(np.max(self.count))

    def __repr__(self) -> str:
        return (
            f"TieBlocks(n={self.n}, blocks={len(self)}, mean_loss={self.mean_loss:.6g}, "
            f"binary={self.binary}, largest_tie={self.largest_tie})"
        )
