"""From a file, a data frame or arrays by name to columns by name, or to a lazy frame of polars."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from abstain.outputs import _objects, readers
from abstain.outputs._frame import (
    FrameColumns,
    bad_csv_row,
    csv_header,
    decimal_comma,
    each_once,
    polars,
    rows_of_csv,
    scan_parquet,
    separator_of,
)
from abstain.outputs._objects import ArrayColumns, NpzColumns, of_npy

#: What our own checks and the operating system raise, with words of their own.
_OURS = (ValueError, TypeError, ImportError, OSError)


@contextmanager
def damaged(name: str) -> Iterator[None]:
    """Turn what libraries raise on the bytes of a file into a ValueError: memory, nesting, encryption, panics in Rust.

    Sources in memory (no name) keep their exceptions: there is no file to be damaged.
    """
    try:
        yield
    except _OURS:
        raise
    except MemoryError:
        raise ValueError("does not fit into memory, or its sizes are damaged; check it, or write it again") from None
    except RecursionError:
        raise ValueError("is nested too deeply to be a table of outputs; write it again") from None
    except BaseException as error:
        if not name or not (isinstance(error, Exception) or type(error).__name__ == "PanicException"):
            raise
        reason = (str(error).strip().splitlines() or [""])[0][:200] or type(error).__name__
        raise ValueError(f"cannot be read ({reason}); write it again") from error


KINDS = {
    ".npz": "npz", ".npy": "npy", ".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".jsonl": "ndjson",
    ".ndjson": "ndjson", ".json": "json",
}  # fmt: skip


_TORCH = 'load it and write arrays: np.savez("outputs.npz", labels=y, logits=z)'
_FRAME = "read it with pandas or polars and give the frame to abstain.read_outputs, or write it as Parquet"
#: What to do with files of other endings.
INSTEAD = {
    **dict.fromkeys((".pt", ".pth", ".ckpt", ".safetensors", ".mat", ".h5", ".hdf5"), _TORCH),
    **dict.fromkeys((".zst", ".bz2", ".xz", ".zip", ".7z"), "unpack it first, or compress it as .csv.gz"),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "save the sheet as CSV"),
    **dict.fromkeys((".arrow", ".feather", ".ipc", ".orc", ".avro", ".dta", ".sav", ".db", ".sqlite"), _FRAME),
}


def name_of(source: Any) -> str:
    """Return what messages call a source: the path of a file, nothing for what is in memory."""
    return os.fspath(source) if isinstance(source, str | os.PathLike) else ""


def open_source(source: Any) -> readers.Table:
    """Open a file, or take a data frame or a dict of arrays; ``columns`` of the table loads those that are wanted."""
    if isinstance(source, Mapping):
        arrays: dict[str, Any] = {}
        for key, values in source.items():  # lists of anything become columns, arrays and tensors stay what they are
            listed = isinstance(values, list | tuple)
            arrays |= _objects.columns(str(key), values) if listed else {str(key): values}
        return readers.Table(ArrayColumns(arrays))
    if not isinstance(source, str | os.PathLike):
        return readers.Table(ArrayColumns(_objects.of_frame(source)))
    name = os.fspath(source)
    regular(name)
    with damaged(name):
        peek = readers.Peek(name)
        reader = readers.recognised(peek)
        if reader is not None:
            table = reader.read(peek)
            notes = (f"written by {reader.name}", *table.notes)
            return replace(table, columns=ArrayColumns(table.columns), notes=notes)
        return readers.Table(_columns(name, kind_of(name)))


def _columns(name: str, kind: str) -> Any:
    if kind == "npz":
        return NpzColumns(name)
    if kind == "npy":
        return of_npy(name)
    if kind == "json":
        return ArrayColumns(_objects.of_json(name))
    frame = FrameColumns(name, kind)
    return frame if not frame.nested else ArrayColumns(_objects.of_frame(frame.collected()))


def regular(name: str) -> None:
    """Refuse a link to nothing, and what waits for a writer: a pipe or a device."""
    if os.path.islink(name) and not os.path.exists(name):
        raise FileNotFoundError(f"{name}: is a link to {os.readlink(name)!r}, which is not there")
    if os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name):
        raise ValueError(f"{name}: is no regular file (a pipe or a device); write its contents to a file first")


def kind_of(name: str) -> str:
    """Return the kind of a file by its ending, or raise what is wrong with the path."""
    if os.path.isdir(name):
        raise IsADirectoryError(f"{name}: is a folder; give one file of it")
    if not os.path.exists(name):
        from difflib import get_close_matches

        folder = os.path.dirname(name) or "."
        files = [each for each in os.listdir(folder) if not each.endswith(".parts")] if os.path.isdir(folder) else []
        near = get_close_matches(os.path.basename(name), files, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "check the path"
        raise FileNotFoundError(f"{name}: no such file; {hint}")
    plain = name.lower()
    suffix = os.path.splitext(plain.removesuffix(".gz"))[1]
    if suffix not in KINDS or (plain.endswith(".gz") and KINDS[suffix] != "csv"):
        shown = os.path.splitext(plain)[1]
        remedy = INSTEAD.get(shown, f"use one of {', '.join(KINDS)} or .csv.gz")
        raise ValueError(f"{name}: extension {shown!r} is not known; {remedy}")
    if os.path.getsize(name) == 0:
        raise ValueError(f"{name}: is empty (0 bytes); write it again")
    return KINDS[suffix]


@dataclass(frozen=True)
class Scan:
    """Rows of a file, all of its columns; those of a CSV are the text that they were.

    Parameters
    ----------
    frame : polars.LazyFrame
    separator : str
        What parts the columns, in a CSV.
    decimal_comma : bool
        Whether numbers of a CSV have a comma.
    original : polars.DataFrame, optional
        The same rows with objects and lists as the file has them, where ``frame`` has them in columns.
    """

    frame: Any
    separator: str = ","
    decimal_comma: bool = False
    original: Any = None

    def flaw(self, path: str) -> str | None:
        """Return what is wrong with the first row that is too long."""
        return bad_csv_row(path) if path.lower().removesuffix(".gz").endswith((".csv", ".tsv")) else None


def scan(path: str) -> Scan:
    """Return the rows of a file that :func:`read_outputs` reads; Parquet and CSV are streamed, others are held whole.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        No such file; a folder.
    ValueError
        An empty or unknown file; a column that occurs twice.
    """
    regular(path)
    kind = kind_of(path) if path.lower().endswith((".csv", ".parquet", ".tsv", ".gz")) else ""
    with damaged(path):
        known = readers.recognised(readers.Peek(path))
    pl = polars("deciding files")
    if kind == "parquet" and known is None:
        return Scan(scan_parquet(path))
    if kind == "csv" and known is None:
        sign = separator_of(path)
        header = csv_header(path, sign)
        each_once(header, header)
        return Scan(rows_of_csv(path, sign, False, infer_schema=False), sign, decimal_comma(path, sign))
    columns = open_source(path).columns
    lines = known is None and path.lower().endswith((".jsonl", ".ndjson"))
    with damaged(path):
        original = None if hasattr(columns, "collected") or not lines else FrameColumns(path, "ndjson").collected()
        return Scan(_whole(pl, columns).lazy(), original=original)


def _whole(pl: Any, columns: Any) -> Any:
    """Return a frame of the columns that are held in memory; what has no row per sample is left out."""
    if hasattr(columns, "collected"):
        return columns.collected()
    names = [name for name, ndim in columns.columns.items() if ndim <= 2 and name != "class_names"]
    arrays = {name: np.asarray(each) for name, each in columns.load(names, set()).items()}
    arrays = {name: each for name, each in arrays.items() if each.ndim and name not in ("head_weight", "head_bias")}
    n = max((len(each) for each in arrays.values()), default=0)
    return pl.DataFrame([_series(pl, name, each) for name, each in arrays.items() if len(each) == n])


def _series(pl: Any, name: str, array: Any) -> Any:
    if array.dtype.kind in "OUS":
        return pl.Series(name, [None if value is None else str(value) for value in array.tolist()], dtype=pl.String)
    return pl.Series(name, np.ascontiguousarray(array))
