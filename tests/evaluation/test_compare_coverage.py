"""``compare`` at a risk: how far apart two coverages can be."""

import re

import numpy as np

import abstain
from abstain._result import lines_of


def test_a_difference_in_coverage_ends_where_its_two_coverages_end():
    """A score that knows beside one that does not: never more than 100 points apart, nor more than the two allow."""
    rng = np.random.default_rng(5)
    loss = (rng.random(400) < 0.03).astype(float)
    scores = {"knows": -loss + 0.3 * rng.standard_normal(400), "noise": rng.standard_normal(400)}
    result = abstain.compare(loss, scores, "coverage_at_risk(risk=0.02)", n_resamples=200)
    (pair,), (one, other) = result.differences, result.table
    assert (pair.a, pair.b) == (one["name"], other["name"]) == ("knows", "noise")
    assert pair.difference + pair.standard_error * 2.0 > one["high"] - other["low"]  # so there was something to mend
    assert -1.0 <= pair.low <= pair.difference <= pair.high <= one["high"] - other["low"] <= 1.0
    assert pair.swapped().low == -pair.high


def test_a_hundred_points_are_written_as_a_number():
    """Nearly all beside nearly nothing: no power of ten, and no more than a hundred."""
    rng = np.random.default_rng(0)
    loss = (np.arange(1000) < 12).astype(float)
    scores = {"knows": -loss + 0.1 * rng.random(1000), "wrong": loss + 0.1 * rng.random(1000)}
    line = next(each for each in lines_of(abstain.compare(loss, scores).verdict, 200) if "coverage at" in each)
    assert re.search(r"99\.\d % against 0 % \(\d\d\.\d \[-?\d[\d.]*, 100\.0\]\)", line)
