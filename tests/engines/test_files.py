"""Several Parquet files as one: patterns, partitioned folders, pieces, and what is wrong with a file, in one line."""

import re
from pathlib import Path

import polars as pl
import pytest

import abstain
from tests.engines.cases import check_same, evaluated, labelled, parts, policy, rows, written
from tests.refusal import refused


@pytest.fixture
def folder(tmp_path):
    """Return a folder of four files, of which one is empty; a name may look like a pattern."""
    for k, each in enumerate(parts(rows(4), 4)):
        each.write_parquet(tmp_path / f"part-{k}[1].parquet")
    return tmp_path


def test_a_pattern_and_a_folder_are_all_their_rows(folder, monkeypatch):
    """Files are counted one by one, large ones in pieces, and counts are added up on the way."""
    monkeypatch.setattr("abstain.outputs._parts.PIECE", 50)
    monkeypatch.setattr("abstain.outputs._counts.WAITING", 10)
    expected = evaluated(rows(4))
    for source in (str(folder / "*.parquet"), folder):
        check_same(evaluated(source), expected)


def test_folders_of_a_partition_are_columns(tmp_path):
    """``site=north/day=1/part.parquet``: text and whole numbers, as they are in memory."""
    frame = rows(6).with_columns(day=pl.arange(400) % 3)
    for (site, day), each in frame.group_by("site", "day"):
        place = tmp_path / f"site={site}" / f"day={day}"
        place.mkdir(parents=True)
        each.drop("site", "day").write_parquet(place / "part.parquet")
    told = {"groups": ["site", "day"], "scores": None}
    for source in (tmp_path, tmp_path / "site=*" / "*" / "*.parquet"):
        check_same(evaluated(source, **told), evaluated(frame, **told))


def test_a_file_with_other_columns_or_types_is_named(folder):
    """The message starts with the file."""
    late = folder / "part-9.parquet"
    rows(1).rename({"loss": "error"}).write_parquet(late)
    refused(ValueError, r"part-9\.parquet: column 'loss' is not there; .*error", abstain.evaluate, folder)
    rows(1).with_columns(pl.col("loss").cast(pl.String)).write_parquet(late)
    with pytest.raises(TypeError, match=r"part-9\.parquet: column 'loss' must be numeric in a scan, got String"):
        abstain.evaluate(folder)


def test_whole_numbers_and_floats_are_one_column(folder):
    """A loss of 0 and 1 is a truth value in one file, a number in another."""
    late = rows(8)
    late.with_columns(pl.col("loss").cast(pl.Boolean)).write_parquet(folder / "part-9.parquet")
    check_same(evaluated(folder), evaluated(pl.concat([rows(4), late])))


def test_other_files_and_empty_patterns_are_refused(folder):
    """A pattern is read as Parquet, and matches something."""
    (folder / "more.csv").write_text("loss,confidence\n0,1\n")
    refused(ValueError, r"more\.csv: several files are read as Parquet", lambda: abstain.evaluate(folder / "*"))
    refused(FileNotFoundError, "no file matches", lambda: abstain.evaluate(folder / "*.parq"))


@pytest.mark.parametrize(
    ("command", "start"),
    [
        ("evaluate {} --groups site --gate augrc<=0.9", ""),
        ("compare {} --loss loss --clusters site --scores confidence,other", "confidence is best as measured, before "),
        ("threshold {} --confidence confidence --risk 0.45 --delta 0.05 -o policy.json --groups site", ""),
        ("monitor policy.json {} --loss loss --time day --state watch.json", ""),
    ],
)
def test_commands_take_a_pattern(do, command, start):
    """What is printed of several files, the first of them empty, is what one file shows."""
    if "monitor" in command:
        policy().save("policy.json")
        frame = labelled().fill_null(0.0)
    else:
        frame = rows(4, n=2000)
    printed, files = [], written(frame)
    frame[:0].write_parquet("part-.parquet")
    for file in files:
        said = do(command.format(file)).out
        Path("watch.json").unlink(missing_ok=True)
        verdict, _, rest = (
            re.sub(r"\n*next: .*?\n\n", "", said, flags=re.DOTALL).replace(Path(file).name, "").partition("\n\n")
        )
        printed.append((verdict.splitlines()[0], rest.partition("next: ")[0]))
    assert printed[0] == printed[1]
    assert printed[0][0].startswith(start)
    assert all(printed[0])
