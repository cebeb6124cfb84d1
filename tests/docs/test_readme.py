"""The README: its examples run, its links lead somewhere, its tables are true and its picture is small."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from benchmarks import peers

import abstain
from abstain import _extras
from tests.docs.examples import DOCS, ROOT, failures_of

README = ROOT / "README.md"


def test_the_example_runs_and_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python example prints what the page says; it is ten lines of code at most."""
    monkeypatch.chdir(tmp_path)
    number, failures = failures_of(README, shell=False)
    assert failures == []
    assert 5 <= number <= 10


def test_installing_is_said_alike_everywhere() -> None:
    """Pages say what messages say: at a release one constant changes, and this names the pages to change with it."""
    pages = [README, *DOCS.glob("*.md"), *DOCS.glob("[!_]*/*.md")]
    said = {
        (page.name, target)
        for page in pages
        for target in re.findall(r"pip install \"([^\"\[]*)\[", page.read_text(encoding="utf-8"))
    }
    assert {page for page, _ in said} >= {"README.md", "index.md"}
    assert {target for _, target in said} == {_extras.SOURCE}
    code = [path for path in (ROOT / "src").rglob("*.py") if 'pip install "abstain' in path.read_text("utf-8")]
    assert code == []


def test_the_version_is_one() -> None:
    """The package says it; the citation repeats it, and is well formed enough to name title, authors and papers."""
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == abstain.__version__
    assert {"cff-version", "message", "title", "authors", "license"} <= set(citation)
    assert len(citation["references"]) >= 5
    assert all({"type", "title", "authors"} <= set(each) for each in citation["references"])


def test_links_lead_to_files() -> None:
    """Every relative link and picture of the README is a file of the repository."""
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", README.read_text(encoding="utf-8"))
    files = [target for target in targets if "://" not in target]
    assert len(files) > 8
    assert [target for target in files if not (ROOT / target).is_file()] == []


def test_links_lead_somewhere_from_an_index() -> None:
    """Under an address every link of the description is whole; while there is none, links are plain words."""
    description = runpy.run_path(str(ROOT / ".ci" / "description.py"))["description"]
    text = README.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    there = re.findall(r"\]\(([^)]+)\)", description(text, "https://abstain.example/blob/main/"))
    assert there == [each if "://" in each else f"https://abstain.example/blob/main/{each}" for each in links]
    plain = description(text, "")
    assert [each for each in re.findall(r"\]\(([^)]+)\)", plain) if "://" not in each] == []
    assert "what breaks it" in plain
    assert "certified.png" not in plain


def test_pictures_are_small() -> None:
    """A picture in the history stays there for ever."""
    for name in ("certified", "risk-coverage"):
        assert 5_000 < (ROOT / "docs" / "assets" / f"{name}.png").stat().st_size < 100_000


def test_the_table_of_orders_is_what_its_command_prints() -> None:
    """The row of abstain and of whatever else is installed; the three that ignore the order are not bold."""
    table = re.search(r"<!-- tied rows: start -->\n(.*?)<!--", README.read_text(encoding="utf-8"), re.DOTALL)
    assert table is not None
    rows = {cells[1]: cells[2:4] for line in table[1].splitlines()[2:] for cells in [re.split(r" ?\| ?", line)]}
    assert len(rows) == 10
    assert sum(first == last for first, last in rows.values()) == 3
    for name, first, last in peers.rows(None):
        if name in rows:  # another version may say something else
            assert [cell.strip("*") for cell in rows[name]] == [f"{first:.3f}", f"{last:.3f}"]
    assert "abstain" in rows
