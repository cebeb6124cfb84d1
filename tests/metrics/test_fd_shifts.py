"""Parity with fd-shifts (Traub et al. 2024) on values of its own code, and with numbers that real outputs came with."""

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain import RiskCoverageCurve

#: Some of its confidences are 0 and 1 only.
pytestmark = pytest.mark.filterwarnings("ignore:confidence holds only 0 and 1")

CASES = json.loads((Path(__file__).parents[1] / "data/fd_shifts_vectors.json").read_text(encoding="utf-8"))["cases"]
FINITE = [case for case in CASES if not case["expected"]["contains_nan"]]


def columns(case):
    """Return losses and scores of a case; null is NaN."""
    return tuple(np.array([np.nan if x is None else float(x) for x in case[key]]) for key in ("residuals", "confids"))


def near(expected):
    """Equality to 1e-12."""
    return pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


MIXED, NONLINEAR = {"estimator": "trapezoid"}, {"estimator": "interpolated"}
#: What each of its numbers is here: areas by named conventions, detection at .9495 TPR, as upstream rounds, 20 bins.
AREAS = {
    "aurc": ("aurc", MIXED), "aurc_nonlinear": ("aurc", NONLINEAR), "eaurc": ("e_aurc", MIXED),
    "aurc_optimal": ("aurc_optimal", MIXED), "augrc": ("augrc", {}), "augrc_optimal": ("augrc_optimal", {}),
    "eaugrc": ("e_augrc", {}),
}  # fmt: skip
DETECTION = {
    "failauc": ("auroc_f", {}), "fpr@95tpr": ("fpr95_success", {"recall": 0.9495}),
    "failap_suc": ("average_precision_success", {"zero_division": 0.0}),
    "failap_err": ("average_precision_error", {"zero_division": 0.0}),
}  # fmt: skip
CALIBRATION = {"ece": ("ece", {"bins": 20}), "mce": ("mce", {"bins": 20})}


@pytest.mark.parametrize("case", FINITE, ids=lambda case: case["id"])
@pytest.mark.filterwarnings("ignore::abstain.UndefinedMetricWarning")
def test_numbers_agree_through_their_named_conventions(case):
    """Areas; of 0/1 losses detection, the hull, and calibration, where upstream did not invert the target."""
    expected, (loss, score) = case["expected"], columns(case)
    asked, binary = dict(AREAS), expected["is_binary"]
    if binary and np.isfinite(score).all():
        asked |= DETECTION
    if binary and loss.mean() > 0.0 and np.all((score >= 0.0) & (score <= 1.0)):
        asked |= CALIBRATION
    for theirs, (name, options) in asked.items():
        arguments = (loss,) if "optimal" in name else (loss, score)
        wanted = np.nan if expected[theirs] is None else expected[theirs]
        assert getattr(abstain, name)(*arguments, **options) == near(wanted), name
    if binary:
        wanted = expected["aurc_achievable"]
        if isinstance(wanted, str):
            assert case["id"] == "deg_inf_conf"  # scipy's ConvexHull refuses infinities; ranks do not care
            wanted = abstain.aurc_achievable(loss, [0, 1, 2, 3, 3])
        assert abstain.aurc_achievable(loss, score) == near(wanted)


@pytest.mark.parametrize("case", FINITE, ids=lambda case: case["id"])
def test_working_points_agree(case):
    """Smallest risk at coverage >= c, and largest coverage at selective risk <= r; an unreachable risk is no crash."""
    curve = RiskCoverageCurve(abstain.TieBlocks.from_samples(*columns(case)))
    assert len(case["expected"]["working_points"]) == 14
    for key, expected in case["expected"]["working_points"].items():
        kind, target = key.split("|")
        name, number = target.split("=")
        risks = curve.selective_risk if kind == "selective-risk" else curve.generalized_risk
        if isinstance(expected, str) or (kind == "selective-risk" and name == "target_risk"):
            point = curve.at(risk=float(number))
            wanted = [np.nan] * 2 if isinstance(expected, str) else expected
            assert [point.coverage, point.selective_risk] == near(wanted)
        elif name == "target_cov" or expected[0] > 0.0:
            allowed = (
                curve.coverage >= float(number) - 1e-12 if name == "target_cov" else risks <= float(number) + 1e-15
            )
            lowest = risks[allowed].min() if name == "target_cov" else float(number)
            best = np.flatnonzero(allowed & (risks <= lowest + 1e-15)).max()
            assert [curve.coverage[best], risks[best]] == near(expected)


@pytest.mark.parametrize(
    ("name", "theirs", "ours"),
    [("fdtest_metrics__all_correct__all_confid", 1.0, 0.0), ("deg_single_correct", 0.7, 0.3)],
)
def test_disagreement_calibration_of_all_correct(name, theirs, ours):
    """Upstream inverts the target if every prediction is right: ECE 1 for sure and right."""
    case = next(case for case in CASES if case["id"] == name)
    assert case["expected"]["ece"] == near(theirs)
    assert abstain.ece(*columns(case), bins=20) == near(ours)


# ---------------------------------------------------------------------- real outputs

FOLDER = Path(os.environ.get("ABSTAIN_DATA", "nowhere")) / "outputs"


def losses(name, item):
    """Return 0/1 loss and confidence of a model of a file."""
    with np.load(FOLDER / name, allow_pickle=False) as data:
        if item in data.files:
            return (data[item].argmax(axis=1) != data["labels"]) * 1.0, data[item].max(axis=1)
        return (data[f"pred_{item}"] != data["labels"]) * 1.0, data[f"conf_{item}"]


@pytest.mark.skipif(not (FOLDER / "reference_metrics.csv").is_file(), reason="no reference_metrics.csv (ABSTAIN_DATA)")
def test_reference_numbers_of_real_models():
    """To the ten digits that are printed; AURC there is the expectation over the order of ties, times 1,000."""
    with (FOLDER / "reference_metrics.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["file"].startswith(("cifar", "mnist", "20news"))]
    assert len(rows) >= 10
    for row in rows:
        loss, confidence = losses(row["file"], row["item"])
        found = {
            "n": len(loss),
            "accuracy": abstain.accuracy(loss),
            "auroc": abstain.auroc_f(loss, confidence),
            "aurc_x1000": 1e3 * abstain.aurc(loss, confidence, estimator="harmonic"),
            "eaurc_x1000": 1e3 * abstain.e_aurc(loss, confidence, estimator="harmonic"),
            "distinct_conf": len(abstain.TieBlocks.from_samples(loss, confidence)),
        }
        assert found == pytest.approx({key: float(row[key]) for key in found}, rel=1.01e-9), row["item"]
