"""Evaluations with certified limits, of lazy frames, of answers that abstain, and of few labels."""

from itertools import product

import numpy as np
import polars as pl

import abstain
from tests.recorded import rows_of, shown, tried
from tests.recorded.populations import rows

FEW = ("accuracy", "augrc", "auroc_f", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.5)")


def certified():
    """Return evaluations in which limits of the risk are certified, and their curves."""
    for seed, share in ((89, 0.3), (90, 0.05), (91, 0.0)):
        p = rows(seed, 1500)
        loss = p["loss"] * (p["confidence"] < share + 0.4) * (p["other"] < share + 0.5)
        outputs = abstain.Outputs(loss=loss, confidence=p["confidence"], scores={"other": p["other"]})
        result = abstain.evaluate(outputs, ["confidence", "other"], ["augrc", "risk"])
        grouped = abstain.evaluate(loss=loss, confidence=p["confidence"], groups={"g": p["groups"]}, metrics=["augrc"])
        curve = result.curve("other")
        points = [curve.at(risk=0.02), curve.at(coverage=0.5), grouped.curve(group="g = b").at(coverage=0.5)]
        yield f"{seed}", [shown(result), shown(grouped), points, result.flat(intervals=True), grouped.flat()]


def groups_apart():
    """Return evaluations of which the mix is certified, and one group errs more, much more or stands out."""
    p, found, chance = rows(95, 2400), {}, np.random.default_rng(95).random(2400)
    group = np.where(np.arange(2400) % 8 == 1, "few", np.where(p["groups"] == "c", "many", "most"))
    for kind, rate in (("few", 0.02), ("few", 0.08), ("few", 0.5), ("many", 0.06), ("many", 0.12)):
        loss = (chance < np.where(group == kind, rate, 0.01)) * 1.0
        for level in (0.95, 0.8):
            given = {"loss": loss, "confidence": p["confidence"], "groups": {"site": group}}
            result = abstain.evaluate(**given, metrics=["augrc", "risk"], level=level)
            found[f"{kind} {rate} {level}"] = shown(result) if level == 0.95 else result.verdict
    return found


def frames():
    """Return evaluations and comparisons of a lazy frame, which its engine counts."""
    p = rows(92, 200, steps=15)
    columns = {"wrong": p["loss"], "s": p["confidence"], "t": np.round(p["other"], 1), "site": p["groups"]}
    columns |= {"w": np.round(p["sample_weight"]) + 1.0, "case": p["clusters"]}
    lazy = pl.DataFrame(columns).lazy()
    told = {"loss": "wrong", "sample_weight": "w"}
    yield from (
        {
            "plain": shown(abstain.evaluate(lazy, ["s", "t"], FEW[:3], loss="wrong")),
            "weights": shown(abstain.evaluate(lazy, "s", FEW[:3], groups="site", **told)),
            "clusters": rows_of(abstain.evaluate(lazy, "s", FEW[:3], clusters="case", **told)),
            "compare": shown(abstain.compare("wrong", ["s", "t"], frame=lazy, method="influence")),
        }
    ).items()
    single = pl.DataFrame(columns | {"wrong": np.where(np.arange(200) == 7, 0.5, p["loss"]), "t": p["other"]}).lazy()
    yield "graded", rows_of(abstain.evaluate(single, "t", ["augrc"], loss="wrong", clusters="case"))
    one = single.with_columns(w=pl.lit(1.0))
    yield "graded weights", shown(abstain.evaluate(one, "t", ["augrc"], loss="wrong", sample_weight="w"))
    few = pl.DataFrame(columns | {"wrong": p["loss"] * (np.arange(200) % 6 == 1)}).lazy()
    for metric, told in product(("augrc", "aurc"), ({}, {"sample_weight": "w"}, {"clusters": "case"})):
        result = tried(abstain.compare, "wrong", ["s", "t"], metric, frame=few, method="influence", **told)
        yield f"few {metric} {list(told)}", rows_of(result)
    named = abstain.compare("wrong", {"a": "s", "b": "t"}, "risk", frame=lazy, sample_weight="w", clusters="case")
    yield "named", rows_of(named)


def counted_rows():
    """Return comparisons and evaluations of many rows of few different ones, of which only counts are known."""
    p, found = rows(96, 8000, steps=9), {}
    columns = {"s": p["confidence"], "t": np.round(p["other"] * 6.0), "w": np.round(p["sample_weight"]) + 1.0}
    for errors, graded in product((1, 40), (False, True)):
        loss = p["loss"] * (np.arange(8000) % (120 if errors == 1 else 3) == 1)
        wrong = np.where(loss * p["labels"] == 2.0, 0.5, loss) if graded else loss
        frame = pl.DataFrame(columns | {"wrong": wrong, "site": p["groups"]}).lazy()
        for metric in ("augrc",) if graded else ("augrc", "aurc", "risk", "auroc_f"):
            for told in ({}, {"sample_weight": "w"})[: 2 if metric == "augrc" else 1]:
                call = tried(abstain.compare, "wrong", ["s", "t"], metric, frame=frame, method="influence", **told)
                found[f"{errors} {graded} {metric} {list(told)}"] = rows_of(call)
        given = {"groups": "site", "loss": "wrong", "metrics": ["augrc", "risk"]}
        found[f"{errors} {graded} evaluated"] = rows_of(abstain.evaluate(frame, "s", **given))
    return found


def answers_that_abstain():
    """Return the shares of answers in each state, with and without what should be abstained."""
    p = rows(93, 90)
    correct = p["loss"] == 0.0
    told = {"correct": correct, "abstained": p["other"] < 0.3, "quality": p["confidence"]}
    should = {"should_abstain": p["labels"] == 1}
    for name, more in (("plain", {}), ("should", should), ("weights", should | {"sample_weight": p["sample_weight"]})):
        given = {"correct": "correct", "abstained": "abstained", "confidence": "quality"}
        given |= {key: key for key in more}
        for level in (0.95, None):
            call = tried(abstain.evaluate, pl.DataFrame(told | more), level=level, metrics=FEW[:3], **given)
            yield f"{name} {level}", shown(call)


def few_labels():
    """Return evaluations and comparisons from plans of each design, of labels at random, about pool and population."""
    p = rows(94, 400)
    for design in ("uniform", "levelled", "adaptive"):
        plan = abstain.plan_labels(p["confidence"], 80, design=design, seed=3)
        loss = np.where(plan.stage > 0, p["loss"], np.nan)
        for target, unseen in product(("pool", "population"), ("top", "random")):
            given = {"loss": loss, "confidence": p["confidence"], "plan": plan, "target": target}
            result = tried(abstain.evaluate, **given, unseen=unseen)
            whole = unseen == "top" and not isinstance(result, str)
            yield f"{design} {target} {unseen}", shown(result) if whole else rows_of(result)
    named = 1000 + np.arange(400)
    plan = abstain.plan_labels(p["confidence"], 60, ids=named, seed=5)
    loss, turned = np.where(plan.stage > 0, p["loss"], np.nan), np.argsort(p["other"])
    given = {"loss": loss[turned], "confidence": p["confidence"][turned], "ids": named[turned], "plan": plan}
    yield "by ids", rows_of(tried(abstain.evaluate, **given))
    some = np.where(np.arange(400) % 4 == 1, p["loss"], np.nan)
    for target in ("pool", "population"):
        given = {"loss": some, "confidence": p["confidence"], "labelled": "at random", "target": target}
        yield f"random {target}", (shown(result := abstain.evaluate(**given)), result.verdict)
    none = np.where(np.isnan(some), np.nan, 0.0)
    yield "no error", shown(abstain.evaluate(loss=none, confidence=p["confidence"], labelled="at random"))
    for metric in ("augrc", "risk", "selective_risk(coverage=0.5)"):
        plan = abstain.plan_labels(p["confidence"], 100, compare=p["other"], metric=metric, seed=2)
        loss = np.where(plan.stage > 0, p["loss"], np.nan)
        pair = {"a": p["confidence"], "b": p["other"]}
        result = tried(abstain.compare, loss, pair, metric, plan=plan)
        yield f"compare {metric}", shown(result)
