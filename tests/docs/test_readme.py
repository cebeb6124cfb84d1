"""The README: its examples run, its links lead somewhere, and its picture is small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.examples import ROOT, output_of, python_failures

README = ROOT / "README.md"


def test_the_example_runs_and_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python example prints what the page says; it is ten lines of code at most."""
    monkeypatch.chdir(tmp_path)
    number, failures = python_failures(README)
    assert failures == []
    assert 5 <= number <= 10


def test_the_table_is_what_the_demo_prints(tmp_path: Path) -> None:
    """``docs/make_assets.py`` copies it; this says when that is due."""
    shown = re.search(r"<!-- demo: start -->\n```text\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    assert output_of("unset COLUMNS; abstain demo --output demo", tmp_path) == shown[1]


def test_links_lead_to_files() -> None:
    """Every relative link and picture of the README is a file of the repository."""
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", README.read_text(encoding="utf-8"))
    files = [target for target in targets if "://" not in target]
    assert len(files) > 8
    assert [target for target in files if not (ROOT / target).is_file()] == []


def test_the_picture_is_small() -> None:
    """A picture in the history stays there for ever."""
    assert 5_000 < (ROOT / "docs" / "assets" / "risk-coverage.png").stat().st_size < 100_000
