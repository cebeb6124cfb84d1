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
    by_auroc, by_accuracy = abstain.augrc_partial_derivatives(accuracy, auroc)
    assert by_auroc == pytest.approx((f(accuracy, auroc + step) - f(accuracy, auroc - step)) / (2 * step), abs=1e-9)
    assert by_accuracy == pytest.approx((f(accuracy + step, auroc) - f(accuracy - step, auroc)) / (2 * step), abs=1e-9)
    assert by_auroc <= 0.0
    assert by_accuracy <= 0.0


@given(problem=problems(losses=["binary"], scores=["tied"], min_size=2, max_size=20), data=st.data())
def test_prevalence_weights_equal_resampling_to_the_target(problem, data):
    """A target of 3 : 1 equals writing every row so often that the classes stand 3 : 1."""
    n = len(problem.loss)
    labels = np.array([0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    weight = abstain.prevalence_weights(labels, {0: 0.75, 1: 0.25})
    counts = np.bincount(labels)
    rows = np.repeat(np.arange(n), np.where(labels == 0, 3 * counts[1], counts[0]))
    for name in ("augrc", "aurc", "auroc_f"):
        found, expected = values(problem._replace(weight=weight), name) + values(problem.rows(rows), name)
        assert found == pytest.approx(expected, rel=1e-11, nan_ok=True)


# ---------------------------------------------------------------------- AURC


@pytest.mark.parametrize("n", [1, 100, 4000])
@pytest.mark.parametrize("name", ["naurc", "naugrc", "prediction_rejection_ratio"])
def test_normalised_areas_of_equal_losses_are_nan_however_sums_round(name, n):
    """Equal losses of 0.3 under real weights leave a span of pure rounding, which must not become a ratio."""
    rng = np.random.default_rng(n)
    with pytest.warns(abstain.UndefinedMetricWarning, match="all losses are equal"):
        value = getattr(abstain, name)(np.full(n, 0.3), rng.random(n), sample_weight=rng.random(n))
    assert math.isnan(value)


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


def test_best_f1_auc_falls_with_accuracy_beyond_056():
    """The optimum peaks near accuracy .56 at .7149, the upper end of the metric's range."""
    grid = np.linspace(0.0, 1.0, 10001)
    best = np.array([abstain.f1_auc_optimal(a) for a in grid])
    assert grid[best.argmax()] == pytest.approx(0.56, abs=0.005)
    assert best.max() <= metrics.get("f1_auc").range[1] == pytest.approx(best.max(), abs=1e-4)
    assert abstain.f1_auc_optimal(1.0) == pytest.approx(2.0 * (1.0 - math.log(2.0)), rel=1e-12)


def test_augrc_unbiased_is_unbiased():
    """Over all 4^3 samples of three from a population of four, its mean is the population's pair probability."""
    loss, score = np.array([1.0, 0.0, 0.0, 0.0]), np.array([3.0, 2.0, 2.0, 0.0])
    wins = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    population = np.mean(loss[:, None] * wins)
    draws = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij")).reshape(3, -1).T
    unbiased = [abstain.augrc_unbiased(loss[rows], score[rows]) for rows in draws]
    plain = [abstain.augrc(loss[rows], score[rows]) for rows in draws]
    assert np.mean(unbiased) == near(population)
    assert abs(np.mean(plain) - population) > 1e-3


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
