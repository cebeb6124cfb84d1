"""From files to tables and policies: the worst case of former versions, and logs of language models."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import abstain
from tests.front_door.files import DATE, FIXTURES, model, write


def test_the_probability_of_class_1_is_no_confidence(do):
    """Refused with exit code 2 by every command; the remedy chooses a policy that accepts the rows that are right."""
    for name, seed in (("val", 0), ("prod", 1)):
        two = model(seed)["2"]
        write("csv", Path(name), y_true=two["y"], y_pred=two["pred"], score=two["p"][:, 1])
    threshold = "threshold val.csv --coverage 0.5 -o policy.json"
    for command in ("evaluate val.csv", threshold, "compare val.csv prod.csv"):
        assert "give --positive-probability 'score', or --confidence 'score'" in do(command, 2).err
    assert not Path("policy.json").exists()
    assert "p = `score`, of class 1" in do("evaluate val.csv --positive-probability score").err
    assert "the largest of 1 - p and p" in do(f"{threshold} --positive-probability score").err
    do("apply policy.json prod.csv -o decided.csv")
    rows = pl.read_csv("decided.csv")
    wrong, accepted = (rows["y_true"] != rows["y_pred"]).to_numpy(), rows["accepted"].to_numpy()
    assert 0.3 < accepted.mean() < 0.7
    assert wrong[accepted].mean() < wrong[~accepted].mean()
    do("monitor policy.json prod.csv")


def test_one_command_from_a_log_to_a_table_and_a_policy(do):
    """The four states of Inspect's fixture add up to its samples, and are those of the log; each log gives a policy."""
    log = json.loads((FIXTURES / "inspect.json").read_text())["samples"]
    values = [(each["scores"].get("judge") or {}).get("value") for each in log]
    found = do(f"evaluate {FIXTURES}/inspect.json --metrics augrc --json -").json["provenance"]["answers"]
    assert found["counts"] == {
        "correct": values.count("C"), "wrong": values.count("I") + values.count("P"),
        "abstained": values.count("N"), "unscored": sum(not isinstance(each, str) for each in values),
    }  # fmt: skip
    judged = [(value, each["metadata"]["should_abstain"]) for value, each in zip(values, log, strict=True)]
    judged = [each for each in judged if isinstance(each[0], str)]
    shares = found["shares"]
    refused = np.mean([value == "N" for value, should in judged if not should])
    assert shares["over-refusal"]["value"] == pytest.approx(refused)
    assert shares["over-refusal"]["low"] < refused < shares["over-refusal"]["high"]
    missed = np.mean([value != "N" for value, should in judged if should])
    assert shares["missed abstention"]["value"] == pytest.approx(missed)
    for name in ("inspect.json", "inspect_samples.parquet", f"samples_sums_{DATE}.jsonl"):
        do(f"threshold {FIXTURES / name} --risk 0.95 --delta 0.1 -o policy.json")  # no risk is below the errors
        policy = abstain.load_policy("policy.json")
        assert (policy.score, policy.guarantee is None) == ("confidence", False)


def test_unscored_answers_are_counted_as_told(do):
    """Wrong by default where the grader says that there is no verdict; missing verdicts need the caller's word."""
    Path("graded.csv").write_text("verdict,confidence\ncorrect,.9\nwrong,.4\nunparseable,.8\nabstained,\ncorrect,.7\n")
    outputs = abstain.read_outputs("graded.csv")
    assert outputs.loss_per_sample().tolist() == [0, 1, 1, 0]
    assert outputs.states.counts == {"correct": 2, "wrong": 1, "abstained": 1, "unscored": 1}
    Path("missing.csv").write_text("correct,conf\n1,.9\n,.8\n0,.2\n")
    said = do("evaluate missing.csv", 2).err
    assert "give --unscored 'wrong' to count them as wrong, or --unscored 'drop'" in said
    assert "unscored 1 " in do("evaluate missing.csv --unscored drop --metrics augrc").text


def test_a_file_with_both_kinds_of_rows(do):
    """One file with is_ood serves evaluate and joint; the label -1 alone serves joint, or evaluate when told."""
    p, y = model()["3"]["p"], model()["3"]["y"].copy()
    y[90:] = -1
    np.savez("both.npz", labels=y, probabilities=p, is_ood=y < 0)
    np.savez("minus.npz", labels=y, probabilities=p)
    for name in ("both.npz", "minus.npz"):
        sizes = do(f"joint {name} --scores msp,neg_entropy --permutations 0 --json -").json["sizes"]
        assert sorted(sizes.values()) == [30, 90]
    assert abstain.read_outputs("both.npz").n == 90
    assert "if these are out of distribution give --ood-label -1" in do("evaluate minus.npz", 2).err
    do("evaluate minus.npz --ood-label -1 --metrics augrc")


@pytest.mark.parametrize("form", ["npz", "jsonl", "json", "tsv", "csv.gz", "semicolons", "words", "per cent", "eval"])
def test_what_is_read_is_decided(tmp_path, form):
    """A policy chosen on a file of any form decides that file as the threshold does."""
    three = model()["3"]
    sure = three["p"].max(1)
    columns = {"label": three["y"], "pred": three["pred"], "conf": sure}
    if form == "words":
        columns["conf"] = np.array(["low", "medium", "high"])[np.digitize(sure, [0.5, 0.8])]
    elif form == "per cent":
        columns["conf"] = [f"{100 * each:.6f} %" for each in sure]
    path = write("csv" if form in ("words", "per cent", "semicolons", "eval") else form, tmp_path / "a", **columns)
    if form == "semicolons":
        path.write_text(path.read_text().replace(",", ";").replace(".", ","))
    elif form == "eval":
        pytest.importorskip("zstandard")
        path = FIXTURES / "inspect.eval"
    outputs = abstain.read_outputs(path)
    found = abstain.choose_threshold(outputs.loss_per_sample(), outputs.confidence, coverage=0.4, nan_policy="reject")
    policy = found.policy(score=outputs.reading.single["confidence"])
    done = abstain.apply_policy(policy, path, tmp_path / "decided.jsonl")
    rows = pl.read_ndjson(tmp_path / "decided.jsonl")
    assert done.n == rows.height
    expected = int((np.nan_to_num(outputs.confidence, nan=-np.inf) >= found.threshold).sum())
    extra = 0 if form != "eval" else done.n - outputs.n  # questions without an answer are rows of a log
    assert expected <= done.n_accepted == rows["accepted"].sum() <= expected + extra
    if form == "semicolons":
        abstain.apply_policy(policy, path, tmp_path / "decided.csv")
        assert abstain.read_outputs(tmp_path / "decided.csv").confidence.tolist() == outputs.confidence.tolist()
