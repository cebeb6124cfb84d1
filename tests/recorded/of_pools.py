"""Plans of labels by design, and what few labels say of metrics."""

from itertools import product

import numpy as np

import abstain
from tests.recorded import tried
from tests.recorded.contents import said, whole
from tests.recorded.pools import DESIGNS, METRICS, a_pool, drawn, estimated, labelled, made

#: A plan follows a fit by steps, which ends where the last digits of the processor do.
TOLERANCE = 1e-7


def plans_by_design():
    """Return plans over designs, metrics, ties and levels, each extended twice."""
    for steps, design, metric in product((0, 6), DESIGNS, METRICS[:7]):
        p = a_pool(steps=steps)
        plan = tried(made, p, design, 60, metric=metric, level=0.9 if steps else 0.95)
        name = f"{steps} {design} {metric}"
        if isinstance(plan, str) or metric not in ("augrc", "aurc"):
            yield name, plan if isinstance(plan, str) else [whole(plan.facts.expected), int(plan.planned.sum())]
            continue
        more = tried(plan.extend, labelled(plan, p["loss"]), 25, seed=6)
        last = more if isinstance(more, str) else tried(more.extend, labelled(more, p["loss"]), 10, seed=7)
        yield name, [drawn(one) for one in (plan, more, last)]
    for width, metric in product((0.2, 0.05, 0.02, 1e-6), ("augrc", "aurc", "risk", "auroc_f")):
        found = int(made(a_pool(900), "usual", None, halfwidth=width, metric=metric).planned.size)
        yield f"width {width} {metric}", found


def estimates_of_metrics():
    """Return what few labels say of each metric, by design, ties, share of errors, target and level."""
    designs = ("usual", "adaptive", "planned", "levelled", "region")
    for (steps, share), design in product(((0, 1.0), (6, 1.0), (0, 0.12), (6, 0.0)), designs):
        p = a_pool(steps=steps, share=share)
        for metric in {"usual": METRICS, "region": ("selective_risk(coverage=0.3)",)}.get(design, METRICS[:3]):
            plan = tried(made, p, design, 70, metric=metric if design != "usual" else "augrc")
            if isinstance(plan, str):
                continue
            known = labelled(plan, p["loss"])
            for target, unseen, level in (("pool", "top", 0.95), ("population", "random", 0.8))[
                : 1 + (design == "usual")
            ]:
                options = {"metrics": metric, "target": target, "unseen": unseen, "level": level}
                seen = tried(estimated, known, p["confidence"], plan, **options)
                yield f"{steps} {share} {design} {metric} {target}", seen


def estimates_of_more_rows():
    """Return what is said where nearly all are labelled, most are wrong, the judge is right, or labels are random."""
    p = a_pool(120)
    wrong = np.where(np.arange(120) % 13 == 0, 0.0, 1.0)
    top = p["confidence"] > np.quantile(p["confidence"], 0.9)
    losses = {"usual": p["loss"], "wrong": wrong, "ordered": (~top).astype(float), "turned": top.astype(float)}
    for name, loss in losses.items():
        for n, metric in product((20, 117, 119, 120), ("augrc", "risk", "auroc_f", "e_aurc", "accuracy")):
            plan = abstain.plan_labels(p["confidence"], n, seed=3)
            yield f"{name} {n} {metric}", tried(estimated, labelled(plan, loss), p["confidence"], plan, metrics=metric)
        judged = abstain.plan_labels(p["confidence"], 50, judge=np.clip(loss, 0.02, 0.98), design="planned", seed=3)
        yield f"{name} judge", estimated(labelled(judged, loss), p["confidence"], judged, metrics="augrc")
        known = np.where(np.arange(120) % 3 == 0, loss, np.nan)
        given = {"loss": known, "confidence": p["confidence"], "labelled": "at random", "metrics": ["augrc", "auroc_f"]}
        result = tried(abstain.evaluate, **given)
        yield f"{name} random", result if isinstance(result, str) else [whole(result.rows()), said(result)]
    tied = a_pool(300, 1)
    mostly = np.where(np.arange(300) < 200, 0.5, tied["other"])  # most scores are one
    for n, metric, share in product((14, 60), ("auroc_f", "augrc", "e_augrc"), (0.0, 0.5, 1.0)):
        plan = abstain.plan_labels(mostly, n, seed=3)
        loss = np.where(np.arange(300) < 200, tied["loss"], tied["loss"] * share)
        yield f"mostly {n} {metric} {share}", tried(estimated, labelled(plan, loss), mostly, plan, metrics=metric)
    known = labelled(plan, tied["loss"])
    yield "no level", tried(estimated, known, mostly, plan, metrics="augrc", level=None)
    one = abstain.plan_labels(np.zeros(300), 60, seed=3)
    yield "one", [drawn(one), tried(estimated, labelled(one, tied["loss"]), np.zeros(300), one, metrics="augrc")]
    plan = abstain.plan_labels(tied["confidence"], 80, seed=3)
    for metric in METRICS:
        yield f"tied {metric}", tried(estimated, labelled(plan, tied["loss"]), tied["confidence"], plan, metrics=metric)
