"""What all tests share: the Hypothesis profiles and the array libraries."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# ci: the same examples on every run, so that a red run can be repeated; thorough: by hand, random and long.
_SHARED: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", derandomize=True, max_examples=60, database=None, print_blob=True, **_SHARED)
settings.register_profile("thorough", max_examples=3000, **_SHARED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests marked slow unless an expression of marks names them: ``pytest -m slow``."""
    if "slow" not in config.getoption("-m"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow: run with -m slow"))


@pytest.fixture(params=["numpy", "array_api_strict", "torch"])
def xp(request: pytest.FixtureRequest) -> Any:
    """Return an array library: NumPy, the strict reference of the Array API standard, or PyTorch."""
    return importlib.import_module(request.param)
