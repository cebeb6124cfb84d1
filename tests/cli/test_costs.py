"""``--cost-matrix`` and ``--review-cost``: what errors and people cost, from the file to the weekly check."""

from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain import losses
from tests.command import csv

COSTS = np.array([[0.0, 1.0, 4.0], [20.0, 0.0, 2.0], [3.0, 5.0, 0.5]])
BY_CLASS = np.array([[0.0, 1.0, 1.0], [9.0, 0.0, 7.0], [2.0, 2.0, 0.0]])
NAMES = ["well", "ill", "un:clear"]
TABLE = ",well,ill,un:clear\nwell,0,1,4\nill,20,0,2\nun:clear,3,5,0.5\n"
DICT = {a: {b: COSTS[i, k] for k, b in enumerate(NAMES)} for i, a in enumerate(NAMES)}
PAIRS = [f"{a}:{b}={cost}" for a, costs in DICT.items() for b, cost in costs.items()]


@pytest.fixture(autouse=True)
def _files(do):
    """Write predictions of three classes, and tables of costs, right ones and wrong ones."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 800)
    label = (p.cumsum(axis=1) < rng.random((800, 1))).sum(axis=1)
    csv("cal.csv", label=np.array(NAMES)[label], **{f"p_{word}": p[:, k] for k, word in enumerate(NAMES)})
    tables = {"costs": TABLE, "semicolons": TABLE.replace(",", ";"), "short": "cost\n3\n"}
    tables["ragged"] = TABLE.replace("well,0,1,4", "well,0")
    tables["words"] = TABLE.replace("well,0,1,4", "well,0,x,4")
    tables["twice"] = TABLE.replace(",well,ill,un:clear", ",well,ill,ill")
    for name, text in tables.items():
        Path(f"{name}.csv").write_text(text)


@pytest.mark.parametrize(
    ("given", "matrix"),
    [
        *((each, COSTS) for each in ("costs.csv", Path("semicolons.csv"), PAIRS, ",".join(PAIRS), DICT)),
        ("well=1,ill=9,ill:un:clear=7,un:clear=2", BY_CLASS),
        (["ill:un:clear=7", "un:clear=2", "ill=9", "well=1"], BY_CLASS),
        ({"well": 1, "ill": {"well": 9, "un:clear": 7}, "un:clear": 2}, BY_CLASS),
    ],
)
def test_every_form_is_the_same_matrix(given, matrix):
    """Tables, texts with a colon inside a name and dicts; a pair comes before its class, in any order."""
    plain, priced = abstain.read_outputs("cal.csv"), abstain.read_outputs("cal.csv", cost_matrix=given)
    assert np.array_equal(priced.loss_per_sample(), losses.cost_matrix(plain.labels, plain.predicted(), matrix))
    assert "the cost of label and prediction" in priced.understood()["loss"]


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ("ill=20,well=1", "has no cost of predicting 'well' where 'un:clear' is true (2 such); give"),
        ("sick=1,ill=1,well=1,un:clear=1", "names 'sick', which is no class; known: ill, un:clear, well"),
        ("il=1,ill=1,well=1,un:clear=1", "did you mean 'ill'"),
        ("ill=much", "has cost 'much'; give a finite"),
        ("ill=inf", "has cost 'inf'"),
        ("ill=1,ill=2", "gives 'ill' twice"),
        ("none.csv", "--cost-matrix 'none.csv' is no file"),
        ("=3", "is no cost; write CLASS=COST"),
        ("short.csv", "is no table of costs"),
        ("ragged.csv", "line 2 has 2 fields, the first one 4"),
        ("words.csv", "line 2, column 'ill' of words.csv has cost 'x'"),
        ("twice.csv", "gives well:ill twice"),
        ("costs.csv --loss p_ill", "--cost-matrix and --loss 'p_ill' both say what a row costs"),
    ],
)
def test_what_is_refused(do, costs, message):
    """The argument, the value and the remedy; exit code 2."""
    said = do(f"evaluate cal.csv --cost-matrix {costs}", 2).said
    assert said.startswith("abstain: cal.csv: ")
    assert message in said


def test_classes_without_columns():
    """Labels and predictions alone: pairs of classes that occur need a cost; a class without a row is noted."""
    rows = {"label": ["a", "b", "b"], "prediction": ["a", "a", "b"], "confidence": [3, 1, 2]}
    outputs = abstain.read_outputs(rows, cost_matrix={"a": 1, "b": 5, "rare": 100})
    assert outputs.loss_per_sample().tolist() == [0.0, 5.0, 0.0]
    assert "cost_matrix names 'rare', of which there is no row" in outputs.reading.notes
    with pytest.raises(ValueError, match="has no cost of predicting 'a' where 'b' is true"):
        abstain.read_outputs(rows, cost_matrix={"a": 1})
    with pytest.raises(TypeError, match="must be a CSV file, texts such as"):
        abstain.read_outputs(rows, cost_matrix=[[0, 1], [5, 0]])
    correct = rows | {"correct": [1, 0, 1]}  # found by its name, and left out
    assert abstain.read_outputs(correct, cost_matrix={"a": 1, "b": 5}).loss_per_sample().sum() == 5.0


def test_errors_are_priced_once(do):
    """Two costs of errors, or of a review, or a negative one, are wrong use; the remedy that is named runs."""
    choose = "threshold cal.csv --cost-matrix ill=20,well=1,un:clear=1"
    said = do(f"{choose} --cost 20 1", 2).err
    assert "give --review-cost 1, the cost of a review in the same units" in said
    do(f"{choose} --review-cost 1")
    for costs in ("--cost 1 0.5 --review-cost 1", "--review-cost -1", "--review-cost 1 --risk 1"):
        assert "review-cost" in do(f"threshold cal.csv {costs}", 2).err
