"""Per-sample losses: hand-computed values, three array libraries, and messages that name the remedy."""

from functools import partial

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import log_softmax

from abstain import losses
from tests.refusal import refused

torch = pytest.importorskip("torch")

LIBRARIES = {
    "numpy": np.asarray,
    "strict": array_api_strict.asarray,
    "torch": lambda column: torch.from_numpy(np.asarray(column)),
    "list": lambda column: np.asarray(column).tolist(),
}
LABELS = np.array([0, 2, 1, 2])
PREDICTED = np.array([0, 1, 1, 2])
LOGITS = np.array([[2.0, 0.0, -1.0], [0.0, 1.0, 1.0], [0.5, 0.5, 0.5], [-3.0, 2.0, 9.0]])
PROBA = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
COST = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [5.0, 4.0, 0.5]])
MASKS = (
    np.array([[[1, 0], [1, 1]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]),
    np.array([[[1, 1], [0, 1]], [[0, 1], [0, 0]], [[0, 0], [0, 0]]]),
)
SURPRISE = -np.log(PROBA[np.arange(4), LABELS])


def from_logits(labels, logits):
    return losses.cross_entropy(labels, logits=logits)


def foreign(loss, is_ood):
    return losses.ood_cost(loss, is_ood, 2.5)


#: A loss, its columns, and the values by hand.
VALUES = [
    (losses.zero_one, (LABELS, PREDICTED), [0, 1, 0, 0]),
    (losses.cross_entropy, (LABELS, PROBA), SURPRISE),
    (from_logits, (LABELS, LOGITS), SURPRISE),
    (losses.brier, (LABELS, PROBA), ((PROBA - np.eye(3)[LABELS]) ** 2).sum(axis=1)),
    (losses.dice, MASKS, [1 - 2 * 2 / 6, 1.0, 0.0]),
    (losses.cost_matrix, (LABELS, PREDICTED, COST), [0, 4, 0, 0.5]),
    (foreign, (np.array([0.5, np.nan, 0.0, 1.0]), np.array([False, True, True, False])), [0.5, 2.5, 2.5, 1.0]),
]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("function", "columns", "expected"), VALUES)
def test_values_by_hand(function, columns, expected, library):
    make = LIBRARIES[library]
    result, kind = function(*map(make, columns)), type(make(LABELS))
    assert isinstance(result, np.ndarray if kind is list else kind)
    assert np.asarray(result).dtype == np.float64
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-13)


@pytest.mark.parametrize(("function", "columns", "_"), VALUES)
def test_results_stay_on_the_device_of_one_column(function, columns, _):
    device = array_api_strict.Device("device1")
    for k, column in enumerate(columns):
        there = array_api_strict.asarray(column, device=device)
        for others in (columns, [other.tolist() for other in columns]):
            assert function(*others[:k], there, *others[k + 1 :]).device == device


@pytest.mark.parametrize(("function", "columns", "_"), VALUES)
def test_the_first_column_chooses_the_library(function, columns, _):
    for one, other in (("strict", "torch"), ("torch", "strict")):
        result = function(LIBRARIES[one](columns[0]), *map(LIBRARIES[other], columns[1:]))
        assert isinstance(result, type(LIBRARIES[one](LABELS)))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frame_columns(library):
    frames = pytest.importorskip(library)
    labels, proba = frames.Series(LABELS), frames.DataFrame({f"p{k}": PROBA[:, k] for k in range(3)})
    np.testing.assert_array_equal(losses.brier(labels, proba), losses.brier(LABELS, PROBA))
    text = frames.Series(["cat", "dog"])
    np.testing.assert_array_equal(losses.zero_one(text, frames.Series(["cat", "cat"])), [0.0, 1.0])


def test_large_margins_keep_their_digits_and_clip_bounds_the_loss():
    loss = losses.cross_entropy([0, 0, 1], logits=[[60.0, 0.0], [2000.0, 0.0], [2000.0, 0.0]])
    np.testing.assert_allclose(loss, [np.exp(-60.0), 0.0, 2000.0], rtol=1e-14)
    np.testing.assert_allclose(losses.cross_entropy([1], [[1.0, 0.0]]), -np.log(np.finfo(float).eps))
    np.testing.assert_allclose(losses.cross_entropy([1], [[1.0, 0.0]], clip=1e-3), -np.log(1e-3))
    np.testing.assert_allclose(losses.cross_entropy([1], logits=[[99.0, 0.0]], clip=1e-3), -np.log(1e-3))


@given(arrays(np.float64, (5, 4), elements=st.floats(-500, 500)), st.lists(st.integers(0, 3), min_size=5, max_size=5))
def test_ranges_and_agreement_with_scipy(logits, labels):
    loss = losses.cross_entropy(labels, logits=logits)
    np.testing.assert_allclose(loss, -log_softmax(logits, axis=1)[np.arange(5), labels], rtol=1e-12, atol=1e-12)
    assert (loss >= 0.0).all()
    brier = losses.brier(labels, np.exp(log_softmax(logits, axis=1)))
    assert ((brier >= 0.0) & (brier <= 2.0 + 1e-12)).all()


#: An error, its words, a loss, and what it is given.
ONE, UNEVEN = [[0.5, 0.5]], [[0.5, 0.5], [0.5, 0.0]]
REFUSED = [
    (ValueError, r"labels is missing \(-1\): labels\[1\] = -1.0", losses.zero_one, [0, -1], [0, 0]),
    (ValueError, r"labels is missing: labels\[1\] = nan", losses.zero_one, [0, None], [0, 0]),
    (ValueError, r"predictions is no whole number: .*\[1\] = 0.5", losses.zero_one, [0, 1], [0, 0.5]),
    (ValueError, r"lengths differ \(labels: 3, predictions: 2\)", losses.zero_one, [0, 1, 1], [0, 1]),
    (TypeError, "labels holds text but predictions numbers", losses.zero_one, ["a"], [0]),
    (ValueError, r"labels is missing: labels\[1\] = None", losses.zero_one, ["a", None], ["a", "b"]),
    (TypeError, r"labels mixes text and numbers: labels\[1\] = 1", losses.zero_one, ["a", 1], ["a", "b"]),
    (ValueError, "lengths differ", losses.zero_one, ["a"], ["a", "b"]),
    (ValueError, "labels must be one-dimensional", losses.zero_one, [[0]], [[0]]),
    (ValueError, r"labels is out of range: labels\[0\] = inf", losses.zero_one, [np.inf], [0]),
    (ValueError, r"labels is out of range: .* >= 0 and < 2\*\*53", losses.zero_one, [0, 2**53 + 1], [0, 2**53]),
    (ValueError, "labels is empty", losses.zero_one, [], []),
    (ValueError, r"lengths differ \(labels: 2, probabilities: 1\)", losses.brier, [0, 1], ONE),
    (ValueError, r"lengths differ \(labels: 2, logits: 1\)", from_logits, [0, 1], ONE),
    (ValueError, r"labels\[0\] = 3.0 .*must be in 0 .. 1", losses.brier, [3], ONE),
    (ValueError, r"probabilities\[1\] is 0.5 .*logits", losses.brier, [0, 0], UNEVEN),
    (ValueError, r"sum of probabilities\[1\] is 0.5", losses.cross_entropy, [0, 1], torch.tensor(UNEVEN)),
    (ValueError, r"outside \[0, 1\]: probabilities\[0, 0\] = 2.0", losses.brier, [0], [[2.0, -1.0]]),
    (ValueError, r"probabilities is not finite: .*\[0, 1\] = nan", losses.brier, [0], [[0.5, np.nan]]),
    (ValueError, r"probabilities needs one column per class.*\[1 - p, p\]", losses.brier, [0], [[1.0]]),
    (ValueError, r"probabilities must have shape \(n_samples, n_classes\)", losses.brier, [0], [0.5, 0.5]),
    (ValueError, "probabilities is ragged", losses.brier, [0], [[0.5, 0.5], [0.1]]),
    (TypeError, "probabilities must be numeric", losses.brier, [0], [["a", "b"]]),
    (TypeError, "needs probabilities or logits", losses.cross_entropy, [0]),
    (TypeError, "exactly one", partial(losses.cross_entropy, logits=[[0, 1]]), [0], ONE),
    (ValueError, r"clip must lie inside \(0, 1\), got 0", partial(losses.cross_entropy, clip=0), [0], ONE),
    (TypeError, "clip must be a number .*, got 'a'", partial(losses.cross_entropy, clip="a"), [0], ONE),
    (ValueError, "logits is not finite", from_logits, [0], [[np.inf, 0.0]]),
    (ValueError, r"logits must have shape .*, got \(2,\)", from_logits, [0, 1], torch.zeros(2)),
    (ValueError, r"mask_true.ravel\(\) is neither 0 nor 1.*> 0.5", losses.dice, [[1, 2]], [[1, 0]]),
    (ValueError, "shapes differ", losses.dice, [[1, 0]], [[1, 0, 0]]),
    (ValueError, r"mask_true must have shape \(n_samples, ...\)", losses.dice, [1, 0], [1, 0]),
    (TypeError, "mask_true must be numeric or boolean", losses.dice, [["a"]], [["b"]]),
    (ValueError, "mask_true is ragged", losses.dice, [[1], [1, 0]], [[1], [1, 0]]),
    (ValueError, r"labels\[0\] = 2.0", losses.cost_matrix, [2], [0], [[0, 1], [1, 0]]),
    (ValueError, "cost must be >= 0", losses.cost_matrix, [0], [0], [[0, -1], [1, 0]]),
    (ValueError, r"is_ood\[0\] = 2.0", losses.ood_cost, [0.0], [2]),
    (ValueError, "cost must be a finite number >= 0, got -1", losses.ood_cost, [0.0], [0], -1),
    (ValueError, r"loss holds NaN: loss\[0\]", losses.ood_cost, [np.nan], [0]),
    (TypeError, "cost must be a number >= 0, got 'x'; 1 counts", losses.ood_cost, [0.0], [0], "x"),
    (TypeError, "cost must be a number >= 0, got 1000", losses.ood_cost, [0.0], [0], 10**400),
]


@pytest.mark.parametrize("row", REFUSED)
def test_messages(row):
    refused(*row)


def test_labels_of_every_kind():
    assert losses.zero_one([2**53 - 1], [2**53 - 2]).tolist() == [1.0]
    assert losses.zero_one(np.array(["a", "b"], dtype=np.dtypes.StringDType()), ["a", "a"]).tolist() == [0.0, 1.0]
    missing = pytest.importorskip("pandas").Series(["a", None], dtype="string")
    refused(ValueError, r"labels is missing: labels\[1\] = <NA>; label it", losses.zero_one, missing, ["a", "a"])
