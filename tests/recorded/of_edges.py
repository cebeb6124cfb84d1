"""Values where an edge decides: pools, certificates and intervals of few rows, ties, empty parts and odd clusters."""

import json
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

import abstain
from abstain import inference, joint, pool, thresholds
from tests.recorded import rows_of, tried
from tests.recorded.contents import chosen, easy, refusal, said, warned, whole
from tests.recorded.pools import a_pool, drawn, estimated, labelled
from tests.recorded.populations import models, rows

#: A fit ends where the last digits of the processor do.
TOLERANCE = 1e-7


def refusals_of_pools():
    """Return what plans of labels, their labels and their rows refuse, with the numbers that the messages name."""
    p = a_pool(40)
    score, other, n = p["confidence"], p["other"], np.arange(40)
    gap, tied = np.where(n % 9 == 4, np.nan, score), np.where(n < 12, 0.9, score / 2.0)
    same = np.zeros(40, dtype=int)
    wrong = [
        {"judge": np.where(n == 3, 1.5, 0.5)}, {"judge": np.where(n > 6, -0.1, 1.0)}, {"judge": p["judge"][:9]},
        {"judge": np.where(n == 0, np.nan, 0.0)}, {"judge": n % 2}, {"design": "planned"}, {"design": "other"},
        {"region": 0.0}, {"region": 1.0}, {"region": 1.5}, {"region": "x"}, {"region": 0.2, "confidence": tied},
        {"region": 0.3, "confidence": tied}, {"region": 0.02}, {"region": 0.2, "n": 9}, {"compare": other[:9]},
        {"compare": (other, same, same[:9])}, {"compare": (other, same[:9], same)}, {"compare": (other, same, same)},
        {"compare": other, "design": "adaptive"}, {"compare": other, "region": 0.5}, {"compare": other, "judge": n % 2},
        {"compare": gap}, {"compare": other, "n": None, "halfwidth": 0.1}, {"n": 0}, {"n": 40}, {"n": 41},
        {"n": 3.5}, {"n": None}, {"halfwidth": 0.1}, {"n": None, "halfwidth": 0.0}, {"n": None, "halfwidth": 1e-9},
        {"error_rate": 0.0}, {"error_rate": 1.0}, {"error_rate": 0.999}, {"level": 1.0}, {"level": 95}, {"seed": -1},
        {"confidence": gap}, {"confidence": gap, "nan_policy": "reject"}, {"nan_policy": "drop"}, {"metric": "nll"},
        {"metric": "coverage_at_risk(risk=0.1)"}, {"metric": "ece"}, {"metric": "f1_auc"},
        {"metric": "selective_risk(coverage=0.5)", "n": 20}, {"metric": "selective_risk(coverage=0.5)", "n": 21},
        {"metric": "cwsa"}, {"metric": "fpr95_error"}, {"metric": "aurc_achievable"}, {"metric": "oc_auc"},
        {"ids": n[:9]}, {"ids": n // 2}, {"ids": n.reshape(2, 20)}, {"ids": [*map(str, n[:39]), " "]},
        {"ids": [2**63 + int(k) for k in n]}, {"ids": n * 2.0**52}, {"ids": n * 2.0**54}, {"ids": [[k] for k in n]},
        {"ids": np.where(n == 5, "NaT", "2026-01-01").astype("datetime64[D]")}, {"ids": [None, *n[1:]]},
    ]  # fmt: skip
    found = []
    for options in wrong:
        seen = refusal(abstain.plan_labels, **{"confidence": score, "n": 8, "seed": 1} | options)
        found.append(seen if isinstance(seen, list) else drawn(seen))
    plan = abstain.plan_labels(score, 10, seed=1, ids=[f"r{k:02}" for k in n])
    known = labelled(plan, p["loss"])
    losses = {"short": known[:9], "none": known * np.nan, "gap": np.where(plan.planned[3] == n, np.nan, known),
              "graded": known * 0.5, "more": np.where(n < 30, p["loss"], known)}  # fmt: skip
    for loss in losses.values():
        found += [refusal(abstain.evaluate, loss=loss, confidence=score, plan=plan, ids=plan.ids, metrics="augrc")]
    pools = [
        {"ids": None}, {"ids": plan.ids[::-1]}, {"ids": [*plan.ids[:39], "r00"]}, {"ids": [*plan.ids[:38], "x", "a\n"]},
        {"confidence": np.where(n == 7, np.nan, score)}, {"confidence": np.where(n > 5, 0.25, score)},
    ]  # fmt: skip
    for more in pools:
        given = {"loss": known, "confidence": score, "plan": plan, "ids": plan.ids, "metrics": "augrc"} | more
        seen = refusal(abstain.evaluate, **given)
        found.append(seen if isinstance(seen, list) else whole(seen.rows()[:1]))
    for loss, number in ((losses["gap"], 3), (known, None), (known, 30), (known, 31), (known, 0)):
        seen = refusal(plan.extend, loss, number, seed=2)
        found.append(seen if isinstance(seen, list) else drawn(seen))
    for analysis, analyses, level in ((2, 1, 0.9), (1, 50, 0.9), (1, 51, 0.9), (0, 2, 0.9), (1, 2, 1.0), (1, 1, 0.5)):
        found.append(refusal(pool.interim_level, analysis, analyses, level=level))
    leaning = abstain.plan_labels(score, 10, judge=n % 2, design="planned", seed=1)
    for one, risk, delta in ((leaning, 0.1, 0.1), (plan, 1.0, 0.1), (plan, 0.5, 0.6), (plan, 1.1, 0.1)):
        found.append(refusal(pool.certify_region, one, labelled(one, p["loss"]), risk=risk, delta=delta))
    for rate in (0.0199, 0.02, 0.0201):
        hoped = abstain.plan_labels(a_pool(250)["confidence"], 50, error_rate=rate, design="uniform", seed=1)
        found += [drawn(hoped), said(hoped.notes())]
    return whole(found)


def rows_beside_a_tie():
    """Return what a ranking is worth where one tie holds most rows, and few labels lie above it, or below."""
    n, metrics = np.arange(300), ("auroc_f", "e_augrc", "naurc", "prediction_rejection_ratio")
    for (above, side), few, metric in product(((20, -1.0), (60, 1.0)), (0, 1, 2), metrics):
        score = np.where(n < 160, 0.5, np.where(n < 160 + above, 0.6 + n / 1e4, 0.4 - n / 1e4))
        plan = abstain.plan_labels(side * score, 80, seed=above)
        wrong = np.isin(n, plan.planned[(n[plan.planned] % 5 == 0)]) * 1.0
        places = plan.planned[score[plan.planned] != 0.5]
        turn = np.arange(len(places))
        wrong[places] = np.where(score[places] > 0.5, turn % 3 < few, turn % 2)
        yield tried(estimated, labelled(plan, wrong), side * score, plan, metrics=metric)


def plans_that_were_changed():
    """Return what is read of plans whose stages or probabilities were changed after they were written."""
    p = a_pool(40)
    p["confidence"][[3, 8]] = -np.inf, np.inf
    plan = abstain.plan_labels(p["confidence"], 10, seed=1, metric="selective_risk(coverage=0.5)")
    more = plan.extend(labelled(plan, p["loss"]), 5, seed=2)
    free, drawn_first = int(np.argmin(more.stage)), int(plan.planned[0])
    changes = (("stage", free, 9), ("stage", free, 1), ("stage", drawn_first, 0), ("stage", drawn_first, 2),
               ("probability_1", free, 1.5), ("probability_1", drawn_first, 0.0), ("probability_2", free, -0.1),
               ("probability_1", free, more.probability[0, free] + 1e-9), ("confidence", free, 0.123))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        for column, row, value in changes:
            more.save(path)
            made = json.loads(path.read_text(), parse_constant=str.upper)
            made["rows"][column][row] = value
            path.write_text(json.dumps(made))
            seen = tried(pool.load_plan, path)
            yield [made["rows"]["confidence"][:9], seen if isinstance(seen, str) else seen.sizes]


def stages_that_lean():
    """Return whether a later stage leans to where labels help, and what is said where right predictions are few."""
    for (seed, often), metric in product(enumerate((0.6, 1.0, 1.5, 2.0, 2.5)), ("augrc", "aurc")):
        p, rng = a_pool(180), np.random.default_rng(seed)
        loss = (rng.random(180) < often * 0.3 * (1.0 - p["confidence"])) * 1.0
        plan = abstain.plan_labels(p["confidence"], 80, seed=seed, metric=metric, design="adaptive")
        more = plan.extend(labelled(plan, loss), seed=seed)
        yield [int(plan.planned.size), whole((more.probability[1] ** 2).sum()), whole(more.facts.expected)]
    for right, judged in product((2, 4, 5, 6, 90), (False, True)):
        p, n = a_pool(120), np.arange(120)
        loss = np.where(np.isin(n, np.argsort(p["other"])[:right]), 0.0, 1.0)
        plan = abstain.plan_labels(p["confidence"], 117, seed=1, **({"judge": 0.9 * loss + 0.05} if judged else {}))
        given = {"loss": labelled(plan, loss), "confidence": p["confidence"], "plan": plan}
        (one,) = abstain.evaluate(**given, metrics="augrc").measurements
        yield [right, judged, whole(one.low), whole(one.high), str(one.warning).partition(":")[0].split()[:4]]


def certificates_at_the_edges():
    """Return certificates of a second score that is missing, of light clusters, and plans of odd pilots."""
    p, odd = easy(6, 900, share=0.5), np.random.default_rng(6).random(900)
    useful = p["confidence"] - 2.0 * (p["other"] < 0.4) * p["loss"]
    for missing, value in product((0.0, 0.2, 0.5, 1.0), (np.nan, -np.inf, np.inf)):
        column = np.where(odd < missing, value, useful)
        pair = thresholds.choose_pair(p["loss"], p["other"], column, risk=0.05, delta=0.1, rng=2)
        yield [whole(pair.rows()), pair.second_threshold, said(pair)]
    for scale, some, risk in product((0.05, 0.6), ("a", "b", "c"), (0.02, 0.1)):
        weight = scale * p["sample_weight"] * (p["groups"] != some)
        result = abstain.choose_threshold(**chosen(p, "clusters"), risk=risk, sample_weight=weight)
        yield whole(result, "fingerprint", "sketch", "bins")
    for n, wrong, risk, delta in ((107, 13, 0.3, 0.05), (355, 69, 0.3, 0.05), (216, 32, 0.3, 0.5)):
        loss, score = (np.arange(n) < wrong) * 1.0, np.arange(n)[::-1].astype(float)
        result = abstain.choose_threshold(loss, score, risk=risk, delta=delta)
        yield [whole(result.attained), said(result), said(result.notes()), len(result.notes())]
    score = rows(4, 60, steps=5)["confidence"]
    for errors, risk, coverage in ((4, 0.3, 0.2), (5, 0.3, 0.2), (9, 1.0, 0.1), (9, 0.999, 0.1), (9, 0.1, 0.0)):
        loss, options = np.isin(np.arange(60), np.argsort(score)[:errors]) * 1.0, {"risk": risk, "coverage": coverage}
        yield whole(refusal(thresholds.plan_certificate, loss, score, delta=0.2, rng=1, **options))


def refusals_of_thresholds():
    """Return what thresholds refuse, at the border of what they accept, with the numbers that the messages name."""
    p, n = easy(8, 60, share=0.5), np.arange(60)
    three, given = {0: 0.2, 1: 0.3, 2: 0.5}, {**chosen(p), "risk": 0.2, "delta": 0.2}
    graded, weight, kinds = given | {"loss": p["loss"] / 2.0}, {"sample_weight": 1.0 + n % 3}, {"labels": n % 3}
    by = {**given, "thresholds": [0.5]}
    prior = {**by, **kinds, "prior": three}
    wrong = [(abstain.choose_threshold, each) for each in (
        {"risk": 1.0}, {"risk": 0.999}, {"delta": 0.5}, {"delta": 0.51}, {"delta": 0.0}, {"risk": 0.0},
        {"ood_share": 0.2}, {"ood_share": 0.19}, {"ood_share": 1.1}, {"ood_share": 0.1, "delta": None},
        {"max_loss": 0.5}, {"max_loss": 1.0}, {"max_loss": 0.0}, {"loss": p["loss"] / 2.0}, {"max_weight": 3.0},
        {"loss": p["loss"] / 2.0, "max_loss": 0.5}, weight, weight | {"max_weight": 3.0}, weight | {"max_weight": 2.9},
        {"clusters": n // 4, "max_cluster": 4}, {"clusters": n // 4, "max_cluster": 3}, {"max_cluster": 3},
        {"clusters": n // 4, "max_cluster": 4, "delta": None}, {"max_weight": 3.0, "delta": None},
        {"clusters": n // 4} | weight, {"clusters": n // 4, "max_cluster": 0}, {"coverage": 0.5}, {"risk": None},
        {"loss": []}, {"confidence": np.where(n == 3, np.nan, p["confidence"])}, {"groups": np.where(n < 59, "a", "b")},
        {"confidence": np.where(n == 3, np.inf, p["confidence"])}, {"groups": n}, {"risk": 0.2, "delta": 95},
    )]  # fmt: skip
    alone = [{"capacity": each} for each in ((5, 5), (0, 5), (6, 5), (0, 0), (-1, 5), (1, 2, 3), "ab", 1.0, 1.5)]
    alone += [{"cost": each} for each in ((1.0, 0.0), (0.0, 1.0), (1.0, -0.1), (np.inf, 1.0), (1.0, np.inf), 3.0)]
    alone += [{"coverage": each} for each in (0.0, 1.0, 1.01)]
    wrong += [(abstain.choose_threshold, each | {"risk": None, "delta": None}) for each in alone]
    wrong += [(thresholds.prior_threshold, {**prior, **each}) for each in (
        {}, {"labels": kinds["labels"][:9]}, {"labels": [[1]] * 60}, {"max_loss": 0.9}, {"risk": 1.0}, {"risk": 1.5},
        {"risk": 1.5, "max_loss": 2.0}, {"prior": [0.5, 0.5]}, {"prior": three | {1: 0.2}}, {"prior": three | {3: 0.0}},
        {"prior": {0: 0.5, 1: 0.5}}, {"prior": {0: 0.5, 1: 0.5, 7: 0.0}}, {"prior": {0: 0.2, 1: 0.3, 2: 0.2, 3: 0.3}},
        {"prior": {0: -0.2, 1: 0.7, 2: 0.5}}, {"prior": {0: 0.5, 1: 0.5, 2: 0.0}}, {"delta": 0.6}, {"thresholds": []},
        {"thresholds": np.linspace(0.0, 1.0, 200)}, {"thresholds": np.linspace(0.0, 1.0, 201)}, {"scores": [0.1]},
        {"thresholds": [0.5, np.inf]}, {"thresholds": None}, {"thresholds": None, "scores": [np.nan, np.inf]},
    )]  # fmt: skip
    wrong += [(thresholds.choose_pair, {"second": p["other"], "rng": 1} | each) for each in (
        {"prevalence": 0.5}, {"prevalence": 0.5, "is_ood": n < 0}, {"prevalence": 0.5, "is_ood": n >= 0},
        {"prevalence": 0.0, "is_ood": n < 9}, {"prevalence": 1.0, "is_ood": n < 9}, {"is_ood": n}, {"risk": 0.0},
        {"prevalence": 0.5, "is_ood": n < 1}, {"prevalence": 0.5, "is_ood": n < 59}, {"second": p["other"][:9]},
        {"second_threshold": np.nan}, {"second_threshold": -np.inf}, {"second_threshold": 2.0}, {"delta": 0.7},
    )]  # fmt: skip
    wrong += [(thresholds.conditional_threshold, {"where": n < 40, "what": "some"} | each) for each in (
        {"what": ""}, {"what": 3}, {"where": n}, {"where": n < 0}, {"where": n[:9] < 3}, {"where": n < 1},
    )]  # fmt: skip
    exact = (thresholds.sgr_threshold, thresholds.bonferroni_threshold, thresholds.fixed_sequence_threshold)
    for call, more in [*((each, graded) for each in exact), *((each, {**given, **weight}) for each in exact[1:])]:
        wrong.append((call, more | {"max_weight": 4.0} if "sample_weight" in more else more))
    wrong += [(thresholds.prespecified_threshold, {**by, **each}) for each in (
        {}, {"thresholds": []}, {"thresholds": [np.nan]}, {"clusters": n // 4, "bound": "hoeffding-bentkus"},
        {"bound": "binomial"}, {"clusters": n // 30}, {"clusters": n // 2}, {"thresholds": [9.0]},
    )]  # fmt: skip
    for k, (call, options) in enumerate(wrong):
        seen = refusal(call, **{**given, **options} if call is not thresholds.prior_threshold else options)
        yield [k, seen if isinstance(seen, list | float) else said(seen)]


def audits_at_the_limit():
    """Return audits whose interval ends at the limit that is certified, and just beside it."""
    n = np.arange(400)
    for wrong, graded, side in product((3, 9, 30), (False, True), ("low", "high")):
        loss = (n < wrong) * (0.5 if graded else 1.0)
        more = {"max_loss": 1.0} if graded else {}
        first = thresholds.audit(_certified(0.3, **more), loss, np.ones(400))
        limit = max(first.risk_interval[side == "high"], 0.001)
        for risk in (limit, limit * (1.0 + 1e-9), limit * (1.0 - 1e-9)):
            seen = thresholds.audit(_certified(risk, **more), loss, np.ones(400))
            yield [wrong, graded, side, whole(seen.risk_interval), seen.satisfied, said(seen.reason)]


def _certified(risk, **more):
    """Return a threshold of 1 that is certified at a risk."""
    return abstain.choose_threshold(np.zeros(9000), np.ones(9000), risk=risk, delta=0.1, **more)


def intervals_of_runs_and_clusters():
    """Return intervals and tests of runs with one degree of freedom, of whole clusters of errors and of wide ties."""
    for size, runs, metric in product((2, 3, 4), (2, 3), ("augrc", "risk", "auroc_f")):
        given = {"clusters": np.arange(12) % size}
        yield rows_of(tried(abstain.compare, *models(7 * size + runs, 12, runs), metric, **given))
    n, metrics = np.arange(60), ("augrc", "aurc", "risk", "auroc_f", "e_augrc", "sele")
    for many, metric, unseen in product((1, 2, 3), metrics, ("random", "top")):
        loss, given = (n // 6 < many) * 1.0 * (n % 6 < 5), {"clusters": n // 6, "unseen": unseen}
        yield tried(inference.confidence_interval, metric, loss, np.sqrt((17.0 * n) % 60), **given)
    metrics = ("fpr95_error", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.5)")
    for steps, metric, method in product((2, 3, 5), metrics, ("auto", "influence")):
        p = rows(steps, 80, steps=steps)
        scores = {"a": p["confidence"], "b": np.round(p["other"] * steps)}
        yield rows_of(tried(abstain.compare, p["loss"], scores, metric, method=method, n_resamples=60))
    for size, more, metric in product((8, 14, 24), (2, 4, 7), ("augrc", "aurc")):
        loss, k = (np.arange(size) % 7 < 2) * 1.0, np.arange(size)
        scores = {"a": np.sqrt(1.0 * k), "b": np.sqrt(k) + 2.0 * (k < more), "c": np.sqrt((5 * k) % 23)}
        result, caught = warned(abstain.compare, loss, scores, metric, n_permutations=99)
        yield [caught, rows_of(result)]
    for seed in (0, 4, 14):
        rng = np.random.default_rng(seed)
        wrong, moved, n = int(rng.integers(8, 30)), int(rng.integers(5, 16)), np.arange(120)
        one, by = rng.permutation(n / 120.0), rng.choice([0.02, 0.05, 0.1, 0.2])
        other = np.where((n >= wrong) & (n < wrong + moved), 2.0, one + by * rng.normal(size=120) - by * (n < wrong))
        yield rows_of(abstain.compare((n < wrong) * 1.0, {"a": one, "b": other}, "augrc", n_permutations=199))
    rng, n = np.random.default_rng(5), int(np.random.default_rng(5).integers(8, 30))
    wrong = (np.arange(n) < 4) * 1.0
    scores = {name: rng.normal(size=n) - 2.0 * sign * wrong for name, sign in zip("abcd", (1, -1, 1, -1), strict=True)}
    for adjust in ("holm", "max-t"):
        options = {"adjust": adjust, "n_resamples": 40, "level": 0.99}
        yield rows_of(abstain.compare(wrong, scores, "coverage_at_risk(risk=0.2)", **options))
    for many in (10**7, 10**7 + 1):
        yield refusal(inference.permutation_test, [0, 1, 0], [1, 2, 3], [2, 1, 3], n_permutations=many)
    n = np.arange(60)
    for wrong, seed, number, level in ((5, 0, 1000, 0.9), (6, 2, 1000, 0.9), (12, 0, 3, 0.5), (12, 0, 3, 0.51)):
        pair, options = ((n < wrong) * 1.0, np.sqrt((17 * n) % 60)), {"n_resamples": number, "rng": seed}
        drawn_again = inference.bootstrap("augrc" if number == 3 else "auroc_f", *pair, **options)
        interval = drawn_again.interval(level)
        yield [interval, drawn_again.backend, str(interval.warning).split(";")]


def pairs_of_thresholds():
    """Return the best pair of two scores where the search takes several steps, and a row of the docstrings."""
    for seed, share in ((4, 0.8123456789), (25, 0.9612345678), (55, 0.8123456789)):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(15, 60)), int(rng.integers(10, 60))
        given = {"id_loss": (rng.random(n) < rng.random()) * 1.0, "id_confidence": rng.normal(size=n)}
        given |= {"id_detector": rng.normal(size=n) + rng.random() * 4, "ood_confidence": rng.normal(size=m)}
        yield joint.ds_f1(**given, ood_detector=rng.normal(size=m), prevalence=share)
    for name in ("augrc", "auroc_f", "cwsa", "nll", "coverage_at_risk", "aumcc"):
        yield [line for line in str(getattr(abstain, name).__doc__).splitlines() if " : " in line]


def rows_of_policies():
    """Return decisions on a row by two scores, of which one has no plain form, and policies of few groups in words."""
    p = easy(9, 400, share=0.5)
    pair = thresholds.choose_pair(**chosen(p), second=p["other"], second_threshold=0.4, risk=0.3, delta=0.2)
    for score, detector in product(("neg_entropy", "msp"), (0.9, 0.4, 0.1, np.nan, None)):
        policy = pair.policy(score=score, second="d", logits=["x", "y"])
        policy = replace(policy, thresholds=dict.fromkeys(policy.thresholds, -5.0))
        row = {"x": 3.0, "y": 0.0, "d": detector}
        yield [tried(policy.decide, row), tried(policy.decide, [row]), tried(policy.decide, {"x": 3.0, "y": 0.0})]
    for many in (2, 3, 4):
        made = abstain.choose_threshold(**chosen(p), groups=np.arange(400) % many, coverage=0.5)
        yield said(repr(made.policy(score="s", group="g")))
