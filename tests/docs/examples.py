"""Find and run the examples of a Markdown page: Python blocks as doctests, console blocks in a shell."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "api").glob("*.md"))]

_FENCE = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def fences(text: str) -> list[tuple[str, str, int]]:
    """Return kind, contents and line number of every Python and console block."""
    return [(found[1], found[2], text.count("\n", 0, found.start()) + 1) for found in _FENCE.finditer(text)]


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
    """Return command and expected output of every ``$ recuse`` line."""
    found = []
    for kind, source, _ in fences(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", source, flags=re.MULTILINE)[1:] if kind == "console" else ():
            command, _, expected = part.replace("\\\n", " ").partition("\n")
            if command.startswith("recuse "):
                found.append((command, expected))
    return found


def output_of(command: str, folder: Path) -> str:
    """Run a command in a folder and return what it prints on standard output, without trailing blanks."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "80"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode in (0, 2), done.stderr
    text = done.stdout if done.returncode == 0 else done.stderr
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
