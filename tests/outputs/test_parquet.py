"""Damaged Parquet files never end the process, and files of other writers are read as polars reads them."""

import subprocess
import sys

import numpy as np
import pytest

from abstain import choose_threshold
from abstain.outputs import read_outputs, scan_parquet

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

RNG = np.random.default_rng(0)
ROWS = 80
LOSS, CONFIDENCE = RNG.integers(0, 2, ROWS), RNG.random(ROWS)
#: A page header of Thrift's compact protocol: the structure of a data page (field 5), its first number (80, doubled).
OF_80 = b"\x2c\x15\xa0\x01"
OF_MINUS_81 = b"\x2c\x15\xa1\x01"


def parquet(path):
    pl.DataFrame({"loss": LOSS, "confidence": CONFIDENCE}).write_parquet(path)
    return path


def test_a_page_of_a_negative_number_of_values(tmp_path):
    """Rust aborts where it cannot allocate; the command must live to say so, in one line, and to write nothing."""
    path = parquet(tmp_path / "a.parquet")
    choose_threshold(LOSS, CONFIDENCE, coverage=0.5).policy(score="confidence").save(tmp_path / "p.json")
    content = path.read_bytes()
    assert OF_80 in content
    path.write_bytes(content.replace(OF_80, OF_MINUS_81))
    with pytest.raises(ValueError, match=r"a\.parquet: is no readable Parquet file .*negative number of values"):
        read_outputs(path)
    output = tmp_path / "out.csv"
    for words in (["evaluate", path], ["apply", tmp_path / "p.json", path, "-o", output]):
        command = [sys.executable, "-m", "abstain", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.parquet", "p.json"]


COLUMNS = {
    "whole": [1, 2, None, 4] * 500, "text": [None, "a", "bcd", "x" * 300] * 500,
    "truth": [True, None, False, True] * 500, "a*": [1.0, 2.0] * 1000,
    "list": [[1.0, 2.0], [], None, [3.0]] * 500, "object": [{"a": 1, "b": ["x"]}, None, {"a": 2, "b": []}, None] * 500,
    "same": [7.0] * 2000,
}  # fmt: skip


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "gzip", "zstd", "lz4"])
@pytest.mark.parametrize("rows", [0, 1, 2000])
def test_what_polars_writes_is_read(tmp_path, compression, rows):
    """Nested columns, missing values, words of an enumeration, several row groups and pages, and no rows at all."""
    frame = pl.DataFrame(COLUMNS).head(rows)
    frame = frame.with_columns(pl.col("text").str.head(3).cast(pl.Enum(["bcd", "a", "xxx"])).alias("words"))
    frame.write_parquet(tmp_path / "a.parquet", compression=compression, row_group_size=700, data_page_size=500)
    found = scan_parquet(str(tmp_path / "a.parquet"))
    assert found.collect().equals(frame)
    assert found.collect_schema() == frame.schema
    assert found.select("^same$", "words").head(3).collect().equals(frame.select("same", "words").head(3))
    pl.DataFrame({"^p$": [0.5, 0.7], "p": 0.9, "loss": [1, 0]}).write_parquet(tmp_path / "b.parquet")
    assert read_outputs(tmp_path / "b.parquet", confidence="^p$").confidence.tolist() == [0.5, 0.7]
    assert found.filter(pl.col("truth")).collect().equals(frame.filter(pl.col("truth")))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_what_arrow_writes_is_read(tmp_path, version, dictionary):
    """Both kinds of data pages, in several row groups."""
    import pyarrow.parquet as pq

    for page in (300, 1 << 20):
        pq.write_table(
            pa.table(COLUMNS), tmp_path / "a.parquet", data_page_version=version, use_dictionary=dictionary,
            row_group_size=900, data_page_size=page, write_page_index=True, write_page_checksum=True,
        )  # fmt: skip
        assert scan_parquet(str(tmp_path / "a.parquet")).collect().equals(pl.DataFrame(COLUMNS))
