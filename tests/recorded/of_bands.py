"""Bands, sizes of samples and curves; samples with so many rows or resamples that they are worked on in parts."""

from itertools import product

import numpy as np

import abstain
from abstain import inference
from tests.recorded import rows_of, shown, tried
from tests.recorded.of_metrics import OF_SCORES
from tests.recorded.populations import models, rows, scores_and_rows


def _band(found, risks=(0.0, 0.1, 0.3)):
    """Return a band with its readings along and across."""
    if isinstance(found, str):
        return found
    along = [found.at(each) for each in (-1.0, 0.35, 0.6, 5.0)]
    across = [found.coverage_at_risk_interval(each) for each in risks]
    facts = [found.unit, found.risk_kind, found.kind, found.method, found.level, found.min_coverage, found.warning]
    return [found.table(), facts, along, across, len(found)]


def bands():
    """Return bands of each kind and method, with weights, clusters, graded and large losses."""
    for seed, steps, graded in ((71, 0, False), (72, 7, True)):
        p = rows(seed, 36, steps=steps, graded=graded)
        cases = [("pointwise", ("auto", "clopper-pearson", "influence"))]
        cases += [("simultaneous", ("auto", "multiplier", "dkw"))]
        for kind, methods in cases:
            for method, risk in product(methods, ("selective", "generalized")):
                for names in ((), ("sample_weight",), ("clusters",)):
                    given = {name: p[name] for name in names}
                    given |= {"kind": kind, "method": method, "risk": risk, "n_draws": 100, "level": 0.9}
                    at = f"{seed} {kind} {method} {risk} {names}"
                    yield at, _band(tried(inference.risk_band, p["loss"], p["confidence"], **given))
    for k, kind in product((0, 1, 36), ("pointwise", "simultaneous")):
        loss, score = (np.arange(36) < k) * 1.0, (7.0 * np.arange(36)) % 12
        yield f"{k} {kind}", _band(tried(inference.risk_band, loss, score, kind=kind, n_draws=100))
    p = rows(73, 40, steps=8, graded=True)
    for least in (0.0, 0.4, 1.0):
        given = {"kind": "simultaneous", "min_coverage": least, "n_draws": 100, "rng": 9}
        yield f"least {least}", _band(tried(inference.risk_band, 6.0 * p["loss"], p["confidence"], **given))
    nothing = np.where(np.arange(40) % 5 == 2, 0.0, p["sample_weight"])
    for units, kind in product((1, 2, 3, 8), ("pointwise", "simultaneous")):
        given = {"clusters": np.arange(40) % units, "sample_weight": nothing, "kind": kind, "n_draws": 100}
        yield f"{units} clusters {kind}", _band(tried(inference.risk_band, p["loss"], p["confidence"], **given))
    yield "one row", _band(tried(inference.risk_band, [1.0], [0.5]))
    yield "large clusters", _band(inference.risk_band(p["loss"], p["confidence"], clusters=np.arange(40) // 9))


def planners():
    """Return sizes of samples and what they detect, from standard deviations and from pilots."""
    p, small = rows(74, 160), rows(75, 30)
    pair = p["loss"], p["confidence"], p["other"]
    two = (p["loss"], np.roll(p["loss"], 3)), p["confidence"], p["other"]
    weak = small["loss"], small["confidence"], small["other"]
    found = {"sd": []}
    for power, level in product((0.5, 0.8, 0.95), (0.8, 0.99)):
        given = {"power": power, "level": level}
        sizes = [inference.samples_for_difference(d, sd=s, **given) for d, s in ((0.01, 0.2), (-0.4, 0.1), (3.0, 0.5))]
        found["sd"].append([sizes, [inference.detectable_difference(n, sd=0.3, **given) for n in (2, 50, 10**6)]])
    for metric in ("augrc", "auroc_f", "aurc", "risk", "e_aurc", "selective_risk(coverage=0.5)", "coverage_at_risk"):
        for name, pilot in (("pair", pair), ("two", two), ("weak", weak)):
            found[f"{metric} {name}"] = [
                tried(inference.influence_sd, pilot, metric),
                tried(inference.samples_for_difference, 0.02, pilot=pilot, metric=metric),
                tried(inference.detectable_difference, 500, pilot=pilot, metric=metric, power=0.9),
            ]
        for width, level in product((0.3, 0.1, 0.02), (0.8, 0.95)):
            at = f"{metric} {width} {level}"
            found[at] = tried(inference.samples_for_width, width, pair[:2], metric, level=level)
        alone = p["loss"], p["confidence"]
        found[f"{metric} one"] = [tried(inference.influence_sd, alone, metric)]
    clean = np.zeros(50), np.arange(50)
    found["no error"] = [tried(inference.samples_for_width, 0.05, clean, m) for m in ("augrc", "risk", "aurc")]
    few = (np.arange(80) % 6 == 1) * 1.0, np.arange(80) % 13
    found["few errors"] = [tried(inference.samples_for_width, 0.05, few, m) for m in ("augrc", "risk", "aurc")]
    return found


def curves():
    """Return curves with their tables, hulls and operating points."""
    for seed, steps, graded in ((76, 0, False), (77, 6, False), (78, 8, True)):
        p = rows(seed, 30, steps=steps, graded=graded)
        gaps = p["confidence"].copy()
        gaps[[2, 9]] = np.nan
        cases = {"plain": {"confidence": p["confidence"]}}
        cases |= {"weights": {"confidence": p["confidence"], "sample_weight": p["sample_weight"]}}
        cases |= {"reject": {"confidence": gaps, "nan_policy": "reject"}}
        cases |= {"drop": {"confidence": gaps, "nan_policy": "drop", "sample_weight": p["sample_weight"]}}
        for name, given in cases.items():
            curve = abstain.risk_coverage_curve(p["loss"], **given)
            hull = curve.hull()
            asked = [{"coverage": each} for each in (0.0, 0.3, 0.65, 1.0)]
            asked += [{"risk": each} for each in (0.0, 0.1, 0.2, 1.0)]
            asked += [{"threshold": each} for each in (-1.0, 0.5, 0.75, 2.0)]
            at = [[tried(each.at, **point) for point in asked] for each in (curve, hull)]
            yield f"{seed} {name}", [curve.table(), curve.n_accepted, hull.table(), at]


def curves_at_the_edges():
    """Return curves of one and two rows, without errors, of only errors and of one score."""
    n = np.arange(8.0)
    cases = [([1.0], [0.3]), ([0.0, 1.0], [1.0, 1.0]), (n * 0.0, n), (n * 0.0 + 1.0, n), (n % 2, n * 0.0), (n, -n)]
    for loss, score in cases:
        curve = abstain.risk_coverage_curve(loss, score)
        asked = ({"coverage": 0.5}, {"risk": 0.0}, {"risk": 0.5}, {"threshold": 0.5})
        yield [curve.table(), curve.hull().table(), [tried(curve.at, **each) for each in asked]]


def losses():
    """Return losses of predictions, with options and what is clipped."""
    p = rows(79, 12)
    labels, matrix, guess = p["labels"], p["probabilities"], p["probabilities"].argmax(axis=1)
    costs = np.arange(16.0).reshape(4, 4) / 4.0
    masks = np.random.default_rng(3).random((2, 5, 4, 4)) < 0.4
    masks[:, 1], masks[0, 2], masks[1, 3] = False, False, False
    out = (np.arange(12) % 3 == 0) * 1
    named = ["cat", "dog", "cat"], ["dog", "dog", "cat"]
    of = abstain.losses
    yield "zero_one", [of.zero_one(labels, guess), of.zero_one(*named), tried(of.zero_one, labels, matrix)]
    yield "brier", of.brier(labels, matrix)
    yield "cross_entropy", [of.cross_entropy(labels, matrix), of.cross_entropy(labels, matrix, clip=0.2)]
    yield "cross_entropy 2", [of.cross_entropy(labels, logits=np.log(matrix) * 3.0)]
    yield "cross_entropy 3", [of.cross_entropy(labels, logits=np.log(matrix) * 300.0)]
    yield "cross_entropy 4", [of.cross_entropy([0, 1, 1], [[1.0, 0.0], [1.0, 0.0], [0.25, 0.75]])]
    yield "cross_entropy 5", [tried(of.cross_entropy, labels, matrix, logits=matrix)]
    yield "cost_matrix", [of.cost_matrix(labels, guess, costs), tried(of.cost_matrix, [0, 5], [1, 1], costs)]
    yield "dice", [of.dice(*masks), of.dice(*masks[:, :, 0]), tried(of.dice, masks[0], masks[1, :2])]
    yield "ood_cost", [of.ood_cost(p["loss"], out), of.ood_cost(p["loss"], out, 0.25), of.ood_cost(p["loss"], out, 7)]


def asserted_risks():
    """Return the certified thresholds of a test of a selective risk, and its refusals."""
    from abstain import testing

    p = rows(80, 600)
    loss = p["loss"] * (p["confidence"] < 0.7)
    for risk, delta, coverage in ((0.05, 0.05, 0.0), (0.1, 0.2, 0.3), (0.3, 0.1, 0.9), (0.001, 0.05, 0.5)):
        try:
            yield (
                f"{risk} {delta} {coverage}",
                testing.assert_selective_risk(
                    {"loss": loss, "confidence": p["confidence"]}, risk, delta, coverage=coverage
                ),
            )
        except AssertionError as why:
            yield f"{risk} {delta} {coverage}", str(why)


def metrics_of_many_rows():
    """Return metrics of more rows than are summed at once."""
    p = rows(141, 140_001)
    table = abstain.TieBlocks.from_samples(p["loss"], p["confidence"])
    weighted = abstain.TieBlocks.from_samples(p["loss"], p["confidence"], p["sample_weight"])
    names = [*OF_SCORES, "aurc(estimator=log)", "aurc(estimator=trapezoid)", "augrc(coverage_range=(0.2,0.6))"]
    for name in names:
        if name not in ("generalized_risk", "selective_accuracy", "selective_risk"):
            yield name, [tried(abstain.metrics.parse(name), each) for each in (table, weighted)]


def inference_on_many_rows():
    """Return errors, intervals and sums of influence of more rows than are held at once."""
    p = rows(142, 70_000)
    for names in ((), ("sample_weight",), ("clusters",)):
        given = {name: p[name] for name in names}
        for metric in ("augrc", "aurc"):
            yield f"{metric} {names}", inference.confidence_interval(metric, p["loss"], p["confidence"], **given)
    terms = inference.influence("aurc", p["loss"], p["confidence"])
    yield "influence", [terms[::7000], float(np.abs(terms).sum())]
    yield "covariance", inference.covariance(terms, p["loss"])


def tests_with_many_errors():
    """Return comparisons, margins and groups where errors are many, so that nothing is swapped."""
    scores, p = scores_and_rows(143, 900, 3)
    loss = np.where(p["other"] < 0.3, 1.0, p["loss"])
    for metric in ("augrc", "aurc", "auroc_f", "selective_risk(coverage=0.5)"):
        for adjust in ("holm", "max-t"):
            yield f"{metric} {adjust}", rows_of(abstain.compare(loss, scores, metric, adjust=adjust))
        two = {name: scores[name] for name in "ab"}
        for claim in ("non-inferior", "equivalent"):
            given = {"margin": 0.02, "claim": claim}
            yield f"{metric} {claim}", rows_of(inference.non_inferiority(loss, two, metric, **given))
        yield f"{metric} groups", rows_of(inference.compare_groups(loss, scores["a"], p["groups"], metric))
        for names in (("sample_weight",), ("clusters",), ("sample_weight", "clusters")):
            given = {name: p[name] for name in names}
            yield f"{metric} {names}", rows_of(abstain.compare(loss, scores, metric, **given))
    for runs in (0, 3, 5):
        losses, each = models(144 + runs, 700, runs)
        for metric, paired in product(("augrc", "risk", "auroc_f"), (True, False)):
            yield f"{runs} {metric} {paired}", rows_of(abstain.compare(losses, each, metric, paired_runs=paired))


def many_resamples():
    """Return intervals from more resamples than are drawn at once."""
    p = rows(145, 300)
    for metric, method in product(("augrc", "auroc_f", "coverage_at_risk(risk=0.1)"), ("percentile", "bca")):
        given = {"method": method, "n_resamples": 1200}
        yield (f"{metric} {method}", tried(inference.confidence_interval, metric, p["loss"], p["confidence"], **given))


def far_apart():
    """Return comparisons of coverages that differ by nearly all rows, and intervals whose resamples are few."""
    rng, n = np.random.default_rng(148), np.arange(300)
    for errors in (3, 30):
        loss = (n < errors) * 1.0
        scores = {"knows": 0.1 * rng.random(300) - loss, "wrong": loss + 0.1 * rng.random(300)}
        for level in (0.8, 0.99):
            given = {"n_resamples": 60, "level": level}
            result = tried(abstain.compare, loss, scores, "coverage_at_risk(risk=0.02)", **given)
            yield f"{errors} {level}", rows_of(result)
    for errors, resamples in product((3, 4, 5, 6, 7), (3, 19, 39, 1000)):
        given = {"n_resamples": resamples, "method": "percentile", "level": 0.5 if resamples == 3 else 0.9}
        at = f"{errors} errors, {resamples} resamples"
        loss, score = (n < errors) * 1.0, (7.0 * n) % 300
        yield at, tried(inference.confidence_interval, "auroc_f", loss, score, **given)


def many_thresholds():
    """Return bands over more thresholds than are drawn, or computed, at once."""
    p = rows(146, 3000)
    cases = [("pointwise", "auto"), ("pointwise", "influence"), ("simultaneous", "auto"), ("simultaneous", "dkw")]
    for (kind, method), names in product(cases, ((), ("clusters",))):
        given = {name: p[name] for name in names} | {"kind": kind, "method": method, "n_draws": 150}
        band = tried(inference.risk_band, p["loss"], p["confidence"], **given)
        points = [] if isinstance(band, str) else [band.at(each) for each in (0.1, 0.5, 0.9)]
        yield f"{kind} {method} {names}", points or band
    wide = rows(147, 25_000)
    band = inference.risk_band(wide["loss"], wide["confidence"])
    yield "interpolated", [band.low[::2000], band.high[::2000], len(band)]


def runs_in_every_design():
    """Return comparisons and rankings of several runs, of equal and of unlike numbers, by each route."""
    losses, scores = models(149, 60, 4)
    uneven = {"x": losses["x"], "y": losses["y"][:2]}, {"x": scores["x"], "y": scores["y"][:2]}
    designs = (
        {}, {"clusters": np.arange(60) // 4}, {"clusters": np.sqrt(3.0 * np.arange(60)) // 1},
        {"strata": np.arange(60) % 3},
        {"sample_weight": 1.0 + np.arange(60) % 2, "clusters": np.arange(60) // 5},
    )  # fmt: skip
    for k, design in enumerate(designs):
        for metric in ("augrc", "f1_auc", "coverage_at_risk(risk=0.3)", "auroc_f", "accuracy"):
            given = {"n_resamples": 40, **design}
            yield f"{k} {metric}", rows_of(tried(abstain.compare, losses, scores, metric, **given))
            yield f"{k} {metric} uneven", rows_of(tried(abstain.compare, *uneven, metric, paired_runs=False, **given))
        yield f"{k} margin", rows_of(tried(inference.non_inferiority, losses, scores, "augrc", margin=0.1, **design))
        yield f"{k} one loss", rows_of(abstain.compare(losses["x"], scores, "augrc", adjust="max-t", **design))


def many_groups_and_pairs():
    """Return evaluations by many groups, and comparisons of more pairs than a table shows."""
    p = rows(161, 900)
    rng, found = np.random.default_rng(161), {}
    for number in (7, 25, 45):
        given = {"loss": p["loss"], "confidence": p["confidence"], "groups": {"site": rng.integers(0, number, 900)}}
        result = abstain.evaluate(**given, metrics=["augrc", "auroc_f"])
        found[f"{number} groups"] = shown(result) if number == 25 else [result.verdict, result.notes()]
    compared = inference.compare_groups(p["loss"], p["confidence"], rng.integers(0, 7, 900), "risk")
    found["7 groups compared"] = shown(compared)
    scores = {name: p["confidence"] + 0.1 * j * rng.normal(size=900) for j, name in enumerate("abcdefg")}
    found["7 scores"] = shown(abstain.compare(p["loss"], scores, method="influence"))
    return found


def resamples_of_many_rows():
    """Return resamples of more rows than are drawn one by one, and of more than are left out one by one."""
    for n in (2500, 5001):
        p = rows(162, n)
        for names in ((), ("clusters",), ("sample_weight",)):
            given = {name: p[name] for name in names}
            terms = inference.replicates(
                ["augrc", "aurc", "auroc_f"], [(p["loss"], p["confidence"])] * 2, n_resamples=12, **given
            )
            yield f"{n} {names}", terms[:, 0]
        bca = {"method": "bca", "n_resamples": 120}
        yield f"{n} bca", inference.confidence_interval("augrc", p["loss"], p["confidence"], **bca)
