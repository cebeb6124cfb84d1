"""Identities and inequalities between metrics that hold for every data set, ties and weights included."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import abstain
from abstain import TieBlocks, metrics
from tests.metrics._problems import TAME, problems_for, scale, table
from tests.strategies import LOSSES, WEIGHTS, Problem, problems

ANY = problems(losses=LOSSES, weights=WEIGHTS, max_size=20)
TAME_ANY = problems(losses=TAME, weights=WEIGHTS, max_size=20)
BINARY = problems(losses=["binary"], weights=WEIGHTS, max_size=20)
UNWEIGHTED = problems(losses=TAME, max_size=20)
ESTIMATORS = ("plugin", "interpolated", "trapezoid", "harmonic", "log")


def near(expected: float, size: float = 1.0) -> Any:
    """Equality to rounding."""
    return pytest.approx(expected, rel=1e-11, abs=1e-12 * size)


def values(problem: Problem, *names: str, **options: Any) -> list[float]:
    """Return several metrics of one problem."""
    blocks = table(problem)
    return [metrics.get(name, **options)(blocks) for name in names]


# ---------------------------------------------------------------------- AUGRC


@given(problem=UNWEIGHTED)
def test_augrc_is_the_midrank_form(problem: Problem) -> None:
    """AUGRC = (1/N^2) sum l_i (midrank_i - 1/2) with ascending mid-ranks, as SciPy ranks."""
    from scipy.stats import rankdata

    n = len(problem.loss)
    expected = math.fsum(problem.loss * (rankdata(problem.confidence) - 0.5)) / n**2
    assert values(problem, "augrc")[0] == near(expected)


@given(problem=BINARY)
def test_augrc_closed_form(problem: Problem) -> None:
    """Eq. 7 of Traub et al. holds exactly for 0/1 losses, ties and weights included."""
    augrc, auroc, accuracy = values(problem, "augrc", "auroc_f", "accuracy")
    auroc = 0.5 if math.isnan(auroc) else auroc  # its factor acc (1 - acc) is 0 then
    assert augrc == near(abstain.augrc_from_auroc(min(max(accuracy, 0.0), 1.0), auroc))


@given(problem=TAME_ANY)
def test_augrc_of_a_score_and_of_its_reverse_sum_to_the_risk(problem: Problem) -> None:
    """AUGRC(g) + AUGRC(-g) = mean loss."""
    (one,), (other,) = values(problem, "augrc"), values(problem._replace(confidence=-problem.confidence), "augrc")
    assert one + other == near(values(problem, "risk")[0])


@given(problem=TAME_ANY, data=st.data())
def test_merging_two_tie_groups_averages_both_orders(problem: Problem, data: st.DataObject) -> None:
    """AUGRC with two adjacent groups tied is the mean of AUGRC with either first."""
    distinct = np.unique(problem.confidence)
    assume(len(distinct) > 1)
    k = data.draw(st.integers(0, len(distinct) - 2))
    ranks = np.unique(problem.confidence, return_inverse=True)[1]
    swapped = np.where(ranks == k, k + 1, np.where(ranks == k + 1, k, ranks))
    tied = np.where(ranks == k + 1, k, ranks)
    orders = [values(problem._replace(confidence=1.0 * order), "augrc")[0] for order in (ranks, swapped, tied)]
    assert orders[2] == near(0.5 * (orders[0] + orders[1]))


@given(problem=TAME_ANY, data=st.data())
def test_a_lower_loss_lowers_augrc(problem: Problem, data: st.DataObject) -> None:
    """Lowering the loss of any sample with a weight lowers AUGRC strictly."""
    weight = np.ones(len(problem.loss)) if problem.weight is None else problem.weight
    candidates = np.flatnonzero((problem.loss > 0.0) & (weight > 0.0))
    assume(candidates.size)
    better = problem.loss.copy()
    better[data.draw(st.sampled_from(candidates.tolist()))] *= 0.5
    assert values(problem._replace(loss=better), "augrc")[0] < values(problem, "augrc")[0]


@given(problem=UNWEIGHTED)
def test_sele_is_augrc_up_to_a_tie_rule(problem: Problem) -> None:
    """Without ties SELE = AUGRC + mean loss / (2N); with ties the mean generalized risk at all samples' thresholds."""
    n = len(problem.loss)
    sele, augrc, risk = values(problem, "sele", "augrc", "risk")
    if len(np.unique(problem.confidence)) == n:
        assert sele == near(augrc + risk / (2 * n))
    curve = abstain.RiskCoverageCurve(table(problem))
    assert sele == near(np.average(curve.generalized_risk, weights=curve.blocks.weight))
    assert sele >= augrc - 1e-12


@given(problem=BINARY)
def test_excess_augrc_is_bounded(problem: Problem) -> None:
    """0 <= e-AUGRC = (1 - AUROC_f) acc (1 - acc) <= acc (1 - acc) for 0/1 losses."""
    excess, accuracy, auroc = values(problem, "e_augrc", "accuracy", "auroc_f")
    spread = accuracy * (1.0 - accuracy)
    assert -1e-12 <= excess <= spread + 1e-12
    assert excess == near(0.0 if math.isnan(auroc) else (1.0 - auroc) * spread)


@given(accuracy=st.floats(0.01, 0.99), auroc=st.floats(0.01, 0.99))
def test_augrc_partial_derivatives_are_derivatives(accuracy: float, auroc: float) -> None:
    """Eq. 9 and 10 equal central differences of Eq. 7, and are never positive."""
    step = 1e-5
    f = abstain.augrc_from_auroc
    by_auroc, by_accuracy = abstain.augrc_partial_derivatives(accuracy, auroc)
    assert by_auroc == pytest.approx((f(accuracy, auroc + step) - f(accuracy, auroc - step)) / (2 * step), abs=1e-9)
    assert by_accuracy == pytest.approx((f(accuracy + step, auroc) - f(accuracy - step, auroc)) / (2 * step), abs=1e-9)
    assert by_auroc <= 0.0
    assert by_accuracy <= 0.0


@given(problem=problems(losses=["binary"], min_size=2, max_size=20), data=st.data())
def test_class_balance_by_weights_keeps_the_closed_form(problem: Problem, data: st.DataObject) -> None:
    """With prevalence weights Eq. 7 holds with balanced accuracy and weighted AUROC; all wrong scores exactly 1/2."""
    n = len(problem.loss)
    labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weight = abstain.prevalence_weights(labels)
    balanced = np.mean([1.0 - problem.loss[labels == k].mean() for k in np.unique(labels)])
    weighted = problem._replace(weight=weight)
    augrc, auroc, accuracy = values(weighted, "augrc", "auroc_f", "accuracy")
    assert weight.sum() == near(n)
    assert accuracy == near(balanced)
    assert augrc == near(abstain.augrc_from_auroc(min(balanced, 1.0), 0.5 if math.isnan(auroc) else auroc))
    assert abstain.augrc(np.ones(n), problem.confidence, sample_weight=weight) == near(0.5)


@given(problem=problems(losses=["binary"], scores=["tied"], min_size=2, max_size=20), data=st.data())
def test_prevalence_weights_equal_resampling_to_the_target(problem: Problem, data: st.DataObject) -> None:
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


@given(problem=TAME_ANY)
def test_plugin_and_harmonic_agree_without_ties(problem: Problem) -> None:
    """Eq. 10 and Eq. 13 of Zhou et al. are one number when no scores tie: the mean of the selective risks."""
    n = len(problem.loss)
    distinct = Problem(problem.loss, np.arange(n) * 1.0)
    found = [abstain.aurc(distinct.loss, distinct.confidence, estimator=e) for e in ("plugin", "harmonic")]
    ranked = problem.loss[::-1]
    assert found[0] == near(np.mean(np.cumsum(ranked) / np.arange(1, n + 1)))
    assert found[0] == near(found[1])


@pytest.mark.parametrize("estimator", ESTIMATORS)
@given(data=st.data())
def test_no_ranking_beats_the_oracle(estimator: str, data: st.DataObject) -> None:
    """Optimum <= AURC <= AURC of the reversed oracle (all estimators but trapezoid).

    Under ``plugin`` a tie lowers the risk of its first members, so the worst ranking ties nothing; with weights no
    ranking by loss is the worst, because a heavy sample cannot be accepted in part.
    """
    metric = metrics.get("e_aurc", estimator=estimator)
    problem = data.draw(problems_for(metric, losses=TAME))
    blocks = table(problem)
    reversed_oracle = problem.loss
    if estimator == "plugin":
        assume(problem.weight is None)
        reversed_oracle = np.argsort(np.argsort(problem.loss, kind="stable")) * 1.0
    worst = metrics.get("aurc", estimator=estimator)(table(problem._replace(confidence=reversed_oracle)))
    value = metrics.get("aurc", estimator=estimator)(blocks)
    if estimator != "trapezoid":
        assert metric(blocks) >= -1e-12
        assert value <= worst + 1e-12
    assert value - metric(blocks) == near(abstain.aurc_optimal(problem.loss, estimator=estimator,
                                                              sample_weight=problem.weight))  # fmt: skip


def test_excess_of_the_trapezoid_can_be_negative() -> None:
    """Two perfectly separated levels: AURC .125 and optimum .1534, as fd-shifts' tests have it; worse occurs."""
    assert abstain.aurc([0, 1], [1, 0], estimator="trapezoid") == 0.125
    assert abstain.e_aurc([0, 1], [1, 0], estimator="trapezoid") == near(0.125 - (0.5 - 0.5 * math.log(2.0)))
    few_right = [0] + [1] * 99, [1] + [0] * 99
    excess = abstain.e_aurc(*few_right, estimator="trapezoid")
    assert excess == pytest.approx(-0.4539, abs=1e-4)
    assert excess >= metrics.get("e_aurc").range[0]
    assert abstain.e_aurc(*few_right) >= 0.0


@given(problem=TAME_ANY)
def test_no_ranking_beats_the_oracle_in_augrc(problem: Problem) -> None:
    """Optimum <= AUGRC <= AUGRC of the reversed oracle; e-AUGRC >= 0; NAUGRC = 1 - PRR in [0, 2]."""
    excess, value, ratio, prr = values(problem, "e_augrc", "augrc", "naugrc", "prediction_rejection_ratio")
    worst = values(problem._replace(confidence=problem.loss), "augrc")[0]
    assert excess >= -1e-12
    assert value <= worst + 1e-12
    if not math.isnan(ratio):
        assert -1e-9 <= ratio <= 2.0 + 1e-9
        assert ratio == near(1.0 - prr)


@pytest.mark.parametrize("name", ["naurc", "naugrc"])
@given(problem=TAME_ANY)
def test_normalised_areas_are_0_for_the_oracle_and_1_for_a_constant(name: str, problem: Problem) -> None:
    """The two anchors of the normalisation; under plugin the oracle itself is O(1/n) above 0."""
    options = {"estimator": "interpolated"} if name == "naurc" else {}
    kept = problem.loss if problem.weight is None else problem.loss[problem.weight > 0.0]
    assume(len(set(kept)) > 1)
    oracle = problem._replace(confidence=-problem.loss)
    constant = problem._replace(confidence=np.zeros(len(problem.loss)))
    assert values(oracle, name, **options)[0] == pytest.approx(0.0, abs=1e-9)
    assert values(constant, name, **options)[0] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("n", [1, 100, 4000])
@pytest.mark.parametrize("name", ["naurc", "naugrc", "prediction_rejection_ratio"])
def test_normalised_areas_of_equal_losses_are_nan_however_sums_round(name: str, n: int) -> None:
    """Equal losses of 0.3 under real weights leave a span of pure rounding, which must not become a ratio."""
    rng = np.random.default_rng(n)
    with pytest.warns(abstain.UndefinedMetricWarning, match="all losses are equal"):
        value = getattr(abstain, name)(np.full(n, 0.3), rng.random(n), sample_weight=rng.random(n))
    assert math.isnan(value)


@given(problem=ANY)
def test_hull_is_never_above_the_curve(problem: Problem) -> None:
    """The achievable areas lie between the optimum and the areas of the curve, plugin and interpolated."""
    size = 1e-11 * scale(problem)
    aurc, augrc = values(problem, "aurc_achievable", "augrc_achievable")
    blocks = table(problem)
    optimum = abstain.aurc_optimal(problem.loss, sample_weight=problem.weight)
    for estimator in ("plugin", "interpolated"):
        assert aurc <= metrics.get("aurc", estimator=estimator)(blocks) + size
    assert augrc <= metrics.get("augrc")(blocks) + size
    assert aurc >= optimum - size
    assert augrc >= abstain.augrc_optimal(problem.loss, sample_weight=problem.weight) - size


@given(problem=ANY)
def test_hull_is_convex_and_its_vertices_are_points_of_the_curve(problem: Problem) -> None:
    """Risk per step rises along the hull, whose points are attainable."""
    curve = abstain.RiskCoverageCurve(table(problem))
    hull = curve.hull()
    steps = hull.blocks.loss / hull.blocks.weight
    assert np.all(np.diff(steps) >= -1e-9 * scale(problem))
    assert set(hull.threshold) <= set(curve.threshold)
    assert hull.coverage[-1] == 1.0
    assert hull.blocks.total_loss == near(curve.blocks.total_loss, curve.blocks.total_weight * scale(problem))


@pytest.mark.parametrize("metric", [metrics.get("augrc"), *(metrics.get("aurc", estimator=e) for e in ESTIMATORS[:3])],
                         ids=lambda metric: metric.identifier)  # fmt: skip
@given(problem=TAME_ANY, cuts=st.lists(st.floats(0.001, 0.999), min_size=1, max_size=3, unique=True))
def test_partial_areas_add_up(metric: Any, problem: Problem, cuts: list[float]) -> None:
    """Areas over adjacent coverage ranges sum to the area over all."""
    ends = [0.0, *sorted(cuts), 1.0]
    blocks = table(problem)
    parts = [metric.using(coverage_range=pair)(blocks) for pair in itertools.pairwise(ends)]
    assert math.fsum(parts) == near(metric(blocks))


@given(problem=problems(losses=["binary", "graded"], weights=WEIGHTS))
def test_accuracy_rejection_area_is_one_minus_aurc(problem: Problem) -> None:
    """ARC and AURC are one number read from the other side."""
    area, aurc = values(problem, "accuracy_rejection_area", "aurc")
    assert area == 1.0 - aurc


# ---------------------------------------------------------------------- toys and curiosities


@pytest.mark.parametrize(
    ("failures", "accuracy", "auroc", "trapezoid", "excess", "mean_risk", "augrc"),
    [
        ((1, 17, 18, 19, 20), 0.75, 0.8000, 225.0, 190.8, 206.3, 68.75),
        ((13, 14, 15, 16, 17), 0.75, 0.8000, 81.5, 47.3, 87.7, 68.75),
        ((12, 13, 14, 15, 16, 17), 0.70, 0.7857, 109.1, 58.8, 116.6, 90.0),
    ],
    ids=["CSF-1", "CSF-2", "CSF-3"],
)
def test_toy_of_figure_2(failures, accuracy, auroc, trapezoid, excess, mean_risk, augrc) -> None:  # type: ignore[no-untyped-def]
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
def test_f1_auc_of_a_perfect_ranking_is_its_optimum(right: int, wrong: int) -> None:
    """The integral is exact, so Eq. 11 is reached at any sample size, tied or not; reversed it is not exceeded."""
    n = right + wrong
    assume(n > 0)
    loss = np.repeat([0.0, 1.0], [right, wrong])
    optimum = abstain.f1_auc_optimal(right / n)
    assert abstain.f1_auc(loss, -loss) == near(optimum)
    assert abstain.f1_auc(loss, -np.arange(float(n))) == near(optimum)
    assert abstain.f1_auc(loss, loss) <= optimum + 1e-12


def test_best_f1_auc_falls_with_accuracy_beyond_056() -> None:
    """The optimum peaks near accuracy .56 at .7149, the upper end of the metric's range."""
    grid = np.linspace(0.0, 1.0, 10001)
    best = np.array([abstain.f1_auc_optimal(a) for a in grid])
    assert grid[best.argmax()] == pytest.approx(0.56, abs=0.005)
    assert best.max() <= metrics.get("f1_auc").range[1] == pytest.approx(best.max(), abs=1e-4)
    assert abstain.f1_auc_optimal(1.0) == pytest.approx(2.0 * (1.0 - math.log(2.0)), rel=1e-12)


def test_two_sele_is_no_upper_bound_of_aurc() -> None:
    """Zhou et al., Eq. 34-36: one failure on top of five: AURC = H_5 / 5 exceeds 2 x SELE = 2 / 5."""
    loss, score = [1, 0, 0, 0, 0], [5, 4, 3, 2, 1]
    aurc, double = abstain.aurc(loss, score), abstain.sele(loss, score, factor=2.0)
    assert (5 * aurc, 5 * double) == (near(137 / 60), near(2.0))
    assert aurc > double


def test_augrc_unbiased_is_unbiased() -> None:
    """Over all 4^3 samples of three from a population of four, its mean is the population's pair probability."""
    loss, score = np.array([1.0, 0.0, 0.0, 0.0]), np.array([3.0, 2.0, 2.0, 0.0])
    wins = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    population = np.mean(loss[:, None] * wins)
    draws = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij")).reshape(3, -1).T
    unbiased = [abstain.augrc_unbiased(loss[rows], score[rows]) for rows in draws]
    plain = [abstain.augrc(loss[rows], score[rows]) for rows in draws]
    assert np.mean(unbiased) == near(population)
    assert abs(np.mean(plain) - population) > 1e-3


def test_equal_tables_give_equal_values_whatever_built_them() -> None:
    """Block sums alone decide: (.5, .5) tied equals (0, 1) tied in AURC, but only 0/1 losses allow AUROC_f."""
    halves, ends = (TieBlocks.from_samples(loss, [1, 1]) for loss in ([0.5, 0.5], [0, 1]))
    assert metrics.get("aurc")(halves) == metrics.get("aurc")(ends)
    assert metrics.get("auroc_f")(ends) == 0.5
    with pytest.raises(abstain.UnmetNeed, match="0/1 loss"):
        metrics.get("auroc_f")(halves)


def test_normalised_areas_of_sums_are_undefined_where_all_losses_are_equal() -> None:
    """From sums as from tables; losses that are all 1 up to the rounding of their weights are all equal, too."""
    blocks = abstain.TieBlocks.from_samples([0, 1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5])
    mean_rank = float((blocks.weight * (blocks.cumulative_loss - 0.5 * blocks.loss)).sum())
    selective = float((blocks.weight * blocks.selective_risk).sum())
    nothing, everything = (3.0, 0.0, 0.0, 0.0), (3.0, 3.0 * (1.0 - 1e-15), 3.0, 4.5)
    sums = abstain.metrics.Sums(*np.array([(5.0, 2.0, selective, mean_rank), nothing, everything]).T)
    for name in ("naurc", "naugrc"):
        form = abstain.metrics.get(name).from_sums
        assert form is not None
        with np.errstate(invalid="ignore", divide="ignore"):
            found = form.formula(sums)
        assert found[0] == pytest.approx(abstain.metrics.get(name)(blocks), rel=1e-12)
        assert np.isnan(found[1:]).all()
