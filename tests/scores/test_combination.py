"""Platt scaling and combinations: what they fit, what they warn of, what they keep."""

import numpy as np
import pytest
from scipy import optimize

from abstain import Outputs, UnmetNeed, scores
from tests.refusal import refused
from tests.scores.toy import TEST, TRAIN, VALIDATION, split


@pytest.fixture(scope="module")
def two_scores():
    """Return a validation and a test split with two weak scores that complement each other, on different scales."""

    def make(n, seed):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=(2, n))
        loss = (rng.random(n) > 1 / (1 + np.exp(-(1.5 * a + 1.5 * b + 1)))).astype(int)
        return Outputs(labels=loss, predictions=np.zeros(n, int), scores={"a": 1e4 * a - 7, "b": np.exp(b)})

    return make(2000, 0), make(4000, 1)


def test_logistic_regression_is_the_optimum():
    """Newton finds what a general optimizer finds."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100).astype(float)

    def loss(theta):
        z = x @ theta[:2] + theta[2]
        return np.sum(np.logaddexp(0, z) - y * z) + 0.35 * theta[:2] @ theta[:2]

    x = (x - x.mean(axis=0)) / x.std(axis=0)
    columns = {"a": x[:, 0], "b": x[:, 1]}
    outputs = Outputs(labels=np.zeros(100, int), predictions=(y == 0).astype(int), scores=columns)
    found = scores.get("combine_logistic", scores=("a", "b"), ridge=0.7).fit(outputs).arrays
    best = optimize.minimize(loss, np.zeros(3), tol=1e-12).x
    np.testing.assert_allclose([*found["weights"], float(found["intercept"])], best, atol=1e-5)
    apart = Outputs(labels=np.zeros(100, int), predictions=(x[:, 0] < 0).astype(int), scores={"a": np.sign(x[:, 0])})
    fitted = scores.get("combine_logistic", scores=("a",), ridge=1e-3).fit(apart)
    assert np.isfinite(fitted.arrays["weights"]).all()  # separable


def test_parts_that_are_fitted_come_fitted_on_other_rows(tmp_path):
    """A name that would have to be fitted on the same rows is refused; a fitted score is kept with the file."""
    with pytest.raises(UnmetNeed, match="knn in a combination must be fitted first, on other rows"):
        scores.get("combine_logistic", scores=("msp", "knn")).fit(VALIDATION)
    knn = scores.get("knn", neighbours=5).fit(TRAIN)
    both = scores.get("combine_ranks", scores=("neg_log_error", knn, "gen(gamma=0.5)")).fit(VALIDATION)
    assert [part.entry.spec for part in both.parts] == ["neg_log_error", "knn(neighbours=5)", "gen(gamma=0.5)"]
    both.save(tmp_path / "both.npz")
    np.testing.assert_array_equal(scores.load(tmp_path / "both.npz").score(TEST), both.score(TEST))
    refused(UnmetNeed, "knn needs features", lambda: both.score(Outputs(labels=TEST.labels, logits=TEST.logits)))


def test_infinite_and_constant_parts_give_numbers():
    """A score of infinity is far, not NaN; a constant one says nothing."""
    outputs = Outputs(
        labels=[0, 0, 1, 0], predictions=[0, 0, 0, 0],
        scores={"a": [np.inf, 1.0, -np.inf, 2.0], "b": [1.0, 1.0, 1.0, 1.0], "c": [np.inf] * 4},
    )  # fmt: skip
    for name in ("combine_logistic", "combine_ranks"):
        score = scores.get(name, scores=("a", "b", "c")).fit(outputs).score(outputs)
        assert np.isfinite(score).all()
        assert score[2] == score.min() < score.max() == score[0]


def test_what_cannot_be_combined_is_refused():
    """No errors to tell apart, NaN scores, a name instead of a list."""
    right = Outputs(labels=[0, 1], logits=[[1.0, 0], [0, 1]])
    with pytest.raises(ValueError, match="every fit sample is right: nothing to distinguish"):
        scores.get("combine_logistic").fit(right)
    nan = Outputs(labels=[0, 1], predictions=[0, 0], scores={"a": [1.0, np.nan]})
    refused(ValueError, "NaN for 1 fit samples", lambda: scores.get("combine_logistic", scores=("a",)).fit(nan))
    refused(TypeError, r"write \['msp'\]", lambda: scores.get("combine_logistic", scores="msp").fit(VALIDATION))
    with pytest.raises(ValueError, match=r"ridge must be a finite number >= 0, got -1.0"):
        scores.get("combine_logistic", ridge=-1.0).fit(VALIDATION)
    with pytest.raises(ValueError, match="names no score; give at least one"):
        scores.get("combine_ranks", scores=()).fit(VALIDATION)
    refused(TypeError, "made of names and fitted scores, got 3", lambda: scores.get("platt", score=3).fit(VALIDATION))
    with pytest.raises(UnmetNeed, match="column='x', which is no external score of these outputs"):
        scores.get("column", column="x").fit().score(TEST)


def test_platt_keeps_the_order_where_nothing_saturates():
    """sigmoid(a s + b) with a > 0 is monotone, and a probability."""
    noisy = split(500, 9, 3.0)
    platt = scores.get("platt", score="logit_margin").fit(noisy)
    score, raw = platt.score(TEST), scores.compute("logit_margin", TEST)
    np.testing.assert_array_equal(np.argsort(score, kind="stable"), np.argsort(raw, kind="stable"))
    assert ((score > 0) & (score < 1)).all()
    assert abs(platt.score(noisy).mean() - (noisy.error == 0).mean()) < 0.02


def test_platt_warns_when_it_changes_the_order():
    """Turned around, without errors, tied by saturation: a warning each."""
    with pytest.warns(UserWarning, match="is higher where the prediction is wrong"):
        flipped = Outputs(
            labels=VALIDATION.labels, logits=VALIDATION.logits, scores={"bad": -VALIDATION.logits.max(axis=1)}
        )
    with pytest.warns(UserWarning, match=r"platt: column\(column=bad\) turns around"):
        scores.get("platt", score="bad").fit(flipped)
    right = Outputs(labels=[0, 1, 0], logits=[[3.0, 0], [0, 1], [2, 0]])
    with pytest.warns(UserWarning, match="becomes constant: the fit data have no errors"):
        assert len(np.unique(scores.get("platt").fit(right).score(right))) == 1
    n = 4000
    s = np.concatenate([np.linspace(0, 1, n), [1000.0, 1001.0, 1002.0, 1003.0, 1004.0]])
    labels = np.concatenate([(np.arange(n) * 7919 % n > np.arange(n)).astype(int), np.zeros(5, int)])
    saturated = Outputs(labels=labels, predictions=np.zeros(n + 5, int), scores={"s": s})
    with pytest.warns(UserWarning, match=r"ties 4 distinct values: their"):
        scores.get("platt", score="s").fit(saturated)
