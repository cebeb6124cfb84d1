"""Columns that are in memory: arrays by name, data frames, and what readers and JSON files give."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain._classes import is_text
from abstain.outputs import _cells


def _detached(array: Any) -> Any:
    """Return a tensor as an array, whether it has a gradient, a device of its own or half precision, or not."""
    if not hasattr(array, "detach"):
        return array
    from abstain._checks import to_numpy

    return to_numpy(array)


class MemoryColumns:
    """Arrays by name, with the interface of the columns of a file."""

    #: arrays have a type: none is text that was read as numbers
    written: Mapping[str, Any] = {}

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._arrays = {name: _detached(array) for name, array in arrays.items()}
        #: number of dimensions by name
        self.columns = {name: max(np.ndim(array), 1) for name, array in self._arrays.items()}

    @property
    def words(self) -> set[str]:
        """Return the columns of words: of text that begins with no number."""
        return {name for name, array in self._arrays.items() if self.columns[name] == 1 and _is_words(array)}

    @property
    def flags(self) -> set[str]:
        """Return the columns of truth values."""
        return {name for name, array in self._arrays.items() if np.asarray(array).dtype.kind == "b"}

    def close(self) -> None:
        """Nothing stays open."""

    def load(self, names: list[str], numeric: set[str]) -> dict[str, Any]:
        """Return columns by name; those in ``numeric`` as numbers."""
        return {name: self._number(name) if name in numeric else self._arrays[name] for name in names}

    def stack(self, loaded: dict[str, Any], names: list[str]) -> Any:
        """Return a matrix of one column per name, or the one matrix of that name."""
        return loaded[names[0]] if len(names) == 1 else np.column_stack([loaded[name] for name in names])

    def class_names(self, loaded: dict[str, Any]) -> list[str] | None:
        """Return the array ``class_names``, if there is one."""
        return [str(name) for name in self._arrays["class_names"]] if "class_names" in self._arrays else None

    def head(self) -> tuple[Any, Any] | None:
        """Return the arrays ``head_weight`` and ``head_bias``, if there are any."""
        if "head_weight" not in self._arrays or "head_bias" not in self._arrays:
            return None
        return self._arrays["head_weight"], self._arrays["head_bias"]

    def passes(self) -> Any | None:
        """Return the array ``passes``, if there is one."""
        return self._arrays.get("passes")

    def _number(self, name: str) -> Any:
        array = np.asarray(self._arrays[name])
        if array.dtype.kind not in "OUS":
            return self._arrays[name]
        found = np.full(len(array), np.nan)
        for row, value in enumerate(array.tolist()):
            try:
                found[row] = np.nan if value is None or _cells.lacks_number(value) else float(value)
            except ValueError:
                raise ValueError(
                    f"column {name!r} must hold numbers, but data row {row + 1} holds {value!r}; repair these rows or "
                    "choose another column"
                ) from None
        return found


def _is_words(array: Any) -> bool:
    if not is_text(array):
        return False
    first = next((value for value in array if isinstance(value, str) and value.strip()), "0")
    try:
        float(first)
    except ValueError:
        return True
    return False


def of_frame(frame: Any) -> MemoryColumns:
    """Return the columns of a data frame of any library that Narwhals knows (pandas, polars, pyarrow, ...)."""
    import narwhals as nw

    try:
        native = nw.from_native(frame)
        table = native.collect() if isinstance(native, nw.LazyFrame) else native
    except TypeError:
        raise TypeError(
            f"outputs are read from a file, a data frame or arrays by name, got {type(frame).__name__}; give "
            "abstain.Outputs(...), a path, a frame, or labels=..., probabilities=..."
        ) from None
    names = list(table.columns)
    if not len(table):
        raise ValueError("the data frame has no rows; at least one sample is needed")
    found: dict[str, Any] = {}
    for name in names:
        series = table[name].alias("column")  # some names are patterns to polars
        plain = series.dtype.is_numeric() or series.dtype == nw.Boolean
        if plain and not series.is_null().any():
            found[str(name)] = series.to_numpy()
        else:
            found |= _cells.columns(str(name), series.to_list())
    return MemoryColumns(found)


def of_json(path: str) -> MemoryColumns:
    """Return the columns of a JSON file: a list of objects, or columns by name as pandas writes them."""
    with open(path, encoding="utf-8-sig") as file:
        try:
            data = json.load(file)
        except ValueError as error:
            raise ValueError(
                f"is no readable JSON ({error}); write it again, or one object per line as .jsonl"
            ) from None
    if isinstance(data, dict) and isinstance(data.get("data"), list):
        names = data.get("columns")
        data = [dict(zip(names, row, strict=True)) for row in data["data"]] if isinstance(names, list) else data["data"]
    if isinstance(data, dict):  # samples beside what says how they came about
        tables = [each for each in data.values() if isinstance(each, list) and each and isinstance(each[0], dict)]
        data = tables[0] if len(tables) == 1 else data
    if isinstance(data, list) and data and all(isinstance(row, dict) for row in data):
        names = dict.fromkeys(key for row in data for key in row)
        return _of_lists({name: [row.get(name) for row in data] for name in names})
    if isinstance(data, dict) and data and all(isinstance(value, list) for value in data.values()):
        return _of_lists(data)
    if isinstance(data, dict) and data and all(isinstance(value, dict) for value in data.values()):
        rows = list(data.values())
        if all(name.isdecimal() for name in data) and not any(
            name.isdecimal() for name in rows[0]
        ):  # by row, with its name
            return _of_lists(
                {name: [row.get(name) for row in rows] for name in dict.fromkeys(k for r in rows for k in r)}
            )
        return _of_lists({name: list(value.values()) for name, value in data.items()})
    raise ValueError("holds no table: give a list of objects, one per sample, or lists by name")


def of_json_lines(path: str) -> MemoryColumns:
    """Return the columns of a file of one JSON object per line."""
    from abstain.outputs.readers import Peek

    rows = list(Peek(path).lines())
    return _of_lists(
        {name: [row.get(name) for row in rows] for name in dict.fromkeys(key for row in rows for key in row)}
    )


def _of_lists(lists: Mapping[str, list[Any]]) -> MemoryColumns:
    if not lists or not next(iter(lists.values())):
        raise ValueError("has no rows; at least one sample is needed")
    found: dict[str, Any] = {}
    for name, values in lists.items():
        found |= _cells.columns(str(name), values)
    return MemoryColumns(found)


def of_csv(path: str) -> MemoryColumns:
    """Return the columns of a CSV, read without a library: text stays text, and so do codes such as ``01``."""
    import csv

    from abstain.outputs._csv import open_text, separator_of

    sign = separator_of(path)
    with open_text(path) as file:
        rows = [row for row in csv.reader(file, delimiter=sign) if row]
    header, *body = rows or [[]]
    odd = next((number for number, row in enumerate(body, 1) if len(row) != len(header)), None)
    if odd is not None:
        raise ValueError(f"data row {odd} has {len(body[odd - 1])} fields, the header has {len(header)}; repair it")
    if not body:
        raise ValueError("has no rows; at least one sample is needed")
    if len(set(header)) < len(header):
        raise ValueError("has two columns of one name; rename all but one")
    return MemoryColumns({name: _typed([row[k] for row in body]) for k, name in enumerate(header)})


def _typed(values: list[str]) -> Any:
    """Return numbers where all are written as such, and none is a code with a leading zero; else text."""
    given = [value.strip() for value in values if value.strip()]
    try:
        numbers = [float(value) for value in given]
    except ValueError:
        numbers = []
    codes = any(len(value) > 1 and value[0] == "0" and value.isdecimal() for value in given)
    if not numbers or codes:
        return np.array([value if value.strip() else None for value in values], dtype=object)
    found = np.array([float(value) if value.strip() else np.nan for value in values])
    whole = len(given) == len(values) and all(value.lstrip("-").isdecimal() for value in given)
    return found.astype(np.int64) if whole else found
