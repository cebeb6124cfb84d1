"""Evaluations of rows, models, passes, lazy frames, answers that abstain and few labels; gates and selections."""

from itertools import product

import numpy as np
import polars as pl

import abstain
from abstain import inference
from tests.recorded import rows_of, shown, tried
from tests.recorded.populations import models, rows, scores_and_rows

FEW = ("accuracy", "augrc", "auroc_f", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.5)")


def _outputs(seed, n, **more):
    """Return outputs of a classifier of four classes."""
    rng = np.random.default_rng([11, seed])
    labels = rng.integers(0, 4, n)
    return abstain.Outputs(labels=labels, logits=2.0 * np.eye(4)[labels] + rng.normal(0.0, 1.2, (n, 4)), **more)


def scores_and_metrics():
    """Return evaluations of several scores, of the default metrics and of all, with and without intervals."""
    outputs = _outputs(1, 160, scores={"noise": rows(81, 160)["other"]})
    yield "default", shown(abstain.evaluate(outputs))
    yield "several", shown(abstain.evaluate(outputs, ["msp", "neg_entropy", "noise"], FEW, level=0.8))
    yield "all", abstain.evaluate(outputs, metrics="all", n_resamples=30).rows()
    yield "no level", shown(abstain.evaluate(outputs, "noise", FEW, level=None))
    yield "top", abstain.evaluate(outputs, metrics=FEW, unseen="top").rows()


def weights_and_clusters():
    """Return evaluations of weighted and clustered rows and of graded and large losses, as they are shown."""
    columns = ((), ("sample_weight",), ("clusters",), ("sample_weight", "clusters"))
    for (steps, graded), names in product(((0, False), (9, True)), columns):
        p = rows(82 + steps, 90, steps=steps, graded=graded)
        given = {name: p[name] for name in ("loss", "confidence", *names)}
        yield shown(abstain.evaluate(**given, n_resamples=20))
    for share in (1, 3, 40):
        p, kept = rows(84, 120), np.append(np.arange(120), np.arange(120 // share))
        given = {"loss": p["loss"][kept], "confidence": p["confidence"][kept], "groups": {"label": p["labels"][kept]}}
        yield (rows_of(result := abstain.evaluate(**given, metrics=FEW[:2])), result.verdict)
    p = rows(83, 60, graded=True)
    yield shown(abstain.evaluate(loss=9.0 * p["loss"], confidence=30.0 * p["confidence"]))


def groups():
    """Return evaluations by one and two columns of groups, with groups that differ, are small or lack failures."""
    for seed in (84, 85, 86):
        p = rows(seed, 300, steps=0 if seed == 84 else 20)
        site = p["groups"].astype("U4")
        site[:4] = "tiny"
        loss = np.where((site == "b") & (p["other"] < 0.6), 1.0, p["loss"]) if seed == 85 else p["loss"]
        loss = np.where(site == "a", 0.0, loss) if seed == 86 else loss
        groups = {"site": site, "year": 2020 + np.arange(300) % 2} if seed == 84 else {"site": site}
        given = {"loss": loss, "confidence": p["confidence"], "groups": groups, "metrics": FEW, "n_resamples": 20}
        weights = {"sample_weight": p["sample_weight"]} if seed == 86 else {}
        yield f"{seed}", shown(abstain.evaluate(**given, **weights))
    yield "no level", rows_of(abstain.evaluate(**given, level=None))


def missing_scores():
    """Return evaluations of scores with NaN, of few and of no rows that have one."""
    p = rows(87, 120, steps=12)
    base = {"loss": p["loss"], "scores": {"s": np.where(np.arange(120) % 11 == 3, np.nan, p["confidence"])}}
    outputs = abstain.Outputs(loss=p["loss"], scores=base["scores"] | {"t": p["other"]})
    units = abstain.Outputs(**base, clusters=p["clusters"], sample_weight=p["sample_weight"])
    grouped = abstain.Outputs(**base, groups={"g": p["groups"]})
    for policy in ("reject", "drop"):
        given = {"metrics": FEW, "nan_policy": policy, "n_resamples": 20}
        yield [shown(abstain.evaluate(outputs, ["s", "t"], **given)), rows_of(abstain.evaluate(units, "s", **given))]
        yield shown(abstain.evaluate(grouped, "s", groups="g", **given))


def edges():
    """Return evaluations of one, two and few rows, of none wrong and all wrong, of one score and a reversed one."""
    n = np.arange(40)
    cases = [([1.0], [0.5]), ([0.0, 1.0], [0.9, 0.1]), (n * 0.0, n), (n * 0.0 + 1.0, n)]
    cases += [(1.0 * (n < 8), 0.6 + n / 100.0), ((n % 5 == 1) * 1.0, n * 0.0 + 0.7)]
    cases += [((n == 30) * 1.0, (7 * n) % 40), ((n != 30) * 1.0, (7 * n) % 40)]
    yield from [shown(abstain.evaluate(loss=loss, confidence=score)) for loss, score in cases]
    p = rows(88, 250)
    for score in (1.0 - p["confidence"], np.round(np.random.default_rng(4).random(250), 1)):
        yield shown(abstain.evaluate(loss=p["loss"], confidence=score, metrics=FEW))


def models_and_passes():
    """Return evaluations of several models, and of scores that are judged by the predictions of passes."""
    one, other = _outputs(2, 80), _outputs(3, 80)
    yield "models", shown(abstain.evaluate({"x": one, "y": other}, metrics=FEW, n_resamples=20))
    noisy = one.logits + 1.5 * np.random.default_rng(5).normal(size=(6, 80, 4))
    passes = np.exp(noisy) / np.exp(noisy).sum(axis=-1, keepdims=True)
    judged = abstain.Outputs(labels=one.labels, logits=one.logits, passes=passes)
    names = ["msp", "pass_msp", "pass_vote_agreement"]
    yield "passes", shown(abstain.evaluate(judged, names, ["accuracy", "augrc", "nll", "brier_score"]))


def certified():
    """Return evaluations in which limits of the risk are certified, and their curves."""
    for seed, share in ((89, 0.3), (91, 0.0)):
        p = rows(seed, 1200)
        loss = p["loss"] * (p["confidence"] < share + 0.4) * (p["other"] < share + 0.5)
        outputs = abstain.Outputs(loss=loss, confidence=p["confidence"], scores={"other": p["other"]})
        result = abstain.evaluate(outputs, ["confidence", "other"], ["augrc", "risk"])
        grouped = abstain.evaluate(loss=loss, confidence=p["confidence"], groups={"g": p["groups"]}, metrics=["augrc"])
        curve = result.curve("other")
        points = [curve.at(risk=0.02), curve.at(coverage=0.5), grouped.curve(group="g = b").at(coverage=0.5)]
        yield f"{seed}", [shown(result), shown(grouped), points, result.flat(intervals=True), grouped.flat()]


def groups_apart():
    """Return evaluations of which the mix is certified, and one group errs more, much more or stands out."""
    p, chance = rows(95, 2400), np.random.default_rng(95).random(2400)
    group = np.where(np.arange(2400) % 8 == 1, "few", np.where(p["groups"] == "c", "many", "most"))
    kinds = (("few", 0.02), ("few", 0.08), ("few", 0.5), ("many", 0.06), ("many", 0.12))
    for (kind, rate), level in product(kinds, (0.95, 0.8)):
        loss = (chance < np.where(group == kind, rate, 0.01)) * 1.0
        given = {"loss": loss, "confidence": p["confidence"], "groups": {"site": group}}
        result = abstain.evaluate(**given, metrics=["augrc", "risk"], level=level)
        yield shown(result) if level == 0.95 else result.verdict


def frames():
    """Return evaluations and comparisons of a lazy frame, which its engine counts."""
    p = rows(92, 200, steps=15)
    columns = {"wrong": p["loss"], "s": p["confidence"], "t": np.round(p["other"], 1), "site": p["groups"]}
    columns |= {"w": np.round(p["sample_weight"]) + 1.0, "case": p["clusters"]}
    lazy, told = pl.DataFrame(columns).lazy(), {"loss": "wrong", "sample_weight": "w"}
    yield "plain", shown(abstain.evaluate(lazy, ["s", "t"], FEW[:3], loss="wrong"))
    yield "weights", shown(abstain.evaluate(lazy, "s", FEW[:3], groups="site", **told))
    yield "clusters", rows_of(abstain.evaluate(lazy, "s", FEW[:3], clusters="case", **told))
    yield "compare", shown(abstain.compare("wrong", ["s", "t"], frame=lazy, method="influence"))
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
    p = rows(96, 3000, steps=9)
    columns = {"s": p["confidence"], "t": np.round(p["other"] * 6.0), "w": np.round(p["sample_weight"]) + 1.0}
    several = [("augrc", {}), ("augrc", {"sample_weight": "w"}), ("aurc", {}), ("risk", {}), ("auroc_f", {})]
    for errors, graded in product((1, 40), (False, True)):
        loss = p["loss"] * (np.arange(3000) % (120 if errors == 1 else 3) == 1)
        wrong = np.where(loss * p["labels"] == 2.0, 0.5, loss) if graded else loss
        frame = pl.DataFrame(columns | {"wrong": wrong, "site": p["groups"]}).lazy()
        for metric, told in several[: 2 if graded else None]:
            given = {"frame": frame, "method": "influence", **told}
            yield rows_of(tried(abstain.compare, "wrong", ["s", "t"], metric, **given))
        given = {"groups": "site", "loss": "wrong", "metrics": ["augrc", "risk"]}
        yield rows_of(abstain.evaluate(frame, "s", **given))


def answers_that_abstain():
    """Return the shares of answers in each state, with and without what should be abstained."""
    p = rows(93, 90)
    told = {"correct": p["loss"] == 0.0, "abstained": p["other"] < 0.3, "confidence": p["confidence"]}
    should = told | {"should_abstain": p["labels"] == 1}
    for columns, level in product((told, should, should | {"sample_weight": p["sample_weight"]}), (0.95, None)):
        given = {name: name for name in columns}
        yield shown(tried(abstain.evaluate, pl.DataFrame(columns), level=level, metrics=FEW[:3], **given))


def few_labels():
    """Return evaluations and comparisons from plans of each design, of labels at random, about pool and population."""
    p, rest, n = rows(94, 400), {"unseen": "random"}, np.arange(400)
    given = {"confidence": p["confidence"]}

    def known(plan):
        return np.where(plan.stage > 0, p["loss"], np.nan)

    for design, target, more in product(("uniform", "levelled", "adaptive"), ("pool", "population"), ({}, rest)):
        plan = abstain.plan_labels(p["confidence"], 80, design=design, seed=3)
        result = tried(abstain.evaluate, loss=known(plan), **given, plan=plan, target=target, **more)
        yield rows_of(result) if more or isinstance(result, str) else shown(result)
    plan, turned = abstain.plan_labels(p["confidence"], 60, ids=1000 + n, seed=5), np.argsort(p["other"])
    columns = {"loss": known(plan)[turned], "confidence": p["confidence"][turned], "ids": 1000 + turned}
    yield rows_of(tried(abstain.evaluate, **columns, plan=plan))
    given |= {"loss": np.where(n % 4 == 1, p["loss"], np.nan), "labelled": "at random"}
    for target in ("pool", "population"):
        yield (shown(result := abstain.evaluate(**given, target=target)), result.verdict)
    yield shown(abstain.evaluate(**given | {"loss": 0.0 * given["loss"]}))


def gates():
    """Return gates on values and on limits, with what is unclear, and against another model in each form."""
    scores, p = scores_and_rows(101, 250, 2)
    given = {"loss": p["loss"], "metrics": FEW[:-1]}
    one, other = (abstain.evaluate(**given, confidence=each, n_resamples=20) for each in scores.values())
    bare, loose = (abstain.evaluate(**given, confidence=scores["a"], level=level) for level in (None, 0.95))
    limits = ["augrc<=0.2", "augrc<0.03", "auroc_f>=0.5", "auroc_f > 0.99", "accuracy>=0.8"]
    limits += ["coverage_at_risk(risk=0.2)>=0.9"]
    for result, unclear in ((one, "fail"), (one, "pass"), (bare, "fail"), (loose, "pass")):
        yield shown(abstain.gate(result, limits, unclear=unclear))
    yield shown(abstain.gate(one, "augrc<=0.1"))
    named, two = {"new": scores["a"], "main": scores["b"]}, ("augrc", "auroc_f")
    tests = [inference.non_inferiority(p["loss"], named, m, margin=0.05, level=0.975) for m in two]
    compared = [abstain.compare(p["loss"], named, m, n_permutations=99) for m in two]
    cases = (other, other.to_dict(), tests, compared, bare)
    for against, margin, result in product(cases, (0.001, 0.05, 0.3), (one, bare)):
        yield shown(tried(abstain.gate, result, two, against=against, margin=margin))
    yield shown(tried(abstain.gate, one, ["augrc", "accuracy>=0.7"], against=other, margin=0.02))
    yield shown(tried(abstain.gate, other, ["augrc"], against=one, margin=0.0))


def selections():
    """Return what is selected on a validation split, with and without a test split, of runs and with ties."""
    metrics = ["augrc", "auroc_f", "risk", "coverage_at_risk(risk=0.2)"]
    for runs in (0, 3):
        splits = {f"T={k}": {} for k in range(3)}
        for k, (j, split) in product(range(3), enumerate(("validation", "test"))):
            losses, each = models(102 + 2 * k + j, 120, runs)
            splits[f"T={k}"][split] = losses["x"], each["x"] + 0.2 * k
        result = abstain.select(splits, metrics, level=0.9)
        yield [shown(result), result.chosen, result.others(), result.others("risk"), result.rows()]
        yield shown(abstain.select({name: each["validation"] for name, each in splits.items()}, metrics[:2]))
    loss, score = np.array([0, 1, 0, 0] * 10), np.sqrt(np.arange(40) + 0.3)
    result = abstain.select({"x": (loss, score), "y": (loss, 2 * score), "z": (loss, -score)}, "augrc")
    yield [shown(result), result.rows()]


def tuned_scores():
    """Return scores that are tuned with and without fits and OOD data."""
    rng, parts = np.random.default_rng(103), []
    for n, noise, seen in ((90, 1.0, True), (70, 1.5, True), (40, 1.5, False)):
        labels = rng.integers(0, 3, n)
        features = 2.0 * np.eye(3, 5)[labels] * seen + noise * rng.normal(size=(n, 5))
        known = {"labels": labels} if seen else {"unlabelled": True}
        parts.append(abstain.Outputs(**known, features=features, logits=features[:, :3]))
    grids = (("knn", {"neighbours": [1, 5, 30, 500]}), ("temp_msp", {"temperature": [0.5, 2.0]}))
    metrics = ("augrc", "auroc_f", "coverage_at_risk(risk=0.3)", "auroc", "ds_f1", "ds_aurc", "joint.oscr")
    for metric, (score, grid) in product(metrics, grids):
        given = {"fit": parts[0], "metric": metric, "ood": None if metric in metrics[:3] else parts[2]}
        result = tried(abstain.tune, score, parts[1], grid=grid, **given)
        yield result if isinstance(result, str) else [shown(result), result.value, result.label, result.rows()]


def reports_of_rows():
    """Return an evaluation, a comparison and a ranking as flat numbers and as files of values."""
    scores, p = scores_and_rows(104, 130, 3)
    given = {"loss": p["loss"], "confidence": scores["a"], "groups": {"g": p["groups"]}, "metrics": FEW[:-1]}
    comparison = abstain.compare(p["loss"], scores, "augrc", n_permutations=99, adjust="max-t")
    for each in (abstain.evaluate(**given), comparison, abstain.ranking_study(p["loss"], scores, n_resamples=100)):
        yield [each.flat(intervals=False), each.flat(intervals=True), [table.rows for table in each.brief()]]
        yield [line.split(",") for line in each.to_csv().splitlines()]
    pair = comparison.difference("c", "a")
    yield [pair, pair.swapped()]
