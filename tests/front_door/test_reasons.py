"""What cannot be told or is missing says why: an interval that is not enough, one that is not there, words."""

import numpy as np
import pytest

import abstain


def test_decide_names_a_column_that_could_be_meant() -> None:
    """A missing class column is no other class column of the policy; text among numbers is named by its column."""
    pd = pytest.importorskip("pandas")
    p = np.random.default_rng(0).dirichlet(np.ones(2), 200)
    found = abstain.choose_threshold(np.zeros(200), p.max(axis=1), coverage=0.5)
    policy = found.policy(score="msp", probabilities=["proba_normal", "proba_malignant"])
    with pytest.raises(ValueError, match="column 'proba_normal' of the policy is missing; did you mean 'proba_norml'"):
        policy.decide(pd.DataFrame({"proba_malignant": [0.5], "proba_norml": [0.5]}))
    with pytest.raises(ValueError, match="column 'proba_normal' of the policy is missing; add it"):
        policy.decide(pd.DataFrame({"proba_malignant": [0.5]}))
    with pytest.raises(ValueError, match="column 'proba_normal' of the policy holds 'Basel', which is no number"):
        policy.decide(pd.DataFrame({"proba_malignant": [0.5], "proba_normal": ["Basel"]}))
