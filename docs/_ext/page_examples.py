"""Run the examples of a Markdown page: Python blocks as doctests, ``$ abstain`` lines in a shell, in their order.

A block that cannot be run here, because it downloads data, is written as ``{code-block} python``.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

#: Seconds of the processor that a command may take, and of the clock: on a busy machine the clock says nothing.
SECONDS, HANGS = 120, 1200
#: A number as the tables print it; how far it may be off where a model was trained by another library or processor.
_NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
NEAR = 0.1
OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
#: What a shell does more than to take words apart.
_SHELL = re.compile(r"[|<>&;$`*?~]")
_QUOTED = re.compile("'[^']*'")
_FENCE = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def fences(text: str) -> list[tuple[str, str, int]]:
    """Return kind, contents and line number of every Python and console block."""
    return [(found[1], found[2], text.count("\n", 0, found.start()) + 1) for found in _FENCE.finditer(text)]


class _Near(doctest.OutputChecker):
    """Takes numbers within a tenth, and blanks as they come: the text around them must be the same."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        want = want.replace("<BLANKLINE>", "")
        one, other = (
            [float(each.replace(",", "").replace("−", "-")) for each in _NUMBER.findall(t)] for t in (want, got)
        )
        same = ["".join(_NUMBER.sub("#", t).split()) for t in (want, got)]
        near = all(abs(a - b) <= NEAR * max(abs(a), abs(b)) + 1e-3 for a, b in zip(one, other, strict=False))
        return same[0] == same[1] and len(one) == len(other) and near


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield command and expected output of every ``$ abstain`` line of a console block."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.replace("\\\n", " ").partition("\n")
        if command.startswith("abstain "):
            yield command, expected


def _in_shell(command: str, folder: Path) -> tuple[int, str, str]:
    """Run a command as a user does, and return its exit code, output and errors."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "80"}
    done = subprocess.run(
        f"ulimit -t {SECONDS}; {command}",
        shell=True,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def _here(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    """Run ``abstain`` in this process, which does not import everything once more for each command of a page."""
    from abstain.cli import run

    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, COLUMNS="80"),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(arguments)
    return code, out.getvalue(), err.getvalue()


def output_of(command: str, folder: Path, *, refused: bool = False) -> str:
    """Run a command in a folder and return what it prints, without trailing blanks: on stderr if it is ``refused``."""
    plain = command.startswith("abstain ") and not _SHELL.search(_QUOTED.sub("", command))
    code, out, err = _here(shlex.split(command, comments=True)[1:], folder) if plain else _in_shell(command, folder)
    assert code == (2 if refused else 0), f"{command}: exit code {code}\n{err}"
    return "\n".join(line.rstrip() for line in (err if refused else out).splitlines()) + "\n"


def command_failures(block: str, folder: Path, checker: doctest.OutputChecker) -> list[str]:
    """Run the commands of a console block; what a page shows of their output must be there."""
    failures = []
    for command, expected in commands(block):
        try:
            got = output_of(command, folder, refused=expected.startswith("abstain: "))
        except AssertionError as failed:
            failures.append(str(failed))
            continue
        if expected.strip() and not checker.check_output(expected, got, OPTIONS):
            failures.append(f"{command}\n--- expected\n{expected}--- got\n{got}")
    return failures


def failures_of(page: Path, *, shell: bool = True, near: bool = False) -> tuple[int, list[str]]:
    """Run the blocks of a page in the working directory, Python in one namespace; return how many, and failures.

    ``near`` takes numbers that are a little off, of models that the page itself trains.
    """
    checker = _Near() if near else doctest.OutputChecker()
    names: dict[str, Any] = {}
    failures: list[str] = []
    number = 0
    for kind, source, line in fences(page.read_text(encoding="utf-8")):
        if kind == "console":
            failures += command_failures(source, Path.cwd(), checker) if shell else []
            continue
        if ">>> " not in source:
            exec(compile(source, f"{page.name}:{line}", "exec"), names)
            number += 1
            continue
        test = doctest.DocTestParser().get_doctest(source, names, f"{page.name}:{line}", str(page), line)
        number += len(test.examples)
        runner = doctest.DocTestRunner(checker=checker, optionflags=OPTIONS, verbose=False)
        runner.run(test, clear_globs=False, out=failures.append)
        names = test.globs
    return number, failures


class _Collector(doctest.DocTestRunner):
    """Keeps what examples print where it is not what the page says."""

    def __init__(self) -> None:
        super().__init__(optionflags=OPTIONS, verbose=False)
        self.found: list[tuple[doctest.Example, str]] = []

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        """Keep the output."""
        self.found.append((example, got))


def rewritten(page: Path) -> str:
    """Return the text of a page with the outputs that its examples print now; those that fit stay as they are."""
    text, names, checker = page.read_text(encoding="utf-8"), dict[str, Any](), doctest.OutputChecker()
    for kind, source, line in fences(text):
        block = source
        if kind == "console":
            for command, expected in commands(source):
                got = output_of(command, Path.cwd(), refused=expected.startswith("abstain: "))
                if expected.strip() and not checker.check_output(expected, got, OPTIONS):
                    end = "\n" if expected.endswith("\n\n") else ""
                    block = block.replace(expected, got.rstrip() + "\n" + end, 1)
        elif ">>> " not in source:
            exec(compile(source, f"{page.name}:{line}", "exec"), names)
        else:
            runner = _Collector()
            test = doctest.DocTestParser().get_doctest(source, names, f"{page.name}:{line}", str(page), line)
            runner.run(test, clear_globs=False)
            names = test.globs
            for example, got in runner.found:
                shown = re.sub(r"^$", "<BLANKLINE>", got.rstrip(), flags=re.MULTILINE) + "\n"
                block = block.replace(example.want, shown, 1) if example.want else block
        text = text.replace(source, block, 1)
    return text


if __name__ == "__main__":  # python docs/_ext/page_examples.py PAGE...: write the outputs of today into pages
    import tempfile

    for name in sys.argv[1:]:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page.write_text(rewritten(page), encoding="utf-8")
