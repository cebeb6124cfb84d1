"""Both paths of the inner loops."""

from __future__ import annotations

import importlib.util

import pytest

from abstain.joint import _fast, _kernels


@pytest.fixture(params=["numpy", "python", "numba"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test with NumPy alone, with the kernels as plain Python, and compiled where numba is installed."""
    if request.param == "numba" and importlib.util.find_spec("numba") is None:
        pytest.skip("numba is not installed")
    monkeypatch.setattr(_fast, "MINIMUM", 10**12 if request.param == "numpy" else 0)
    if request.param == "python":
        monkeypatch.setattr(_fast, "_compiled", lambda name: getattr(_kernels, name))
    return str(request.param)
