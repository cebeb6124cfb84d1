"""What two strangers met who brought files of their own: each is read rightly, or refused with a remedy that works."""

import gzip
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain import read_outputs, study
from abstain.thresholds import apply_policy
from tests.command import csv


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tags(n=60):
    """Return three labels per row, and the probability of each."""
    rng = np.random.default_rng(0)
    p = rng.random((n, 3)).round(3)
    return (rng.random((n, 3)) < p).astype(int), p


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_several_labels_in_columns_of_a_csv(folder, order):
    """One column per label, found by a pattern or named, paired with the predictions of the same name in any order."""
    y, p = tags()
    names = ["toxic", "spam", "nsfw"]
    labels = {f"y_{name}": y[:, k] for k, name in enumerate(names)}
    csv("tags.csv", **labels, **{f"p_{names[k]}": p[:, k] for k in order})
    expected = ((p >= 0.5) != y).mean(axis=1)
    for told in ("y_*", "y_toxic,y_spam,y_nsfw", list(labels)):
        found = read_outputs("tags.csv", task="multilabel", labels=told, predictions="p_*")
        assert np.array_equal(found.loss_per_sample(), expected)
        assert np.allclose(found.confidence, np.maximum(p, 1 - p).mean(axis=1))
    exact = read_outputs("tags.csv", task="multilabel-exact", labels="y_*", probabilities="p_*")
    assert np.array_equal(exact.loss_per_sample(), expected > 0)


def test_several_labels_that_are_called_otherwise_are_paired_aloud(folder):
    """Names that do not agree pair in their order, aloud; no predictions, and words in lists, are refused."""
    y, p = tags()
    csv("tags.csv", a=y[:, 0], b=y[:, 1], x=p[:, 0], z=p[:, 1])
    found = read_outputs("tags.csv", task="multilabel", labels="a,b", predictions="x,z")
    assert "labels and predictions are paired in their order: `a` with `x`, `b` with `z`" in found.reading.notes
    with pytest.raises(ValueError, match="nothing predicts the labels; give predictions= or probabilities="):
        read_outputs("tags.csv", task="multilabel", labels="a,b")
    (folder / "words.jsonl").write_text('{"labels": [], "predictions": ["a"]}\n{"labels": ["a"], "predictions": []}\n')
    with pytest.raises(TypeError, match="lists of numbers, got words; write a column of 0 and 1 for each"):
        read_outputs("words.jsonl", task="multilabel")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("zipped", [False, True])
def test_blank_lines_of_a_csv_are_no_rows(folder, end, zipped):
    """At its end or inside, as pandas reads it; a row of empty fields is one, and so is what quotes hold."""
    rows = ["note,y_true,y_pred,confidence", "", f'"a{end}{end}b",1,1,0.9', "c,0,1,0.4", "", "d,0,0,0.7", "", ""]
    data = end.join(rows).encode()
    name = "rows.csv.gz" if zipped else "rows.csv"
    (folder / name).write_bytes(gzip.compress(data) if zipped else data)
    assert read_outputs(name).error.tolist() == [0.0, 1.0, 0.0]
    policy = abstain.choose_threshold([0, 1], [0.5, 0.1], coverage=0.5).policy(score="confidence")
    done = apply_policy(policy, name, "out.csv")
    assert (done.n, done.n_accepted, done.n_unscored) == (3, 2, 0)
    (folder / "empty.csv").write_bytes(data + f",,,{end}".encode())
    assert apply_policy(policy, "empty.csv", "out.csv").n_unscored == 1


def test_a_score_that_cannot_be_computed_names_file_column_and_row(folder):
    """Per cent in the place of probabilities: one line about the user's file, without words of the library below."""
    y = np.array([0, 1] * 20)
    found = abstain.choose_threshold(y, np.linspace(0.5, 1, 40), coverage=0.5)
    policy = found.policy(score="msp", probabilities="pd")
    (folder / "new.csv").write_text("pd\n0.4\n35.5\n")
    with pytest.raises(ValueError, match=r"^new.csv: column pd: probabilities is outside \[0, 1\]") as raised:
        apply_policy(policy, "new.csv", "out.csv")
    message = str(raised.value)
    assert "[data row 2]" in message
    assert not [word for word in ("expression", "python_udf") if word in message]
    assert not (folder / "out.csv").exists()


def test_rows_of_unknown_groups_are_counted(do):
    """A group that was not calibrated, or none, is rejected, and the line says of how many rows."""
    groups = ["a", "b"] * 10
    found = abstain.choose_threshold([0, 1] * 10, np.linspace(0, 1, 20), coverage=0.5, groups=groups)
    found.save("policy.json", score="confidence", group="site")
    Path("new.csv").write_text("site,confidence\na,0.99\nc,0.99\n,0.99\nb,\n")
    line = "4 rows: 1 accepted (0.25), 1 without a score, 2 of no group that has a threshold"
    assert line in do("apply policy.json new.csv -o out.csv").out


def test_names_of_sets_that_say_no_role(folder):
    """Taken as test sets with a warning that names them; names that say one are taken at their word."""
    for name in ("test", "shifted_noise", "march"):
        (folder / "outputs" / "net").mkdir(parents=True, exist_ok=True)
        abstain.write_outputs(abstain.datasets.synthetic("calibrated", 50, 0), f"outputs/net/{name}.npz")
    with pytest.warns(UserWarning, match="march: the name says no role, so it is a test set") as warned:
        found = study.init_study("study", "outputs")
    assert len(warned) == 1
    assert {each.name: each.role for _, each in found} == {"march": "test", "shifted_noise": "shift", "test": "test"}


def test_few_labels_refuse_tasks_by_name(do):
    """Losses are 0 or 1 there: the option is none of 'plan', and Python says what to write instead."""
    csv("reg.csv", y=[1.5, 2.5], y_hat=[1.4, 2.0], confidence=[0.5, 0.4])
    said = do("plan reg.csv --task regression --labels 1 -o p.csv", 2).err
    assert "No such option" in said  # click 8.1 writes it with a colon, later ones with quotation marks
    assert "--task" in said
    with pytest.raises(ValueError, match="task='regression' cannot be estimated from few labels"):
        abstain.evaluate("reg.csv", labels="y", task="regression", labelled="at random")


def test_graded_qualities_are_not_called_wrong():
    """An overlap of .9 is not perfect; verdicts stay correct and wrong."""
    assert "1 perfect · 2 not perfect" in str(read_outputs({"quality": [1, 0.9, 0.4], "confidence": [3, 2, 1]}).states)
    assert "1 correct · 1 wrong" in str(read_outputs({"correct": [1, 0], "confidence": [3, 2]}).states)


def test_passes_alone_name_the_score_that_works():
    """Both refusals name a score of the passes, and it works."""
    passes = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 30))
    outputs = abstain.Outputs(labels=np.arange(30) % 3, passes=passes)
    for wanted in (None, "msp"):
        with pytest.raises(ValueError, match="pass_msp"):
            abstain.evaluate(outputs, wanted)
    assert np.isfinite(abstain.evaluate(outputs, "pass_msp", "augrc").value("augrc"))


def test_a_probability_and_its_complement_tie():
    """Where p = .4141 and p = .5859 one is equally sure, though 1 - p is another float; longer ones are kept."""
    p = np.round(np.arange(1, 10_000) / 10_000, 4)
    sure = np.max(read_outputs({"label": np.arange(p.size) % 2, "prob_1": p}).probabilities, axis=1)
    assert (1 - p != p[::-1]).any()
    assert np.array_equal(sure, sure[::-1])
    policy = abstain.choose_threshold([0, 1], [0.5859, 0.1], coverage=0.5).policy(score="msp", probabilities="p")
    assert policy.accept(policy.confidence([[0.4141], [0.5859], [0.4142]])).tolist() == [True, True, False]
    p = np.random.default_rng(0).random(100)
    outputs = read_outputs({"label": np.arange(100) % 2, "prob_1": p})
    assert np.array_equal(np.asarray(outputs.probabilities)[:, 0], 1.0 - p)
