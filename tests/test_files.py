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

FULL = pl.exceptions.ComputeError("File out of specification: No space left on device (os error 28)")


@pytest.mark.parametrize(
    ("error", "seen", "words"),
    [
        (RuntimeError("in the middle"), RuntimeError, "in the middle"),
        (KeyboardInterrupt("stop"), KeyboardInterrupt, "stop"),
        (FULL, OSError, r"a.txt: cannot be written \(No space left on device\)"),  # of Polars, which blames the input
    ],
)
def test_a_failing_writer_leaves_the_old_file_and_no_part(tmp_path, error, seen, words):
    """While the writer is at work, the path holds the old file, and the new one is hidden beside it."""
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def write(file):
        file.write(b"half")
        file.flush()
        assert path.read_text() == "old"
        assert [each.name for each in tmp_path.iterdir() if not each.name.startswith(".")] == ["a.txt"]
        if error is not None:
            raise error

    refused(seen, words, write_file, path, write)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "old"
    error = None
    write_file(path, write)
    assert path.read_text() == "half"


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    """A folder, a missing one, a file as folder and a forbidden one are named with the remedy."""
    (tmp_path / "file").write_text("x")
    missing = "a.txt: the folder does not exist"
    for error, words, place in (
        (IsADirectoryError, re.escape(f"{tmp_path}: is a folder; give the name of a file in it"), tmp_path),
        (FileNotFoundError, f"nowhere/{missing}; create it first", tmp_path / "nowhere" / "a.txt"),
        (FileNotFoundError, f"file/{missing}", tmp_path / "file" / "a.txt"),
        (IsADirectoryError, "is a folder", f"{tmp_path}/new/"),
    ):
        refused(error, words, write_text, place, "x")

    def forbidden(*_):
        raise PermissionError(13, "Permission denied", "temporary")

    monkeypatch.setattr(os, "replace", forbidden)
    words = r"a.txt: cannot be written \(Permission denied\); choose another place"
    refused(PermissionError, words, write_text, tmp_path / "a.txt", "x")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


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
def test_links_permissions_and_devices_stay(tmp_path):
    """A link still points to its file, which has the new contents and the old permissions; /dev/null is no file."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new", 0o640)
    write_text(os.devnull, "x")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
