"""What a policy remembers of the calibration file: who declined, which rows are units, the scale, the direction."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import abstain
from abstain.monitoring import monitor
from abstain.thresholds import apply_policy
from tests.command import csv


def answers(seed, n=800):
    """Return confidences, verdicts, and which answers were "I don't know", many of them confident."""
    rng = np.random.default_rng(seed)
    p, declined = rng.random(n).round(3), rng.random(n) < 0.2
    correct = (rng.random(n) < 0.6 + 0.4 * p) & ~declined
    return {"p": p, "correct": correct, "declined": declined}


def decided(name):
    """Return the decided rows of a file."""
    return pl.read_ndjson(name)["accepted"].to_numpy()


def monitored(name, do):
    """Return how many rows of a file the monitor of p.json sees accepted, and all that it sees."""
    verdict = do(f"monitor p.json {name} --json").json["verdict"]
    return verdict["n_accepted"], verdict["n"]


GOAL = "--risk 0.2 --delta 0.05 -o p.json"


def test_what_the_model_declined_is_not_accepted(do):
    """By a column of its own: the guarantee names its population, apply rejects and counts, monitor agrees."""
    for name, seed in (("cal", 0), ("new", 1)):
        pl.DataFrame(answers(seed)).write_ndjson(f"{name}.jsonl")
    chosen = do(f"threshold cal.jsonl --confidence p --abstained declined {GOAL}").text
    assert "of the rows that the model itself answers, is at most 0.2" in chosen
    _, shown, said = do("apply p.json new.jsonl -o out.jsonl")
    new = answers(1)
    accepted = decided("out.jsonl")
    assert accepted.sum() > 300
    assert not accepted[new["declined"]].any()
    n = int(new["declined"].sum())
    share = f"{accepted.sum()} accepted ({accepted.mean():.4g})"
    assert shown == f"800 rows: {share}, {n} abstained by the model itself, 0 without a score\n"
    assert "wrote out.jsonl" in said
    assert "guarantee: with probability at least 0.95" in said
    assert monitored("new.jsonl", do) == (accepted.sum(), 800 - n)
    pl.DataFrame(answers(1)).drop("declined").write_ndjson("none.jsonl")
    for command in ("apply p.json none.jsonl -o no.jsonl", "monitor p.json none.jsonl"):
        assert "'declined'" in do(command, 2).err
    assert not Path("no.jsonl").exists()


def test_words_of_a_verdict_decline_too(do):
    """A verdict "abstained" is rejected; where a new file has no verdicts, that is said."""
    for name, seed in (("cal", 0), ("new", 1)):
        columns = answers(seed)
        words = np.where(columns["declined"], "abstained", np.where(columns["correct"], "correct", "incorrect"))
        pl.DataFrame({"is_correct": words, "p": columns["p"]}).write_ndjson(f"{name}.jsonl")
    pl.read_ndjson("new.jsonl").drop("is_correct").write_ndjson("none.jsonl")
    do(f"threshold cal.jsonl --confidence p {GOAL}")
    do("apply p.json new.jsonl -o out.jsonl")
    accepted = decided("out.jsonl")
    assert accepted.any()
    assert not accepted[answers(1)["declined"]].any()
    assert monitored("new.jsonl", do) == (accepted.sum(), 800 - answers(1)["declined"].sum())
    assert "--correct 'is_correct'" in do("monitor p.json new.jsonl --loss p", 2).err
    said = do("apply p.json none.jsonl -o none2.jsonl").err
    assert "'is_correct' said where the model itself abstained" in said


def test_a_prediction_of_abstain_is_declined(do):
    """Where the answer itself says so, apply reads it there, and monitor has the same rows."""
    for name, seed in (("cal", 0), ("new", 1)):
        columns = answers(seed)
        said = np.where(columns["declined"], "abstain", np.where(columns["correct"], "yes", "no"))
        label = np.where(np.arange(800) % 50, "yes", "no")
        csv(f"{name}.csv", label=label, prediction=said, confidence=columns["p"])
    do("threshold cal.csv --coverage 0.5 -o p.json")
    do("apply p.json new.csv -o out.csv")
    found = pl.read_csv("out.csv").filter("accepted")
    assert len(found) > 200
    assert set(found["prediction"]) == {"yes", "no"}
    assert monitored("new.csv", do) == (len(found), 800 - answers(1)["declined"].sum())


def test_tabs_belong_to_tsv(tmp_path):
    """A .csv from a .tsv has commas, a .tsv has tabs."""
    (tmp_path / "new.tsv").write_text("case\ts\na\t0.9\n")
    policy = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).policy(score="s")
    for name, line in (("out.csv", "a,0.9,true"), ("out.tsv", "a\t0.9\ttrue")):
        apply_policy(policy, tmp_path / "new.tsv", tmp_path / name)
        assert (tmp_path / name).read_text().splitlines()[1] == line


def patients(seed, n=400):
    """Return rows of patients of whom one has many rows, all wrong."""
    rng = np.random.default_rng(seed)
    patient = np.concatenate([np.repeat(np.arange(n), 2), np.full(300, n)])
    error = np.concatenate([(rng.random(2 * n) < 0.02).astype(int), np.ones(300, dtype=int)])
    return {"patient": patient, "confidence": 0.5 + 0.5 * rng.random(len(error)).round(3), "error": error}


def test_a_guarantee_about_clusters_is_tested_as_one(do):
    """The policy remembers the column; one patient with all the errors breaks no guarantee; no column, no test."""
    old, new = patients(0), patients(1)
    csv("new.csv", **new)
    found = abstain.thresholds.prespecified_threshold(
        old["error"], old["confidence"], [0.5], risk=0.1, delta=0.05, clusters=old["patient"]
    )
    policy = found.policy(score="confidence", reading={"clusters": "patient"})
    policy.save("p.json")
    assert do("monitor p.json new.csv --loss error").out.startswith("No violation found: ")
    seen = monitor(policy, new["error"], new["confidence"], clusters=new["patient"])
    assert (seen.violated, seen.n) == (False, 1100)
    means = pl.DataFrame(new).group_by("patient").agg(pl.col("error").mean())["error"]
    assert seen.risk == pytest.approx(float(means.mean()))
    with pytest.raises(ValueError, match="the guarantee is about clusters"):
        monitor(policy, new["error"], new["confidence"])
    rows = abstain.choose_threshold(np.zeros(800), np.arange(800), risk=0.1, delta=0.05)
    with pytest.raises(ValueError, match="the guarantee is about rows"):
        monitor(rows.policy(score="s"), new["error"], new["confidence"], clusters=new["patient"])
    pl.DataFrame(new).drop("patient").write_csv("none.csv")
    assert "'patient' is not in the file" in do("monitor p.json none.csv --loss error", 2).err


def test_clusters_at_the_limit_rarely_alarm():
    """Errors that come in whole clusters, at the guaranteed risk: alarms in at most delta of streams; above it, all."""
    rng = np.random.default_rng(2)
    unit = np.repeat(np.arange(200), 5)
    first = rng.random(200) < 0.02
    found = abstain.thresholds.prespecified_threshold(
        np.repeat(first, 5), np.ones(1000), [1.0], risk=0.1, delta=0.05, clusters=unit
    )
    policy = found.policy(score="s")
    assert found.attainable

    def alarms(risk, n):
        streams = (np.repeat(rng.random(200) < risk, 5) for _ in range(n))
        return sum(bool(monitor(policy, each, np.ones(1000), clusters=unit).violated) for each in streams)

    assert alarms(0.1, 200) <= 20  # of 200 at delta = .05: more has probability 2e-3 at most
    assert alarms(0.4, 10) == 10


def test_another_scale_is_noticed(tmp_path):
    """Per cent after fractions, and fractions after per cent; not the same scale, nor a few rows."""
    loss, p = 1 - answers(0)["correct"], answers(0)["p"]
    for here, there in ((1.0, 100.0), (100.0, 1.0)):
        policy = abstain.choose_threshold(loss, here * p, coverage=0.5).policy(score="p")
        for scale, name, n in ((there, "other.csv", 300), (here, "same.csv", 300), (there, "few.csv", 10)):
            new = csv(tmp_path / name, p=scale * answers(1)["p"][:n])
            done = apply_policy(policy, new, tmp_path / "out.csv")
            assert len(done.notes) == (name == "other.csv")
            assert all("at most one in ten calibration rows was" in note for note in done.notes)


@pytest.mark.parametrize(("inside", "beyond", "said"), [(10, 10, False), (9, 11, True), (9, 10, False), (0, 20, True)])
def test_a_scale_is_doubted_from_twenty_rows_and_a_majority_on(tmp_path, inside, beyond, said):
    """Half of the rows are no majority, and nineteen rows are too few to say."""
    policy = abstain.choose_threshold(np.arange(100) % 2, np.linspace(0.1, 0.9, 100), coverage=0.5).policy(score="p")
    new = csv(tmp_path / "new.csv", p=[0.5] * inside + [2.0] * beyond)
    assert bool(apply_policy(policy, new, tmp_path / "out.csv").notes) is said


def test_a_field_of_an_object_decides(do):
    """Vectors as Spark writes them: a policy from them can be applied, and the file keeps its columns."""
    rng = np.random.default_rng(3)
    p = rng.random(200)
    vectors = [{"type": 1, "values": [1 - each, each]} for each in p]
    frame = pl.DataFrame({"label": (rng.random(200) < p).astype(int), "probability": vectors})
    frame.write_parquet("v.parquet")
    do("threshold v.parquet --probabilities probability.values --coverage 0.5 -o p.json")
    do("apply p.json v.parquet -o out.parquet")
    found = pl.read_parquet("out.parquet")
    assert found.columns == ["label", "probability", "accepted"]
    assert found["accepted"].sum() == 100
    assert (np.maximum(p, 1 - p)[found["accepted"].to_numpy()] > np.median(np.maximum(p, 1 - p))).all()


def test_an_uncertainty_keeps_its_direction(do):
    """Threshold, apply and monitor take the same column: the least uncertain rows are accepted."""
    rng = np.random.default_rng(4)
    csv("u.csv", loss=(rng.random(300) < 0.1).astype(int), entropy=rng.random(300).round(4))
    do("threshold u.csv --coverage 0.5 -o p.json")
    assert "accepted if minus 'entropy' >= -0." in do("apply p.json u.csv -o out.csv").err
    rows = pl.read_csv("out.csv")
    inside, outside = rows.filter("accepted")["entropy"], rows.filter(~pl.col("accepted"))["entropy"]
    assert len(inside) == 150
    assert inside.max() < outside.min()
    assert monitored("u.csv", do) == (150, 300)
    with pytest.raises(ValueError, match="must be the column of the score"):
        abstain.choose_threshold([0, 1], [1, 2], coverage=0.5).policy(score="s", reading={"uncertainty": "u"})


def test_monitor_reads_as_threshold_read(do):
    """Options that threshold needed need not be repeated, and may be; a score of a nested label is known with it."""
    rng = np.random.default_rng(5)
    p = rng.random(300).round(3)
    truth = np.where(rng.random(300) < p, "spam", "ham")
    csv("two.csv", wahr=truth, prob=p)
    told = "--labels wahr --positive-probability prob --class-names ham,spam"
    do(f"threshold two.csv {told} --coverage 0.5 -o p.json")
    shown = []
    for options in ("", told, "--positive-probability prob"):
        said = do(f"monitor p.json two.csv {options}").text
        assert "None" not in said
        shown.append(re.sub("`abstain audit p.json two.csv [^`]*`", "", said))  # the command has these options, too
    assert monitored("two.csv", do) == (150, 300)
    assert shown[0] == shown[1] == shown[2]
    with Path("nested.jsonl").open("w") as file:
        for label, score in zip(truth, p, strict=True):
            file.write(json.dumps({"label": str(label), "output": {"label": "spam", "score": score}}) + "\n")
    do("threshold nested.jsonl --coverage 0.5 -o n.json")
    do("monitor n.json nested.jsonl")
