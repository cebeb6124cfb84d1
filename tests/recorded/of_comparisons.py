"""Comparisons of scores and models: adjustments, designs, runs, margins, groups, rankings, pairs that hardly differ."""

from itertools import product

import numpy as np

import abstain
from abstain import inference
from tests.recorded import rows_of, shown, tried
from tests.recorded.populations import models, rows, scores_and_rows


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


def margins():
    """Return tests of non-inferiority and equivalence, by margin, design and runs."""
    scores, p = scores_and_rows(55, 200, 2)
    for metric, margin in product(("augrc", "auroc_f", "aurc", "selective_risk(coverage=0.5)"), (0.003, 0.05)):
        for claim in ("non-inferior", "equivalent"):
            for names in ((), ("sample_weight",), ("clusters",), ("strata",)):
                given = {name: p["groups" if name == "strata" else name] for name in names}
                options = {"margin": margin, "claim": claim, "level": 0.9}
                result = tried(inference.non_inferiority, p["loss"], scores, metric, **options, **given)
                whole = metric == "augrc" and not names
                yield f"{metric} {margin} {claim} {names}", shown(result) if whole else rows_of(result)
    for runs in (0, 3):
        losses, found_by = models(56 + runs, 150, runs)
        for metric, paired in product(("augrc", "risk", "naugrc"), (None, True, False)):
            given = {"margin": 0.02, "paired_runs": paired}
            result = tried(inference.non_inferiority, losses, found_by, metric, **given)
            yield f"{runs} {metric} {paired}", rows_of(result)
    same = {"a": scores["a"], "b": 2.0 * scores["a"]}
    yield "same", shown(inference.non_inferiority(p["loss"], same, "augrc", margin=0.01))
    one = {"a": p["loss"], "b": np.where(np.arange(200) == 7, 1.0 - p["loss"], p["loss"])}
    for metric in ("augrc", "risk", "accuracy"):
        yield f"one apart {metric}", rows_of(inference.non_inferiority(one, same, metric, margin=0.01))


def groups():
    """Return comparisons of groups, as they are shown."""
    for seed in (57, 58):
        p = rows(seed, 240, steps=0 if seed == 57 else 15)
        loss = np.where((p["groups"] == "b") & (p["other"] < 0.5), 1.0, p["loss"])
        cases = ["augrc", "risk", "auroc_f", "accuracy", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.5)"]
        for metric, names in product(cases, ((), ("sample_weight",), ("clusters",))):
            within = np.char.add(p["groups"].astype(str), p["clusters"].astype(str))
            given = {name: within if name == "clusters" else p[name] for name in names}
            options = {"level": 0.9 if seed == 58 else 0.95, "n_resamples": 40}
            result = tried(inference.compare_groups, loss, p["confidence"], p["groups"], metric, **given, **options)
            yield f"{seed} {metric} {names}", rows_of(result) if seed == 58 or names else shown(result)
    n = np.arange(90)
    for k, metric in product((0, 1, 30, 90), ("augrc", "risk", "auroc_f")):
        result = tried(inference.compare_groups, (n < k) * 1.0, (7.0 * n) % 90, n % 3 + (n > 80), metric)
        yield f"{k} {metric}", shown(result)


def rankings():
    """Return ranking studies with letters, agreement and ranks of resamples."""
    for steps, names in ((0, ()), (12, ("sample_weight",)), (12, ("clusters",)), (0, ("strata",))):
        scores, p = scores_and_rows(59 + steps, 60, 3, steps=steps)
        given = {name: p["groups" if name == "strata" else name] for name in names}
        for adjust in ("holm", "none") if steps == 0 else ("max-t",):
            metrics = ["augrc", "auroc_f", "aurc"]
            metrics += [*(("coverage_at_risk(risk=0.2)",) if adjust == "none" and not names else ())]
            result = abstain.ranking_study(p["loss"], scores, metrics, adjust=adjust, n_resamples=100, rng=4, **given)
            ranks = [result.wilcoxon_over_resamples(metric) for metric in metrics[:2]]
            kendall = [result.kendall(), result.kendall("aurc", "auroc_f"), tried(result.kendall, "augrc", "nothing")]
            yield f"{steps} {names} {adjust}", [shown(result) if adjust == "holm" else result, ranks, kendall]
    for runs in (0, 3):
        losses, found_by = models(60 + runs, 90, runs)
        result = abstain.ranking_study(losses, found_by, n_resamples=100, level=0.8)
        yield f"models {runs}", [shown(result), result.kendall(), result.wilcoxon_over_resamples("augrc")]


def permutations():
    """Return permutation tests: all swaps and random ones, ranks and raw scores, clusters and weights."""
    for n in (6, 10, 40):
        scores, p = scores_and_rows(61 + n, n, 2, steps=5 if n == 10 else 0)
        loss = np.where(np.arange(n) % 4 == 1, 1.0, p["loss"])
        for metric in ("augrc", "auroc_f", "cwsa", "selective_risk(threshold=0.5)", "brier_confidence"):
            for names in ((), ("sample_weight",), ("clusters",))[: 3 if n < 40 else 1]:
                one, other = (np.clip(each, 0.0, 1.0) for each in scores.values())
                given = {name: p[name] for name in names}
                options = {"n_permutations": 120, "rng": 6}
                at = f"{n} {metric} {names}"
                yield at, tried(inference.permutation_test, loss, one, other, metric, **options, **given)
                pair = loss, np.roll(loss, 1)
                yield f"{at} two", tried(inference.permutation_test, pair, one, other, metric, **options, **given)
                found = tried(inference.permutation_test, pair, one, 40.0 * other - 3.0, metric, **options)
                yield f"{at} scales", found
    yield "same", inference.permutation_test([0, 1, 0, 1], [1, 2, 3, 4], [2, 4, 6, 8])


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
