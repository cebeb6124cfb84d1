"""``recuse compare``: models by file, scores of one file, matching by identifier, clear errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import recuse
from recuse.cli._run import run


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
    first, second = map(recuse.read_outputs, models)
    place = np.argsort(np.asarray(second.ids))
    second = second.select(place)
    losses = {"sharp": first.loss_per_sample(), "dull": second.loss_per_sample()}
    scores = {"sharp": recuse.scores.compute("msp", first), "dull": recuse.scores.compute("msp", second)}
    expected = recuse.compare(losses, scores, "augrc").to_dict()
    assert found["differences"] == expected["differences"]
    assert [row["name"] for row in found["table"]] == ["sharp", "dull"]
    assert found["groups"] == {"sharp": "a", "dull": "b"}


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
        (["bare.npz", "other.npz"], "matched by --id"),
    ],
)
def test_bad_input_is_one_line_and_status_2(models, arguments, message, capsys, monkeypatch):
    """What cannot be compared is refused in one line that names the file and the remedy."""
    folder = models[0].parent
    monkeypatch.chdir(folder)
    outputs = recuse.read_outputs(models[0])
    recuse.write_outputs(outputs.select(np.arange(300)), folder / "short.npz")
    logits, labels = np.asarray(outputs.logits), np.asarray(outputs.labels)
    np.savez("bare.npz", labels=labels, logits=logits)
    np.savez("shorter.npz", labels=labels[:200], logits=logits[:200])
    np.savez("other.npz", labels=(labels + 1) % 3, logits=logits)
    assert run(["compare", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert message in shown.err


def test_no_input_is_replaced(models, capsys):
    """Neither the first nor a later file."""
    for model in models:
        before = model.read_bytes()
        assert run(["compare", *map(str, models), "--json", str(model)]) == 2
        assert "is an input and would be replaced; give --json another name" in capsys.readouterr().err
        assert model.read_bytes() == before
