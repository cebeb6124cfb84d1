"""The finite-sample study: batched estimates equal the core's, theory equals simulation, the command runs."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import abstain
from experiments.finite_sample import _estimates as estimates
from experiments.finite_sample import _figures as figures
from experiments.finite_sample import _sources as sources
from experiments.finite_sample import _study as study
from experiments.finite_sample import _theory as theory
from experiments.finite_sample.__main__ import main
from experiments.finite_sample._statements import counter_example
from experiments.finite_sample._study import weight_errors
from tests.imports import ROOT

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
    from itertools import combinations

    weight = abstain.rank_weights(n, estimator)
    total, count = np.zeros(9), np.zeros(9)
    for batch in combinations(range(9), n):
        total[list(batch)] += weight
        count[list(batch)] += 1
    np.testing.assert_allclose(theory.expected_weight(n, 9, estimator), total / count, rtol=1e-9)


@pytest.mark.parametrize("estimator", estimates.ESTIMATORS)
def test_the_predicted_bias_is_the_measured_one(estimator):
    """Mean over many batches within four standard errors of the expectation from the weights."""
    loss, score = SMALL.losses["CE"], SMALL.scores["MSP"]
    values = estimates.estimate({"CE": loss}, score, 16, 400, np.random.default_rng(1))["CE", estimator]
    population = estimates.population_value(loss, score)
    summary = estimates.summarise(values, population, 400)
    predicted = theory.expected_estimate(loss, score, 16, estimator) - population
    assert abs(summary.bias - predicted) < 4 * summary.bias_se
    assert summary.mse == pytest.approx(summary.bias**2 + summary.sd**2)


def test_weight_error_given_the_percentile():
    """Simulated: rank of a sample with a known percentile among n - 1 others, squared error of its weight."""
    rng = np.random.default_rng(0)
    for beta in (0.1, 0.5, 0.9):
        rank = 1 + rng.binomial(15, beta, 200_000)
        for estimator in ("harmonic", "log"):
            simulated = np.mean((abstain.rank_weights(16, estimator)[rank - 1] + np.log1p(-beta)) ** 2)
            exact = theory.weight_mse_given_percentile(16, np.array([beta]), estimator)[0]
            assert exact == pytest.approx(simulated, rel=0.02)


@pytest.mark.parametrize("n", [1, 2, 17, 300])
def test_mean_error_of_the_weights_is_a_harmonic_number(n):
    """Mean over ranks of Proposition 3.5 is H_n / n, not only of the order ln(n) / n."""
    assert abstain.rank_weight_mse(n, range(1, n + 1)).mean() == pytest.approx(
        sum(1 / k for k in range(1, n + 1)) / n, rel=1e-12
    )


def test_measured_weight_errors_follow_theory():
    """Bias and squared error in cells of percentiles, also at the steep end, and by rank, against the propositions."""
    found = weight_errors(np.random.default_rng(0).normal(size=20_000), 16, rounds=10)
    for name in ("harmonic", "log", "sele"):
        np.testing.assert_allclose(found[f"{name} bias"], found[f"{name} bias theory"], atol=0.03)
    for name in ("harmonic", "log"):
        np.testing.assert_allclose(found[f"{name} mse"], found[f"{name} mse theory"], rtol=0.15)
    middle = np.argmin(abs(found["beta"] - 0.5))
    expected = abstain.rank_weight_bias(16, [found["beta"][middle]])[0]
    assert found["harmonic bias theory"][middle] == pytest.approx(expected, abs=1e-3)
    np.testing.assert_allclose(found["mse_by_rank"], abstain.rank_weight_mse(16, range(1, 17)), rtol=0.15)


def test_rates_are_recovered():
    """Exact power laws: the exponent, and which of the two laws fits."""
    n = np.array([32.0, 64, 128, 256, 512])
    root, root_log = theory.fit_rate(n, 3 / np.sqrt(n)), theory.fit_rate(n, np.sqrt(np.log(n) / n))
    assert root.exponent == pytest.approx(-0.5)
    assert root.misfit_root < root.misfit_root_log
    assert root_log.misfit_root_log < root_log.misfit_root


def test_counter_example():
    """H_5 / 5 is above 2 / 5."""
    found = counter_example()
    assert found["aurc_times_5"] == pytest.approx(2.283333333)
    assert found["aurc"] > found["twice_sele"] == pytest.approx(0.4)


def test_both_forms_of_aurc_agree():
    """AURC_a with the percentile in the middle of a step approaches AURC_p; at the top of a step it is infinite."""
    loss, score = SMALL.losses["CE"], SMALL.scores["MSP"]
    a, p = estimates.reweighted_value(loss, score), estimates.population_value(loss, score)
    assert a == pytest.approx(p, rel=0.02)
    assert a != p


def test_scores_of_table_s2():
    """The six scores on one row, worked by hand; logits stand for themselves up to a constant."""
    p = np.array([[0.5, 0.25, 0.25]])
    found = sources.scores_of(p)
    z = np.log(p[0]) - np.log(p[0]).mean()
    assert found["Margin"][0] == pytest.approx(0.25)
    assert found["NegEntropy"][0] == pytest.approx(-1.5 * np.log(2))
    assert found["NegGini"][0] == pytest.approx(0.375 - 1)
    assert found["l2 norm (literal)"][0] == pytest.approx(np.linalg.norm(z))
    assert found["MaxLogit / l2 norm"][0] == pytest.approx(z[0] / np.linalg.norm(z))


def test_files_are_read(tmp_path):
    """Probabilities, and predictions with a confidence; a folder without any file is an error that names them."""
    labels = np.array([0, 1, 1, 0], dtype=np.uint8)
    probabilities = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.8, 0.2]], dtype=np.float32)
    columns = {"pred_b": labels, "conf_b": probabilities.max(1)}
    np.savez(tmp_path / "cifar10_test_models.npz", labels=labels, probs_a=probabilities, **columns)
    several = {"models": np.array(["x", "y"]), "pred": np.zeros((2, 4), int), "conf": np.ones((2, 4))}
    np.savez(tmp_path / "imagenet_val_msp.npz", labels=labels, **several)
    found = sources.load(tmp_path)
    assert [(each.family, each.model, *each.losses) for each in found] == [
        ("CIFAR-10", "a", "0/1", "CE"),
        ("CIFAR-10", "b", "0/1"),
        ("ImageNet", "x", "0/1"),
        ("ImageNet", "y", "0/1"),
    ]
    assert found[0].losses["0/1"].tolist() == [0, 0, 1, 0]
    with pytest.raises(FileNotFoundError, match="cifar10_test_models"):
        sources.load(tmp_path / "empty")


def test_the_command(tmp_path, capsys, monkeypatch):
    """Made-up data: records, tables, statements and all figures are written."""
    monkeypatch.setattr("experiments.finite_sample.__main__.synthetic", lambda: sources.synthetic(n=700))
    assert main(["--output", str(tmp_path), "--rounds", "2"]) == 0
    with open(tmp_path / "records.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["size"] for row in rows} == {"8", "16", "32", "64", "128"}
    assert {row["estimator"] for row in rows} == set(estimates.ESTIMATORS)
    tables = json.loads((tmp_path / "tables.json").read_text(encoding="utf-8"))
    assert tables.keys() == {"equality", "rates"}
    said = capsys.readouterr().out
    assert "Counter-example" in said
    assert "Caution: of 2 rounds a standard error is itself a guess" in said
    names = {"bias", "estimates", "mae", "mse", "scores"}
    written = {path.stem for path in tmp_path.glob("*.png")}
    per_loss = {f"synthetic_{name}_{loss}" for name in names for loss in ("0-1", "ce")}
    assert written == per_loss | {"equal", "rate", "weights"}


def test_it_needs_no_pytorch(tmp_path):
    """With PyTorch out of reach the study runs to its end."""
    code = """
import sys
class Blocked:
    def find_spec(self, name, *rest):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Blocked())
from experiments.finite_sample import __main__ as command, _sources as sources
command.synthetic = lambda: sources.synthetic(n=300)
raise SystemExit(command.main(sys.argv[1:]))
"""
    command = [sys.executable, "-c", code, "--output", str(tmp_path), "--rounds", "1", "--no-figures"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert "1 models" in done.stdout
    assert (tmp_path / "statements.md").exists()


def test_figures_leave_no_model_out(tmp_path):
    """Every model has a panel, also those of which only predictions and a confidence are known."""
    known = [replace(sources.synthetic(n=600), model=f"known {number}") for number in range(6)]
    top = [
        sources.Source("Synthetic", f"top {number}", {"0/1": known[0].losses["0/1"]}, {"MSP": known[0].scores["MSP"]})
        for number in range(3)
    ]
    records = study.run([*known, *top], sizes=(8, 128), rounds=1)
    drawn = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "_save", lambda figure, folder, name, *rest: drawn.append((name, figure)))
        figures.by_size(records, tmp_path)
        figures.by_score(records, tmp_path)
    titles = {name: [axis.get_title() for axis in figure.axes if axis.get_title()] for name, figure in drawn}
    models = [source.model for source in [*known, *top]]
    assert titles["synthetic_mae_0-1"] == models
    assert titles["synthetic_mae_ce"] == models[:6]
    assert titles["synthetic_scores_0-1"] == [*models[:6], "MSP of other models"]
