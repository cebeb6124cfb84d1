"""Certificates against plain products and enumeration: nothing here is computed by the package but the answer."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import abstain


@pytest.mark.parametrize("counted", [False, True])
def test_bets_are_products_over_rows(counted: bool) -> None:
    """Certified if and only if the mean of five products reaches 1/delta, also where equal rows come as a count."""
    loss, limit = [0.0] * 9 + [0.3] + [1.0] * 2 + [0.1] * 5, 0.5
    evidence = (
        sum(
            math.prod(1.0 + stake / (1.0 - limit) * (limit - value) for value in loss)
            for stake in (0.98, 0.6, 0.35, 0.2, 0.1)
        )
        / 5.0
    )
    columns = {"loss": loss, "confidence": [0.7] * len(loss)}
    rows = {"frame": pl.DataFrame(columns).lazy()} if counted else columns
    for delta, certified in ((1.0 / evidence * (1.0 + 1e-9), True), (1.0 / evidence * (1.0 - 1e-9), False)):
        found = abstain.choose_threshold(**rows, risk=limit, delta=delta, max_loss=1.0)
        assert found.attainable == certified


@pytest.mark.parametrize(("limit", "delta", "n"), [(0.5, 0.2, 7), (0.3, 0.3, 8)])
def test_bets_on_a_small_population_fail_as_seldom_as_stated(limit: float, delta: float, n: int) -> None:
    """Every sample of losses 0, 1/2 and 1 whose mean is the limit, enumerated with its probability; one score."""
    chance = {0.0: 1.0 - 1.5 * limit, 0.5: limit, 1.0: 0.5 * limit}
    failed = 0.0
    for zeros in range(n + 1):
        for halves in range(n - zeros + 1):
            ones = n - zeros - halves
            many = math.factorial(n) / (math.factorial(zeros) * math.factorial(halves) * math.factorial(ones))
            share = many * chance[0.0] ** zeros * chance[0.5] ** halves * chance[1.0] ** ones
            loss = [0.0] * zeros + [0.5] * halves + [1.0] * ones
            found = abstain.choose_threshold(loss, [0.7] * n, risk=limit, delta=delta, max_loss=1.0)
            failed += share * found.attainable
    assert 0.0 < failed <= delta


def test_two_levels_are_certified_as_enumeration_says() -> None:
    """Two scores, 40 rows each: the default answer against binomial tests written out, for every number of errors."""
    limit, delta = 0.1, 0.2

    def tail(errors: int, n: int) -> float:
        return sum(math.comb(n, k) * limit**k * (1.0 - limit) ** (n - k) for k in range(errors + 1))

    score = np.repeat([1.0, 0.0], 40)
    for high in range(8):
        for low in range(8):
            loss = np.r_[np.arange(40) < high, np.arange(40) < low]
            found = abstain.choose_threshold(loss, score, risk=limit, delta=delta).threshold
            alone, together = tail(high, 40), tail(high + low, 80)
            if found == 0.0:
                assert together <= delta
            elif found == 1.0:
                assert alone <= delta
            if max(alone, together) <= 0.5 * delta / (1.0 + delta):  # a share that every start has at least
                assert found == 0.0
