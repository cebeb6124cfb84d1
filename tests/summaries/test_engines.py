"""The same summary from every engine and by command: NumPy, polars, pandas, files, and one GROUP BY in DuckDB."""

from pathlib import Path

import duckdb
import numpy as np
import polars
import pytest

from abstain._pace import heard_by
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
    rows = polars.DataFrame({"msp": score, "wrong": [0.0, 1.0, 1.0, None, -1.0, 1.0]}).to_arrow()
    duckdb.sql(sql(Key(scale), confidence="msp", loss="wrong", table="rows")).write_parquet(str(tmp_path / "s.parquet"))
    given = {"confidence": "msp", "loss": "wrong", "scale": scale}
    refused(ValueError, "4 rows have no usable score or loss", read_summary, tmp_path / "s.parquet")
    refused(ValueError, "4 rows have no usable score or loss", summarize, duckdb.from_arrow(rows), **given)


def test_errors_name_file_and_row(tmp_path):
    """A bad row counted through the chunks, a column that is not there, a cut file, no file, the same file twice."""
    n = 600_000
    file, cut, long = tmp_path / "rows.parquet", tmp_path / "cut.parquet", tmp_path / "long.csv"
    loss = np.where(np.arange(n) == n - 2, -1.0, 0.0)
    polars.DataFrame({"p": np.full(n, 0.5), "l": loss, "t": ["a"] * n}).write_parquet(file)
    cut.write_bytes(file.read_bytes()[:500])
    long.write_text("p,l,t\n0.5,0,1\n0.5,0,1,7\n")
    for source, columns, message in (
        (file, {"loss": "l"}, rf"rows.parquet: loss is negative: loss\[{n - 2}\] = -1.0 \(1 such\)"),
        (file, {"loss": "wrong"}, "rows.parquet: column 'wrong' is not there"),
        (file, {"loss": "t"}, "column 't' must be numeric"),
        (file, {}, "give loss=, or both"),
        (cut, {"loss": "l"}, "cut.parquet: cannot be read"),
        (long, {"loss": "l"}, r"long.csv: data row 2 \(line 3\) has 4 fields"),
        ([file, file], {"loss": "l"}, "is given twice"),
        (tmp_path / "rows.txt", {"loss": "l"}, "no such file"),
        (polars.DataFrame({"p": [0.5, None], "l": [0, 1]}), {"loss": "l"}, "confidence holds NaN"),
    ):
        with pytest.raises((ValueError, TypeError, FileNotFoundError), match=message) as caught:
            summarize(source, confidence="p", **columns)
        assert "\n" not in str(caught.value)
    missing = polars.DataFrame({"p": [None], "l": [1]}).cast(float)
    assert summarize(missing, confidence="p", loss="l", nan_policy="reject").n == 1


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


def test_how_far_it_is_is_heard_in_the_block_alone():
    """Shares of the rows, up to all of them, and the seconds so far."""
    told, heard = {"confidence": "conf", "loss": "err"}, []
    rows = polars.DataFrame({"conf": np.linspace(0.0, 1.0, 9), "err": np.zeros(9)})
    with heard_by(lambda *said: heard.append(said[1:])):
        summarize(rows, **told)
    summarize(rows, **told)
    assert [(share, seconds < 60.0) for share, seconds in heard] == [(1.0, True)]


COLUMNS = "--confidence msp --loss wrong"


def test_errors_of_the_command_are_one_line(tmp_path, do):
    """Keys that differ, the same file twice, a damaged one, rows without columns, a summary where rows are wanted."""
    polars.DataFrame({"msp": [0.9, 0.6], "wrong": [0, 1]}).write_parquet("monday.parquet")
    do(f"summarize monday.parquet {COLUMNS} -o a.parquet")
    do(f"summarize monday.parquet {COLUMNS} --key real/12 -o b.parquet")
    Path("cut.parquet").write_bytes(Path("a.parquet").read_bytes()[:200])
    for line, message in {
        "merge a.parquet b.parquet -o c.parquet": "b.parquet: summaries with the keys probability/16 and real/12",
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
    }.items():
        (said,) = do(line, 2).err.strip().splitlines()
        assert message in said
    assert not Path("c.parquet").exists()
