"""Outputs are a value: no array in them is the caller's, who may write to his own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def owned(value: Any, given: Any) -> Any:
    """Return an array, or a dict or pair of them, that shares no memory with what the caller gave; read-only.

    Arrays of other outputs, which nobody can write to, are shared.
    """
    if isinstance(value, dict):
        named = {str(name): column for name, column in given.items()} if isinstance(given, Mapping) else {}
        return {name: owned(column, named.get(name)) for name, column in value.items()}
    if isinstance(value, tuple) and all(isinstance(part, np.ndarray) for part in value):
        return tuple(owned(part, other) for part, other in zip(value, given or value, strict=False))
    if not isinstance(value, np.ndarray):
        return value
    root = value
    while isinstance(root.base, np.ndarray):
        root = root.base
    ours = root.base is None and not root.flags.writeable
    if not ours and _shared(value, given):
        value = root = value.copy()
    root.flags.writeable = value.flags.writeable = False
    return value


def _shared(value: Any, given: Any) -> bool:
    """Whether two columns may lie in the same memory; what cannot be told may."""
    if given is None or isinstance(given, list | tuple):
        return False
    try:
        return bool(np.may_share_memory(value, np.asarray(given)))
    except (TypeError, ValueError, RuntimeError):
        return True
