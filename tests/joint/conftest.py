"""The paths of the inner loops."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from abstain.joint import _fast, _kernels

#: NumPy alone, the kernels as plain Python, and compiled where numba is installed.
PATHS = ["numpy", "python", *(["numba"] if importlib.util.find_spec("numba") else [])]


@contextmanager
def taken(path: str) -> Iterator[None]:
    """Take one of the paths, however small the problem."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_fast, "MINIMUM", 10**12 if path == "numpy" else 0)
        if path == "python":
            patch.setattr(_fast, "_compiled", lambda name: getattr(_kernels, name))
        yield


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test on each path."""
    with taken(request.param):
        yield str(request.param)
