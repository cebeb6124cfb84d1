"""Coverage of 95 % intervals for AURC and AUGRC by simulation; the long version is a benchmark."""

import numpy as np
import pytest

import abstain
from tests.inference.populations import POPULATIONS, Population, allowance

#: Sample size -> repetitions, in every run and where slow tests run.
QUICK = {200: 120}
SIZES = {200: 1000, 1000: 500, 10_000: 120}
FEW_ERRORS = POPULATIONS[2]


def simulate(population: Population, metric: str, n: int, repetitions: int) -> tuple[float, float]:
    """Return coverage, and the share of intervals with a warning."""
    rng = np.random.default_rng(n)
    truth, inside, warned = getattr(population, metric), 0, 0
    for _ in range(repetitions):
        found = abstain.confidence_interval(metric, *population.draw(n, rng))
        inside += found.low <= truth <= found.high
        warned += found.warning is not None
    return inside / repetitions, warned / repetitions


@pytest.mark.parametrize(
    ("n", "repetitions"), [*QUICK.items(), *(pytest.param(*each, marks=pytest.mark.slow) for each in SIZES.items())]
)
@pytest.mark.parametrize("metric", ["aurc", "augrc"])
@pytest.mark.parametrize("population", POPULATIONS, ids=lambda population: population.name)
def test_intervals_cover(population, metric, n, repetitions):
    """93.5 to 97 %, give or take 2.6 Monte Carlo errors; two expected errors must raise the warning light instead."""
    share, warned = simulate(population, metric, n, repetitions)
    if population is FEW_ERRORS and n == 200:
        assert warned > 0.9
    else:
        slack = allowance(0.95, repetitions)
        assert 0.935 - slack <= share <= 0.97 + slack
