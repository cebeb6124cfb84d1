"""Compiled kernels, where numba is installed and the problem is large enough to pay for loading it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

#: Below this many rows NumPy alone is as fast as loading numba.
MINIMUM = 3000


@cache
def _compiled(name: str) -> Callable[..., Any] | None:
    try:
        import numba
    except ImportError:
        return None
    from abstain.joint import _kernels

    function = getattr(_kernels, name)
    try:
        return numba.njit(function, cache=True)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder to keep the compiled code in
        return numba.njit(function)  # type: ignore[no-any-return]


def kernel(name: str, n: int) -> Callable[..., Any] | None:
    """Return a compiled kernel, or None: then the caller takes its NumPy path, with the same result."""
    minimum = MINIMUM if "numba" not in sys.modules else MINIMUM / 30  # loading is paid for
    return _compiled(name) if n >= minimum else None
