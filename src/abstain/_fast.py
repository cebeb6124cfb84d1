"""Loops that numba compiles, where it is installed and rows are enough to pay for it; no result needs them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

Kernel = Callable[..., Any]


@cache
def compiled(function: Kernel) -> Kernel:
    """Return a kernel compiled by numba, from its cache on disk where that can be written."""
    import numba

    try:
        return numba.njit(error_model="numpy", cache=True)(function)
    except RuntimeError:  # no folder for the cache
        return numba.njit(error_model="numpy")(function)


def kernel(function: Kernel, n: int, pays: tuple[float, float]) -> Kernel | None:
    """Return a kernel for n rows, or None: then the caller takes its NumPy path, with the same result.

    ``pays``: from so many rows on the kernel pays for loading numba, and where numba is there already.
    """
    if n < pays["numba" in sys.modules] or not _loads():
        return None
    return compiled(function)


@cache
def _loads() -> bool:
    """Whether numba is there; one that cannot be loaded is not tried again."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True
