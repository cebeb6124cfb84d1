"""Certificates for another mix of classes, and with a share of unseen rows."""

import numpy as np
import pytest

import abstain
from abstain.thresholds import prior_threshold
from tests.refusal import refused

GRID = np.linspace(1, 0, 21)


def rows(n, rng):
    """Return losses, scores and classes: the ill are wrong four times as often, whatever the score."""
    ill = rng.random(n) < 0.5
    return (rng.random(n) < np.where(ill, 0.08, 0.02)).astype(float), rng.random(n), ill


def test_violations_where_the_target_is_at_the_limit():
    """With the risk of the target exactly at the limit at most delta of the samples certify anything."""
    found = 0
    for k in range(400):
        loss, score, ill = rows(600, np.random.default_rng(k))
        # a third ill: (.08 + 2 * .02) / 3 = .04
        prior = {True: 1 / 3, False: 2 / 3}
        found += np.isfinite(prior_threshold(loss, score, ill, prior=prior, risk=0.04, delta=0.1, thresholds=GRID))
    assert found <= 400 * 0.1


def test_rare_errors_of_a_rare_class_count_by_the_prior():
    """The same rows are certified for a population without the ill, and not for one of them alone."""
    loss, score, ill = rows(20_000, np.random.default_rng(0))
    given = {"risk": 0.04, "delta": 0.05, "thresholds": GRID}
    assert prior_threshold(loss, score, ill, prior={True: 0.0, False: 1.0}, **given) == 0.0
    assert prior_threshold(loss, score, ill, prior={True: 1.0, False: 0.0}, **given) == np.inf


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({True: 0.5, False: 0.4}, "sum to 1"),
        ({True: 0.5, False: 0.4, "well": 0.1}, "hold no row"),
        ({True: 1.0}, "no share for False"),
    ],
)
def test_priors_that_say_nothing(prior, message):
    """Shares that do not sum to 1, and classes without rows or shares, are refused."""
    loss, score, ill = rows(50, np.random.default_rng(2))
    refused(ValueError, message, prior_threshold, loss, score, ill, prior=prior, risk=0.05, delta=0.05, thresholds=GRID)


def test_shares_that_were_estimated_are_refused():
    """An array in place of known shares is refused with the reason."""
    loss, score, ill = rows(50, np.random.default_rng(2))
    with pytest.raises(TypeError, match=r"estimated from rows of the target are refused, because their error is not"):
        prior_threshold(loss, score, ill, prior=ill, risk=0.05, delta=0.05, thresholds=GRID)


def test_a_share_of_unseen_rows_is_a_stricter_limit():
    """The threshold is that of the limit (r - s) / (1 - s), and says that it holds for r with the share."""
    rng = np.random.default_rng(3)
    score = rng.random(5000)
    wrong = rng.random(5000) < 0.3 * (1 - score) ** 1.5
    found = abstain.choose_threshold(wrong, score, risk=0.05, delta=0.05, ood_share=0.02)
    strict = abstain.choose_threshold(wrong, score, risk=0.03 / 0.98, delta=0.05)
    assert found.threshold == strict.threshold
    assert found.risk_limit == 0.05
    assert found.reach.ood_share >= 0.02 * (1 - 1e-9)
    assert "share of 0.02" in found.policy(score="msp").guarantee.statement
    refused(TypeError, "belongs to a certificate", abstain.choose_threshold, wrong, score, risk=0.05, ood_share=0.02)
    said = "ood_share=0.05 must be below the limit 0.05.*by themselves"
    refused(ValueError, said, abstain.choose_threshold, wrong, score, risk=0.05, delta=0.05, ood_share=0.05)


def test_reach_is_what_the_band_leaves():
    """The upper limit of a certificate's reach is that of the certified band at its threshold."""
    rng = np.random.default_rng(4)
    score = rng.random(20_000)
    wrong = (rng.random(20_000) < 0.2) & (score < 0.5)
    found = abstain.choose_threshold(wrong, score, risk=0.05, delta=0.05)
    band = abstain.thresholds.certified_band(wrong, score, delta=0.05)
    assert found.upper == band.upper_at([found.threshold])[0]
    assert found.reach.upper == min(0.05, found.upper)
