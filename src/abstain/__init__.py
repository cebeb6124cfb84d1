"""abstain: risk, coverage and abstention for any model with a loss and a confidence.

``import abstain`` loads nothing but this page; every name in ``__init__.pyi`` is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from abstain._lazy import homes_of, on_demand
from abstain._version import __version__ as __version__

_load, _ = on_demand(__name__)


def __getattr__(name: str) -> Any:
    """Load a public name: from where the stub says, or from ``abstain.metrics``, whose modules list their own."""
    if name == "__all__":  # but for nn, which needs an optional library
        return sorted({*homes_of(__name__, results=False), *import_module("abstain.metrics").FUNCTIONS} - {"nn"})
    if name.startswith("_") or name in homes_of(__name__) or name not in import_module("abstain.metrics").FUNCTIONS:
        return _load(name)
    value = globals()[name] = import_module("abstain.metrics").FUNCTIONS[name]
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
