"""The notes of changes, as a release would print them."""

import itertools
import re
import shutil
import subprocess
import sys

import pytest

from tests.docs.examples import ROOT

pytest.importorskip("towncrier")
OURS = {"70-first.change.md": "One.", "70-second.change.md": "Two:\n\n- a\n- b", "+c.breaking.md": "Three."}


def test_notes_print_well(tmp_path):
    """Every note once, under its kind, with the plain number of its issue, and those of one issue together."""
    shutil.copytree(ROOT / "changelog.d", tmp_path / "changelog.d")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name, text in OURS.items():
        (tmp_path / "changelog.d" / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=True)
    printed = done.stdout[done.stdout.index("## 9.9") :]
    assert re.findall(r"^### (.*)$", printed, re.M) == ["Breaking changes", "Changes"]
    assert re.findall(r"#\d+-\w+", printed) == []
    changes = re.findall(r"\(#(\d+)\)$", printed.partition("### Changes")[2], re.M)
    assert len(set(changes)) == 1 + sum(each != other for each, other in itertools.pairwise(changes))
    plain = " ".join(printed.split())
    for note in (tmp_path / "changelog.d").glob("*.*.md"):
        number = note.name.partition(".")[0].partition("-")[0]
        end = "" if number.startswith("+") else f" (#{number})"
        assert plain.count("- " + " ".join(note.read_text(encoding="utf-8").split()) + end) == 1, note.name
