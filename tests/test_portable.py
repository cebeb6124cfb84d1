"""What differs between Linux, macOS and Windows: rules for the source, and the ways of Windows taken here."""

import ast
import errno
import importlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from abstain import _files
from abstain.cli import command, run
from tests.imports import ROOT, tree_of, where

SOURCE = ROOT / "src/abstain"

#: What some systems lack, or what differs between them: functions, modules, paths.
NOT_EVERYWHERE = re.compile(
    r"\bos\.(fork|kill|killpg|mkfifo|gete?uid|getppid|sched_getaffinity|symlink|link)\b"
    r"|\bsignal\.(SIG(KILL|HUP|ALRM|USR1|PIPE)|alarm|pause)\b|\btime\.(tzset|clock_gettime)\b"
    r"|\bnp\.(c?longdouble|float128|float96|int_|intc|uint|u?long)\b"
    r"|\b(import|from) (fcntl|resource|pwd|grp|termios|pty|tty|syslog|crypt)\b|^[^#]*['\"]/(dev|proc|tmp|etc|var)\b"
)
#: A file may use such a module that has another way where it is missing.
WITH_ANOTHER_WAY = ["_files.py: import fcntl as _lock"]


def without_encoding(tree):
    """Give the lines that read or write text in the encoding of the system, which Windows has as cp1252."""
    others = ("os", "image", "archive", "webbrowser", "formatter")  # methods of the same names
    for node in (each for each in ast.walk(tree) if isinstance(each, ast.Call)):
        owner, _, name = ast.unparse(node.func).rpartition(".")
        options, texts = {each.arg for each in node.keywords}, [ast.unparse(each) for each in node.args]
        if "encoding" in options or owner in others:
            continue
        binary = any(re.fullmatch(r"'[rwxa]\+?b\+?'", each) for each in texts)
        of_subprocess = owner == "subprocess" and "text" in options
        of_path = (name == "read_text" and not texts) or (name == "write_text" and owner and len(texts) < 2)
        if of_subprocess or of_path or (name == "open" and not binary):
            yield node.lineno


def test_every_text_names_its_encoding():
    """A file of another system is read alike, whatever the encoding of this one is."""
    files = where(r"open\(|read_text|write_text|subprocess", SOURCE)
    found = [f"{path.relative_to(ROOT)}:{line}" for path in files for line in without_encoding(tree_of(path))]
    assert found == []


def test_nothing_is_used_that_a_system_lacks():
    """No function of Unix alone, no integer or float whose size differs, no path of one system."""
    files = where(NOT_EVERYWHERE.pattern.replace("^[^#]*", ""), SOURCE)  # in a comment, too
    lines = [(path.name, line) for path in files for line in ast.unparse(tree_of(path)).splitlines()]
    found = [f"{name}: {line.strip()}" for name, line in lines if NOT_EVERYWHERE.search(line)]
    assert found == WITH_ANOTHER_WAY


def test_every_file_name_is_one_everywhere():
    """No sign that Windows forbids, no device of DOS, no two names that differ in capitals alone, none too long."""
    folders = ("src", "tests", "docs", "benchmarks", "experiments", "changelog.d", ".github")
    names = [path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*")]
    names = [name for name in names if not {"__pycache__", "_build", "generated"} & set(name.parts)]
    forbidden = re.compile(r".*([<>:\"|?*\\].*|[. ])|(con|aux|nul|prn|(com|lpt)\d)(\..*)?", re.IGNORECASE)
    assert [name for name in names if forbidden.fullmatch(name.name) or len(str(name)) > 150] == []
    assert len({str(name).lower() for name in names}) == len(names)


@pytest.mark.parametrize("times", [3, 5, 9])  # in between, the last time that it is tried, and too often
def test_without_locks_of_unix_files_are_written_and_kept(times, tmp_path, monkeypatch):
    """Windows renames after the file is closed, tries again while somebody reads, and clears away what fails."""
    monkeypatch.setattr(_files, "_lock", None)
    monkeypatch.setattr(_files.time, "sleep", lambda _: None)
    replace, refused, path = os.replace, [], tmp_path / "a.txt"
    path.write_text("old")

    def busy(source, target):
        if len(refused) < times:
            refused.append(target)
            raise PermissionError(13, "The process cannot access the file")
        replace(source, target)

    monkeypatch.setattr(os, "replace", busy)
    if times < 9:
        _files.write_text(path, "new")
        assert len(refused) == times
    else:
        with pytest.raises(PermissionError, match=r"a\.txt: cannot be written"):
            _files.write_text(path, "new")
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text("utf-8") == ("new" if times < 9 else "old")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts what is open")
@pytest.mark.parametrize("opens", [False, True])
def test_a_folder_that_cannot_be_locked_is_locked_by_a_file_in_it(opens, tmp_path, monkeypatch):
    """Windows opens no folder; elsewhere one may open that has no locks. Nothing stays open, and the file stays."""
    opened, asked, unused = os.open, [], len(os.listdir("/proc/self/fd"))

    def refuse(path, *flags):
        if os.path.isdir(path) and not opens:
            raise PermissionError(13, "Permission denied")
        return opened(path, *flags)

    busy = iter([OSError("busy")])  # once: it gives up after ten seconds, and is tried again

    def locking(*given):
        asked.append(given)
        for error in busy:
            raise error

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(_files, "_lock", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=locking))
    with _files.locked(tmp_path / "a.txt"):
        assert len(os.listdir("/proc/self/fd")) == unused + 1
    assert len(os.listdir("/proc/self/fd")) == unused
    assert [each[1:] for each in asked] == [(2, 1), (2, 1)]
    assert [path.name[0] for path in tmp_path.iterdir()] == ["."]
    with pytest.raises(FileNotFoundError, match="the folder does not exist"), _files.locked(tmp_path / "no" / "a.txt"):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="the locale is one of POSIX")
def test_output_that_is_redirected_is_utf8(tmp_path):
    """On its way to a file or a pipe every letter stays, also where the system has another encoding."""
    rows = "site,label,prediction,confidence\nα,1,1,0.9\nβ,0,1,0.7\nα,1,1,0.6\nβ,0,0,0.5\n"
    (tmp_path / "a.csv").write_text(rows, "utf-8")
    old = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = [sys.executable, "-m", "abstain", "evaluate", "a.csv", "--groups", "site"]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"}
    done = subprocess.run(words, cwd=tmp_path, env=kept | old, capture_output=True, timeout=120, check=True)
    assert all(each in done.stdout.decode("utf-8") for each in ("AUGRC ↓", "site = α", "site = β"))


def test_patterns_reach_the_command_as_they_were_typed(monkeypatch):
    """Click expands the patterns of its own arguments on Windows, so it gets them from us."""
    seen = []
    monkeypatch.setattr(command, "main", lambda args, **_: seen.append(args))
    monkeypatch.setattr(sys, "argv", ["abstain", "evaluate", "logs/*.parquet", "--logits", "logit_*"])
    run()
    assert seen == [["evaluate", "logs/*.parquet", "--logits", "logit_*"]]


class _Closed(io.FileIO):
    """A pipe whose reader left, as Windows says it: an invalid argument, until it leads elsewhere."""

    failures = 1

    def write(self, data, /):
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EINVAL, "Invalid argument")
        return super().write(data)


def test_a_reader_that_leaves_on_windows(tmp_path):
    """What is written afterwards goes nowhere; an argument that stays invalid is an error."""
    (tmp_path / "out").write_bytes(b"before")
    unheard = importlib.import_module("abstain.cli._process")._Unheard
    closed = type("Unheard", (unheard, _Closed), {})
    with closed(tmp_path / "out", "r+") as file:
        assert file.write(b"after") == 5
    assert (tmp_path / "out").read_bytes() == b"before"
    closed.failures = 2
    with closed(tmp_path / "out", "r+") as file, pytest.raises(OSError, match="Invalid argument"):
        file.write(b"after")
