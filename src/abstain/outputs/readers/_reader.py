"""What a reader is: it recognises one format and gives columns by names of ``read_outputs``."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from abstain._typing import Document
from abstain.outputs._objects import json_lines


@dataclass(frozen=True)
class Table:
    """What a reader gives.

    Parameters
    ----------
    columns : dict of str to ndarray
        By name; rows first, but for ``passes`` (runs, n, classes) and the last layer. The names say which part a
        column plays, as they do in a file of our own.
    notes : tuple of str
        What the user should know about these rows.
    one_of : tuple of str
        Columns of which one value must be chosen: each holds the same samples, or samples of other data, again.
    hint : str
        Which value is usually meant.
    """

    columns: Any
    notes: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    hint: str = ""


@dataclass(frozen=True)
class Reader:
    """The declaration of a format.

    Parameters
    ----------
    name : str
        What notes call it.
    recognises : callable
        ``recognises(peek)``: whether a file is of this format, from little of it.
    read : callable
        ``read(peek)`` returns the :class:`Table`.
    """

    name: str
    recognises: Callable[[Peek], bool]
    read: Callable[[Peek], Table]


@dataclass(frozen=True)
class Peek:
    """A file, and what little of it is enough to know its format."""

    path: str

    @property
    def name(self) -> str:
        """Name of the file in its folder."""
        return os.path.basename(self.path)

    @property
    def suffix(self) -> str:
        """Extension in lower case, with its dot."""
        return os.path.splitext(self.path)[1].lower()

    @cached_property
    def first(self) -> Document:
        """The first object of a file of JSON lines; empty if it is none."""
        try:
            with open(self.path, encoding="utf-8-sig") as file:
                found = json.loads(next((line for line in file if line.strip()), "{}"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    @cached_property
    def head(self) -> str:
        """The first characters of a text file."""
        with open(self.path, encoding="utf-8-sig", errors="replace") as file:
            return file.read(4096)

    @cached_property
    def arrays(self) -> frozenset[str]:
        """Names of the arrays of an npz file; empty if it is none."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                return frozenset(name.removesuffix(".npy") for name in archive.namelist())
        except (OSError, zipfile.BadZipFile):  # whatever is wrong with it, the reader of arrays says so better
            return frozenset()

    @cached_property
    def header(self) -> frozenset[str]:
        """Names of the columns of a CSV or Parquet file; empty if it cannot be read."""
        from abstain.outputs._frame import csv_header

        try:
            if self.suffix == ".csv":
                return frozenset(csv_header(self.path))
            if self.suffix == ".parquet":
                import polars

                return frozenset(polars.scan_parquet(self.path, glob=False).collect_schema().names())
        except Exception:  # whatever is wrong with it, the reader of tables says so better
            return frozenset()
        return frozenset()

    def lines(self) -> Iterator[Document]:
        """Yield the objects of a file of JSON lines."""
        return json_lines(self.path)
