"""Parity with fd-shifts (Traub et al. 2024) on values of its own code, and with numbers that real outputs came with."""

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain import RiskCoverageCurve, TieBlocks, metrics

#: Some of its confidences are 0 and 1 only.
pytestmark = pytest.mark.filterwarnings("ignore:confidence holds only 0 and 1")

CASES = json.loads((Path(__file__).parents[1] / "data/fd_shifts_vectors.json").read_text(encoding="utf-8"))["cases"]
FINITE = [case for case in CASES if not case["expected"]["contains_nan"]]
BINARY = [case for case in FINITE if case["expected"]["is_binary"]]


def columns(case):
    """Return losses and scores of a case; null is NaN."""
    return tuple(np.array([np.nan if x is None else float(x) for x in case[key]]) for key in ("residuals", "confids"))


def blocks_of(case):
    """Return the table of a case."""
    return TieBlocks.from_samples(*columns(case), oracle=True)


def near(expected):
    """Equality to 1e-12."""
    return pytest.approx(expected, rel=1e-12, abs=1e-12)


def all_cases(cases):
    """Run a test on each of the cases."""
    return pytest.mark.parametrize("case", cases, ids=lambda case: case["id"])


# ---------------------------------------------------------------------- agreement


@all_cases(FINITE)
def test_areas_agree_through_their_named_conventions(case):
    """Aurc = trapezoid, aurc_nonlinear = interpolated, optima and excesses of the mixed convention, AUGRC family."""
    blocks, expected = blocks_of(case), case["expected"]
    found = {
        "aurc": metrics.get("aurc", estimator="trapezoid")(blocks),
        "aurc_nonlinear": metrics.get("aurc", estimator="interpolated")(blocks),
        "eaurc": metrics.get("e_aurc", estimator="trapezoid")(blocks),
        "aurc_optimal": abstain.aurc_optimal(columns(case)[0], estimator="trapezoid"),
        "augrc": metrics.get("augrc")(blocks),
        "augrc_optimal": abstain.augrc_optimal(columns(case)[0]),
        "eaugrc": metrics.get("e_augrc")(blocks),
    }
    for name, value in found.items():
        assert value == near(expected[name]), name


@all_cases([case for case in BINARY if np.isfinite(columns(case)[1]).all()])
def test_failure_detection_agrees(case):
    """AUROC_f, both average precisions (zero_division=0) and FPR (at .9495 TPR, as upstream rounds) agree."""
    blocks, expected = blocks_of(case), case["expected"]
    if "failauc" not in expected:
        pytest.fail("binary case without failure detection values")
    for name, theirs in (("auroc_f", "failauc"), ("fpr95_success", "fpr@95tpr")):
        options = {"recall": 0.9495} if name == "fpr95_success" else {}
        value = metrics.get(name, **options)(blocks)
        assert np.isnan(value) if expected[theirs] is None else value == near(expected[theirs])
    for name, theirs in (("average_precision_success", "failap_suc"), ("average_precision_error", "failap_err")):
        assert metrics.get(name, zero_division=0.0)(blocks) == near(expected[theirs])


@all_cases([case for case in BINARY if np.mean(columns(case)[0]) > 0.0
            and np.all((columns(case)[1] >= 0.0) & (columns(case)[1] <= 1.0))])  # fmt: skip
def test_calibration_agrees_with_twenty_bins(case):
    """ECE and MCE agree where upstream did not invert the target (it does if every prediction is right)."""
    blocks, expected = blocks_of(case), case["expected"]
    assert metrics.get("ece", bins=20)(blocks) == near(expected["ece"])
    assert metrics.get("mce", bins=20)(blocks) == near(expected["mce"])


@all_cases(BINARY)
def test_achievable_area_agrees_for_01_losses(case):
    """The lower hull of G is upstream's ROC hull for 0/1 losses."""
    expected = case["expected"]["aurc_achievable"]
    value = metrics.get("aurc_achievable")(blocks_of(case))
    if isinstance(expected, str):
        assert case["id"] == "deg_inf_conf"  # scipy's ConvexHull refuses infinities; ranks do not care
        assert value == near(metrics.get("aurc_achievable")(TieBlocks.from_samples(columns(case)[0], [0, 1, 2, 3, 3])))
    else:
        assert value == near(expected)


@all_cases(FINITE)
def test_working_points_agree(case):
    """Smallest risk at coverage >= c, and largest coverage at selective risk <= r; an unreachable risk is no crash."""
    curve = RiskCoverageCurve(blocks_of(case))
    compared = 0
    for key, expected in case["expected"]["working_points"].items():
        kind, target = key.split("|")
        name, number = target.split("=")
        risks = curve.selective_risk if kind == "selective-risk" else curve.generalized_risk
        if isinstance(expected, str):
            assert (kind, name) == ("selective-risk", "target_risk")
            point = curve.at(risk=float(number))
            assert np.isnan(point.coverage)
            assert "no threshold attains" in str(point.reason)
        elif name == "target_cov":
            allowed = np.flatnonzero(curve.coverage >= float(number) - 1e-12)
            best = allowed[risks[allowed] <= risks[allowed].min() + 1e-15].max()
            assert [curve.coverage[best], risks[best]] == near(expected)
        elif kind == "selective-risk":
            point = curve.at(risk=float(number))
            assert [point.coverage, point.selective_risk] == near(expected)
        elif expected[0] > 0.0:
            best = np.flatnonzero(risks <= float(number) + 1e-15).max()
            assert [curve.coverage[best], risks[best]] == near(expected)
        compared += 1
    assert compared == 14


# ---------------------------------------------------------------------- deliberate disagreements


def test_disagreement_calibration_of_all_correct():
    """Upstream inverts the target if every prediction is right: ECE 1 for sure and right."""
    case = next(case for case in CASES if case["id"] == "fdtest_metrics__all_correct__all_confid")
    assert case["expected"]["ece"] == 1.0
    assert abstain.ece(*columns(case), bins=20) == 0.0
    single = next(case for case in CASES if case["id"] == "deg_single_correct")
    assert single["expected"]["ece"] == near(0.7)
    assert abstain.ece(*columns(single), bins=20) == near(0.3)


# ---------------------------------------------------------------------- real outputs

FOLDER = Path(os.environ.get("ABSTAIN_DATA", "nowhere")) / "outputs"


def losses(name):
    """Return 0/1 loss and confidence of each model of a file, by the names of the reference."""
    with np.load(FOLDER / name, allow_pickle=False) as file:
        data = {key: file[key] for key in file.files}
    labels = data["labels"]
    found = {key: ((p.argmax(axis=1) != labels) * 1.0, p.max(axis=1)) for key, p in data.items() if key[:5] == "probs"}
    hard = [key.removeprefix("conf_") for key in data if key.startswith("conf_")]
    return found | {key: ((data[f"pred_{key}"] != labels) * 1.0, data[f"conf_{key}"]) for key in hard}


def test_reference_numbers_of_real_models():
    """To the ten digits that are printed; AURC there is the expectation over the order of ties, times 1,000."""
    if not (FOLDER / "reference_metrics.csv").is_file():
        pytest.skip("reference_metrics.csv is not here (ABSTAIN_DATA)")
    with (FOLDER / "reference_metrics.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["file"].startswith(("cifar", "mnist", "20news"))]
    assert len(rows) >= 10
    for row in rows:
        loss, confidence = losses(row["file"])[row["item"]]
        found = {
            "n": len(loss),
            "accuracy": abstain.accuracy(loss),
            "auroc": abstain.auroc_f(loss, confidence),
            "aurc_x1000": 1e3 * abstain.aurc(loss, confidence, estimator="harmonic"),
            "eaurc_x1000": 1e3 * abstain.e_aurc(loss, confidence, estimator="harmonic"),
            "distinct_conf": len(abstain.TieBlocks.from_samples(loss, confidence)),
        }
        assert found == pytest.approx({key: float(row[key]) for key in found}, rel=1.01e-9), row["item"]
