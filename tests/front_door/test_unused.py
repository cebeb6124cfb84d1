"""What is left unused, left out or missing is said, and why: columns of scores, rows, intervals, no confidence."""

from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain._checks import UnmetNeed
from tests.command import csv
from tests.front_door.files import FIXTURES
from tests.refusal import refused

N = 90


def saved():
    """Write outputs of three classes beside a finished score, in and out of distribution."""
    rng = np.random.default_rng(3)
    for name in ("test", "far"):
        logits = rng.normal(size=(N, 3)) * 2.0
        labels = {"labels": np.where(rng.random(N) < 0.2, 0, logits.argmax(axis=1))} if name == "test" else {}
        np.savez(f"{name}.npz", logits=logits, energy=np.log(np.exp(logits).sum(axis=1)), **labels)


@pytest.mark.parametrize(
    "command",
    [
        "evaluate test.npz",
        "joint test.npz far.npz --scores msp --permutations 0",
        "threshold test.npz --coverage 0.5",
        "compare test.npz --scores msp,max_logit",
    ],
)
def test_a_score_that_is_not_used_is_named(do, command):
    """By every command, with the option that takes it; not once it is taken."""
    saved()
    assert "not used: `energy`; --confidence 'energy' takes that one as the confidence" in do(command).all
    if command.startswith(("evaluate", "threshold")):
        assert "not used" not in do(f"{command} --confidence energy").all


def test_a_row_that_lacks_a_probability_is_dropped_where_asked_for(do):
    """``--nan-policy drop`` leaves it out and says so; the numbers are those of the other rows; else it is refused."""
    rng = np.random.default_rng(1)
    p, y = rng.dirichlet(np.ones(3), size=N), rng.integers(3, size=N)
    csv("a.csv", y=y, p_0=p[:, 0], p_1=[None if i in (7, 30) else p[i, 1] for i in range(N)], p_2=p[:, 2])
    do("evaluate a.csv", 2)
    done = do("evaluate a.csv --nan-policy drop --metrics augrc --json -")
    assert "2 rows lack numbers in `p_0`, `p_1`, `p_2` (first: data row 8) and are left out" in done.said
    kept = np.delete(np.arange(N), [7, 30])
    assert done.value("augrc") == abstain.augrc(p[kept].argmax(axis=1) != y[kept], p[kept].max(axis=1))


TEXT = next(FIXTURES.glob("samples_sums_text_*.jsonl"))


def test_answers_without_a_confidence_are_counted(do):
    """The four states need none: the table stands, a note says what is missing, and no flag is offered in its place."""
    evaluate = f"evaluate {TEXT} --where filter=strict"
    said = do(f"{evaluate} --abstained invalid").all
    assert "abstained 18 45.0%" in said
    assert "24 of 80 answers (of all filters) were not parsed" in said
    assert "Undecided: these outputs have no confidence; add a column of it" in said
    do(f"{evaluate} --report page.html")
    assert "<td" in Path("page.html").read_text()
    for asked in ("--plot a.png", "--metrics augrc", "--gate augrc<=1"):
        said = do(f"{evaluate} {asked}", 2).err
        assert "these outputs have no confidence; add a column of it" in said
        assert "invalid" not in said
    assert not Path("a.png").exists()
    with pytest.raises(KeyError, match="no score here: these outputs have no confidence"):
        abstain.evaluate(TEXT, where={"filter": "strict"}).value("augrc")


def test_lists_and_levels_as_on_the_command_line():
    """Scores in one text, and a level of 0 for none, mean in Python what they mean there; no score is an error."""
    outputs = abstain.Outputs(labels=[0, 1, 1], logits=[[2.0, 0.5], [0.0, 1.0], [3.0, 0.0]])
    found = abstain.evaluate(outputs, "msp, gen(gamma=0.5, top=2)", "augrc", level=0)
    assert found.scores == ["msp", "gen(gamma=0.5, top=2)"]
    assert np.isnan(found.measurements[0].low)
    with pytest.raises(UnmetNeed, match="have no confidence"):
        abstain.evaluate({"label": [0, 1, 1], "prediction": [0, 1, 0]})


def test_a_series_as_groups():
    """A column of the frame, or one beside arrays, is taken as what it is; another one of the same name is refused."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"loss": rng.integers(2, size=60), "confidence": rng.random(60), "site": ["a", "b"] * 30})
    named = abstain.evaluate(frame, groups="site").groups
    assert abstain.evaluate(frame, groups=frame["site"]).groups == named
    arrays = {"loss": frame["loss"], "confidence": frame["confidence"]}
    assert abstain.evaluate(**arrays, groups=frame["site"]).groups == named
    with pytest.raises(TypeError, match="names of its columns, got a column called 'site'"):
        abstain.evaluate(frame, groups=frame["site"].str.upper())


def test_a_missing_interval_has_a_reason_with_its_remedy(do):
    """In clusters coverage at a risk takes a bootstrap: the note says so, and the option it names brings it."""
    rng = np.random.default_rng(0)
    scores = rng.random(300).round(4)
    csv("a.csv", loss=(rng.random(300) > scores) * 1, confidence=scores, patient=np.arange(300) // 3)
    asked = "evaluate a.csv --clusters patient --metrics 'coverage_at_risk(risk=0.3)'"
    said = do(asked).all
    assert "no interval of Coverage at risk 30 % of confidence: it takes a bootstrap; give --resamples (500" in said
    assert "no interval" not in do(f"{asked} --resamples 50").all


def test_decide_names_a_column_that_could_be_meant():
    """A missing class column is no other class column of the policy; text among numbers is named by its column."""
    frame = pytest.importorskip("pandas").DataFrame
    found = abstain.choose_threshold([0.0, 0.0], [0.5, 0.6], coverage=0.5)
    policy = found.policy(score="msp", probabilities=["p_normal", "p_malignant"])
    missing = "column 'p_normal' of the policy is missing; "
    for columns, message in (
        ({"p_norml": [0.5]}, f"{missing}did you mean 'p_norml'"),
        ({}, f"{missing}add it"),
        ({"p_normal": ["Basel"]}, "column 'p_normal' of the policy holds 'Basel', which is no number"),
    ):
        refused(ValueError, message, policy.decide, frame({"p_malignant": [0.5], **columns}))
