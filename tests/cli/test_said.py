"""Sentences of the commands are true of what was given and asked for."""

from pathlib import Path

import numpy as np
import pytest

import abstain
from tests.command import csv

WRONG_WAY = [float(k % 5 == 0 and k > 300) for k in range(1000)]


@pytest.mark.parametrize(
    ("loss", "score", "risk", "said", "absent"),
    [
        (WRONG_WAY, np.arange(1000) / 1000, 0.19, "Answering all cases is certified: at most 17", "give a larger risk"),
        ([0] * 30 + ([1] + [0] * 9) * 97, [0.9] * 30 + [0.5] * 970, 0.08,
         "Not certified at 8 %. Answer all cases: at most 12.4 % of the answers are wrong", "score on"),
    ],
)  # fmt: skip
def test_what_answering_everything_satisfies_is_said(do, loss, score, risk, said, absent):
    """A score the wrong way round, or one of two values: how, and at which risk; no threshold where there is none."""
    csv("rows.csv", loss=loss, confidence=score)
    text = do(f"threshold rows.csv --risk {risk} --delta 0.05", 1).text
    assert said in text
    assert absent not in text


def test_a_time_is_no_group(do):
    """What a file was read as does not call the column of --time groups, but uses it."""
    csv("rows.csv", loss=[0, 1] * 30, confidence=np.arange(60) / 60)
    do("threshold rows.csv --risk 0.9 --delta 0.1 -o p.json")
    days = [f"2026-06-{1 + k // 2:02d}" for k in range(40)]
    csv("rows.csv", loss=[0, 1] * 20, confidence=np.arange(40) / 60, day=days)
    done = do("monitor p.json rows.csv --time day")
    assert "2026-06-15" in done.out
    assert "loss `loss`" in done.err
    assert "groups" not in done.err


def test_a_row_that_is_refused_is_that_of_the_file(do):
    """With rows left out before it, and the value as the file has it, not one minus it."""
    columns = "--labels y --positive-probability p"
    csv("good.csv", y=[0, 1] * 30, p=np.arange(60) / 60)
    do(f"threshold good.csv {columns} --coverage 0.5 -o p.json")
    Path("bad.csv").write_text("y,p,site\n1,.1,a\n0,,a\n1,.9,b\n0,.2,a\n0,1.4,a\n")
    said = do("apply p.json bad.csv -o d.csv", 2).err
    assert "probabilities[4] = 1.4 (1 such)" in said
    assert "[data row 5]" in said
    evaluate = f"evaluate bad.csv {columns}"
    assert "holds 1.4 in data row 5" in do(f"{evaluate} --nan-policy drop", 2).err
    assert "holds nan in data row 2" in do(f"{evaluate} --where site=a", 2).err
    assert "holds 1.4 in data row 5" in do(f"{evaluate} --where site=a --nan-policy drop", 2).err


def test_a_row_of_classes_that_is_refused_is_that_of_the_rows():
    """Where incomplete rows have no score, the others keep their places; what is infinite has no score either."""
    p = [[np.nan, 0.5], [0.5, 0.5], [0.7, 0.7]]
    with pytest.raises(ValueError, match=r"probabilities\[2\] is 1.4"):
        abstain.policy.compute("neg_entropy", "probabilities", p)
    assert np.isnan(abstain.policy.compute("msp", "probabilities", [[np.inf], [np.nan]])).all()
