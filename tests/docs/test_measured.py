"""Measured pages name the commands that print them, and ``make measured`` runs these."""

import importlib
import re
import subprocess
import sys

import pytest

from tests.docs.examples import DOCS, ROOT

sys.path[:0] = [str(DOCS)]
import measured  # noqa: E402

PAGES = sorted(measured.PAGES.glob("*.md"))


def script(command):
    """Return the file that ``python FILE`` or ``python -m MODULE`` runs."""
    words = command.split()
    return ROOT / (words[2].replace(".", "/") + ".py" if words[1] == "-m" else words[1])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_measured_page_names_commands_that_exist(page):
    """Every row has a command in full and a quick one, or says what else it needs; scripts and options are there."""
    rows = measured.rows(page)
    assert rows
    for row in rows:
        assert row.full, f"{row.what}: no command"
        for command in filter(None, (row.full, row.quick)):
            text = script(command).read_text(encoding="utf-8")
            unknown = [option for option in re.findall(r"--[a-z-]+", command) if option not in text]
            assert not unknown, f"{command}: {unknown}"


def test_every_script_of_a_measured_page_is_in_its_table(tmp_path):
    """What the text of a page names, its table does too, so that ``make measured`` misses nothing."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:benchmarks[/.]\w+)", text.replace(".py", "")))
        listed = {name for row in measured.rows(page) for name in re.findall(r"benchmarks[/.]\w+", row.full)}
        assert {name.replace("/", ".") for name in named} - {name.replace("/", ".") for name in listed} == set(), page


def test_every_benchmark_can_be_imported():
    """What they take of the package and of the tests is there; the one of training loads PyTorch, which takes long."""
    names = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - {"training"}
    assert len(names) > 20
    for name in names:
        importlib.import_module(f"benchmarks.{name}")


def test_the_runner_lists_runs_and_leaves_out(capfd):
    """A command that fails counts, one without its data is named and left out, an unknown page is refused."""
    row = measured.Row("page", "a", "python x.py", "python -c print(40+2)")
    assert measured.run(row, None)
    assert measured.run(row._replace(quick="python x.py FOLDER"), None)
    assert not measured.run(row._replace(quick="python -c raise(SystemExit(3))"), None)
    printed = capfd.readouterr().out
    assert "\n42\n" in printed
    assert re.search(r"^== \d+ s, \d+ s of the processor$", printed, re.M)
    assert "left out, needs --data FOLDER" in printed
    assert "FAILED with 3" in printed
    done = subprocess.run(
        [sys.executable, str(DOCS / "measured.py"), "nothing"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no page nothing; there are certificates" in done.stderr
