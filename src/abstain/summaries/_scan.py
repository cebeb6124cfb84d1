"""Summaries of files and frames: two columns, a chunk of rows at a time, so that memory does not grow with the rows."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from abstain._checks import one_of
from abstain.summaries._groups import GroupedSummary
from abstain.summaries._joint import JointSummary
from abstain.summaries._key import Scale
from abstain.summaries._rows import DETECTOR, GROUP, LOSS, SCORE, Wanted, module, taken
from abstain.summaries._sql import sql
from abstain.summaries._summary import Summary

ROW = "abstain_row"


@overload
def summarize(
    source: Any, *, confidence: str, groups: str, loss: str | None = ..., labels: str | None = ...,
    predictions: str | None = ..., scale: Scale = ..., bits: int = ..., nan_policy: Literal["raise", "reject"] = ...,
) -> GroupedSummary: ...  # fmt: skip


@overload
def summarize(
    source: Any, *, confidence: str, groups: None = ..., loss: str | None = ..., labels: str | None = ...,
    predictions: str | None = ..., scale: Scale = ..., bits: int = ..., nan_policy: Literal["raise", "reject"] = ...,
) -> Summary: ...  # fmt: skip


def summarize(
    source: Any,
    *,
    confidence: str,
    loss: str | None = None,
    labels: str | None = None,
    predictions: str | None = None,
    groups: str | None = None,
    scale: Scale = "probability",
    bits: int = 16,
    nan_policy: Literal["raise", "reject"] = "raise",
) -> Summary | GroupedSummary:
    """Summarize files, or a frame, without loading more than a chunk of rows.

    Parameters
    ----------
    source : path, pattern, sequence of these, or frame
        Parquet and CSV files, ``"logs/*.parquet"``; a polars frame, lazy or not, which is streamed; a DuckDB relation,
        which groups by itself with :func:`sql`; any other frame that Narwhals reads, which is in memory already.
    confidence : str
        Column of the score.
    loss : str, optional
        Column of losses, or of truth values: wrong or not.
    labels, predictions : str, optional
        In place of ``loss``: columns of true and predicted classes; the loss is whether they differ.
    groups : str, optional
        Column whose values are summarized apart, in the same pass.
    scale, bits
        As for :class:`Summary`.
    nan_policy : {"raise", "reject"}
        What a missing score means: an error; -inf, which is ranked last and never accepted.

    Returns
    -------
    Summary, or GroupedSummary where ``groups`` are given

    Raises
    ------
    ValueError
        A column that is not there; a missing group; bad rows, which are named with their file; a damaged file.
    FileNotFoundError
        No file matches.
    TypeError
        A column is not numeric, or the source is nothing of the above.

    Examples
    --------
    >>> import polars
    >>> from abstain.summaries import summarize
    >>> frame = polars.LazyFrame({"msp": [0.9, 0.6, 0.6], "wrong": [False, True, False]})
    >>> summarize(frame, confidence="msp", loss="wrong")
    Summary(probability/16, n=3, bins=2)
    >>> sites = frame.with_columns(site=polars.Series(["a", "a", "b"]))
    >>> summarize(sites, confidence="msp", loss="wrong", groups="site")
    GroupedSummary(site, probability/16, n=3, groups=2)
    """
    one_of(nan_policy, ("raise", "reject"), "nan_policy")
    wrong = _wrong(loss, labels, predictions)
    summary = Summary(scale, bits) if groups is None else GroupedSummary(groups, scale, bits)
    if module(source) in ("duckdb", "_duckdb"):
        if loss is None:
            raise TypeError("labels= and predictions= are not compared in DuckDB; give the loss as a column")
        query = sql(summary.key, confidence=confidence, loss=loss, table="abstain_rows", groups=groups)
        found = source.query("abstain_rows", query).pl()
        return summary if found.is_empty() else type(summary).of_frame(found)
    taken(source, Wanted({SCORE: confidence}, wrong, groups), lambda part: _take(summary, part, nan_policy))
    return summary


def _take(summary: Summary | GroupedSummary, part: Any, nan_policy: Literal["raise", "reject"]) -> None:
    """Add a chunk of rows."""
    losses, scores = part[LOSS].to_numpy(), part[SCORE].to_numpy()
    if isinstance(summary, Summary):
        summary.update(losses, scores, nan_policy=nan_policy)
        return
    import narwhals as nw

    frame = nw.from_native(part, eager_only=True, pass_through=False).select(GROUP).with_row_index(ROW)
    lacking = np.flatnonzero(frame[GROUP].is_null().to_numpy())
    if lacking.size:
        raise ValueError(f"groups[{lacking[0]}] of {summary.groups!r} is missing; filter or fill such rows")
    rows_of = [(value, rows[ROW].to_numpy()) for (value,), rows in frame.group_by(GROUP)]
    summary.add(losses, scores, len(part), rows_of, nan_policy)


def summarize_joint(
    source: Any,
    ood: Any = (),
    *,
    confidence: str,
    detector: str,
    loss: str | None = None,
    labels: str | None = None,
    predictions: str | None = None,
    scale: Scale = "probability",
    detector_scale: Scale = "real",
    bits: int = 10,
) -> JointSummary:
    """Summarize two scores of files, or of frames, without loading more than a chunk of rows.

    Parameters
    ----------
    source : path, pattern, sequence of these, or frame
        Rows in distribution, as for :func:`summarize`.
    ood : the same, optional
        Rows out of distribution, of which only the two scores are read.
    confidence, detector : str
        Columns of the two scores.
    loss : str, optional
        Column of 0/1 losses, or of truth values: wrong or not.
    labels, predictions : str, optional
        In place of ``loss``: columns of true and predicted classes; the loss is whether they differ.
    scale, detector_scale, bits
        As for :class:`JointSummary`.

    Returns
    -------
    JointSummary

    Raises
    ------
    UnmetNeed, ValueError, FileNotFoundError, TypeError
        As :func:`summarize` and :meth:`JointSummary.update`.

    Examples
    --------
    >>> import polars
    >>> from abstain.summaries import summarize_joint
    >>> inside = polars.LazyFrame({"msp": [0.9, 0.6], "knn": [3.0, 2.0], "wrong": [False, True]})
    >>> summarize_joint(inside, inside.select("msp", knn=0.5), confidence="msp", detector="knn", loss="wrong")
    JointSummary(probability/10, real/10, n_id=2, n_ood=2, cells=4)
    """
    summary, numbers = JointSummary(scale, detector_scale, bits), {SCORE: confidence, DETECTOR: detector}

    def inside(part: Any) -> None:
        summary.update(
            part[LOSS].to_numpy(), id_confidence=part[SCORE].to_numpy(), id_detector=part[DETECTOR].to_numpy()
        )

    def outside(part: Any) -> None:
        summary.update(ood_confidence=part[SCORE].to_numpy(), ood_detector=part[DETECTOR].to_numpy())

    taken(source, Wanted(numbers, _wrong(loss, labels, predictions)), inside)
    if not (isinstance(ood, list | tuple) and not ood):
        taken(ood, Wanted(numbers), outside)
    return summary


def _wrong(loss: str | None, labels: str | None, predictions: str | None) -> list[str]:
    """Return the column of losses, or those of classes that differ."""
    if (loss is None) == (labels is None or predictions is None):
        raise TypeError("give loss=, or both labels= and predictions=: columns that say what is wrong")
    return [loss] if loss is not None else [str(labels), str(predictions)]
