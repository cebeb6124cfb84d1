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
    near, site = rng.normal(2.0, 1.0, n), rng.choice(["north", "south"], n)
    known = {"truth": truth, "guess": guess, "sureness": sure, "nearness": near, "site": site}
    unknown = {"guess": rng.integers(0, 5, far), "sureness": rng.uniform(0.3, 0.95, far)}
    csv("unknown.csv", **unknown, nearness=rng.normal(size=far))
    csv("known.csv", **known)
    usual = {"truth": "labels", "guess": "predictions", "sureness": "confidence"}
    for name in ("known", "unknown"):
        pl.read_csv(f"{name}.csv").rename(usual, strict=False).write_csv(f"{name}2.csv")


@pytest.mark.parametrize(
    "call",
    [
        f"{USUAL} --permutations 0",
        f"{USUAL} --confidence nearness --permutations 0",
        "joint known.csv unknown.csv --labels truth --predictions guess --confidence sureness --scores nearness",
        f"evaluate {OWN} --confidence sureness",
        "evaluate known2.csv --scores confidence,nearness",
        f"compare {OWN} --scores sureness,nearness",
        "compare known2.csv --scores confidence,nearness",
        f"threshold {OWN} --confidence sureness --risk 0.02 --delta 0.05",
        "threshold known2.csv --risk 0.01 --delta 0.05",
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


def test_the_default_of_permutations_can_tell(do):
    """So many that a p-value below 5 % can come, adjusted; and no gain is a negative nothing."""
    text = do(f"{USUAL} --scores nearness").text
    said = r"On unknown2, it is shown that a second threshold on nearness helps \(gain in DS-F1 0\.\d+, "
    assert re.search(said, text)
    assert "not tested" not in text
    assert " -0 " not in text
    few = do(f"{USUAL} --scores nearness --permutations 10").text
    assert re.search(r"not tested, which takes \d+ permutations", few)


def test_a_score_that_all_files_hold_is_named_where_it_is_not_evaluated(do):
    """Beside the table and in the sentence that asks for another score; not where scores were chosen."""
    told = do(USUAL).err
    assert "not evaluated, though all files hold it: nearness (--scores NAME, high = known)" in told
    chosen = do(f"{USUAL} --scores nearness --permutations 0")
    assert "not evaluated" not in chosen.out + chosen.err


def test_a_detector_the_wrong_way_round_comes_first(do):
    """A distance is named before anything is said of it; as nearness it is not."""
    for name in ("known2", "unknown2"):
        turned = pl.read_csv(f"{name}.csv").with_columns(-pl.col("nearness")).rename({"nearness": "distance"})
        turned.write_csv(f"far_{name}.csv")
    far = "joint far_known2.csv far_unknown2.csv"
    text = do(f"{far} --scores distance").out
    assert text[text.index("! ") :].startswith("! distance is higher where it should be lower: AUROC 0.0")
    turned = do(f"{far} --uncertainty distance").text
    assert "next: abstain threshold far_known2.csv --uncertainty distance --risk" in turned
    assert "higher where" not in turned + do(f"{USUAL} --scores nearness").text


def test_files_of_own_names_are_told_how_to_be_read(do):
    """``study init`` names ``study add``, having no options of columns; ``plan`` asks for no label; both list them."""
    Path("runs/a/seed0").mkdir(parents=True)
    Path("runs/a/seed0/test.csv").write_text(Path("known.csv").read_text())
    said = do("study init study --from runs", 2).err
    assert "columns: truth, guess, sureness, nearness, site; or add this file with 'abstain study add'" in said
    do(f"study add study {OWN} --confidence sureness --model a --set test")
    plan = "plan unknown.csv --labels 50 -o plan.csv"
    said = do(plan, 2).err
    assert "no column is recognised as a confidence or a prediction; give --confidence, --uncertainty," in said
    assert "columns: guess, sureness, nearness" in said
    do(f"{plan} --confidence sureness")


def test_a_column_that_nobody_named_stands_in_no_way(do):
    """Where scores were named and right answers are known, ``p`` may be what it likes; named itself it is asked for."""
    rng = np.random.default_rng(0)
    right, (first, least, p) = (rng.random(300) < 0.7).astype(int), rng.random((3, 300))
    csv("llm.csv", gold=rng.choice(["x", "y"], 300), verdict=right, first=first, least=least, p=p)
    for call in ("compare", "evaluate"):
        done = do(f"{call} llm.csv --correct verdict --scores first,least")
        assert "not used: `p`" in f"{done.text} {done.said}"
    do("evaluate llm.csv --correct verdict", 2)
