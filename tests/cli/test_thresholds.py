"""``abstain threshold``, ``apply`` and ``monitor``, as a user calls them."""

from pathlib import Path

import numpy as np
import polars as pl

import abstain
from tests.command import csv

CHOOSE = "threshold val.csv --loss err --confidence msp"
CERTIFY = f"{CHOOSE} --risk 0.05 --delta 0.05 -o policy.json"
APPLY = "apply policy.json val.csv -o out.parquet"
MONITOR = "monitor policy.json {} --loss err"


def write(name, n, error, seed=0):
    """Write a file of scores and errors."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    wrong = (rng.random(n) < 2 * error * (1 - score)).astype(int)
    return pl.read_csv(csv(name, msp=score, err=wrong, site=np.where(np.arange(n) % 2, "a", "b")))


def test_from_calibration_to_monitoring(do):
    """Choose, apply, monitor: 0 while the guarantee holds, 1 when it is violated or not attainable."""
    write("val.csv", 40, 0.01)
    assert "too few" in do(CERTIFY, 1).out
    assert not Path("policy.json").exists()
    write("val.csv", 3000, 0.05)
    write("new.csv", 1000, 0.05, 1)
    write("bad.csv", 2000, 0.25, 2)
    assert do(CERTIFY).out.startswith("certified: at most 5 % of the answers are wrong, with 95 %")
    told = do(MONITOR.format("val.csv")).err
    assert told.startswith("note: these are the rows on which the threshold was chosen")
    assert "1000 rows:" in do("apply policy.json new.csv -o decided.csv").out
    assert pl.read_csv("decided.csv")["accepted"].dtype == pl.Boolean
    assert do(MONITOR.format("new.csv")).out.startswith("No violation found: ")
    assert do(MONITOR.format("bad.csv --json"), 1).json["violated"] is True


def test_rows_and_policies_that_do_not_fit(do):
    """The file, the column or the row, and the remedy; an edited policy; no decided file appears."""
    write("val.csv", 500, 0.05)
    policy, new = Path("policy.json"), Path("new.csv")
    do(f"{CHOOSE} --coverage 0.5 -o policy.json")
    for text, message in (
        ("case,msp,msp\n1,.9,.1\n", "column 'msp' occurs 2 times; rename all but one"),
        ("case,msp\n1,.9\n2,.99,7\n", "data row 2 (line 3) has 3 fields, the header has 2; repair the file"),
    ):
        new.write_text(text)
        assert do("apply policy.json new.csv -o out.csv", 2).err == f"abstain: new.csv: {message}\n"
    new.write_text(Path("val.csv").read_text().replace("msp", "other", 1))
    assert "column 'msp' of the policy is missing" in do("apply policy.json new.csv -o out.csv", 2).err
    policy.write_text(policy.read_text().replace('"score": "msp"', '"score": "err"'))
    assert "was edited after it was saved" in do("apply policy.json val.csv -o out.csv", 2).err
    assert not Path("out.csv").exists()


def test_a_group_violates_its_guarantee(do):
    """Exit code 1, and the group by name."""
    rows = write("val.csv", 8000, 0.02)
    said = do(f"{CERTIFY} --groups site --report page.md").said
    assert "val.csv: confidence `msp` · loss `err` (0 to 1) · groups `site`" in said
    assert "NEW_ROWS.csv -o decided.csv" in Path("page.md").read_text()
    rows.with_columns(err=(pl.col("site") == "a").cast(int)).write_csv("new.csv")
    assert "first seen in a after " in do(MONITOR.format("new.csv"), 1).text
    told = do(MONITOR.format("val.csv --accepted-only")).out
    assert "coverage drifted: undecided" in told
    assert ", coverage " not in told


def test_one_group_of_two_attains(do):
    """Its policy is written and rejects the other's rows; exit code 1 says that something is missing."""
    rows = write("val.csv", 3000, 0.02)
    rows = rows.with_columns(err=pl.when(pl.col("site") == "a").then(1).otherwise("err"))
    rows.with_columns(msp=pl.when(pl.int_range(pl.len()) < 10).then(None).otherwise("msp")).write_csv("val.csv")
    shown = do(f"{CERTIFY} --groups site", 1)
    assert "not attainable for a: their rows are rejected" in shown.err
    assert "of 1500 rows (5 of the 1500 without a score)" in shown.out
    do(APPLY)
    found = pl.read_parquet("out.parquet").filter("accepted")
    assert found.height > 500
    assert set(found["site"]) == {"b"}


def test_groups_of_a_csv_keep_their_text(do):
    """Codes 01 and 1 are two groups: each has its own threshold, and apply and monitor find it again."""
    rng = np.random.default_rng(0)
    codes = ["01", "1", "007"]
    csv("val.csv", site=codes * 200, msp=rng.random(600), err=(rng.random(600) < 0.2).astype(int))
    do(f"{CHOOSE} --coverage 0.5 --groups site -o policy.json")
    assert "600 rows: 300 accepted" in do("apply policy.json val.csv -o out.csv").out
    share = pl.read_csv("out.csv", schema_overrides={"site": pl.String}).group_by("site").agg(pl.col("accepted").mean())
    assert dict(share.iter_rows()) == dict.fromkeys(codes, 0.5)
    assert do(MONITOR.format("val.csv --json")).json["n_accepted"] == 300


def test_a_cluster_column_is_used(do):
    """Named or recognised: the guarantee is about new clusters, and monitoring needs them; repeated ids are said."""
    rng = np.random.default_rng(0)
    error = ((rng.random((200, 1)) < 0.02) & (rng.random((200, 5)) < 0.9)).ravel().astype(int)
    rows, patient = {"err": error, "msp": rng.random(1000)}, np.repeat(np.arange(200), 5)
    choose, monitor = f"{CHOOSE} --risk 0.1 --delta 0.05 -o policy.json", MONITOR.format("val.csv")
    csv("val.csv", **rows, id=patient)
    assert "1000 rows have 200 ids" in do(choose).err
    for name, option in (("cluster", ""), ("patient", "--clusters patient")):
        csv("val.csv", **rows, **{name: patient})
        assert "an accepted row of a new cluster" in do(f"{choose} {option}").text
    csv("val.csv", **rows, cluster=patient)
    assert "'patient' is not in the file; known: cluster, err, msp; give --clusters" in do(monitor, 2).err
    assert "rows of a cluster depend on each other" in do(f"{monitor} --clusters cluster").text


def test_monitoring_by_new_rows_only(do):
    """Weeks into a state: a week that comes twice is refused, the state says what was seen, and keeps its options."""
    write("val.csv", 3000, 0.05)
    do(CERTIFY)
    for k in range(1, 4):
        write(f"{k}.csv", 400, 0.3 if k > 2 else 0.03, k)
    watch = MONITOR.format("--state watch.json")
    assert "give FILE" in do("monitor policy.json --state watch.json", 2).err
    for k in (1, 2):  # the same command every week
        do(f"{watch} {k}.csv --run-length 500")
    before = Path("watch.json").read_bytes()
    said = do(f"{watch} 2.csv", 2).err
    assert "sent before" in said
    assert "--again" in said
    assert "leave --run-length out" in do(f"{watch} 3.csv --run-length 600", 2).err
    assert Path("watch.json").read_bytes() == before
    do(f"{watch} 3.csv", 1)
    found = do("monitor policy.json --state watch.json --json", 1).json
    assert (found["n"], len(found["periods"])) == (1200, 3)
    Path("none.csv").write_text("msp,err,site\n")
    assert "1 call brought no rows" in do(f"{watch} none.csv", 1).out  # still violated


def test_monitoring_under_maturity(do):
    """Rows of the last days wait, with or without a label; a mature row without one is refused, or an error."""
    write("val.csv", 3000, 0.05)
    do(CERTIFY)
    days = [f"2026-03-{1 + k // 20:02d}" for k in range(200)]
    ages = MONITOR.format("new.csv --time day --maturity 5")
    for missing in (130, 30):
        labels = [None if k >= 180 or k == missing else 0 for k in range(200)]
        csv("new.csv", msp=np.linspace(0.99, 0.95, 200), err=labels, day=days)
        said = do(ages, 0 if missing == 130 else 2).all
        assert ("100 rows are too young" if missing == 130 else "without a label although it is older") in said
    said = do(f"{ages} --unlabelled error --as-of 2026-03-10").out
    assert "error rate 1 % in 100 answered rows" in said
    assert "although it is older" in do(MONITOR.format("new.csv --time day --maturity 0"), 2).err
    for option in ("period", "run-length", "window", "max-loss", "delta"):  # 0 is no option left out
        assert f"{option.replace('-', '_')} must" in do(f"{MONITOR.format('new.csv')} --{option} 0", 2).err


def test_audits_and_states(do):
    """The interval is that of the level that was asked for; rows or policy as the state are refused."""
    rng = np.random.default_rng(0)
    conf = rng.random(800)
    csv("a.csv", conf=conf, err=(rng.random(800) < 0.3 * (1 - conf)).astype(int))
    abstain.choose_threshold([0, 1, 0] * 50, np.linspace(0.1, 0.9, 150), coverage=0.5).save("p.json", score="conf")
    found = [do(f"audit p.json a.csv --loss err --level {level} --json").json for level in (0.8, 0.99)]
    assert [each["level"] for each in found] == [0.8, 0.99]
    assert found[1]["risk_interval"][0] < found[0]["risk_interval"][0]
    abstain.choose_threshold([0.0] * 150, np.linspace(0.1, 0.9, 150), risk=0.1, delta=0.05).save("p.json", score="conf")
    for state in (Path("a.csv"), Path("p.json")):
        before = state.read_bytes()
        do(f"monitor p.json a.csv --loss err --state {state}", 2)
        assert state.read_bytes() == before
