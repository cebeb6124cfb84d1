"""What to install where an optional library is missing: said here, and true where abstain came from."""

from __future__ import annotations

from importlib.util import find_spec

#: What pip is given, and where. There is no release yet, so it is the checkout; at a release: "abstain" and "".
SOURCE, WHERE = ".", " in the checkout"


def install(extra: str) -> str:
    """Return the command that installs an extra."""
    return f'pip install "{SOURCE}[{extra}]"{WHERE}'


def need(purpose: str, *modules: str, extra: str = "cli", instead: str = "") -> None:
    """Raise an ImportError with the remedy unless all modules can be imported."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise ImportError(lacking(purpose, *missing, extra=extra, instead=instead), name=missing[0])


def lacking(purpose: str, *modules: str, extra: str, instead: str = "") -> str:
    """Return what is missing for a purpose, and how to get it."""
    return f"{purpose} needs {' and '.join(modules)}: {install(extra)}{instead}"
