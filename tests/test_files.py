"""Files are written whole or not at all."""

import _thread
import os
import re
import signal
import stat
import sys
from pathlib import Path

import polars as pl
import pytest

from abstain._files import write_file, write_text
from tests.refusal import refused


def failing(file):
    """Write a part and fail."""
    file.write(b"half")
    raise RuntimeError("in the middle")


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failing_writer_leaves_nothing(tmp_path, error):
    """Neither half a file nor a temporary one, also when interrupted from the keyboard."""

    def write(file):
        file.write(b"half")
        raise error

    with pytest.raises(error):
        write_file(tmp_path / "a.txt", write)
    assert list(tmp_path.iterdir()) == []


def test_a_failing_writer_keeps_the_old_file(tmp_path):
    """The old contents stay until the new ones are complete."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    refused(RuntimeError, "in the middle", write_file, path, failing)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    write_text(path, "new")
    assert path.read_text() == "new"


def test_nobody_sees_a_part(tmp_path):
    """While the writer is at work, the path holds the old file, and the new one is hidden beside it."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    seen = []

    def write(file):
        file.write(b"new")
        file.flush()
        seen.append((path.read_text(), [each.name for each in tmp_path.iterdir() if not each.name.startswith(".")]))

    write_file(path, write)
    assert seen == [("old", ["a.txt"])]


def test_places_that_cannot_be_written(tmp_path):
    """Folder, missing folder and a file as folder are named with the remedy."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(IsADirectoryError, match=re.escape(f"{tmp_path}: is a folder; give the name of a file in it")):
        write_text(tmp_path, "x")
    with pytest.raises(FileNotFoundError, match=r"nowhere/a.txt: the folder does not exist; create it first"):
        write_text(tmp_path / "nowhere" / "a.txt", "x")
    with pytest.raises(FileNotFoundError, match=r"file/a.txt: the folder does not exist"):
        write_text(tmp_path / "file" / "a.txt", "x")
    refused(IsADirectoryError, "is a folder", write_text, f"{tmp_path}/new/", "x")


def test_an_error_of_the_system_names_the_file(tmp_path, monkeypatch):
    """A full disk or a forbidden folder keeps its kind and gets a name."""

    def full(*_):
        raise PermissionError(13, "Permission denied", "temporary")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(PermissionError, match=r"a.txt: cannot be written \(Permission denied\); choose another place"):
        write_text(tmp_path / "a.txt", "x")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_under_polars_names_the_output(tmp_path):
    """Polars calls a full disk a file out of specification, which would send people to their input."""

    def full(_):
        raise pl.exceptions.ComputeError("File out of specification: No space left on device (os error 28)")

    with pytest.raises(OSError, match=r"a.parquet: cannot be written \(No space left on device\)"):
        write_file(tmp_path / "a.parquet", full)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_that_comes_while_a_file_is_cleared_away_leaves_nothing(tmp_path):
    """Polars raises at Ctrl-C, and Python's own handler does so once more: C code that fails with a signal pending."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            write_file(tmp_path / "a.txt", lambda _: next(filter(None, map(_thread.interrupt_main, [signal.SIGINT]))))
    finally:
        signal.signal(signal.SIGINT, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_links_and_permissions_stay(tmp_path):
    """A link still points to its file, which has the new contents and the old permissions."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_device_is_written_to_not_replaced():
    """Whoever writes to /dev/null finds it there afterwards."""
    write_text(os.devnull, "x")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
