"""Plans of labels by design, and what few labels say of metrics."""

from itertools import product

import numpy as np

import abstain
from tests.recorded import shown, tried
from tests.recorded.contents import said, whole
from tests.recorded.pools import DESIGNS, METRICS, a_pool, drawn, estimated, labelled, made

#: A plan follows a fit by steps, which ends where the last digits of the processor do.
TOLERANCE = 1e-7


def plans_by_design():
    """Return plans over designs, metrics, ties and levels, each extended twice."""
    cases = [*product((0,), DESIGNS, METRICS[:7]), *product((6,), DESIGNS, METRICS[:2])]
    for steps, design, metric in cases:
        p = a_pool(steps=steps)
        plan = tried(made, p, design, 60, metric=metric, level=0.9 if steps else 0.95)
        name = f"{steps} {design} {metric}"
        if isinstance(plan, str) or metric not in ("augrc", "aurc"):
            yield name, plan if isinstance(plan, str) else [whole(plan.facts.expected), int(plan.planned.sum())]
            continue
        more = tried(plan.extend, labelled(plan, p["loss"]), 25, seed=6)
        last = more if isinstance(more, str) else tried(more.extend, labelled(more, p["loss"]), 10, seed=7)
        yield name, [*(drawn(one) for one in (plan, more, last)), whole(shown(last), "result")]
    for width, metric in product((0.2, 0.05, 0.02, 1e-6), ("augrc", "aurc", "risk", "auroc_f")):
        found = int(made(a_pool(900), "usual", None, halfwidth=width, metric=metric).planned.size)
        yield f"width {width} {metric}", found


def estimates_of_metrics():
    """Return what few labels say of each metric, by design, ties, share of errors, target and level."""
    cases = [(design, metric) for design in ("adaptive", "planned", "levelled") for metric in METRICS[:3]]
    cases += [("usual", metric) for metric in METRICS] + [("region", "selective_risk(coverage=0.3)")]
    for (steps, share), (design, metric) in product(((6, 1.0), (0, 0.12), (6, 0.0)), cases):
        p = a_pool(steps=steps, share=share)
        plan = tried(made, p, design, 70, metric=metric if design != "usual" else "augrc")
        for target in ("pool", "population")[: 0 if isinstance(plan, str) else 1 + (design == "usual")]:
            about = {"unseen": "top", "level": 0.95} if target == "pool" else {"unseen": "random", "level": 0.8}
            options = {"metrics": metric, "target": target, **about}
            yield tried(estimated, labelled(plan, p["loss"]), p["confidence"], plan, **options)


def estimates_of_more_rows():
    """Return what is said where nearly all are labelled, most are wrong, the judge is right, or labels are random."""
    p, n = a_pool(120), np.arange(120)
    score, top = p["confidence"], p["confidence"] > np.quantile(p["confidence"], 0.9)

    def seen(plan, loss, score, metric, **more):
        return tried(estimated, labelled(plan, loss), score, plan, metrics=metric, **more)

    for loss in (p["loss"], np.where(n % 13 == 0, 0.0, 1.0), (~top).astype(float), top.astype(float)):
        for number, metric in product((20, 117, 120), ("augrc", "risk", "auroc_f", "e_aurc")):
            yield seen(abstain.plan_labels(score, number, seed=3), loss, score, metric)
        judged = abstain.plan_labels(score, 50, judge=np.clip(loss, 0.02, 0.98), design="planned", seed=3)
        yield seen(judged, loss, score, "augrc")
        given = {"loss": np.where(n % 3 == 0, loss, np.nan), "labelled": "at random", "metrics": ["augrc", "auroc_f"]}
        result = tried(abstain.evaluate, confidence=score, **given)
        yield result if isinstance(result, str) else [whole(result.rows()), said(result)]
    tied, n = a_pool(300, 1), np.arange(300)
    mostly = np.where(n < 200, 0.5, tied["other"])  # most scores are one
    for number, metric, share in product((14, 60), ("auroc_f", "augrc", "e_augrc"), (0.0, 0.5, 1.0)):
        plan = abstain.plan_labels(mostly, number, seed=3)
        yield seen(plan, np.where(n < 200, tied["loss"], tied["loss"] * share), mostly, metric)
    yield seen(plan, tied["loss"], mostly, "augrc", level=None)
    one = abstain.plan_labels(np.zeros(300), 60, seed=3)
    yield [drawn(one), seen(one, tied["loss"], np.zeros(300), "augrc")]
    plan = abstain.plan_labels(tied["confidence"], 80, seed=3)
    yield [seen(plan, tied["loss"], tied["confidence"], metric) for metric in METRICS]
