"""Gates, selections and tuned scores."""

from itertools import product

import numpy as np

import abstain
from abstain import inference
from tests.recorded import shown, tried
from tests.recorded.populations import models, scores_and_rows

FEW = ("accuracy", "augrc", "auroc_f", "coverage_at_risk(risk=0.2)")


def gates():
    """Return gates on values and on limits, with what is unclear, and against another model in each form."""
    scores, p = scores_and_rows(101, 250, 2)
    one, other = (
        abstain.evaluate(loss=p["loss"], confidence=each, metrics=FEW, n_resamples=20) for each in scores.values()
    )
    bare = abstain.evaluate(loss=p["loss"], confidence=scores["a"], metrics=FEW, level=None)
    limits = [
        "augrc<=0.2",
        "augrc<0.03",
        "auroc_f>=0.5",
        "auroc_f > 0.99",
        "accuracy>=0.8",
        "coverage_at_risk(risk=0.2)>=0.9",
    ]
    for unclear in ("fail", "pass"):
        yield f"limits {unclear}", shown(abstain.gate(one, limits, unclear=unclear))
    yield "bare", shown(abstain.gate(bare, limits))
    loose = abstain.evaluate(loss=p["loss"], confidence=scores["a"], metrics=FEW)
    yield "no interval", shown(abstain.gate(loose, limits, unclear="pass"))
    yield "one", shown(abstain.gate(one, "augrc<=0.1"))
    named = {"new": scores["a"], "main": scores["b"]}
    two = ("augrc", "auroc_f")
    tests = [inference.non_inferiority(p["loss"], named, m, margin=0.05, level=0.975) for m in two]
    compared = [abstain.compare(p["loss"], named, m, n_permutations=99) for m in two]
    for name, against in (
        ("evaluation", other),
        ("file", other.to_dict()),
        ("tests", tests),
        ("compared", compared),
        ("bare", bare),
    ):
        for margin, given in product((0.001, 0.05, 0.3), (one, bare)):
            call = tried(abstain.gate, given, two, against=against, margin=margin)
            yield f"{name} {margin} {given is bare}", shown(call)
    yield "mixed", shown(tried(abstain.gate, one, ["augrc", "accuracy>=0.7"], against=other, margin=0.02))
    yield "worse", shown(tried(abstain.gate, other, ["augrc"], against=one, margin=0.0))


def selections():
    """Return what is selected on a validation split, with and without a test split, of runs and with ties."""
    for runs in (0, 3):
        splits = {}
        for k in range(3):
            pair = [models(102 + 2 * k + j, 120, runs) for j in range(2)]
            parts = [(losses["x"], each["x"] + 0.2 * k) for losses, each in pair]
            splits[f"T={k}"] = dict(zip(("validation", "test"), parts, strict=True))
        metrics = ["augrc", "auroc_f", "risk", "coverage_at_risk(risk=0.2)"]
        result = abstain.select(splits, metrics, level=0.9)
        yield f"{runs}", [shown(result), result.chosen, result.others(), result.others("risk"), result.rows()]
        alone = abstain.select({name: each["validation"] for name, each in splits.items()}, metrics[:2])
        yield f"{runs} alone", shown(alone)
    loss, score = np.array([0, 1, 0, 0] * 10), np.sqrt(np.arange(40) + 0.3)
    tied = {"x": (loss, score), "y": (loss, 2 * score), "z": (loss, -score)}
    result = abstain.select(tied, "augrc")
    yield "tied", [shown(result), result.rows()]


def tuned_scores():
    """Return scores that are tuned with and without fits and OOD data."""
    rng = np.random.default_rng(103)

    def outputs(n, noise, seen=True):
        labels = rng.integers(0, 3, n)
        features = 2.0 * np.eye(3, 5)[labels] * seen + noise * rng.normal(size=(n, 5))
        given = {"features": features, "logits": features[:, :3]}
        return abstain.Outputs(labels=labels, **given) if seen else abstain.Outputs(unlabelled=True, **given)

    train, validation, ood = outputs(90, 1.0), outputs(70, 1.5), outputs(40, 1.5, False)
    for metric in ("augrc", "auroc_f", "coverage_at_risk(risk=0.3)", "auroc", "ds_f1", "ds_aurc", "joint.oscr"):
        for score, grid in (("knn", {"neighbours": [1, 5, 30, 500]}), ("temp_msp", {"temperature": [0.5, 2.0]})):
            given = {
                "fit": train,
                "metric": metric,
                "ood": ood if metric[:4] in ("auro", "ds_f", "ds_a", "join") else None,
            }
            given["ood"] = None if metric == "auroc_f" else given["ood"]
            result = tried(abstain.tune, score, validation, grid=grid, **given)
            yield (
                f"{metric} {score}",
                result if isinstance(result, str) else [shown(result), result.value, result.label, result.rows()],
            )


def reports_of_rows():
    """Return an evaluation, a comparison and a ranking as flat numbers and as files of values."""
    scores, p = scores_and_rows(104, 130, 3)
    evaluation = abstain.evaluate(loss=p["loss"], confidence=scores["a"], groups={"g": p["groups"]}, metrics=FEW)
    comparison = abstain.compare(p["loss"], scores, "augrc", n_permutations=99, adjust="max-t")
    ranking = abstain.ranking_study(p["loss"], scores, n_resamples=100)
    flat = [each.flat(intervals=more) for each in (evaluation, comparison, ranking) for more in (False, True)]
    files = [each.to_csv().splitlines() for each in (evaluation, comparison, ranking)]
    briefs = [[table.rows for table in each.brief()] for each in (evaluation, comparison, ranking)]
    pair = comparison.difference("c", "a")
    return [flat, [[line.split(",") for line in each] for each in files], briefs, pair, pair.swapped()]
