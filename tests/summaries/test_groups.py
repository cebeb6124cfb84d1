"""A summary for each value of a column, from one pass: each is that of its rows alone, and they add up to the whole."""

import pickle

import duckdb
import numpy as np
import polars
import pytest

import abstain
from abstain.summaries import GroupedSummary, Key, Summary, read_summary, sql, summarize
from tests.refusal import refused
from tests.summaries.test_summary import same

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


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow", "duckdb", "file", "csv", "parts"])
def test_every_source_gives_each_group_its_summary(tmp_path, kind):
    """One pass over frames, lazy or not, a relation or files is a pass over the rows of each group, and over all."""
    frame = rows()
    frame.write_parquet(tmp_path / "all.parquet", row_group_size=700)
    frame.write_csv(tmp_path / "all.csv")
    for k, part in enumerate((frame[:1000], frame[1000:1000], frame[1000:])):
        part.write_parquet(tmp_path / f"part-{k}.parquet")
    sources = {
        "polars": lambda: frame, "lazy": frame.lazy, "pandas": frame.to_pandas, "pyarrow": frame.to_arrow,
        "duckdb": lambda: duckdb.from_arrow(frame.to_arrow()), "file": lambda: tmp_path / "all.parquet",
        "csv": lambda: str(tmp_path / "all.csv"), "parts": lambda: str(tmp_path / "part-*.parquet"),
    }  # fmt: skip
    told, expected = {"confidence": "msp", "loss": "wrong"}, Summary().update(frame["wrong"], frame["msp"])
    found = summarize(sources[kind](), **told, groups="site")
    assert equal(found, apart(frame))
    assert same(found.whole, expected)
    assert same(summarize(sources[kind](), **told), expected)


DAYS = polars.Series(["2026-01-01", "2026-02-01", "2026-03-01"]).str.to_date()


@pytest.mark.parametrize("values", [[1, 2, 10], [0.5, 1.5, 10.0], [False, True, True], ["a", "b", "a b"], DAYS])
def test_groups_of_any_kind_keep_their_names(tmp_path, values):
    """Numbers, truth values, words and days are called as in ``evaluate``, here, in DuckDB, and after a file."""
    frame, told = (
        rows(300).with_columns(site=polars.concat([polars.Series(values)] * 100)),
        {"confidence": "msp", "loss": "wrong"},
    )
    called = abstain.evaluate(frame, **told, groups="site", metrics="risk", level=0).measurements
    found = summarize(frame, **told, groups="site")
    found.save(tmp_path / "s.parquet")
    there = summarize(duckdb.from_arrow(frame.to_arrow()), **told, groups="site")
    assert [f"site = {name}" for name in found.parts] == [str(each.group) for each in called if each.group is not None]
    for other in (read_summary(tmp_path / "s.parquet"), there):
        assert equal(other, dict(found.parts))
        assert [type(name) for name in other.parts] == [type(name) for name in found.parts]


@pytest.mark.parametrize("scale", ["probability", "real"])
def test_one_query_counts_all_groups(tmp_path, scale):
    """One GROUP BY, of columns with quotes in their names, loads as what NumPy made of the rows."""
    name = 'it\'s "a" site'
    frame = rows().rename({"site": name})
    query = sql(Key(scale, 10), confidence="msp", loss="wrong", table="frame", groups=name)
    duckdb.sql(query).write_parquet(str(tmp_path / "s.parquet"))
    found = read_summary(tmp_path / "s.parquet")
    assert (query.count("GROUP BY"), found.groups) == (1, name)
    assert equal(found, apart(frame, name, scale=scale, bits=10))


def test_they_add_up_group_by_group():
    """Groups that only some parts have are kept, parts stay as they are, and a copy goes its own way."""
    frame = rows()
    parts = [frame[:2500], frame[2500:2500], *frame[2500:].partition_by("site")]
    made = [summarize(part, confidence="msp", loss="wrong", groups="site") for part in parts]
    one, *others = map(pickle.loads, map(pickle.dumps, made))
    assert equal(one.merge(*others), apart(frame))
    assert one.n == 2500
    chunks = GroupedSummary("site")
    for part in parts:
        chunks.update(part["wrong"], part["msp"], part["site"])
    assert equal(chunks, apart(frame))
    result = chunks.result(["aurc", "risk"])
    assert [row["group"] for row in result.rows()] == [name for name in (None, *chunks.parts) for _ in "12"]
    assert result.parts["south"]["risk"].value == pytest.approx(frame.filter(site="south")["wrong"].mean())


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
    for day, part in {"monday": frame[:2500], "tuesday": frame[2500:]}.items():
        part.write_parquet(f"{day}.parquet")
        do(f"summarize {day}.parquet {COLUMNS} --groups site -o {day}-s.parquet")
    assert "6,000 rows in 2 summaries" in do("merge '*-s.parquet' -o week-s.parquet").err
    do(f"summarize tuesday.parquet monday-s.parquet {COLUMNS} -o mixed.parquet")
    query = do(f"summarize --sql {COLUMNS} --groups site --table \"'monday.parquet'\"").out
    duckdb.sql(query).write_parquet("by-sql.parquet")
    for name, part in (("week-s", frame), ("mixed", frame), ("by-sql", frame[:2500])):
        assert equal(read_summary(f"{name}.parquet"), apart(part))
    found = do("summarize week-s.parquet --json -").json
    assert found["parts"]["south"]["n"] == len(frame.filter(site="south"))
    text = do("summarize week-s.parquet").out
    assert "AUGRC ↓\nsite " in text
    assert max(map(len, text.splitlines())) <= 80
    do(f"summarize monday.parquet {COLUMNS} -o plain.parquet")
    frame[:9].rename({"site": "hour"}).write_parquet("hours.parquet")
    for line, said in {
        "merge plain.parquet week-s.parquet -o x.parquet": "week-s.parquet: merge takes summaries of one kind",
        "summarize plain.parquet --groups site": "plain.parquet: is a summary without groups",
        f"summarize monday.parquet {COLUMNS} --groups sites": "monday.parquet: column 'sites' is not there",
        f"summarize hours.parquet week-s.parquet {COLUMNS} --groups hour": "by 'hour' and probability/16 by 'site' do",
    }.items():
        assert said in do(line, 2).err
