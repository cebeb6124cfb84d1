"""Exit codes: 0 done, 1 a violated guarantee, 2 the user, 3 us, 128 + signal; nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from abstain._files import write_file
from abstain.cli import command


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (RuntimeError("boom"), 3, "internal error (RuntimeError: boom)"),
        (MemoryError(), 3, "internal error (out of memory)"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ValueError("bad value"), 2, "bad value"),
        (type("PanicException", (BaseException,), {})("gone"), 2, "a table cannot be read or written: gone"),
    ],
)
def test_every_error_has_its_code_and_one_line(error, code, words, do, monkeypatch):
    """A bug never looks like a violated guarantee, and nothing shows a traceback unless it is asked for."""

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(command.commands["metrics"], "callback", click.pass_context(fail))
    said = do("metrics", code).err
    assert words in said
    assert said.strip().count("\n") == 0  # click ends the line of ^C first
    monkeypatch.setenv("ABSTAIN_TRACEBACK", "1")
    assert ("raise error" in do("metrics", code).err) is (code == 3 or "table" in words)


SLOW = """
import signal, sys, time
# nohup and shells that start the tests in the background have these ignored
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
from abstain.cli import main, command
import abstain._files as files
def slow(**_):
    def write(file):
        file.write(b"half"); file.flush(); print("writing", flush=True); time.sleep(60)
    files.write_file("out.txt", write)
command.commands["metrics"].callback = slow
sys.argv = ["abstain", "metrics"]
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_leaves_nothing(number, code, tmp_path):
    """The temporary file goes, the old one stays, the code says which signal it was."""
    (tmp_path / "out.txt").write_text("old")
    with subprocess.Popen(
        [sys.executable, "-c", SLOW], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "writing\n"
        process.send_signal(getattr(signal, number))
        _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
    assert (tmp_path / "out.txt").read_text() == "old"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_leftovers_of_the_dead_are_collected_and_living_writers_left_alone(tmp_path):
    """A killed writer's file goes with the next writing into the folder, a living one's stays until it is done."""
    with subprocess.Popen([sys.executable, "-c", SLOW], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        (living,) = tmp_path.glob(".abstain-*.tmp")
        dead, fresh = tmp_path / ".abstain-dead.tmp", tmp_path / ".abstain-fresh.tmp"
        for path in (dead, fresh):
            path.write_bytes(b"half")
        for path in (dead, living):
            os.utime(path, (time.time() - 3600,) * 2)
        write_file(tmp_path / "other.txt", lambda file: file.write(b"whole"))
        names = {path.name for path in tmp_path.iterdir()}
        process.kill()
    assert names == {living.name, fresh.name, "other.txt"}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_names_the_file():
    """The device that is always full."""
    with pytest.raises(OSError, match="/dev/full: cannot be written"):
        write_file("/dev/full", lambda file: [file.write(b"x" * 100_000), file.flush()])


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_paths_that_are_no_files(do):
    """A link to nothing and a pipe say what they are; neither hangs."""
    Path("loop.npz").symlink_to("nowhere.npz")
    os.mkfifo("pipe.npz")
    assert "is a link to 'nowhere.npz', which is not there" in do("evaluate loop.npz", 2).err
    assert "no regular file" in do("evaluate pipe.npz", 2).err
    Path("policy.json").write_text("[" * 100_000)  # a policy nested without end: no code of a violated guarantee
    assert do("monitor policy.json loop.npz", 2).err.count("\n") == 1


@pytest.mark.parametrize("module", ["click", "numpy", "abstain.cli._run"])
def test_control_c_during_the_imports(module, tmp_path):
    """One line and 130, whichever import is interrupted."""
    code = f"""
import sys
class Interrupted:
    def find_spec(self, name, *rest):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
sys.argv = ["abstain", "demo", "--output", {str(tmp_path / "demo")!r}]
from abstain.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr.lstrip()) == (130, "abstain: interrupted\n")
