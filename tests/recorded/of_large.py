"""Samples with many rows, errors, thresholds or resamples, which are worked on in parts."""

from itertools import product

import numpy as np

import abstain
from abstain import inference
from tests.recorded import rows_of, shown, tried
from tests.recorded.of_metrics import OF_SCORES
from tests.recorded.populations import models, rows, scores_and_rows


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
    for kind, method in (
        ("pointwise", "auto"),
        ("pointwise", "influence"),
        ("simultaneous", "auto"),
        ("simultaneous", "dkw"),
    ):
        for names in ((), ("clusters",)):
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
