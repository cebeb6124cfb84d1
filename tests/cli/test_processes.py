"""The installed command as users run it: pipes, colours, widths, encodings, missing extras, large files."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from abstain import cli
from tests.cli.conftest import COLUMNS


def start(*arguments, python=(), **variables):
    """Run the command, or Python with these arguments, in a process of its own, without a terminal."""
    environment = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "NO_COLOR", "FORCE_COLOR"}}
    words = [sys.executable, *(python or ("-m", "abstain")), *map(str, arguments)]
    options = {"text": True, "encoding": "utf-8", "timeout": 600, "env": environment | variables}
    return subprocess.run(words, capture_output=True, check=False, **options)


#: One metric without its interval, where any result will do.
QUICK = ("--metrics", "augrc", "--level", "0")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return a small archive of predictions."""
    path = tmp_path_factory.mktemp("small") / "preds.npz"
    np.savez(path, **{name: COLUMNS[name] for name in ("y", "yhat", "conf", "vague", "votes")})
    return path


def test_exit_codes_and_streams(path, abstain_):
    """0 with the result on stdout; 2 with one line on stderr; files are announced on stderr."""
    for words, code, out, err in (
        (("evaluate", path, *QUICK), 0, "AUGRC", f"{path}: "),
        (("evaluate", path, "--scores", "nothing"), 2, "", f"abstain: {path}: 'nothing' is neither"),
        (("evaluate", path, "--json", path.with_name("r.json"), *QUICK), 0, "", f"wrote {path.with_name('r.json')}\n"),
    ):
        done = abstain_(*words)
        assert (done.code, done.out == "") == (code, code == 2)
        assert out in done.out
        assert done.err.startswith(err)
        assert done.err.count("\n") == 1 + ("wrote" in err)
    done = start()
    assert (done.returncode, done.stdout) == (2, "")
    assert "Commands:" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
@pytest.mark.parametrize(
    ("words", "code", "reader"),
    [
        ("metrics", 0, "head -c1"),
        ("evaluate preds.npz --level 0 --json -", 0, "true"),
        ("evaluate preds.npz --level 0 --metrics augrc --gate augrc<=0.0001", 1, "head -c1"),
        ("threshold preds.npz --risk 0.001 --delta 0.05 2>&1", 1, "true"),
        ("evaluate nowhere.npz 2>&1", 2, "head -c1"),
    ],
)
def test_a_reader_that_stops_hides_no_exit_code(path, words, code, reader):
    """``abstain … | true`` with pipefail ends as without a pipe, early or late, and nothing is said about it."""
    line = f"set -o pipefail; {sys.executable} -m abstain {words.replace('<', chr(92) + '<')} | {reader}"
    done = subprocess.run(["bash", "-c", line], cwd=path.parent, capture_output=True, timeout=120, check=False)
    assert done.returncode == code, (line, done.stderr)
    assert b"Traceback" not in done.stderr
    assert b"ipe" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_what_a_program_wrote_before_the_command_stays_before_it(tmp_path, monkeypatch):
    """Also where its own text still waits in a buffer."""
    with (tmp_path / "out.txt").open("w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        print("first")
        assert cli.run(["--version"]) == 0
        print("last")
        monkeypatch.undo()
    first, version, last = (tmp_path / "out.txt").read_text().splitlines()
    assert (first, version.startswith("abstain"), last) == ("first", True, "last")


def test_a_full_disk(path):
    """Output that cannot be written is an error, said once."""
    command = [sys.executable, "-m", "abstain", "evaluate", str(path), *QUICK]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("abstain: ")


def test_colours(path, abstain_, monkeypatch):
    """None without a terminal; FORCE_COLOR asks for them, and NO_COLOR has the last word."""
    command = "evaluate", path, "--scores", "conf,vague", *QUICK
    plain = abstain_(*command).out
    assert "\x1b" not in plain
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    assert "32m" not in abstain_(*command).out
    monkeypatch.delenv("NO_COLOR")
    coloured = abstain_(*command).out
    assert "\x1b[1;32m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured).split() == plain.split()


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_the_extra(missing):
    """The command says what to install; the library itself works."""
    code = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['abstain', 'demo']\n"
        "import abstain; print(abstain.augrc([0, 1], [0.9, 0.1]))\n"
        "from abstain.cli import main; main()"
    )
    done = start(python=("-c", code))
    assert (done.returncode, done.stdout) == (2, "0.125\n")
    assert done.stderr.startswith(f'abstain: the command line needs {missing}: pip install ".[cli]"')
    assert done.stderr.count("\n") == 1


def test_without_polars(path):
    """Archives need NumPy only; for tables the message says what to install."""
    table, other = path.with_name("a.csv"), path.with_name("a.parquet")
    table.write_text("y,yhat,conf\n0,0,1\n")
    other.write_text("no matter")
    code = (
        "import sys; sys.modules['polars'] = sys.modules['pandas'] = None; from abstain.cli._run import run\n"
        "print([run(['evaluate', name, '--scores', 'conf', '--level', '0', '--csv', '-']) for name in sys.argv[1:]])"
    )
    done = start(path, table, other, python=("-c", code))
    assert done.stdout.splitlines()[-1] == "[0, 2, 2]"
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f'abstain: {other}: reading .parquet files needs polars: pip install ".[cli]"')


def test_width_and_signs_without_a_terminal(path, abstain_, monkeypatch):
    """120 columns unless COLUMNS says otherwise; a sign that an encoding lacks becomes a question mark, no error."""
    scores = ["evaluate", path, "--scores", "conf,vague", "--metrics", "augrc,coverage_at_risk(risk=0)"]
    done = start(*scores, PYTHONIOENCODING="utf-8")
    assert (done.returncode, done.stdout) == (0, abstain_(*scores).out)
    assert "AUGRC ↓" in done.stdout
    assert (done.stderr.startswith(f"{path}: "), done.stderr.count("\n")) == (True, 1)
    for columns, width in (("x", 120), ("40", 40)):
        monkeypatch.setenv("COLUMNS", columns)
        assert max(map(len, abstain_(*scores).out.splitlines())) <= width
    old = {"COLUMNS": "40", "FORCE_COLOR": "1", "TERM": "xterm", "PYTHONIOENCODING": "ascii"}
    done = start("evaluate", path, "--scores", "votes", *QUICK, **old)
    assert "\x1b[33m" in done.stdout
    ties = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
    assert (done.returncode, "AUGRC ?" in ties) == (0, True)
    assert max(map(len, ties.splitlines())) <= 40
    assert "5.0 % of the scores are distinct, the largest tie holds 24 of 120 samples" in " ".join(ties.split())
