"""The one file that a fitted score is saved to: named arrays and a header in JSON, without pickle."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._files import write_file

if TYPE_CHECKING:
    from abstain.scores._fitted import FittedScore

HEADER = "abstain_score"


def save(fitted: FittedScore, path: str | os.PathLike[str]) -> None:
    """Write a fitted score; an existing file is replaced, all of it or not at all."""
    header, arrays = _pack(fitted, "")
    header["digest"] = digest(header, arrays)
    arrays[HEADER] = np.array(json.dumps(header))
    write_file(path, lambda file: np.savez(file, **arrays))


def _pack(fitted: FittedScore, prefix: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays; the names of the parts' arrays have a prefix."""
    arrays = {f"{prefix}{key}": value for key, value in fitted.arrays.items()}
    parts = []
    for number, part in enumerate(fitted.parts):
        header, inner = _pack(part, f"{prefix}part{number}.")
        parts.append(header)
        arrays |= inner
    header = {
        "name": fitted.name,
        "version": fitted.entry.version,
        "options": {key: _plain(value) for key, value in fitted.entry.options.items()},
        "arrays": list(fitted.arrays),
        "fingerprint": fitted.fingerprint,
        "n_fit": fitted.n_fit,
        "parts": parts,
        "class_names": fitted.class_names,
    }
    return header, arrays


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if hasattr(value, "entry"):  # a fitted score
        return value.entry.spec
    return value.item() if isinstance(value, np.generic) else value


def digest(header: dict[str, Any], arrays: dict[str, Any]) -> str:
    """Return the SHA-256 (hex) of a header and of the types, shapes and bytes of all arrays."""
    found = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        found.update(json.dumps([name, array.dtype.str, list(array.shape)]).encode())
        found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()
