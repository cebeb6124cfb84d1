"""A hash of the contents of outputs that no platform, precision or container changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

#: Opaque bytes that stay as they are, whatever the package is called: fingerprints in saved results rest on them.
_SALT = b"recuse.Outputs/1"
#: What the fingerprint calls a column whose word has changed since, for the same reason.
_NAMES = {"sample_weight": "weights"}
#: Numbers whose bytes are made at once: features can be large, and a small piece stays in the processor's cache.
_NUMBERS = 1 << 16


def fingerprint(arrays: Iterable[tuple[str, Any]], head: Any, class_names: Any) -> str:
    """Return the SHA-256 (hex) of columns by name, of the last layer and of the class names."""
    digest = hashlib.sha256(_SALT)
    named = [(_NAMES.get(name, name), value) for name, value in arrays]
    columns = [*named, *zip(("head[W]", "head[b]"), head or (), strict=False)]
    for name, value in sorted(columns, key=lambda item: item[0]):
        kind = "i" if value.dtype.kind in "bu" else value.dtype.kind
        digest.update(json.dumps([name, kind, list(value.shape)]).encode())
        rows = len(value) if kind == "U" else max(1, _NUMBERS * len(value) // max(value.size, 1))
        for start in range(0, len(value), rows):
            digest.update(_canonical_bytes(value[start : start + rows]))
    digest.update(json.dumps(["class_names", class_names]).encode())
    return digest.hexdigest()


def _canonical_bytes(array: Any) -> Any:
    """Little-endian, eight bytes a number, one zero; text as JSON."""
    if array.dtype.kind == "U":
        return json.dumps(array.tolist()).encode()
    if array.dtype.kind == "f":
        return np.add(array, 0.0, dtype="<f8", order="C").reshape(-1)
    return np.ascontiguousarray(array, dtype="<u8" if array.dtype.kind == "u" else "<i8").reshape(-1)
