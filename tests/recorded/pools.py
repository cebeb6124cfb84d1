"""Pools of rows, plans of labels for them, and what these labels say."""

import numpy as np

import abstain
from tests.recorded.contents import whole
from tests.recorded.populations import rows

METRICS = ("augrc", "aurc", "risk", "sele", "auroc_f", "accuracy", "selective_risk(coverage=0.5)", "e_augrc",
           "naurc", "generalized_risk(coverage=0.3)")  # fmt: skip
#: Designs, with what they need to know.
DESIGNS = {
    "usual": {}, "uniform": {"design": "uniform"}, "levelled": {"design": "levelled"},
    "adaptive": {"design": "adaptive"},
    "early": {"design": "adaptive", "error_rate": 0.3}, "rate": {"error_rate": 0.07}, "judge": {}, "planned": {},
    "region": {"region": 0.5}, "region rate": {"region": 0.4, "error_rate": 0.2, "design": "uniform"},
}  # fmt: skip


def a_pool(n=300, steps=0, share=1.0):
    p, rng = rows(n + steps, n, steps=steps), np.random.default_rng(n)
    word, kept = np.clip(0.7 * p["loss"] + 0.3 * rng.random(n), 0.0, 1.0), rng.random(n) < share
    return p | {"judge": word, "loss": p["loss"] * kept, "differs": (rng.random(n) < 0.2).astype(int)}


def made(p, design, n, **options):
    judge = {"judge": p["judge"]} if design in ("judge", "planned") else {}
    more = {"design": "planned"} if design == "planned" else {}
    return abstain.plan_labels(p["confidence"], n, seed=5, **DESIGNS[design], **judge, **more, **options)


def labelled(plan, loss):
    known = np.full(len(loss), np.nan)
    known[plan.planned] = loss[plan.planned]
    return known


def drawn(plan):
    chances = [plan.probability.sum(axis=1), (plan.probability**2).sum(axis=1), plan.probability[:, ::71]]
    return [whole(plan.facts), plan.digest[:9], whole(plan.planned), whole(chances), plan.leaning]


def estimated(known, score, plan, **options):
    (one,) = abstain.evaluate(loss=known, confidence=score, plan=plan, **options).measurements
    kept = ("estimate", "low", "high", "error", "standard_error", "value", "reason", "warning", "n", "method")
    return whole({name: getattr(one, name) for name in kept if hasattr(one, name)})
