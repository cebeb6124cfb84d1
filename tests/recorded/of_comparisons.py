"""Comparisons of scores and models: adjustments, designs, runs, margins, groups, rankings, pairs that hardly differ."""

from itertools import product

import numpy as np

import abstain
from abstain import inference
from tests.recorded import rows_of, shown, tried
from tests.recorded.populations import models, rows, scores_and_rows


def _given(p, names):
    """Return the columns of a design."""
    return {name: p["groups" if name == "strata" else name] for name in names}


def scores_under_one_loss():
    """Return comparisons by metric and adjustment, as they are shown."""
    scores, p = scores_and_rows(51, 90, 3)
    for metric in ("augrc", "auroc_f", "aurc", "e_aurc", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.5)"):
        for adjust in ("holm", "max-t", "none")[: 3 if metric == "augrc" else 2]:
            method = "influence" if adjust == "max-t" and "coverage_at_risk" not in metric else "auto"
            given = {"adjust": adjust, "n_resamples": 40, "n_permutations": 199, "method": method, "rng": 1}
            result = abstain.compare(p["loss"], scores, metric, **given)
            yield shown(result) if adjust == "holm" else result.rows()


def designs():
    """Return comparisons with weights, clusters and strata, by each method."""
    scores, p = scores_and_rows(52, 50, 2, steps=20)
    metrics, methods = ("augrc", "auroc_f", "selective_accuracy(coverage=0.6)"), ("auto", "influence", "bootstrap")
    cases = [*product(metrics, methods), ("augrc", "permutation")]
    columns = ((), ("sample_weight",), ("clusters",), ("strata",), ("sample_weight", "clusters"))
    for (metric, method), names in product(cases, columns):
        options = {"method": method, "n_resamples": 20, "n_permutations": 49, "level": 0.9, **_given(p, names)}
        yield rows_of(tried(abstain.compare, p["loss"], scores, metric, **options))


def models_and_runs():
    """Return comparisons of models with losses of their own, of one run and of several, paired and not."""
    for runs in (0, 2, 4):
        losses, scores = models(53 + runs, 90, runs)
        for metric, paired in product(("augrc", "risk", "accuracy", "auroc_f", "naugrc"), (None, True, False)):
            given = {"paired_runs": paired, "method": "auto" if metric == "augrc" else "influence"}
            yield rows_of(tried(abstain.compare, losses, scores, metric, **given))
        yield shown(abstain.compare(losses["x"], scores, "augrc", n_permutations=49))
        units = {"clusters": np.arange(90) // 5, "sample_weight": 1.0 + np.arange(90) % 2}
        yield shown(abstain.compare(losses, scores, "augrc", **units))
    uneven = {"x": losses["x"], "y": losses["y"][:3]}, {"x": scores["x"], "y": scores["y"][:3]}
    yield shown(abstain.compare(*uneven, "augrc", paired_runs=False))


def edges():
    """Return comparisons with the same ranking, no or few errors, only errors, one error apart, and graded losses."""
    n, more = np.arange(60), {"n_permutations": 49}
    scores = {"a": (7.0 * n) % 60, "b": (11.0 * n) % 60, "same": 2.0 * ((7.0 * n) % 60)}
    for k, metric in product((0, 1, 2, 5, 59, 60), ("augrc", "auroc_f", "risk", "aurc")):
        yield rows_of(tried(abstain.compare, (n < k) * 1.0, scores, metric, **more))
        losses, two = {"a": (n < k) * 1.0, "b": (n <= k) * 1.0}, {name: scores[name] for name in "ab"}
        for method in ("auto", "influence"):
            yield rows_of(tried(abstain.compare, losses, two, metric, method=method, **more))
    graded, p = scores_and_rows(54, 90, 2, graded=True)
    for metric in ("augrc", "aurc", "selective_risk(coverage=0.7)", "risk"):
        yield tried(abstain.compare, 5.0 * p["loss"], graded, metric, **more)


def margins():
    """Return tests of non-inferiority and equivalence, by margin, design and runs."""
    scores, p = scores_and_rows(55, 200, 2)
    metrics, claims = ("augrc", "auroc_f", "aurc", "selective_risk(coverage=0.5)"), ("non-inferior", "equivalent")
    columns = ((), ("sample_weight",), ("clusters",), ("strata",))
    for (metric, names), (margin, claim) in product(product(metrics, columns), zip((0.05, 0.003), claims, strict=True)):
        options = {"margin": margin, "claim": claim, "level": 0.9, **_given(p, names)}
        result = tried(inference.non_inferiority, p["loss"], scores, metric, **options)
        yield shown(result) if metric == "augrc" and not names else rows_of(result)
    for runs, metric, paired in product((0, 3), ("augrc", "risk", "naugrc"), (None, True, False)):
        given = {"margin": 0.02, "paired_runs": paired}
        yield rows_of(tried(inference.non_inferiority, *models(56 + runs, 150, runs), metric, **given))
    same = {"a": scores["a"], "b": 2.0 * scores["a"]}
    yield shown(inference.non_inferiority(p["loss"], same, "augrc", margin=0.01))
    one = {"a": p["loss"], "b": np.where(np.arange(200) == 7, 1.0 - p["loss"], p["loss"])}
    yield [rows_of(inference.non_inferiority(one, same, each, margin=0.01)) for each in ("augrc", "risk", "accuracy")]


def groups():
    """Return comparisons of groups, as they are shown."""
    cases = ["augrc", "risk", "auroc_f", "accuracy", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.5)"]
    for seed, metric, names in product((57, 58), cases, ((), ("sample_weight",), ("clusters",))):
        p = rows(seed, 150, steps=0 if seed == 57 else 15)
        p["clusters"] = np.char.add(p["groups"].astype(str), p["clusters"].astype(str))
        loss = np.where((p["groups"] == "b") & (p["other"] < 0.5), 1.0, p["loss"])
        options = {"level": 0.9 if seed == 58 else 0.95, "n_resamples": 40, **_given(p, names)}
        result = tried(inference.compare_groups, loss, p["confidence"], p["groups"], metric, **options)
        yield rows_of(result) if seed == 58 or names else shown(result)
    n = np.arange(90)
    for k, metric in product((0, 1, 30, 90), ("augrc", "risk", "auroc_f")):
        yield shown(tried(inference.compare_groups, (n < k) * 1.0, (7.0 * n) % 90, n % 3 + (n > 80), metric))


def rankings():
    """Return ranking studies with letters, agreement and ranks of resamples."""
    cases = [(0, (), "none"), (0, ("strata",), "holm")]
    for steps, names, adjust in [*cases, (12, ("sample_weight",), "max-t"), (12, ("clusters",), "max-t")]:
        scores, p = scores_and_rows(59 + steps, 40, 3, steps=steps)
        metrics = ["augrc", "auroc_f", "aurc", *["coverage_at_risk(risk=0.2)"] * (adjust == "none" and not names)]
        given = {"adjust": adjust, "n_resamples": 100, "rng": 4, **_given(p, names)}
        result = abstain.ranking_study(p["loss"], scores, metrics, **given)
        yield [shown(result) if adjust == "holm" else result, result.kendall(), result.kendall("aurc", "auroc_f")]
        yield [tried(result.kendall, "augrc", "nothing"), *map(result.wilcoxon_over_resamples, metrics[:2])]
    for runs in (0, 3):
        result = abstain.ranking_study(*models(60 + runs, 60, runs), n_resamples=100, level=0.8)
        yield [shown(result), result.kendall(), result.wilcoxon_over_resamples("augrc")]


def permutations():
    """Return permutation tests: all swaps and random ones, ranks and raw scores, clusters and weights."""
    metrics = ("augrc", "auroc_f", "cwsa", "selective_risk(threshold=0.5)", "brier_confidence")
    for n, metric, names in product((6, 10, 40), metrics, ((), ("sample_weight",), ("clusters",))):
        if n < 40 or not names:
            scores, p = scores_and_rows(61 + n, n, 2, steps=5 if n == 10 else 0)
            loss = np.where(np.arange(n) % 4 == 1, 1.0, p["loss"])
            one, other = (np.clip(each, 0.0, 1.0) for each in scores.values())
            pair, options = (loss, np.roll(loss, 1)), {"n_permutations": 120, "rng": 6}
            for each in (loss, pair):
                yield tried(inference.permutation_test, each, one, other, metric, **options, **_given(p, names))
            yield tried(inference.permutation_test, pair, one, 40.0 * other - 3.0, metric, **options)
    yield inference.permutation_test([0, 1, 0, 1], [1, 2, 3, 4], [2, 4, 6, 8])


N = np.arange(80)
SCORE = np.sqrt((7.0 * N) % 80)


def _moved(number, up, rng):
    """Return the score with so many rows moved in one direction."""
    return SCORE + np.where(np.isin(N, rng.permutation(80)[:number]), 3.0 if up else -3.0, 0.0)


def _pairs(losses, scores, metric, **options):
    """Return what is compared by swaps and without, and with a margin."""
    methods = ({"n_permutations": 199}, {"method": "influence"})
    both = [tried(abstain.compare, losses, scores, metric, **each, **options) for each in methods]
    margin = tried(inference.non_inferiority, losses, scores, metric, margin=0.03, **options)
    return [rows_of(each) for each in (*both, margin)]


def moved_in_one_direction():
    """Return comparisons of a score with one that moves few or many rows up or down, by how many errors there are."""
    rng = np.random.default_rng(151)
    for errors in (0, 2, 12, 30, 78):
        loss = np.isin(N, rng.permutation(80)[:errors]) * 1.0
        for number, up in product((1, 10, 60), (True, False)):
            yield _pairs(loss, {"new": _moved(number, up, rng), "old": SCORE}, "augrc")
        yield _pairs(4.0 * loss, {"new": _moved(20, errors < 10, rng), "old": SCORE}, "augrc")[:2]
        for metric in ("aurc", "risk", "selective_accuracy(coverage=0.6)"):
            yield _pairs(loss, {"new": _moved(20, True, rng), "old": SCORE}, metric)


def moved_in_clusters():
    """Return the same in clusters of equal and of unequal size, with weights and strata."""
    rng, weight = np.random.default_rng(152), np.where(N % 7 == 3, 0.0, 1.0 + N % 2)
    designs = [{"clusters": np.sqrt(4.0 * N) // 1}, {"clusters": N // 16}, {"strata": N % 2}]
    designs += [{"sample_weight": 1.0 + N % 3}, {"clusters": N // 4, "sample_weight": weight}]
    moves = ((0, 40, False), (5, 3, True), (5, 40, False), (40, 3, True))
    for given, (errors, number, up) in product(designs, moves):
        yield _pairs((errors > N) * 1.0, {"new": _moved(number, up, rng), "old": SCORE}, "augrc", **given)


def models_apart():
    """Return comparisons of models whose losses differ on no, one, few and many rows, in one direction and in both."""
    rng = np.random.default_rng(153)
    loss = np.isin(N, rng.permutation(80)[:24]) * 1.0
    for number, kind in ((0, "both"), *product((2, 30), ("worse", "both"))):
        chosen = np.isin(N, rng.permutation(80)[:number])
        losses = {"new": loss, "old": np.where(chosen, 1.0 if kind == "worse" else 1.0 - loss, loss)}
        for metric, given in product(("augrc", "risk", "selective_risk(coverage=0.5)"), ({}, {"clusters": N // 4})):
            yield _pairs(losses, {"new": SCORE, "old": _moved(5, True, rng)}, metric, **given)[1:]


def letters():
    """Return letters of matrices of significance, and of scores of which many differ."""
    rng, p = np.random.default_rng(154), rows(155, 500)
    for k in (1, 2, 5, 8):
        matrix = np.triu(rng.random((k, k)) < 0.4, 1)
        yield inference.letter_groups(matrix | matrix.T)
    scores = {name: p["confidence"] + 0.08 * j**2 * rng.normal(size=500) for j, name in enumerate("abcdef")}
    for adjust, metric in product(("holm", "max-t", "none"), ("augrc", "auroc_f")):
        yield rows_of(abstain.compare(p["loss"], scores, metric, adjust=adjust, method="influence"))
    few = {name: score[:90] for name, score in scores.items()}
    study = abstain.ranking_study(p["loss"][:90], few, ("augrc",), n_resamples=100)
    yield [study, study.wilcoxon_over_resamples()]
