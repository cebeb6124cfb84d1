"""The planner: its power is the one that simulations find."""

from __future__ import annotations

import numpy as np
import pytest

import abstain
from abstain.inference import detectable_difference, influence_sd, paired, panel, required_samples
from tests.inference.populations import allowance


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    difficulty = rng.standard_normal(n)
    loss = (rng.random(n) < np.minimum(0.2 * np.exp(difficulty - 0.5), 1.0)).astype(float)
    return loss, -difficulty + 0.6 * rng.standard_normal(n), -difficulty + 0.9 * rng.standard_normal(n)


@pytest.mark.parametrize("metric", ["augrc", "aurc"])
def test_the_planned_number_of_samples_has_the_planned_power(metric):
    rng = np.random.default_rng(0)
    loss, a, b = draw(400_000, rng)
    function = getattr(abstain, metric)
    truth = function(loss, a) - function(loss, b)
    n = required_samples(truth, pilot=(loss, a, b), metric=metric, power=0.8)
    assert 200 < n < 20_000
    repetitions, found = 500, 0
    for _ in range(repetitions):
        loss, a, b = draw(n, rng)
        tests = paired(abstain.metrics.get(metric), panel(loss, {"a": a, "b": b}), rng=rng)
        found += tests.differences[0].significant
    assert found / repetitions == pytest.approx(0.8, abs=0.02 + allowance(0.8, repetitions))


def test_both_directions_agree():
    for power, level in ((0.8, 0.95), (0.9, 0.99)):
        n = required_samples(0.01, sd=0.2, power=power, level=level)
        assert detectable_difference(n, sd=0.2, power=power, level=level) <= 0.01
        assert detectable_difference(n - 1, sd=0.2, power=power, level=level) > 0.01
    assert required_samples(-0.01, sd=0.2) == required_samples(0.01, sd=0.2) == 3140  # ((1.95996 + 0.84162) 20)^2
    assert required_samples(100.0, sd=1e-6) == 2


def test_the_standard_deviation_is_that_of_the_comparison():
    loss, a, b = draw(500, np.random.default_rng(1))
    found = abstain.compare(loss, {"a": a, "b": b}).differences[0]
    assert influence_sd((loss, a, b)) == pytest.approx(found.standard_error * np.sqrt(500))
    assert influence_sd(((loss, loss), a, b)) == influence_sd((loss, a, b))
    assert required_samples(0.01, pilot=(loss, a, b)) == required_samples(0.01, sd=influence_sd((loss, a, b)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: required_samples(0.0, sd=1.0), "difference must be finite and not 0"),
        (lambda: required_samples(1e-300, sd=0.1), "difference=1e-300 is out of reach of any sample; give the small"),
        (lambda: required_samples(0.1, sd=1e300), "difference=0.1 is out of reach"),
        (lambda: required_samples(0.1), "either sd="),
        (lambda: required_samples(0.1, sd=1.0, pilot=([0], [1], [2])), "either sd="),
        (lambda: required_samples(0.1, sd=-1.0), "sd must be positive"),
        (lambda: required_samples(0.1, sd=1.0, power=1.0), "power must lie inside"),
        (lambda: required_samples(0.1, sd=1.0, power=0.04), "needs no data"),
        (lambda: required_samples(0.1, sd=1.0, level=1.0), "level must lie inside"),
        (lambda: required_samples(0.1, pilot=([0, 1], [1, 2], [1, 2])), "agree on every sample"),
        (lambda: required_samples(0.1, pilot=([0, 1], [1, 2])), "pilot must be a tuple"),
        (lambda: required_samples(0.1, pilot=([0, 1], [1, 2], [2, 1]), metric="fpr95_error"), "no influence function"),
        (
            lambda: required_samples("0.1", sd=1.0),
            "difference must be a number other than 0, got '0.1'; give the smallest",
        ),
        (lambda: required_samples(0.1, sd="1"), "sd must be a number > 0, got '1'"),
        (lambda: detectable_difference(1, sd=1.0), "n must be a whole number >= 2, got 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
