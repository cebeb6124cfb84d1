"""Run the tutorials and the gallery of reports while the documentation is built, and keep what they save.

A tutorial is a page of ``docs/tutorials``. Its blocks run in their order in an empty folder; a block that prints
something else than the page says is a warning, and what is saved as ``NAME.png`` is shown as
``generated/PAGE/NAME.png``, and a report as ``generated/PAGE/NAME.html``. They run beside the gallery of figures, in a
process of their own, one after the other.

Run ``python docs/_ext/tutorial_pages.py [PAGE ...]`` to run them alone; ``--write`` puts what they print into them.
"""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from page_examples import failures_of, fences, output_of

FOLDER = Path(__file__).resolve().parents[1] / "tutorials"
#: The gallery of reports, as a name beside those of the tutorials.
REPORTS = "../gallery/reports"
KEPT = (".png", ".html")
#: Seconds that one may take.
LIMIT = 20.0


def pages(names: list[str]) -> list[Path]:
    """Return the tutorials of these names, or all."""
    return [FOLDER / f"{name}.md" for name in names] if names else sorted(FOLDER.glob("[!_]*.md"))


def run(page: Path) -> tuple[float, list[str]]:
    """Run one in an empty folder and keep what it saves; return the seconds of the processor, and what failed."""
    target, start = page.resolve().parent / "generated" / page.stem, os.times()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _, failures = failures_of(page, near=True)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for saved in sorted(each for each in Path(folder).iterdir() if each.suffix in KEPT):
            shutil.copy(saved, target)
        os.chdir(FOLDER)
    return sum(os.times()[:4]) - sum(start[:4]), failures


def write(page: Path) -> None:
    """Put what the examples print into the page."""
    text, names = page.read_text(encoding="utf-8"), {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for kind, source, _ in fences(text):
            new = _printed(source, names) if kind == "python" else _shown(source, Path(folder))
            text = text.replace(f"```{kind}\n{source}```", f"```{kind}\n{new}```")
        os.chdir(FOLDER)
    page.write_text(text, encoding="utf-8")


def _printed(source: str, names: dict[str, Any]) -> str:
    """Return the examples of a Python block with what they print."""
    lines, test = [], doctest.DocTestParser().get_doctest(source, names, "", None, 0)
    for each in test.examples:
        first, *rest = each.source.splitlines()
        got: list[str] = []
        runner = doctest.DocTestRunner(checker=_Taken(got), verbose=False)
        one = doctest.DocTest([each], names, "", None, 0, None)
        runner.run(one, clear_globs=False, out=lambda _: None)
        names.update(one.globs)
        lines += [f">>> {first}", *(f"... {line}" for line in rest)]
        lines += ["<BLANKLINE>" if not line.strip() else line.rstrip() for line in "".join(got).splitlines()]
    return "\n".join(lines) + "\n"


class _Taken(doctest.OutputChecker):
    """Takes every output and keeps it."""

    def __init__(self, kept: list[str]) -> None:
        self.kept = kept

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        self.kept.append(got)
        return True


def _shown(source: str, folder: Path) -> str:
    """Return the commands of a console block with what they print."""
    lines: list[str] = []
    for line in source.splitlines():
        if line.startswith("$ "):
            command = line[2:]
            lines += [
                line,
                *(output_of(command, folder).rstrip().splitlines() if command.startswith("abstain ") else []),
            ]
    return "\n".join(lines) + "\n"


def main(given: list[str]) -> int:
    """Run tutorials; print the time of each, then what failed."""
    os.environ["MPLBACKEND"] = "Agg"
    names = [each for each in given if not each.startswith("-")]
    bad = 0
    for page in pages(names):
        if "--write" in given:
            write(page)
        clock = time.perf_counter()
        seconds, failures = run(page)
        print(f"{page.stem}: {time.perf_counter() - clock:.1f} s, {seconds:.1f} s of the processor", flush=True)
        print("".join(f"{each}\n" for each in failures), end="", flush=True)
        bad += bool(failures) + (seconds > 2 * LIMIT)  # twice: machines differ
    return bad


def setup(app: Any) -> dict[str, Any]:
    """Start when the builder does, and wait before pages are read, which need the pictures."""
    from sphinx.util import logging

    running: list[subprocess.Popen[str]] = []

    def start(_: Any) -> None:
        command = [sys.executable, __file__, *(page.stem for page in pages([])), REPORTS]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))

    def wait(*_: Any) -> None:
        said = running[0].communicate()[0]
        report = logging.getLogger(__name__)
        (report.warning if running[0].returncode else report.info)("tutorials: %s", said)

    def copy(app: Any, _: Any) -> None:
        for saved in Path(app.srcdir).glob("gallery/generated/reports/*.html"):  # Sphinx copies pictures only
            target = Path(app.outdir) / saved.relative_to(app.srcdir)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(saved, target)

    app.connect("builder-inited", start, priority=100)  # before the gallery, which it runs beside
    app.connect("env-before-read-docs", wait)
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
