"""Metrics that somebody registered beside those of the library: where they come from, so that workers know them too."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

from abstain import metrics as metrics_

#: Modules by name, with their files; "" where a worker cannot read one: a notebook, a console, the running script.
Modules = dict[str, str]


def own_modules(specs: Iterable[str]) -> Modules:
    """Return the modules outside the library that the metrics are from."""
    names = {metrics_.parse(spec).function.__module__ for spec in specs}
    found = {name for name in names if name.partition(".")[0] != __name__.partition(".")[0]}
    return {name: _file(name) for name in sorted(found)}


def _file(name: str) -> str:
    if name == "__main__":  # to import it is to run it again
        return ""
    return str(getattr(sys.modules.get(name), "__file__", None) or "")


def load(modules: Modules) -> None:
    """Import them by name, or where Python does not find them so, from their files."""
    for name, file in modules.items():
        try:
            known = find_spec(name)
        except (ImportError, ValueError):
            known = None
        if known is not None and known.origin is not None and Path(known.origin) == Path(file):
            import_module(name)
            continue
        spec = spec_from_file_location(name, file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file}: holds metrics of the study, but cannot be imported")
        module = module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
