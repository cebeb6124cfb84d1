"""The guards: null calibration, transfer, intervals, prevalence side by side."""

import numpy as np
import pytest
from scipy import stats

from abstain import joint
from tests.joint.references import Columns, random_problem


def with_noise(columns, seed=10):
    """Replace the detector score by noise."""
    rng = np.random.default_rng(seed)
    return columns._replace(id_detector=rng.normal(size=columns.n_id), ood_detector=rng.normal(size=columns.n_ood))


@pytest.mark.parametrize("metric", ["ds_f1", "ds_aurc", "ds_augrc"])
def test_noise_gains_what_the_null_says(metric):
    """A useless second score gains, but no more than permuted ones; a useful one gains much more."""
    useful = random_problem(400, 400)
    noise = joint.null_gain(**with_noise(useful).named, metric=metric, scheme="permuted", n_permutations=19)
    assert noise.gain >= 0.0
    assert noise.p_value > 0.05
    assert abs(noise.excess) < 4 * noise.null_sd
    real = joint.null_gain(**useful.named, metric=metric, scheme="permuted", n_permutations=19)
    assert real.p_value == 0.05
    assert real.excess > 10 * real.null_sd
    for columns, low in ((with_noise(useful), 0.05), (useful, 0.0)):  # and so among samples of similar confidence
        found = joint.null_gain(**columns.named, metric=metric, n_permutations=19)
        assert found.scheme == "conditional"
        assert low < found.p_value <= (1.0 if low else 0.05)


def test_a_copy_of_the_confidence_fails_the_sharper_null():
    """A noisy copy shares everything with the confidence: permuted within groups it gains as much."""
    columns = random_problem(600, 600)
    rng = np.random.default_rng(3)
    copy = columns._replace(
        id_detector=columns.id_confidence + rng.normal(size=600),
        ood_detector=columns.ood_confidence + rng.normal(size=600),
    )
    assert joint.null_gain(**copy.named, n_permutations=19).p_value > 0.05
    assert joint.null_gain(**columns.named, n_permutations=19).p_value == 0.05


def test_balanced_data_are_printed_once():
    """Two equal blocks would look like two results."""
    text = str(joint.evaluate(**random_problem(50, 50).named))
    assert text.count("Share of OOD samples") == 1
    assert "0.500, as in the data, which is balanced" in text


def test_as_many_ood_as_id_samples_are_balanced():
    """The natural share is the balanced one then: nothing is calculated twice."""
    result = joint.evaluate(**random_problem(30, 30).named)
    assert result.balanced is result
    assert joint.evaluate(**random_problem(30, 20).named).balanced.prevalence == 0.5


# ---------------------------------------------------------------------- intervals


@pytest.mark.slow
def test_intervals_hold_the_truth():
    """A simulation of samples of 200 + 200; the larger ones are in the benchmarks."""
    repetitions = 100
    truth = {"ds_f1": 0.596, "ds_aurc": 0.300, "ds_augrc": 0.151, "ds_aurc - aurc": 0.030}
    held = dict.fromkeys(truth, 0)
    for seed in range(repetitions):
        found = joint.confidence_intervals(**random_problem(200, 200, seed).named, n_splits=10)
        for name in truth:
            held[name] += found[name].low <= truth[name] <= found[name].high
    assert min(held.values()) >= stats.binom.ppf(0.005, repetitions, 0.95)  # 88 of 100: fewer in less than 1 %


def test_few_samples_and_perfect_scores():
    """Few samples are a warning; an area of zero has no logarithm."""
    assert "only 30 samples of one kind" in str(
        joint.confidence_intervals(**random_problem(30, 40).named)["f1"].warning
    )
    assert joint.confidence_intervals(**random_problem(300, 200).named, n_splits=5)["f1"].warning is None
    perfect = joint.confidence_intervals(**Columns([0] * 4, [4, 3, 2, 1], [4, 3, 2, 1], [], []).named, n_splits=3)
    assert (perfect["ds_aurc"].estimate, perfect["ds_f1"].estimate) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        ("null_gain", {"metric": "f1"}, "metric='f1' is not known"),
        ("null_gain", {"n_permutations": 0}, "n_permutations must be a whole number >= 1, got 0; 20 is usual"),
        ("transfer", {"share": 0.999}, "leaves a part empty"),
        ("transfer", {"n_splits": 0}, "n_splits must be a whole number >= 1"),
        ("confidence_intervals", {"n_splits": 1}, "n_splits must be a whole number >= 2"),
        ("confidence_intervals", {"level": 95}, "level"),
        ("evaluate", {"n_permutations": 0}, "n_permutations must be a whole number >= 1, got 0"),
        ("evaluate", {"rng": -1}, "rng=-1 is no seed; give a whole number"),
    ],
)
def test_bad_options_are_named(function, options, message):
    """Argument, value and remedy are in the message."""
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(joint, function)(**random_problem(10, 10).named, **options)


def test_halves_without_spread_have_no_interval():
    """An F1 of 1 on 500 samples is no proof of an F1 of 1: [1, 1] would be."""
    right, high, low = np.zeros(250), np.arange(1.0, 251.0), np.zeros(250)
    for found in joint.confidence_intervals(**Columns(right, high, high, low, low).named, n_splits=5).values():
        assert np.isnan(found.low)
        assert np.isnan(found.high)
        assert found.warning == "all halves have the same value: that says nothing about the spread"


def test_a_detector_the_wrong_way_round_is_noted():
    """A distance is high where the input is unknown: said with its AUROC, and not of a score that says nothing."""
    rng = np.random.default_rng(0)
    wrong, confidence = (rng.random(300) < 0.2) * 1.0, rng.random(300)
    distance, far = rng.normal(0.0, 1.0, 300), rng.normal(2.0, 1.0, 200)
    for sign, said in ((1.0, True), (-1.0, False), (0.0, False)):
        inside = {"id_confidence": confidence, "id_detector": sign * distance}
        outside = {"ood_confidence": rng.random(200), "ood_detector": sign * far}
        notes = joint.evaluate(wrong, **inside, **outside, n_permutations=2, n_splits=2).notes()
        assert any("the detector is higher for OOD than for ID samples (AUROC 0.0" in each for each in notes) == said
        run = joint.ScoredRun(
            wrong,
            {"msp": confidence, "knn": sign * distance},
            {"svhn": {"msp": outside["ood_confidence"], "knn": sign * far}},
        )
        notes = joint.protocol(run, {"far": ["svhn"]}, confidence="msp").table("single-double").notes
        assert any(each.startswith("on svhn knn is higher for OOD than for ID") for each in notes) == said
