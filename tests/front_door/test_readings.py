"""Files that could be read too little or in another way: each is read rightly, or said, or refused with what to do."""

import json

import numpy as np
import pytest

import abstain
from abstain import read_outputs
from tests.command import csv

pytest.importorskip("polars")

N, NAMES = 120, ["anger", "fear", "joy"]


def emotions():
    """Return labels, and probabilities of three classes."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=N)
    return np.array(NAMES)[[rng.choice(3, p=row) for row in p]], p


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("wrapped", [False, True])
def test_pipelines_of_hugging_face(tmp_path, most, wrapped):
    """All classes or the best ones, in a list of their own or not: the same predictions and confidences."""
    labels, p = emotions()
    with (tmp_path / "hf.jsonl").open("w") as lines:
        for label, row in zip(labels, p, strict=True):
            best = [{"label": NAMES[k], "score": float(row[k])} for k in np.argsort(-row)[:most]]
            lines.write(json.dumps({"label": str(label), "output": [best] if wrapped else best}) + "\n")
    outputs = read_outputs(tmp_path / "hf.jsonl")
    assert outputs.error.tolist() == (labels != np.array(NAMES)[p.argmax(axis=1)]).tolist()
    sure = outputs.confidence if most < 3 else np.max(outputs.probabilities, axis=1)
    assert np.array_equal(sure, p.max(axis=1))


def test_decided_lines_keep_their_objects(tmp_path):
    """Lists and objects of JSON lines are written as they were, with the decision beside them."""
    labels, p = emotions()
    lists = [[{"label": NAMES[k], "score": float(row[k])} for k in range(3)] for row in p]
    rows = [{"label": str(label), "output": each} for label, each in zip(labels, lists, strict=True)]
    (tmp_path / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = abstain.choose_threshold(labels != np.array(NAMES)[p.argmax(axis=1)], p.max(axis=1), coverage=0.5)
    policy = found.policy(score="msp", probabilities=[f"prob_{name}" for name in NAMES])
    abstain.apply_policy(policy, tmp_path / "new.jsonl", tmp_path / "out.jsonl")
    written = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row.pop("accepted") for row in written] == (p.max(axis=1) >= found.threshold).tolist()
    assert written == rows


def test_predictions_that_are_not_the_likeliest_class():
    """A cut of its own is said, since scores of the largest probability speak of another class; a few rows are not."""
    rng = np.random.default_rng(1)
    p = rng.random(N)
    columns = {"label": rng.random(N) < p, "p_0": 1 - p, "p_1": p}
    n = int(((p > 0.3) & (p < 0.5)).sum())
    with pytest.warns(UserWarning, match=f"{n} of {N} predictions are not the class with the largest of probabilities"):
        read_outputs(columns | {"prediction": p > 0.3})
    read_outputs(columns | {"prediction": (p > 0.5) ^ (np.arange(N) == 0)})


def test_answers_that_say_they_are_none(tmp_path):
    """Answers in words next to verdicts: those that are none are counted, and may be named as abstentions."""
    rng = np.random.default_rng(2)
    none = rng.random(N) < 0.2
    answers = ["I don't know." if each else f"answer {k}" for k, each in enumerate(none)]
    columns = {"is_correct": ~none, "p": rng.random(N), "answer": answers}
    said = f"{none.sum()} of `answer` say that the model did not answer; give abstained='answer' if so"
    assert said in read_outputs(columns, confidence="p").reading.notes
    assert read_outputs(columns, confidence="p", abstained="answer").states.counts["abstained"] == none.sum()
    found = abstain.choose_threshold([0, 1], [0.9, 0.0], risk=0.6).about_answered()
    policy = found.policy(score="p", reading={"abstained": "answer"})
    for rows, n in ((slice(None), int(none.sum())), (~none, 0)):  # a file, or a part of one, without any
        new = csv(tmp_path / "new.csv", **{name: np.asarray(column)[rows] for name, column in columns.items()})
        assert abstain.apply_policy(policy, new, tmp_path / "out.csv").n_declined == n


def test_columns_called_as_the_labels_are():
    """Logits with the names of the classes are suggested, in words that then work."""
    labels, p = emotions()
    wrong = labels != np.array(NAMES)[p.argmax(axis=1)]
    columns = {"true_class": labels, **dict(zip(NAMES, np.log(p).T * 3, strict=True))}
    with pytest.raises(ValueError, match="called as the labels are; give logits='anger,fear,joy' or probabilities="):
        read_outputs(columns, labels="true_class")
    assert read_outputs(columns, labels="true_class", logits="anger,fear,joy").error.tolist() == wrong.tolist()
    pd = pytest.importorskip("pandas")
    for given in (labels, pd.Series(labels)):
        found = abstain.evaluate(labels=given, logits=pd.DataFrame(np.log(p), columns=NAMES), level=None)
        assert found.value("accuracy") == 1 - wrong.mean()


@pytest.mark.parametrize("name", ["loan_id", "LoanID", "case", "Case No", "uuid", "row", "customer-id"])
def test_columns_that_name_rows_are_identifiers(name):
    """Where no two rows share a value: it is said; two rows of one value, or a missing one, are no identifiers."""
    rows = {"y": [0, 1, 1, 0], "yhat": [0, 1, 0, 0], "conf": [4, 3, 1, 2], name: ["a", "b", "c", "d"]}
    outputs = read_outputs(rows)
    assert outputs.understood()["id"] == f"`{name}`"
    assert list(outputs.ids) == ["a", "b", "c", "d"]
    for values in (["a", "b", "c", "a"], ["a", "b", "c", None], [1.0, 2.0, 3.0, float("nan")]):
        assert read_outputs(rows | {name: values}).ids is None
    assert list(read_outputs(rows | {"id": [7, 8, 9, 10]}).ids) == [7, 8, 9, 10]
    assert read_outputs(rows, groups=name).ids is None
