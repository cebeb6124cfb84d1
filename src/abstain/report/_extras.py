"""Optional libraries of this room: here, or an error that says how to get them."""

from __future__ import annotations

import importlib.util


def need(purpose: str, *modules: str) -> None:
    """Raise an ImportError with the remedy unless all modules can be imported."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(f'{purpose} needs {" and ".join(missing)}: pip install "abstain[cli]"')
