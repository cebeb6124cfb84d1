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


def _rows(path: Path, loss: list[float], confidence: list[float]) -> Path:
    pairs = zip(loss, confidence, strict=True)
    path.write_text("\n".join(["loss,confidence", *[f"{a:g},{b:g}" for a, b in pairs]]))
    return path


def test_equal_scores_are_no_first(abstain_: Run, tmp_path: Path) -> None:
    """A ranking that is none is not shown to be better than chance, whatever is promised for everything."""
    path = _rows(tmp_path / "equal.csv", [0, 0, 0, 0, 1] * 200, [0.7] * 1000)
    for command in (["evaluate", path], ["threshold", path, "--risk", "0.1", "--delta", "0.05"]):
        assert _plain(abstain_(*command).out).startswith("No: a threshold on confidence does not help"), command


def test_what_answering_everything_keeps_is_said_to_be_available(abstain_: Run, tmp_path: Path) -> None:
    """A score the wrong way round, at a limit within which everything may be answered: how, not a larger risk."""
    loss = [float(k % 5 == 0 and k > 300) for k in range(1000)]
    path = _rows(tmp_path / "wrong.csv", loss, [k / 1000 for k in range(1000)])
    done = abstain_("threshold", path, "--risk", "0.19", "--delta", "0.05")
    said = _plain(done.out)
    assert done.code == 1
    assert "No threshold passed its test at 19 % risk, but answering everything keeps it: at most 17" in said
    assert "with --coverage 1 writes one" in said
    assert "give a larger risk" not in said


def test_all_that_has_a_score_is_no_threshold(abstain_: Run, tmp_path: Path) -> None:
    """Where only answering everything is certified, at a larger risk, no threshold is named."""
    path = _rows(tmp_path / "some.csv", [0] * 30 + [1] + [0] * 9 + ([1] + [0] * 9) * 96, [0.9] * 30 + [0.5] * 970)
    said = _plain(abstain_("threshold", path, "--risk", "0.08", "--delta", "0.05").out)
    assert "score on" not in said
    assert "answer all that has a score, 100 % of the cases, which takes no threshold." in said


def test_a_squared_error_is_no_share(abstain_: Run, tmp_path: Path) -> None:
    """Of losses above 1 a limit is a number; of an uncertainty the threshold is one of its negative."""
    path = tmp_path / "house.csv"
    rows = [f"{k % 7},{k % 7 + k / 500},{0.1 + k / 500}" for k in range(1000)]
    path.write_text("\n".join(["y,y_hat,std", *rows]))
    columns = ["--task", "regression", "--labels", "y", "--predictions", "y_hat", "--uncertainty", "std"]
    promise = ["--risk", "1", "--delta", "0.05", "--max-loss", "40"]
    said = _plain(abstain_("threshold", path, *columns, *promise, "-o", tmp_path / "p.json").out)
    assert said.startswith("Yes: answer from minus std -")
    assert "a risk of at most 1 is promised" in said
    path.write_text("\n".join(["y,y_hat,std", *rows[:400]]))
    said = _plain(abstain_("monitor", tmp_path / "p.json", path).out)
    assert "Watched: a risk of at most 1 where minus std is -" in said
    assert "Measured since: a risk of 0." in said
