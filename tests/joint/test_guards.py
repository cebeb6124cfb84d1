"""The guards: null calibration, transfer, intervals, prevalence side by side."""

import numpy as np
import pytest
from scipy import stats

from abstain import joint
from tests.joint.references import random_problem


def with_noise(columns, seed=10):
    """Replace the detector score by noise."""
    rng = np.random.default_rng(seed)
    return columns._replace(id_detector=rng.normal(size=columns.n_id), ood_detector=rng.normal(size=columns.n_ood))


@pytest.mark.parametrize("metric", ["ds_f1", "ds_aurc", "ds_augrc"])
@pytest.mark.parametrize("scheme", ["permuted", "conditional"])
def test_noise_gains_what_the_null_says(metric, scheme):
    """A useless second score gains, but no more than permuted ones; a useful one gains much more."""
    useful, options = random_problem(400, 400), {"metric": metric, "scheme": scheme, "n_permutations": 19}
    noise, real = (joint.null_gain(**each.named, **options) for each in (with_noise(useful), useful))
    assert noise.gain >= 0.0
    assert noise.p_value > 0.05 == real.p_value
    assert scheme == "conditional" or abs(noise.excess) < 4 * noise.null_sd
    assert scheme == "conditional" or real.excess > 10 * real.null_sd


def test_a_copy_of_the_confidence_fails_the_sharper_null():
    """A noisy copy shares everything with the confidence: permuted within groups it gains as much."""
    columns, rng = random_problem(600, 600), np.random.default_rng(3)
    noisy = {f"{kind}_detector": columns.named[f"{kind}_confidence"] + rng.normal(size=600) for kind in ("id", "ood")}
    assert joint.null_gain(**columns._replace(**noisy).named, n_permutations=19).p_value > 0.05


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


@pytest.mark.parametrize("n", [199, 200])
def test_intervals_of_fewer_than_200_samples_of_a_kind_say_that_they_are_too_short(n):
    """The smaller of the two kinds counts."""
    for sizes in ((n, 220), (220, n)):
        found = joint.confidence_intervals(**random_problem(*sizes, 0).named, n_splits=2)["ds_f1"]
        assert (f"only {n} samples of one kind" in str(found.warning)) == (n < 200)


def test_halves_without_spread_have_no_interval():
    """An F1 of 1 on 500 samples is no proof of an F1 of 1: [1, 1] would be."""
    high, low = np.arange(1.0, 251.0), np.zeros(250)
    given = {"id_confidence": high, "id_detector": high, "ood_confidence": low, "ood_detector": low}
    for found in joint.confidence_intervals(np.zeros(250), **given, n_splits=5).values():
        assert np.isnan([found.low, found.high]).all()
        assert "that says nothing about the spread" in found.warning


@pytest.mark.parametrize(("n_id", "n_ood", "told"), [(2, 2, True), (1, 2, False), (2, 1, False), (2, 0, True)])
def test_halves_need_two_rows_of_each_kind(n_id, n_ood, told):
    """Of fewer rows nothing is said of thresholds that are transferred from half to half."""
    inside, outside = np.linspace(1.0, 2.0, n_id), np.linspace(0.0, 1.5, n_ood)
    given = {"id_confidence": inside, "id_detector": inside, "ood_confidence": outside, "ood_detector": outside}
    found = joint.evaluate(np.arange(n_id) % 2, **given, n_splits=2, n_permutations=1)
    assert any("from one half on the other" in note for note in found.notes()) == told
    assert (found.to_dict()["transfer"] is not None) == told
