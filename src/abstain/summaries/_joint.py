"""``JointSummary``: a histogram of two scores at once, of rows in and out of distribution, with bounds; it adds up."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from abstain._checks import UnmetNeed, fraction, is_empty, same_length, vector, whole
from abstain._typing import AnyArray, ArrayLike, FloatArray, IntArray, PolarsFrame
from abstain.summaries import _file
from abstain.summaries._cells import Axis, Cells
from abstain.summaries._key import FEWEST, OF_CELLS, Key, Scale
from abstain.summaries._results import BOTH, JointBounded, JointResult
from abstain.summaries._summary import add_up

#: Most bits of each of two keys: cells are as many as both allow, if rows fill them.
MOST_BITS = 12
#: Columns of the cells: type, and how those of two parts combine.
COLUMNS: dict[str, tuple[type[np.generic], Any]] = {
    "n_right": (np.int64, np.add),
    "n_wrong": (np.int64, np.add),
    "n_ood": (np.int64, np.add),
    "lowest": (np.float64, np.minimum),
    "highest": (np.float64, np.maximum),
    "detector_lowest": (np.float64, np.minimum),
    "detector_highest": (np.float64, np.maximum),
}
_KINDS = ("n_right", "n_wrong", "n_ood")
_ENDS = {
    "confidence": ("bin", "lowest", "highest"),
    "detector": ("detector_bin", "detector_lowest", "detector_highest"),
}


class JointSummary:
    r"""What rows with two scores leave behind: per pair of bins how many are right, wrong and out of distribution.

    ``update`` takes rows in chunks, ``merge`` adds the summary of other rows, ``result`` says what DS-F1, DS-AURC and
    DS-AUGRC can be, and the same of each score alone. No rows with this summary can leave the bounds, whatever pair of
    thresholds is best. Where all scores of a bin are equal, as with few distinct ones, the values are exact.

    Parameters
    ----------
    scale, detector_scale : {"probability", "real"}
        What the bins of the confidence and of the detector are made for, as for :class:`Summary`.
    bits : int
        2**bits bins of each score, 8 to 12; memory follows the pairs of bins that hold a row.

    See Also
    --------
    abstain.joint.evaluate : exact, with intervals, from rows in memory.

    Notes
    -----
    The value is attained by thresholds at the ends of bins; the other end is of any thresholds. Losses are 0 or 1.
    What permutes or draws rows (null gains, intervals, thresholds from one half on the other) does not follow.

    Examples
    --------
    >>> from abstain.summaries import JointSummary
    >>> inside = {"id_confidence": [0.9, 0.5, 0.4], "id_detector": [3.0, 2.0, 2.5]}
    >>> summary = JointSummary().update([0, 0, 1], **inside, ood_confidence=[0.8, 0.7], ood_detector=[1.0, 2.2])
    >>> summary
    JointSummary(probability/10, real/10, n_id=3, n_ood=2, cells=5)
    >>> round(summary.bounds("ds_f1").value, 4)
    0.6667
    """

    def __init__(self, scale: Scale = "probability", detector_scale: Scale = "real", bits: int = 10) -> None:
        if whole(bits, "bits", usual=10) < FEWEST or bits > MOST_BITS:
            raise ValueError(f"bits of two scores must lie between {FEWEST} and {MOST_BITS}, got {bits!r}; 10 is usual")
        self.key, self.detector_key = Key(scale, bits), Key(detector_scale, bits)
        self._code = np.zeros(0, dtype=np.int64)
        self._columns: dict[str, AnyArray] = {name: np.zeros(0, kind) for name, (kind, _) in COLUMNS.items()}

    # ------------------------------------------------------------------ rows

    def update(
        self,
        id_loss: ArrayLike = (),
        *,
        id_confidence: ArrayLike = (),
        id_detector: ArrayLike = (),
        ood_confidence: ArrayLike = (),
        ood_detector: ArrayLike = (),
    ) -> JointSummary:
        """Take new rows, of one kind or both, and return the summary itself; after an error it is as it was.

        Parameters
        ----------
        id_loss : array-like of shape (n_id,)
            0/1 loss of rows in distribution.
        id_confidence, id_detector : array-like of shape (n_id,)
            Their two scores, higher = accept.
        ood_confidence, ood_detector : array-like of shape (n_ood,)
            The two scores of rows out of distribution.

        Returns
        -------
        JointSummary

        Raises
        ------
        UnmetNeed
            A loss that is not 0/1.
        ValueError, TypeError
            Bad columns; a score outside [0, 1] on the scale "probability"; NaN (-inf is accepted last).

        Examples
        --------
        >>> from abstain.summaries import JointSummary
        >>> JointSummary().update(ood_confidence=[0.8, 0.7], ood_detector=[1.0, 2.2]).n_ood
        2
        """
        loss = _column(id_loss, "id_loss")
        other = loss[(loss != 0.0) & (loss != 1.0)]
        if other.size:
            raise UnmetNeed(f"id_loss must be 0 (right) or 1 (wrong), but {float(other[0])!r} occurs")
        inside = self._scores(id_confidence, id_detector, "id")
        same_length(id_loss=loss, id_confidence=inside[0])
        outside = self._scores(ood_confidence, ood_detector, "ood")
        kinds = np.append(loss.astype(np.int64), np.full(len(outside[0]), 2))
        self._add(kinds, *(np.append(one, two) for one, two in zip(inside, outside, strict=True)))
        return self

    def _scores(self, confidence: ArrayLike, detector: ArrayLike, which: str) -> tuple[FloatArray, FloatArray]:
        keys = {f"{which}_confidence": (self.key, confidence), f"{which}_detector": (self.detector_key, detector)}
        columns = {name: _column(column, name) + 0.0 for name, (_, column) in keys.items()}
        same_length(**columns)
        for name, (key, _) in keys.items():
            if len(columns[name]):
                key.checked(columns[name], name, None)
        return columns[f"{which}_confidence"], columns[f"{which}_detector"]

    def _add(self, kinds: IntArray, confidence: FloatArray, detector: FloatArray) -> None:
        ends = {"lowest": confidence, "highest": confidence, "detector_lowest": detector, "detector_highest": detector}
        counts = {name: (kinds == k).astype(np.int64) for k, name in enumerate(_KINDS)}
        self._combine(self.key.of(confidence) * self.detector_key.bins + self.detector_key.of(detector), counts | ends)

    def _combine(self, code: IntArray, columns: Mapping[str, AnyArray]) -> None:
        """Add entries, of which several may be of one cell."""
        if not len(code):
            return
        code = np.append(self._code, code)
        order = np.argsort(code, kind="stable")
        code = code[order]
        starts = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
        for name, (_, combine) in COLUMNS.items():
            self._columns[name] = combine.reduceat(np.append(self._columns[name], columns[name])[order], starts)
        self._code = code[starts]

    def merge(self, *others: JointSummary) -> JointSummary:
        """Return the summary of all rows behind this one and the others, which stay as they are.

        Parameters
        ----------
        *others : JointSummary
            Of other rows, with the same scales and bits.

        Returns
        -------
        JointSummary

        Raises
        ------
        ValueError
            Other scales, or other bits.
        TypeError
            Something else than joint summaries.

        Examples
        --------
        >>> from abstain.summaries import JointSummary
        >>> inside = JointSummary().update([0, 1], id_confidence=[0.9, 0.5], id_detector=[3.0, 2.0])
        >>> inside.merge(JointSummary().update(ood_confidence=[0.8], ood_detector=[1.0]))
        JointSummary(probability/10, real/10, n_id=2, n_ood=1, cells=3)
        """
        add_up(self, others)
        result = JointSummary(self.key.scale, self.detector_key.scale, self.key.bits)
        for part in (self, *others):
            result._combine(part._code, part._columns)
        return result

    # ------------------------------------------------------------------ what it says

    @property
    def n_id(self) -> int:
        """Rows in distribution."""
        return int(self._columns["n_right"].sum() + self._columns["n_wrong"].sum())

    @property
    def n_ood(self) -> int:
        """Rows out of distribution."""
        return int(self._columns["n_ood"].sum())

    @property
    def n(self) -> int:
        """All rows."""
        return self.n_id + self.n_ood

    @property
    def n_cells(self) -> int:
        """Number of pairs of bins that hold a row."""
        return len(self._code)

    @property
    def name(self) -> str:
        """Names of both keys: what summaries that add up have in common."""
        return f"{self.key.name} and {self.detector_key.name}"

    def columns(self) -> dict[str, AnyArray]:
        """Return the cells that hold a row, by descending confidence, then detector score.

        Returns
        -------
        dict of ndarray
            ``bin``, ``detector_bin``, ``n_right``, ``n_wrong``, ``n_ood``, and the lowest and highest of both scores.
        """
        place, other = np.divmod(self._code, self.detector_key.bins)
        return {"bin": place, "detector_bin": other, **{name: each.copy() for name, each in self._columns.items()}}

    def cells(self, prevalence: float | None = None) -> Cells:
        """Return the cells from which bounds are computed, with the weight of an OOD row."""
        at, ratio = self.columns(), 1.0
        if not self.n_id:
            raise ValueError("the summary holds no rows in distribution; update it first")
        if prevalence is not None:
            share = fraction(prevalence, "prevalence", below_one=True)
            if share > 0.0 and not self.n_ood:
                raise ValueError(f"prevalence={share!r} needs OOD rows, but there are none; leave prevalence=None")
            ratio = self.n_id * share / ((1.0 - share) * self.n_ood) if share else 0.0
        confidence, detector = (_axis(*(at[column] for column in ends)) for ends in _ENDS.values())
        return Cells(confidence, detector, np.array([at[name] for name in _KINDS], dtype=np.float64), ratio)

    def bounds(self, metric: str, *, prevalence: float | None = None) -> JointBounded:
        """Return value, least and most of one metric.

        Parameters
        ----------
        metric : {"ds_f1", "ds_aurc", "ds_augrc"}
            Others do not follow; :meth:`result` has those of one score.
        prevalence : float in [0, 1), optional
            Share of OOD rows in the target population; default: as in the data.

        Returns
        -------
        JointBounded

        Raises
        ------
        UnmetNeed
            A metric that does not follow from a joint summary.
        ValueError
            No ID rows; a prevalence that cannot be.
        """
        return self.result(metric, prevalence=prevalence).measurements[-1]

    def result(self, metrics: str | Sequence[str] | None = None, *, prevalence: float | None = None) -> JointResult:
        """Return the bounds of several metrics as a table: of both scores, and the same of each alone.

        Parameters
        ----------
        metrics : str or iterable of str, optional
            Of ``"ds_f1"``, ``"ds_aurc"``, ``"ds_augrc"``; default: all.
        prevalence : float in [0, 1), optional
            Share of OOD rows in the target population; default: as in the data.

        Returns
        -------
        JointResult

        Raises
        ------
        UnmetNeed, ValueError
            As :meth:`bounds`.

        Examples
        --------
        >>> from abstain.summaries import JointSummary
        >>> inside = {"id_confidence": [0.9, 0.5, 0.4], "id_detector": [3.0, 2.0, 2.5]}
        >>> summary = JointSummary().update([0, 0, 1], **inside, ood_confidence=[0.8, 0.7], ood_detector=[1.0, 2.2])
        >>> print(summary.result("ds_f1"))
        3 ID rows, accuracy 0.6667 · 2 OOD rows · 5 cells of the keys probability/10 and
          real/10
        <BLANKLINE>
        F1 ↑                          value  width
        confidence  0.5714 [0.5714, 0.5714]  exact
        detector    0.5714 [0.5714, 0.6667]   17 %
        both        0.6667 [0.6667, 0.8000]   20 %
        <BLANKLINE>
        note: in brackets: what the value cannot leave, whatever the order within bins;
          no interval of chance. The value is attained, by thresholds at ends of bins
        """
        wanted = list(BOTH) if metrics is None else [metrics] if isinstance(metrics, str) else list(metrics)
        for name in wanted:
            if name not in BOTH:
                raise UnmetNeed(f"{name!r} does not follow from a summary of two scores, which gives {', '.join(BOTH)}")
        cells = self.cells(prevalence)
        every = {name: cells.alone(name).bounds() for name in _ENDS} | {"both": cells.bounds()}
        found = tuple(JointBounded.of(name, scores, *each[name.removeprefix("ds_")])
                      for name in wanted for scores, each in every.items())  # fmt: skip
        right = int(self._columns["n_right"].sum())
        return JointResult(found, self.name, self.n_id, self.n_ood, self.n_cells, right / self.n_id, prevalence)

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file, all of it or nothing, which :func:`read_summary` reads again to the bit.

        Raises
        ------
        ValueError
            Another extension than ``.parquet``; no rows.
        ImportError
            polars is missing.
        """
        if not self.n:
            raise ValueError("the summary holds no rows; there is nothing to save")
        _file.write(self.frame, path)

    def frame(self) -> PolarsFrame:
        """Return the cells as a polars frame, as they stand in a file."""
        import polars as pl

        told = {"format": OF_CELLS, "key": self.key.name, "detector_key": self.detector_key.name}
        return pl.DataFrame(self.columns()).select(*(pl.lit(told[name]).alias(name) for name in told), pl.all())

    @classmethod
    def of_frame(cls, frame: PolarsFrame) -> JointSummary:
        """Return the summary that a polars frame with the columns of a file holds."""
        _file.present(frame, ["key", "detector_key", "bin", "detector_bin", *COLUMNS])
        keys = [Key.named(_file.one(frame, name)) for name in ("key", "detector_key")]
        if keys[0].bits != keys[1].bits:
            raise ValueError(f"the keys {keys[0].name} and {keys[1].name} must have as many bits")
        summary = cls(keys[0].scale, keys[1].scale, keys[0].bits)
        at = _file.numbers(frame, ["bin", "detector_bin", *COLUMNS])
        for name in ("bin", "detector_bin", *_KINDS):
            if not (np.array_equal(at[name], np.floor(at[name])) and (at[name] >= 0).all()):
                raise ValueError(f"the column {name!r} must hold whole numbers from 0 on")
        bins = [at[name].astype(np.int64) for name in ("bin", "detector_bin")]
        code = bins[0] * keys[1].bins + bins[1]
        if len(np.unique(code)) < len(code):
            raise ValueError("a cell occurs twice; add up its rows first")
        possible = sum(at[name] for name in _KINDS).min() > 0 and all(
            (at[low] <= at[high]).all() and all(np.array_equal(key.of(at[end]), place) for end in (low, high))
            for key, place, (_, low, high) in zip(keys, bins, _ENDS.values(), strict=True)
        )
        if not possible:
            raise ValueError("counts and scores of its cells contradict each other")
        summary._combine(code, {name: at[name].astype(kind) for name, (kind, _) in COLUMNS.items()})
        return summary

    def __repr__(self) -> str:
        keys = f"{self.key.name}, {self.detector_key.name}"
        return f"JointSummary({keys}, n_id={self.n_id}, n_ood={self.n_ood}, cells={self.n_cells})"


def _column(column: ArrayLike, name: str) -> FloatArray:
    """Return a column as float64; it may be empty."""
    values: FloatArray = np.zeros(0) if is_empty(column) else vector(column, name, np, None)
    return values


def _axis(bins: IntArray, low: FloatArray, high: FloatArray) -> Axis:
    """Return the places of bins among those that hold a row, and which have one score only."""
    place = np.unique(bins, return_inverse=True)[1]
    lowest, highest = np.full(place.max() + 1, np.inf), np.full(place.max() + 1, -np.inf)
    np.minimum.at(lowest, place, low)
    np.maximum.at(highest, place, high)
    return Axis(place, lowest == highest)
