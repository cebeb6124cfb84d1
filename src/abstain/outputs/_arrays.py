"""Columns that are arrays by name: in memory, or in a NumPy archive, of which pickled objects are never loaded."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from abstain._checks import to_numpy
from abstain._classes import is_text
from abstain.outputs._objects import is_number, lacks_number, no_number

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
