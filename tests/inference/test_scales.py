"""Both ends of an interval, on every scale, by a direct formula of SciPy's distributions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

import abstain

#: Metric: its scale, the range of what is on that scale, and what it is of that: a + b x.
SCALES = {
    "cwsa": ("linear", (-1.0, 1.0), (0.0, 1.0)),
    "cwsa_plus": ("linear", (0.0, 1.0), (0.0, 1.0)),
    "f1_auc": ("linear", (0.0, 1.0), (0.0, 1.0)),
    "augrc": ("log", (0.0, 0.5), (0.0, 1.0)),
    "aurc": ("log", (0.0, 1.0), (0.0, 1.0)),
    "brier_confidence": ("log", (0.0, 1.0), (0.0, 1.0)),
    "selective_risk(coverage=0.6)": ("log", (0.0, 1.0), (0.0, 1.0)),
    "accuracy_rejection_area": ("log", (0.0, 1.0), (1.0, -1.0)),
    "naugrc": ("logit", (0.0, 2.0), (0.0, 1.0)),
    "average_precision_error": ("logit", (0.0, 1.0), (0.0, 1.0)),
    "prediction_rejection_ratio": ("logit", (0.0, 2.0), (1.0, -1.0)),
    "auroc_f": ("logit", (0.0, 2.0), (1.0, -0.5)),
}


def end(scale, value, reach, least, most):
    """Return what lies ``reach`` above a value (below: negative), moved on its scale."""
    if scale == "linear":
        return min(max(value + reach, least), most)
    if scale == "log":
        return float(np.exp(np.log(value) + reach / value))
    share = (value - least) / (most - least)
    moved = logit(share) + reach / (most - least) / (share * (1.0 - share))
    return float(least + (most - least) * expit(moved))


def many_errors(n=3000):
    """So many errors that one which was not seen moves an end by little, and fewer than half."""
    rng = np.random.default_rng(1)
    score = rng.beta(2, 2, n)
    return (rng.random(n) < 0.3 - 0.3 * (score - 0.5)).astype(float), score


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("metric", SCALES)
def test_each_end_is_its_own_formula(metric, level):
    """Student's t times the standard error, added on the scale of the metric, of what it is an image of.

    Linear: both ends, and on the log scale the better one. The others leave room for one error that was not seen.
    """
    scale, ends, (shift, factor) = SCALES[metric]
    found = abstain.confidence_interval(metric, *many_errors(), level=level)
    value, error = (found.estimate - shift) / factor, found.standard_error / abs(factor)
    reach = stats.t.ppf(0.5 + 0.5 * level, found.df) * error
    expected = sorted(shift + factor * end(scale, value, way * reach, *ends) for way in (-1.0, 1.0))
    assert expected[0] < found.estimate < expected[1]
    width = expected[1] - expected[0]
    assert expected[0] - 0.03 * width < found.low < expected[0] + 1e-9
    assert expected[1] - 1e-9 < found.high < expected[1] + 0.03 * width
    exact = {"linear": (0, 1), "log": (0,) if factor > 0.0 else (1,), "logit": ()}[scale]
    assert [(found.low, found.high)[k] for k in exact] == pytest.approx([expected[k] for k in exact], rel=1e-9)


@pytest.mark.parametrize("range", [(0.0, 1.0), (-1.0, 3.0)])
def test_both_ends_on_the_logit_scale_far_from_the_estimate(range):
    """At 99.9 % in 300 rows Student's t reaches further than the room for an unseen error; ranges may start below 0."""
    metric = replace(abstain.metrics.get("average_precision_error"), range=range)
    found = abstain.confidence_interval(metric, *many_errors(300), level=0.999)
    reach = stats.t.ppf(0.9995, found.df) * found.standard_error
    expected = [end("logit", found.estimate, way * reach, *range) for way in (-1.0, 1.0)]
    assert [found.low, found.high] == pytest.approx(expected, rel=1e-9)


def test_a_linear_interval_ends_with_the_range():
    """Where Student's t reaches beyond the largest value, the interval ends there, and only there."""
    found = abstain.confidence_interval("cwsa_plus", [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.99, 0.9, 0.1, 1.0, 0.98, 0.95])
    reach = stats.t.ppf(0.975, found.df) * found.standard_error
    assert found.estimate + reach > 1.0
    assert (found.low, found.high) == pytest.approx((max(found.estimate - reach, 0.0), 1.0), rel=1e-9)


@pytest.mark.parametrize("metric", ["risk(threshold=0.5)", "accuracy"])
def test_each_binomial_end_is_its_own_tail(metric):
    """Of a risk at a threshold fixed in advance, and of an accuracy, whose ends are the other way round."""
    loss, score = many_errors(500)
    accepted = score >= 0.5 if "threshold" in metric else np.ones(500, dtype=bool)
    k, n = int(loss[accepted].sum()), int(accepted.sum())
    low, high = stats.beta.ppf(0.025, k, n - k + 1), stats.beta.ppf(0.975, k + 1, n - k)
    found = abstain.confidence_interval(metric.replace("risk(", "selective_risk("), loss, score)
    expected = (low, high) if "risk" in metric else (1.0 - high, 1.0 - low)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)
