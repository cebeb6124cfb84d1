"""Packages that load module by module: a name is loaded when it is first used, from where the stub says."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


@cache
def homes_of(package: str, results: bool = True) -> dict[str, str]:
    """Return the names that the stub of a package lists, one import a line, with the modules that define them.

    Without `results` those are left out whose line ends in ``# result``.

    The stub is the one list: type checkers and editors read it, too.
    """
    spec: Any = sys.modules[package].__spec__
    stub = spec.loader.get_data(os.path.join(spec.submodule_search_locations[0], "__init__.pyi")).decode()
    found = re.findall(r"^from (\S+) import (\w+) as \w+(  # result)?$", stub, re.MULTILINE)
    return {name: home for home, name, mark in found if results or not mark}


def on_demand(name: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names its ``__init__.pyi`` lists.

    Examples
    --------
    >>> import abstain.evaluation
    >>> abstain.evaluation.evaluate.__module__
    'abstain.evaluation._evaluate'
    """

    def load(wanted: str) -> Any:
        home = None if wanted.startswith("__") else homes_of(name).get(wanted)
        if home is None:
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        value = import_module(f"{name}.{wanted}") if home == name else getattr(import_module(home), wanted)
        setattr(sys.modules[name], wanted, value)
        return value

    return load, lambda: sorted({*vars(sys.modules[name]), *homes_of(name)})
