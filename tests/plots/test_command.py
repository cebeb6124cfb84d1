"""Figures from the command line: by name, several at once, refused before the work begins."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("matplotlib")

import abstain
from abstain.cli import run

ROWS = abstain.datasets.synthetic("calibrated", 400, 1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of outputs with a group column."""
    outputs = abstain.Outputs(
        labels=ROWS.labels, predictions=ROWS.predictions, confidence=ROWS.confidence,
        groups={"half": np.arange(ROWS.n) % 2},
    )  # fmt: skip
    abstain.write_outputs(outputs, tmp_path / "a.npz")
    return tmp_path / "a.npz"


def test_evaluate_draws_what_it_is_asked_for(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file alone is the risk-coverage curve; NAME=FILE is any figure of an evaluation."""
    out = file.parent
    arguments = ["evaluate", str(file), "--groups", "half", "--plot", str(out / "curve.png")]
    for name in ("reliability", "groups", "score-histogram"):
        arguments += ["--plot", f"{name}={out / name}.svg"]
    assert run(arguments) == 0
    said = capsys.readouterr().err
    for written in ("curve.png", "reliability.svg", "groups.svg", "score-histogram.svg"):
        assert (out / written).stat().st_size > 1000
        assert f"wrote {out / written}" in said
    display = abstain.evaluate(abstain.read_outputs(file), groups="half").plot()
    display.save(out / "library.png")
    assert (out / "library.png").read_bytes() == (out / "curve.png").read_bytes()


def test_every_figure_of_an_evaluation_is_drawn_from_a_plain_file(file: Path) -> None:
    """Two scores, two metrics and a group column are enough for all of them."""
    outputs = abstain.Outputs(
        loss=(ROWS.labels != ROWS.predictions).astype(float), confidence=ROWS.confidence,
        scores={"other": ROWS.confidence**2 / 2 + 0.1}, groups={"half": np.arange(ROWS.n) % 2},
    )  # fmt: skip
    both = file.parent / "two.npz"
    abstain.write_outputs(outputs, both)
    names = abstain.plots.names("evaluation")
    pictures = [word for name in names for word in ("--plot", f"{name}={file.parent / name}.png")]
    asked = ["evaluate", str(both), "--scores", "confidence,other", "--metrics", "aurc,augrc", "--groups", "half"]
    assert run([*asked, *pictures]) == 0
    assert {f"{name}.png" for name in names} <= {path.name for path in file.parent.iterdir()}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("reliabilty=a.png", "did you mean 'reliability'"),
        ("forest=a.png", "plot 'forest' is not drawn from what this command finds; here are: "),
        ("reliability=a.gif", "extension '.gif' cannot be drawn; use .png, .svg, .pdf"),
    ],
)
def test_what_cannot_be_drawn_is_refused_first(
    file: Path, given: str, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the remedy, before the file is read, and nothing is written."""
    monkeypatch.chdir(file.parent)
    assert run(["evaluate", "not-there.npz", "--plot", given]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert sorted(path.name for path in file.parent.iterdir()) == ["a.npz"]


def test_a_threshold_and_a_study_are_drawn(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The trade-off with the certified point; all figures of a study; groups of thresholds are refused."""
    out = tmp_path / "t.png"
    arguments = ["threshold", str(file), "--risk", "0.2", "--delta", "0.1", "--plot", str(out)]
    assert run(arguments) == 0
    assert out.stat().st_size > 1000
    assert run([*arguments, "--groups", "half"]) == 2
    assert "--plot shows one threshold; leave --groups" in capsys.readouterr().err
    study, rows = tmp_path / "study", abstain.datasets.synthetic("random", 300, 0)
    for model in (0, 1, 2):
        one = abstain.Outputs(
            labels=rows.labels, predictions=rows.predictions, confidence=np.roll(rows.confidence, model)
        )
        abstain.study.add_outputs(study, one, model=f"m{model}", set="test")
    assert run(["study", "figures", str(study), "-o", str(tmp_path / "figures"), "--scores", "confidence"]) == 0
    assert {"metric_plane.png", "rank_flow.png"} <= {path.name for path in (tmp_path / "figures").iterdir()}
    assert run(["study", "figures", str(study), "-o", str(tmp_path / "figures"), "--plots", "reliability"]) == 2


def test_figures_of_ranks_need_the_same_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of models measured on other rows the other figures are drawn, and it is said; asked for, it is an error."""
    study, out = tmp_path / "study", tmp_path / "figures"
    for model in (0, 1):
        rows = abstain.datasets.synthetic("random", 300, model)
        abstain.study.add_outputs(study, rows, model=f"m{model}", set="test")
    figures = ["study", "figures", str(study), "-o", str(out), "--scores", "confidence"]
    assert run(figures) == 0
    assert "not drawn: rank_flow: test: m0 and m1 have different rows" in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in out.iterdir() if path.name.startswith("rank")] == []
    assert (out / "metric_bars.png").stat().st_size > 1000
    assert run([*figures, "--plots", "rank_flow"]) == 2


def test_all_figures_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """By name, with what they are drawn from; as JSON with source and needs."""
    assert run(["plots"]) == 0
    shown = capsys.readouterr().out
    assert run(["plots", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in listed] == abstain.plots.names()
    assert all(each["name"] in shown and each["source"] and each["needs"] for each in listed)
