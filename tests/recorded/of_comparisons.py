"""Comparisons of scores and models: adjustments, methods, designs, runs and edges."""

from itertools import product

import numpy as np

import abstain
from tests.recorded import rows_of, shown, tried
from tests.recorded.populations import models, scores_and_rows


def scores_under_one_loss():
    """Return comparisons by metric and adjustment, as they are shown."""
    scores, p = scores_and_rows(51, 90, 3)
    for metric in ("augrc", "auroc_f", "aurc", "e_aurc", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.5)"):
        for adjust in ("holm", "max-t", "none")[: 3 if metric == "augrc" else 2]:
            method = "influence" if adjust == "max-t" and "coverage_at_risk" not in metric else "auto"
            result = abstain.compare(p["loss"], scores, metric, adjust=adjust, n_resamples=60, method=method, rng=1)
            yield f"{metric} {adjust}", shown(result) if adjust == "holm" else result.rows()


def designs():
    """Return comparisons with weights, clusters and strata, by each method."""
    scores, p = scores_and_rows(52, 50, 2, steps=20)
    for metric in ("augrc", "auroc_f", "selective_accuracy(coverage=0.6)"):
        for method in ("auto", "influence", "bootstrap", "permutation")[: 4 if metric == "augrc" else 3]:
            for names in ((), ("sample_weight",), ("clusters",), ("strata",), ("sample_weight", "clusters")):
                given = {name: p["groups" if name == "strata" else name] for name in names}
                options = {"method": method, "n_resamples": 40, "n_permutations": 49, "level": 0.9}
                result = tried(abstain.compare, p["loss"], scores, metric, **given, **options)
                yield f"{metric} {method} {names}", rows_of(result)


def models_and_runs():
    """Return comparisons of models with losses of their own, of one run and of several, paired and not."""
    for runs in (0, 2, 4):
        losses, scores = models(53 + runs, 120, runs)
        for metric, paired in product(("augrc", "risk", "accuracy", "auroc_f", "naugrc"), (None, True, False)):
            given = {"paired_runs": paired, "method": "auto" if metric == "augrc" else "influence"}
            yield f"{runs} {metric} {paired}", rows_of(tried(abstain.compare, losses, scores, metric, **given))
        yield f"{runs} one loss", shown(abstain.compare(losses["x"], scores, "augrc", n_permutations=49))
        cluster = abstain.compare(
            losses, scores, "augrc", clusters=np.arange(120) // 5, sample_weight=1.0 + np.arange(120) % 2
        )
        yield f"{runs} clusters", shown(cluster)
    uneven = {"x": losses["x"], "y": losses["y"][:3]}, {"x": scores["x"], "y": scores["y"][:3]}
    yield "uneven runs", shown(abstain.compare(*uneven, "augrc", paired_runs=False))


def edges():
    """Return comparisons with the same ranking, no or few errors, only errors, one error apart, and graded losses."""
    n = np.arange(60)
    scores = {"a": (7.0 * n) % 60, "b": (11.0 * n) % 60, "same": 2.0 * ((7.0 * n) % 60)}
    for k, metric in product((0, 1, 2, 5, 59, 60), ("augrc", "auroc_f", "risk", "aurc")):
        result = tried(abstain.compare, (n < k) * 1.0, scores, metric, n_permutations=49)
        yield f"{k} {metric}", rows_of(result)
        losses = {"a": (n < k) * 1.0, "b": (n <= k) * 1.0}
        two = {name: scores[name] for name in "ab"}
        for method in ("auto", "influence"):
            result = tried(abstain.compare, losses, two, metric, n_permutations=49, method=method)
            yield f"{k} apart {metric} {method}", rows_of(result)
    graded, p = scores_and_rows(54, 90, 2, graded=True)
    for metric in ("augrc", "aurc", "selective_risk(coverage=0.7)", "risk"):
        yield f"graded {metric}", tried(abstain.compare, 5.0 * p["loss"], graded, metric, n_permutations=49)
