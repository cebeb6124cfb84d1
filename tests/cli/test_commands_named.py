"""Commands that a verdict names run on the file they name; ``joint`` takes columns of any name and passes over none."""

import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.command import csv

OWN = "known.csv --labels truth --predictions guess"
USUAL = "joint known2.csv unknown2.csv"


@pytest.fixture(autouse=True)
def _files(do):
    """Known rows and OOD ones with finished scores: under names of their own, and under usual ones."""
    rng = np.random.default_rng(0)
    n, far = 900, 400
    wrong = rng.random(n) < 0.08
    truth = rng.integers(0, 5, n)
    guess = np.where(wrong, (truth + 1) % 5, truth)
    sure = np.clip(0.9 - 0.3 * wrong + 0.1 * rng.normal(size=n), 0.01, 0.99)
    known = {"truth": truth, "guess": guess, "sureness": sure, "nearness": rng.normal(2.0, 1.0, n)}
    unknown = {"guess": rng.integers(0, 5, far), "sureness": rng.uniform(0.3, 0.95, far)}
    csv("unknown.csv", **unknown, nearness=rng.normal(size=far))
    csv("known.csv", **known, site=rng.choice(["north", "south"], n))
    usual = {"truth": "labels", "guess": "predictions", "sureness": "confidence"}
    for name in ("known", "unknown"):
        frame = pl.read_csv(f"{name}.csv").rename(usual, strict=False)
        frame.write_csv(f"{name}2.csv")
        frame.with_columns(distance=-pl.col("nearness")).drop("nearness").write_csv(f"far_{name}2.csv")


@pytest.mark.parametrize(
    "call",
    [
        f"{USUAL} --confidence nearness --permutations 0",
        "joint known.csv unknown.csv --labels truth --predictions guess --confidence sureness --scores nearness",
        f"evaluate {OWN} --confidence sureness",
        f"compare {OWN} --scores sureness,nearness",
        f"threshold {OWN} --confidence sureness --risk 0.02 --delta 0.05",
    ],
)
def test_every_command_that_a_verdict_names_runs(abstain_, call):
    """As it is printed, but for what stands for new rows and for a column of groups."""
    done = abstain_(*call.split())
    assert done.code in (0, 1), done
    lines = done.out.replace("\n  ", " ").splitlines()
    named = [line.removeprefix("next: abstain ") for line in lines if line.startswith("next: abstain ")]
    assert len(named) == 1 or call.startswith(("threshold", "evaluate"))
    for line in named:
        words = shlex.split(line.replace("NEW_ROWS.csv", call.split()[1]))
        assert abstain_(*words).code in (0, 1), line


def test_what_joint_says_of_a_second_score(do):
    """Whether it helps, by permutations that can tell; that a score was not evaluated; that one is the wrong way."""
    text = do(f"{USUAL} --scores nearness").text
    said = r"On unknown2, it is shown that a second threshold on nearness helps \(gain in DS-F1 0\.\d+, "
    assert re.search(said, text)
    for absent in ("not tested", " -0 ", "not evaluated", "higher where"):
        assert absent not in text
    few = do(f"{USUAL} --scores nearness --permutations 10").text
    assert re.search(r"not tested, which takes \d+ permutations", few)
    told = do(f"{USUAL} --permutations 0").err
    assert "not evaluated, though all files hold it: nearness (--scores NAME, high = known)" in told
    far = "joint far_known2.csv far_unknown2.csv --permutations 0"
    text = do(f"{far} --scores distance").out
    assert text[text.index("! ") :].startswith("! distance is higher where it should be lower: AUROC 0.0")
    assert (
        "next: abstain threshold far_known2.csv --uncertainty distance --risk"
        in do(f"{far} --uncertainty distance").text
    )


def test_files_of_own_names_are_told_how_to_be_read(do):
    """``study init`` names ``study add``, having no options of columns; ``plan`` asks for no label; both list them."""
    Path("runs/a/seed0").mkdir(parents=True)
    Path("runs/a/seed0/test.csv").write_text(Path("known.csv").read_text())
    said = do("study init study --from runs", 2).err
    assert "columns: truth, guess, sureness, nearness, site; or add this file with 'abstain study add'" in said
    do(f"study add study {OWN} --confidence sureness --model a --set test")
    said = do("plan unknown.csv --labels 50 -o plan.csv", 2).err
    assert "no column is recognised as a confidence or a prediction; give --confidence, --uncertainty," in said


def test_a_column_that_nobody_named_stands_in_no_way(do):
    """Where scores were named and right answers are known, ``p`` may be what it likes; named itself it is asked for."""
    rng = np.random.default_rng(0)
    right, (first, least, p) = (rng.random(300) < 0.7).astype(int), rng.random((3, 300))
    csv("llm.csv", gold=rng.choice(["x", "y"], 300), verdict=right, first=first, least=least, p=p)
    for call in ("compare", "evaluate"):
        assert "not used: `p`" in do(f"{call} llm.csv --correct verdict --scores first,least").all
    do("evaluate llm.csv --correct verdict", 2)
