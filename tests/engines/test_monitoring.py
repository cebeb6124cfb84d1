"""``monitor`` on rows that an engine or many files hold: that of the rows in memory, in the order of their times."""

import numpy as np
import polars as pl
import pytest

import abstain
from abstain import UnmetNeed
from tests.engines.cases import check_alike, check_watched, labelled, policy
from tests.engines.test_here import ENGINES
from tests.refusal import refused


@pytest.mark.parametrize(("time", "groups", "later"), [("day", True, 0.1), ("number", False, 0.5)])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_gives_what_the_rows_in_memory_show(engine, time, groups, later, monkeypatch):
    """Evidence, changes, drift, periods and groups, whether the rows are written out at once or by some days."""
    for once in (1_000_000, 200):
        monkeypatch.setattr("abstain.monitoring._api.AT_ONCE", once)
        check_watched(ENGINES[engine], time, groups, later)


def test_maturity_is_counted_from_the_latest_row():
    """Rows are then written out all at once, since the youngest say which are due."""
    frame, one = labelled(), policy()
    told = {"maturity": 10, "as_of": "1970-03-05"}
    found = abstain.monitor(one, frame=frame.lazy(), loss="loss", time="day", **told)
    expected = abstain.monitor(one, frame["loss"].fill_null(float("nan")), frame["conf"], time=frame["day"], **told)
    assert found.waiting == expected.waiting > 0
    check_alike(found.to_dict(), expected.to_dict(), "maturity")


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"time": None}, "the rows of a frame have no order but that of a column; give time="),
        ({"time": "days"}, "time='days': no column has this name; did you mean 'day'"),
        ({"clusters": "site"}, "clusters are monitored by their first rows, one by one"),
        ({"frame": labelled()}, "frame must be a lazy frame"),
        ({"where": "x"}, "where= is not read in a scan"),
        ({"most": 30}, r"rows are evaluated together, more than 30; give a finer time or collect"),
    ],
)
def test_what_cannot_be_had_from_counts_is_refused_by_name(told, reason, monkeypatch):
    """The message says what, and what to do."""
    usual = {"frame": labelled().lazy(), "loss": "loss", "time": "day"} | told
    monkeypatch.setattr("abstain.monitoring._api.MOST", usual.pop("most", 10**6))
    refused((UnmetNeed, ValueError, TypeError), reason, abstain.monitor, policy(), **usual)


def test_a_computed_score_is_that_of_the_policy():
    """The largest probability is had by the engine, logits are not."""
    rng = np.random.default_rng(0)
    p, names = rng.dirichlet([5, 1, 1], 500), ["p_0", "p_1", "p_2"]
    frame = pl.DataFrame(dict(zip(names, p.T, strict=True)) | {"loss": rng.integers(0, 2, 500), "day": range(500)})
    found = abstain.choose_threshold(rng.random(500) < 0.2, rng.random(500), coverage=0.5)
    one, other = found.policy(score="msp", probabilities=names), found.policy(score="msp", logits=names)
    expected = abstain.monitor(one, frame["loss"], p.max(axis=1), time=frame["day"])
    told = {"frame": frame.lazy(), "loss": "loss", "time": "day"}
    check_alike(abstain.monitor(one, **told).to_dict(), expected.to_dict(), "msp")
    refused(UnmetNeed, "of probabilities, not 'msp'", abstain.monitor, other, **told)
