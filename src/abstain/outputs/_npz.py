"""Columns of a NumPy archive. Pickled objects are never loaded, and every member is read to its end."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain._typing import FloatArray

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}

#: Arrays may unpack to this many times their packed size, beyond a harmless size: of text, and of numbers, where
#: long columns of zeros are common.
MOST_RATIO, HARMLESS, HARMLESS_NUMBERS = 200, 1 << 26, 1 << 30


class NpzColumns:
    """The arrays of one ``.npz`` file; only those that are asked for are loaded."""

    #: arrays have a type: none is text that was read as numbers
    written: Mapping[str, Any] = {}

    def __init__(self, path: str) -> None:
        try:
            self._archive = zipfile.ZipFile(path)
        except zipfile.BadZipFile as error:
            raise ValueError("is no readable npz file (truncated, or another format); write it again") from error
        names = [name for name in self._archive.namelist() if name.endswith(".npy")]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            self._archive.close()
            raise ValueError(f"holds {twice.removesuffix('.npy')!r} {names.count(twice)} times; write it again")
        #: number of dimensions by key
        self.columns = {key: self._ndim(key) for key in (name.removesuffix(".npy") for name in names)}
        # a member of another name is no array, and is then said to be unused: its name may be damaged
        self.columns |= {name: 1 for name in self._archive.namelist() if not name.endswith(".npy")}

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

    def load(self, names: list[str], numeric: set[str]) -> dict[str, Any]:
        """Return arrays by key."""
        return {name: self._array(name) for name in names}

    def stack(self, loaded: dict[str, Any], names: list[str]) -> Any:
        """Return a matrix of one column per name, or the one matrix of that name."""
        return loaded[names[0]] if len(names) == 1 else np.column_stack([loaded[name] for name in names])

    def class_names(self, loaded: dict[str, Any]) -> list[str] | None:
        """Return the array ``class_names``, if there is one."""
        return [str(name) for name in self._array("class_names")] if "class_names" in self.columns else None

    def head(self) -> tuple[FloatArray, FloatArray] | None:
        """Return the arrays ``head_weight`` and ``head_bias``, if there are any."""
        if "head_weight" not in self.columns or "head_bias" not in self.columns:
            return None
        return self._array("head_weight"), self._array("head_bias")

    def passes(self) -> Any | None:
        """Return the array ``passes``, if there is one."""
        return self._array("passes") if "passes" in self.columns else None

    def _array(self, key: str) -> Any:
        try:
            with self._archive.open(f"{key}.npy") as member:
                array = np.lib.format.read_array(member, allow_pickle=False)
                if member.read(1):  # to its end, which also checks the checksum
                    raise ValueError("more bytes than its header says")
                return array
        except ValueError as error:
            if "Object arrays" in str(error):
                raise ValueError(
                    f"array {key!r} holds Python objects (a pickle), which are never loaded; "
                    "save it as numbers or text, e.g. with .astype(float) or .astype(str)"
                ) from None
            raise ValueError(f"array {key!r} cannot be read ({error}); write the file again") from error

    def _ndim(self, key: str) -> int:
        info = self._archive.getinfo(f"{key}.npy")
        with self._archive.open(info) as member:
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
