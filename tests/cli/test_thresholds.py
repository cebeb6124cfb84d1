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


def test_a_finished_column_has_no_temperature(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that says what to do."""
    val = write(tmp_path / "val.csv", 100, 0.05)
    options = ["threshold", str(val), "--loss", "err", "--coverage", "0.5", "--temperature", "2"]
    assert run(options) == 2
    assert "a finished column cannot be scaled; give --logits or --probabilities" in capsys.readouterr().err
    assert run([*options, "--confidence", "msp"]) == 2
    assert "leave --confidence out" in capsys.readouterr().err


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
