"""Plans of labels by design, and what few labels say of metrics, of two scores, and of the most confident rows."""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain import pool
from tests.recorded import tried
from tests.recorded.contents import said, warned, whole
from tests.recorded.populations import rows

METRICS = ("augrc", "aurc", "risk", "sele", "auroc_f", "accuracy", "selective_risk(coverage=0.5)", "e_augrc",
           "naurc", "generalized_risk(coverage=0.3)")  # fmt: skip
#: Designs, with what they need to know.
DESIGNS: dict[str, dict[str, Any]] = {
    "usual": {}, "uniform": {"design": "uniform"}, "levelled": {"design": "levelled"},
    "adaptive": {"design": "adaptive"},
    "early": {"design": "adaptive", "error_rate": 0.3}, "rate": {"error_rate": 0.07}, "judge": {}, "planned": {},
    "region": {"region": 0.5}, "region rate": {"region": 0.4, "error_rate": 0.2, "design": "uniform"},
}  # fmt: skip


def _pool(n: int = 300, steps: int = 0, share: float = 1.0) -> dict[str, Any]:
    p, rng = rows(n + steps, n, steps=steps), np.random.default_rng(n)
    word = np.clip(0.7 * p["loss"] + 0.3 * rng.random(n), 0.0, 1.0)
    kept = rng.random(n) < share
    return p | {"judge": word, "loss": p["loss"] * kept, "differs": (rng.random(n) < 0.2).astype(int)}


def _made(p: dict[str, Any], design: str, n: int | None, **options: Any) -> Any:
    judge = {"judge": p["judge"]} if design in ("judge", "planned") else {}
    more = {"design": "planned"} if design == "planned" else {}
    return abstain.plan_labels(p["confidence"], n, seed=5, **DESIGNS[design], **judge, **more, **options)


def _labelled(plan: Any, loss: Any) -> Any:
    known = np.full(len(loss), np.nan)
    known[plan.planned] = loss[plan.planned]
    return known


def _drawn(plan: Any) -> Any:
    content = {key: value for key, value in plan.to_dict().items() if key != "to_label"}
    chances = [plan.probability.sum(axis=1), (plan.probability**2).sum(axis=1), plan.probability[:, ::71]]
    return [whole(content), whole(plan.planned), whole(chances), said(plan), plan.leaning]


def plans_by_design() -> Any:
    """Return plans over designs, metrics, ties and levels, each extended twice."""
    found = {}
    for steps, design, metric in product((0, 6), DESIGNS, METRICS[:7]):
        p = _pool(steps=steps)
        plan = tried(_made, p, design, 60, metric=metric, level=0.9 if steps else 0.95)
        name = f"{steps} {design} {metric}"
        if isinstance(plan, str) or metric not in ("augrc", "aurc"):
            found[name] = plan if isinstance(plan, str) else [whole(plan.facts.expected), int(plan.planned.sum())]
            continue
        more = tried(plan.extend, _labelled(plan, p["loss"]), 25, seed=6)
        last = more if isinstance(more, str) else tried(more.extend, _labelled(more, p["loss"]), 10, seed=7)
        found[name] = [one if isinstance(one, str) else _drawn(one) for one in (plan, more, last)]
    for width, metric in product((0.2, 0.05, 0.02, 1e-6), ("augrc", "aurc", "risk", "auroc_f")):
        found[f"width {width} {metric}"] = int(
            _made(_pool(900), "usual", None, halfwidth=width, metric=metric).planned.size
        )
    return found


def estimates_of_metrics() -> Any:
    """Return what few labels say of each metric, by design, ties, share of errors, target and level."""
    found = {}
    for steps, share, design in product(
        (0, 6), (1.0, 0.12, 0.0), ("usual", "adaptive", "planned", "levelled", "region")
    ):
        p = _pool(steps=steps, share=share)
        for metric in {"usual": METRICS, "region": ("selective_risk(coverage=0.3)",)}.get(design, METRICS[:3]):
            plan = tried(_made, p, design, 70, metric=metric if design != "usual" else "augrc")
            if isinstance(plan, str):
                continue
            known = _labelled(plan, p["loss"])
            for target, unseen, level in (("pool", "top", 0.95), ("population", "random", 0.8)):
                options = {"metrics": metric, "target": target, "unseen": unseen, "level": level}
                seen = tried(_estimated, known, p["confidence"], plan, **options)
                found[f"{steps} {share} {design} {metric} {target}"] = seen
    return found


def _estimated(known: Any, score: Any, plan: Any, **options: Any) -> Any:
    (one,) = abstain.evaluate(loss=known, confidence=score, plan=plan, **options).measurements
    kept = ("estimate", "low", "high", "error", "standard_error", "value", "reason", "warning", "n", "method")
    return whole({name: getattr(one, name) for name in kept if hasattr(one, name)})


def estimates_of_more_rows() -> Any:
    """Return what is said where nearly all are labelled, most are wrong, the judge is right, or labels are random."""
    found = {}
    p = _pool(120)
    wrong = np.where(np.arange(120) % 13 == 0, 0.0, 1.0)
    top = p["confidence"] > np.quantile(p["confidence"], 0.9)
    losses = {"usual": p["loss"], "wrong": wrong, "ordered": (~top).astype(float), "turned": top.astype(float)}
    for name, loss in losses.items():
        for n, metric in product((20, 117, 119, 120), ("augrc", "risk", "auroc_f", "e_aurc", "accuracy")):
            plan = abstain.plan_labels(p["confidence"], n, seed=3)
            found[f"{name} {n} {metric}"] = tried(
                _estimated, _labelled(plan, loss), p["confidence"], plan, metrics=metric
            )
        judged = abstain.plan_labels(p["confidence"], 50, judge=np.clip(loss, 0.02, 0.98), design="planned", seed=3)
        found[f"{name} judge"] = _estimated(_labelled(judged, loss), p["confidence"], judged, metrics="augrc")
        known = np.where(np.arange(120) % 3 == 0, loss, np.nan)
        given = {"loss": known, "confidence": p["confidence"], "labelled": "at random", "metrics": ["augrc", "auroc_f"]}
        result = tried(abstain.evaluate, **given)
        found[f"{name} random"] = result if isinstance(result, str) else [whole(result.rows()), said(result)]
    tied = _pool(300, 1)
    plan = abstain.plan_labels(tied["confidence"], 80, seed=3)
    for metric in METRICS:
        found[f"tied {metric}"] = tried(
            _estimated, _labelled(plan, tied["loss"]), tied["confidence"], plan, metrics=metric
        )
    return found


def two_scores_of_a_pool() -> Any:
    """Return plans that compare two scores, and what their labels say."""
    found = {}
    for steps, models, design, metric in product(
        (0, 7), (False, True), ("planned", "uniform"), ("augrc", "risk", "sele")
    ):
        p = _pool(240, steps)
        first, other = np.zeros(240, dtype=int), p["differs"]
        compare = (p["other"], first, other) if models else p["other"]
        options = {"compare": compare, "metric": metric, "seed": 2, "error_rate": 0.2 if steps else None}
        plan = tried(abstain.plan_labels, p["confidence"], 70, design=design, **options)
        if isinstance(plan, str):
            found[f"{steps} {models} {design} {metric}"] = plan
            continue
        loss = [p["loss"], np.where(p["differs"] > 0, 1.0 - p["loss"], p["loss"]) if models else p["loss"]]
        stages = [plan, plan.extend(_labelled(plan, loss[0]), 20, seed=1)]
        seen = []
        for one in stages:
            known = dict(zip(("a", "b"), (_labelled(one, each) for each in loss), strict=True))
            scores = {"a": p["confidence"], "b": p["other"]}
            result = tried(abstain.compare, known, scores, metric, plan=one, level=0.9)
            seen.append(result if isinstance(result, str) else [whole(result.rows()), _drawn(one)[2:]])
        found[f"{steps} {models} {design} {metric}"] = seen
    return found


def certificates_of_regions() -> Any:
    """Return certificates of the most confident part of a pool, and the levels of several looks."""
    found: dict[str, Any] = {}
    for n, steps, region, share in product((400, 1500), (0, 9), (0.3, 0.7), (0.1, 0.5)):
        p = _pool(n, steps, share)
        plan = tried(abstain.plan_labels, p["confidence"], n // 5, region=region, design="uniform", seed=4)
        if not isinstance(plan, str):
            for risk, delta in ((0.05, 0.1), (0.2, 0.05)):
                seen = pool.certify_region(plan, _labelled(plan, p["loss"]), risk=risk, delta=delta)
                found[f"{n} {steps} {region} {share} {risk}"] = [whole(seen.rows()), said(seen)]
    for analyses, level in ((1, 0.95), (2, 0.7), (4, 0.95)):
        looks = sorted({1, (analyses + 1) // 2, analyses})
        found[f"looks {analyses} {level}"] = [pool.interim_level(look, analyses, level=level) for look in looks]
    return whole(found)


def plans_that_are_saved() -> Any:
    """Return plans from files of each kind, with names of rows in other orders and spellings."""
    found = {}
    p = _pool(120)
    p["confidence"][7] = np.nan
    names: dict[str, Any] = {
        "none": None,
        "numbers": np.arange(120) + 0.0,
        "text": [f"=row {k:03}" for k in range(120)],
    }
    names["padded"], names["days"] = [f"{k:03}" for k in range(120)], np.datetime64("2026-01-01") + np.arange(120)
    with tempfile.TemporaryDirectory() as folder:
        for (name, ids), kind in product(names.items(), ("json", "csv", "parquet")):
            options = {"ids": ids, "nan_policy": "reject", "judge": p["judge"]}
            plan: Any = abstain.plan_labels(p["confidence"], 40, seed=1, **options)
            more = plan.extend(_labelled(plan, p["loss"]), 10, seed=2)
            more.save(Path(folder) / f"plan.{kind}")
            again = pool.load_plan(Path(folder) / f"plan.{kind}")
            spelt = {"numbers": np.arange(120), "padded": np.arange(120)}.get(name, ids)
            order = np.arange(120)[::-1] if ids is not None else np.arange(120)
            known = _labelled(plan, p["loss"])
            given = {"ids": None if spelt is None else np.asarray(spelt)[order], "nan_policy": "reject"}
            seen = warned(abstain.evaluate, loss=known[order], confidence=p["confidence"][order], plan=plan, **given)
            result = seen[0] if isinstance(seen[0], str) else whole(seen[0].rows()[:3])
            found[f"{name} {kind}"] = [
                whole(again.facts),
                again.digest == more.digest,
                again.rows()[:4],
                result,
                seen[1],
            ]
    return whole(found)
