"""Evaluations: scores, groups, weights, missing values, models, passes, answers that abstain, and few labels."""

import numpy as np

import abstain
from tests.recorded import rows_of, shown
from tests.recorded.populations import rows

FEW = ("accuracy", "augrc", "auroc_f", "coverage_at_risk(risk=0.2)", "selective_risk(coverage=0.5)")


def _outputs(seed, n, **more):
    """Return outputs of a classifier of four classes."""
    rng = np.random.default_rng([11, seed])
    labels = rng.integers(0, 4, n)
    logits = 2.0 * np.eye(4)[labels] + rng.normal(0.0, 1.2, (n, 4))
    return abstain.Outputs(labels=labels, logits=logits, **more)


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
    for steps, graded in ((0, False), (9, True)):
        p = rows(82 + steps, 90, steps=steps, graded=graded)
        for names in ((), ("sample_weight",), ("clusters",), ("sample_weight", "clusters")):
            given = {name: p[name] for name in ("loss", "confidence", *names)}
            yield f"{steps} {names}", shown(abstain.evaluate(**given, n_resamples=20))
    for share in (1, 3, 40):
        p = rows(84, 120)
        copied = {name: np.concatenate([p[name], p[name][: 120 // share]]) for name in ("loss", "confidence", "labels")}
        given = {"loss": copied["loss"], "confidence": copied["confidence"], "groups": {"label": copied["labels"]}}
        yield f"copies {share}", (rows_of(result := abstain.evaluate(**given, metrics=FEW[:2])), result.verdict)
    p = rows(83, 60, graded=True)
    yield "large", shown(abstain.evaluate(loss=9.0 * p["loss"], confidence=30.0 * p["confidence"]))


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
    gaps = np.where(np.arange(120) % 11 == 3, np.nan, p["confidence"])
    for policy in ("reject", "drop"):
        given = {"loss": p["loss"], "scores": ["s", "t"], "frame": None}
        outputs = abstain.Outputs(loss=p["loss"], scores={"s": gaps, "t": p["other"]})
        given = {"metrics": FEW, "nan_policy": policy, "n_resamples": 20}
        yield policy, shown(abstain.evaluate(outputs, ["s", "t"], **given))
        units = abstain.Outputs(
            loss=p["loss"], scores={"s": gaps}, clusters=p["clusters"], sample_weight=p["sample_weight"]
        )
        yield f"{policy} clusters", rows_of(abstain.evaluate(units, "s", **given))
        grouped = abstain.Outputs(loss=p["loss"], scores={"s": gaps}, groups={"g": p["groups"]})
        yield f"{policy} groups", shown(abstain.evaluate(grouped, "s", groups="g", **given))


def edges():
    """Return evaluations of one, two and few rows, of none wrong and all wrong, of one score and a reversed one."""
    n = np.arange(40)
    cases = {
        "one": ([1.0], [0.5]), "two": ([0.0, 1.0], [0.9, 0.1]), "right": (n * 0.0, n), "wrong": (n * 0.0 + 1.0, n),
        "one score": ((n % 5 == 1) * 1.0, n * 0.0 + 0.7), "one error": ((n == 30) * 1.0, (7 * n) % 40),
        "one right": ((n != 30) * 1.0, (7 * n) % 40), "good": (1.0 * (n < 8), 0.6 + n / 100.0),
    }  # fmt: skip
    yield from (
        {name: shown(abstain.evaluate(loss=loss, confidence=score)) for name, (loss, score) in cases.items()}
    ).items()
    p = rows(88, 250)
    yield "reversed", shown(abstain.evaluate(loss=p["loss"], confidence=1.0 - p["confidence"], metrics=FEW))
    rng = np.random.default_rng(4)
    yield "chance", shown(abstain.evaluate(loss=p["loss"], confidence=np.round(rng.random(250), 1), metrics=FEW))


def models_and_passes():
    """Return evaluations of several models, and of scores that are judged by the predictions of passes."""
    one, other = _outputs(2, 80), _outputs(3, 80)
    yield "models", shown(abstain.evaluate({"x": one, "y": other}, metrics=FEW, n_resamples=20))
    noisy = one.logits + 1.5 * np.random.default_rng(5).normal(size=(6, 80, 4))
    passes = np.exp(noisy) / np.exp(noisy).sum(axis=-1, keepdims=True)
    judged = abstain.Outputs(labels=one.labels, logits=one.logits, passes=passes)
    names = ["msp", "pass_msp", "pass_vote_agreement"]
    yield "passes", shown(abstain.evaluate(judged, names, ["accuracy", "augrc", "nll", "brier_score"]))
