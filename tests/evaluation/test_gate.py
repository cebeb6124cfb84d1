"""Gates by hand: each verdict from where the ends of an interval lie, on either side, and of differences."""

from itertools import product

import numpy as np
import pytest

import abstain
from abstain.inference import non_inferiority

RNG = np.random.default_rng(2)
Z = RNG.normal(size=600)
WRONG = (RNG.random(600) < 1.0 / (1.0 + np.exp(1.5 + 2.0 * Z))) * 1.0
NEW, MAIN = Z + 0.5 * RNG.normal(size=600), Z + 0.4 * RNG.normal(size=600)
METRICS = ["augrc", "auroc_f"]


def evaluated(score, level=0.9):
    """Return the evaluation of a score."""
    return abstain.evaluate(loss=WRONG, confidence=score, metrics=METRICS, level=level)


def ends(evaluation, metric):
    """Return a value with its ends, from the rows of the evaluation."""
    (found,) = (each for each in evaluation.measurements if each.metric == metric)
    return found.value, found.low, found.high


@pytest.mark.parametrize("unclear", ["fail", "pass"])
@pytest.mark.parametrize("metric", METRICS)
def test_a_limit_is_met_where_the_whole_interval_meets_it(metric, unclear):
    """Pass at the far end and beyond, fail where not even the near end reaches; the words say where it lies."""
    found, lower = evaluated(NEW), metric == "augrc"
    value, low, high = ends(found, metric)
    sign, step, near, far = ("<", 1e-6, low, high) if lower else (">", -1e-6, high, low)
    missed, met = ("above", "below") if lower else ("below", "above")
    table = [
        (near - step, "fail", missed), (near, "unclear", "holds"), (value, "unclear", "holds"),
        (far - step, "unclear", "holds"), (far, "pass", met), (far + step, "pass", met),
    ]  # fmt: skip
    for (limit, verdict, word), equals in product(table, ("", "=", "= ")):
        gate = abstain.gate(found, f"{metric} {sign}{equals}{float(limit)!r}", unclear=unclear)
        (check,) = gate.checks
        assert (check.verdict, check.value, check.low, check.high, check.limit) == (verdict, value, low, high, limit)
        assert word in check.why
        assert gate.passed == (verdict == "pass" or (verdict, unclear) == ("unclear", "pass"))
    alone = evaluated(NEW, None)
    for limit, verdict in ((value, "pass"), (value - 1e-6, "fail" if lower else "pass")):
        assert abstain.gate(alone, f"{metric}{sign}={float(limit)!r}").checks[0].verdict == verdict
    share = abstain.evaluate(loss=WRONG, confidence=1.0 / (1.0 + np.exp(-NEW)), metrics=["ece"], level=0.9)
    assert abstain.gate(share, "ece<=0.5").checks[0].verdict == "unclear"  # it has no interval


@pytest.mark.parametrize("how", ["evaluation", "file", "non-inferiority", "comparison"])
def test_no_worse_than_another_model_is_decided_by_its_difference(how):
    """Of two evaluations distances of the ends add up as roots of squares; of paired tests it is theirs."""
    new, main = evaluated(NEW), evaluated(MAIN)
    scores, tests = {"new": NEW, "main": MAIN}, {}
    for metric in METRICS:
        a, b = (ends(each, metric) for each in ((new, main) if metric == "augrc" else (main, new)))
        apart = a[0] - b[0]
        tests[metric] = apart, apart - np.hypot(a[0] - a[1], b[2] - b[0]), apart + np.hypot(a[2] - a[0], b[0] - b[1])
    against = main if how == "evaluation" else main.to_dict()
    if how == "non-inferiority":
        against = [non_inferiority(WRONG, scores, metric, margin=0.1, level=0.95) for metric in METRICS]
        tests = {each.metric: (each.difference, each.low, each.high) for each in against}
    elif how == "comparison":
        against = [abstain.compare(WRONG, scores, metric, level=0.9) for metric in METRICS]
        found = {each.metric: each.difference("new", "main") for each in against}
        tests = {name: (each.difference, each.low, each.high) for name, each in found.items()}
        named = abstain.compare(WRONG, {"a": NEW, "main": MAIN}, "augrc", level=0.9)
        with pytest.raises(ValueError, match="names its models 'new' and 'main', got main, a"):
            abstain.gate(new, "augrc", against=[named], margin=0.1)
        tests["auroc_f"] = -tests["auroc_f"][0], -tests["auroc_f"][2], -tests["auroc_f"][1]
    least, most = min(low for _, low, _ in tests.values()), max(high for *_, high in tests.values())
    for margin in (0.0, *(float(end) for _, *both in tests.values() for end in both if end > 0.0), most + 1e-6):
        gate = abstain.gate(new, METRICS, against=against, margin=margin)
        for check, (worse, low, high) in zip(gate.checks, tests.values(), strict=True):
            assert (check.value, check.low, check.high) == pytest.approx((worse, low, high), rel=1e-12)
            verdict = "pass" if high <= margin else "fail" if low > margin else "unclear"
            assert (check.verdict, check.limit) == (verdict, margin)
        assert gate.passed == all(high <= margin for *_, high in tests.values())
    assert least < most
