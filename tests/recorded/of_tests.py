"""Margins, groups, rankings and permutations."""

from itertools import product

import numpy as np

import abstain
from abstain import inference
from tests.recorded import rows_of, shown, tried
from tests.recorded.populations import models, rows, scores_and_rows


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
        for metric in (
            "augrc",
            "risk",
            "auroc_f",
            "accuracy",
            "coverage_at_risk(risk=0.2)",
            "selective_risk(coverage=0.5)",
        ):
            for names in ((), ("sample_weight",), ("clusters",)):
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
            metrics = [
                "augrc",
                "auroc_f",
                "aurc",
                *(("coverage_at_risk(risk=0.2)",) if adjust == "none" and not names else ()),
            ]
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
                yield (
                    f"{at} scales",
                    tried(inference.permutation_test, pair, one, 40.0 * other - 3.0, metric, **options),
                )
    yield "same", inference.permutation_test([0, 1, 0, 1], [1, 2, 3, 4], [2, 4, 6, 8])
