"""Tools, and the Python of a page of the documentation, run as one script in an empty folder."""

import os
from importlib import import_module

import pytest

from tests.docs.examples import DOCS, fences


def tool(module):
    """Return the module of a tool; without it skip the tests, but not in the environment that was made for them."""
    if os.environ.get("ABSTAIN_TOOL"):
        return import_module(module)
    return pytest.importorskip(module, reason="make test-NAME runs this in an environment of its own")


def run_page(name, folder, monkeypatch):
    """Run all Python blocks of a page, one after the other, and return the variables that they leave."""
    monkeypatch.chdir(folder)
    variables = {"__name__": name}
    blocks = [
        (block, line) for kind, block, line in fences((DOCS / name).read_text(encoding="utf-8")) if kind == "python"
    ]
    assert blocks
    for block, line in blocks:
        exec(compile("\n" * line + block, str(DOCS / name), "exec"), variables)
    return variables
