"""Damaged Parquet files never end the process, and files of other writers pass."""

import subprocess
import sys

import numpy as np
import pytest

from abstain.outputs import check_sizes, read_outputs

pl = pytest.importorskip("polars")

RNG = np.random.default_rng(0)
ROWS = 80
LOSS, CONFIDENCE = RNG.integers(0, 2, ROWS), RNG.random(ROWS)
#: A page header of Thrift's compact protocol: the structure of a data page (field 5), its first number (80, doubled).
OF_80 = b"\x2c\x15\xa0\x01"
OF_MINUS_81 = b"\x2c\x15\xa1\x01"


def parquet(path):
    pl.DataFrame({"loss": LOSS, "confidence": CONFIDENCE}).write_parquet(path)
    return path


def damaged(path, old, new):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))
    return path


def test_a_page_of_a_negative_number_of_values(tmp_path):
    """Rust aborts where it cannot allocate; the command must live to say so, in one line."""
    path = damaged(parquet(tmp_path / "a.parquet"), OF_80, OF_MINUS_81)
    with pytest.raises(ValueError, match=r"a\.parquet: is no readable Parquet file \(a page of column .* sizes"):
        read_outputs(path)
    command = [sys.executable, "-m", "abstain", "evaluate", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr


def test_the_columns_that_are_not_read_do_not_matter(tmp_path):
    """Only the pages of the columns in use are looked at."""
    path = tmp_path / "a.parquet"
    pl.DataFrame({"loss": LOSS, "confidence": CONFIDENCE, "more": [1.0] * 79 + [None]}).write_parquet(path)
    content = path.read_bytes()
    last = content.rindex(OF_80)
    path.write_bytes(content[:last] + OF_MINUS_81 + content[last + len(OF_80) :])
    assert read_outputs(path).n == ROWS
    with pytest.raises(ValueError, match="column 'more'"):
        check_sizes(str(path))


def test_cut_and_empty_files(tmp_path):
    """Whatever is cut off is one error, and so is a footer that says what memory cannot hold."""
    content = parquet(tmp_path / "a.parquet").read_bytes()
    size = int.from_bytes(content[-8:-4], "little")
    for kept in (content[:3], content[:-9], content[: len(content) // 2] + content[-8 - size :], b"PAR1" * 3):
        (tmp_path / "b.parquet").write_bytes(kept)
        with pytest.raises(ValueError, match="no readable Parquet file"):
            check_sizes(str(tmp_path / "b.parquet"))
    footer = content[-8 - size :]
    huge = footer.replace(b"\x16\xa0\x01", b"\x16\xfe\xff\xff\xff\xff\xff\xff\x7f")
    grown = len(huge) - len(footer)
    (tmp_path / "b.parquet").write_bytes(
        content[: -8 - size] + huge[:-8] + (size + grown).to_bytes(4, "little") + b"PAR1"
    )
    with pytest.raises(ValueError, match=r"holds \d{16,} values, which is damage or more than memory holds"):
        check_sizes(str(tmp_path / "b.parquet"))


COLUMNS = {
    "whole": [1, 2, None, 4] * 500, "text": [None, "a", "bcd", "x" * 300] * 500,
    "truth": [True, None, False, True] * 500,
    "list": [[1.0, 2.0], [], None, [3.0]] * 500, "object": [{"a": 1, "b": ["x"]}, None, {"a": 2, "b": []}, None] * 500,
    "same": [7.0] * 2000,
}  # fmt: skip


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "gzip", "zstd", "lz4"])
@pytest.mark.parametrize("rows", [0, 1, 2000])
def test_what_polars_writes_passes(tmp_path, compression, rows):
    """Nested columns, missing values, dictionaries, several row groups and pages, and no rows at all."""
    frame = pl.DataFrame(COLUMNS).head(rows)
    frame.write_parquet(tmp_path / "a.parquet", compression=compression, row_group_size=700, data_page_size=500)
    check_sizes(str(tmp_path / "a.parquet"))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_what_arrow_writes_passes(tmp_path, version, dictionary):
    """Both kinds of data pages, in several row groups."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    for page in (300, 1 << 20):
        pq.write_table(
            pa.table(COLUMNS), tmp_path / "a.parquet", data_page_version=version, use_dictionary=dictionary,
            row_group_size=900, data_page_size=page, write_page_index=True, write_page_checksum=True,
        )  # fmt: skip
        check_sizes(str(tmp_path / "a.parquet"))


def test_what_duckdb_writes_passes(tmp_path):
    """Its pages have other encodings."""
    duckdb = pytest.importorskip("duckdb")
    for version in ("V1", "V2"):
        duckdb.sql(
            f"copy (select range as a, range % 3 = 0 as b, 'x' || range % 7 as c, [range, 2] as d from range(300000)) "
            f"to '{tmp_path / 'a.parquet'}' (format parquet, parquet_version {version}, row_group_size 40000)"
        )
        check_sizes(str(tmp_path / "a.parquet"))
