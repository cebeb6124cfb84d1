"""Sentences of the commands are true of what was given and asked for."""

from pathlib import Path

import numpy as np
import pytest

import abstain
from tests.command import csv


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
