"""The same summary from every engine and by command: NumPy, polars, pandas, files, and one GROUP BY in DuckDB."""

from pathlib import Path

import duckdb
import numpy as np
import polars
import pytest

from abstain.summaries import Key, Summary, read_summary, sql, summarize
from tests.refusal import refused
from tests.summaries.test_summary import same


def edges(scale):
    """Scores at random, and at every edge of a key."""
    rng = np.random.default_rng(3)
    powers = 2.0 ** -np.arange(60.0)
    score = np.concatenate([rng.random(3000), 1.0 - 10.0 ** -rng.uniform(0, 18, 3000), 1.0 - powers, powers, [5e-324]])
    if scale == "probability":
        return np.append(score, [0.0, 1.0])
    more = [np.inf, -np.inf, 1.7e308, -1.7e308, 0.0, 2.0**32, -(2.0**32), np.nextafter(2.0**32, 0), -(2.0**-32)]
    return np.concatenate([score, -score, 1e12 * score, -1e12 * score, more])


@pytest.mark.parametrize("bits", [8, 13, 16, 20])
@pytest.mark.parametrize("scale", ["probability", "real"])
def test_sql_gives_the_summary_to_the_bit(tmp_path, scale, bits):
    """One GROUP BY in DuckDB, written by it as Parquet, loads as what NumPy made of the rows."""
    score = edges(scale)
    loss = np.random.default_rng(4).random(len(score)) < 0.3
    rows = polars.DataFrame({'m"s p': score, "select": loss})
    query = sql(Key(scale, bits), confidence='m"s p', loss="select", table="rows")
    duckdb.sql(query).write_parquet(str(tmp_path / "s.parquet"))
    expected = Summary(scale, bits).update(loss, score)
    assert same(read_summary(tmp_path / "s.parquet"), expected)
    assert same(summarize(rows, confidence='m"s p', loss="select", scale=scale, bits=bits), expected)


@pytest.mark.parametrize("scale", ["probability", "real"])
def test_rows_that_cannot_be_used_are_counted(tmp_path, scale):
    """SQL leaves nulls out of sums: the reader says how many there are, whatever an engine thinks of NaN."""
    score = [0.5, None, float("nan"), 0.7, 0.6, 0.2]
    rows = polars.DataFrame({"msp": score, "wrong": [0.0, 1.0, 1.0, None, -1.0, 1.0]})
    duckdb.sql(sql(Key(scale), confidence="msp", loss="wrong", table="rows")).write_parquet(str(tmp_path / "s.parquet"))
    refused(ValueError, "4 rows have no usable score or loss", lambda: read_summary(tmp_path / "s.parquet"))
    with pytest.raises(ValueError, match="4 rows have no usable score or loss"):
        summarize(duckdb.from_arrow(rows.to_arrow()), confidence="msp", loss="wrong", scale=scale)
    assert len(rows) == 6


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow", "duckdb", "file", "csv", "parts"])
def test_every_source_gives_the_same(tmp_path, kind):
    """Frames, lazy or not, a relation, one file, a CSV, and a pattern of parts; truth values or whole numbers."""
    rng = np.random.default_rng(5)
    score, loss = np.round(rng.random(3000), 4), rng.random(3000) < 0.2
    rows = polars.DataFrame({"msp": score, "wrong": loss, "other": ["x"] * 3000})
    rows.write_parquet(tmp_path / "all.parquet", row_group_size=700)
    rows.write_csv(tmp_path / "all.csv")
    for k, part in enumerate((rows[:1000], rows[1000:1000], rows[1000:])):
        part.write_parquet(tmp_path / f"part-{k}.parquet")
    sources = {
        "polars": lambda: rows, "lazy": rows.lazy, "pandas": rows.to_pandas, "pyarrow": rows.to_arrow,
        "duckdb": lambda: duckdb.from_arrow(rows.to_arrow()), "file": lambda: tmp_path / "all.parquet",
        "csv": lambda: str(tmp_path / "all.csv"), "parts": lambda: str(tmp_path / "part-*.parquet"),
    }  # fmt: skip
    assert same(summarize(sources[kind](), confidence="msp", loss="wrong"), Summary().update(loss, score))


def test_labels_and_predictions_in_place_of_a_loss():
    """The loss is whether they differ."""
    rows = polars.DataFrame({"p": [0.9, 0.8, 0.7], "y": ["cat", "dog", "cat"], "yhat": ["cat", "cat", "cat"]})
    found = summarize(rows, confidence="p", labels="y", predictions="yhat")
    assert same(found, Summary().update([0, 1, 0], [0.9, 0.8, 0.7]))


def test_errors_name_file_and_row(tmp_path):
    """A bad row counted through the chunks, a column that is not there, a cut file, no file, the same file twice."""
    n = 600_000
    loss = np.zeros(n)
    loss[n - 2] = -1.0
    file, cut = tmp_path / "rows.parquet", tmp_path / "cut.parquet"
    polars.DataFrame({"p": np.full(n, 0.5), "l": loss, "t": ["a"] * n}).write_parquet(file)
    cut.write_bytes(file.read_bytes()[:500])
    (tmp_path / "long.csv").write_text("p,l,t\n0.5,0,1\n0.5,0,1,7\n")
    cases = [
        (file, {"loss": "l"}, rf"rows.parquet: loss is negative: loss\[{n - 2}\] = -1.0 \(1 such\)"),
        (file, {"loss": "wrong"}, "rows.parquet: column 'wrong' is not there"),
        (cut, {"loss": "l"}, "cut.parquet: cannot be read"),
        (tmp_path / "long.csv", {"loss": "l"}, r"long.csv: data row 2 \(line 3\) has 4 fields"),
        ([file, file], {"loss": "l"}, "is given twice"),
        (tmp_path / "rows.txt", {"loss": "l"}, "no such file"),
    ]
    for source, columns, message in cases:
        with pytest.raises((ValueError, FileNotFoundError), match=message) as caught:
            summarize(source, confidence="p", **columns)
        assert "\n" not in str(caught.value)
    refused(TypeError, "column 't' must be numeric", summarize, file, confidence="p", loss="t")
    refused(TypeError, "give loss=, or both", summarize, file, confidence="p")
    with pytest.raises(ValueError, match="confidence holds NaN"):
        summarize(polars.DataFrame({"p": [0.5, None], "l": [0, 1]}), confidence="p", loss="l")
    assert summarize(polars.DataFrame({"p": [None], "l": [1]}).cast(float), confidence="p", loss="l",
                     nan_policy="reject").n == 1  # fmt: skip


@pytest.mark.parametrize("kind", ["pandas", "lazy", "lazy of older versions"])
@pytest.mark.parametrize("n", [1, 16, 17, 300])
def test_every_piece_of_a_frame_is_counted(n, kind, monkeypatch):
    """Whole pieces, and a last one of any size; older versions of polars give slices, not batches."""
    monkeypatch.setattr("abstain.summaries._scan.CHUNK", 16)
    if kind.endswith("versions"):
        monkeypatch.delattr(polars.LazyFrame, "collect_batches", raising=False)
    rows = polars.DataFrame({"conf": np.linspace(0.0, 1.0, n), "err": np.arange(n) % 2.0})
    found = summarize(rows.to_pandas() if kind == "pandas" else rows.lazy(), confidence="conf", loss="err")
    assert (found.n, found.result().mean_loss) == (n, rows["err"].mean())


COLUMNS = "--confidence msp --loss wrong"


@pytest.fixture
def folder(tmp_path, do):
    """Two days of logs in the working folder."""
    rng = np.random.default_rng(0)
    for day in ("monday", "tuesday"):
        msp = rng.beta(5, 1, 4000)
        polars.DataFrame({"msp": msp, "wrong": rng.random(4000) > msp}).write_parquet(tmp_path / f"{day}.parquet")
    return tmp_path


def test_days_add_up_to_the_week(folder, do):
    """Summaries of two days merge to that of both, which prints the same bounds; parts of both kinds add up, too."""
    for day in ("monday", "tuesday"):
        do(f"summarize {day}.parquet {COLUMNS} -o {day}-s.parquet")
    assert "8,000 rows in 2 summaries" in do("merge '*-s.parquet' -o week-s.parquet").err
    both = polars.concat([polars.read_parquet(folder / f"{day}.parquet") for day in ("monday", "tuesday")])
    expected = Summary().update(both["wrong"], both["msp"])
    assert same(read_summary("week-s.parquet"), expected)
    found = do("summarize week-s.parquet --metrics 'aurc,coverage_at_risk(risk=0.1)' --json -").json
    assert found["n"] == 8000
    bounds = expected.bounds("coverage_at_risk(risk=0.1)")
    assert [found["measurements"][1][end] for end in ("value", "low", "high")] == list(bounds[:3])
    said = do(f"summarize monday-s.parquet tuesday.parquet {COLUMNS} -o mixed.parquet").out
    assert same(read_summary("mixed.parquet"), expected)
    assert "AUROC of failures" in said


def test_the_printed_query_runs(folder, do):
    """What --sql prints, run by DuckDB as it is, makes the file that -o makes."""
    query = do(f"summarize --sql {COLUMNS} --key probability/12 --table \"'monday.parquet'\"").out
    duckdb.sql(query).write_parquet("by-sql.parquet")
    do(f"summarize monday.parquet {COLUMNS} --key probability/12 -o by-us.parquet")
    assert same(read_summary("by-sql.parquet"), read_summary("by-us.parquet"))


def test_errors_are_one_line(folder, do):
    """Keys that differ, the same file twice, a damaged one, rows without columns, a summary where rows are wanted."""
    do(f"summarize monday.parquet {COLUMNS} -o a.parquet")
    do(f"summarize monday.parquet {COLUMNS} --key real/12 -o b.parquet")
    Path("cut.parquet").write_bytes(Path("a.parquet").read_bytes()[:200])
    apart = "b.parquet: summaries with the keys probability/16 and real/12 do not add up"
    cases = {
        "merge a.parquet b.parquet -o c.parquet": apart,
        "merge a.parquet a.parquet -o c.parquet": "a.parquet: is given twice",
        "merge a.parquet cut.parquet -o c.parquet": "cut.parquet: cannot be read",
        "merge a.parquet -o a.parquet": "a.parquet: is an input and would be replaced",
        "merge monday.parquet -o c.parquet": "monday.parquet: is no summary",
        "summarize monday.parquet": "monday.parquet: holds rows; give --confidence",
        "summarize monday.parquet --confidence msp --loss wrongs": "'wrongs' is not there",
        f"summarize monday.parquet {COLUMNS} -o c.csv": "written as .parquet",
        f"summarize monday.parquet {COLUMNS} --key linear": "the key 'linear' is not known",
        "summarize --sql": "--sql needs --confidence",
        "summarize": "no FILES are given",
        "evaluate a.parquet": "is a summary, not rows; 'abstain summarize a.parquet'",
        "compare a.parquet b.parquet": "a.parquet: is a summary, not rows; a test is about pairs",
    }
    for line, message in cases.items():
        (said,) = do(line, 2).err.strip().splitlines()
        assert message in said
    assert not Path("c.parquet").exists()
