"""Verdicts of people and graders, abstentions and answers without a verdict, by a decision table."""

import numpy as np
import pytest

import abstain

SURE = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
NAN = float("nan")
RIGHT = {"correct": [1, 0, 1, 1, 0, 0]}


def written(path, **columns):
    """Write columns of numbers and words as CSV."""
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def read(folder, **columns):
    """Read a file of six questions."""
    told = {name: columns.pop(name) for name in ("unscored", "abstained", "should_abstain") if name in columns}
    file = written(folder / "a.csv", confidence=SURE, **columns)
    return abstain.read_outputs(file, confidence="confidence", **told)


@pytest.mark.parametrize(
    ("words", "states", "losses"),
    [
        (["Correct", "WRONG", "partially-correct", "refused", "Yes", "no"], "cwwacw", [0, 1, 0.5, NAN, 0, 1]),
        (["c", "i", "p", "n", "c", "i"], "cwwacw", [0, 1, 0.5, NAN, 0, 1]),
        (["pass", "fail", "I don't know", "not attempted", "1", "0.0"], "cwaacw", [0, 1, NAN, NAN, 0, 1]),
        (["true", "false", "error", "true", "unparseable", "false"], "cwucuw", [0, 1, NAN, 0, NAN, 1]),
        ([1, 0, 1, 1, 0, 0], "cwccww", [0, 1, 0, 0, 1, 1]),
    ],
)
@pytest.mark.parametrize("unscored", ["wrong", "drop"])
@pytest.mark.filterwarnings("ignore")
def test_states_and_losses(tmp_path, words, states, losses, unscored):
    """Counts of all questions; rows of the answers alone, and of unscored ones where these count as wrong."""
    should = np.array([1, 1, 0, 1, 1, 0])
    outputs = read(tmp_path, correct=words, unscored=unscored, should=should, should_abstain="should")
    state, losses = np.array(list(states)), np.array(losses)
    kept = (state != "a") & ((state != "u") | (unscored == "wrong"))
    np.testing.assert_array_equal(outputs.loss_per_sample(), np.where(state == "u", 1.0, losses)[kept])
    np.testing.assert_array_equal(outputs.confidence, np.array(SURE)[kept])
    found, judged, answered = outputs.states, state != "u", np.isin(state, ["c", "w"])
    assert (found.n, found.graded) == (6, 0.5 in losses)
    named = {"correct": "c", "wrong": "w", "abstained": "a", "unscored": "u"}
    assert found.counts == {name: states.count(letter) for name, letter in named.items()}
    assert found.answered.tolist() == answered.tolist()
    by_hand = {
        "answered": state[judged] != "a",
        "accuracy of answers": 1 - losses[answered],
        "over-refusal": state[judged & (should == 0)] == "a",
        "missed abstention": state[judged & (should == 1)] != "a",
    }
    assert found.rates().keys() == by_hand.keys()
    for name, (rows, values) in found.rates().items():
        assert np.mean(values[rows]) == pytest.approx(np.mean(by_hand[name]))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"correct": ["right", "yess", "no", "no", "no", "no"]}, r"correct\[1\] = 'yess' is no verdict .* 'yes'"),
        ({"correct": ["c", "yes", "no", "no", "no", "no"]}, r"correct\[0\] = 'c' is no verdict that is known"),
        ({"loss": [0, 1, "", 1, "", 0]}, "is missing in 2 rows .first: data row 3.; give unscored='wrong'"),
        ({"loss": [0, 1, "", 1, 0, 0]}, "is missing in 1 row .first: data row 3.; give unscored='wrong'"),
        ({"quality": [0, 1, 0.5, 1.5, 0, 1]}, r"quality\[3\] = 1.5 is outside \[0, 1\]"),
        (RIGHT | {"answer": ["Rome"] * 6, "abstained": "answer"}, "abstained.*'Rome'"),
        (RIGHT | {"should": ["yes", "maybe"] * 3, "should_abstain": "should"}, "should_abstain.*'maybe'"),
        ({"correct": ["refused"] * 6}, "no row is judged: all are abstained or unscored"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_says_no_verdict(tmp_path, columns, message):
    """The row, the word, and what to give."""
    with pytest.raises(ValueError, match=message):
        read(tmp_path, **columns)
