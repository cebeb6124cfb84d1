"""Files that version 0.2.0 wrote are read with the values that it had (made by make.py beside them, in 25aeb20a)."""

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import abstain
from abstain import cli, monitoring, pool, study, summaries

FILES = Path(__file__).parent / "data" / "version_0_2_0"
EXPECTED = json.loads((FILES / "expected.json").read_text("utf-8"))


@pytest.fixture
def files(tmp_path):
    """Return a copy of the files."""
    return shutil.copytree(FILES, tmp_path / "files")


@pytest.mark.parametrize("name", EXPECTED["accepted"])
def test_policies_decide_as_before(name, files):
    """By one score, by groups, by two scores, by a computed score; and so once more after they are saved anew."""
    source, decided = files / ("outputs.npz" if name == "computed" else "rows.csv"), files / "decided.parquet"
    policy = abstain.load_policy(files / f"{name}.json")
    policy.save(files / "again.json")
    for each in (policy, abstain.load_policy(files / "again.json")):
        abstain.apply_policy(each, source, decided)
        assert pl.read_parquet(decided)["accepted"].cast(pl.Int8).to_list() == EXPECTED["accepted"][name]


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("name", ["watch", "watch-groups", "watch-late"])
def test_monitors_go_on(name, saved, files):
    """A state goes on with its policy, also where that was saved anew, and is refused with another one."""

    def shown(monitor):
        seen = monitor.result()
        return [seen.n, seen.n_accepted, seen.evidence, seen.risk]

    policy = abstain.load_policy(files / ("groups.json" if name == "watch-groups" else "policy.json"))
    if saved:
        policy.save(files / "again.json")
        policy = abstain.load_policy(files / "again.json")
    monitor = monitoring.load_monitor(files / f"{name}.json", policy)
    assert shown(monitor) == pytest.approx(EXPECTED["monitored"][f"{name}.json"], rel=1e-12)
    monitor.save(files / f"{name}.json")
    again = monitoring.load_monitor(files / f"{name}.json", policy)
    if name == "watch":
        rows = pl.read_csv(files / "rows.csv")[:60]
        loss, confidence = 1 - rows["wrong"].to_numpy(), rows["p"].to_numpy() + 0.001
        for each in (monitor, again):
            each.update(loss, confidence, time=["2026-11-09"] * 60)
            assert shown(each) == pytest.approx(EXPECTED["monitored"]["later"], rel=1e-12)
    with pytest.raises(ValueError, match="is the state of another policy"):
        monitoring.load_monitor(files / f"{name}.json", abstain.load_policy(files / "capacity.json"))


def test_plans_scores_and_outputs(files):
    """The rows of a plan, and a fitted score on outputs of that time."""
    assert pool.load_plan(files / "plan.json").rows_to_label.tolist() == EXPECTED["plan"]
    outputs = abstain.read_outputs(files / "outputs.npz")
    assert abstain.scores.load(files / "temp_msp.npz").score(outputs).tolist() == EXPECTED["fitted"]


def test_summaries_are_counted_further(files):
    """The bounds of a summary, its sum with itself, and one by groups."""
    assert cli.run(["summarize", str(files / "summary.parquet"), "--csv", str(files / "now.csv")]) == 0
    old, new = (pl.read_csv(files / f"{name}.csv").sort("metric") for name in ("summary", "now"))
    assert new["metric"].to_list() == old["metric"].to_list()
    for column in ("value", "low", "high"):
        np.testing.assert_allclose(new[column], old[column], rtol=1e-12)
    shutil.copy(files / "summary.parquet", files / "other.parquet")
    old, other, both = (str(files / f"{name}.parquet") for name in ("summary", "other", "twice"))
    assert cli.run(["merge", old, other, "-o", both]) == 0
    assert summaries.read_summary(files / "twice.parquet").n == 600
    assert "groups=2" in str(summaries.read_summary(files / "sites.parquet"))


def test_studies_are_evaluated_alike(files):
    """A manifest whose role was foreign, and the values of its table."""
    found = study.read_study(files / "study")
    assert {each.role for run in found.runs for each in run.sets} == {"test", "ood"}
    results = study.evaluate(found, ["msp", "energy"], ["augrc", "accuracy"], workers=1)
    now, before = results.to_polars(), pl.read_csv(files / "results.csv")
    keys = ["run", "set", "score", "metric"]
    assert now.select(keys).rows() == before.select(keys).rows()
    vague = before["high"].to_numpy() == 0.5  # one error; such ends are no worse than the worst ranking since 0.4
    for column, same in (("value", slice(None)), ("low", slice(None)), ("high", ~vague)):
        np.testing.assert_allclose(now[column].to_numpy()[same], before[column].to_numpy()[same], rtol=1e-12)
    assert np.count_nonzero(vague) == 2
    assert (now["high"].to_numpy()[vague] < 0.2).all()


def test_an_evaluation_is_a_base(files, monkeypatch, capsys):
    """What ``--json`` wrote is held against."""
    monkeypatch.chdir(files)
    words = ["rows.csv", "--loss", "wrong", "--confidence", "p", "--gate", "augrc", "--against", "evaluation.json"]
    assert cli.run(["evaluate", *words, "--margin", "0.05"]) == 0
    assert "gate: pass" in capsys.readouterr().out
