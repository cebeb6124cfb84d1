"""A result of every kind of page, with what its page is given."""

from functools import cache
from typing import Any

import numpy as np

import abstain
from tests.report import hostile

Made = tuple[abstain.Result, dict[str, Any]]
N = 3000


@cache
def columns():
    """Return a score, the losses of a good and of a bad model, and the site of each row."""
    rng = np.random.default_rng(0)
    score = rng.random(N)
    return {
        "score": score,
        "noise": rng.random(N),
        "wrong": (rng.random(N) > 0.7 + 0.3 * score).astype(float),
        "good": (rng.random(N) < 0.25 * (1.0 - score) ** 1.5).astype(float),
        "site": rng.choice(["north", "south", "west"], N),
    }


def evaluate():
    """Return the evaluation of the demo."""
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    source = {"outputs": outputs, "cost": (10, 1), "title": "Llama 3 70B on MMLU"}
    return abstain.evaluate(outputs, ["msp", "max_logit"]), source


def groups():
    """Return an evaluation with a site that is worse than the certified limit."""
    each = columns()
    loss = np.where(each["site"] == "west", each["noise"] < 0.3, each["good"]).astype(float)
    outputs = abstain.Outputs(loss=loss, confidence=each["score"], groups={"site": each["site"]})
    return abstain.evaluate(outputs, groups="site"), {"outputs": outputs}


def useless():
    """Return the evaluation of a score that says nothing of errors."""
    each = columns()
    return abstain.evaluate(loss=(each["noise"] < 0.14).astype(float), confidence=each["score"]), {}


def graded():
    """Return the evaluation of a loss that is not 0/1."""
    each = columns()
    return abstain.evaluate(loss=each["noise"] * (1.2 - each["score"]), confidence=each["score"], metrics="augrc"), {}


def few_labels():
    """Return an evaluation from few labels."""
    each = columns()
    plan = abstain.plan_labels(each["score"], 300, seed=1)
    loss = np.full(N, np.nan)
    loss[plan.rows_to_label] = each["wrong"][plan.rows_to_label]
    return abstain.evaluate(loss=loss, confidence=each["score"], plan=plan), {}


def compare():
    """Return the comparison of two scores."""
    each = columns()
    return abstain.compare(each["wrong"], {"good": each["score"], "noise": each["noise"]}), {}


def compare_groups():
    """Return the comparison of three sites."""
    each = columns()
    return abstain.inference.compare_groups(each["wrong"], each["score"], each["site"]), {}


def margin():
    """Return a test with a margin."""
    each = columns()
    scores = {"new": each["score"] + 0.05 * each["noise"], "old": each["score"]}
    return abstain.inference.non_inferiority(each["good"], scores, margin=0.002), {}


def threshold():
    """Return a certified threshold."""
    each = columns()
    found = abstain.choose_threshold(each["good"], each["score"], risk=0.05, delta=0.05)
    return found, {"loss": each["good"], "confidence": each["score"], "policies": {"msp": {}}}


def threshold_groups():
    """Return thresholds of groups, of which one has none."""
    each = columns()
    loss = np.where(each["site"] == "west", each["noise"] < 0.4, each["good"]).astype(float)
    found = abstain.choose_threshold(loss, each["score"], risk=0.05, delta=0.05, groups=each["site"])
    return found, {"loss": loss, "confidence": each["score"], "groups": each["site"]}


def monitor():
    """Return a stream in which the error rate rises."""
    each, rng = columns(), np.random.default_rng(3)
    policy = abstain.choose_threshold(each["good"], each["score"], risk=0.1, delta=0.05).policy(score="s")
    score, day = rng.random(2 * N), np.sort(rng.integers(0, 84, 2 * N))
    wrong = rng.random(2 * N) < np.where(day > 50, 0.3, 0.2 * (1.0 - score))
    when = np.array("2026-01-05", dtype="datetime64[D]") + day
    return abstain.monitor(policy, wrong.astype(float), score, time=when), {}


def joint():
    """Return a joint evaluation of in-distribution and OOD rows."""
    each, rng = columns(), np.random.default_rng(4)
    run = abstain.joint.ScoredRun(
        each["wrong"],
        {"s": each["score"], "d": 0.3 * each["score"] + each["noise"]},
        {"far": {"s": 0.7 * rng.random(500), "d": 0.6 * rng.random(500)}},
    )
    return abstain.joint.protocol(run, {"far": ["far"]}, confidence="s"), {}


def study(folder):
    """Return a study of two models."""
    for model in ("a", "b"):
        made = abstain.datasets.synthetic("calibrated", 300, len(model))
        abstain.study.add_outputs(folder / "study", made, model=model, run="seed0", set="test")
    return abstain.study.evaluate(folder / "study", workers=1), {}


def plan():
    """Return a plan of labels."""
    return abstain.plan_labels(columns()["score"], 300, seed=1), {}


def odd_names():
    """Return an evaluation whose names are hostile."""
    return hostile.evaluation(*list(hostile.NAMES.values())[:20]), {"title": hostile.NAMES["script"]}


#: Kinds whose result needs no folder.
KINDS = {
    each.__name__: each
    for each in (evaluate, groups, useless, graded, few_labels, compare, compare_groups, margin, threshold,
                 threshold_groups, monitor, joint, plan, odd_names)
}  # fmt: skip
