"""Small CSV files of plain numbers and words, read without polars, which takes longer to load than they to be read."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from itertools import repeat
from typing import Any

import numpy as np

from abstain.outputs._frame import FrameColumns
from abstain.outputs._memory import MemoryColumns, of_csv

#: Bytes up to which this is faster than loading polars.
SMALL = 500_000

_WHOLE = r"(?:0|-?[1-9]\d{0,17})"
_NUMBER = rf"(?:{_WHOLE}|-?\d{{1,18}}\.\d{{1,40}}(?:[eE][-+]?\d\d?)?)"
#: Nothing that any reader takes for a number, a truth value or a missing one.
_WORD = r"(?!(?i:true|false|nan|inf|infinity|null|none|na|n)\n)[A-Za-z](?:[\w. -]*\w)?"
#: What a column holds, one value a line: the first that fits.
_KINDS: dict[type, re.Pattern[str]] = {
    kind: re.compile(rf"(?:{cell}\n)++", re.ASCII) for kind, cell in ((int, _WHOLE), (float, _NUMBER), (str, _WORD))
}
_TYPES: dict[type, Any] = {int: np.int64, float: np.float64, str: object}
_NAME = re.compile(r"[A-Za-z](?:[\w. -]*\w)?", re.ASCII)


class PlainColumns(MemoryColumns):
    """The columns of a small CSV: what polars would make of them."""

    def __init__(self, path: str, texts: dict[str, list[str]], arrays: dict[str, Any]) -> None:
        super().__init__(arrays)
        self._path, self._texts = path, texts

    def load(self, names: list[str], numeric: set[str]) -> dict[str, Any]:
        """Return columns by name; those in ``numeric`` as numbers."""
        kinds = {name: self._arrays[name].dtype.kind for name in names}
        if any(kind == ("O" if name in numeric else "f") for name, kind in kinds.items()):
            # words for numbers need an error of their own, and as a group 0.50 is not 0.5
            other = FrameColumns(self._path, "csv") if find_spec("polars") else of_csv(self._path)
            loaded, self.written = other.load(names, numeric), other.written
            return loaded
        whole = [name for name, kind in kinds.items() if kind == "i" and name not in numeric]
        self.written = {name: np.array(self._texts[name], object) for name in whole}
        return {
            name: self._arrays[name].astype(np.float64) if name in numeric else self._arrays[name] for name in names
        }

    def class_names(self, loaded: dict[str, Any]) -> None:
        """A CSV has columns alone."""
        return

    head = passes = lambda self: None


def plain_columns(path: str) -> PlainColumns | None:
    """Return the columns of a small CSV of plain values; None for any other file, whose reader is another."""
    if not path.lower().endswith(".csv") or os.path.getsize(path) > SMALL:
        return None
    with open(path, "rb") as file:
        lines = file.read().replace(b"\r\n", b"\n").decode("latin-1").removesuffix("\n").split("\n")
    names = lines[0].split(",")
    if len(lines) < 2 or len(set(names)) < len(names) or not all(map(_NAME.fullmatch, names)):
        return None
    rows = list(map(str.split, lines[1:], repeat(",")))
    if set(map(len, rows)) != {len(names)}:
        return None
    texts = {name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}
    arrays = {name: _array(cells) for name, cells in texts.items()}
    return None if any(array is None for array in arrays.values()) else PlainColumns(path, texts, arrays)


def _array(cells: list[str]) -> Any:
    """Return values as whole numbers, as numbers or as words; None where they are not of one such kind."""
    lines = "\n".join([*cells, ""])
    kind = next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(lines)), None)
    return None if kind is None else np.array(list(map(kind, cells)), _TYPES[kind])
