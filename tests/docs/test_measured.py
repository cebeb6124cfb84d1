"""Measured pages name the commands that print them, and ``make measured`` runs these; numbers stand beside theirs."""

import importlib
import re
import subprocess
import sys

import pytest

from tests.docs.examples import DOCS, ROOT

sys.path[:0] = [str(DOCS)]
import measured  # noqa: E402

PAGES = sorted(measured.PAGES.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_measured_page_names_commands_that_exist(page):
    """Every row has a command in full and a quick one, or says what else it needs; scripts and options are there."""
    rows = measured.rows(page)
    assert rows
    for row in rows:
        assert row.full, f"{row.what}: no command"
        for command in filter(None, (row.full, row.quick)):
            text = script(" ".join(command.split()[: 3 if " -m " in command else 2])).read_text(encoding="utf-8")
            unknown = [option for option in re.findall(r"--[a-z-]+", command) if option not in text]
            assert not unknown, f"{command}: {unknown}"


def test_every_script_of_a_measured_page_is_in_its_table():
    """What the text of a page names, its table does too, so that ``make measured`` misses nothing."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        listed = " ".join(row.full for row in measured.rows(page))
        named, there = (set(re.findall(r"benchmarks\.\w+", each.replace("/", "."))) for each in (text, listed))
        assert named <= there, page


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
    for text in ("\n42\n", " s of the processor\n", "left out, needs --data FOLDER", "FAILED with 3"):
        assert text in printed
    command = [sys.executable, str(DOCS / "measured.py"), "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "no page nothing; there are certificates" in done.stderr) == (2, True)


EVERY = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
EVERY = [page for page in EVERY if not {"_build", "generated"} & set(page.parts)]
#: A script or module that a reader can run from the root of the repository.
COMMAND = re.compile(r"python (?:-m )?(?!pytest|timeit)[\w./]+|(?:benchmarks|experiments|docs)/[\w/]+\.py")

#: Pages whose numbers were read off other packages, each with its version in the row.
READ_OFF = {"why-does-my-number-differ.md"}


def sections(text):
    """Return the head of a page, then each section after it, code left out."""
    text = re.sub(r"^```.*?^```$", lambda block: " ".join(COMMAND.findall(block[0])), text, flags=re.M | re.S)
    return re.split(r"^## ", text, flags=re.M)


def has_numbers(section):
    """Return whether a section has a table of which three rows hold decimals."""
    tables = re.findall(r"(?:^\|.*\n?)+", section, re.M)
    return any(
        sum(bool(re.search(r"(?<![\w`=])[−-]?\d*\.\d", row)) for row in table.splitlines()) >= 3 for table in tables
    )


def script(command):
    """Return the file that a command runs."""
    name = command.split()[-1]
    if name.endswith(".py"):
        return ROOT / name
    path = ROOT / name.replace(".", "/")
    return path / "__main__.py" if path.is_dir() else path.with_suffix(".py")


@pytest.mark.parametrize("page", EVERY, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_tables_of_measured_numbers_name_their_command(page):
    """In the section of the table or in the head of the page, and the command is there."""
    head, *parts = sections(page.read_text(encoding="utf-8"))
    for part in [head, *parts]:
        commands = [each for each in COMMAND.findall(head + part) if "python -m abstain" not in each]
        if has_numbers(part) and page.name not in READ_OFF:
            assert commands, f"{page.name}: {part[:60]!r} has measured numbers and no command"
        missing = [each for each in commands if not script(each).exists() and "install" not in each]
        assert missing == []
