"""``joint`` takes columns of any name and passes over none; files of own names are told how to be read."""

import re
from pathlib import Path

import numpy as np
import polars as pl

from tests.command import csv


def test_what_joint_says_of_a_second_score(do):
    """Whether it helps, by permutations that can tell; that a score was not evaluated; that one is the wrong way."""
    rng = np.random.default_rng(0)
    wrong = rng.random(900) < 0.08
    sure = np.clip(0.9 - 0.3 * wrong + 0.1 * rng.normal(size=900), 0.01, 0.99)
    csv("known.csv", loss=wrong * 1, confidence=sure, nearness=rng.normal(2.0, 1.0, 900))
    csv("ood.csv", confidence=rng.uniform(0.3, 0.95, 400), nearness=rng.normal(size=400))
    for name in ("known", "ood"):
        frame = pl.read_csv(f"{name}.csv")
        frame.with_columns(distance=-pl.col("nearness")).drop("nearness").write_csv(f"far_{name}.csv")
    text = do("joint known.csv ood.csv --scores nearness").text
    said = r"On ood, it is shown that a second threshold on nearness helps \(gain in DS-F1 0\.\d+, "
    assert re.search(said, text)
    for absent in ("not tested", " -0 ", "not evaluated", "higher where"):
        assert absent not in text
    few = do("joint known.csv ood.csv --scores nearness --permutations 10").text
    assert re.search(r"not tested, which takes \d+ permutations", few)
    told = do("joint known.csv ood.csv --permutations 0").err
    assert "not evaluated, though all files hold it: nearness (--scores NAME, high = known)" in told
    for count, more in ((2, ""), (3, " and 1 more")):
        for name in ("known", "ood"):
            others = {f"s{k}": pl.col("nearness") for k in range(count)}
            pl.read_csv(f"{name}.csv").with_columns(**others).write_csv(f"many_{name}.csv")
        told = do("joint many_known.csv many_ood.csv --permutations 0").err
        assert f"all files hold it: nearness, s0, s1{more} (--scores NAME" in told
    text = do("joint far_known.csv far_ood.csv --permutations 0 --scores distance").out
    assert text[text.index("! ") :].startswith("! distance is higher where it should be lower: AUROC 0.0")
    text = do("joint far_known.csv far_ood.csv --permutations 0 --uncertainty distance").text
    assert "next: abstain threshold far_known.csv --uncertainty distance --risk" in text


def test_permutations_are_few_where_they_take_long(do):
    """Twenty for each gain of a comparison, up to 25,000 rows for two gains."""
    rng, n = np.random.default_rng(0), 24_601
    known, ood = rng.integers(0, 20, (2, n)) / 20, rng.integers(0, 20, (2, 400)) / 20  # with ties it takes no time
    csv("known.csv", loss=(np.arange(n) % 9 == 0) * 1, confidence=known[0], near=known[1] + 1)
    csv("ood.csv", confidence=ood[0], near=ood[1])
    assert "not tested, which takes" in do("joint known.csv ood.csv --scores near").text


def test_files_of_own_names_are_told_how_to_be_read(do):
    """``study init`` names ``study add``, having no options of columns; ``plan`` asks for no label; both list them."""
    Path("runs/a/seed0").mkdir(parents=True)
    own = {"truth": [0, 1, 0, 1] * 9, "guess": [0, 1, 1, 1] * 9, "sureness": np.arange(36) / 36}
    csv("runs/a/seed0/test.csv", **own)
    said = do("study init study --from runs", 2).err
    assert "columns: truth, guess, sureness; or add this file with 'abstain study add'" in said
    csv("rows.csv", **own)
    do("study add study rows.csv --labels truth --predictions guess --confidence sureness --model a --set test")
    csv("unknown.csv", sureness=own["sureness"])
    said = do("plan unknown.csv --labels 5 -o plan.csv", 2).err
    assert "no column is recognised as a confidence or a prediction; give --confidence, --uncertainty," in said


def test_a_column_that_nobody_named_stands_in_no_way(do):
    """Where scores were named and right answers are known, ``p`` may be what it likes; named itself it is asked for."""
    rng = np.random.default_rng(0)
    right, (first, least, p) = (rng.random(300) < 0.7).astype(int), rng.random((3, 300))
    csv("llm.csv", gold=rng.choice(["x", "y"], 300), verdict=right, first=first, least=least, p=p)
    for call in ("compare", "evaluate"):
        assert "not used: `p`" in do(f"{call} llm.csv --correct verdict --scores first,least").all
    do("evaluate llm.csv --correct verdict", 2)
