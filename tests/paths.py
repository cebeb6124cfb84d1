"""The paths of the inner loops, each of which can be taken however small the problem."""

import importlib.util
from contextlib import contextmanager

import pytest

from abstain import _fast

#: NumPy alone, the kernels as plain Python, and compiled where numba is installed.
PATHS = ["numpy", "python", *(["numba"] if importlib.util.find_spec("numba") else [])]


@contextmanager
def taken(path):
    """Take one of the paths, however small the problem."""
    with pytest.MonkeyPatch.context() as patch:
        kernels = {"numpy": lambda each: None, "python": lambda each: each, "numba": _fast.compiled}
        patch.setattr(_fast, "kernel", lambda function, n, pays: kernels[path](function))
        yield
