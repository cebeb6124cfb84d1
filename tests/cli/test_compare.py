"""``abstain compare``: models by file, scores of one file, matching by identifier, clear errors."""

import json
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain.cli import run


@pytest.fixture
def models(tmp_path: Path) -> tuple[Path, Path]:
    """Two models on the same 400 samples; the second file has its rows shuffled, with identifiers."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 400)
    ids = np.arange(1000, 1400)
    files = []
    for name, noise in (("sharp", 1.0), ("dull", 4.0)):
        logits = 3.0 * np.eye(3)[labels] + rng.normal(0, noise, (400, 3))
        order = np.arange(400) if name == "sharp" else rng.permutation(400)
        path = tmp_path / f"{name}.npz"
        np.savez(path, labels=labels[order], logits=logits[order], ids=ids[order])
        files.append(path)
    return files[0], files[1]


def test_models_are_matched_by_identifier(models, capsys):
    """Shuffled rows are put in order: the result is that of compare() on aligned arrays."""
    assert run(["compare", *map(str, models), "--metric", "augrc", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    first, second = map(abstain.read_outputs, models)
    place = np.argsort(np.asarray(second.ids))
    second = second.select(place)
    losses = {"sharp": first.loss_per_sample(), "dull": second.loss_per_sample()}
    scores = {"sharp": abstain.scores.compute("msp", first), "dull": abstain.scores.compute("msp", second)}
    expected = abstain.compare(losses, scores, "augrc").to_dict()
    assert found["differences"] == expected["differences"]
    assert [row["name"] for row in found["table"]] == ["sharp", "dull"]
    assert found["letters"] == {"sharp": "a", "dull": "b"}


def test_scores_of_one_file(models, capsys, tmp_path):
    """One file: its scores against each other; a picture on request."""
    picture = tmp_path / "forest.png"
    arguments = ["compare", str(models[0]), "--scores", "msp,neg_entropy", "--metric", "aurc(estimator=plugin)"]
    assert run([*arguments, "--adjust", "max-t", "--plot", str(picture)]) == 0
    shown = capsys.readouterr()
    assert "msp" in shown.out
    assert "neg_entropy" in shown.out
    assert "share a letter" in shown.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "wrote" in shown.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sharp.npz", "missing.npz"], "missing.npz"),
        (["sharp.npz", "sharp.npz"], "given twice"),
        (["sharp.npz", "--metric", "augrk"], "did you mean"),
        (["sharp.npz", "--scores", "msp"], "name two with --scores"),
        (["sharp.npz", "dull.npz", "--scores", "msp,energy"], "one score is used in each"),
        (["sharp.npz", "dull.npz", "--level", "95"], "level"),
        (["sharp.npz", "short.npz"], "is not on the samples of"),
        (["bare.npz", "shorter.npz"], "models need the same samples"),
        (["bare.npz", "other.npz"], "matched by --ids"),
        (["sharp.npz", "mixed.npz"], "mixed.npz: label "),
        (["sharp.npz", "heavy.npz"], "heavy.npz: sample_weight is not that of sharp.npz"),
        (["sharp.npz", "dull.npz", "--fit", "sharp.npz"], "--fit holds outputs of one model"),
        (["sharp.npz", "--scores", "msp,knn"], "sharp.npz: knn "),
    ],
)
def test_bad_input_is_one_line_and_status_2(models, arguments, message, capsys, monkeypatch):
    """What cannot be compared is refused in one line that names the file and the remedy."""
    folder = models[0].parent
    monkeypatch.chdir(folder)
    outputs = abstain.read_outputs(models[0])
    abstain.write_outputs(outputs.select(np.arange(300)), folder / "short.npz")
    logits, labels = np.asarray(outputs.logits), np.asarray(outputs.labels)
    ids = np.asarray(outputs.ids)
    np.savez("mixed.npz", labels=(labels + 1) % 3, logits=logits, ids=ids)
    np.savez("heavy.npz", labels=labels, logits=logits, ids=ids, sample_weight=np.arange(400.0))
    np.savez("bare.npz", labels=labels, logits=logits)
    np.savez("shorter.npz", labels=labels[:200], logits=logits[:200])
    np.savez("other.npz", labels=(labels + 1) % 3, logits=logits)
    assert run(["compare", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    told = [line for line in shown.err.splitlines() if not line.startswith("note: ")]  # labels and classes differ
    assert len(told) == 1
    assert message in shown.err


def test_no_input_is_replaced(models, capsys):
    """Neither the first nor a later file."""
    for model in models:
        before = model.read_bytes()
        assert run(["compare", *map(str, models), "--json", str(model)]) == 2
        assert "is an input and would be replaced; give --json another name" in capsys.readouterr().err
        assert model.read_bytes() == before


def test_labels_that_are_text_are_the_same_whatever_else_a_model_predicts(tmp_path, capsys, monkeypatch):
    """One model guesses a class that the other never names: the labels are still the same."""
    monkeypatch.chdir(tmp_path)
    truth = ["cat", "dog"] * 20
    for name, wrong in (("first", "cat"), ("second", "ant")):
        rows = [f"{y},{wrong if i % 7 == 0 else y},{i}" for i, y in enumerate(truth)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["y,pred,conf", *rows]))
    assert run(["compare", "first.csv", "second.csv", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 40


def test_scores_with_options_fitted_on_another_file(models, capsys, monkeypatch):
    """--fit gives what knn looks up, and commas inside parentheses belong to the score."""
    monkeypatch.chdir(models[0].parent)
    rng = np.random.default_rng(1)
    outputs = {}
    for name in ("train", "test"):
        labels = rng.integers(0, 3, 200)
        features = 2.0 * np.eye(3)[labels] + rng.normal(size=(200, 3))
        outputs[name] = abstain.Outputs(labels=labels, logits=features, features=features)
        abstain.write_outputs(outputs[name], f"{name}.npz")
    wanted = ["gen(gamma=0.5,top=2)", "knn(neighbours=5)"]
    assert run(["compare", "test.npz", "--scores", ",".join(wanted), "--fit", "train.npz", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    loss = outputs["test"].loss_per_sample()
    for name in wanted:
        value = abstain.augrc(loss, abstain.scores.compute(name, outputs["test"], outputs["train"]))
        assert next(row["estimate"] for row in found["table"] if row["name"] == name) == value
    assert run(["compare", "test.npz", "--fit", "train.npz", "--json", "train.npz"]) == 2
    assert "is an input and would be replaced" in capsys.readouterr().err


def test_identifiers_and_clusters_match_whether_text_or_numbers(models, capsys):
    """One file may hold 1000 and another "1000": the same samples."""
    assert run(["compare", *map(str, models), "--json", "-"]) == 0
    expected = json.loads(capsys.readouterr().out)
    for path, kind in zip(models, (int, str), strict=True):
        arrays = dict(np.load(path))
        np.savez(path, **arrays | {"ids": arrays["ids"].astype(kind), "clusters": arrays["ids"].astype(kind)})
    assert run(["compare", *map(str, models), "--json", "-"]) == 0
    assert (
        json.loads(capsys.readouterr().out)["differences"][0]["difference"] == expected["differences"][0]["difference"]
    )


def test_not_worse_by_a_margin(models, capsys):
    """The first is not worse than the second by the margin: 0; not shown: 1; too few errors, or half an option: 2."""
    two = ["compare", str(models[1]), "--scores", "msp,neg_entropy"]
    assert run([*two, "--margin", "0.05"]) == 0
    assert "It is shown that msp is not worse than neg_entropy by 0.05 or more (AUGRC" in capsys.readouterr().out
    assert run([*two, "--margin", "1e-7", "--equivalent", "--json", "-"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["claim"], found["shown"], found["new"]) == ("equivalent", False, "msp")
    assert run([*two, "--equivalent"]) == 2
    assert "give --margin" in capsys.readouterr().err
    assert run(["compare", str(models[0]), "--scores", "msp,neg_entropy", "--margin", "0.05"]) == 2
    assert "errors (or successes, if fewer), too few" in capsys.readouterr().err


def sites(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Write 600 answers from three sites, of which one is worse, and return losses, scores and sites."""
    rng = np.random.default_rng(4)
    site = np.repeat(["a", "b", "c"], 200)
    wrong = rng.random(600) < np.where(site == "b", 0.4, 0.1)
    score = np.round(rng.random(600) - 0.3 * wrong, 4)
    rows = [
        f"{loss:d},{sure},{sure},{where},{k % 7}"
        for k, (loss, sure, where) in enumerate(zip(wrong, score, site, strict=True))
    ]
    path.write_text("\n".join(["wrong,sure,again,site,day", *rows]) + "\n")
    return wrong, score, site


def test_groups_of_one_file(capsys, tmp_path):
    """The same as compare_groups, printed and as JSON; the worst group is named with its interval."""
    file = tmp_path / "answers.csv"
    expected = abstain.inference.compare_groups(*sites(file), metric="risk")
    arguments = ["compare", str(file), "--loss", "wrong", "--scores", "sure", "--groups", "site", "--metric", "risk"]
    assert run([*arguments, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["intervals"]["b"]["low"] == pytest.approx(expected.intervals["b"].low)
    assert (found["worst"], found["may_be_worst"]) == ("b", ["b"])
    assert run(arguments) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "b is the worst of 3 groups by " in shown
    assert f"true value in [{expected.worst_low:.4g}, {expected.worst_high:.4g}]" in shown


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--margin", "0.1"], 2, "leave --margin out"),
        (["--adjust", "none"], 2, "leave --adjust out"),
        (["--groups", "site,day"], 2, "--groups names site, day; groups are compared by one score and column"),
        (["--scores", "sure,again"], 2, "--scores names sure, again"),
        (["--groups", "sit"], 2, "did you mean 'site'"),
    ],
)
def test_what_groups_cannot_be_compared_with(more, code, message, capsys, tmp_path):
    """Options of other comparisons, several scores or columns, a column that is not there."""
    file = tmp_path / "answers.csv"
    sites(file)
    assert run(["compare", str(file), "--loss", "wrong", "--scores", "sure", "--groups", "site", *more]) == code
    assert message in " ".join(capsys.readouterr().err.split())
