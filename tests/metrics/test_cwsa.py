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


# ---------------------------------------------------------------------- the published table


def rows_of(name):
    """Return the columns of a file of the authors as numbers."""
    with (SHARED / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {column: np.array([float(row[column]) for row in rows]) for column in rows[0]}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the authors' predictions are not here (set ABSTAIN_SHARED)")
def test_published_table():
    """All 20 thresholds: CWSA divided by all, CWSA+ by the accepted, to 1e-9; ECE and AURC by their conventions.

    ECE: every bin is over-confident, so 5 to 26 bins give the same number and 27 do not. AURC: trapezoids over the
    order of the file, without ties; with ties accepted together it is 9.2e-8 larger.
    """
    rows, table = rows_of("cifar10_predictions.csv"), rows_of("cifar10_published_metrics.csv")
    loss, confidence = (rows["y_true"] != rows["y_pred"]) * 1.0, rows["confidence"]
    sweep = abstain.cwsa_sweep(loss, confidence, table["Threshold"], denominator="all")
    names = {"coverage": "Coverage", "cwsa": "CWSA", "cwsa_plus": "CWSA+", "selective_accuracy": "SelectiveAccuracy"}
    for name, printed in names.items():
        assert sweep[name] == pytest.approx(table[printed], abs=1e-9)
        for tau, wanted in zip(table["Threshold"], table[printed], strict=True) if name != "coverage" else ():
            options = {"denominator": "all"} if name == "cwsa" else {}
            value = getattr(abstain, name)(loss, confidence, threshold=tau, **options)
            assert value == pytest.approx(wanted, abs=1e-9)
    assert abs(abstain.cwsa(loss, confidence, threshold=0.5) - table["CWSA"][0]) > 0.05  # the formula of the paper
    ece = [abstain.ece(loss, confidence, bins=bins) for bins in (5, 10, 15, 20, 26, 27)]
    assert ece[:5] == pytest.approx([table["ECE"][0]] * 5, abs=1e-9)
    assert abs(ece[5] - table["ECE"][0]) > 5e-5
    in_file_order = np.argsort(np.argsort(-confidence, kind="stable"))
    area = [abstain.aurc(loss, score, estimator="trapezoid") for score in (-in_file_order, confidence)]
    assert area - table["AURC"][0] == pytest.approx([0.0, 9.18e-8], abs=1e-9)


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
    "grid", [np.arange(50, 100) / 100, [0.0], [0.3, 0.3 + 2.0**-20, 0.9], [0.0, 0.25, 0.5, 0.75, 1.0 - 2.0**-53]]
)
def test_bins_of_many_samples_equal_the_binary_search(grid):
    """From 4096 samples on the bins come from a table of cells: equal at, just below and just above every edge."""
    grid = np.array(grid)
    edges = np.append(grid, np.arange(4097) / 4096)
    score = np.concatenate([edges, np.nextafter(edges, -1.0), np.nextafter(edges, 2.0), [-0.0]]).clip(0.0, 1.0)
    assert score.size >= 4096
    sweep = abstain.cwsa_sweep(np.zeros(score.size), score, thresholds=grid)
    np.testing.assert_array_equal(np.rint(sweep["coverage"] * score.size), [np.sum(score >= edge) for edge in grid])


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


# ---------------------------------------------------------------------- the axioms (A.2)


@pytest.mark.parametrize("function", [abstain.cwsa, abstain.cwsa_plus])
def test_calibration_responsiveness_fails_when_a_prediction_enters(function):
    """Counter-example to the axiom: a right prediction moved from .49 to .51 enters with weight .02 and lowers both."""
    low, high = ([0.9, each] for each in (0.49, 0.51))
    assert function([0, 0], high) < function([0, 0], low)
    assert function([0, 0], high, denominator="all") > function([0, 0], low, denominator="all")  # as in the tables
