"""Where a function takes outputs, and something else comes."""

from __future__ import annotations

from typing import Any

from abstain.outputs._outputs import Outputs


def expect(given: Any, name: str, *also: type) -> None:
    """Refuse what is neither outputs nor of another type that will do."""
    if not isinstance(given, (Outputs, *also)):
        raise TypeError(f"{name} must be Outputs, got {type(given).__name__}; use abstain.read_outputs(path)")
