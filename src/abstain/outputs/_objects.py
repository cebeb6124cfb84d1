"""Objects of JSON, rows of a frame and cells of a text as columns: numbers, truth values, text, or several columns."""

from __future__ import annotations

import json
import math
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from abstain._checks import is_missing, to_numpy
from abstain._classes import is_text

#: What programs write for a missing number, in lower case: of a column of numbers in a text file, nothing else.
NO_NUMBER = frozenset({"", "nan", "na", "n/a", "<na>", "none", "null"})

#: A number as many countries write it, and what to do where it stands between commas.
DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+")
NO_TABLE = "holds no table: give a list of objects, one per sample, or lists by name"
POINTS = "write decimal points, or semicolons between the columns"


def no_number(name: str, row: int, value: Any, number: int = 1) -> ValueError:
    """Return the error that a column of numbers holds something else in some rows."""
    comma = isinstance(value, str) and DECIMAL_COMMA.fullmatch(value.strip())
    more = f" ({number} such)" if number > 1 else ""
    return ValueError(
        f"column {name!r} must hold numbers, but data row {row + 1} holds {value!r}{more}; "
        f"{POINTS if comma else 'repair these rows or choose another column'}"
    )


def lacks_number(value: Any) -> bool:
    """Whether a text stands for a missing number."""
    return isinstance(value, str) and value.strip().lower() in NO_NUMBER


def is_number(word: str) -> bool:
    """Whether a text is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def text(values: Iterable[Any]) -> Any:
    """Return values as a column of text, None where one is missing."""
    return np.array([None if _missing(value) else str(value) for value in values], dtype=object)


def column(values: Sequence[Any]) -> Any:
    """Return values as a column: truth values where all are, numbers where all are, else text."""
    kinds = {_kind(value) for value in values if not _missing(value)}
    if kinds == {"truth"} and not any(map(_missing, values)):
        return np.array(values, dtype=bool)
    if kinds and kinds <= {"number", "whole"}:
        if kinds == {"whole"} and not any(map(_missing, values)):
            return np.array(values)
        return np.array([np.nan if _missing(value) else value for value in values], dtype=float)
    return text(values)


def columns(name: str, values: Sequence[Any]) -> dict[str, Any]:
    """Return one field as columns: dicts one per key (``name.key``), lists of numbers a matrix, the rest as it is.

    Lists of ``{"label": ..., "score": ...}``, which a text-classification pipeline writes with all its classes, become
    one column ``prob_<label>`` per class; where classes are left out, as by its best one or few, ``name.best.label``
    and ``name.best.score``.
    """
    some = next((value for value in values if not _missing(value)), None)
    if isinstance(some, Mapping):
        keys = dict.fromkeys(key for value in values if isinstance(value, Mapping) for key in value)
        found: dict[str, Any] = {}
        for key in keys:
            inner = [value.get(key) if isinstance(value, Mapping) else None for value in values]
            found |= columns(f"{name}.{key}", inner)
        return found
    if isinstance(some, list | tuple | np.ndarray) and len(some):
        if isinstance(some[0], Mapping) and {"label", "score"} <= some[0].keys():
            return _per_class(name, values)
        if len(some) == 1 and isinstance(some[0], list | tuple | np.ndarray):  # one text, in a list of its own
            return columns(name, [value if value is None else value[0] for value in values])
        if _kind(some[0]) in ("number", "whole"):
            return {name: _matrix(name, values)}
    return {name: column(values)}


def _missing(value: Any) -> bool:
    """Whether a value is missing; lists and the like are not."""
    return not isinstance(value, list | tuple | Mapping | np.ndarray) and is_missing(value)


def _kind(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "truth"
    if isinstance(value, int | np.integer):
        return "whole"
    return "number" if isinstance(value, float | np.floating) else "text"


def _matrix(name: str, values: Sequence[Any]) -> Any:
    width = len(next(value for value in values if not _missing(value)))
    odd = next((row for row, value in enumerate(values) if _missing(value) or len(value) != width), None)
    if odd is not None:
        entries = 0 if _missing(values[odd]) else len(values[odd])
        raise ValueError(
            f"column {name!r} must hold lists of one length, but data row {odd + 1} has {entries} entries and the "
            f"first has {width}; repair these rows"
        )
    return np.array([list(value) for value in values], dtype=float)


def _per_class(name: str, values: Sequence[Any]) -> dict[str, Any]:
    rows = [{each["label"]: each["score"] for each in value} if value is not None else {} for value in values]
    names = sorted({str(label) for row in rows for label in row})
    if any(0 < len(row) < len(names) for row in rows):
        best = [max(row, key=row.__getitem__) if row else None for row in rows]
        score = [np.nan if word is None else row[word] for word, row in zip(best, rows, strict=True)]
        return {f"{name}.best.label": text(best), f"{name}.best.score": np.array(score, dtype=float)}
    return {f"prob_{label}": np.array([row.get(label, np.nan) for row in rows], dtype=float) for label in names}


def taken(values: Any, rows: Any, axis: int = 0) -> Any:
    """Return some rows of a column of any kind."""
    # polars; the filter of pandas, which has iloc too, is one of labels
    if hasattr(values, "filter") and hasattr(values, "to_list") and not hasattr(values, "iloc"):
        return values.filter(rows)
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    if isinstance(array, list | tuple):
        array = column(array)
    return array[:, rows] if axis == 1 else array[rows]


def values_of(given: Any) -> list[Any]:
    """Return the values of a column of any kind."""
    return list(given.to_list()) if hasattr(given, "to_list") else list(np.asarray(given).tolist())


def of_frame(frame: Any) -> dict[str, Any]:
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
            found |= columns(str(name), series.to_list())
    return found


def of_json(path: str) -> dict[str, Any]:
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
    if isinstance(data, dict):  # samples next to what says how they came about
        tables = [each for each in data.values() if isinstance(each, list) and each and isinstance(each[0], dict)]
        data = tables[0] if len(tables) == 1 else data
    if not isinstance(data, list | dict) or not data:
        raise ValueError(NO_TABLE)
    entries = data if isinstance(data, list) else list(data.values())
    if all(isinstance(row, dict) for row in entries):
        if isinstance(data, list):
            return _of_rows(data)
        if all(name.isdecimal() for name in data) and not any(name.isdecimal() for name in entries[0]):
            return _of_rows(entries)  # by row, with its name
        return _of_lists({name: list(value.values()) for name, value in data.items()})
    if isinstance(data, dict) and all(isinstance(value, list) for value in entries):
        return _of_lists(data)
    raise ValueError(NO_TABLE)


def json_lines(path: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines."""
    with open(path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except ValueError as error:
                raise ValueError(f"line {number} is no JSON object ({error}); write the file again") from None


def _of_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = dict.fromkeys(name for row in rows for name in row)
    return _of_lists({name: [row.get(name) for row in rows] for name in names})


def _of_lists(lists: Mapping[str, list[Any]]) -> dict[str, Any]:
    if not lists or not next(iter(lists.values())):
        raise ValueError("has no rows; at least one sample is needed")
    found: dict[str, Any] = {}
    for name, values in lists.items():
        found |= columns(str(name), values)
    return found


_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}

#: Arrays may unpack to this many times their packed size, beyond a harmless size: of text, and of numbers, where
#: long columns of zeros are common.
MOST_RATIO, HARMLESS, HARMLESS_NUMBERS = 200, 1 << 26, 1 << 30


class ArrayColumns:
    """Arrays by name, with the interface of the columns of a file."""

    #: arrays have a type: none is text that was read as numbers
    written: Mapping[str, Any] = {}

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._arrays = {name: to_numpy(each) if hasattr(each, "detach") else each for name, each in arrays.items()}
        #: number of dimensions by name
        self.columns = {name: max(np.ndim(array), 1) for name, array in self._arrays.items()}

    def array(self, name: str) -> Any:
        """Return one array."""
        return self._arrays[name]

    def is_words(self, name: str) -> bool:
        """Whether a column holds words: text that begins with no number."""
        array = self.array(name)
        if self.columns[name] > 1 or not is_text(array):
            return False
        return not is_number(next((value for value in array if isinstance(value, str) and value.strip()), "0"))

    def truths(self, names: Iterable[str]) -> set[str]:
        """Return the columns that hold truth values."""
        return {name for name in names if np.asarray(self.array(name)).dtype.kind == "b"}

    def load(self, names: list[str], numeric: set[str]) -> dict[str, Any]:
        """Return columns by name; those in ``numeric`` as numbers."""
        return {name: self._number(name) if name in numeric else self.array(name) for name in names}

    def stack(self, loaded: dict[str, Any], names: list[str]) -> Any:
        """Return a matrix of one column per name, or the one matrix of that name."""
        return loaded[names[0]] if len(names) == 1 else np.column_stack([loaded[name] for name in names])

    def class_names(self, loaded: dict[str, Any]) -> list[str] | None:
        """Return the array ``class_names``, if there is one."""
        return [str(name) for name in self.array("class_names")] if "class_names" in self.columns else None

    def head(self) -> tuple[Any, Any] | None:
        """Return the arrays ``head_weight`` and ``head_bias``, if there are any."""
        names = ("head_weight", "head_bias")
        return (self.array(names[0]), self.array(names[1])) if self.columns.keys() >= set(names) else None

    def passes(self) -> Any | None:
        """Return the array ``passes``, if there is one."""
        return self.array("passes") if "passes" in self.columns else None

    def _number(self, name: str) -> Any:
        column = self.array(name)
        array = np.asarray(column)
        if array.dtype.kind not in "OUS" or array.ndim > 1:
            return column
        found = np.full(len(array), np.nan)
        for row, value in enumerate(array.tolist()):
            try:
                found[row] = np.nan if value is None or lacks_number(value) else float(value)
            except ValueError:
                raise no_number(name, row, value) from None
        return found


def of_npy(path: str) -> ArrayColumns:
    """Return the fields of an array that has names."""
    try:
        array = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"cannot be read ({error}); save numbers, not Python objects") from None
    if array.dtype.names:
        return ArrayColumns({field: array[field] for field in array.dtype.names})
    raise ValueError(
        f"is one array of shape {array.shape} without names; save it with its labels: "
        'np.savez("outputs.npz", labels=y, logits=z), or probabilities=p'
    )


class NpzColumns(ArrayColumns):
    """The arrays of one ``.npz`` file; only those that are asked for are loaded, each to its end."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            with zipfile.ZipFile(path) as archive:
                every = archive.namelist()
                names = [name for name in every if name.endswith(".npy")]
                twice = next((name for name in names if names.count(name) > 1), None)
                if twice is not None:
                    raise ValueError(f"holds {twice.removesuffix('.npy')!r} {names.count(twice)} times; write it again")
                #: number of dimensions by key
                self.columns = {name.removesuffix(".npy"): _ndim(archive, name) for name in names}
        except zipfile.BadZipFile as error:
            raise ValueError("is no readable npz file (truncated, or another format); write it again") from error
        # a member of another name is no array, and is then said to be unused: its name may be damaged
        self.columns |= {name: 1 for name in every if name not in names}

    def is_words(self, name: str) -> bool:
        """Whether a column holds words: an archive keeps numbers as numbers."""
        return False

    def truths(self, names: Iterable[str]) -> set[str]:
        """Return no columns: what is not used is not read."""
        return set()

    def load(self, names: list[str], numeric: set[str]) -> dict[str, Any]:
        """Return arrays by name, as they are."""
        return {name: self.array(name) for name in names}

    def array(self, name: str) -> Any:
        """Return one array, read to its end, which also checks the checksum."""
        try:
            with zipfile.ZipFile(self._path) as archive, archive.open(f"{name}.npy") as member:
                array = np.lib.format.read_array(member, allow_pickle=False)
                if member.read(1):
                    raise ValueError("more bytes than its header says")
                return array
        except ValueError as error:
            if "Object arrays" in str(error):
                raise ValueError(
                    f"array {name!r} holds Python objects (a pickle), which are never loaded; "
                    "save it as numbers or text, e.g. with .astype(float) or .astype(str)"
                ) from None
            raise ValueError(f"array {name!r} cannot be read ({error}); write the file again") from error


def _ndim(archive: zipfile.ZipFile, name: str) -> int:
    """Return the number of dimensions of an array, whose header is checked against its sizes."""
    info, key = archive.getinfo(name), name.removesuffix(".npy")
    with archive.open(info) as member:
        header = _HEADERS.get(np.lib.format.read_magic(member))
        if header is None:
            return 1
        shape, _, dtype = header(member)
    what, harmless = ("text", HARMLESS) if dtype.kind in "US" else ("numbers", HARMLESS_NUMBERS)
    if info.file_size > max(harmless, MOST_RATIO * info.compress_size):
        raise ValueError(
            f"array {key!r} holds {info.file_size} bytes of {what} in {info.compress_size} packed ones, as no "
            "results do; write the file again without it"
        )
    if not dtype.hasobject and math.prod(shape) * dtype.itemsize > info.file_size:
        raise ValueError(f"array {key!r} is shorter than its header says; write the file again")
    return len(shape)
