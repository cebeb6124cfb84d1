"""``Summary``: a histogram of scores: a few megabytes whatever the number of rows, with bounds, and it adds up."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from abstain._checks import check_loss, is_empty, one_of, same_length, vector
from abstain._typing import AnyArray, ArrayLike, FloatArray, PolarsFrame
from abstain.metrics import Metric, get, names, parse
from abstain.summaries import _file
from abstain.summaries._bounds import Bins, Bounds, bounds_of, lacking, risk_range
from abstain.summaries._key import COLUMNS, Key, Scale
from abstain.summaries._results import Bounded, SummaryResult


def add_up(first: Any, others: Iterable[Any]) -> None:
    """Refuse summaries that do not add up: of another kind, or with another key."""
    for part in others:
        if type(part) is not type(first):
            raise TypeError(
                f"merge takes summaries of one kind, got {type(first).__name__} and {type(part).__name__}; "
                "unpack a list: a.merge(*others)"
            )
        if part.name != first.name:
            raise ValueError(
                f"summaries with the keys {first.name} and {part.name} do not add up; "
                "summarize both with one scale and as many bits"
            )


class Summary:
    r"""What rows leave behind in constant memory: per bin of the score how many, their losses, their extreme scores.

    ``update`` takes rows in chunks, in any order; ``merge`` adds the summary of other rows; ``result`` says what the
    metrics can be: value, least and most. No data with this summary can leave these bounds: they are certain, not an
    interval of chance. A bin whose rows share one score is exact, so that few distinct scores have bounds of no width.

    Parameters
    ----------
    scale : {"probability", "real"}
        What the bins are made for: scores in [0, 1], finest near 1; or any scores, in equal ratios from 2^-32 to 2^32.
    bits : int
        2**bits bins, 8 to 20; 16 take 3 MB, and each bit more halves the bounds.

    See Also
    --------
    abstain.TieBlocks : exact, as large as the number of distinct scores, and merges, too.

    Notes
    -----
    Sums are rounded: bounds hold to a few units in the twelfth digit. Weights are not defined here, as the bounds are
    proved for counts. A summary can be pickled; only summaries with the same scale and bits add up.

    Examples
    --------
    >>> import abstain
    >>> summary = abstain.summaries.Summary()
    >>> _ = summary.update(loss=[0, 0, 1], confidence=[0.99, 0.9, 0.6]).update(loss=[0], confidence=[0.60005])
    >>> summary.n, summary.bounds("augrc")
    (4, Bounds(value=0.0625, low=0.03125, high=0.09375, reason=None))
    """

    def __init__(self, scale: Scale = "probability", bits: int = 16) -> None:
        self.key = Key(scale, bits)
        self._columns: dict[str, AnyArray] = {
            name: np.full(self.key.bins, empty, kind) for name, (kind, empty, _) in COLUMNS.items()
        }

    # ------------------------------------------------------------------ rows

    def update(
        self, loss: ArrayLike, confidence: ArrayLike, *, nan_policy: Literal["raise", "reject"] = "raise"
    ) -> Summary:
        """Take new rows, and return the summary itself; after an error it is as it was.

        Parameters
        ----------
        loss : array-like of shape (n_samples,)
            Loss per sample, finite and >= 0.
        confidence : array-like of shape (n_samples,)
            Confidence score, higher = more confident; in [0, 1] for the scale "probability".
        nan_policy : {"raise", "reject"}
            What a NaN score means: an error; -inf, which is ranked last and never accepted.

        Returns
        -------
        Summary

        Raises
        ------
        ValueError, TypeError
            Bad columns, as in :meth:`abstain.TieBlocks.from_samples`; a confidence outside [0, 1].

        Examples
        --------
        >>> import abstain
        >>> abstain.summaries.Summary("real").update([0, 1], [7.5, -2.0]).n
        2
        """
        return self.add(*self.checked(loss, confidence, nan_policy))

    def checked(
        self, loss: ArrayLike, confidence: ArrayLike, nan_policy: Literal["raise", "reject"]
    ) -> tuple[FloatArray, FloatArray]:
        """Return columns as :meth:`update` takes them."""
        one_of(nan_policy, ("raise", "reject"), "nan_policy")
        if is_empty(loss) and is_empty(confidence):
            return np.zeros(0), np.zeros(0)
        losses, scores = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None) + 0.0
        same_length(loss=losses, confidence=scores)
        check_loss(losses, np)
        return losses, self.key.checked(scores, "confidence", nan_policy)

    def add(self, loss: FloatArray, score: FloatArray) -> Summary:
        which, columns = self.key.of(score), self._columns
        columns["n"] += np.bincount(which, minlength=self.key.bins)
        np.minimum.at(columns["lowest"], which, score)
        np.maximum.at(columns["highest"], which, score)
        wrong = np.flatnonzero(loss != 0.0)  # of truth values it is ten times as fast as of numbers
        which, loss = which[wrong], loss[wrong]
        columns["loss_sum"] += np.bincount(which, loss, self.key.bins)
        graded = loss != 1.0
        columns["other_losses"] += np.bincount(which[graded], minlength=self.key.bins)
        np.maximum.at(columns["largest_loss"], which, loss)
        return self

    def merge(self, *others: Summary) -> Summary:
        """Return the summary of all rows behind this one and the others, which stay as they are.

        Parameters
        ----------
        *others : Summary
            Of other rows, with the same scale and bits.

        Returns
        -------
        Summary

        Raises
        ------
        ValueError
            Another scale, or other bits.
        TypeError
            Something else than summaries.

        Examples
        --------
        >>> from abstain.summaries import Summary
        >>> Summary().update([0], [0.9]).merge(Summary().update([1], [0.9])).n
        2
        """
        add_up(self, others)
        result = Summary(self.key.scale, self.key.bits)
        for part in (self, *others):
            for name, (_, _, combine) in COLUMNS.items():
                combine(result._columns[name], part._columns[name], out=result._columns[name])
        return result

    # ------------------------------------------------------------------ what it says

    @property
    def name(self) -> str:
        """Name of the key: what summaries that add up have in common."""
        return self.key.name

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self._columns["n"].sum())

    @property
    def binary(self) -> bool:
        """Whether every loss is 0 or 1."""
        return not self._columns["other_losses"].any()

    @property
    def n_bins(self) -> int:
        """Number of bins that hold a row."""
        return int(np.count_nonzero(self._columns["n"]))

    def columns(self) -> dict[str, AnyArray]:
        """Return the bins that hold a row, by descending score.

        Returns
        -------
        dict of ndarray
            ``bin``, ``n``, ``loss_sum``; ``other_losses``: those that are neither 0 nor 1; ``largest_loss``; ``lowest``
            and ``highest`` score.
        """
        kept = np.flatnonzero(self._columns["n"])
        return {"bin": kept, **{name: column[kept] for name, column in self._columns.items()}}

    @classmethod
    def of_frame(cls, frame: PolarsFrame) -> Summary:
        """Return the summary that a polars frame with the columns of a file holds."""
        return cls.of_columns(*_file.columns_of(frame))

    @classmethod
    def of_columns(cls, key: Key, columns: Mapping[str, AnyArray]) -> Summary:
        """Return the summary whose bins are these, as :meth:`columns` gives them, in any order.

        Raises
        ------
        ValueError
            Columns that cannot be those of a summary with this key.
        """
        summary = cls(key.scale, key.bits)
        which = np.asarray(columns["bin"])
        if len(which) and not (which.min() >= 0 and which.max() < key.bins):
            raise ValueError(f"bins must lie between 0 and {key.bins - 1}, got {which.min()} to {which.max()}")
        if len(np.unique(which)) < len(which):
            raise ValueError("a bin occurs twice; add up its rows first")
        for name, (kind, _, _) in COLUMNS.items():
            column = np.asarray(columns[name])
            if kind is np.int64 and not np.array_equal(column, np.floor(column)):
                raise ValueError(f"{name} must hold whole numbers")
            summary._columns[name][which] = column + 0  # no -0.0
        summary._check()
        return summary

    def _check(self) -> None:
        """Refuse what no rows can have left behind."""
        at = self.columns()
        n, s, largest, low, high = (at[name] for name in ("n", "loss_sum", "largest_loss", "lowest", "highest"))
        within = np.array_equal(self.key.of(low), at["bin"]) and np.array_equal(self.key.of(high), at["bin"])
        slack = 1.0 + 1e-9
        possible = (
            not self._columns["n"].min() < 0
            and np.isfinite(s).all() and (s >= 0.0).all() and (low <= high).all() and within
            and ((at["other_losses"] >= 0) & (at["other_losses"] <= n)).all()
            and (largest <= s * slack).all() and (s <= n * largest * slack).all()
        )  # fmt: skip
        if not possible:
            raise ValueError("counts, losses and scores of its bins contradict each other")

    def bins(self) -> Bins:
        """Return the bins with their cumulative sums, from which bounds are computed."""
        at = self.columns()
        if not len(at["bin"]):
            raise ValueError("the summary holds no rows; update it first")
        n, loss, low, high, largest = (
            at[name].astype(np.float64) for name in ("n", "loss_sum", "lowest", "highest", "largest_loss")
        )
        return Bins(n, loss, low, high, largest, self.binary)

    def bounds(self, metric: str | Metric) -> Bounds:
        """Return value, least and most of one metric.

        Parameters
        ----------
        metric : str or Metric
            As :func:`abstain.metrics.parse` reads it, such as ``"selective_risk(coverage=0.9)"``.

        Returns
        -------
        Bounds
            Of NaN, with a reason, where the metric is undefined.

        Raises
        ------
        UnmetNeed
            A metric that does not follow from a summary.
        ValueError
            No rows; an unknown metric.
        """
        return bounds_of(parse(metric) if isinstance(metric, str) else metric, self.bins())

    def result(self, metrics: str | Metric | Iterable[str | Metric] | None = None) -> SummaryResult:
        """Return the bounds of several metrics as a table.

        Parameters
        ----------
        metrics : specs, optional
            Default: all that follow from a summary.

        Returns
        -------
        SummaryResult

        Raises
        ------
        UnmetNeed, ValueError
            As :meth:`bounds`.

        Examples
        --------
        >>> from abstain.summaries import Summary
        >>> print(Summary().update([0, 0, 1, 0], [0.9, 0.9, 0.5, 0.3]).result(["augrc", "aurc"]))
        4 rows · 0/1 loss 0.25 · 3 bins of the key probability/16
        <BLANKLINE>
        metric                        value  width
        AUGRC ↓  0.09375 [0.09375, 0.09375]  exact
        AURC ↓      0.1458 [0.1458, 0.1458]  exact
        <BLANKLINE>
        note: in brackets: what the value cannot leave, whatever the order within bins;
          no interval of chance. Width: from end to end, relative to the value
        """
        bins = self.bins()
        if metrics is None:
            chosen = [metric for metric in map(get, names("blocks")) if lacking(metric, bins) is None]
        else:
            given = [metrics] if isinstance(metrics, str | Metric) else metrics
            chosen = [parse(each) if isinstance(each, str) else each for each in given]
        found = [Bounded(each.label, each.spec, each.direction, *bounds_of(each, bins)) for each in chosen]
        return SummaryResult(tuple(found), self.key.name, self.n, self.n_bins, bins.total / bins.n, self.binary)

    def curve(self) -> dict[str, FloatArray]:
        """Return the risk-coverage curve at the ends of the bins, where it is known, and its bounds inside them.

        Returns
        -------
        dict of ndarray
            ``threshold``, the lowest score of each bin; ``coverage`` and ``selective_risk`` when it is accepted;
            ``risk_low`` and ``risk_high``: no threshold inside the bin has a selective risk beyond these.

        Examples
        --------
        >>> from abstain.summaries import Summary
        >>> curve = Summary().update([0, 0, 1, 0], [0.9, 0.9, 0.6, 0.60005]).curve()
        >>> curve["coverage"].tolist(), curve["risk_high"].tolist()
        ([0.5, 1.0], [0.0, 0.3333333333333333])
        """
        bins = self.bins()
        every = np.arange(len(bins.m))
        risk = bins.S1 / bins.N1
        low, high = risk_range(bins, every, bins.N0 + 1.0, bins.N1)
        return {
            "threshold": bins.lowest,
            "coverage": bins.N1 / bins.n,
            "selective_risk": risk,
            "risk_low": np.where(bins.tie, risk, low),
            "risk_high": np.where(bins.tie, risk, high),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file, all of it or nothing, which :func:`read_summary` reads again to the bit.

        Raises
        ------
        ValueError
            Another extension than ``.parquet``.
        ImportError
            polars is missing.
        """
        _file.write(self.frame, path)

    def frame(self) -> PolarsFrame:
        """Return the bins as a polars frame, as they stand in a file."""
        return _file.frame_of(self.key, self.columns())

    def __repr__(self) -> str:
        return f"Summary({self.key.name}, n={self.n}, bins={self.n_bins})"
