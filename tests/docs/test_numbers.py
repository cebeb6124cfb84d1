"""Measured numbers on a page stand beside the command that prints them."""

import re

import pytest

from tests.imports import ROOT

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
PAGES = [page for page in PAGES if not {"_build", "generated"} & set(page.parts)]
#: A script or module that a reader can run from the root of the repository.
COMMAND = re.compile(r"python (?:-m )?(?!pytest|timeit)[\w./]+|(?:benchmarks|experiments|docs)/[\w/]+\.py")

#: Pages whose numbers were read off other packages, each with its version in the row.
READ_OFF = {"why-does-my-number-differ.md"}


def sections(text):
    """Return the head of a page, then each section after it, code left out."""
    text = re.sub(r"^```.*?^```$", lambda block: " ".join(COMMAND.findall(block[0])), text, flags=re.M | re.S)
    return re.split(r"^## ", text, flags=re.M)


def measured(section):
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_tables_of_measured_numbers_name_their_command(page):
    """In the section of the table or in the head of the page, and the command is there."""
    head, *parts = sections(page.read_text(encoding="utf-8"))
    for part in [head, *parts]:
        commands = [each for each in COMMAND.findall(head + part) if "python -m abstain" not in each]
        if measured(part) and page.name not in READ_OFF:
            assert commands, f"{page.name}: {part[:60]!r} has measured numbers and no command"
        missing = [each for each in commands if not script(each).exists() and "install" not in each]
        assert missing == []
