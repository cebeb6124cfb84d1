"""Find and run the examples of a Markdown page: Python blocks as doctests, console blocks in a shell.

A block that cannot be run here, because it downloads data, is written as ``{code-block} python``.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [  # not CONTRIBUTING, whose leaf tests/metrics/test_own_metrics.py puts into a copy of the package
    ROOT / "README.md",
    *sorted(page for page in DOCS.rglob("*.md") if not {"_build", "generated"} & set(page.relative_to(DOCS).parts)),
]

_FENCE = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def fences(text: str) -> list[tuple[str, str, int]]:
    """Return kind, contents and line number of every Python and console block."""
    return [(found[1], found[2], text.count("\n", 0, found.start()) + 1) for found in _FENCE.finditer(text)]


def libraries(page: Path) -> set[str]:
    """Return the optional libraries that the Python blocks of a page import."""
    source = "\n".join(block for kind, block, _ in fences(page.read_text(encoding="utf-8")) if kind == "python")
    return set(re.findall(r"\b(?:import|from) (torch|sklearn|pandas|polars|matplotlib)\b", source))


def python_failures(page: Path) -> tuple[int, list[str]]:
    """Run the Python blocks of a page one after the other in one namespace; return their number and the failures."""
    names: dict[str, Any] = {}
    failures: list[str] = []
    number = 0
    for kind, source, line in fences(page.read_text(encoding="utf-8")):
        if kind != "python":
            continue
        if ">>> " not in source:
            exec(compile(source, f"{page.name}:{line}", "exec"), names)
            number += 1
            continue
        test = doctest.DocTestParser().get_doctest(source, names, f"{page.name}:{line}", str(page), line)
        number += len(test.examples)
        runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
        runner.run(test, clear_globs=False, out=failures.append)
        names = test.globs
    return number, failures


def console_examples(page: Path) -> list[tuple[str, str]]:
    """Return command and expected output of every ``$ abstain`` line."""
    found = []
    for kind, source, _ in fences(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", source, flags=re.MULTILINE)[1:] if kind == "console" else ():
            command, _, expected = part.replace("\\\n", " ").partition("\n")
            if command.startswith("abstain "):
                found.append((command, expected))
    return found


def output_of(command: str, folder: Path, *, refused: bool = False) -> str:
    """Run a command in a folder and return what it prints, without trailing blanks: on stderr if it is ``refused``."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "80"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == (2 if refused else 0), f"{command}: exit code {done.returncode}\n{done.stderr}"
    text = done.stderr if refused else done.stdout
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
