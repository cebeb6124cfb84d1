"""Engines against a loop over rows as dicts, in rationals: nothing here is computed by the package but the answer."""

import math
from fractions import Fraction

import polars as pl
import pytest

import abstain
from tests.engines.cases import parts, rows
from tests.engines.test_here import ENGINES

METRICS = ["risk", "augrc", "selective_risk(coverage=0.5)"]


def by_loop(given):
    """Return the metrics of rows, and the highest threshold that accepts half of their weight."""
    table = [(Fraction(row["confidence"]), Fraction(row["loss"]), Fraction(row["weight"])) for row in given]
    table = [row for row in table if row[2]]
    total = sum(weight for *_, weight in table)
    risk = sum(weight * loss for _, loss, weight in table) / total
    pairs = sum(
        weight * loss * other * (Fraction(1) if low < score else Fraction(1, 2))
        for score, loss, weight in table
        for low, _, other in table
        if low <= score
    )
    for threshold in sorted({score for score, *_ in table}, reverse=True):
        taken = [row for row in table if row[0] >= threshold]
        if 2 * sum(weight for *_, weight in taken) >= total:
            break
    selective = sum(weight * loss for _, loss, weight in taken) / sum(weight for *_, weight in taken)
    return [float(value) for value in (risk, pairs / total**2, selective)], float(threshold)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("told", ["loss", "correct"])
def test_metrics_and_thresholds_are_those_of_a_loop(engine, told):
    """Of all rows and of each group, with ties and weights, of which some are 0, from three parts."""
    frame = rows(3, n=60, weighted=True)
    given = frame.to_dicts()
    if told == "correct":
        frame = frame.with_columns(correct=pl.col("loss") == 0.0).drop("loss")
    lazy = ENGINES[engine](parts(frame, 3))
    found = abstain.evaluate(lazy, confidence="confidence", groups="site", sample_weight="weight", metrics=METRICS)
    for site in (None, "north", "south", "west"):
        mine = [row for row in given if site in (None, row["site"])]
        group = None if site is None else f"site = {site}"
        values = [found.value(metric, group=group) for metric in METRICS]
        assert values == pytest.approx(by_loop(mine)[0], rel=1e-12)
        if site is None and told == "loss":
            chosen = abstain.choose_threshold(frame=lazy, confidence="confidence", coverage=0.5)
            assert (chosen.threshold, chosen.risk) == pytest.approx((by_loop(mine)[1], by_loop(mine)[0][2]))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_probability_of_zero_adds_nothing_to_the_entropy(engine):
    """A row that is sure of its class has the highest score, and no NaN."""
    known = [0.0, 0.25, 0.5, 0.875, 1.0, 0.75]
    frame = pl.DataFrame({"label": [0, 1, 1, 0, 1, 1], "p_0": [1.0 - p for p in known], "p_1": known})
    score = [sum(q * math.log(q) for q in (p, 1.0 - p) if q) for p in known]
    loss = [int((p > 0.5) != label) for p, label in zip(known, [0, 1, 1, 0, 1, 1], strict=True)]
    given = [{"confidence": s, "loss": wrong, "weight": 1} for s, wrong in zip(score, loss, strict=True)]
    found = abstain.evaluate(ENGINES[engine]([frame]), scores="neg_entropy", metrics=METRICS)
    assert [found.value(metric) for metric in METRICS] == pytest.approx(by_loop(given)[0])
