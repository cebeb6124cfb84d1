"""Summaries of files and frames: two columns, a chunk of rows at a time, so that memory does not grow with the rows."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from abstain._checks import closest, engine_of, one_of, refuse_pattern
from abstain._extras import need
from abstain._pace import Pace
from abstain.summaries._groups import GroupedSummary
from abstain.summaries._key import Scale
from abstain.summaries._read import of_frame
from abstain.summaries._sql import sql
from abstain.summaries._summary import Summary

#: Rows of a chunk: their columns stay in the cache.
CHUNK = 1 << 18
LOSS, SCORE, GROUP, ROW = "abstain_loss", "abstain_score", "abstain_group", "abstain_row"


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
    if (loss is None) == (labels is None or predictions is None):
        raise TypeError("give loss=, or both labels= and predictions=: columns that say what is wrong")
    wrong = [loss] if loss is not None else [str(labels), str(predictions)]
    summary = Summary(scale, bits) if groups is None else GroupedSummary(groups, scale, bits)
    if _module(source) in ("duckdb", "_duckdb"):
        if loss is None:
            raise TypeError("labels= and predictions= are not compared in DuckDB; give the loss as a column")
        query = sql(summary.key, confidence=confidence, loss=loss, table="abstain_rows", groups=groups)
        found = source.query("abstain_rows", query).pl()
        return summary if found.is_empty() else of_frame(found)
    np.empty(8 * CHUNK)  # once given back, the heap keeps smaller arrays: a third less time than with pages anew
    for name, frame in _frames(source):
        start = 0
        try:
            for part in _chunks(frame, confidence, wrong, groups):
                _take(summary, part, nan_policy)
                start += len(part)
        except (ValueError, TypeError) as error:
            at = re.sub(r"(?<=\w\[)\d+(?=\])", lambda found: str(start + int(found[0])), str(error), count=1)  # noqa: B023
            raise type(error)(f"{name}: {at}" if name else at) from None
        except Exception as error:
            if not name or not type(error).__module__.startswith("polars"):
                raise
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            raise ValueError(f"{name}: cannot be read ({reason}); write it again") from error
    return summary


def _module(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0]


def files_of(source: str | os.PathLike[str] | Sequence[Any]) -> list[str]:
    """Return the files of paths and patterns; one that is given twice would count twice, and is refused."""
    given = [source] if isinstance(source, str | os.PathLike) else source
    found: dict[str, str] = {}
    for each in map(os.fspath, given):
        matching = [each] if os.path.exists(each) else sorted(glob.glob(each, recursive=True))
        if not matching:
            raise FileNotFoundError(f"{each}: no such file")
        for file in matching:
            if os.path.realpath(file) in found:
                raise ValueError(f"{file}: is given twice, and its rows would count twice")
            found[os.path.realpath(file)] = file
    return list(found.values())


def _frames(source: Any) -> Iterator[tuple[str, Any]]:
    """Yield lazy polars frames with the names of their files, or other frames without one."""
    paths = isinstance(source, str | os.PathLike) or (
        isinstance(source, list | tuple) and all(isinstance(each, str | os.PathLike) for each in source)
    )
    if not paths:
        yield "", source
        return
    need("reading files of rows", "polars")
    import polars as pl

    for name in files_of(source):
        suffix = os.path.splitext(name)[1].lower()
        if suffix not in (".parquet", ".csv", ".tsv"):
            raise ValueError(f"{name}: extension {suffix!r} cannot be scanned; use .parquet, .csv or .tsv")
        if suffix == ".parquet":
            yield name, pl.scan_parquet(name, glob=False, hive_partitioning=False)
        else:
            yield name, pl.scan_csv(name, separator="\t" if suffix == ".tsv" else ",", glob=False)


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


def _chunks(frame: Any, confidence: str, wrong: Sequence[str], groups: str | None) -> Iterator[Any]:
    """Yield losses, scores and groups of a frame, some rows at a time."""
    if _module(frame) == "polars":
        rows = frame.lazy()
        yield from _streamed(_selected(rows, rows.collect_schema(), confidence, wrong, groups))
        return
    import narwhals as nw

    try:
        whole = nw.from_native(frame).lazy()
    except TypeError:
        raise TypeError(f"source of type {type(frame).__name__} is neither a path nor a data frame") from None
    rows = _selected(whole, whole.collect_schema(), confidence, wrong, groups, nw).collect()
    for start in range(0, len(rows), CHUNK):
        yield rows[start : start + CHUNK]


def _selected(
    rows: Any, schema: Any, confidence: str, wrong: Sequence[str], groups: str | None, library: Any = None
) -> Any:
    """Return loss and score, as numbers in which a null is NaN once they are arrays, and the group."""
    polars_ = library is None
    if polars_:
        import polars as library
    own = [] if groups is None else [groups]
    for name in (confidence, *wrong, *own):
        if name not in schema:
            raise ValueError(f"column {name!r} is not there; {closest(str(name), map(str, schema))}")
        refuse_pattern(name, "polars" if polars_ else engine_of(rows))
    for name in (confidence, *wrong[: len(wrong) % 2]):
        if not (schema[name].is_numeric() or str(schema[name]) == "Boolean"):
            raise TypeError(f"column {name!r} must be numeric, got {schema[name]}; cast it to numbers first")
    loss = library.col(wrong[0])
    loss = loss != library.col(wrong[1]) if len(wrong) == 2 else loss
    score = library.col(confidence)
    if len(wrong) == 2 or str(schema[wrong[0]]) == "Boolean" or not polars_:
        loss = loss.cast(library.Float64)
    if not polars_:  # nulls become NaN as numbers do in polars
        loss, score = (each.cast(library.Float64).fill_null(float("nan")) for each in (loss, score))
    return rows.select(loss.alias(LOSS), score.alias(SCORE), *(library.col(name).alias(GROUP) for name in own))


def _streamed(rows: Any) -> Iterator[Any]:
    """Yield the rows of a lazy polars frame in chunks."""
    import polars as pl

    pace = Pace("summarizing", int(rows.select(pl.len()).collect().item()))
    if hasattr(rows, "collect_batches"):
        for part in rows.collect_batches(chunk_size=CHUNK, maintain_order=True):
            for start in range(0, len(part), CHUNK):
                yield part[start : start + CHUNK]
            pace.advance(len(part))
        return
    while pace.done < pace.total:  # older versions: a slice reads only the row groups that it lies in
        part = rows.slice(pace.done, 16 * CHUNK).collect()
        for start in range(0, len(part), CHUNK):
            yield part[start : start + CHUNK]
        pace.advance(len(part))
