"""Room for errors that were not seen, and coverage of intervals by simulation; its long version is a benchmark."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import abstain
from tests.inference.populations import POPULATIONS, allowance


def test_intervals_cover_where_the_decisive_errors_are_rare():
    """95 % confident with 0.4 % errors, the rest half wrong: from the sample alone intervals covered 70 to 76 %."""
    metrics, rng = ("augrc", "aurc", "auroc_f"), np.random.default_rng(0)
    population = abstain.TieBlocks.from_samples([1, 0, 1, 0], [1, 1, 0.3, 0.3], [0.0038, 0.9462, 0.025, 0.025])
    truths, inside, silent = [abstain.metrics.get(metric)(population) for metric in metrics], [], [[], [], []]
    for _ in range(120):
        sure, luck = rng.random(300) < 0.95, rng.random(300)
        sample = (luck < np.where(sure, 0.004, 0.5)) * 1.0, np.where(sure, 1.0, 0.3)
        found = [abstain.confidence_interval(metric, *sample) for metric in metrics]
        inside.append([each.low <= truth <= each.high for each, truth in zip(found, truths, strict=True)])
        for each, held, kept in zip(found, inside[-1], silent, strict=True):
            kept += [held] * (each.warning in (None, str(each.rests_on)))
    assert (np.mean(inside, axis=0) >= 0.94 - allowance(0.94, 120)).all()
    assert all(np.mean(each) >= 0.92 - allowance(0.92, len(each)) for each in silent)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["auroc_f", "naugrc", "prediction_rejection_ratio"]))
def test_errors_and_successes_are_treated_alike(seed, metric):
    """Losses and scores reversed are the same ranking, so the interval is the same."""
    rng = np.random.default_rng(seed)
    loss, score = (rng.random(60) < 0.1).astype(float), np.round(rng.random(60), 1)
    first = abstain.confidence_interval(metric, loss, score)
    second = abstain.confidence_interval(metric, 1.0 - loss, -score)
    np.testing.assert_allclose(second[:2], first[:2], rtol=1e-7)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["risk", "augrc", "aurc", "e_augrc", "sele"]), st.floats(0.1, 10.0))
def test_losses_in_other_units_have_the_interval_in_these_units(seed, metric, unit):
    """What is reserved for an unseen loss is in proportion to the losses that were seen."""
    rng = np.random.default_rng(seed)
    loss, score = rng.exponential(size=50), rng.random(50)
    found = abstain.confidence_interval(metric, loss, score)
    scaled = abstain.confidence_interval(metric, unit * loss, score)
    np.testing.assert_allclose(scaled[:2], unit * np.array(found[:2]), rtol=1e-7)


@pytest.mark.parametrize("metric", ["e_aurc", "naurc", "e_augrc", "naugrc"])
@pytest.mark.parametrize(("n", "errors"), [(50, 5), (300, 12), (300, 150)])
def test_the_interval_of_a_perfect_population_holds_zero(metric, n, errors):
    """A finite sample lies a little above 0 under AURC, so that the log scale alone never reached it."""
    loss = np.r_[np.zeros(n - errors), np.ones(errors)]
    assert abstain.confidence_interval(metric, loss, -np.arange(float(n))).low == 0.0
    loss[n - errors - 1], loss[n - errors] = 1.0, 0.0  # one pair is out of order, where the classes meet
    assert abstain.confidence_interval(metric, loss, -np.arange(float(n))).low < 1e-3


@pytest.mark.parametrize("n", [1600, 2400, 4200])
def test_an_excess_far_above_zero_needs_no_room_for_the_finite_sample(n):
    """What the perfect ranking of these samples has above 0 is taken off, unless it is small beside the excess."""
    rng, metric = np.random.default_rng(0), abstain.metrics.get("e_aurc")
    loss, score = (rng.random(n) < 0.4) * 1.0, rng.random(n)
    found = abstain.confidence_interval(metric, loss, score)
    perfect = metric(abstain.TieBlocks.from_samples(loss, -loss * np.arange(1.0, n + 1.0)))
    low = found.estimate * np.exp(-stats.t.ppf(0.975, found.df) * found.standard_error / found.estimate)
    assert (600.0 < found.estimate * n < 1000.0) == (n == 2400)
    assert found.low == pytest.approx(low - perfect * (found.estimate * n <= 1000.0), rel=1e-9)


@pytest.mark.parametrize(("metric", "most"), [("aurc", 1.0), ("augrc", 0.5)])
def test_few_successes_decide_the_better_end(metric, most):
    """One score for all: the area is a share of the error rate, whose exact end counts the ten that are right."""
    loss = np.r_[np.ones(390), np.zeros(10)]
    low = abstain.confidence_interval(metric, loss, np.ones(400)).low / most
    exact = abstain.inference.clopper_pearson(390, 400)[0]
    assert exact - 5e-4 < low <= exact


def test_a_score_of_exactly_one_or_zero_warns_for_its_logarithm():
    """One error there costs what clip says, and none may have been seen; the Brier score has no such limit."""
    loss, score = [0, 1, 0, 0] * 32, [0.9, 0.5, 0.6, 0.7] * 32
    assert abstain.confidence_interval("nll_confidence", loss, score).warning is None
    for end in (0.0, 1.0):
        found = abstain.confidence_interval("nll_confidence", loss, [*score[:-1], end])
        assert f"a score of {end:g}: one contradiction there costs 36 nats, set by clip" in found.warning
    assert abstain.confidence_interval("brier_confidence", loss, [*score[:-1], 1.0]).warning is None


def test_a_nearly_perfect_ranking_has_an_end_beyond_the_smallest_double():
    """Two errors below 298 successes: the beta distribution of the distance from 1 piles up at 0."""
    found = abstain.confidence_interval("auroc_f", (np.arange(300) < 2).astype(float), np.arange(300) >= 15)
    assert 0.0 < found.low < found.estimate <= found.high <= 1.0


@pytest.mark.parametrize("metric", ["aurc", "e_aurc", "augrc"])
def test_an_unseen_error_may_be_said_to_lie_at_the_top(metric):
    """Then the interval holds what three errors there would make of the sample, and it holds the other interval."""
    loss, score = np.r_[np.zeros(288), np.ones(12)], -np.arange(300.0)
    usual, top = (abstain.confidence_interval(metric, loss, score, unseen=where) for where in ("random", "top"))
    moved = loss.copy()
    moved[:3] = 1.0
    value = abstain.metrics.get(metric)(abstain.TieBlocks.from_samples(moved, score))
    assert top.low == usual.low
    assert top.high > max(usual.high, value)
    assert metric == "augrc" or usual.high < value
    found = abstain.evaluate(loss=loss, confidence=score, metrics=[metric], unseen="top")
    assert found.measurements[0].high == pytest.approx(top.high)
    with pytest.raises(ValueError, match="unseen"):
        abstain.confidence_interval(metric, loss, score, unseen="bottom")


@pytest.mark.parametrize(
    ("n", "repetitions"),
    [(200, 120), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((200, 1000), (10_000, 120)))],
)
@pytest.mark.parametrize("metric", ["aurc", "augrc"])
@pytest.mark.parametrize("population", POPULATIONS, ids=lambda population: population.name)
def test_intervals_cover(population, metric, n, repetitions):
    """93.5 to 97 %, give or take 2.6 Monte Carlo errors; two expected errors must raise the warning light instead."""
    rng, truth, slack = np.random.default_rng(n), getattr(population, metric), allowance(0.95, repetitions)
    found = [abstain.confidence_interval(metric, *population.draw(n, rng)) for _ in range(repetitions)]
    if population is POPULATIONS[2] and n == 200:
        assert np.mean([each.warning is not None for each in found]) > 0.9
    else:
        assert 0.935 - slack <= np.mean([each.low <= truth <= each.high for each in found]) <= 0.97 + slack
