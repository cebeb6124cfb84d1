"""What is given next to the rows, a second score, and probabilities in the place of logits."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from abstain.policy import SecondScore
from tests.policy.policies import by_hand
from tests.refusal import refused


def two_scores(uncertainty=False):
    """Return a policy with a group, a second score and a column of what the model declined."""
    second = SecondScore("t", None, None, uncertainty=uncertainty, threshold=-0.5 if uncertainty else 0.5)
    return by_hand("s", {"a": 0.6, "b": 0.2}, group="g", reading={"abstained": "d"}, second=second)


@pytest.mark.parametrize("form", ["row", "frame", "pandas"])
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "accepted"),
        ({"groups": "a"}, "below_threshold"),
        ({"second": 0.4}, "below_second_threshold"),
        ({"second": math.nan}, "missing_score"),
        ({"declined": True}, "declined"),
        ({"groups": "new"}, "unknown_group"),
    ],
)
def test_what_is_given_takes_the_place_of_columns(form, given, reason):
    """A row that is accepted by its own columns: group, second score and refusal may be given apart."""
    row = {"s": 0.3, "t": 0.9, "g": "b", "d": False}
    many = {name: np.array([value]) if name == "declined" else [value] for name, value in given.items()}
    frame = pl.DataFrame([row]) if form == "frame" else pd.DataFrame([row])
    found = two_scores().decide(row, **given) if form == "row" else two_scores().decide(frame, **many)[0]
    assert (found.reason, found.score) == (reason, 0.3)


def test_a_second_score_that_is_an_uncertainty_is_minus_its_column():
    """In a row, a frame and arrays, whether it is a column of theirs or given: 0.4 is sure enough, 0.6 is not."""
    policy, rows = two_scores(uncertainty=True), [{"s": 0.9, "t": t, "g": "a", "d": False} for t in (0.4, 0.6)]
    bare = [{**row, "t": None} for row in rows]
    wanted = ["accepted", "below_second_threshold"]
    assert [policy.decide(row).reason for row in rows] == wanted
    assert [policy.decide(row, second=t).reason for row, t in zip(bare, (0.4, 0.6), strict=True)] == wanted
    assert policy.decide(pl.DataFrame(rows)).reason.tolist() == wanted
    assert policy.decide(pl.DataFrame(rows).drop("t"), second=[0.4, 0.6]).reason.tolist() == wanted
    assert policy.decide([0.9, 0.9], ["a", "a"], second=[0.4, 0.6]).reason.tolist() == wanted


def test_a_number_alone_decides_only_where_it_is_all_that_is_needed():
    """Not by group, with a second score, or as an uncertainty; words and per cent are read."""
    policy = by_hand("s", {"": 0.4})
    assert (policy.decide(0.4).reason, policy.decide(0.3).reason) == ("accepted", "below_threshold")
    second = SecondScore("t", None, None, uncertainty=False, threshold=0.5)
    refused(TypeError, "has a second score, 't'", by_hand("s", {"": 0.4}, second=second).decide, 0.9)
    refused(TypeError, "give groups=", by_hand("s", {"a": 0.4}, group="g").decide, 0.9)
    doubt = by_hand("s", {"": -0.4}, reading={"uncertainty": "s"})
    assert (doubt.decide(0.3).reason, doubt.decide(0.5).reason) == ("accepted", "below_threshold")
    cents = by_hand("s", {"": 0.4}, reading={"confidence_levels": ["%"]})
    refused(ValueError, "the scale of calibration", cents.decide, 40.0)
    assert cents.decide("45%").accepted


def test_probabilities_in_the_place_of_logits_are_noticed():
    for rows, noticed in (
        ([[0.3, 0.7]], False),  # two logits alone may well sum to 1
        ([[0.3, 0.7], [0.25, 0.75]], True),
        ([[0.2, 0.3, 0.5]], True),
        ([[0.2, 0.3, 0.5], [0.2, 0.3, 0.6]], False),
        ([[0.2, 0.3, 0.5], [0.2, 0.3, 0.50001]], False),
        ([[0.2, 0.3, 0.5], [math.nan, 0.3, 0.7]], True),
        ([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], False),  # whole numbers
        ([[-0.5, 0.5, 1.0]], False),
        ([[1.2, -0.2, 0.0]], False),
    ):
        columns = ["x", "y", "z"][: len(rows[0])]
        policy = by_hand("max_logit", {"": 0.9}, inputs={"logits": columns})
        for form in (rows, pl.DataFrame(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)))):
            if noticed:
                refused(ValueError, "these are probabilities, not logits", policy.decide, form)
            else:
                assert len(policy.decide(form)) == len(rows)
