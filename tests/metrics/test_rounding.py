"""What rounding does to confidences, bins, weights and rows that weigh nothing."""

import numpy as np
import pytest

import abstain
from tests.refusal import refused

UNIT = [
    *(getattr(abstain, name) for name in ("ece", "mce", "cwsa", "cwsa_plus", "brier_confidence", "nll_confidence")),
    abstain.aumcc,
    lambda loss, score: abstain.ece(loss, score, bins=2, binning="equal_mass"),
    lambda loss, score: abstain.contributions("cwsa", loss, score).tolist(),
    lambda loss, score: abstain.standard_error("brier_confidence", loss, score),
    lambda loss, score: abstain.inference.bootstrap("cwsa", loss, score, n_resamples=20, rng=0).replicates.tolist(),
    lambda loss, score: {name: list(column) for name, column in abstain.cwsa_sweep(loss, score).items()},
]


@pytest.mark.parametrize("metric", UNIT)
@pytest.mark.parametrize("beyond", [1e-7, 1e-3])
def test_a_confidence_a_hair_above_one_is_one(metric, beyond):
    """Means of float32 members are 1.0000001: clipped, also beside a true 1, with which it is one tie."""
    loss = [0, 1, 0, 1, 0, 0]
    assert metric(loss, [1.0 + beyond, 1.0, 0.7, 0.6, 0.0, -beyond]) == metric(loss, [1.0, 1.0, 0.7, 0.6, 0.0, 0.0])


@pytest.mark.parametrize("score", [1.002, -0.002])
def test_more_than_rounding_is_refused(score):
    """In a vector, and as an entry of a row."""
    refused(abstain.UnmetNeed, r"probabilities in \[0, 1\], but they span", abstain.ece, [0, 1], [score, 0.5])
    refused(abstain.UnmetNeed, r"confidences in \[0, 1\], but they span", abstain.cwsa_sweep, [0, 1], [score, 0.5])
    refused(ValueError, r"probabilities is outside \[0, 1\]", abstain.nll, [0], [[score, 1.0 - score]])


def test_what_was_clipped_is_said():
    """By ``evaluate``, where a metric reads the values and not only their order."""
    columns = {"loss": [0, 1, 0, 1], "confidence": [1.0000001, 0.5, 0.7, 0.8]}
    assert "leaves [0, 1] by 1e-07 at most" in " ".join(str(abstain.evaluate(**columns, metrics="ece")).split())
    assert "leaves [0, 1]" not in str(abstain.evaluate(**columns, metrics="augrc"))
    rows = np.array([[1.000002, -0.000002], [0.3, 0.7]])
    assert abstain.brier_score([0, 1], rows) == pytest.approx(0.09)


@pytest.mark.parametrize("bins", [5, 10, 15])
def test_float32_and_float64_of_the_same_decimals_have_one_ece(bins):
    """Decimals on the edges of the bins, which float32 rounds upwards."""
    rng = np.random.default_rng(0)
    score = rng.integers(0, 101, 2000) / 100
    loss = (rng.random(2000) > score) * 1.0
    for metric in (abstain.ece, abstain.mce):
        assert metric(loss, np.float32(score), bins=bins) == pytest.approx(metric(loss, score, bins=bins), abs=1e-6)


def test_rows_of_weight_zero_need_nothing():
    """No score and no 0/1 loss, from arrays and from frames, and whatever the policy for missing scores."""
    loss, score, weight = [0.0, 1.0, 0.0, 0.5], [0.9, 0.8, 0.7, np.nan], [1, 1, 2, 0]
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"loss": loss, "score": score, "weight": [float(w) for w in weight]})
    wanted = abstain.TieBlocks.from_samples(loss[:3], score[:3], weight[:3])
    for policy in ("raise", "reject", "drop"):
        names = {"loss": "loss", "confidence": "score", "sample_weight": "weight"}
        for table in (
            abstain.TieBlocks.from_samples(loss, score, weight, nan_policy=policy),
            abstain.TieBlocks.from_samples(loss, score, weight, nan_policy=policy, keep_samples=True),
            abstain.TieBlocks.from_frame(frame, **names, nan_policy=policy),
        ):
            assert table.binary
            assert (table.n, table.n_rejected, table.n_dropped) == (3, 0, 0)
            for column in ("score", "weight", "loss", "count"):
                assert getattr(table, column).tolist() == getattr(wanted, column).tolist()
    for name in ("auroc_f", "e_aurc", "naurc", "fpr95_error", "average_precision_error", "f1_auc"):
        metric = getattr(abstain, name)
        assert metric(loss, score, sample_weight=weight) == metric(loss[:3], score[:3], sample_weight=weight[:3])
