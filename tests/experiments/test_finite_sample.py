"""The finite-sample study: batched estimates equal the core's, theory equals simulation, the command runs."""

import csv
import json
from itertools import combinations, product

import numpy as np
import pytest

import abstain
from experiments.finite_sample import _estimates as estimates
from experiments.finite_sample import _sources as sources
from experiments.finite_sample import _theory as theory
from experiments.finite_sample.__main__ import main
from tests.refusal import refused

SMALL = sources.synthetic(n=400)


@pytest.mark.parametrize("ties", [False, True])
def test_batched_estimates_are_those_of_the_core(ties):
    """Every batch of every round, recomputed one by one; ties are averaged over their ranks."""
    score = np.round(SMALL.scores["MSP"], 1) if ties else SMALL.scores["MSP"]
    found = estimates.estimate(SMALL.losses, score, 32, 3, np.random.default_rng(5))
    rows = np.concatenate(list(estimates.batches(400, 32, 3, np.random.default_rng(5))))
    assert len(rows) == 36
    for name, loss in SMALL.losses.items():
        for estimator in ("harmonic", "log"):
            expected = [abstain.aurc(loss[row], score[row], estimator=estimator) for row in rows]
            np.testing.assert_allclose(found[name, estimator], expected, rtol=1e-12)
        expected = [abstain.augrc(loss[row], score[row]) + loss[row].mean() / 64 for row in rows]
        np.testing.assert_allclose(found[name, "SELE"], expected, rtol=1e-12)
        np.testing.assert_allclose(found[name, "2 x SELE"], 2 * np.array(expected), rtol=1e-12)


def test_a_round_uses_no_sample_twice():
    """A round divides the set; what does not fill a batch is left out."""
    for rows in estimates.batches(100, 32, 2, np.random.default_rng(0)):
        assert rows.shape == (3, 32)
        assert len(np.unique(rows)) == 96


@pytest.mark.parametrize("estimator", ["harmonic", "log", "sele"])
@pytest.mark.parametrize("n", [2, 5])
def test_expected_weights_by_enumeration(n, estimator):
    """All batches of n out of 9, listed: the mean weight of each member is the formula."""
    batches = np.array(list(combinations(range(9), n))).ravel()
    total = np.bincount(batches, np.resize(abstain.rank_weights(n, estimator), batches.size))
    np.testing.assert_allclose(theory.expected_weight(n, 9, estimator), total / np.bincount(batches), rtol=1e-9)


def test_scores_of_table_s2():
    """The six scores on one row, worked by hand; logits stand for themselves up to a constant."""
    found = {name: values[0] for name, values in sources.scores_of(np.array([[0.5, 0.25, 0.25]])).items()}
    z = np.log([0.5, 0.25, 0.25]) - np.log([0.5, 0.25, 0.25]).mean()
    norm = np.linalg.norm(z)
    wanted = {"Margin": 0.25, "NegEntropy": -1.5 * np.log(2), "NegGini": 0.375 - 1}
    wanted |= {"l2 norm (literal)": norm, "MaxLogit / l2 norm": z[0] / norm}
    assert {name: found[name] for name in wanted} == pytest.approx(wanted)


def test_files_are_read(tmp_path):
    """Probabilities, and predictions with a confidence; a folder without any file is an error that names them."""
    labels = np.array([0, 1, 1, 0], dtype=np.uint8)
    probabilities = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.8, 0.2]], dtype=np.float32)
    columns = {"probs_a": probabilities, "pred_b": labels, "conf_b": probabilities.max(1)}
    np.savez(tmp_path / "cifar10_test_models.npz", labels=labels, **columns)
    several = {"models": np.array(["x", "y"]), "pred": np.zeros((2, 4), int), "conf": np.ones((2, 4))}
    np.savez(tmp_path / "imagenet_val_msp.npz", labels=labels, **several)
    found = sources.load(tmp_path)
    names = [" ".join((each.family, each.model, *each.losses)) for each in found]
    assert names == ["CIFAR-10 a 0/1 CE", "CIFAR-10 b 0/1", "ImageNet x 0/1", "ImageNet y 0/1"]
    assert found[0].losses["0/1"].tolist() == [0, 0, 1, 0]
    refused(FileNotFoundError, "cifar10_test_models", sources.load, tmp_path / "empty")


@pytest.mark.parametrize("figures", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_command(figures, tmp_path, capsys, monkeypatch):
    """Made-up data: records, tables, statements and all figures are written."""
    monkeypatch.setattr("experiments.finite_sample.__main__.synthetic", lambda: sources.synthetic(n=700))
    assert main(["--output", str(tmp_path), "--rounds", "2", *(["--no-figures"] if not figures else [])]) == 0
    with open(tmp_path / "records.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["size"] for row in rows} == {"8", "16", "32", "64", "128"}
    assert {row["estimator"] for row in rows} == set(estimates.ESTIMATORS)
    assert json.loads((tmp_path / "tables.json").read_text(encoding="utf-8")).keys() == {"equality", "rates"}
    said = capsys.readouterr().out
    assert "Counter-example" in said
    assert "Caution: of 2 rounds a standard error is itself a guess" in said
    names = product(("bias", "estimates", "mae", "mse", "scores"), ("0-1", "ce"))
    drawn = {f"synthetic_{name}_{loss}" for name, loss in names} | {"equal", "rate", "weights"}
    assert {path.stem for path in tmp_path.glob("*.png")} == (drawn if figures else set())
