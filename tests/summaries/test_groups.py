"""A summary for each value of a column, from one pass: each is that of its rows alone, and they add up to the whole."""

import datetime
import pickle

import duckdb
import numpy as np
import polars
import pytest

import abstain
from abstain.summaries import GroupedSummary, Key, Summary, read_summary, sql, summarize
from tests.refusal import refused
from tests.summaries.test_summary import same

COLUMNS = ["--confidence", "msp", "--loss", "wrong"]

COLUMNS = "--confidence msp --loss wrong"


def rows(n=6000, seed=0):
    """Rows of three sites, of which one is rare, in any order."""
    rng = np.random.default_rng(seed)
    msp = rng.beta(5, 1, n)
    site = rng.choice(["north", "south", "o'west"], n, p=[0.6, 0.399, 0.001])
    return polars.DataFrame({"msp": msp, "wrong": rng.random(n) > msp, "site": site})


def apart(frame, groups="site", **key):
    """The summary of each group, made of its rows alone."""
    parts = frame.partition_by(groups)
    return {part[groups][0]: Summary(**key).update(part["wrong"], part["msp"]) for part in parts}


def equal(found, expected):
    """Whether each group has its summary, to the bit."""
    return sorted(expected) == list(found.parts) and all(same(found.parts[name], expected[name]) for name in expected)


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow", "duckdb", "file", "csv", "parts", "chunks"])
def test_every_source_gives_each_group_its_summary(tmp_path, kind):
    """One pass over frames, lazy or not, a relation, files or chunks, is a pass over the rows of each group."""
    frame = rows()
    frame.write_parquet(tmp_path / "all.parquet", row_group_size=700)
    frame.write_csv(tmp_path / "all.csv")
    for k, part in enumerate((frame[:1000], frame[1000:1000], frame[1000:])):
        part.write_parquet(tmp_path / f"part-{k}.parquet")
    expected, told = apart(frame), {"confidence": "msp", "loss": "wrong", "groups": "site"}
    if kind == "chunks":
        found = GroupedSummary("site")
        for part in (frame[:77], frame[77:]):
            found.update(part["wrong"], part["msp"], part["site"])
    else:
        sources = {
            "polars": lambda: frame, "lazy": frame.lazy, "pandas": frame.to_pandas, "pyarrow": frame.to_arrow,
            "duckdb": lambda: duckdb.from_arrow(frame.to_arrow()), "file": lambda: tmp_path / "all.parquet",
            "csv": lambda: str(tmp_path / "all.csv"), "parts": lambda: str(tmp_path / "part-*.parquet"),
        }  # fmt: skip
        found = summarize(sources[kind](), **told)
    assert equal(found, expected)
    assert same(found.whole, Summary().update(frame["wrong"], frame["msp"]))


@pytest.mark.parametrize(
    "values",
    [[1, 2, 10], [0.5, 1.5, 10.0], [False, True, True], ["a", "b", "a b"],
     [datetime.date(2026, 1, k) for k in (1, 2, 3)]],
    ids=["int", "float", "bool", "text", "date"],
)  # fmt: skip
def test_groups_of_any_kind_keep_their_names(tmp_path, values):
    """Numbers, truth values, words and days are called as in ``evaluate``, here, in DuckDB, and after a file."""
    frame = rows(300).with_columns(site=polars.Series([values[k % 3] for k in range(300)]))
    called = abstain.evaluate(
        frame, confidence="msp", loss="wrong", groups="site", metrics="risk", level=0
    ).measurements
    found = summarize(frame, confidence="msp", loss="wrong", groups="site")
    found.save(tmp_path / "s.parquet")
    again = read_summary(tmp_path / "s.parquet")
    there = summarize(duckdb.from_arrow(frame.to_arrow()), confidence="msp", loss="wrong", groups="site")
    assert [f"site = {name}" for name in found.parts] == [str(each.group) for each in called if each.group is not None]
    for other in (again, there):
        assert isinstance(other, GroupedSummary)
        assert equal(other, dict(found.parts))
        assert [type(name) for name in other.parts] == [type(name) for name in found.parts]


@pytest.mark.parametrize("scale", ["probability", "real"])
def test_one_query_counts_all_groups(tmp_path, scale):
    """One GROUP BY, of columns with quotes in their names, loads as what NumPy made of the rows."""
    frame = rows().rename({"site": 'it\'s "a" site'})
    query = sql(Key(scale, 10), confidence="msp", loss="wrong", table="frame", groups='it\'s "a" site')
    assert query.count("GROUP BY") == 1
    duckdb.sql(query).write_parquet(str(tmp_path / "s.parquet"))
    found = read_summary(tmp_path / "s.parquet")
    assert isinstance(found, GroupedSummary)
    assert found.groups == 'it\'s "a" site'
    assert equal(found, apart(frame, found.groups, scale=scale, bits=10))


def test_they_add_up_group_by_group():
    """Groups that only some parts have are kept, parts stay as they are, and a copy goes its own way."""
    frame = rows()
    parts = [frame[:2500], frame[2500:2500], frame[2500:].filter(polars.col("site") != "south"),
             frame[2500:].filter(polars.col("site") == "south")]  # fmt: skip
    made = [summarize(part, confidence="msp", loss="wrong", groups="site") for part in parts]
    one, *others = map(pickle.loads, map(pickle.dumps, made))
    assert equal(one.merge(*others), apart(frame))
    assert one.n == 2500
    result = one.merge(*others).result(["aurc", "coverage_at_risk(risk=0.1)"])
    south = frame.filter(site="south")
    exact = abstain.metrics.parse("coverage_at_risk(risk=0.1)")(
        abstain.TieBlocks.from_samples(south["wrong"].to_numpy(), south["msp"].to_numpy())
    )
    bounded = result.parts["south"]["coverage_at_risk(risk=0.1)"]
    assert bounded.low <= exact <= bounded.high
    assert [row["group"] for row in result.rows()] == [
        each for each in (None, "north", "o'west", "south") for _ in "12"
    ]


def test_bad_groups_are_refused_and_leave_no_trace():
    """Missing groups, words beside numbers, too many, other columns and kinds that do not add up, no rows to save."""
    days = GroupedSummary("day").update([0, 1], [0.9, 0.8], [1, 2])
    told = {"confidence": "msp", "loss": "wrong", "groups": "site"}
    cases = [
        (ValueError, "words and numbers, 'x' and 1; cast", lambda: days.update([0], [0.5], ["x"])),
        (ValueError, "holds None, which names no group", lambda: days.update([0, 1], [0.5, 0.6], [3, None])),
        (ValueError, "holds nan, which names no group", lambda: days.update([0, 1], [0.5, 0.6], [3, np.nan])),
        (ValueError, "lengths differ", lambda: days.update([0, 1], [0.5, 0.6], [3])),
        (ValueError, "loss is negative", lambda: days.update([0, -1], [0.5, 0.6], [3, 4])),
        (ValueError, "has more than 1000 distinct", lambda: days.update(np.zeros(1001), np.zeros(1001), range(1001))),
        (ValueError, "by 'day' and probability/16 by 'site' do not add", lambda: days.merge(GroupedSummary("site"))),
        (TypeError, "of one kind, got GroupedSummary and Summary", lambda: days.merge(Summary())),
        (TypeError, "of one kind, got Summary and GroupedSummary", lambda: Summary().merge(days)),
        (ValueError, "there is nothing to save", lambda: GroupedSummary("day").save("x.parquet")),
        (ValueError, "holds no rows; update it", lambda: GroupedSummary("day").result()),
        (ValueError, "column 'day' is not there", lambda: summarize(rows(9), **{**told, "groups": "day"})),
    ]  # fmt: skip
    frame = rows(9).with_columns(site=polars.Series(["a"] * 7 + [None] * 2))
    cases += [
        (ValueError, r"groups\[7\] of 'site' is missing", lambda: summarize(frame, **told)),
        (ValueError, r"groups\[7\] of 'site' is missing", lambda: summarize(frame.to_pandas(), **told)),
        (ValueError, "'site' is null in 2 rows", lambda: summarize(duckdb.from_arrow(frame.to_arrow()), **told)),
    ]
    for kind, message, call in cases:
        refused(kind, message, call)
    assert (days.n, list(days.parts)) == (2, [1, 2])


def test_the_command_makes_merges_and_shows_groups(do):
    """Two days by site add up to both; rows join a file of groups; files of two kinds do not add up."""
    frame = rows()
    frame[:2500].write_parquet("monday.parquet")
    frame[2500:].write_parquet("tuesday.parquet")
    for day in ("monday", "tuesday"):
        do(f"summarize {day}.parquet {COLUMNS} --groups site -o {day}-s.parquet")
    do("merge '*-s.parquet' -o week-s.parquet")
    do(f"summarize tuesday.parquet monday-s.parquet {COLUMNS} -o mixed.parquet")
    for name in ("week-s.parquet", "mixed.parquet"):
        found = read_summary(name)
        assert isinstance(found, GroupedSummary)
        assert equal(found, apart(frame))
    found = do("summarize week-s.parquet --json -").json
    assert found["parts"]["south"]["n"] == len(frame.filter(site="south"))
    text = do("summarize week-s.parquet").out
    assert "AUGRC ↓\nsite " in text
    assert max(map(len, text.splitlines())) <= 80
    query = do(f"summarize --sql {COLUMNS} --groups site --table \"'monday.parquet'\"").out
    duckdb.sql(query).write_parquet("by-sql.parquet")
    assert equal(read_summary("by-sql.parquet"), dict(read_summary("monday-s.parquet").parts))
    do(f"summarize monday.parquet {COLUMNS} -o plain.parquet")
    said = do("merge plain.parquet week-s.parquet -o x.parquet", 2).err
    assert "week-s.parquet: merge takes summaries of one kind" in said
    said = do("summarize plain.parquet --groups site", 2).err
    assert "plain.parquet: is a summary without groups" in said
    said = do(f"summarize monday.parquet {COLUMNS} --groups sites", 2).err
    assert "monday.parquet: column 'sites' is not there" in said
    frame[:9].rename({"site": "hour"}).write_parquet("monday.parquet")
    said = do(f"summarize monday.parquet week-s.parquet {COLUMNS} --groups hour", 2).err
    assert "by 'hour' and probability/16 by 'site' do not add up" in said
