"""Figures from the command line: by name, several at once, refused before the work begins."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import abstain

pytest.importorskip("matplotlib")
ROWS = abstain.datasets.synthetic("calibrated", 400, 1)
FEW = ROWS.select(slice(0, 100))


@pytest.fixture(autouse=True)
def _file(do):
    """A file of outputs with two scores and a group column."""
    loss, score, half = (ROWS.labels != ROWS.predictions).astype(float), ROWS.confidence, np.arange(ROWS.n) % 2
    outputs = abstain.Outputs(loss=loss, confidence=score, scores={"other": score**2 / 2 + 0.1}, groups={"half": half})
    abstain.write_outputs(outputs, "a.npz")


def test_evaluate_draws_what_it_is_asked_for(do):
    """A file alone is the risk-coverage curve; NAME=FILE is any figure of an evaluation; two scores are enough."""
    names = abstain.plots.names("evaluation")
    written = {name: f"{name}.svg" for name in names[::4]}
    pictures = " ".join(f"--plot {name}={file}" for name, file in written.items())
    asked = f"--scores confidence,other --metrics aurc,augrc --groups half --plot curve.png {pictures}"
    said = do(f"evaluate a.npz {asked}").err
    for file in ("curve.png", *written.values()):
        assert Path(file).stat().st_size > 1000
        assert f"wrote {file}" in said
    evaluation = abstain.evaluate(
        abstain.read_outputs("a.npz"), ["confidence", "other"], ["aurc", "augrc"], groups="half"
    )
    evaluation.plot().save("library.png")
    assert Path("library.png").read_bytes() == Path("curve.png").read_bytes()
    for name in set(names) - set(written):
        abstain.plots.get(name).draw("evaluation", evaluation)


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


def test_a_threshold_and_a_study_are_drawn(do):
    """The trade-off with the certified point; all figures of a study; groups of thresholds are refused."""
    threshold, figures = "threshold a.npz --risk 0.2 --delta 0.1 --plot t.png", "study figures study -o figures"
    do(threshold)
    assert Path("t.png").stat().st_size > 1000
    assert "--plot shows one threshold; leave --groups" in do(f"{threshold} --groups half", 2).err
    for model in range(3):
        one = replace(FEW, confidence=np.roll(FEW.confidence, model))
        abstain.study.add_outputs("study", one, model=f"m{model}", set="test")
    do(figures)
    assert {"metric_plane.png", "rank_flow.png"} <= {path.name for path in Path("figures").iterdir()}
    do(f"{figures} --plots reliability", 2)
    # Ranks need the same rows: of models measured on others the other figures are drawn, and it is said.
    other = abstain.datasets.synthetic("random", 100, 0)
    abstain.study.add_outputs("study", other, model="another", set="test")
    shutil.rmtree("figures")
    assert re.search("not drawn: rank_flow: test: .* have different rows", do(figures).said)
    drawn = {path.name for path in Path("figures").iterdir()}
    assert ("metric_bars.png" in drawn, "rank_flow.png" in drawn) == (True, False)
    do(f"{figures} --plots rank_flow", 2)


def test_all_figures_are_listed(do):
    """By name, with what they are drawn from; as JSON with source and needs."""
    shown, listed = do("plots").out, do("plots --json").json
    assert [each["name"] for each in listed] == abstain.plots.names()
    assert all(each["name"] in shown and each["source"] and each["needs"] for each in listed)
