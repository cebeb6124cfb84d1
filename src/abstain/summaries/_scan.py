"""Summaries of files and frames: two columns, a chunk of rows at a time, so that memory does not grow with the rows."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from abstain._checks import closest, engine_of, one_of, refuse_pattern
from abstain._extras import need
from abstain._pace import Pace
from abstain._typing import Frame, LazyFrame, PolarsFrame, Source
from abstain.summaries import _file
from abstain.summaries._groups import GroupedSummary
from abstain.summaries._joint import JointSummary
from abstain.summaries._key import FORMAT, OF_CELLS, OF_GROUPS, Scale, sql
from abstain.summaries._summary import Summary

ROW = "abstain_row"

#: A chunk of rows.
Part: TypeAlias = Any


@overload
def summarize(
    source: Source, *, confidence: str, groups: str, loss: str | None = ..., labels: str | None = ...,
    predictions: str | None = ..., scale: Scale = ..., bits: int = ..., nan_policy: Literal["raise", "reject"] = ...,
) -> GroupedSummary: ...  # fmt: skip


@overload
def summarize(
    source: Source, *, confidence: str, groups: None = ..., loss: str | None = ..., labels: str | None = ...,
    predictions: str | None = ..., scale: Scale = ..., bits: int = ..., nan_policy: Literal["raise", "reject"] = ...,
) -> Summary: ...  # fmt: skip


def summarize(
    source: Source,
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
    taken(source, lambda part: _take(summary, part, nan_policy), {SCORE: confidence}, wrong, groups)
    return summary


def _take(summary: Summary | GroupedSummary, part: Part, nan_policy: Literal["raise", "reject"]) -> None:
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
    source: Source,
    ood: Source = (),
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

    def inside(part: Part) -> None:
        summary.update(
            part[LOSS].to_numpy(), id_confidence=part[SCORE].to_numpy(), id_detector=part[DETECTOR].to_numpy()
        )

    def outside(part: Part) -> None:
        summary.update(ood_confidence=part[SCORE].to_numpy(), ood_detector=part[DETECTOR].to_numpy())

    taken(source, inside, numbers, _wrong(loss, labels, predictions))
    if not (isinstance(ood, list | tuple) and not ood):
        taken(ood, outside, numbers)
    return summary


def _wrong(loss: str | None, labels: str | None, predictions: str | None) -> list[str]:
    """Return the column of losses, or those of classes that differ."""
    if (loss is None) == (labels is None or predictions is None):
        raise TypeError("give loss=, or both labels= and predictions=: columns that say what is wrong")
    return [loss] if loss is not None else [str(labels), str(predictions)]


# ---------------------------------------------------------------------- rows, a chunk at a time

#: Rows of a chunk: their columns stay in the cache.
CHUNK = 1 << 18
#: Names of the columns of a chunk.
LOSS, SCORE, DETECTOR, GROUP = "abstain_loss", "abstain_score", "abstain_detector", "abstain_group"


def taken(
    source: Source,
    take: Callable[[Part], None],
    numbers: Mapping[str, str],
    wrong: Sequence[str] = (),
    groups: str | None = None,
) -> None:
    """Give ``take`` numbers by their names, one loss or two columns that differ, and the group, chunk by chunk."""
    np.empty(8 * CHUNK)  # once given back, the heap keeps smaller arrays: a third less time than with pages anew
    for name, frame in _frames(source):
        start = 0
        try:
            for part in _chunks(frame, numbers, wrong, groups):
                take(part)
                start += len(part)
        except Exception as error:
            if name and module(error) in ("polars", "narwhals"):
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
                raise ValueError(f"{name}: cannot be read ({reason}); write it again") from error
            if not isinstance(error, ValueError | TypeError):
                raise
            at = re.sub(r"(?<=\w\[)\d+(?=\])", lambda found: str(start + int(found[0])), str(error), count=1)  # noqa: B023
            raise type(error)(f"{name}: {at}" if name else at) from None


def module(thing: object) -> str:
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


def _frames(source: Source) -> Iterator[tuple[str, Frame]]:
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
            from abstain.outputs import bad_csv_row

            if row := bad_csv_row(name):  # polars reads it where not all columns are wanted
                raise ValueError(f"{name}: {row}; repair it")
            yield name, pl.scan_csv(name, separator="\t" if suffix == ".tsv" else ",", glob=False)


def _chunks(frame: Frame, numbers: Mapping[str, str], wrong: Sequence[str], groups: str | None) -> Iterator[Part]:
    """Yield what is wanted of a frame, some rows at a time."""
    import narwhals as nw

    try:
        whole = nw.from_native(frame).lazy()
    except TypeError:
        raise TypeError(f"source of type {type(frame).__name__} is neither a path nor a data frame") from None
    rows = _selected(whole, numbers, wrong, groups)
    if engine_of(whole) == "polars":
        yield from _streamed(rows.to_native())
        return
    if engine_of(whole) == "duckdb":
        import polars as pl

        yield from map(pl.from_arrow, rows.to_native().fetch_arrow_reader(CHUNK))
        return
    frame = rows.collect()
    for start in range(0, len(frame), CHUNK):
        yield frame[start : start + CHUNK]


def _selected(rows: LazyFrame, numbers: Mapping[str, str], wrong: Sequence[str], groups: str | None) -> LazyFrame:
    """Return scores and loss, as numbers in which a null is NaN, and the group."""
    import narwhals as nw

    schema, own = rows.collect_schema(), [] if groups is None else [groups]
    for name in (*numbers.values(), *wrong, *own):
        if name not in schema:
            raise ValueError(f"column {name!r} is not there; {closest(str(name), map(str, schema))}")
        refuse_pattern(name, engine_of(rows))
    for name in (*numbers.values(), *wrong[: len(wrong) % 2]):
        if not (schema[name].is_numeric() or schema[name] == nw.Boolean):
            raise TypeError(f"column {name!r} must be numeric, got {schema[name]}; cast it to numbers first")
    made = {alias: nw.col(name) for alias, name in numbers.items()}
    if wrong:
        made[LOSS] = nw.col(wrong[0]) != nw.col(wrong[1]) if len(wrong) == 2 else nw.col(wrong[0])
    made = {alias: each.cast(nw.Float64).fill_null(float("nan")) for alias, each in made.items()}
    made |= {} if groups is None else {GROUP: nw.col(groups)}
    return rows.select(**made)


def _streamed(rows: Any) -> Iterator[PolarsFrame]:
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


# ---------------------------------------------------------------------- files of bins

AnySummary = Summary | GroupedSummary | JointSummary

#: What makes a summary of a frame, by its format.
MAKERS: dict[str, Callable[[PolarsFrame], AnySummary]] = {
    FORMAT: Summary.of_frame,
    OF_GROUPS: GroupedSummary.of_frame,
    OF_CELLS: JointSummary.of_frame,
}


def read_summary(path: str | os.PathLike[str]) -> AnySummary:
    """Read a summary that :meth:`Summary.save`, ``abstain summarize`` or its SQL have written.

    Parameters
    ----------
    path : str or path
        A Parquet file with the columns ``format``, ``key``, ``bin``, ``n``, ``loss_sum``, ``other_losses``,
        ``largest_loss``, ``lowest`` and ``highest``, as the result of ``abstain summarize --sql`` has them.

    Returns
    -------
    Summary, GroupedSummary or JointSummary
        What the file says that it is; a grouped one has the columns ``groups`` and ``group``, too, and one of two
        scores those of :meth:`JointSummary.columns`.

    Raises
    ------
    ValueError
        A file that is damaged, was edited, is no summary, has another format, or whose counts, losses and scores
        contradict each other.
    FileNotFoundError
        There is no such file.
    ImportError
        polars is missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from abstain.summaries import Summary, read_summary
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "monday.parquet"
    >>> Summary().update([0, 1], [0.9, 0.5]).save(file)
    >>> read_summary(file)
    Summary(probability/16, n=2, bins=2)
    """
    name = os.fspath(path)
    try:
        frame = _file.read(name)
        with np.errstate(invalid="ignore"):  # a damaged file may hold signalling NaN
            _file.present(frame, ["format", "key"])
            if not len(frame):
                raise ValueError("holds no bins, not even its key; summarize rows first")
            found = _file.one(frame, "format")
            if found not in MAKERS:
                raise ValueError(f"has the format {found!r}, this version reads {FORMAT!r}; summarize the rows again")
            made = MAKERS[found](frame)
        if "digest" in frame.columns and _file.one(frame, "digest") != _file.digest(frame.drop("digest")):
            raise ValueError("was edited after it was saved; restore the file, or summarize the rows again")
        return made
    except OSError:
        raise
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
