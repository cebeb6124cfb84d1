"""``monitor`` on rows that an engine or many files hold: that of the rows in memory, in the order of their times."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import abstain
from abstain import UnmetNeed
from tests.engines.cases import check_alike, check_watched, labelled, policy, written
from tests.engines.test_here import ENGINES


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
    ("told", "kind", "reason"),
    [
        ({"time": None}, ValueError, "the rows of a frame have no order but that of a column; give time="),
        ({"time": "week"}, ValueError, "time='week': no column has this name"),
        ({"clusters": "site"}, UnmetNeed, "clusters are monitored by their first rows, one by one"),
        ({"frame": labelled()}, TypeError, "frame must be a lazy frame"),
        ({"where": "x"}, UnmetNeed, "where= is not read in a scan"),
    ],
)
def test_what_cannot_be_had_from_counts_is_refused_by_name(told, kind, reason):
    """The message says what, and what to do."""
    usual = {"frame": labelled().lazy(), "loss": "loss", "time": "day"}
    with pytest.raises(kind, match=reason):
        abstain.monitor(policy(), **(usual | told))


def test_a_computed_score_is_that_of_the_policy():
    """The largest probability is had by the engine, logits are not."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet([5, 1, 1], 500)
    frame = pl.DataFrame({f"p_{k}": p[:, k] for k in range(3)} | {"loss": rng.integers(0, 2, 500), "day": range(500)})
    found = abstain.choose_threshold(rng.random(500) < 0.2, rng.random(500), coverage=0.5)
    one = found.policy(score="msp", probabilities=["p_0", "p_1", "p_2"])
    expected = abstain.monitor(one, frame["loss"], p.max(axis=1), time=frame["day"])
    seen = abstain.monitor(one, frame=frame.lazy(), loss="loss", time="day")
    check_alike(seen.to_dict(), expected.to_dict(), "msp")
    other = found.policy(score="msp", logits=["p_0", "p_1", "p_2"])
    with pytest.raises(UnmetNeed, match="of probabilities, not 'msp'"):
        abstain.monitor(other, frame=frame.lazy(), loss="loss", time="day")


def test_too_many_rows_of_one_time_are_refused(monkeypatch):
    """Rows of one time are evaluated together."""
    monkeypatch.setattr("abstain.monitoring._api.MOST", 30)
    with pytest.raises(UnmetNeed, match=r"rows are evaluated together, more than 30; give a finer time or collect"):
        abstain.monitor(policy(), frame=labelled().lazy(), loss="loss", time="day")


def test_the_command_takes_a_pattern(do):
    """It prints what one file with all rows shows, but for unread columns that may be groups, and keeps a state."""
    policy().save("policy.json")
    printed = []
    for k, file in enumerate(written(labelled().fill_null(0.0), 3)):
        done = do(f"monitor policy.json {file} --loss loss --time day --state watch-{k}.json")
        verdict, _, rest = done.out.partition("\n\n")
        assert rest
        printed.append((verdict.splitlines()[0], rest))
        assert Path(f"watch-{k}.json").exists()
    assert printed[0] == printed[1]
    assert "give --time, when each label came" in do("monitor policy.json part-*.parquet --loss loss", 2).err
