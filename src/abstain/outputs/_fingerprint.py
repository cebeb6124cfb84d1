"""A hash of the contents of outputs that no platform, precision or container changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from abstain._typing import FloatArray

#: Opaque bytes that stay as they are, whatever the package is called: fingerprints in saved results rest on them.
_SALT = b"recuse.Outputs/1"
#: What the fingerprint calls a column whose word has changed since, for the same reason.
_NAMES = {"sample_weight": "weights"}
#: Numbers whose bytes are made at once: features can be large, and a small piece stays in the processor's cache.
_NUMBERS = 1 << 16
#: Entries whose numbers are mixed at once.
_ROWS = 1 << 18


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


def row_sums(columns: Sequence[FloatArray], times: FloatArray) -> tuple[int, int]:
    """Return two sums over rows of numbers that follow from their columns: for a fingerprint.

    No order of the rows, no partition and no repetition among the entries changes them.
    """
    found = np.zeros(2, dtype=np.uint64)
    for start in range(0, len(times), _ROWS):
        rows = slice(start, start + _ROWS)
        number, mixed = times[rows].astype(np.uint64), np.zeros((), dtype=np.uint64)
        for column in columns:
            bits = np.where(np.isnan(column[rows]), np.inf, column[rows] + 0.0).view(np.uint64)
            mixed = _mixed(mixed ^ bits ^ (np.isnan(column[rows]).astype(np.uint64) << np.uint64(63)))
        found += np.array([(mixed * number).sum(), (_mixed(mixed) * number).sum()], dtype=np.uint64)
    return int(found[0]), int(found[1])


def _mixed(bits: Any) -> Any:
    """Return 64 bits that all depend on all of the given ones: the finalizer of SplitMix64."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return (bits ^ (bits >> np.uint64(31))) + np.uint64(0x9E3779B97F4A7C15)
