"""``recuse threshold``, ``apply`` and ``monitor``, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from recuse.cli._run import run


def write(path: Path, n: int, error: float, seed: int = 0) -> Path:
    """Write a file of scores and errors."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    wrong = (rng.random(n) < 2 * error * (1 - score)).astype(int)
    site = np.where(np.arange(n) % 2, "a", "b")
    pl.DataFrame({"msp": score, "err": wrong, "site": site}).write_csv(path)
    return path


def test_from_calibration_to_monitoring(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Choose, apply, monitor: 0 while the promise holds, 1 when it is broken."""
    policy, decided = tmp_path / "policy.json", tmp_path / "decided.csv"
    val, new = write(tmp_path / "val.csv", 3000, 0.05), write(tmp_path / "new.csv", 1000, 0.05, 1)
    chosen = ["threshold", str(val), "--loss", "err", "--confidence", "msp", "--risk", "0.05", "--delta", "0.05"]
    assert run([*chosen, "-o", str(policy)]) == 0
    assert "promise: with probability at least 0.95" in capsys.readouterr().out
    assert run(["apply", str(policy), str(new), "-o", str(decided)]) == 0
    assert "1000 rows:" in capsys.readouterr().out
    assert pl.read_csv(decided)["accepted"].dtype == pl.Boolean
    assert run(["monitor", str(policy), str(new), "--loss", "err"]) == 0
    assert "promise broken: no" in capsys.readouterr().out
    bad = write(tmp_path / "bad.csv", 2000, 0.25, 2)
    assert run(["monitor", str(policy), str(bad), "--loss", "err", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["promise_broken"] is True


def test_not_attainable_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reason on stdout, no policy file."""
    few, policy = write(tmp_path / "few.csv", 40, 0.01), tmp_path / "policy.json"
    options = ["--loss", "err", "--confidence", "msp", "--risk", "0.05", "--delta", "0.05", "-o", str(policy)]
    assert run(["threshold", str(few), *options]) == 1
    assert "too few" in capsys.readouterr().out
    assert not policy.exists()


def test_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One threshold for each site, applied by the column of that name."""
    val, policy = write(tmp_path / "val.csv", 2000, 0.05), tmp_path / "policy.json"
    chosen = ["threshold", str(val), "--loss", "err", "--confidence", "msp", "--coverage", "0.5", "--by", "site"]
    assert run([*chosen, "-o", str(policy)]) == 0
    assert run(["apply", str(policy), str(val), "-o", str(tmp_path / "out.parquet")]) == 0
    assert abs(pl.read_parquet(tmp_path / "out.parquet")["accepted"].mean() - 0.5) < 0.01
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [("score", "column 'msp' of the policy is missing"), ("edit", "was edited after it was saved")],
)
def test_bad_input_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, message: str
) -> None:
    """A new file without the score column; a policy edited by hand."""
    val, policy = write(tmp_path / "val.csv", 500, 0.05), tmp_path / "policy.json"
    assert run(["threshold", str(val), "--loss", "err", "--coverage", "0.5", "-o", str(policy)]) == 0
    if change == "edit":
        policy.write_text(policy.read_text().replace('"score": "msp"', '"score": "err"'))
    else:
        val.write_text(val.read_text().replace("msp", "other", 1))
    capsys.readouterr()
    assert run(["apply", str(policy), str(val), "-o", str(tmp_path / "out.csv")]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1
