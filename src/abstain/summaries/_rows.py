"""Rows of files and frames, a few columns and a chunk at a time, so that memory does not grow with the rows."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from abstain._checks import closest, engine_of, refuse_pattern
from abstain._extras import need
from abstain._pace import Pace

#: Rows of a chunk: their columns stay in the cache.
CHUNK = 1 << 18
#: Names of the columns of a chunk.
LOSS, SCORE, DETECTOR, GROUP = "abstain_loss", "abstain_score", "abstain_detector", "abstain_group"


class Wanted(NamedTuple):
    """What is read of each row: numbers by their names in a chunk; one loss, or two columns that differ; the group."""

    numbers: Mapping[str, str]
    wrong: Sequence[str] = ()
    groups: str | None = None


def taken(source: Any, wanted: Wanted, take: Callable[[Any], None]) -> None:
    """Give the rows of a source to ``take``, chunk by chunk; an error names file and row."""
    np.empty(8 * CHUNK)  # once given back, the heap keeps smaller arrays: a third less time than with pages anew
    for name, frame in _frames(source):
        start = 0
        try:
            for part in _chunks(frame, wanted):
                take(part)
                start += len(part)
        except (ValueError, TypeError) as error:
            at = re.sub(r"(?<=\w\[)\d+(?=\])", lambda found: str(start + int(found[0])), str(error), count=1)  # noqa: B023
            raise type(error)(f"{name}: {at}" if name else at) from None
        except Exception as error:
            if not name or not type(error).__module__.startswith("polars"):
                raise
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            raise ValueError(f"{name}: cannot be read ({reason}); write it again") from error


def module(thing: Any) -> str:
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


def _chunks(frame: Any, wanted: Wanted) -> Iterator[Any]:
    """Yield what is wanted of a frame, some rows at a time."""
    if module(frame) == "polars":
        rows = frame.lazy()
        yield from _streamed(_selected(rows, rows.collect_schema(), wanted))
        return
    import narwhals as nw

    try:
        whole = nw.from_native(frame).lazy()
    except TypeError:
        raise TypeError(f"source of type {type(frame).__name__} is neither a path nor a data frame") from None
    rows = _selected(whole, whole.collect_schema(), wanted, nw)
    if engine_of(whole) == "duckdb":
        import polars as pl

        yield from map(pl.from_arrow, rows.to_native().fetch_arrow_reader(CHUNK))
        return
    rows = rows.collect()
    for start in range(0, len(rows), CHUNK):
        yield rows[start : start + CHUNK]


def _selected(rows: Any, schema: Any, wanted: Wanted, library: Any = None) -> Any:
    """Return scores and loss, as numbers in which a null is NaN once they are arrays, and the group."""
    polars_ = library is None
    if polars_:
        import polars as library
    wrong, own = wanted.wrong, [] if wanted.groups is None else [wanted.groups]
    for name in (*wanted.numbers.values(), *wrong, *own):
        if name not in schema:
            raise ValueError(f"column {name!r} is not there; {closest(str(name), map(str, schema))}")
        refuse_pattern(name, "polars" if polars_ else engine_of(rows))
    for name in (*wanted.numbers.values(), *wrong[: len(wrong) % 2]):
        if not (schema[name].is_numeric() or str(schema[name]) == "Boolean"):
            raise TypeError(f"column {name!r} must be numeric, got {schema[name]}; cast it to numbers first")
    made = {alias: library.col(name) for alias, name in wanted.numbers.items()}
    if wrong:
        loss = library.col(wrong[0])
        loss = loss != library.col(wrong[1]) if len(wrong) == 2 else loss
        if len(wrong) == 2 or str(schema[wrong[0]]) == "Boolean" or not polars_:
            loss = loss.cast(library.Float64)
        made[LOSS] = loss
    if not polars_:  # nulls become NaN as numbers do in polars
        made = {alias: each.cast(library.Float64).fill_null(float("nan")) for alias, each in made.items()}
    if own:
        made[GROUP] = library.col(own[0])
    return rows.select(*(each.alias(alias) for alias, each in made.items()))


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
