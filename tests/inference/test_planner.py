"""The planner: its power is the one that simulations find."""

import numpy as np
import pytest

import abstain
from abstain.inference import detectable_difference, paired, panel, samples_for_difference
from tests.inference.populations import allowance
from tests.tiers import repeated


def draw(n, rng):
    difficulty = rng.standard_normal(n)
    loss = (rng.random(n) < np.minimum(0.2 * np.exp(difficulty - 0.5), 1.0)).astype(float)
    return loss, -difficulty + 0.6 * rng.standard_normal(n), -difficulty + 0.9 * rng.standard_normal(n)


@repeated(80, 500)
@pytest.mark.parametrize("metric", ["augrc", "aurc"])
def test_the_planned_number_of_samples_has_the_planned_power(metric, repetitions):
    rng = np.random.default_rng(0)
    loss, a, b = draw(200_000, rng)
    function = getattr(abstain, metric)
    truth = function(loss, a) - function(loss, b)
    n = samples_for_difference(truth, pilot=(loss, a, b), metric=metric, power=0.8).n
    assert 200 < n < 20_000
    found = 0
    for _ in range(repetitions):
        loss, a, b = draw(n, rng)
        tests = paired(abstain.metrics.get(metric), panel(loss, {"a": a, "b": b}), rng=rng)
        found += tests.differences[0].significant
    assert found / repetitions == pytest.approx(0.8, abs=0.02 + allowance(0.8, repetitions))


def test_both_directions_agree():
    for power, level in ((0.8, 0.95), (0.9, 0.99)):
        n = samples_for_difference(0.01, sd=0.2, power=power, level=level).n
        assert detectable_difference(n, sd=0.2, power=power, level=level).difference <= 0.01
        assert detectable_difference(n - 1, sd=0.2, power=power, level=level).difference > 0.01
    for difference in (-0.01, 0.01):  # ((1.95996 + 0.84162) 20)^2
        assert samples_for_difference(difference, sd=0.2) == (3140, 3140, 3140, np.inf, None)
    assert samples_for_difference(100.0, sd=1e-6).n == 2
