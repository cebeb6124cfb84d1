"""Columns of a NumPy archive. Pickled objects are never loaded."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain._typing import FloatArray

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class NpzColumns:
    """The arrays of one ``.npz`` file; only those that are asked for are loaded."""

    #: arrays have a type: none is text that was read as numbers
    written: Mapping[str, Any] = {}

    def __init__(self, path: str) -> None:
        try:
            self._archive = zipfile.ZipFile(path)
        except zipfile.BadZipFile as error:
            raise ValueError("is no readable npz file (truncated, or another format); write it again") from error
        keys = [name.removesuffix(".npy") for name in self._archive.namelist() if name.endswith(".npy")]
        #: number of dimensions by key
        self.columns = {key: self._ndim(key) for key in keys}

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
                return np.lib.format.read_array(member, allow_pickle=False)
        except ValueError as error:
            if "Object arrays" in str(error):
                raise ValueError(
                    f"array {key!r} holds Python objects (a pickle), which are never loaded; "
                    "save it as numbers or text, e.g. with .astype(float) or .astype(str)"
                ) from None
            raise ValueError(f"array {key!r} cannot be read ({error}); write the file again") from error

    def _ndim(self, key: str) -> int:
        with self._archive.open(f"{key}.npy") as member:
            header = _HEADERS.get(np.lib.format.read_magic(member))
            return 1 if header is None else len(header(member)[0])
