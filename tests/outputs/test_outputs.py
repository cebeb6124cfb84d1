"""``Outputs``: what is accepted, what is refused in which words, and what follows from the columns."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

from abstain import UnmetNeed
from abstain.outputs import Outputs
from tests.refusal import refused

LOGITS = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0], [1.0, 0.0, 0.5]])
PROBA = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)


def full():
    return Outputs(
        labels=[0, 1, 2], logits=LOGITS, probabilities=PROBA, confidence=[0.9, np.nan, np.inf],
        scores={"votes": [3, 2, 1]}, loss=[0.0, 0.5, 2.0], sample_weight=[1.0, 2.0, 0.0],
        groups={"site": ["a", "b", "a"], "age": [30, 40, 50]}, ids=["x", "y", "z"], clusters=[1, 1, 2],
        features=np.arange(6.0).reshape(3, 2), head=(np.ones((3, 2)), np.zeros(3)), class_names=["cat", "dog", "owl"],
    )  # fmt: skip


def test_everything_at_once():
    outputs = full()
    assert outputs.n == 3
    assert outputs.n_classes == 3
    np.testing.assert_array_equal(outputs.error, [0, 0, 1])
    np.testing.assert_array_equal(outputs.loss_per_sample(), [0.0, 0.5, 2.0])
    assert repr(outputs) == (
        "Outputs(n=3, n_classes=3, labels, logits, probabilities, confidence, loss, sample_weight, ids, clusters, "
        "features, scores['votes'], groups['site'], groups['age'], head, class_names)"
    )


def test_predictions_come_before_logits_before_probabilities():
    assert Outputs(labels=[0], logits=[[0.0, 1.0]]).predicted() == [1]
    assert Outputs(labels=[0], probabilities=[[0.4, 0.6]]).predicted() == [1]
    assert Outputs(labels=[0], logits=[[0.0, 1.0]], predictions=[0]).predicted() == [0]
    assert Outputs(labels=[0], logits=[[1.0, 1.0]]).predicted() == [0]
    assert Outputs(loss=[0.5]).n_classes is None
    assert Outputs(labels=[0, 4], predictions=[1, 2]).n_classes == 5


def test_log_probabilities():
    expected = np.log(PROBA)
    labels = [0, 1, 2]
    np.testing.assert_allclose(Outputs(labels=labels, logits=LOGITS).log_probabilities(), expected, rtol=1e-13)
    np.testing.assert_allclose(Outputs(labels=labels, probabilities=PROBA).log_probabilities(), expected)
    extreme = Outputs(labels=[0], logits=[[1e4, -1e4]]).log_probabilities()
    np.testing.assert_array_equal(extreme, [[0.0, -2e4]])
    zero = Outputs(labels=[0], probabilities=[[1.0, 0.0]]).log_probabilities()
    np.testing.assert_array_equal(zero, [[0.0, -np.inf]])


def test_tensors_and_frames_are_taken():
    torch = pytest.importorskip("torch")
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    plain = Outputs(labels=[0, 1, 2], logits=LOGITS, ids=["a", "b", "c"])
    tensors = Outputs(labels=torch.tensor([0, 1, 2]), logits=torch.tensor(LOGITS, requires_grad=True), ids=plain.ids)
    frame = polars.DataFrame(LOGITS, schema=["0", "1", "2"])
    framed = Outputs(labels=polars.Series([0, 1, 2]), logits=frame, ids=polars.Series(["a", "b", "c"]))
    table = Outputs(labels=pandas.Series([0, 1, 2]), logits=pandas.DataFrame(LOGITS), ids=pandas.Series(list("abc")))
    assert plain.fingerprint == tensors.fingerprint == framed.fingerprint == table.fingerprint
    assert Outputs(labels=[0], logits=torch.zeros((1, 2), dtype=torch.bfloat16)).n_classes == 2


def test_text_labels_need_names_or_text_predictions():
    named = Outputs(labels=["dog", "cat"], logits=LOGITS[:2, :2], class_names=["cat", "dog"])
    np.testing.assert_array_equal(named.labels, [1, 0])
    alone = Outputs(labels=["dog", "cat"], predictions=["dog", "emu"], confidence=[1, 2])
    np.testing.assert_array_equal(alone.error, [0.0, 1.0])
    assert alone.class_names == ("cat", "dog", "emu")
    assert alone.n_classes == 3
    mixed = Outputs(labels=["dog", "cat"], predictions=[1, 1], class_names=["cat", "dog"])
    np.testing.assert_array_equal(mixed.error, [0.0, 1.0])


def test_select():
    outputs = full()
    part = outputs.select(np.array([False, True, True]))
    assert part.n == 2
    np.testing.assert_array_equal(part.logits, LOGITS[1:])
    np.testing.assert_array_equal(part.groups["site"], ["b", "a"])
    assert part.class_names == outputs.class_names
    assert part.head is not None
    assert outputs.select([1, 2]).fingerprint == part.fingerprint
    assert outputs.select(slice(1, None)).fingerprint == part.fingerprint
    np.testing.assert_array_equal(outputs.select([-1, 0, 0]).ids, ["z", "x", "x"])
    text = Outputs(labels=["dog", "cat"], predictions=["dog", "cat"]).select([0])
    assert text.class_names == ("cat", "dog")


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([True, False], ValueError, "mask has 2 entries for 3 samples"),
        ([3], ValueError, r"rows\[0\] = 3 is out of range for 3 samples"),
        ([], ValueError, "selects no sample"),
        ([False] * 3, ValueError, "selects no sample"),
        ([0.5], TypeError, "rows must be a mask or positions"),
    ],
)
def test_select_refuses(rows, error, message):
    refused(error, message, lambda: full().select(rows))


def test_fingerprint_depends_on_contents_only():
    one = full()
    assert one.fingerprint == full().fingerprint
    assert len(one.fingerprint) == 64
    assert one.select([0, 1]).fingerprint != one.fingerprint
    single = Outputs(labels=[0, 1], predictions=[0, 1], confidence=np.array([0.5, 0.25], np.float32))
    double = Outputs(labels=np.array([0, 1], np.uint8), predictions=[0.0, 1.0], confidence=np.array([0.5, 0.25], ">f8"))
    assert single.fingerprint == double.fingerprint
    swapped = Outputs(labels=[0, 1], predictions=[0, 1], loss=[0.5, 0.25])
    assert swapped.fingerprint != single.fingerprint
    assert Outputs(loss=[0.0]).fingerprint == Outputs(loss=[-0.0]).fingerprint


def test_fingerprint_is_the_same_in_every_process():
    code = "from abstain.outputs import Outputs; print(Outputs(labels=['b', 'a'], predictions=['b', 'b']).fingerprint)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert other == Outputs(labels=["b", "a"], predictions=["b", "b"]).fingerprint
    # written down: a change of this number breaks every recorded result
    assert other == "d316ec631ce4563450029b56d0053f84d961b1bc6250f3b100ae0bfa13903852"


def test_rows_without_labels_have_to_be_announced():
    refused(ValueError, "needs labels or a loss", Outputs, logits=LOGITS)
    outputs = Outputs(logits=LOGITS, unlabelled=True)
    np.testing.assert_array_equal(outputs.predicted(), [0, 1, 0])
    refused(UnmetNeed, "no labels", outputs.loss_per_sample)
    refused(UnmetNeed, "predict nothing", lambda: Outputs(loss=[0.0]).predicted())
    refused(UnmetNeed, "no class probabilities", lambda: Outputs(loss=[0.0]).log_probabilities())


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({}, ValueError, "holds no column"),
        ({"labels": [0]}, ValueError, "labels alone give no loss"),
        ({"labels": [0, 1], "predictions": [0]}, ValueError, r"lengths differ \(labels: 2, predictions: 1\)"),
        ({"loss": [1.0], "scores": {"a": [1, 2]}}, ValueError, r"lengths differ \(loss: 1, scores\['a'\]: 2\)"),
        ({"labels": [0, -1], "predictions": [0, 0]}, ValueError, r"labels is missing \(-1\): labels\[1\]"),
        ({"labels": [0, None], "predictions": [0, 0]}, ValueError, r"labels is missing: labels\[1\]"),
        ({"labels": [0, 3, 0], "logits": LOGITS}, ValueError, r"labels\[1\] = 3.0 .*must be in 0 .. 2"),
        ({"labels": [0], "predictions": [7], "class_names": ["a"]}, ValueError, r"predictions\[0\] = 7.0"),
        ({"labels": ["emu"], "predictions": ["cat"], "class_names": ["cat", "dog"]}, ValueError, "no class name"),
        ({"labels": ["catt"], "predictions": ["cat"], "class_names": ["cat"]}, ValueError, "did you mean 'cat'"),
        ({"labels": ["a", "b", "c"], "logits": LOGITS}, ValueError, "labels holds text; give class_names"),
        ({"labels": ["a"], "predictions": [0]}, TypeError, "labels holds text but predictions numbers"),
        ({"labels": ["a", None], "predictions": ["a", "a"]}, ValueError, r"labels is missing: labels\[1\]"),
        ({"labels": [0], "probabilities": [[0.5, 0.4]]}, ValueError, r"sum of probabilities\[0\] is 0.9"),
        ({"labels": [0], "probabilities": [[50, 50]]}, ValueError, r"outside \[0, 1\].*per cent"),
        ({"labels": [0], "logits": [[np.nan, 0]]}, ValueError, r"logits is not finite: logits\[0, 0\]"),
        ({"labels": [0], "logits": [[1.0]]}, ValueError, "logits needs one column per class"),
        (
            {"labels": [0], "logits": [[0, 1]], "probabilities": [[1, 0]]},
            ValueError,
            "not the softmax of logits: row 0",
        ),
        ({"labels": [0], "logits": [[0, 1]], "probabilities": [[1, 0, 0]]}, ValueError, "shapes differ"),
        ({"labels": [0, 1, 2], "logits": LOGITS, "class_names": ["a"]}, ValueError, "1 names for 3 classes"),
        ({"labels": [0], "predictions": [0], "class_names": ["a", "a"]}, ValueError, "holds 'a' twice"),
        ({"labels": [0], "predictions": [0], "class_names": "cat"}, TypeError, "got the string 'cat'"),
        ({"loss": [-1.0]}, ValueError, r"loss is negative: loss\[0\]"),
        ({"loss": [np.inf]}, ValueError, "loss is not finite"),
        ({"loss": ["a"]}, TypeError, "loss must be numeric"),
        ({"loss": [1.0], "sample_weight": [0.0]}, ValueError, "sample_weight is 0 in every row"),
        ({"loss": [1.0], "sample_weight": [np.nan]}, ValueError, "sample_weight must be finite and >= 0"),
        ({"loss": [1.0], "groups": ["a"]}, TypeError, "groups must be a dict"),
        (
            {"loss": [1.0, 1.0], "groups": {"g": ["a", None]}},
            ValueError,
            r"groups\['g'\] is missing: groups\['g'\]\[1\]",
        ),
        ({"loss": [1.0, 1.0], "ids": [1.0, np.nan]}, ValueError, r"ids is missing: ids\[1\]"),
        ({"loss": [1.0], "features": [1.0]}, ValueError, "features must have 2 dimensions"),
        ({"loss": [1.0], "features": [[np.nan]]}, ValueError, r"features is not finite at \[0, 0\]"),
        ({"loss": [1.0], "features": [["a"]]}, TypeError, "features must be numeric"),
        ({"loss": [1.0], "features": [[1.0]], "head": 3}, TypeError, r"head must be a pair \(W, b\)"),
        ({"labels": [0, 1, 2], "logits": LOGITS, "head": (np.ones((2, 3)), [0, 0])}, ValueError, "transpose it"),
    ],
)
def test_messages(fields, error, message):
    with pytest.raises(error, match=message) as caught:
        Outputs(**fields)
    assert "\n" not in str(caught.value)


PROBABILITIES = np.array([[0.7, 0.3], [0.2, 0.8], [1.0, 0.0]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_probabilities_in_the_place_of_logits_are_noticed_once(dtype):
    with pytest.warns(UserWarning, match="logits look like probabilities.*give them as probabilities") as caught:
        outputs = Outputs(labels=[0, 1, 0], logits=PROBABILITIES.astype(dtype))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outputs.select([0, 1])


SOFTMAX = np.exp(PROBABILITIES) / np.exp(PROBABILITIES).sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    "columns",
    [
        {"logits": np.log(PROBABILITIES[:2])},  # log-probabilities are logits
        {"logits": np.eye(3)},  # votes
        {"logits": [[0.7, 0.3], [0.2, 0.9]]},
        {"logits": [[1.7, -0.7], [0.2, 0.8]]},
        {"logits": PROBABILITIES, "probabilities": SOFTMAX},  # with their softmax beside them
    ],
)
def test_logits_that_are_no_probabilities_pass_in_silence(columns):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Outputs(labels=np.zeros(len(columns["logits"])), **columns)


def test_labels_of_minus_one_and_one():
    """The first column is the class -1."""
    outputs = Outputs(labels=[-1, 1, 1], logits=[[2.0, 0.0], [0.0, 2.0], [2.0, 0.0]])
    assert outputs.error.tolist() == [0.0, 0.0, 1.0]
    assert outputs.class_names == ("-1", "1")
