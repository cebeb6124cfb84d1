"""Figures from the command line: by name, several at once, refused before the work begins."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import abstain

pytest.importorskip("matplotlib")
ROWS = abstain.datasets.synthetic("calibrated", 400, 1)


@pytest.fixture(autouse=True)
def _file(do):
    """A file of outputs with two scores and a group column."""
    loss, score, half = (ROWS.labels != ROWS.predictions).astype(float), ROWS.confidence, np.arange(ROWS.n) % 2
    outputs = abstain.Outputs(loss=loss, confidence=score, scores={"other": score**2 / 2 + 0.1}, groups={"half": half})
    abstain.write_outputs(outputs, "a.npz")


def test_evaluate_draws_what_it_is_asked_for(do):
    """A file alone is the risk-coverage curve; NAME=FILE is any figure of an evaluation."""
    named = " ".join(f"--plot {name}={name}.svg" for name in ("reliability", "groups", "score-histogram"))
    said = do(f"evaluate a.npz --groups half --plot curve.png {named}").err
    for written in ("curve.png", "reliability.svg", "groups.svg", "score-histogram.svg"):
        assert Path(written).stat().st_size > 1000
        assert f"wrote {written}" in said
    abstain.evaluate(abstain.read_outputs("a.npz"), groups="half").plot().save("library.png")
    assert Path("library.png").read_bytes() == Path("curve.png").read_bytes()


def test_every_figure_of_an_evaluation_is_drawn_from_a_plain_file(do):
    """Two scores, two metrics and a group column are enough for all of them."""
    names = abstain.plots.names("evaluation")
    pictures = " ".join(f"--plot {name}={name}.png" for name in names)
    do(f"evaluate a.npz --scores confidence,other --metrics aurc,augrc --groups half {pictures}")
    assert {f"{name}.png" for name in names} <= {path.name for path in Path().iterdir()}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("reliabilty=a.png", "did you mean 'reliability'"),
        ("forest=a.png", "plot 'forest' is not drawn from what this command finds; here are: "),
        ("reliability=a.gif", "extension '.gif' cannot be drawn; use .png, .svg, .pdf"),
    ],
)
def test_what_cannot_be_drawn_is_refused_first(do, given, message):
    """With the remedy, before the file is read, and nothing is written."""
    assert message in do(f"evaluate not-there.npz --plot {given}", 2).said
    assert [path.name for path in Path().iterdir()] == ["a.npz"]


FIGURES = "study figures study -o figures --scores confidence"


def test_a_threshold_and_a_study_are_drawn(do):
    """The trade-off with the certified point; all figures of a study; groups of thresholds are refused."""
    threshold = "threshold a.npz --risk 0.2 --delta 0.1 --plot t.png"
    do(threshold)
    assert Path("t.png").stat().st_size > 1000
    assert "--plot shows one threshold; leave --groups" in do(f"{threshold} --groups half", 2).err
    rows = abstain.datasets.synthetic("random", 300, 0)
    for model in (0, 1, 2):
        one = replace(rows, confidence=np.roll(rows.confidence, model))
        abstain.study.add_outputs("study", one, model=f"m{model}", set="test")
    do(FIGURES)
    assert {"metric_plane.png", "rank_flow.png"} <= {path.name for path in Path("figures").iterdir()}
    do(f"{FIGURES} --plots reliability", 2)


def test_figures_of_ranks_need_the_same_rows(do):
    """Of models measured on other rows the other figures are drawn, and it is said; asked for, it is an error."""
    for model in (0, 1):
        rows = abstain.datasets.synthetic("random", 300, model)
        abstain.study.add_outputs("study", rows, model=f"m{model}", set="test")
    assert "not drawn: rank_flow: test: m0 and m1 have different rows" in do(FIGURES).said
    assert [path.name for path in Path("figures").iterdir() if path.name.startswith("rank")] == []
    assert Path("figures/metric_bars.png").stat().st_size > 1000
    do(f"{FIGURES} --plots rank_flow", 2)


def test_all_figures_are_listed(do):
    """By name, with what they are drawn from; as JSON with source and needs."""
    shown, listed = do("plots").out, do("plots --json").json
    assert [each["name"] for each in listed] == abstain.plots.names()
    assert all(each["name"] in shown and each["source"] and each["needs"] for each in listed)
