"""``abstain threshold``, ``apply`` and ``monitor``, as a user calls them."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from abstain.cli import run


def write(path: Path, n: int, error: float, seed: int = 0) -> Path:
    """Write a file of scores and errors."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    wrong = (rng.random(n) < 2 * error * (1 - score)).astype(int)
    site = np.where(np.arange(n) % 2, "a", "b")
    pl.DataFrame({"msp": score, "err": wrong, "site": site}).write_csv(path)
    return path


def test_from_calibration_to_monitoring(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Choose, apply, monitor: 0 while the guarantee holds, 1 when it is broken."""
    policy, decided = tmp_path / "policy.json", tmp_path / "decided.csv"
    val, new = write(tmp_path / "val.csv", 3000, 0.05), write(tmp_path / "new.csv", 1000, 0.05, 1)
    chosen = ["threshold", str(val), "--loss", "err", "--confidence", "msp", "--risk", "0.05", "--delta", "0.05"]
    assert run([*chosen, "-o", str(policy)]) == 0
    assert capsys.readouterr().out.startswith("certified: at most 5 % of the answers are wrong, with 95 %")
    assert run(["monitor", str(policy), str(val), "--loss", "err"]) == 0
    assert capsys.readouterr().err.startswith("note: these are the rows on which the threshold was chosen")
    assert run(["apply", str(policy), str(new), "-o", str(decided)]) == 0
    assert "1000 rows:" in capsys.readouterr().out
    assert pl.read_csv(decided)["accepted"].dtype == pl.Boolean
    assert run(["monitor", str(policy), str(new), "--loss", "err"]) == 0
    assert capsys.readouterr().out.startswith("No violation found: ")
    bad = write(tmp_path / "bad.csv", 2000, 0.25, 2)
    assert run(["monitor", str(policy), str(bad), "--loss", "err", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["violated"] is True


def test_not_attainable_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reason on stdout, no policy file."""
    few, policy = write(tmp_path / "few.csv", 40, 0.01), tmp_path / "policy.json"
    options = ["--loss", "err", "--confidence", "msp", "--risk", "0.05", "--delta", "0.05", "-o", str(policy)]
    assert run(["threshold", str(few), *options]) == 1
    assert "too few" in capsys.readouterr().out
    assert not policy.exists()


def test_the_policy_never_replaces_its_calibration_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused before anything is read, and the file stays as it is."""
    rows = write(tmp_path / "val.csv", 100, 0.1)
    before = rows.read_bytes()
    assert run(["threshold", str(rows), "--loss", "err", "--confidence", "msp", "--risk", "0.5", "-o", str(rows)]) == 2
    assert "is an input and would be replaced; give --output another name" in capsys.readouterr().err
    assert rows.read_bytes() == before


def test_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One threshold for each site, applied by the column of that name."""
    val, policy = write(tmp_path / "val.csv", 2000, 0.05), tmp_path / "policy.json"
    chosen = ["threshold", str(val), "--loss", "err", "--confidence", "msp", "--coverage", "0.5", "--groups", "site"]
    assert run([*chosen, "-o", str(policy)]) == 0
    assert run(["apply", str(policy), str(val), "-o", str(tmp_path / "out.parquet")]) == 0
    assert abs(pl.read_parquet(tmp_path / "out.parquet")["accepted"].mean() - 0.5) < 0.01
    said = " ".join(capsys.readouterr().err.split())
    assert f"{val}: confidence `msp` · loss `err` (0 to 1) · groups `site` " in said
    assert "accepted if 'msp' reaches the threshold of its 'site'; nothing is guaranteed" in said


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


def test_a_temperature_from_calibration_to_monitoring(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The policy remembers the columns of the logits and the temperature; decisions follow softmax(z/T)."""
    rng = np.random.default_rng(3)
    z = rng.normal(0, 2, (3000, 3))
    label = (z + rng.gumbel(0, 1, (3000, 3))).argmax(axis=1)
    frame = pl.DataFrame({"y": label, **{f"z_{k}": z[:, k] for k in range(3)}, "z_note": ["x"] * 3000})
    val, policy, decided = tmp_path / "val.csv", tmp_path / "policy.json", tmp_path / "decided.parquet"
    frame.write_csv(val)
    logits = ["--labels", "y", "--logits", "z_[0-9]"]
    chosen = ["threshold", str(val), *logits, "--temperature", "2.5", "--coverage", "0.5", "-o", str(policy)]
    assert run(chosen) == 0
    saved = json.loads(policy.read_text())
    assert (saved["score"], saved["temperature"], saved["inputs"]) == ("msp", 2.5, {"logits": ["z_0", "z_1", "z_2"]})
    assert run(["apply", str(policy), str(val), "-o", str(decided)]) == 0
    p = np.exp(z / 2.5) / np.exp(z / 2.5).sum(axis=1, keepdims=True)
    order = np.argsort(-p.max(axis=1))
    accepted = pl.read_parquet(decided)["accepted"].to_numpy()
    assert accepted[order][:1499].all()
    assert not accepted[order][1501:].any()
    assert run(["monitor", str(policy), str(val), "--labels", "y"]) == 0
    assert "1,500 of 3,000 rows" in capsys.readouterr().out
    finished = tmp_path / "finished.csv"
    pl.DataFrame({"msp": [0.5]}).write_csv(finished)
    assert run(["apply", str(policy), str(finished), "-o", str(decided)]) == 2
    assert "computed from z_0, z_1, z_2 with temperature 2.5" in capsys.readouterr().err
    assert run([*chosen[:-2], "--score", "nonsense"]) == 2
    assert "'nonsense' is not known" in capsys.readouterr().err


def test_a_finished_column_has_no_temperature(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that says what to do."""
    val = write(tmp_path / "val.csv", 100, 0.05)
    options = ["threshold", str(val), "--loss", "err", "--coverage", "0.5", "--temperature", "2"]
    assert run(options) == 2
    assert "a finished column cannot be scaled; give --logits or --probabilities" in capsys.readouterr().err
    assert run([*options, "--confidence", "msp"]) == 2
    assert "leave --confidence out" in capsys.readouterr().err


def test_a_group_breaks_its_guarantee(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1, and the group by name."""
    val, policy, new = write(tmp_path / "val.csv", 8000, 0.02), tmp_path / "policy.json", tmp_path / "new.csv"
    guarantee = ["--loss", "err", "--risk", "0.05", "--delta", "0.05", "--groups", "site", "-o", str(policy)]
    assert run(["threshold", str(val), *guarantee, "--report", str(tmp_path / "page.md")]) == 0
    assert "NEW_ROWS.csv -o decided.csv" in (tmp_path / "page.md").read_text()
    pl.read_csv(val).with_columns(err=pl.when(pl.col("site") == "a").then(1).otherwise(0)).write_csv(new)
    assert run(["monitor", str(policy), str(new), "--loss", "err"]) == 1
    assert "first seen in a after " in " ".join(capsys.readouterr().out.split())
    assert run(["monitor", str(policy), str(val), "--loss", "err", "--accepted-only"]) == 0
    told = capsys.readouterr().out
    assert "coverage drifted: undecided" in told
    assert ", coverage " not in told


def test_one_group_of_two_attains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its policy is written and rejects the other's rows; exit code 1 says that something is missing."""
    val, policy, decided = write(tmp_path / "val.csv", 3000, 0.02), tmp_path / "policy.json", tmp_path / "out.parquet"
    frame = pl.read_csv(val).with_columns(err=pl.when(pl.col("site") == "a").then(1).otherwise(pl.col("err")))
    frame.with_columns(msp=pl.when(pl.int_range(pl.len()) < 10).then(None).otherwise("msp")).write_csv(val)
    options = ["--loss", "err", "--risk", "0.05", "--delta", "0.05", "--groups", "site", "-o", str(policy)]
    assert run(["threshold", str(val), *options]) == 1
    shown = capsys.readouterr()
    assert "not attainable for a: their rows are rejected" in shown.err
    assert "of 1500 rows (5 of the 1500 without a score)" in shown.out
    assert run(["apply", str(policy), str(val), "-o", str(decided)]) == 0
    found = pl.read_parquet(decided).filter(pl.col("accepted"))
    assert found.height > 500
    assert set(found["site"]) == {"b"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("case,msp,msp\n1,.9,.1\n", "column 'msp' occurs 2 times; rename all but one"),
        ("msp,case,case\n.9,1,2\n", "column 'case' occurs 2 times; rename all but one"),
        ("case,msp\n1,.9\n2,.99,7\n", "data row 2 (line 3) has 3 fields, the header has 2; repair the file"),
    ],
)
def test_rows_that_cannot_be_told_apart_are_not_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    """The file, the column or the row, and the remedy; no decided file appears."""
    rows, policy, new = write(tmp_path / "val.csv", 100, 0.1), str(tmp_path / "p.json"), tmp_path / "new.csv"
    run(["threshold", str(rows), "--loss", "err", "--confidence", "msp", "--risk", "0.5", "-o", policy])
    new.write_text(text)
    capsys.readouterr()
    assert run(["apply", policy, str(new), "-o", str(tmp_path / "out.csv")]) == 2
    assert capsys.readouterr().err == f"abstain: {new}: {message}\n"
    assert not (tmp_path / "out.csv").exists()


def test_groups_of_a_csv_keep_their_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Codes 01 and 1 are two groups: each has its own threshold, and apply and monitor find it again."""
    rng = np.random.default_rng(0)
    path, policy, decided = tmp_path / "val.csv", tmp_path / "policy.json", tmp_path / "decided.csv"
    codes = ["01", "1", "007"]
    rows = [f"{codes[i % 3]},{score},{int(rng.random() < 0.2)}" for i, score in enumerate(rng.random(600))]
    path.write_text("\n".join(["site,conf,err", *rows]))
    options = "--loss err --confidence conf --coverage 0.5 --groups site"
    calibration = ["threshold", str(path), *options.split()]
    assert run([*calibration, "-o", str(policy)]) == 0
    assert run(["apply", str(policy), str(path), "-o", str(decided)]) == 0
    assert "600 rows: 300 accepted" in capsys.readouterr().out
    share = pl.read_csv(decided, schema_overrides={"site": pl.String}).group_by("site").agg(pl.col("accepted").mean())
    assert dict(share.iter_rows()) == dict.fromkeys(codes, 0.5)
    assert run(["monitor", str(policy), str(path), "--loss", "err", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_accepted"] == 300


@pytest.mark.parametrize("objective", [[], ["--delta", "0.05"], ["--risk", "0.1", "--capacity", "0.2"]])
def test_one_objective(tmp_path: Path, capsys: pytest.CaptureFixture[str], objective: list[str]) -> None:
    """The options are named, before the file is read."""
    assert run(["threshold", str(tmp_path / "none.csv"), *objective]) == 2
    assert "give exactly one of --risk, --coverage, --capacity, --cost, --review-cost." in capsys.readouterr().err


def test_a_cluster_column_is_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Named or recognised: the guarantee is about new clusters, and monitoring needs them; repeated ids are said."""
    rng = np.random.default_rng(0)
    m, k = 200, 5
    error = ((rng.random((m, 1)) < 0.02) & (rng.random((m, k)) < 0.9)).ravel().astype(int)
    frame = pl.DataFrame({"error": error, "conf": rng.random(m * k), "patient": np.repeat(np.arange(m), k)})
    file, policy = tmp_path / "val.csv", tmp_path / "policy.json"
    frame.write_csv(file)
    options = [str(file), "--loss", "error", "--confidence", "conf", "--risk", "0.1", "--delta", "0.05"]
    assert run(["threshold", *options, "--clusters", "patient", "-o", str(policy)]) == 0
    shown = capsys.readouterr().out
    assert "an accepted row of a new cluster" in " ".join(shown.split())
    assert json.loads(policy.read_text())["calibration"]["n_clusters"] == 200
    frame.rename({"patient": "cluster"}).write_csv(file)
    assert run(["threshold", *options]) == 0
    assert "an accepted row of a new cluster" in " ".join(capsys.readouterr().out.split())
    assert run(["monitor", str(policy), str(file), "--loss", "error"]) == 2
    assert "'patient' is not in the file; known: cluster, conf, error; give --clusters" in capsys.readouterr().err
    assert run(["monitor", str(policy), str(file), "--loss", "error", "--clusters", "cluster"]) == 0
    assert "rows of a cluster depend on each other" in " ".join(capsys.readouterr().out.split())
    frame.rename({"patient": "id"}).write_csv(file)
    assert run(["monitor", str(policy), str(file), "--loss", "error"]) == 2
    assert "'patient' is not in the file" in capsys.readouterr().err
    assert run(["threshold", *options]) == 0
    assert "1000 rows have 200 ids" in capsys.readouterr().err


def test_monitoring_by_new_rows_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Weeks into a state: a week that comes twice is refused, the state says what was seen, and keeps its options."""
    policy, state = str(tmp_path / "policy.json"), str(tmp_path / "watch.json")
    val = write(tmp_path / "val.csv", 3000, 0.05)
    chosen = ["threshold", str(val), "--loss", "err", "--confidence", "msp", "--risk", "0.05", "--delta", "0.05"]
    assert run([*chosen, "-o", policy]) == 0
    weeks = [str(write(tmp_path / f"{k}.csv", 400, 0.3 if k > 2 else 0.03, k)) for k in range(1, 4)]
    watch = ["monitor", policy, "--loss", "err", "--state", state]
    assert run(["monitor", policy, "--state", state]) == 2
    assert "give FILE" in capsys.readouterr().err
    assert run([*watch, weeks[0], "--run-length", "500"]) == 0
    assert run([*watch, weeks[1], "--run-length", "500"]) == 0  # the same command every week
    before = Path(state).read_bytes()
    capsys.readouterr()
    assert run([*watch, weeks[1]]) == 2
    assert "sent before" in (said := capsys.readouterr().err)
    assert "--again" in said
    assert run([*watch, weeks[2], "--run-length", "600"]) == 2
    assert "leave --run-length out" in capsys.readouterr().err
    assert Path(state).read_bytes() == before
    assert run([*watch, weeks[2]]) == 1
    capsys.readouterr()
    assert run(["monitor", policy, "--state", state, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["n"], len(found["periods"])) == (1200, 3)
    (tmp_path / "none.csv").write_text("msp,err,site\n")
    assert run([*watch, str(tmp_path / "none.csv")]) == 1  # still broken
    assert "1 call brought no rows" in capsys.readouterr().out


def test_monitoring_under_maturity(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows of the last days wait, with or without a label; a mature row without one is refused, or an error."""
    policy, file = str(tmp_path / "policy.json"), tmp_path / "new.csv"
    val = write(tmp_path / "val.csv", 3000, 0.05)
    chosen = ["threshold", str(val), "--loss", "err", "--confidence", "msp", "--risk", "0.05", "--delta", "0.05"]
    assert run([*chosen, "-o", policy]) == 0
    days = [f"2026-03-{1 + k // 20:02d}" for k in range(200)]
    for missing in (130, 30):
        labels = [None if k >= 180 or k == missing else 0 for k in range(200)]
        pl.DataFrame({"msp": np.linspace(0.95, 0.99, 200)[::-1], "err": labels, "day": days}).write_csv(file)
        ages = ["monitor", policy, str(file), "--loss", "err", "--time", "day", "--maturity", "5"]
        capsys.readouterr()
        assert run(ages) == (0 if missing == 130 else 2)
        said = capsys.readouterr()
        if missing == 130:
            assert "in 100 answered rows" in said.out
            assert "100 rows are too young" in said.out
        else:
            assert "an accepted row without a label although it is older than" in said.err
            assert run([*ages, "--unlabelled", "error", "--as-of", "2026-03-10"]) == 0
            assert "error rate 1 % in 100 answered rows" in capsys.readouterr().out
