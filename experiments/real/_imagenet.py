"""Eleven ImageNet models: whether AURC and AUGRC order them alike, and what each can guarantee."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

import abstain
from abstain.plots import MetricPlaneDisplay, RankFlowDisplay, ReliabilityDisplay
from experiments.real._page import PAGES, image, load, outputs_folder, page, percent, plain, save, table

METRICS = ("accuracy", "aurc", "augrc", "auroc_f", "ece")
RISK, DELTA = 0.05, 0.05


def columns() -> tuple[dict[str, Any], dict[str, Any], Any]:
    """Return losses and confidences by model, and the labels."""
    with np.load(outputs_folder() / "imagenet_val_msp.npz") as file:
        labels, names = file["labels"], [str(name) for name in file["models"]]
        wrong = (file["pred"] != labels).astype(float)
        score = file["conf"].astype(float)
    return dict(zip(names, wrong, strict=True)), dict(zip(names, score, strict=True)), labels


def ranking(losses: dict[str, Any], scores: dict[str, Any]) -> abstain.RankingStudy:
    """Return the rankings by AURC, AUGRC and risk with their paired tests."""
    return abstain.ranking_study(losses, scores, ["aurc", "augrc", "risk"], n_resamples=500)


def run() -> None:
    """Compute everything and keep it."""
    losses, scores, labels = columns()
    study = ranking(losses, scores)
    results: dict[str, Any] = {"n": len(labels), "models": {}, "pairs": {}}
    for name in losses:
        outputs = abstain.Outputs(loss=losses[name], confidence=scores[name])
        found = abstain.evaluate(outputs, metrics=list(METRICS))
        row: dict[str, Any] = {each.metric: [each.value, each.low, each.high] for each in found.measurements}
        row["certified"] = certified(losses[name], scores[name])
        row["gap"] = float(scores[name].mean() - (1.0 - losses[name].mean()))
        clustered = abstain.confidence_interval("augrc", losses[name], scores[name], clusters=labels)
        plain_ = abstain.confidence_interval("augrc", losses[name], scores[name])
        row["wider"] = (clustered.high - clustered.low) / (plain_.high - plain_.low)
        results["models"][name] = row
    for one, other in combinations(("aurc", "augrc", "risk"), 2):
        results["pairs"][f"{one} {other}"] = disagreement(study, one, other)
    save("imagenet", results)


def disagreement(study: abstain.RankingStudy, one: str, other: str) -> dict[str, Any]:
    """Return how two metrics order the pairs of models, and what their paired tests say of it."""
    display = MetricPlaneDisplay.from_ranking(study, one, other)
    found = list(display.disagreements())
    names = [(display.names[a], display.names[b]) for a, b, sure in found if sure]
    ranked = {spec: dict(zip(r.names, r.rank.tolist(), strict=True)) for spec, r in study.rankings.items()}
    return {
        "tau": study.kendall(one, other), "pairs": len(list(combinations(display.names, 2))),
        "differ": len(found), "surely": names, "first": [study.rankings[each].names[0] for each in (one, other)],
        "moved": max(abs(ranked[one][name] - ranked[other][name]) for name in study.names),
    }  # fmt: skip


def certified(loss: Any, score: Any, seed: int = 0) -> dict[str, Any]:
    """Certify a risk on a random half, and look at it on the other."""
    rows = np.random.default_rng(seed).permutation(len(loss))
    fit, test = np.array_split(rows, 2)
    found: Any = abstain.choose_threshold(loss[fit], score[fit], risk=RISK, delta=DELTA)
    if not found.attainable:
        return {"attainable": False}
    seen = abstain.audit(found, loss[test], score[test])
    return {
        "attainable": True, "threshold": found.threshold, "coverage": [seen.coverage, *seen.coverage_interval],
        "risk": [seen.risk, *seen.risk_interval], "kept": seen.satisfied,
    }  # fmt: skip


def sentences(results: dict[str, Any]) -> list[str]:
    """Return what was found."""
    models, pair = results["models"], results["pairs"]["aurc augrc"]
    by_risk = results["pairs"]["augrc risk"]
    best = min(models, key=lambda name: models[name]["augrc"][0])
    most = max(models, key=lambda name: models[name]["certified"]["coverage"][0])
    least = min(models, key=lambda name: models[name]["certified"]["coverage"][0])
    over = [name for name in models if models[name]["gap"] > 0.0]
    risks = [models[name]["certified"]["risk"][0] for name in models]
    sure = pair["surely"]
    tau = abstain.inference.kendall_tau(*([row[key][0] for row in models.values()] for key in ("ece", "auroc_f")))
    tested = "for none of them" if not sure else f"for {len(sure)} of them"
    return [
        f"**The metric decides some rankings.** AURC and AUGRC order {pair['differ']} of {pair['pairs']} "
        "pairs of models "
        f"differently (Kendall's tau {pair['tau']:.2f}); {tested} both orders are significant (paired tests, Holm, "
        f"5 %). AUGRC and the error rate order {by_risk['differ']} pairs differently. `{best}` has the lowest AUGRC, "
        f"{plain(models[best]['augrc'])}.",
        "**Models differ by what they may answer.** A risk of 5 % was certified on 25,000 images with delta "
        "5 %. Of the "
        f"other 25,000, `{most}` answers {percent(models[most]['certified']['coverage'])}, `{least}` "
        f"{percent(models[least]['certified']['coverage'])}. There the risks of all eleven lie between "
        f"{100 * min(risks):.1f} and {100 * max(risks):.1f} %, and "
        + ("no guarantee is refuted." if all(models[name]["certified"]["kept"] is not False for name in models) else
           "not every guarantee holds."),
        f"**Calibration does not predict the ranking.** {len(over)} of {len(models)} models are "
        "overconfident. ECE lies "
        f"between {min(m['ece'][0] for m in models.values()):.3f} and "
        f"{max(m['ece'][0] for m in models.values()):.3f}, the AUROC of failures between "
        f"{plain(min(m['auroc_f'] for m in models.values()), 3)} and "
        f"{plain(max(m['auroc_f'] for m in models.values()), 3)}; Kendall's tau of the two is {tau:.2f}.",
    ]  # fmt: skip


def rows(results: dict[str, Any]) -> list[list[str]]:
    """Return the table of the models, best AUGRC first."""
    ordered = sorted(results["models"].items(), key=lambda item: item[1]["augrc"][0])
    return [
        [f"`{name}`", percent(row["accuracy"]), plain(row["augrc"]), plain(row["aurc"]), plain(row["auroc_f"], 3),
         f"{row['ece'][0]:.3f}", percent(row["certified"]["coverage"]), percent(row["certified"]["risk"])]
        for name, row in ordered
    ]  # fmt: skip


def write() -> str:
    """Return the page."""
    results = load("imagenet")
    head = ["model", "accuracy", "AUGRC", "AURC", "AUROC of failures", "ECE", "coverage at certified 5 %", "risk there"]
    wider = [row["wider"] for row in results["models"].values()]
    about = [
        "## Data and numbers", "",
        "The file has the top class and its probability of eleven models on the 50,000 images of the ImageNet "
        "validation set",
        "(`imagenet_val_msp.npz`, from hollance/reliability-diagrams, MIT). The 95 % intervals are about new images of "
        "the same classes;",
        f"if classes, too, are taken as drawn, those of AUGRC are {min(wider):.1f} to {max(wider):.1f} times as wide. "
        "Coverage and risk",
        "of the last columns are of the half that did not choose the threshold.",
        "",
    ]  # fmt: skip
    pictures = [
        *image("imagenet-plane.png", "Eleven models in the plane of AURC and AUGRC"), "",
        *image("imagenet-flow.png", "Flow between the rankings by AURC and AUGRC"), "",
        *image("imagenet-reliability.png", "Reliability of the most and the least confident model"),
    ]  # fmt: skip
    return page(
        "imagenet", "Eleven ImageNet models", sentences(results), [[*about, *table(head, rows(results))], pictures]
    )


def figures() -> None:
    """Draw the figures of the page."""
    losses, scores, _ = columns()
    study = ranking(losses, scores)
    MetricPlaneDisplay.from_ranking(study, "aurc", "augrc").save(PAGES / "imagenet-plane.png", dpi=110)
    RankFlowDisplay.from_ranking(study, "aurc", "augrc").save(PAGES / "imagenet-flow.png", dpi=90)
    gap = {name: float(scores[name].mean() + losses[name].mean()) for name in losses}
    chosen = [max(gap, key=gap.__getitem__), min(gap, key=gap.__getitem__)]
    tables = {name: abstain.TieBlocks.from_samples(losses[name], scores[name]) for name in chosen}
    ReliabilityDisplay(tables).save(PAGES / "imagenet-reliability.png", dpi=110)
