"""``abstain export``, ``audit`` and what a policy says of its model, on the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import abstain
from tests.command import csv


@pytest.fixture(autouse=True)
def _rows(do):
    """Write calibration rows, test rows of the same kind, spoiled ones, and finished columns."""
    for name, seed in (("val", 0), ("test", 1), ("spoiled", 2)):
        rng = np.random.default_rng(seed)
        z = 2.0 * rng.standard_normal((1500, 3))
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        y = (p.cumsum(axis=1) < rng.random((1500, 1))).sum(axis=1)
        y = rng.integers(0, 3, 1500) if name == "spoiled" else y
        csv(f"{name}.csv", z_0=z[:, 0], z_1=z[:, 1], z_2=z[:, 2], y=y, site=np.where(rng.random(1500) < 0.5, "a", "b"))
    csv("two.csv", labels=[1, 0, 1], predictions=[1, 1, 1], conf_a=[0.9, 0.8, 0.7], conf_b=[0.3, 0.2, 0.2])


CHOOSE = "threshold val.csv --logits z_*"
THRESHOLD = f"{CHOOSE} --risk 0.2 --delta 0.05 -o p.json"


def exported(file):
    """Return what the exported Python file decides on the rows of a file."""
    names = {"__name__": "decide"}
    exec(Path("decide.py").read_text(), names)
    return [names["decide"](row)[0] for row in pl.read_csv(file).to_dicts()]


@pytest.mark.parametrize("command", ["apply p.json test.csv -o out.csv", "audit p.json test.csv"])
def test_a_policy_says_its_model(do, command):
    """Written by threshold; apply and audit refuse another one with exit code 2 and write nothing."""
    do(f"{THRESHOLD} --model 'net 3' --author me --note spring")
    content = json.loads(Path("p.json").read_text())
    assert content["about"].items() >= {"model": "net 3", "author": "me", "note": "spring"}.items()
    assert content["classes"] == ["0", "1", "2"]
    assert "was made for the model 'net 3', not 'net 4'" in do(f"{command} --model 'net 4'", 2).err
    assert not Path("out.csv").exists()
    do(f"{command} --model 'net 3'")


def test_the_score_that_decides_is_named(do):
    """What was understood names the computed score, not the largest softmax, in every command and on the page."""
    chosen = f"{THRESHOLD} --score energy --report page.html"
    for command in (chosen, "audit p.json test.csv", "monitor p.json test.csv"):
        assert "· confidence energy ·" in do(command).said
    assert 'read as confidence</th><td class="s0">energy<' in Path("page.html").read_text("utf-8")


def test_audits_and_exports_say_what_a_policy_does(do):
    """By group if asked; exit code 1 where the guarantee is refuted; the Python file decides as apply does."""
    do(THRESHOLD)
    shown = do("audit p.json test.csv --groups site").out
    assert shown.startswith("Undecided: error rate ")
    assert "\na " in shown
    assert do("audit p.json spoiled.csv", 1).out.startswith("Stop answering by this policy: ")
    do("apply p.json test.csv -o out.csv")
    do("export p.json -o decide.py")
    assert exported("out.csv") == pl.read_csv("out.csv")["accepted"].to_list()
    assert "write it as a column" in do("export p.json --to sql", 2).err
    assert do("export p.json --to schema").out == json.dumps(abstain.policy.schema(), indent=2) + "\n"


def test_two_scores_on_the_command_line(do):
    """Chosen on ID and OOD rows, applied, exported, audited and monitored: the same rows are accepted."""
    for name, seed in (("cal", 0), ("later", 1)):
        rng = np.random.default_rng(seed)
        ood = rng.random(5000) < 0.125
        sure = np.where(ood, rng.beta(4, 2, 5000), rng.beta(5, 1.2, 5000))
        error = rng.random(5000) > 0.5 + 0.5 * sure
        columns = {"error": (error | ood).astype(float), "confidence": sure, "known": rng.normal(2.5 * ~ood, 1.0)}
        csv(f"{name}.csv", **columns, **({"is_ood": ood} if name == "cal" else {}))
    chosen = "threshold cal.csv --risk 0.1 --delta 0.1 --second known -o p.json"
    assert "of ID and OOD rows as they were drawn" in do(chosen).text
    assert "ID rows and OOD rows at a prevalence of 0.1" in do(f"{chosen} --prevalence 0.1").text
    done = do("apply p.json later.csv -o out.csv")
    assert "and 'known' >=" in done.err
    accepted = pl.read_csv("out.csv")["accepted"]
    assert f"{accepted.sum()} accepted" in done.out
    do("export p.json -o decide.py")
    assert exported("later.csv") == accepted.to_list()
    for command in ("audit", "monitor"):
        assert f"{accepted.sum():,} answered rows" in do(f"{command} p.json later.csv").out
    do("threshold cal.csv --risk 0.2 --delta 0.1 --second known --max-loss 2 -o p.json")
    do("apply p.json cal.csv -o out.csv")
    answered = pl.read_csv("out.csv").filter("accepted")
    assert (answered["error"] + answered["is_ood"]).mean() <= 0.2  # an OOD row costs 2


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (f"{CHOOSE} --coverage 0.5 --second z_0", "--second needs --risk and --delta"),
        (f"{CHOOSE} --risk 0.2 --delta 0.1 --prevalence 0.1", "--prevalence belongs to --second"),
        (f"{CHOOSE} --risk 0.2 --delta 0.1 --second z_0 --prevalence 0.1", "--prevalence needs OOD rows"),
        (f"{CHOOSE} --risk 0.2 --delta 0.1 --second nothing", "nothing"),
        (f"{CHOOSE} --capacity 1/2/3", "--capacity takes a share, or cases of all cases as in 500/2500"),
        ("threshold two.csv --coverage 0.5", "give --confidence or --uncertainty, one of the other columns: conf_a"),
        ("threshold two.csv --coverage 0.5 --score conf_a", "no score that is computed is called 'conf_a'; a finished"),
        ("threshold two.csv --coverage 0.5 --score energy", "'energy' is computed from logits or probabilities, which"),
        ("threshold two.csv --coverage 0.5 --confidence conf_a --temperature 2", "leave --confidence out"),
        ("threshold none.csv --risk 0.1 --capacity 0.2", "give exactly one of --risk, --coverage, --capacity, --cost"),
        ("threshold val.csv --coverage 0.5 -o val.csv", "is an input and would be replaced; give --output another nam"),
        (f"{CHOOSE} --risk 0.2 --delta 0.1 --second z_0 --ood-share 0.01", "--ood-share is not offered with --second"),
        ("summarize two.csv --labels labels", "two.csv: holds rows; give --confidence COLUMN and --loss COLUMN"),
        ("joint two.csv --ood site=a", "--ood needs --where, which chooses the ID rows"),
        ("export val.csv", "say which form: --to python, sql or schema"),
    ],
)
def test_wrong_use(do, typed, message):
    """Exit code 2, and nothing is written."""
    before = {path: path.read_bytes() for path in Path().iterdir()}
    assert message in do(typed, 2).err
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize("command", ["threshold", "audit", "monitor"])
def test_no_verdict_is_left_out_because_it_is_late(do, command):
    """Whatever column holds the verdicts, a command of guarantees says that rows count by their age."""
    k = np.arange(50)
    csv("rows.csv", loss=k % 2, confidence=k / 50)
    pl.read_csv("rows.csv").with_columns(loss=pl.when(pl.int_range(50) < 40).then("loss")).write_csv("late.csv")
    objective = "--risk 0.9 --delta 0.1"
    do(f"threshold rows.csv {objective} -o p.json")
    said = do(f"threshold late.csv {objective}" if command == "threshold" else f"{command} p.json late.csv", 2).err
    assert "10 of 50 rows have no label: if labels come late, rows count by their age" in said
    assert ("give --time and --maturity" in said) == (command == "monitor")


def test_applied_rows_run_nothing_in_a_spreadsheet(do):
    Path("new.csv").write_text('case,=cell,msp\n=1+1,-0.5,0.95\n"\t@x",+x,0.3\n\'=y,,0.2\n')
    abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).save("p.json", score="msp")
    do("apply p.json new.csv -o out.csv")
    rows = ["case,'=cell,msp,accepted", "'=1+1,-0.5,0.95,true", "'\t@x,'+x,0.3,false", "''=y,,0.2,false"]
    assert Path("out.csv").read_text().splitlines() == rows


def test_an_export_writes_no_escape_code_to_a_terminal(tmp_path, abstain_):
    pty = pytest.importorskip("pty")
    found = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5)
    found.save(tmp_path / "p.json", score="a\x1b[31mb")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "abstain", "export", str(tmp_path / "p.json"), "--to", "sql"]
    subprocess.run(command, stdout=theirs, check=True)
    assert b"\x1b[31m" not in os.read(ours, 9999)
    assert "a\x1b[31mb" in abstain_(*command[3:]).out
