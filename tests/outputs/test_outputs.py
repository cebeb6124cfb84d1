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
LABEL, SMALL = {"labels": [0]}, {"labels": [0], "predictions": [0]}
PROBA = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)


def full():
    return Outputs(
        labels=[0, 1, 2], logits=LOGITS, probabilities=PROBA, confidence=[0.9, np.nan, np.inf],
        scores={"votes": [3, 2, 1]}, loss=[0.0, 0.5, 2.0], sample_weight=[1.0, 2.0, 0.0],
        groups={"site": ["a", "b", "a"], "age": [30, 40, 50]}, ids=["x", "y", "z"], clusters=[1, 1, 2],
        features=np.arange(6.0).reshape(3, 2), head=(np.ones((3, 2)), np.zeros(3)), class_names=["cat", "dog", "owl"],
    )  # fmt: skip


def test_log_probabilities():
    for given in ({"logits": LOGITS}, {"probabilities": PROBA}):
        found = Outputs(labels=[0, 1, 2], **given).log_probabilities()
        np.testing.assert_allclose(found, np.log(PROBA), rtol=1e-13)
    extreme = Outputs(labels=[0], logits=[[1e4, -1e4]]).log_probabilities()
    np.testing.assert_array_equal(extreme, [[0.0, -2e4]])


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


def test_select():
    outputs = full()
    part = outputs.select(np.array([False, True, True]))
    np.testing.assert_array_equal(part.logits, LOGITS[1:])
    np.testing.assert_array_equal(part.groups["site"], ["b", "a"])
    assert part.class_names == outputs.class_names
    assert part.head is not None
    assert outputs.select([1, 2]).fingerprint == outputs.select(slice(1, None)).fingerprint == part.fingerprint
    np.testing.assert_array_equal(outputs.select([-1, 0, 0]).ids, ["z", "x", "x"])
    assert Outputs(labels=["dog", "cat"], predictions=["dog", "cat"]).select([0]).class_names == ("cat", "dog")
    for rows, message in (
        ([True, False], "mask has 2 entries for 3 samples"),
        ([3], r"rows\[0\] = 3 is out of range for 3 samples"),
        ([], "selects no sample"),
        ([False] * 3, "selects no sample"),
        ([0.5], "rows must be a mask or positions"),
    ):
        refused((ValueError, TypeError), message, outputs.select, rows)


def test_fingerprint_depends_on_contents_only():
    """In every process, too: a change of the number that is written here breaks every recorded result."""
    one = full()
    assert one.fingerprint == full().fingerprint != one.select([0, 1]).fingerprint
    single = Outputs(labels=[0, 1], predictions=[0, 1], confidence=np.array([0.5, 0.25], np.float32))
    double = Outputs(labels=np.array([0, 1], np.uint8), predictions=[0.0, 1.0], confidence=np.array([0.5, 0.25], ">f8"))
    assert single.fingerprint == double.fingerprint
    assert Outputs(labels=[0, 1], predictions=[0, 1], loss=[0.5, 0.25]).fingerprint != single.fingerprint
    assert Outputs(loss=[0.0]).fingerprint == Outputs(loss=[-0.0]).fingerprint
    groups = [np.array([1, 0], kind) for kind in (bool, np.uint8, np.int64)]
    (same,) = {Outputs(loss=[0.0, 1.0], groups={"g": group}).fingerprint for group in groups}
    assert same == "b7776e8b3f1b90fc8601ff5fd3990e7f5b77417e00a52fa2d3d29ccbe6332fc0"
    code = "from abstain.outputs import Outputs; print(Outputs(labels=['b', 'a'], predictions=['b', 'b']).fingerprint)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert other == "d316ec631ce4563450029b56d0053f84d961b1bc6250f3b100ae0bfa13903852"


def test_rows_without_labels_have_to_be_announced():
    outputs = Outputs(logits=LOGITS, unlabelled=True)
    np.testing.assert_array_equal(outputs.predicted(), [0, 1, 0])
    refused(UnmetNeed, "no labels", outputs.loss_per_sample)
    refused(UnmetNeed, "predict nothing", Outputs(loss=[0.0]).predicted)
    refused(UnmetNeed, "no class probabilities", Outputs(loss=[0.0]).log_probabilities)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (LABEL, "labels alone give no loss"),
        ({"logits": LOGITS}, "needs labels or a loss"),
        ({"loss": [1.0], "scores": {"a": [1, 2]}}, r"lengths differ \(loss: 1, scores\['a'\]: 2\)"),
        ({"labels": [0, -1], "predictions": [0, 0]}, r"labels is missing \(-1\): labels\[1\]"),
        ({"labels": [0, None], "predictions": [0, 0]}, r"labels is missing: labels\[1\]"),
        ({"labels": ["a", None], "predictions": ["a", "a"]}, r"labels is missing: labels\[1\]"),
        ({"labels": [0, 3, 0], "logits": LOGITS}, r"labels\[1\] = 3.0 .*must be in 0 .. 2"),
        (LABEL | {"predictions": [7], "class_names": ["a"]}, r"predictions\[0\] = 7.0"),
        ({"labels": ["catt"], "predictions": ["cat"], "class_names": ["cat"]}, "did you mean 'cat'"),
        ({"labels": ["a", "b", "c"], "logits": LOGITS}, "labels holds text; give class_names"),
        ({"labels": ["a"], "predictions": [0]}, "labels holds text but predictions numbers"),
        (LABEL | {"probabilities": [[0.5, 0.4]]}, r"sum of probabilities\[0\] is 0.9"),
        (LABEL | {"probabilities": [[50, 50]]}, r"outside \[0, 1\].*per cent"),
        (LABEL | {"logits": [[np.nan, 0]]}, r"logits is not finite: logits\[0, 0\]"),
        (LABEL | {"logits": [[1.0]]}, "logits needs one column per class"),
        (LABEL | {"logits": [[0, 1]], "probabilities": [[1, 0]]}, "not the softmax of logits: row 0"),
        ({"loss": ["a"]}, "loss must be numeric"),
        (SMALL | {"sample_weight": [np.nan]}, "sample_weight must be finite and >= 0"),
        (SMALL | {"groups": ["a"]}, "groups must be a dict"),
        ({"loss": [1.0, 1.0], "groups": {"g": ["a", None]}}, r"groups\['g'\] is missing: groups\['g'\]\[1\]"),
        ({"loss": [1.0, 1.0], "ids": [1.0, np.nan]}, r"ids is missing: ids\[1\]"),
        (SMALL | {"features": [[np.nan]]}, r"features is not finite at \[0, 0\]"),
        (SMALL | {"features": [["a"]]}, "features must be numeric"),
        ({"labels": [0, 1, 2], "logits": LOGITS, "head": (np.ones((2, 3)), [0, 0])}, "transpose it"),
    ],
)
def test_messages(fields, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        Outputs(**fields)
    assert "\n" not in str(caught.value)


PROBABILITIES = np.array([[0.7, 0.3], [0.2, 0.8], [1.0, 0.0]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_probabilities_in_the_place_of_logits_are_noticed_once(dtype):
    with pytest.warns(UserWarning, match="logits look like probabilities.*give them as probabilities") as caught:
        outputs = Outputs(labels=[0, 1, 0], logits=PROBABILITIES.astype(dtype))
    assert [each.filename for each in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outputs.select([0, 1])


def test_what_follows_from_the_columns():
    """Predictions come before logits, logits before probabilities; of labels -1 and 1 the first column is -1."""
    outputs = full()
    assert (outputs.n, outputs.n_classes, outputs.error.tolist()) == (3, 3, [0, 0, 1])
    np.testing.assert_array_equal(outputs.loss_per_sample(), [0.0, 0.5, 2.0])
    logits = {"labels": [0], "logits": [[0.0, 1.0]]}
    assert Outputs(**logits).predicted() == [1]
    assert Outputs(labels=[0], probabilities=[[0.4, 0.6]]).predicted() == [1]
    assert Outputs(**logits, predictions=[0]).predicted() == Outputs(labels=[0], logits=[[1.0, 1.0]]).predicted() == [0]
    assert (Outputs(loss=[0.5]).n_classes, Outputs(labels=[0, 4], predictions=[1, 2]).n_classes) == (None, 5)
    signed = Outputs(labels=[-1, 1, 1], logits=[[2.0, 0.0], [0.0, 2.0], [2.0, 0.0]])
    assert (signed.error.tolist(), signed.class_names) == ([0.0, 0.0, 1.0], ("-1", "1"))


@pytest.mark.parametrize("logits", [np.eye(3), [[0.7, 0.3], [0.2, 0.9]], [[-0.2, 0.6, 0.6]], [[0.5, 0.5], [0, 3]]])
def test_logits_that_are_no_probabilities_pass_in_silence(logits):
    """Votes, sums of another size, and what leaves [0, 1]."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Outputs(labels=np.zeros(len(logits)), logits=logits)
