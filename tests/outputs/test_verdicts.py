"""Verdicts of people and graders, abstentions and answers without a verdict, by a decision table."""

import numpy as np
import pytest

import abstain

SURE = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
NAN = float("nan")


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
    outputs = read(tmp_path, correct=words, unscored=unscored)
    state = np.array(list(states))
    kept = (state != "a") & ((state != "u") | (unscored == "wrong"))
    assert outputs.n == kept.sum()
    expected = np.where(state == "u", 1.0, np.array(losses, dtype=float))[kept]
    np.testing.assert_array_equal(outputs.loss_per_sample(), expected)
    np.testing.assert_array_equal(outputs.confidence, np.array(SURE)[kept])
    found = outputs.states
    if set(states) == {"c", "w"}:
        return
    assert (found.n, found.graded) == (6, 0.5 in losses)
    named = {"correct": "c", "wrong": "w", "abstained": "a", "unscored": "u"}
    assert found.counts == {name: states.count(letter) for name, letter in named.items()}
    assert found.answered.tolist() == [letter in "cw" for letter in states]
    rates = {name: float(np.mean(values[rows])) for name, (rows, values) in found.rates().items()}
    judged = [letter for letter in states if letter != "u"]
    assert rates["answered"] == pytest.approx(1 - judged.count("a") / len(judged))
    answered = [1 - loss for loss in losses if not np.isnan(loss)]
    assert rates["accuracy of answers"] == pytest.approx(np.mean(answered))


@pytest.mark.filterwarnings("ignore")
def test_what_should_have_been_refused(tmp_path):
    """Refusals of what had an answer, and answers of what had none, among questions that were judged."""
    words = ["correct", "refused", "refused", "wrong", "error", "correct"]
    should = [1, 1, 0, 1, 1, 0]
    outputs = read(tmp_path, correct=words, should=should, should_abstain="should", unscored="drop")
    rates = {name: float(np.mean(values[rows])) for name, (rows, values) in outputs.states.rates().items()}
    assert rates["over-refusal"] == 1 / 2  # rows 3 and 6
    assert rates["missed abstention"] == pytest.approx(2 / 3)  # of rows 1, 2 and 4
    assert rates["answered"] == 3 / 5


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"correct": ["right", "yess", "no", "no", "no", "no"]}, r"correct\[1\] = 'yess' is no verdict .* 'yes'"),
        ({"correct": ["c", "yes", "no", "no", "no", "no"]}, r"correct\[0\] = 'c' is no verdict that is known"),
        ({"loss": [0, 1, "", 1, "", 0]}, "is missing in 2 rows .first: data row 3.; give unscored='wrong'"),
        ({"loss": [0, 1, "", 1, 0, 0]}, "is missing in 1 row .first: data row 3.; give unscored='wrong'"),
        ({"quality": [0, 1, 0.5, 1.5, 0, 1]}, r"quality\[3\] = 1.5 is outside \[0, 1\]"),
        ({"correct": ["refused"] * 6}, "no row is judged: all are abstained or unscored"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_says_no_verdict(tmp_path, columns, message):
    """The row, the word, and what to give."""
    with pytest.raises(ValueError, match=message):
        read(tmp_path, **columns)


@pytest.mark.filterwarnings("ignore")
def test_losses_and_qualities(tmp_path):
    """A quality is one minus a loss; missing losses are left out, or wrong and last."""
    given = read(tmp_path, quality=[1, 0.25, 0, 0.5, 1, 1])
    assert given.loss_per_sample().tolist() == [0, 0.75, 1, 0.5, 0, 0]
    columns = {"loss": [0, 1, "", 1, 0, 0]}
    assert read(tmp_path, **columns, unscored="drop").loss_per_sample().tolist() == [0, 1, 1, 0, 0]
    wrong = read(tmp_path, **columns, unscored="wrong")
    assert (wrong.loss_per_sample().tolist(), wrong.states.counts["unscored"]) == ([0, 1, 1, 1, 0, 0], 1)


@pytest.mark.filterwarnings("ignore")
def test_labels_decide_where_an_answer_was_given(tmp_path):
    """By a column of abstentions, or by words of abstention in the place of an answer; the rest is right or wrong."""
    labels = ["cat", "dog", "cat", "dog", "cat", "dog"]
    said = ["cat", "cat", "I don't know.", "dog", "refused", "dog"]
    by_words = read(tmp_path, y_true=labels, y_pred=said)
    plain = ["cat", "cat", "cat", "dog", "cat", "dog"]
    declined = ["no", "no", "yes", "no", "yes", "no"]
    by_column = read(tmp_path, y_true=labels, y_pred=plain, gave_up=declined, abstained="gave_up",
                     should=["yes", "no"] * 3, should_abstain="should")  # fmt: skip
    for outputs in (by_words, by_column):
        assert outputs.states.state.tolist() == [0, 1, 2, 0, 2, 0]
        assert outputs.loss_per_sample().tolist() == [0, 1, 0, 0]
        np.testing.assert_array_equal(outputs.confidence, [0.9, 0.8, 0.6, 0.4])
    assert by_column.states.should_abstain.tolist() == [True, False] * 3
    known = read(tmp_path, y_true=["refused", *labels[1:]], y_pred=["refused", *labels[1:]])  # a class of its own
    assert (known.states, known.n) == (None, 6)
    with pytest.raises(ValueError, match="should_abstain"):
        read(tmp_path, y_true=labels, y_pred=plain, should=["yes", "maybe"] * 3, should_abstain="should",
             gave_up=declined, abstained="gave_up")  # fmt: skip
