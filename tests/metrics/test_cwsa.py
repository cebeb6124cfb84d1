"""The CWSA family: the published table, the sweep, the axioms of the paper and where they fail."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain
from tests.metrics._problems import unit_problems
from tests.metrics.references import Data, accepted
from tests.metrics.references_values import algorithm_1

SHARED = Path(os.environ.get("ABSTAIN_SHARED", Path(__file__).parents[3] / "shared")) / "vectors/cwsa"
PROBLEMS = unit_problems(("binary", "graded"), ("none", "positive", "with_zeros"), 1, 20)
RIGHT, WRONG = 0.0, 1.0

#: The thresholds of a sweep unless told otherwise: those of the paper.
PAPER_GRID = abstain.cwsa_sweep([0], [1.0])["threshold"]


# ---------------------------------------------------------------------- the published table


@pytest.fixture
def published():
    """Return losses, confidences and the published rows of the authors' CIFAR-10 model."""
    if not SHARED.is_dir():
        pytest.skip(f"the authors' predictions are not at {SHARED} (set ABSTAIN_SHARED)")
    with (SHARED / "cifar10_predictions.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (SHARED / "cifar10_published_metrics.csv").open(encoding="utf-8") as file:
        table = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    loss = np.array([float(row["y_true"] != row["y_pred"]) for row in rows])
    return loss, np.array([float(row["confidence"]) for row in rows]), table


def test_published_table(published):
    """All 20 thresholds: CWSA divided by all, CWSA+ by the accepted, to 1e-9; ECE and AURC by their conventions.

    ECE: every bin is over-confident, so 5 to 26 bins give the same number and 27 do not. AURC: trapezoids over the
    order of the file, without ties; with ties accepted together it is 9.2e-8 larger.
    """
    loss, confidence, table = published
    sweep = abstain.cwsa_sweep(loss, confidence, [row["Threshold"] for row in table], denominator="all")
    for row, swept in zip(table, (dict(zip(sweep, x, strict=True)) for x in zip(*sweep.values(), strict=True)),
                          strict=True):  # fmt: skip
        tau = row["Threshold"]
        near = pytest.approx
        assert abstain.cwsa(loss, confidence, threshold=tau, denominator="all") == near(row["CWSA"], abs=1e-9)
        assert abstain.cwsa_plus(loss, confidence, threshold=tau) == near(row["CWSA+"], abs=1e-9)
        assert abstain.selective_accuracy(loss, confidence, threshold=tau) == near(row["SelectiveAccuracy"], abs=1e-9)
        assert swept["coverage"] == near(row["Coverage"], abs=1e-9)
        assert swept["cwsa"] == near(row["CWSA"], abs=1e-9)
        assert swept["cwsa_plus"] == near(row["CWSA+"], abs=1e-9)
        assert swept["selective_accuracy"] == near(row["SelectiveAccuracy"], abs=1e-9)
    assert abs(abstain.cwsa(loss, confidence, threshold=0.5) - table[0]["CWSA"]) > 0.05  # the formula of the paper
    for bins in (5, 10, 15, 20, 26):
        assert abstain.ece(loss, confidence, bins=bins) == pytest.approx(table[0]["ECE"], abs=1e-9)
    assert abs(abstain.ece(loss, confidence, bins=27) - table[0]["ECE"]) > 5e-5
    order = np.argsort(-confidence, kind="stable")
    in_file_order = abstain.aurc(loss[order], -np.arange(loss.size), estimator="trapezoid")
    assert in_file_order == pytest.approx(table[0]["AURC"], abs=1e-9)
    tied = abstain.aurc(loss, confidence, estimator="trapezoid")
    assert tied - table[0]["AURC"] == pytest.approx(9.18e-8, abs=1e-9)


# ---------------------------------------------------------------------- the sweep


@given(problem=PROBLEMS, thresholds=st.lists(st.floats(0.0, 1.0, exclude_max=True), min_size=1, max_size=6))
def test_sweep_equals_the_algorithm_at_each_threshold(problem, thresholds):
    """One pass over all thresholds, in any order and repeated, equals Algorithm 1 at each of them."""
    thresholds = [*thresholds, 0.5, 0.5, float(problem.confidence[0]) if problem.confidence[0] < 1.0 else 0.0]
    data = Data.of(*problem)
    for denominator in ("accepted", "all"):
        sweep = abstain.cwsa_sweep(*problem[:2], thresholds, denominator=denominator, sample_weight=problem.weight)
        for k, tau in enumerate(thresholds):
            size = 1.0 / (1.0 - tau)  # a threshold within an ulp of 1 magnifies the rounding of 1 - c
            signed, reward, signed_all, _ = algorithm_1(data, tau)
            mass, loss = accepted(data, tau)
            expected = signed if denominator == "accepted" else signed_all
            assert sweep["cwsa"][k] == pytest.approx(expected, abs=1e-13 * size)
            assert sweep["cwsa_plus"][k] == pytest.approx(reward, abs=1e-13 * size)
            assert sweep["coverage"][k] == pytest.approx(mass / data.total(), abs=1e-13)
            assert np.isnan(sweep["selective_accuracy"][k]) == (mass == 0.0)
            if mass:
                assert sweep["selective_accuracy"][k] == pytest.approx(1.0 - loss / mass, abs=1e-12)
    assert list(sweep["threshold"]) == thresholds


@pytest.mark.parametrize(
    "grid", [PAPER_GRID, [0.0], [0.3, 0.3 + 2.0**-20, 0.9], [0.0, 0.25, 0.5, 0.75, 1.0 - 2.0**-53]]
)
def test_bins_of_many_samples_equal_the_binary_search(grid):
    """From 4096 samples on the bins come from a table of cells: equal at, just below and just above every edge."""
    grid = np.array(grid)
    edges = np.append(grid, np.arange(4097) / 4096)
    score = np.concatenate([edges, np.nextafter(edges, -1.0), np.nextafter(edges, 2.0), [-0.0]]).clip(0.0, 1.0)
    assert score.size >= 4096
    sweep = abstain.cwsa_sweep(np.zeros(score.size), score, thresholds=grid)
    np.testing.assert_array_equal(np.rint(sweep["coverage"] * score.size), [np.sum(score >= edge) for edge in grid])


@pytest.mark.parametrize("losses", ["binary", "graded"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sweep_of_many_samples_equals_the_metric(losses, weighted):
    """The fast paths for many samples and for 0/1 losses equal CWSA at each threshold, edges included."""
    rng = np.random.default_rng(0)
    confidence = np.round(rng.random(6000), 2)
    loss = rng.integers(0, 2 if losses == "binary" else 9, 6000) / (1.0 if losses == "binary" else 8.0)
    options = {"sample_weight": rng.random(6000) if weighted else None}
    sweep = abstain.cwsa_sweep(loss, confidence, **options)
    for k, tau in enumerate(PAPER_GRID):
        for name in ("cwsa", "cwsa_plus", "selective_accuracy"):
            expected = getattr(abstain, name)(loss, confidence, threshold=tau, **options)
            assert sweep[name][k] == pytest.approx(expected, abs=1e-11)


def test_another_trust_function():
    """Any weight in [0, 1] of confidence and threshold can replace the linear one."""
    loss, confidence = [0, 1, 0, 0], [0.9, 0.8, 0.7, 0.2]
    flat = abstain.cwsa(loss, confidence, trust=lambda c, tau: np.ones_like(c))
    assert flat == pytest.approx(2 * abstain.selective_accuracy(loss, confidence, threshold=0.5) - 1)
    squared = abstain.cwsa_plus(loss, confidence, trust=lambda c, tau: abstain.linear_trust(c, tau) ** 2)
    assert squared == pytest.approx((0.8**2 + 0.4**2) / 3)
    blocks = abstain.TieBlocks.from_samples(loss, confidence)
    gradient = abstain.metrics.get("cwsa", trust=lambda c, tau: c**2).gradient_of(blocks)
    assert blocks.weight @ gradient.weight + blocks.loss @ gradient.loss == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("metric", ["cwsa", "cwsa_plus", "selective_accuracy"])
def test_a_perfect_model_has_area_one(metric):
    """Right and fully sure of every sample: 1 by default, where the grid of the paper sees nothing."""
    assert abstain.aumcc([0, 0, 0], [1.0, 1.0, 1.0], metric=metric) == 1.0
    assert abstain.aumcc([0, 0, 0], [1.0, 1.0, 1.0], metric=metric, method="grid") == 0.0


# ---------------------------------------------------------------------- the axioms (A.2)


@pytest.mark.parametrize("function", [abstain.cwsa, abstain.cwsa_plus])
def test_calibration_responsiveness_fails_when_a_prediction_enters(function):
    """Counter-example to the axiom: a right prediction moved from .49 to .51 enters with weight .02 and lowers both."""
    loss = [RIGHT, RIGHT]
    assert function(loss, [0.9, 0.51]) < function(loss, [0.9, 0.49])
    # ... and by the denominator of the published tables it does rise
    assert function(loss, [0.9, 0.51], denominator="all") > function(loss, [0.9, 0.49], denominator="all")
