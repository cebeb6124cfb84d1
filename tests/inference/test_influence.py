"""Influence functions: derivatives in the weights, zero sums, table = samples, strata, clusters, rank of data."""

import numpy as np
import pytest

import abstain
from abstain import UnmetNeed, inference, metrics
from abstain.inference._unseen import Sizes, augmented
from abstain.metrics import Derived

SMOOTH = [
    "risk", "accuracy", "aurc", "aurc(estimator=interpolated)", "augrc", "sele", "e_aurc", "e_augrc", "naurc", "naugrc",
    "prediction_rejection_ratio", "f1_auc", "auroc_f", "average_precision_success", "average_precision_error",
    "selective_risk(threshold=0.5)", "selective_accuracy(threshold=0.5)", "generalized_risk(threshold=0.5)",
    "cwsa", "cwsa(denominator=all)", "cwsa_plus", "brier_confidence", "nll_confidence", "accuracy_rejection_area",
]  # fmt: skip


def draw(seed: int, n: int = 60, ties: bool = False, real: bool = False, weighted: bool = False):
    """A problem in which confidence informs, with errors of both kinds."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(0.05, 0.95, n)
    score = np.round(score, 1) if ties else score
    loss = rng.exponential(1.0, n) * (1.2 - score) if real else (rng.random(n) > score).astype(float)
    loss[:2] = [0.0, 1.0]
    return loss, score, rng.gamma(2.0, 1.0, n) if weighted else None


@pytest.mark.parametrize("spec", SMOOTH)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_influence_is_the_derivative_in_each_weight(spec, ties, weighted):
    """Raising one sample's weight moves the value by influence / total weight, to 1e-7."""
    loss, score, weight = draw(3, ties=ties, weighted=weighted)
    metric = metrics.parse(spec)
    values = inference.influence(metric, loss, score, sample_weight=weight)
    base = np.ones(loss.size) if weight is None else weight
    step = 1e-5
    for i in range(0, loss.size, 7):
        moved = []
        for sign in (1.0, -1.0):
            shifted = base.copy()
            shifted[i] += sign * step
            moved.append(metric.of(loss, score, shifted))
        numerical = (moved[0] - moved[1]) / (2.0 * step) * base.sum()
        assert values[i] == pytest.approx(numerical, abs=1e-7 * max(1.0, abs(numerical)))
    assert base @ values == pytest.approx(0.0, abs=1e-9 * base.sum())


def test_a_weight_is_no_repetition():
    """Weights of 4 leave the standard error; four real rows halve it."""
    loss, score, _ = draw(2)
    plain = abstain.standard_error("augrc", loss, score)
    heavy = abstain.standard_error("augrc", loss, score, sample_weight=np.full(loss.size, 4.0))
    repeated = abstain.standard_error("augrc", np.tile(loss, 4), np.tile(score, 4))
    assert heavy == pytest.approx(plain, rel=1e-12)
    assert repeated == pytest.approx(plain / 2.0, rel=1e-12)


def test_the_local_term_is_the_mean_loss_of_the_ranks_around_the_coverage():
    """Of 125 rows at 60 %: the ranks from 62.5 to 87.5, of which the first and the last count half."""
    rng = np.random.default_rng(2)
    loss, score = rng.exponential(size=125) + 10.0 * (np.arange(125) > 75), -np.arange(125.0)
    near = (loss[63:87].sum() + 0.5 * (loss[62] + loss[87])) / 25.0
    accepted = np.arange(125) < 75
    expected = (loss * accepted + near * (0.6 - accepted) - loss[:75].sum() / 125.0) / 0.6
    found = inference.influence(metrics.get("selective_risk", coverage=0.6), loss, score)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("spec", ["coverage_at_risk", "fpr95_error", "aurc_achievable", "mce"])
def test_metrics_without_a_gradient_say_what_to_use(spec):
    """Quantile jumps and biased metrics are refused with the remedy or the reason."""
    loss, score, _ = draw(6)
    with pytest.raises(UnmetNeed, match="no standard error from its gradient"):
        abstain.standard_error(spec, loss, score)


@pytest.mark.parametrize("function", [abstain.standard_error, inference.influence])
@pytest.mark.parametrize("metric", ["auroc_f", "selective_risk(threshold=2.0)"])
def test_an_undefined_metric_is_named_with_its_reason(function, metric):
    with pytest.raises(ValueError, match=r"(auroc_f|selective_risk) has no .*: (there is no failure|nothing is acc)"):
        function(metric, [0, 0, 0], [0.1, 0.2, 0.3])


def test_covariance_refuses_what_is_no_influence():
    with pytest.raises(ValueError, match=r"influences\[1\] is not finite: influences\[1\]\[0\] = nan"):
        inference.covariance([0.1, -0.1], [np.nan, 0.0])
    with pytest.raises(ValueError, match="sample_weight sums to 0"):
        inference.covariance([0.1, -0.1], sample_weight=[0.0, 0.0])
    with pytest.raises(ValueError, match="sample_weight"):
        inference.covariance([0.1, -0.1], sample_weight=[2.0, -1.0])


def test_bad_groups():
    """A single cluster, and groups of another length, are refused."""
    loss, score, _ = draw(6)
    with pytest.raises(ValueError, match="single cluster"):
        abstain.standard_error("aurc", loss, score, clusters=np.zeros(loss.size))
    with pytest.raises(ValueError, match="strata"):
        abstain.standard_error("aurc", loss, score, strata=[1, 2])
    with pytest.raises(TypeError, match="at least one"):
        inference.covariance()


@pytest.mark.parametrize("name", ["augrc", "e_augrc", "naugrc", "aurc", "e_aurc", "naurc"])
@pytest.mark.parametrize("digits", [None, 2])
@pytest.mark.parametrize("size", [Sizes(1.0, 1.0, 1.0), Sizes(0.0, 0.0, 1.0), Sizes(0.4, 0.3, 2.0)])
def test_a_gradient_that_follows_from_the_table_before(monkeypatch: pytest.MonkeyPatch, name, digits, size) -> None:
    """It is that of a table with the same columns, and its value is."""
    rng, metric = np.random.default_rng(1), abstain.metrics.get(name)
    score = rng.random(500) if digits is None else np.round(rng.random(500), digits)
    blocks = abstain.TieBlocks.from_samples(rng.random(500) > score, score, keep_samples=True, oracle=True)
    monkeypatch.setattr("abstain.metrics._augrc.KEPT", 0)
    plain = augmented(blocks, size)[0]
    monkeypatch.setattr("abstain.inference._unseen.MOST_KEPT", 0)
    grown = augmented(blocks, size)[0]
    assert type(grown) is not type(plain)
    with metrics.keeping_one(blocks):
        found, expected = metric.gradient_of(grown), metric.gradient_of(plain)
        assert isinstance(found, Derived)
        np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-10, atol=1e-15)
        np.testing.assert_allclose(found.loss, expected.loss, rtol=1e-10, atol=1e-15)
    assert metric(grown) == pytest.approx(metric(plain), rel=1e-12)
    assert not isinstance(metric.gradient_of(grown), Derived)  # nothing is kept from here on
