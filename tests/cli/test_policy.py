"""``abstain export``, ``audit`` and what a policy says of its model, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from abstain.cli import run

pl = pytest.importorskip("polars")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with calibration rows, test rows of the same kind, and spoiled ones."""
    monkeypatch.chdir(tmp_path)
    for name, seed in (("val", 0), ("test", 1), ("spoiled", 2)):
        rng = np.random.default_rng(seed)
        z = 2.0 * rng.standard_normal((1500, 3))
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        y = (p.cumsum(axis=1) < rng.random((1500, 1))).sum(axis=1)
        y = rng.integers(0, 3, 1500) if name == "spoiled" else y
        columns = {f"z_{k}": z[:, k] for k in range(3)} | {"y": y, "site": np.where(rng.random(1500) < 0.5, "a", "b")}
        pl.DataFrame(columns).write_csv(f"{name}.csv")
    return tmp_path


THRESHOLD = ["threshold", "val.csv", "--logits", "z_*", "--risk", "0.2", "--delta", "0.05", "-o", "p.json"]


def test_a_policy_says_its_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Written by threshold; apply and audit refuse another one with exit code 2 and write nothing."""
    assert run([*THRESHOLD, "--model", "net 3", "--author", "me", "--note", "spring"]) == 0
    content = json.loads(Path("p.json").read_text())
    assert content["about"].items() >= {"model": "net 3", "author": "me", "note": "spring"}.items()
    assert content["classes"] == ["0", "1", "2"]
    for command in (["apply", "p.json", "test.csv", "-o", "out.csv"], ["audit", "p.json", "test.csv"]):
        assert run([*command, "--model", "net 3"]) == 0
        capsys.readouterr()
        Path("out.csv").unlink(missing_ok=True)
        assert run([*command, "--model", "net 4"]) == 2
        assert "was made for the model 'net 3', not 'net 4'" in capsys.readouterr().err
        assert not Path("out.csv").exists()


def test_audit_says_what_a_policy_does(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By group if asked; exit code 1 where the promise is broken, 0 where it is kept."""
    assert run(THRESHOLD) == 0
    capsys.readouterr()
    assert run(["audit", "p.json", "test.csv", "--by", "site"]) == 0
    shown = capsys.readouterr().out
    assert "keeps its promise: yes" in shown
    assert "\na " in shown
    assert "\nb " in shown
    assert run(["audit", "p.json", "spoiled.csv"]) == 1
    assert "keeps its promise: no" in capsys.readouterr().out


def test_exports_decide_as_apply_does(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The Python file, by the ending of its name; the schema; SQL is refused for logits with what to do."""
    assert run(THRESHOLD) == 0
    assert run(["apply", "p.json", "test.csv", "-o", "out.csv"]) == 0
    assert run(["export", "p.json", "-o", "decide.py"]) == 0
    names: dict[str, object] = {"__name__": "decide"}
    exec(Path("decide.py").read_text(), names)
    rows = pl.read_csv("out.csv").to_dicts()
    assert [names["decide"](row)[0] for row in rows] == [row["accepted"] for row in rows]  # type: ignore[operator]
    capsys.readouterr()
    assert run(["export", "p.json", "--to", "schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "A policy of abstain"
    assert run(["export", "p.json", "--to", "sql"]) == 2
    assert "write it as a column" in capsys.readouterr().err
    assert run(["export", "p.json"]) == 2
    assert "say which form" in capsys.readouterr().err


def test_capacity_as_cases(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """300 of 1,500 cases are a fifth; words are refused."""
    common = ["threshold", "val.csv", "--logits", "z_*", "--json", "--capacity"]
    found = []
    for text in ("300/1500", "0.2"):
        assert run([*common, text]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    for text in ("many", "1/2/3"):
        assert run([*common, text]) == 2
        assert "--capacity takes a share, or cases of all cases as in 500/2500" in capsys.readouterr().err
