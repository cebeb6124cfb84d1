"""``choose_threshold`` on rows that an engine or many files hold: that of the rows in memory, from counts."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain
from abstain import UnmetNeed
from abstain.thresholds import ReusedCalibrationWarning
from tests.engines.cases import KINDS, OBJECTIVES, check_alike, check_threshold, parts, rows
from tests.engines.test_here import ENGINES, in_turn
from tests.refusal import refused
from tests.strategies import problems


@in_turn(KINDS)
def test_an_engine_gives_the_threshold_of_the_rows_in_memory(engine, kind):
    """Threshold, guarantee, intervals, fingerprint, sketch and bins, or the same refusal, for any rows in any parts."""
    check_threshold(ENGINES[engine], kind, 4, OBJECTIVES)


@given(problems(losses=["binary", "graded", "repeated"]), st.integers(1, 7), st.sampled_from(["coverage", "risk"]))
def test_any_problem_in_any_parts(problem, number, objective):
    """Ties, infinite scores and weights of zero are as in memory."""
    columns = {"loss": problem.loss, "confidence": problem.confidence, "sample_weight": problem.weight}
    columns = {name: np.asarray(column, dtype=float) for name, column in columns.items() if column is not None}
    frame = pl.DataFrame(columns).rename({"sample_weight": "weight"}, strict=False)
    lazy, told = pl.concat([each.lazy() for each in parts(frame, number)]), {objective: 0.4}
    try:
        expected = abstain.choose_threshold(**columns, **told)
    except ValueError as error:
        refused(type(error), r"inf|sum", abstain.choose_threshold, frame=lazy, **told)
        return
    check_alike(abstain.choose_threshold(frame=lazy, **told).to_dict(), expected.to_dict(), objective)


def test_a_policy_from_counts_knows_its_rows_again():
    """The fingerprint is that of the rows, so an audit on them warns."""
    frame = rows(3, ties=False)
    found = abstain.choose_threshold(frame=frame.lazy(), coverage=0.5)
    with pytest.warns(ReusedCalibrationWarning):
        abstain.audit(found, frame["loss"], frame["confidence"])


def test_copies_are_noticed_in_counts():
    """Rows that were copied come back as one with the number 2, which is said as in memory."""
    frame = pl.concat([rows(3, ties=False)] * 2)
    with pytest.warns(UserWarning, match="400 of 800 rows are exact copies"):
        abstain.choose_threshold(frame=frame.lazy(), risk=0.5, delta=0.1)


def test_a_wide_tie_is_written_out_in_pieces(monkeypatch):
    """The fingerprint of a tie of more rows than a piece is that of its rows."""
    monkeypatch.setattr("abstain.thresholds._sample.PIECE", 7)
    frame = pl.DataFrame({"confidence": np.arange(100) // 40 / 4, "loss": np.arange(100) % 2})
    found = abstain.choose_threshold(frame=frame.lazy(), coverage=0.5)
    expected = abstain.choose_threshold(frame["loss"], frame["confidence"], coverage=0.5)
    assert found.calibration.fingerprint == expected.calibration.fingerprint


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"confidence": "energy"}, "score 'energy' is not computed in a scan"),
        ({"confidence": np.ones(3)}, "confidence must name a column of the frame, got ndarray"),
        ({"loss": "wrong"}, "column 'wrong' is not in the file; known: confidence, loss, other, site"),
        ({"where": {"site": "north"}}, "where= is not read in a scan"),
        ({"frame": rows(1)}, "frame must be a lazy frame, a pattern of Parquet files or a folder"),
        ({"loss": [0, 1], "frame": None}, "confidence is missing; give loss and confidence as columns, or frame="),
        ({"frame": rows(1, clustered=True).lazy()}, "clusters= needs the rows one by one, at most 100, got 400"),
    ],
)
def test_what_cannot_be_had_from_counts_is_refused_by_name(told, reason, monkeypatch):
    """The message says what, and what to do."""
    monkeypatch.setattr("abstain.thresholds._sample.MOST_ROWS", 100)
    usual = {"frame": rows(1).lazy(), "coverage": 0.5}
    refused((UnmetNeed, ValueError, TypeError), reason, abstain.choose_threshold, **(usual | told))
