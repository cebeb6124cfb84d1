"""The installed command as users run it: pipes, colours, widths, encodings, missing extras, large files."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import COLUMNS, Done

COMMAND = [sys.executable, "-m", "abstain"]


def start(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, without a terminal."""
    environment = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "NO_COLOR", "FORCE_COLOR"}}
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True, text=True, encoding="utf-8", timeout=600, env=environment | variables,
    )  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small archive of predictions."""
    path = tmp_path_factory.mktemp("small") / "preds.npz"
    np.savez(path, **{name: COLUMNS[name] for name in ("y", "yhat", "conf", "vague", "votes")})
    return path


def test_exit_codes_and_streams(path: Path) -> None:
    """0 with the result on stdout; 2 with one line on stderr; files are announced on stderr."""
    done = start("evaluate", path)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "AUGRC" in done.stdout
    done = start("evaluate", path, "--scores", "nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"abstain: {path}: 'nothing' is neither")
    assert done.stderr.count("\n") == 1
    done = start("evaluate", path, "--json", path.with_name("r.json"))
    assert done.stderr.startswith(f"wrote {path.with_name('r.json')}\n")
    done = start()
    assert (done.returncode, done.stdout) == (2, "")
    assert "Commands:" in done.stderr


def test_the_script_is_installed(path: Path) -> None:
    """``abstain`` and ``python -m abstain`` are one."""
    script = Path(sys.executable).with_name("abstain")
    if not script.exists():
        pytest.skip("the package is not installed in this environment")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == start("--version").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
@pytest.mark.parametrize("arguments", [["metrics"], ["evaluate", "{path}", "--json", "-"], ["evaluate", "{path}"]])
def test_a_reader_that_stops(path: Path, arguments: list[str]) -> None:
    """A pipe that closes at once (as head does) is no error, and nothing is said about it."""
    words = [word.format(path=path) for word in arguments]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*COMMAND, *words], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120, check=False
        )
    finally:
        os.close(writing)
    assert done.returncode == 0
    assert not [line for line in done.stderr.splitlines() if ": labels `" not in line]  # what was understood


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
@pytest.mark.parametrize("redirected", ["", "2>&1"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("evaluate preds.npz --gate augrc<=0.0001", 1),
        ("threshold preds.npz --risk 0.001 --delta 0.05", 1),
        ("evaluate nowhere.npz", 2),
        ("evaluate preds.npz", 0),
    ],
)
def test_a_reader_that_stops_hides_no_exit_code(path: Path, words: str, code: int, redirected: str) -> None:
    """``abstain … | true`` with pipefail ends as without a pipe, whether the reader leaves early or late."""
    words = words.replace("<", "\\<")
    for reader in ("true", "head -c1"):
        line = f"set -o pipefail; {sys.executable} -m abstain {words} {redirected} | {reader}"
        done = subprocess.run(["bash", "-c", line], cwd=path.parent, capture_output=True, timeout=120, check=False)
        assert done.returncode == code, (line, done.stderr)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_files_are_complete_when_the_reader_stops(path: Path, tmp_path: Path) -> None:
    """``abstain evaluate … --report page.html | head -1`` leaves the page."""
    page = tmp_path / "page.html"
    line = f"{sys.executable} -m abstain evaluate {path} --report {page} | head -1"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.startswith("preds.npz: 120 rows, error rate ")
    assert "Traceback" not in done.stderr
    assert page.read_text("utf-8").rstrip().endswith("</html>")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk(path: Path) -> None:
    """Output that cannot be written is an error, said once."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "evaluate", str(path)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False
        )
    assert done.returncode == 2
    assert done.stderr.startswith("abstain: ")
    assert done.stderr.count("\n") == 1


def test_width_without_a_terminal(path: Path, abstain_: Callable[..., Done], monkeypatch: pytest.MonkeyPatch) -> None:
    """120 columns unless COLUMNS says otherwise; a long note goes on in the next line; so in a process of its own."""
    scores = ["--scores", "conf,vague", "--metrics", "augrc,coverage_at_risk(risk=0)"]
    assert start("evaluate", path, *scores).stdout == abstain_("evaluate", path, *scores).out
    for columns, width in ((None, 120), ("40", 40), ("x", 120)):
        if columns is not None:
            monkeypatch.setenv("COLUMNS", columns)
        lines = abstain_("evaluate", path, *scores).out.splitlines()
        assert max(len(line) for line in lines) <= width
        assert sum("conf" in line for line in lines) >= 1
    ties = start("evaluate", path, "--scores", "votes", "--metrics", "augrc", COLUMNS="40").stdout
    assert max(map(len, ties.splitlines())) <= 40
    assert "of the rows share one value of votes: no threshold separates them." in " ".join(ties.split())


def test_colours(path: Path, abstain_: Callable[..., Done], monkeypatch: pytest.MonkeyPatch) -> None:
    """None without a terminal; FORCE_COLOR asks for them, and NO_COLOR has the last word."""
    command = "evaluate", path, "--scores", "conf,vague"
    assert "\x1b" not in abstain_(*command).out
    assert "\x1b[1;32m" in start(*command, FORCE_COLOR="1", TERM="xterm").stdout
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    assert "32m" not in abstain_(*command).out
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b[1;32m" in abstain_(*command).out


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_old_encodings(path: Path, encoding: str) -> None:
    """Signs that an encoding lacks become question marks, not errors."""
    done = subprocess.run(
        [*COMMAND, "evaluate", str(path)],
        capture_output=True, timeout=120, check=True, env=os.environ | {"PYTHONIOENCODING": encoding},
    )  # fmt: skip
    text = done.stdout.decode(encoding)
    assert ("AUGRC ↓" if encoding == "utf-8" else "AUGRC ?") in text


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_the_extra(missing: str) -> None:
    """The command says what to install; the library itself works."""
    code = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['abstain', 'demo']\n"
        "import abstain; print(abstain.augrc([0, 1], [0.9, 0.1]))\n"
        "from abstain.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (2, "0.125\n")
    assert done.stderr.startswith(f'abstain: the command line needs {missing}: pip install ".[cli]"')
    assert done.stderr.count("\n") == 1


def test_without_polars(path: Path) -> None:
    """Archives need NumPy only; for tables the message says what to install."""
    table, other = path.with_name("a.csv"), path.with_name("a.parquet")
    table.write_text("y,yhat,conf\n0,0,1\n")
    other.write_text("no matter")
    code = (
        "import sys; sys.modules['polars'] = sys.modules['pandas'] = None; from abstain.cli._run import run\n"
        "print([run(['evaluate', name, '--scores', 'conf', '--csv', '-']) for name in sys.argv[1:]])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(table), str(other)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[0, 2, 2]"
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f'abstain: {other}: reading .parquet files needs polars: pip install ".[cli]"')


def _sorting(score: np.ndarray) -> float:
    """Return the processor time of one stable argsort, which no processor does several rows at a time."""
    before = time.process_time()
    for _ in range(5):
        np.argsort(score, kind="stable")
    return (time.process_time() - before) / 5


@pytest.mark.slow
def test_a_million_rows_in_seconds(tmp_path: Path) -> None:
    """Two scores, all forms of output: about forty times as long as one stable argsort, never a hundred times."""
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    n = 10**6
    confidence = rng.random(n)
    wrong = (rng.random(n) > confidence).astype(int)
    frame = {"y": np.zeros(n, int), "yhat": wrong, "conf": confidence, "vague": confidence + 0.1 * rng.random(n)}
    polars.DataFrame(frame).write_parquet(tmp_path / "big.parquet")
    sorts, before = [_sorting(confidence)], os.times()
    endings = {"report": "html", "plot": "png", "json": "json", "csv": "csv"}
    options = [word for name, end in endings.items() for word in (f"--{name}", tmp_path / f"r.{name}.{end}")]
    done = start("evaluate", tmp_path / "big.parquet", "--scores", "conf,vague", *options)
    assert done.returncode == 0, done.stderr
    after = os.times()  # processor time of the command: a busy machine is not a slow command
    sorts.append(_sorting(confidence))  # and a machine that shares its caches sorts as slowly
    used = after.children_user - before.children_user + after.children_system - before.children_system
    assert used < 100 * sum(sorts) / 2, (used, sorts)
    assert "\n1000000 samples" in done.stdout
    assert (tmp_path / "r.report.html").stat().st_size < 500_000  # as of ten thousand rows


def test_messages_in_a_pipe(tmp_path: Path) -> None:
    """An error is one line, and so is what a file was read as."""
    (tmp_path / "short.csv").write_text("y,conf\n0,0.5\n")
    error = start("evaluate", tmp_path / "short.csv").stderr
    assert error.startswith(f"abstain: {tmp_path / 'short.csv'}: nothing predicts a class; give --logits")
    assert error.count("\n") == 1
    rows = "".join(f"a{k},{k % 2},{k % 3 % 2},0.{k}\n" for k in range(9))
    (tmp_path / "p.csv").write_text("loan_id,y,yhat,conf\n" + rows)
    read_as = start("threshold", tmp_path / "p.csv", "--coverage", "0.5").stderr.splitlines()
    assert len(read_as) == 1
    assert read_as[0].endswith("· id `loan_id`")
