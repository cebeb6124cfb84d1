"""Identities and inequalities between metrics that hold for every data set, ties and weights included."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import abstain
from abstain import metrics
from tests.metrics._problems import table
from tests.strategies import WEIGHTS, problems

RNG = np.random.default_rng(0)
BINARY = problems(losses=["binary"], weights=WEIGHTS, max_size=20)


def near(expected, size=1.0):
    """Equality to rounding."""
    return pytest.approx(expected, rel=1e-11, abs=1e-12 * size)


def values(problem, *names, **options):
    """Return several metrics of one problem."""
    blocks = table(problem)
    return [metrics.get(name, **options)(blocks) for name in names]


# ---------------------------------------------------------------------- AUGRC


@given(problem=BINARY)
def test_augrc_closed_form(problem):
    """Eq. 7 of Traub et al. holds exactly for 0/1 losses, ties and weights included."""
    augrc, auroc, accuracy = values(problem, "augrc", "auroc_f", "accuracy")
    auroc = 0.5 if math.isnan(auroc) else auroc  # its factor acc (1 - acc) is 0 then
    assert augrc == near(abstain.augrc_from_auroc(min(max(accuracy, 0.0), 1.0), auroc))


@given(accuracy=st.floats(0.01, 0.99), auroc=st.floats(0.01, 0.99))
def test_augrc_partial_derivatives_are_derivatives(accuracy, auroc):
    """Eq. 9 and 10 equal central differences of Eq. 7, and are never positive."""
    step = 1e-5
    f = abstain.augrc_from_auroc
    found = abstain.augrc_partial_derivatives(accuracy, auroc)
    by_auroc = (f(accuracy, auroc + step) - f(accuracy, auroc - step)) / (2 * step)
    by_accuracy = (f(accuracy + step, auroc) - f(accuracy - step, auroc)) / (2 * step)
    assert found == pytest.approx((by_auroc, by_accuracy), abs=1e-9)
    assert max(found) <= 0.0


# ---------------------------------------------------------------------- AURC


@pytest.mark.parametrize("name", ["naurc", "naugrc", "prediction_rejection_ratio"])
def test_normalised_areas_of_equal_losses_are_nan_however_sums_round(name):
    """Equal losses of 0.3 under real weights leave a span of pure rounding, which must not become a ratio."""
    with pytest.warns(abstain.UndefinedMetricWarning, match="all losses are equal"):
        assert math.isnan(getattr(abstain, name)([0.3] * 100, RNG.random(100), sample_weight=RNG.random(100)))


# ---------------------------------------------------------------------- toys and curiosities


@pytest.mark.parametrize(
    ("failures", "accuracy", "auroc", "trapezoid", "excess", "mean_risk", "augrc"),
    [
        ((1, 17, 18, 19, 20), 0.75, 0.8000, 225.0, 190.8, 206.3, 68.75),
        ((13, 14, 15, 16, 17), 0.75, 0.8000, 81.5, 47.3, 87.7, 68.75),
        ((12, 13, 14, 15, 16, 17), 0.70, 0.7857, 109.1, 58.8, 116.6, 90.0),
    ],
)
def test_toy_of_figure_2(failures, accuracy, auroc, trapezoid, excess, mean_risk, augrc):
    """Equal AUROC_f and AUGRC, yet AURC falls by 64 %; CSF-3 is worse in both factors at half the AURC of CSF-1."""
    loss = np.isin(np.arange(1, 21), failures).astype(float)
    score = -np.arange(20.0)
    assert abstain.accuracy(loss) == near(accuracy)
    assert abstain.auroc_f(loss, score) == pytest.approx(auroc, abs=5e-5)
    assert 1000 * abstain.aurc(loss, score, estimator="trapezoid") == pytest.approx(trapezoid, abs=0.05)
    assert 1000 * abstain.e_aurc(loss, score, estimator="trapezoid") == pytest.approx(excess, abs=0.05)
    for estimator in ("plugin", "harmonic"):
        assert 1000 * abstain.aurc(loss, score, estimator=estimator) == pytest.approx(mean_risk, abs=0.05)
    assert 1000 * abstain.augrc(loss, score) == near(augrc)


@given(right=st.integers(0, 30), wrong=st.integers(0, 30))
def test_f1_auc_of_a_perfect_ranking_is_its_optimum(right, wrong):
    """The integral is exact, so Eq. 11 is reached at any sample size, tied or not; reversed it is not exceeded."""
    n = right + wrong
    assume(n > 0)
    loss = np.repeat([0.0, 1.0], [right, wrong])
    optimum = abstain.f1_auc_optimal(right / n)
    assert abstain.f1_auc(loss, -loss) == near(optimum)
    assert abstain.f1_auc(loss, -np.arange(float(n))) == near(optimum)
    assert abstain.f1_auc(loss, loss) <= optimum + 1e-12


def test_best_f1_auc_peaks_near_056():
    """The optimum peaks near accuracy .56 at .7149, the upper end of the metric's range."""
    grid = np.linspace(0.0, 1.0, 1001)
    best = np.array([abstain.f1_auc_optimal(a) for a in grid])
    assert grid[best.argmax()] == pytest.approx(0.56, abs=0.005)
    assert best.max() <= metrics.get("f1_auc").range[1] == pytest.approx(best.max(), abs=1e-4)


def test_normalised_areas_of_sums_are_undefined_where_all_losses_are_equal():
    """From sums as from tables; losses that are all 1 up to the rounding of their weights are all equal, too."""
    blocks = abstain.TieBlocks.from_samples([0, 1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5])
    mean_rank = float((blocks.weight * (blocks.cumulative_loss - 0.5 * blocks.loss)).sum())
    selective = float((blocks.weight * blocks.selective_risk).sum())
    nothing, everything = (3.0, 0.0, 0.0, 0.0), (3.0, 3.0 * (1.0 - 1e-15), 3.0, 4.5)
    sums = abstain.metrics.Sums(*np.array([(5.0, 2.0, selective, mean_rank), nothing, everything]).T)
    for name in ("naurc", "naugrc"):
        form = abstain.metrics.get(name).from_sums
        with np.errstate(invalid="ignore", divide="ignore"):
            found = form.formula(sums)
        assert found[0] == pytest.approx(abstain.metrics.get(name)(blocks), rel=1e-12)
        assert np.isnan(found[1:]).all()
