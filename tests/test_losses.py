"""Per-sample losses: hand-computed values, three array libraries, and messages that name the remedy."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from abstain import losses

LIBRARIES = {
    "numpy": np.asarray,
    "strict": array_api_strict.asarray,
    "torch": lambda column: pytest.importorskip("torch").from_numpy(np.asarray(column)),
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


@pytest.fixture(params=LIBRARIES)
def make(request):
    return LIBRARIES[request.param]


def equal(result, expected, make):
    given_back = np.asarray(result)
    assert given_back.dtype == np.float64
    np.testing.assert_allclose(given_back, expected, rtol=1e-13)
    kind = type(make(LABELS))
    assert isinstance(result, np.ndarray if kind is list else kind)


def test_zero_one(make):
    equal(losses.zero_one(make(LABELS), make(PREDICTED)), [0, 1, 0, 0], make)


def test_cross_entropy_from_probabilities_and_logits(make):
    expected = -np.log(PROBA[np.arange(4), LABELS])
    equal(losses.cross_entropy(make(LABELS), make(PROBA)), expected, make)
    equal(losses.cross_entropy(make(LABELS), logits=make(LOGITS)), expected, make)


def test_brier(make):
    equal(losses.brier(make(LABELS), make(PROBA)), ((PROBA - np.eye(3)[LABELS]) ** 2).sum(axis=1), make)


def test_dice(make):
    equal(losses.dice(make(MASKS[0]), make(MASKS[1])), [1 - 2 * 2 / 6, 1.0, 0.0], make)


def test_cost_matrix(make):
    equal(losses.cost_matrix(make(LABELS), make(PREDICTED), make(COST)), [0, 4, 0, 0.5], make)


def test_ood_cost(make):
    loss, flags = np.array([0.5, np.nan, 0.0, 1.0]), np.array([False, True, True, False])
    equal(losses.ood_cost(make(loss), make(flags), 2.5), [0.5, 2.5, 2.5, 1.0], make)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frame_columns(library):
    frames = pytest.importorskip(library)
    labels, proba = frames.Series(LABELS), frames.DataFrame({f"p{k}": PROBA[:, k] for k in range(3)})
    np.testing.assert_array_equal(losses.brier(labels, proba), losses.brier(LABELS, PROBA))
    text = frames.Series(["cat", "dog"])
    np.testing.assert_array_equal(losses.zero_one(text, frames.Series(["cat", "cat"])), [0.0, 1.0])


def test_results_stay_on_their_device():
    device = array_api_strict.Device("device1")

    def there(column):
        return array_api_strict.asarray(np.asarray(column), device=device)

    results = [losses.zero_one(LABELS, there(PREDICTED)), losses.cross_entropy(there(LABELS), PROBA)]
    results += [losses.cross_entropy(LABELS, logits=there(LOGITS)), losses.brier(there(LABELS), PROBA)]
    results += [losses.dice(there(MASKS[0]), MASKS[1]), losses.cost_matrix(there(LABELS), PREDICTED, COST)]
    results += [losses.ood_cost(there([0.0, 1.0]), [False, True])]
    assert all(result.device == device for result in results)


def test_cross_entropy_keeps_its_digits_at_large_margins():
    loss = losses.cross_entropy([0, 0, 1], logits=[[60.0, 0.0], [2000.0, 0.0], [2000.0, 0.0]])
    np.testing.assert_allclose(loss, [np.exp(-60.0), 0.0, 2000.0], rtol=1e-14)


def test_clip_bounds_the_loss():
    np.testing.assert_allclose(losses.cross_entropy([1], [[1.0, 0.0]]), -np.log(np.finfo(float).eps))
    np.testing.assert_allclose(losses.cross_entropy([1], [[1.0, 0.0]], clip=1e-3), -np.log(1e-3))
    np.testing.assert_allclose(losses.cross_entropy([1], logits=[[99.0, 0.0]], clip=1e-3), -np.log(1e-3))


@given(arrays(np.float64, (5, 4), elements=st.floats(-500, 500)), st.lists(st.integers(0, 3), min_size=5, max_size=5))
def test_ranges_and_agreement_with_scipy(logits, labels):
    from scipy.special import log_softmax

    expected = -log_softmax(logits, axis=1)[np.arange(5), labels]
    loss = losses.cross_entropy(labels, logits=logits)
    np.testing.assert_allclose(loss, expected, rtol=1e-12, atol=1e-12)
    assert (loss >= 0.0).all()
    brier = losses.brier(labels, np.exp(log_softmax(logits, axis=1)))
    assert ((brier >= 0.0) & (brier <= 2.0 + 1e-12)).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: losses.zero_one([0, -1], [0, 0]), ValueError, r"labels is missing \(-1\): labels\[1\] = -1.0"),
        (lambda: losses.zero_one([0, None], [0, 0]), ValueError, r"labels is missing: labels\[1\] = nan"),
        (lambda: losses.zero_one([0, 1], [0, 0.5]), ValueError, r"predictions is no whole number: .*\[1\] = 0.5"),
        (lambda: losses.zero_one([0, 1, 1], [0, 1]), ValueError, r"lengths differ \(labels: 3, predictions: 2\)"),
        (lambda: losses.zero_one(["a"], [0]), TypeError, "labels holds text but predictions numbers"),
        (lambda: losses.zero_one(["a", None], ["a", "b"]), ValueError, r"labels is missing: labels\[1\] = None"),
        (lambda: losses.zero_one(["a", 1], ["a", "b"]), TypeError, r"labels mixes text and numbers: labels\[1\] = 1"),
        (lambda: losses.zero_one(["a"], ["a", "b"]), ValueError, "lengths differ"),
        (lambda: losses.zero_one([[0]], [[0]]), ValueError, "labels must be one-dimensional"),
        (lambda: losses.zero_one([np.inf], [0]), ValueError, r"labels is out of range: labels\[0\] = inf"),
        (lambda: losses.zero_one([], []), ValueError, "labels is empty"),
        (lambda: losses.brier([3], [[0.5, 0.5]]), ValueError, r"labels\[0\] = 3.0 .*must be in 0 .. 1"),
        (lambda: losses.brier([0, 0], [[0.5, 0.5], [0.5, 0.3]]), ValueError, r"probabilities\[1\] is 0.8 .*logits"),
        (lambda: losses.brier([0], [[2.0, -1.0]]), ValueError, r"outside \[0, 1\]: probabilities\[0, 0\] = 2.0"),
        (lambda: losses.brier([0], [[0.5, np.nan]]), ValueError, r"probabilities is not finite: .*\[0, 1\] = nan"),
        (lambda: losses.brier([0], [[1.0]]), ValueError, r"probabilities needs one column per class.*\[1 - p, p\]"),
        (lambda: losses.brier([0], [0.5, 0.5]), ValueError, r"probabilities must have shape \(n_samples, n_classes\)"),
        (lambda: losses.brier([0], [[0.5, 0.5], [0.1]]), ValueError, "probabilities is ragged"),
        (lambda: losses.brier([0], [["a", "b"]]), TypeError, "probabilities must be numeric"),
        (lambda: losses.cross_entropy([0]), TypeError, "needs probabilities or logits"),
        (lambda: losses.cross_entropy([0], [[0.5, 0.5]], logits=[[0, 1]]), TypeError, "exactly one"),
        (lambda: losses.cross_entropy([0], [[0.5, 0.5]], clip=0), ValueError, r"clip must lie inside \(0, 1\), got 0"),
        (lambda: losses.cross_entropy([0], logits=[[np.inf, 0.0]]), ValueError, "logits is not finite"),
        (lambda: losses.dice([[1, 2]], [[1, 0]]), ValueError, r"mask_true.ravel\(\) is neither 0 nor 1.*> 0.5"),
        (lambda: losses.dice([[1, 0]], [[1, 0, 0]]), ValueError, "shapes differ"),
        (lambda: losses.dice([1, 0], [1, 0]), ValueError, r"mask_true must have shape \(n_samples, ...\)"),
        (lambda: losses.dice([["a"]], [["b"]]), TypeError, "mask_true must be numeric or boolean"),
        (lambda: losses.cost_matrix([2], [0], [[0, 1], [1, 0]]), ValueError, r"labels\[0\] = 2.0"),
        (lambda: losses.cost_matrix([0], [0], [[0, -1], [1, 0]]), ValueError, "cost must be >= 0"),
        (lambda: losses.ood_cost([0.0], [2]), ValueError, r"is_ood\[0\] = 2.0"),
        (lambda: losses.ood_cost([0.0], [0], -1), ValueError, "cost must be a finite number >= 0, got -1"),
        (lambda: losses.ood_cost([np.nan], [0]), ValueError, r"loss holds NaN: loss\[0\]"),
        (lambda: losses.ood_cost([0.0], [0], "x"), TypeError, "cost must be a number >= 0, got 'x'; 1 counts"),
        (lambda: losses.ood_cost([0.0], [0], 10**400), TypeError, "cost must be a number >= 0, got 1000"),
        (lambda: losses.cross_entropy([0], [[0.5, 0.5]], clip="a"), TypeError, "clip must be a number .*, got 'a'"),
        (lambda: losses.dice([[1], [1, 0]], [[1], [1, 0]]), ValueError, "mask_true is ragged"),
    ],
)
def test_messages(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_tensor_messages():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"logits must have shape \(n_samples, n_classes\), got \(2,\)"):
        losses.cross_entropy([0, 1], logits=torch.zeros(2))
    with pytest.raises(ValueError, match=r"sum of probabilities\[1\] is 0.5"):
        losses.cross_entropy([0, 1], torch.tensor([[0.5, 0.5], [0.5, 0.0]]))


def test_labels_that_float64_cannot_tell_apart_are_refused():
    with pytest.raises(ValueError, match=r"labels is out of range: .*class indices must be >= 0 and < 2\*\*53"):
        losses.zero_one([0, 2**53 + 1], [0, 2**53])
    assert losses.zero_one([2**53 - 1], [2**53 - 2]).tolist() == [1.0]


def test_text_columns_of_every_kind():
    assert losses.zero_one(np.array(["a", "b"], dtype=np.dtypes.StringDType()), ["a", "a"]).tolist() == [0.0, 1.0]
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"labels is missing: labels\[1\] = <NA>; label it"):
        losses.zero_one(pandas.Series(["a", None], dtype="string"), ["a", "a"])
