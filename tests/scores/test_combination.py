"""Platt scaling and combinations: what they fit, what they warn of, what they keep."""

import numpy as np
import pytest

from abstain import Outputs, UnmetNeed, scores
from tests.refusal import refused
from tests.scores.toy import TEST, TRAIN, VALIDATION


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


RIGHT = Outputs(labels=[0, 1], logits=[[1.0, 0], [0, 1]])
NONE = Outputs(labels=[0, 1], predictions=[0, 0], scores={"a": [1.0, np.nan]})


@pytest.mark.parametrize(
    ("name", "options", "outputs", "message"),
    [
        ("combine_logistic", {}, RIGHT, "every fit sample is right: nothing to distinguish"),
        ("combine_logistic", {"scores": ("a",)}, NONE, "NaN for 1 fit samples"),
        ("combine_logistic", {"scores": "msp"}, VALIDATION, r"write \['msp'\]"),
        ("combine_logistic", {"ridge": -1.0}, VALIDATION, "ridge must be a finite number >= 0, got -1.0"),
        ("combine_ranks", {"scores": ()}, VALIDATION, "names no score; give at least one"),
        ("platt", {"score": 3}, VALIDATION, "made of names and fitted scores, got 3"),
    ],
)
def test_what_cannot_be_combined_is_refused(name, options, outputs, message):
    refused((ValueError, TypeError), message, lambda: scores.get(name, **options).fit(outputs))


def test_classes_that_a_score_separates_and_scores_without_end():
    """Weights stay finite; a score of infinity is far, not NaN; a constant one says nothing."""
    columns = {"a": [np.inf, 1.0, -np.inf, 2.0], "b": [1.0] * 4, "c": [np.inf] * 4, "d": [1.0, 1.0, -1.0, 1.0]}
    outputs = Outputs(labels=[0, 0, 1, 0], predictions=[0] * 4, scores=columns)
    fitted_ = scores.get("combine_logistic", scores=("d",), ridge=1e-3).fit(outputs)
    assert np.isfinite(fitted_.arrays["weights"]).all()
    for name in ("combine_logistic", "combine_ranks"):
        score = scores.get(name, scores=("a", "b", "c")).fit(outputs).score(outputs)
        assert np.isfinite(score).all()
        assert score[2] == score.min() < score.max() == score[0]
