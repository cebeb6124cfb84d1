"""Sentences of the commands are true of what was given and asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Done

Run = Callable[..., Done]


def _plain(text: str) -> str:
    return " ".join(text.split())


def test_one_is_no_plural(abstain_: Run, tmp_path: Path) -> None:
    """Of one row: one row, one sample."""
    path = tmp_path / "one.csv"
    path.write_text("loss,confidence\n1,.9\n")
    said = _plain(abstain_("evaluate", path).out)
    assert "Only 1 row: take no number here for exact." in said
    assert "1 sample · " in said
    path.write_text("loss,confidence\n1,.9\n,.8\n")
    assert "missing in 1 row (first: data row 2)" in abstain_("evaluate", path).err
