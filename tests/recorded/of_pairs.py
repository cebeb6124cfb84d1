"""Pairs of scores that hardly differ or differ in one direction, errors that were not seen, letters and ranks."""

from itertools import product

import numpy as np

import abstain
from abstain import inference
from tests.recorded import rows_of, tried
from tests.recorded.populations import rows

N = np.arange(80)
SCORE = np.sqrt((7.0 * N) % 80)


def _moved(number, up, rng):
    """Return the score with so many rows moved in one direction."""
    chosen = rng.permutation(80)[:number]
    return SCORE + np.where(np.isin(N, chosen), 3.0 if up else -3.0, 0.0)


def _pairs(losses, scores, metric, **options):
    """Return what is compared by swaps and without, and with a margin."""
    auto, without = (
        rows_of(tried(abstain.compare, losses, scores, metric, method=method, **options))
        for method in ("auto", "influence")
    )
    return [auto, without, rows_of(tried(inference.non_inferiority, losses, scores, metric, margin=0.03, **options))]


def moved_in_one_direction():
    """Return comparisons of a score with one that moves few or many rows up or down, by how many errors there are."""
    rng, found = np.random.default_rng(151), {}
    for errors in (0, 2, 12, 30, 78):
        loss = np.isin(N, rng.permutation(80)[:errors]) * 1.0
        for number, up in product((1, 10, 60), (True, False)):
            scores = {"new": _moved(number, up, rng), "old": SCORE}
            found[f"{errors} {number} {up}"] = _pairs(loss, scores, "augrc")
        large = _pairs(4.0 * loss, {"new": _moved(20, errors < 10, rng), "old": SCORE}, "augrc")
        found[f"{errors} large losses"] = large[:2]
        for metric in ("aurc", "risk", "selective_accuracy(coverage=0.6)"):
            found[f"{errors} {metric}"] = _pairs(loss, {"new": _moved(20, True, rng), "old": SCORE}, metric)
    return found


def moved_in_clusters():
    """Return the same in clusters of equal and of unequal size, with weights and strata."""
    rng, found = np.random.default_rng(152), {}
    designs = {
        "fours": {"clusters": N // 4}, "unequal": {"clusters": np.sqrt(4.0 * N) // 1}, "few": {"clusters": N // 16},
        "weights": {"sample_weight": 1.0 + N % 3}, "strata": {"strata": N % 2},
        "both": {"clusters": N // 4, "sample_weight": np.where(N % 7 == 3, 0.0, 1.0 + N % 2)},
    }  # fmt: skip
    for errors in (0, 5, 40):
        loss = (errors > N) * 1.0
        for (name, given), (number, up) in product(designs.items(), ((3, True), (40, False))):
            scores = {"new": _moved(number, up, rng), "old": SCORE}
            found[f"{errors} {name} {number}"] = _pairs(loss, scores, "augrc", **given)
    return found


def models_apart():
    """Return comparisons of models whose losses differ on no, one, few and many rows, in one direction and in both."""
    rng, found = np.random.default_rng(153), {}
    loss = np.isin(N, rng.permutation(80)[:24]) * 1.0
    for number, kind in product((0, 2, 30), ("worse", "both")):
        chosen = rng.permutation(80)[:number]
        other = np.where(np.isin(N, chosen), 1.0 if kind == "worse" else 1.0 - loss, loss)
        for metric in ("augrc", "risk", "accuracy", "selective_risk(coverage=0.5)"):
            for given in ({}, {"clusters": N // 4}):
                scores = {"new": SCORE, "old": _moved(5, True, rng)}
                at = f"{number} {kind} {metric} {list(given)}"
                found[at] = _pairs({"new": loss, "old": other}, scores, metric, **given)[1:]
    return found


def letters():
    """Return letters of matrices of significance, and of scores of which many differ."""
    rng = np.random.default_rng(154)
    for k in (1, 2, 5, 8):
        matrix = np.triu(rng.random((k, k)) < 0.4, 1)
        yield f"{k}", inference.letter_groups(matrix | matrix.T)
    p = rows(155, 500)
    scores = {name: p["confidence"] + 0.08 * j**2 * rng.normal(size=500) for j, name in enumerate("abcdef")}
    for adjust, metric in product(("holm", "max-t", "none"), ("augrc", "auroc_f")):
        result = abstain.compare(p["loss"], scores, metric, adjust=adjust, method="influence")
        yield f"{adjust} {metric}", rows_of(result)
    study = abstain.ranking_study(p["loss"], scores, ("augrc",), n_resamples=100)
    yield "study", study
    yield "wilcoxon", study.wilcoxon_over_resamples()
