"""``abstain export``, ``audit`` and what a policy says of its model, on the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import abstain
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


def test_the_score_that_decides_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was understood names the computed score, not the largest softmax, in every command and on the page."""
    commands = [
        [*THRESHOLD, "--score", "energy", "--report", "page.html"],
        ["audit", "p.json", "test.csv"],
        ["monitor", "p.json", "test.csv"],
    ]
    for command in commands:
        assert run(command) == 0
        assert "· confidence energy ·" in " ".join(capsys.readouterr().err.split())
    assert 'read as confidence</th><td class="s0">energy<' in Path("page.html").read_text("utf-8")


def test_audit_says_what_a_policy_does(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By group if asked; exit code 1 where the guarantee is refuted, else 0."""
    assert run(THRESHOLD) == 0
    capsys.readouterr()
    assert run(["audit", "p.json", "test.csv", "--groups", "site"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Undecided: error rate ")
    assert "\na " in shown
    assert "\nb " in shown
    assert run(["audit", "p.json", "spoiled.csv"]) == 1
    assert capsys.readouterr().out.startswith("Stop answering by this policy: ")


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


def test_two_scores_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Chosen on ID and OOD rows, applied, exported, audited and monitored: the same rows are accepted."""
    for name, seed in (("cal", 0), ("later", 1)):
        rng = np.random.default_rng(seed)
        ood = rng.random(5000) < 0.125
        sure = np.where(ood, rng.beta(4, 2, 5000), rng.beta(5, 1.2, 5000))
        error = rng.random(5000) > 0.5 + 0.5 * sure
        columns = {"error": (error | ood).astype(float), "confidence": sure, "known": rng.normal(2.5 * ~ood, 1.0)}
        pl.DataFrame(columns | ({"is_ood": ood} if name == "cal" else {})).write_csv(f"{name}.csv")
    goal = ["--risk", "0.1", "--delta", "0.1", "--second", "known", "-o", "p.json"]
    assert run(["threshold", "cal.csv", *goal]) == 0
    assert "of ID and OOD rows as they were drawn" in " ".join(capsys.readouterr().out.split())
    assert run(["threshold", "cal.csv", *goal, "--prevalence", "0.1"]) == 0
    assert "ID rows and OOD rows at a prevalence of 0.1" in " ".join(capsys.readouterr().out.split())
    assert run(["apply", "p.json", "later.csv", "-o", "out.csv"]) == 0
    said = capsys.readouterr()
    assert "and 'known' >=" in said.err
    accepted = pl.read_csv("out.csv")["accepted"]
    assert f"{accepted.sum()} accepted" in said.out
    assert run(["export", "p.json", "-o", "decide.py"]) == 0
    names: dict[str, object] = {"__name__": "decide"}
    exec(Path("decide.py").read_text(), names)
    decide: object = names["decide"]
    assert [decide(row)[0] for row in pl.read_csv("later.csv").to_dicts()] == accepted.to_list()  # type: ignore[operator]
    for command in ("audit", "monitor"):
        assert run([command, "p.json", "later.csv"]) == 0
        assert f"{accepted.sum():,} answered rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--coverage", "0.5", "--second", "z_0"], "--second needs --risk and --delta"),
        (["--risk", "0.2", "--delta", "0.1", "--prevalence", "0.1"], "--prevalence belongs to --second"),
        (["--risk", "0.2", "--delta", "0.1", "--second", "z_0", "--prevalence", "0.1"], "--prevalence needs OOD rows"),
        (
            ["--risk", "0.2", "--delta", "0.1", "--second", "z_0", "--groups", "site"],
            "--groups site is not offered with --second; take a pair in each group, with --where site=VALUE",
        ),
        (["--risk", "0.2", "--delta", "0.1", "--second", "nothing"], "nothing"),
    ],
)
def test_wrong_use_of_two_scores(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    """Exit code 2, and nothing is written."""
    assert run(["threshold", "val.csv", "--logits", "z_*", *options, "-o", "p.json"]) == 2
    assert message in capsys.readouterr().err
    assert not Path("p.json").exists()


def test_late_labels_are_not_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who leaves out rows without a label yet keeps the errors that came first; the remedy is the age of rows."""
    assert run(THRESHOLD) == 0
    rows = pl.read_csv("test.csv").with_row_index()
    rows.with_columns(y=pl.when(pl.col("index") > 1000).then(None).otherwise(pl.col("y"))).write_csv("late.csv")
    capsys.readouterr()
    assert run(["monitor", "p.json", "late.csv"]) == 2
    said = capsys.readouterr().err
    assert "not by whether a label came" in said
    assert said.rstrip().endswith("whether a label came: give --time and --maturity")


@pytest.mark.parametrize("command", ["threshold", "audit", "monitor"])
def test_no_verdict_is_left_out_because_it_is_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """Whatever column holds the verdicts, a command of guarantees says that rows count by their age."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{k % 2},{k / 50}" for k in range(50)]
    Path("rows.csv").write_text("\n".join(["loss,confidence", *rows]))
    Path("late.csv").write_text("\n".join(["loss,confidence", *rows[:40], *[f",{k / 50}" for k in range(10)]]))
    assert run(["threshold", "rows.csv", "--risk", "0.9", "--delta", "0.1", "-o", "p.json"]) == 0
    capsys.readouterr()
    given = ["late.csv", "--risk", "0.9", "--delta", "0.1"] if command == "threshold" else ["p.json", "late.csv"]
    assert run([command, *given]) == 2
    said = capsys.readouterr().err
    assert "10 of 50 rows have no label: if labels come late, rows count by their age" in said
    assert ("give --time and --maturity" in said) == (command == "monitor")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give --confidence or --uncertainty, one of the other columns: conf_a, conf_b"),
        (
            ["--score", "conf_a"],
            "no score that is computed is called 'conf_a'; a finished column is given as --confiden",
        ),
        (["--score", "energy"], "'energy' is computed from logits or probabilities, which the file does not hold"),
    ],
)
def test_a_column_is_no_computed_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    """A file of finished columns: which one is asked for by name, and nothing is said that nobody asked."""
    path = tmp_path / "two.csv"
    path.write_text("labels,predictions,conf_a,conf_b\n1,1,.9,.3\n0,1,.8,.2\n1,1,.7,.2\n")
    assert run(["threshold", str(path), "--coverage", "0.5", *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_applied_rows_run_nothing_in_a_spreadsheet(tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text('case,=cell,msp\n=1+1,-0.5,0.95\n"\t@x",+x,0.3\n\'=y,,0.2\n')
    abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).save(tmp_path / "p.json", score="msp")
    assert run(["apply", str(tmp_path / "p.json"), str(tmp_path / "new.csv"), "-o", str(tmp_path / "out.csv")]) == 0
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "case,'=cell,msp,accepted", "'=1+1,-0.5,0.95,true", "'\t@x,'+x,0.3,false", "''=y,,0.2,false",
    ]  # fmt: skip


def test_an_export_writes_no_escape_code_to_a_terminal(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    found = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5)
    found.save(tmp_path / "p.json", score="a\x1b[31mb")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "abstain", "export", str(tmp_path / "p.json"), "--to", "sql"]
    subprocess.run(command, stdout=theirs, check=True)
    assert b"\x1b[31m" not in os.read(ours, 9999)
    assert "a\x1b[31mb" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
