"""Summaries as Parquet files: one row per bin, in which key and format stand, so that any engine can write one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from abstain._extras import need
from abstain._files import write_file
from abstain._typing import AnyArray, Array, PolarsFrame
from abstain.summaries._key import COLUMNS, FORMAT, Key


def frame_of(key: Key, columns: dict[str, AnyArray]) -> PolarsFrame:
    """Return a polars frame with a row for each bin; an empty summary has one, too, in which its key stands."""
    import polars as pl

    if not len(columns["bin"]):
        empty = {name: np.full(1, value, kind) for name, (kind, value, _) in COLUMNS.items()}
        columns = {"bin": np.zeros(1, np.int64), **empty}
    return pl.DataFrame(columns).select(pl.lit(FORMAT).alias("format"), pl.lit(key.name).alias("key"), pl.all())


def write(frame: Callable[[], PolarsFrame], path: str | os.PathLike[str]) -> None:
    """Write a frame of bins; see :meth:`Summary.save`."""
    name = os.fspath(path)
    if os.path.splitext(name)[1].lower() != ".parquet":
        raise ValueError(f"{name}: a summary is written as .parquet; give it that extension")
    need("writing a summary", "polars")
    import polars as pl

    made = frame()
    write_file(name, made.with_columns(pl.lit(digest(made)).alias("digest")).write_parquet)


def digest(frame: PolarsFrame) -> str:
    """Return the SHA-256 (hex) of names and values of a frame: it shows that a file was changed, not who wrote it."""
    found = hashlib.sha256()
    for name in sorted(frame.columns):
        column = frame[name]
        numeric = column.dtype.is_numeric()
        values = column.cast(float).to_numpy().astype("<f8").tobytes() if numeric else repr(column.to_list()).encode()
        found.update(name.encode() + b"\x1f" + values)
    return found.hexdigest()


def read(name: str) -> PolarsFrame:
    """Return what stands in a file; whether it is a summary is not looked at."""
    need("reading a summary", "polars")
    import polars as pl

    if not os.path.isfile(name):
        raise FileNotFoundError(f"{name}: no such file")
    try:
        return pl.read_parquet(name, hive_partitioning=False, glob=False)
    except OSError:
        raise
    except BaseException as error:  # a damaged file can make the reader panic, which is no Exception
        if not (isinstance(error, Exception) or type(error).__name__ == "PanicException"):
            raise
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise ValueError(f"cannot be read as Parquet ({reason}); write it again") from error


def is_summary(path: str | os.PathLike[str]) -> bool:
    """Whether a file says that it is a summary, of this or another version."""
    try:
        import polars as pl

        return {"format", "key", "bin"} <= set(pl.read_parquet_schema(os.fspath(path)))
    except Exception:  # who reads it says what is wrong, or what is to be installed
        return False


def present(frame: PolarsFrame, names: Iterable[str]) -> None:
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        raise ValueError(f"is no summary: the column {lacking[0]!r} is missing; make one with 'abstain summarize'")


def one(frame: PolarsFrame, name: str) -> str:
    """Return what stands in every row of a column."""
    found = sorted(set(frame[name].cast(str).to_list()), key=str)
    if len(found) > 1:
        raise ValueError(f"mixes bins of the {name}s {found[0]} and {found[1]}, which do not add up")
    return str(found[0])


def columns_of(frame: PolarsFrame) -> tuple[Key, dict[str, AnyArray]]:
    """Return key and columns of a frame with the columns of a file; whether they fit together is not looked at."""
    present(frame, ["bin", *COLUMNS])
    key = Key.named(one(frame, "key"))
    _numeric(frame, ["bin", *COLUMNS])
    unusable = frame.filter(bin=-1)["n"].sum()
    if unusable:
        raise ValueError(
            f"{unusable} rows have no usable score or loss (bin -1: null, NaN, a loss below 0, or a confidence outside "
            "[0, 1]); filter or repair them, and summarize again"
        )
    columns = numbers(frame, ["bin", *COLUMNS])
    kept = columns["n"] != 0
    which = columns["bin"][kept]
    if not np.array_equal(which, np.floor(which)):
        raise ValueError("the column 'bin' must hold whole numbers")
    columns = {name: column[kept] for name, column in columns.items()}
    return key, columns | {"bin": which.astype(int)}


def _numeric(frame: PolarsFrame, names: Iterable[str]) -> None:
    for name in names:
        if not frame.schema[name].is_numeric():
            raise ValueError(f"the column {name!r} must be numeric, got {frame.schema[name]}")


def numbers(frame: PolarsFrame, names: Sequence[str]) -> dict[str, Array]:
    """Return columns as float64, none of which lacks a number."""
    _numeric(frame, names)
    columns: dict[str, AnyArray] = {}
    for name in names:
        if frame[name].null_count():
            raise ValueError(f"the column {name!r} has nulls; write it again")
        columns[name] = frame[name].cast(float).to_numpy()
    return columns
