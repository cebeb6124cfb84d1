"""What differs between Linux, macOS and Windows: rules for the source, and the ways of Windows taken here."""

import ast
import errno
import importlib
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from abstain import _files
from abstain.cli import command, run
from tests.imports import ROOT, tree_of

SOURCES = sorted((ROOT / "src/abstain").rglob("*.py"))

#: What some systems lack, or what differs between them: modules, and attributes of modules.
NOT_EVERYWHERE = {
    "os": {"fork", "kill", "killpg", "mkfifo", "getuid", "geteuid", "getppid", "sched_getaffinity", "symlink", "link"},
    "signal": {"SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGPIPE", "alarm", "pause"},
    "np": {"longdouble", "float128", "float96", "int_", "intc", "uint", "long", "ulong", "clongdouble"},
    "time": {"tzset", "clock_gettime"},
}
UNIX_MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "pty", "tty", "syslog", "crypt"}
#: Files that may use such a module, because they have another way where it is missing.
WITH_ANOTHER_WAY = {("_files.py", "fcntl")}
UNIX_PATHS = ("/dev/", "/proc/", "/tmp", "/etc/", "/var/")


def _called(node):
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _own(node, *modules):
    """Whether a method of one of these modules is called."""
    return isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) in modules


def without_encoding(tree):
    """Give the lines that read or write text in the encoding of the system, which Windows has as cp1252."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_text(node):
            yield node.lineno


def _is_text(node):
    keywords = {each.arg: ast.unparse(each.value) for each in node.keywords}
    if "encoding" in keywords:
        return False
    name, method = _called(node), isinstance(node.func, ast.Attribute)
    if name == "read_text":
        return not node.args
    if name == "write_text":
        return method and len(node.args) < 2 and not _own(node, "formatter")
    if name == "open":
        texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
        mode = keywords.get("mode", next((each for each in texts if each in MODES), "r"))
        return "b" not in mode and not _own(node, "os", "image", "archive", "webbrowser")
    return name in {"run", "Popen", "check_output"} and _own(node, "subprocess") and keywords.get("text") == "True"


MODES = {"r", "w", "x", "a", "rb", "wb", "xb", "ab", "rt", "wt", "r+", "r+b"}


def test_every_text_names_its_encoding():
    """A file of another system is read alike, whatever the encoding of this one is."""
    found = [f"{path.relative_to(ROOT)}:{line}" for path in SOURCES for line in without_encoding(tree_of(path))]
    assert found == []


def test_nothing_is_used_that_a_system_lacks():
    """No function of Unix alone, no integer or float whose size differs, no path of one system."""
    found = []
    for path in SOURCES:
        where = str(path.relative_to(ROOT))
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node.attr in NOT_EVERYWHERE.get(node.value.id, ()):
                    found.append(f"{where}:{node.lineno} {node.value.id}.{node.attr}")
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names = [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                bad = {(path.name, name) for name in names if name in UNIX_MODULES} - WITH_ANOTHER_WAY
                found += [f"{where}:{node.lineno} {name}" for _, name in sorted(bad)]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(UNIX_PATHS):
                found.append(f"{where}:{node.lineno} {node.value!r}")
    assert found == []


def test_every_file_name_is_one_everywhere():
    """No sign that Windows forbids, no device of DOS, no two names that differ in capitals alone, none too long."""
    folders = ("src", "tests", "docs", "benchmarks", "experiments", "changelog.d", ".github")
    generated = {"__pycache__", "_build", "generated"}
    names = [str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*")]
    names = [name for name in names if not generated & set(Path(name).parts)]
    devices = {"con", "aux", "nul", "prn", *(f"{kind}{digit}" for kind in ("com", "lpt") for digit in range(1, 10))}
    assert [name for name in names if set(name) & set('<>:"|?*\\') or name.endswith((".", " "))] == []
    assert [name for name in names if Path(name).name.partition(".")[0].lower() in devices] == []
    assert len({name.lower() for name in names}) == len(names)
    assert max(map(len, names)) <= 150


@pytest.mark.parametrize("times", [3, 5])  # in between, and the last time that it is tried
def test_without_locks_of_unix_files_are_written_and_kept(times, tmp_path, monkeypatch):
    """Windows renames after the file is closed, tries again while somebody reads, and clears away what fails."""
    monkeypatch.setattr(_files, "_lock", None)
    monkeypatch.setattr(_files.time, "sleep", lambda _: None)
    replace, refused = os.replace, []

    def busy(source, target):
        if len(refused) < times:
            refused.append(target)
            raise PermissionError(13, "The process cannot access the file")
        replace(source, target)

    monkeypatch.setattr(os, "replace", busy)
    _files.write_text(tmp_path / "a.txt", "one")
    assert ((tmp_path / "a.txt").read_text("utf-8"), len(refused)) == ("one", times)

    def always(source, target):
        raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(os, "replace", always)
    with pytest.raises(PermissionError, match=r"a\.txt: cannot be written"):
        _files.write_text(tmp_path / "a.txt", "two")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text("utf-8") == "one"


@pytest.mark.skipif(sys.platform == "win32", reason="the locale is one of POSIX")
def test_output_that_is_redirected_is_utf8(tmp_path):
    """On its way to a file or a pipe every letter stays, also where the system has another encoding."""
    (tmp_path / "a.csv").write_text(
        "site,label,prediction,confidence\nα,1,1,0.9\nβ,0,1,0.7\nα,1,1,0.6\nβ,0,0,0.5\n", "utf-8"
    )
    old = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = [sys.executable, "-m", "abstain", "evaluate", "a.csv", "--groups", "site"]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"}
    done = subprocess.run(words, cwd=tmp_path, env=kept | old, capture_output=True, timeout=120, check=True)
    text = done.stdout.decode("utf-8")
    assert all(each in text for each in ("AUGRC ↓", "site = α", "site = β"))


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
