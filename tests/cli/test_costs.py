"""``--cost-matrix`` and ``--review-cost``: what errors and people cost, from the file to the weekly check."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abstain
from abstain import losses
from abstain.cli import run

pl = pytest.importorskip("polars")

COSTS = np.array([[0.0, 1.0, 4.0], [20.0, 0.0, 2.0], [3.0, 5.0, 0.5]])
NAMES = ["well", "ill", "un:clear"]
TABLE = ",well,ill,un:clear\nwell,0,1,4\nill,20,0,2\nun:clear,3,5,0.5\n"
PAIRS = [f"{a}:{b}={COSTS[i, k]}" for i, a in enumerate(NAMES) for k, b in enumerate(NAMES)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with predictions of three classes in two files, and a table of costs."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, n in (("cal", 3000), ("week", 800)):
        logits = 3.0 * rng.standard_normal((n, 3))
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        label = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
        frame = {"label": [NAMES[k] for k in label]} | {f"p_{word}": p[:, k] for k, word in enumerate(NAMES)}
        pl.DataFrame(frame).write_csv(f"{name}.csv")
    Path("costs.csv").write_text(TABLE)
    Path("semicolons.csv").write_text(TABLE.replace(",", ";"))
    return tmp_path


def read(**options: Any) -> abstain.Outputs:
    """Return the outputs of the first file."""
    return abstain.read_outputs("cal.csv", **options)


@pytest.mark.parametrize(
    "given",
    [
        "costs.csv", Path("costs.csv"), "semicolons.csv", PAIRS, ",".join(PAIRS),
        {a: {b: COSTS[i, k] for k, b in enumerate(NAMES)} for i, a in enumerate(NAMES)},
    ],
)  # fmt: skip
def test_every_form_is_the_same_matrix(folder: Path, given: Any) -> None:
    """A table, texts with a colon inside a name, and dicts: the loss is that of the library's own cost matrix."""
    plain, priced = read(), read(cost_matrix=given)
    assert np.array_equal(priced.loss_per_sample(), losses.cost_matrix(plain.labels, plain.predicted(), COSTS))
    assert "the cost of label and prediction" in priced.understood()["loss"]
    assert abstain.evaluate("cal.csv", cost_matrix=given).value("risk") == priced.loss_per_sample().mean()


def test_costs_by_class(folder: Path) -> None:
    """Every wrong prediction of a class; a pair comes before its class, in any order, and a dict says the same."""
    plain = read()
    matrix = np.array([[0.0, 1.0, 1.0], [9.0, 0.0, 7.0], [2.0, 2.0, 0.0]])
    expected = losses.cost_matrix(plain.labels, plain.predicted(), matrix)
    for given in ("well=1,ill=9,ill:un:clear=7,un:clear=2", ["ill:un:clear=7", "un:clear=2", "ill=9", "well=1"]):
        assert np.array_equal(read(cost_matrix=given).loss_per_sample(), expected)
    assert np.array_equal(
        read(cost_matrix={"well": 1, "ill": {"well": 9, "un:clear": 7}, "un:clear": 2}).loss, expected
    )


def test_from_costs_to_the_weekly_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The policy keeps the costs; audit and monitor judge new rows by them, and the guarantee is in their units."""
    arguments = ["cal.csv", "--cost-matrix", "costs.csv", "--risk", "1", "--delta", "0.1", "-o", "policy.json"]
    assert run(["threshold", *arguments]) == 0
    policy = abstain.load_policy("policy.json")
    assert policy.guarantee is not None
    assert policy.guarantee["max_loss"] == 20.0
    Path("costs.csv").unlink()
    capsys.readouterr()
    assert run(["audit", "policy.json", "week.csv", "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    week = abstain.read_outputs("week.csv", cost_matrix=PAIRS)
    accepted = policy.decide(week.probabilities).accepted
    assert seen["risk"] == pytest.approx(week.loss_per_sample()[accepted].mean())
    assert run(["monitor", "policy.json", "week.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["risk"] == pytest.approx(seen["risk"])
    assert run(["monitor", "policy.json", "week.csv", "--json", "--cost-matrix", "well=0,ill=0,un:clear=0"]) == 0
    assert json.loads(capsys.readouterr().out)["risk"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ill=20,well=1"], "has no cost of predicting 'well' where 'un:clear' is true (2 such); give"),
        (["sick=1,ill=1,well=1,un:clear=1"], "names 'sick', which is no class; known: ill, un:clear, well"),
        (["il=1,ill=1,well=1,un:clear=1"], "did you mean 'ill'"), (["ill=much"], "has cost 'much'; give a finite"),
        (["ill=-1"], "has cost '-1'"), (["ill=inf"], "has cost 'inf'"), (["ill=1,ill=2"], "gives 'ill' twice"),
        (["none.csv"], "--cost-matrix 'none.csv' is no file"), (["=3"], "is no cost; write CLASS=COST"),
        (["short.csv"], "is no table of costs"), (["ragged.csv"], "line 2 has 2 fields, the first one 4"),
        (["words.csv"], "line 2, column 'ill' of words.csv has cost 'x'"), (["twice.csv"], "gives well:ill twice"),
        (["costs.csv", "--loss", "p_ill"], "--cost-matrix and --loss 'p_ill' both say what a row costs"),
        (["costs.csv", "--task", "regression"], "both say what a row costs"),
    ],
)  # fmt: skip
def test_what_is_refused(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    """The argument, the value and the remedy; exit code 2."""
    Path("short.csv").write_text("cost\n3\n")
    Path("ragged.csv").write_text(TABLE.replace("well,0,1,4", "well,0"))
    Path("words.csv").write_text(TABLE.replace("well,0,1,4", "well,0,x,4"))
    Path("twice.csv").write_text(TABLE.replace(",well,ill,un:clear", ",well,ill,ill"))
    assert run(["evaluate", "cal.csv", "--cost-matrix", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith("abstain: cal.csv: ")
    assert message in " ".join(said.split())


def test_reviews_have_one_cost(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two costs of a review, or a negative one, are wrong use."""
    for more in (
        ["--cost", "1", "0.5", "--review-cost", "1"],
        ["--review-cost", "-1"],
        ["--review-cost", "1", "--risk", "1"],
    ):
        assert run(["threshold", "cal.csv", *more]) == 2
        assert "review-cost" in capsys.readouterr().err


def test_classes_without_columns(folder: Path) -> None:
    """Labels and predictions alone: pairs of classes that occur need a cost; a class without a row is noted."""
    rows = {"label": ["a", "b", "b"], "prediction": ["a", "a", "b"], "confidence": [3, 1, 2]}
    outputs = abstain.read_outputs(rows, cost_matrix={"a": 1, "b": 5, "rare": 100})
    assert outputs.loss_per_sample().tolist() == [0.0, 5.0, 0.0]
    assert outputs.reading is not None
    assert "cost_matrix names 'rare', of which there is no row" in outputs.reading.notes
    with pytest.raises(ValueError, match="has no cost of predicting 'a' where 'b' is true"):
        abstain.read_outputs(rows, cost_matrix={"a": 1})
    with pytest.raises(TypeError, match="must be a CSV file, texts such as"):
        abstain.read_outputs(rows, cost_matrix=[[0, 1], [5, 0]])
    correct = rows | {"correct": [1, 0, 1]}  # found by its name, and left out
    assert abstain.read_outputs(correct, cost_matrix={"a": 1, "b": 5}).loss_per_sample().sum() == 5.0


def test_errors_are_priced_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cost of errors beside a matrix of them would count twice: refused, and the remedy runs."""
    costs = ["--cost-matrix", "ill=20,well=1,un:clear=1"]
    assert run(["threshold", "cal.csv", *costs, "--cost", "20", "1"]) == 2
    assert "give --review-cost 1, the cost of a review in the same units" in capsys.readouterr().err
    assert run(["threshold", "cal.csv", *costs, "--review-cost", "1"]) == 0


def test_the_class_that_a_column_names_is_the_hint(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of p_ill the first classes that are proposed make ill the positive one; taken, they do not invert the result."""
    frame = pl.read_csv("cal.csv").filter(pl.col("label") != "un:clear").select("label", p_ill="p_ill")
    frame.write_csv("two.csv")
    options = ["evaluate", "two.csv", "--positive-probability", "p_ill"]
    assert run(options) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "give --class-names well,ill if it is 'ill', --class-names ill,well if it is 'well'" in said
    found = abstain.evaluate("two.csv", positive_probability="p_ill", class_names=["well", "ill"])
    assert found.value("accuracy") == pytest.approx(((frame["p_ill"] >= 0.5) == (frame["label"] == "ill")).mean())
