"""``abstain summarize`` and ``abstain merge``: files in, bounds out, errors in one line."""

import json
from pathlib import Path

import duckdb
import numpy as np
import polars
import pytest

from abstain.cli import run
from abstain.summaries import Summary, read_summary
from tests.summaries.test_summary import same

COLUMNS = ["--confidence", "msp", "--loss", "wrong"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two days of logs in the working folder."""
    rng = np.random.default_rng(0)
    for day in ("monday", "tuesday"):
        msp = rng.beta(5, 1, 4000)
        polars.DataFrame({"msp": msp, "wrong": rng.random(4000) > msp}).write_parquet(tmp_path / f"{day}.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def failed(arguments, capfd):
    """Return the one line of an error."""
    assert run(arguments) == 2
    lines = capfd.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    return lines[0]


def test_days_add_up_to_the_week(folder, capfd):
    """Summaries of two days merge to that of both, which prints the same bounds; parts of both kinds add up, too."""
    for day in ("monday", "tuesday"):
        assert run(["summarize", f"{day}.parquet", *COLUMNS, "-o", f"{day}-s.parquet"]) == 0
    assert run(["merge", "*-s.parquet", "-o", "week-s.parquet"]) == 0
    assert "8,000 rows in 2 summaries" in capfd.readouterr().err
    both = polars.concat([polars.read_parquet(folder / f"{day}.parquet") for day in ("monday", "tuesday")])
    expected = Summary().update(both["wrong"], both["msp"])
    assert same(read_summary("week-s.parquet"), expected)
    assert run(["summarize", "week-s.parquet", "--metrics", "aurc,coverage_at_risk(risk=0.1)", "--json", "-"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["n"] == 8000
    bounds = expected.bounds("coverage_at_risk(risk=0.1)")
    assert [found["measurements"][1][end] for end in ("value", "low", "high")] == list(bounds[:3])
    assert run(["summarize", "monday-s.parquet", "tuesday.parquet", *COLUMNS, "-o", "mixed.parquet"]) == 0
    assert same(read_summary("mixed.parquet"), expected)
    assert "AUROC of failures" in capfd.readouterr().out


def test_the_printed_query_runs(folder, capfd):
    """What --sql prints, run by DuckDB as it is, makes the file that -o makes."""
    assert run(["summarize", "--sql", *COLUMNS, "--key", "probability/12", "--table", "'monday.parquet'"]) == 0
    duckdb.sql(capfd.readouterr().out).write_parquet("by-sql.parquet")
    assert run(["summarize", "monday.parquet", *COLUMNS, "--key", "probability/12", "-o", "by-us.parquet"]) == 0
    assert same(read_summary("by-sql.parquet"), read_summary("by-us.parquet"))


def test_errors_are_one_line(folder, capfd):
    """Keys that differ, the same file twice, a damaged one, rows without columns, a summary where rows are wanted."""
    assert run(["summarize", "monday.parquet", *COLUMNS, "-o", "a.parquet"]) == 0
    assert run(["summarize", "monday.parquet", *COLUMNS, "--key", "real/12", "-o", "b.parquet"]) == 0
    Path("cut.parquet").write_bytes(Path("a.parquet").read_bytes()[:200])
    capfd.readouterr()
    cases = {
        "b.parquet: summaries with the keys probability/16 and real/12 do not add up":
            ["merge", "a.parquet", "b.parquet", "-o", "c.parquet"],
        "a.parquet: is given twice": ["merge", "a.parquet", "a.parquet", "-o", "c.parquet"],
        "cut.parquet: cannot be read": ["merge", "a.parquet", "cut.parquet", "-o", "c.parquet"],
        "a.parquet: is an input and would be replaced": ["merge", "a.parquet", "-o", "a.parquet"],
        "monday.parquet: is no summary": ["merge", "monday.parquet", "-o", "c.parquet"],
        "monday.parquet: holds rows; give --confidence": ["summarize", "monday.parquet"],
        "'wrongs' is not there": ["summarize", "monday.parquet", "--confidence", "msp", "--loss", "wrongs"],
        "written as .parquet": ["summarize", "monday.parquet", *COLUMNS, "-o", "c.csv"],
        "the key 'linear' is not known": ["summarize", "monday.parquet", *COLUMNS, "--key", "linear"],
        "--sql needs --confidence": ["summarize", "--sql"],
        "no FILES are given": ["summarize"],
        "is a summary, not rows; 'abstain summarize a.parquet'": ["evaluate", "a.parquet"],
        "a.parquet: is a summary, not rows; a test is about pairs": ["compare", "a.parquet", "b.parquet"],
    }  # fmt: skip
    for message, arguments in cases.items():
        assert message in failed(arguments, capfd)
    assert not Path("c.parquet").exists()
