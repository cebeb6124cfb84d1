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
