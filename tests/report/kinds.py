"""A result of every kind of page, with what its page is given."""

from functools import cache
from typing import Any

import numpy as np

import abstain
from abstain.report import Source, as_html, build
from tests.report import hostile

Made = tuple[abstain.Result, dict[str, Any]]
N = 3000


RNG = np.random.default_rng(0)
SCORE = RNG.random(N)
NOISE = RNG.random(N)
#: The losses of a bad and of a good model, and the site of each row.
WRONG = (RNG.random(N) > 0.7 + 0.3 * SCORE).astype(float)
GOOD = (RNG.random(N) < 0.25 * (1.0 - SCORE) ** 1.5).astype(float)
SITE = RNG.choice(["north", "south", "west"], N)


def evaluate():
    """Return the evaluation of the demo."""
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    source = {"outputs": outputs, "cost": (10, 1), "title": "Llama 3 70B on MMLU"}
    return abstain.evaluate(outputs, ["msp", "max_logit"]), source


def groups():
    """Return an evaluation with a site that is worse than the certified limit."""
    loss = np.where(SITE == "west", NOISE < 0.3, GOOD).astype(float)
    outputs = abstain.Outputs(loss=loss, confidence=SCORE, groups={"site": SITE})
    return abstain.evaluate(outputs, groups="site"), {"outputs": outputs}


def few_labels():
    """Return an evaluation from few labels."""
    plan = abstain.plan_labels(SCORE, 300, seed=1)
    loss = np.full(N, np.nan)
    loss[plan.rows_to_label] = WRONG[plan.rows_to_label]
    return abstain.evaluate(loss=loss, confidence=SCORE, plan=plan), {}


def threshold():
    """Return a certified threshold."""
    found = abstain.choose_threshold(GOOD, SCORE, risk=0.05, delta=0.05)
    return found, {"loss": GOOD, "confidence": SCORE, "policies": {"msp": {}}}


def threshold_groups():
    """Return thresholds of groups, of which one has none."""
    loss = np.where(SITE == "west", NOISE < 0.4, GOOD).astype(float)
    found = abstain.choose_threshold(loss, SCORE, risk=0.05, delta=0.05, groups=SITE)
    return found, {"loss": loss, "confidence": SCORE, "groups": SITE}


def monitor():
    """Return a stream in which the error rate rises."""
    rng = np.random.default_rng(3)
    policy = abstain.choose_threshold(GOOD, SCORE, risk=0.1, delta=0.05).policy(score="s")
    score, day = rng.random(2 * N), np.sort(rng.integers(0, 84, 2 * N))
    wrong = rng.random(2 * N) < np.where(day > 50, 0.3, 0.2 * (1.0 - score))
    when = np.array("2026-01-05", dtype="datetime64[D]") + day
    return abstain.monitor(policy, wrong.astype(float), score, time=when), {}


def joint():
    """Return a joint evaluation of in-distribution and OOD rows."""
    rng = np.random.default_rng(4)
    far = {"s": 0.7 * rng.random(500), "d": 0.6 * rng.random(500)}
    run = abstain.joint.ScoredRun(WRONG, {"s": SCORE, "d": 0.3 * SCORE + NOISE}, {"far": far})
    return abstain.joint.protocol(run, {"far": ["far"]}, confidence="s"), {}


def study(folder):
    """Return a study of two models."""
    made = abstain.datasets.synthetic("calibrated", 300, 1)
    for model in ("a", "b"):
        abstain.study.add_outputs(folder / "study", made, model=model, run="seed0", set="test")
    return abstain.study.evaluate(folder / "study", workers=1), {}


#: Kinds whose result needs no folder.
PAIR = {"new": SCORE + 0.05 * NOISE, "old": SCORE}
KINDS = {
    name: cache(kind)
    for name, kind in {
        **{each.__name__: each for each in (evaluate, groups, few_labels, threshold, threshold_groups, monitor, joint)},
        "useless": lambda: (abstain.evaluate(loss=(NOISE < 0.14).astype(float), confidence=SCORE), {}),
        "graded": lambda: (abstain.evaluate(loss=NOISE * (1.2 - SCORE), confidence=SCORE, metrics="augrc"), {}),
        "compare": lambda: (abstain.compare(WRONG, {"good": SCORE, "noise": NOISE}), {}),
        "compare_groups": lambda: (abstain.inference.compare_groups(WRONG, SCORE, SITE), {}),
        "margin": lambda: (abstain.inference.non_inferiority(GOOD, PAIR, margin=0.002), {}),
        "plan": lambda: (abstain.plan_labels(SCORE, 300, seed=1), {}),
        "odd_names": lambda: (hostile.evaluation(*[*hostile.NAMES.values()][:20]), {"title": hostile.NAMES["script"]}),
    }.items()
}


@cache
def page(name):
    """Return the page of a kind, and as HTML."""
    result, source = KINDS[name]()
    found = build(result, Source(**{key: each for key, each in source.items() if key != "title"}), source.get("title"))
    return found, as_html(found)
