"""A disk without room, for as long as a test needs one."""

from contextlib import contextmanager

import pytest


@contextmanager
def room(size):
    """Let no file of this process grow beyond ``size`` bytes; Python ignores the signal, so that it is an OSError."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
