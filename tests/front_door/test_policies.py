"""What a policy remembers of the calibration file: who declined, which rows are units, the scale, the direction."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import abstain
from abstain.thresholds import apply_policy
from tests.command import csv


def answers(seed, n=800):
    """Return confidences, verdicts, and which answers were "I don't know", many of them confident."""
    rng = np.random.default_rng(seed)
    p, declined = rng.random(n).round(3), rng.random(n) < 0.2
    correct = (rng.random(n) < 0.6 + 0.4 * p) & ~declined
    return {"p": p, "correct": correct, "declined": declined}


def monitored(name, do):
    """Return how many rows of a file the monitor of p.json sees accepted, and all that it sees."""
    verdict = do(f"monitor p.json {name} --json").json["verdict"]
    return verdict["n_accepted"], verdict["n"]


@pytest.mark.parametrize("form", ["a column", "a verdict", "a prediction"])
def test_what_the_model_declined_is_not_accepted(do, form):
    """The guarantee names its population, apply rejects and counts, monitor agrees; without the column it is said."""
    column = {"a column": "declined", "a verdict": "is_correct", "a prediction": "prediction"}[form]
    for name, seed in (("cal", 0), ("new", 1)):
        rows = answers(seed)
        words = np.where(rows["declined"], "abstained", np.where(rows["correct"], "correct", "incorrect"))
        said = np.where(rows["declined"], "abstain", np.where(rows["correct"], "yes", "no"))
        label = np.where(np.arange(800) % 50, "yes", "no")
        more = {"is_correct": words} if form == "a verdict" else {"label": label, "prediction": said}
        pl.DataFrame(rows if form == "a column" else {"p": rows["p"], **more}).write_ndjson(f"{name}.jsonl")
    options = "--abstained declined" if form == "a column" else ""
    chosen = do(f"threshold cal.jsonl --confidence p {options} --risk 0.6 --delta 0.05 -o p.json").text
    assert "of the rows that the model itself answers, is at most 0.6" in chosen
    shown = do("apply p.json new.jsonl -o out.jsonl").out
    accepted, declined = pl.read_ndjson("out.jsonl")["accepted"].to_numpy(), answers(1)["declined"]
    assert accepted.sum() > 300
    assert not accepted[declined].any()
    share = f"{accepted.sum()} accepted ({accepted.mean():.4g})"
    assert shown == f"800 rows: {share}, {declined.sum()} abstained by the model itself, 0 without a score\n"
    assert monitored("new.jsonl", do) == (accepted.sum(), 800 - declined.sum())
    pl.read_ndjson("new.jsonl").drop(column).write_ndjson("none.jsonl")
    done = do("apply p.json none.jsonl -o no.jsonl", 2 if form != "a verdict" else 0)
    assert f"'{column}'" in done.err
    assert Path("no.jsonl").exists() is (form == "a verdict")  # which new rows need not have
    do("monitor p.json none.jsonl", 2)


def test_tabs_belong_to_tsv(tmp_path):
    """A .csv from a .tsv has commas, a .tsv has tabs."""
    (tmp_path / "new.tsv").write_text("case\ts\na\t0.9\n")
    policy = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).policy(score="s")
    for name, line in (("out.csv", "a,0.9,true"), ("out.tsv", "a\t0.9\ttrue")):
        apply_policy(policy, tmp_path / "new.tsv", tmp_path / name)
        assert (tmp_path / name).read_text().splitlines()[1] == line


@pytest.mark.parametrize(
    ("inside", "beyond", "scale", "said"),
    [(10, 10, 1, False), (9, 11, 1, True), (9, 10, 1, False), (0, 20, 100, True), (0, 20, 0.01, True)],
)
def test_a_scale_is_doubted_from_twenty_rows_and_a_majority_on(tmp_path, inside, beyond, scale, said):
    """Per cent after fractions, and the reverse; half of the rows are no majority, and nineteen rows are too few."""
    scores = np.linspace(0.1, 0.9, 100) / scale
    policy = abstain.choose_threshold(np.arange(100) % 2, scores, coverage=0.5).policy(score="p")
    new = csv(tmp_path / "new.csv", p=[0.5 / scale] * inside + [2.0 if scale == 1 else 0.5] * beyond)
    notes = apply_policy(policy, new, tmp_path / "out.csv").notes
    assert ["at most one in ten calibration rows was" in note for note in notes] == [True] * said


def test_a_field_of_an_object_decides(do):
    """Vectors as Spark writes them: a policy from them can be applied, and the file keeps its columns."""
    p = np.random.default_rng(3).random(200)
    vectors = [{"type": 1, "values": [1 - each, each]} for each in p]
    pl.DataFrame({"label": (p > 0.4).astype(int), "probability": vectors}).write_parquet("v.parquet")
    do("threshold v.parquet --probabilities probability.values --coverage 0.5 -o p.json")
    do("apply p.json v.parquet -o out.parquet")
    found, sure = pl.read_parquet("out.parquet"), np.maximum(p, 1 - p)
    assert found.columns == ["label", "probability", "accepted"]
    assert found["accepted"].to_list() == (sure > np.median(sure)).tolist()


def test_an_uncertainty_keeps_its_direction(do):
    """Threshold, apply and monitor take the same column: the least uncertain rows are accepted."""
    uncertainty = np.random.default_rng(4).permutation(300) / 300
    csv("u.csv", loss=np.arange(300) % 10 == 0, entropy=uncertainty)
    do("threshold u.csv --coverage 0.5 -o p.json")
    assert "accepted if minus 'entropy' >= -0." in do("apply p.json u.csv -o out.csv").err
    assert pl.read_csv("out.csv")["accepted"].to_list() == (uncertainty < 0.5).tolist()
    assert monitored("u.csv", do) == (150, 300)
    with pytest.raises(ValueError, match="must be the column of the score"):
        abstain.choose_threshold([0, 1], [1, 2], coverage=0.5).policy(score="s", reading={"uncertainty": "u"})


def test_monitor_reads_as_threshold_read(do):
    """Options that threshold needed need not be repeated, and may be; a score of a nested label is known with it."""
    p = (np.random.default_rng(5).permutation(300) + 0.25) / 300
    truth = np.where(np.arange(300) % 3, "spam", "ham")
    csv("two.csv", wahr=truth, prob=p)
    told = "--labels wahr --positive-probability prob --class-names ham,spam"
    do(f"threshold two.csv {told} --coverage 0.5 -o p.json")
    for options in ("", told, "--positive-probability prob"):
        assert monitored(f"two.csv {options}", do) == (150, 300)
    rows = [{"label": y, "output": {"label": "spam", "score": s}} for y, s in zip(truth, p.tolist(), strict=True)]
    pl.DataFrame(rows).write_ndjson("nested.jsonl")
    do("threshold nested.jsonl --coverage 0.5 -o p.json")
    assert monitored("nested.jsonl", do) == (150, 300)
