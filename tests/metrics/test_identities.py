"""Identities and inequalities between metrics that hold for every data set, ties and weights included."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import abstain
from abstain import metrics
from abstain.metrics._gradient import Derived, Gradient, clipped, kept, moved
from tests.metrics._problems import table
from tests.refusal import refused
from tests.strategies import WEIGHTS, problems

RNG = np.random.default_rng(0)
BINARY = problems(losses=["binary"], weights=WEIGHTS, max_size=20)


def near(expected, size=1.0, **options):
    """Equality to rounding."""
    return pytest.approx(expected, rel=1e-11, abs=1e-12 * size, **options)


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


FORMS = [metric for name in metrics.names("blocks") if (metric := metrics.get(name)).from_sums is not None]


@given(problem=BINARY)
def test_forms_of_sums_are_the_metrics(problem):
    """Of each table the sums alone give the values; losses that are all 1 up to rounding are all equal, too."""
    blocks = table(problem)
    mass, loss = blocks.weight, blocks.loss
    above, lost = np.cumsum(mass), np.cumsum(loss)
    columns = mass.sum(), loss.sum(), (mass * lost / above).sum(), (mass * (lost - loss / 2)).sum()
    sums = metrics.Sums(*(np.array([each]) for each in columns))
    for metric in FORMS:
        if not metric.from_sums.counts or blocks.frequencies:
            with np.errstate(invalid="ignore", divide="ignore"):
                found = metric.from_sums.formula(sums)
            assert found == near([metric(blocks)], nan_ok=True), metric.name
    wrong = metrics.Sums(*np.array([[3.0], [3.0 * (1.0 - 1e-15)], [3.0], [4.5]]))
    with np.errstate(invalid="ignore", divide="ignore"):
        assert np.isnan([metrics.get(name).from_sums.formula(wrong) for name in ("naurc", "naugrc")]).all()


@pytest.mark.parametrize("weight", [None, RNG.integers(1, 4, 9), RNG.random(9)])
def test_tables_of_many_blocks_are_summed_in_parts(weight, monkeypatch):
    """Where the memory counts, areas and their gradients are those of small tables."""

    def found():
        blocks = abstain.TieBlocks.from_samples([0, 1, 0, 0, 1, 0, 1, 1, 0], np.arange(9.0), weight)
        each = [metrics.get(name) for name in ("aurc", "augrc", "e_aurc", "naugrc")]
        slopes = [column for metric in each for column in metric.gradient_of(blocks).part(slice(None))]
        return [*(metric(blocks) for metric in each), *np.concatenate(slopes)]

    usual = found()
    for name in ("_area.ROOM", "_area.KEPT", "_augrc.KEPT"):
        monkeypatch.setattr(f"abstain.metrics.{name}", 3)
    assert found() == near(usual)


@pytest.mark.parametrize("factor", [3.0, -3.0])
def test_an_image_goes_both_ways(factor):
    """Values, ends in their order, what is not attained, and back; a metric whose image would be nothing is refused."""
    image = metrics.image_of(abstain.coverage_at_risk, 2.0, factor)
    assert image.ends(0.25, 0.5) == (2.0 + min(0.25 * factor, 0.5 * factor), 2.0 + max(0.25 * factor, 0.5 * factor))
    assert (image.back(image(0.25)), image.facts()["unattained"]) == (0.25, 2.0)
    for bad in ((np.nan, 1.0), (0.0, np.inf), (0.0, 0.0)):
        refused(ValueError, "finite|factor is 0", metrics.image_of, abstain.risk, *bad)


def test_gradients_are_derived_scaled_and_moved_as_columns():
    """What a derived gradient reads from another one, and sums with a one-block gradient, whoever keeps the columns."""
    weight, loss = RNG.random((2, 5))
    own, one = Gradient(weight, loss), Gradient(np.array([0.3]), np.array([-2.0]))
    derived = Derived(own, (2.0, 3.0, 5.0), (7.0, 11.0))
    wanted = 2.0 * weight + 3.0 * loss + 5.0, 7.0 * loss + 11.0
    for each in (derived, moved(derived, one, 4.0)):
        np.testing.assert_allclose([each.weight, each.loss], wanted, rtol=1e-12)
        np.testing.assert_allclose(each.part(slice(1, 3)), [column[1:3] for column in wanted], rtol=1e-12)
        wanted = 4.0 * (wanted[0] + 0.3), 4.0 * (wanted[1] - 2.0)
    for factor, oracle in product((1.0, 4.0), (None, Gradient(weight, weight))):
        for keep in (False, True):
            mine = Gradient(weight.copy(), loss.copy(), oracle)
            mine = kept(mine) if keep else mine
            found = moved(mine, one, factor)
            np.testing.assert_allclose([found.weight, found.loss], [factor * (weight + 0.3), factor * (loss - 2.0)])
            assert (found is mine) == (oracle is None and not keep)
            assert oracle is None or np.array_equal(found.oracle.loss, factor * weight)
            assert not keep or np.array_equal(mine.loss, loss)


@pytest.mark.parametrize("ends", [(0.0, 1.0), (0.0, 1.0000001), (-1e-9, 1.0)])
def test_a_table_of_probabilities_is_not_made_again(ends):
    """Only where a score leaves [0, 1] by rounding there is another one."""
    blocks = abstain.TieBlocks.from_samples([0, 1, 0], [ends[0], 0.5, ends[1]])
    found, block = clipped(blocks)
    assert (found is blocks) == (ends == (0.0, 1.0))
    assert (found.score.tolist(), found.n) == ([1.0, 0.5, 0.0], 3)
    assert np.arange(3)[block].tolist() == [0, 1, 2]
