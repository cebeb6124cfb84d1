"""Language models that may say "I don't know": four states, and whether a threshold would have abstained better."""

from __future__ import annotations

from typing import Any

import numpy as np

import abstain
from abstain.plots import Axis, MetricBarsDisplay
from experiments.real._page import PAGES, image, load, outputs_folder, page, percent, plain, save, table

STATES = ("Correct", "Wrong", "Abstained", "Unparseable")
DRAWS = 500


def cells() -> dict[tuple[str, str, bool, int], dict[str, Any]]:
    """Return the columns of each model, data set, option and prompt, in the order of the questions."""
    import polars as pl

    frame = pl.read_parquet(outputs_folder() / "llm_mcqa_confidence.parquet")
    keys = ["model", "dataset", "abstain_option", "prompt"]
    found = {}
    for key, part in frame.group_by(keys):
        rows = part.sort("qid")
        grade = rows["grade"].cast(pl.String).to_numpy()
        found[str(key[0]), str(key[1]), bool(key[2]), int(key[3])] = {
            "qid": rows["qid"].to_numpy(),
            "state": np.array([STATES.index(str(each)) for each in grade]),
            "msp": rows["msp"].cast(pl.Float64).to_numpy(),
            "max_logit": rows["max_logit"].cast(pl.Float64).to_numpy(),
        }
    return dict(sorted(found.items()))


def run() -> None:
    """Compute everything and keep it."""
    every = cells()
    results: dict[str, Any] = {"cells": {}, "models": {}}
    for (model, dataset, option, prompt), cell in every.items():
        results["cells"][f"{model}|{dataset}|{'option' if option else 'none'}|{prompt}"] = described(cell)
    pairs = {
        (model, dataset): (every[model, dataset, False, 1], every[model, dataset, True, 1])
        for model, dataset, option, prompt in every
        if option and (model, dataset, False, 1) in every
    }
    drawn = np.array([effects(pairs, rng) for rng in [None, *map(np.random.default_rng, range(DRAWS))]])
    models = sorted({model for model, _ in pairs})
    for k, model in enumerate(models):
        results["models"][model] = summary(drawn[:, k])
    results["all"] = summary(drawn.mean(axis=1))
    results["questions"] = {name: len(cell[0]["qid"]) for (_, name), cell in pairs.items()}
    results["scores"] = scores(every)
    results["prompts"] = prompts(every)
    save("llm", results)


def described(cell: dict[str, Any]) -> dict[str, Any]:
    """Return the share of each state, and AUROC and AUGRC of the MSP among the answers; unparseable ones are wrong."""
    state = cell["state"]
    n = len(state)
    counts = {name: int((state == k).sum()) for k, name in enumerate(STATES)}
    answered = state != STATES.index("Abstained")
    wrong, score = (state[answered] != 0).astype(float), cell["msp"][answered]
    found: dict[str, Any] = {"n": n, "counts": counts}
    shares = abstain.inference.clopper_pearson
    found["answered"] = [answered.mean(), *shares(int(answered.sum()), n)]
    if answered.any():
        found["risk"] = [wrong.mean(), *shares(int(wrong.sum()), int(answered.sum()))]
    if 0 < wrong.sum() < wrong.size:
        for metric in ("auroc_f", "augrc"):
            each = abstain.confidence_interval(metric, wrong, score)
            found[metric] = [each.estimate, each.low, each.high]
    return found


#: What is found of a model: means over data sets. Selections are judged by the answers given without the option.
EFFECTS = ("answered", "risk without", "risk with", "threshold", "own", "declined")


def effects(pairs: dict[tuple[str, str], Any], rng: np.random.Generator | None) -> Any:
    """Return :data:`EFFECTS` of each model: the share answered with the option; risks; and of what was declined.

    ``own``: the risk, with the answers given without the option, of the questions that the model answers with it.
    ``threshold``: of as many questions, those with the largest MSP. ``declined``: of the questions that it declines. A
    question is drawn with all that models said to it: the same rows for all models of a data set.
    """
    rows: dict[str, Any] = {}
    found: dict[str, list[Any]] = {}
    for (model, dataset), (without, with_) in pairs.items():
        n = len(without["state"])
        if dataset not in rows:
            rows[dataset] = slice(None) if rng is None else rng.integers(0, n, n)
        chosen = rows[dataset]
        before, after, score = without["state"][chosen], with_["state"][chosen], without["msp"][chosen]
        answered, wrong = after != STATES.index("Abstained"), (before != 0).astype(float)
        surest = np.argsort(-score, kind="stable")[: int(answered.sum())]
        risk = (after[answered] != 0).mean()
        declined = wrong[~answered].mean() if not answered.all() else np.nan
        found.setdefault(model, []).append(
            [answered.mean(), wrong.mean(), risk, wrong[surest].mean(), wrong[answered].mean(), declined]
        )
    return np.array([[np.nanmean(column) for column in zip(*found[model], strict=True)] for model in sorted(found)])


def summary(drawn: Any) -> dict[str, list[float]]:
    """Return every effect and two differences, with intervals."""
    found = {name: _interval(drawn[:, j]) for j, name in enumerate(EFFECTS)}
    column = dict(zip(EFFECTS, drawn.T, strict=True))
    found["own - threshold"] = _interval(column["own"] - column["threshold"])
    found["with - without"] = _interval(column["risk with"] - column["risk without"])
    return found


def _interval(values: Any) -> list[float]:
    """Return the estimate, which is the first value, with percentiles of the others."""
    low, high = np.quantile(values[1:], [0.025, 0.975])
    return [float(values[0]), float(low), float(high)]


def scores(every: dict[Any, dict[str, Any]]) -> dict[str, Any]:
    """Compare MSP with the largest logit by AUROC of failures in every cell that has both: paired tests, Holm."""
    found, values = [], []
    for (model, dataset, option, prompt), cell in every.items():
        answered = cell["state"] != STATES.index("Abstained")
        loss = (cell["state"][answered] != 0).astype(float)
        both = {name: cell[name][answered] for name in ("msp", "max_logit")}
        if option or np.isnan(both["max_logit"]).any() or not 0 < loss.sum() < loss.size:
            continue
        each = abstain.compare(loss, both, "auroc_f").difference("msp", "max_logit")
        found.append((f"{model}|{dataset}|{prompt}", each.difference, each.p_value))
        values.append(each.p_value)
    adjusted = abstain.inference.holm(values)
    better = sum(p < 0.05 and difference > 0 for p, (_, difference, _) in zip(adjusted, found, strict=True))
    worse = sum(p < 0.05 and difference < 0 for p, (_, difference, _) in zip(adjusted, found, strict=True))
    return {"cells": len(found), "msp better": better, "max_logit better": worse,
            "median": float(np.median([difference for _, difference, _ in found]))}  # fmt: skip


def prompts(every: dict[Any, dict[str, Any]]) -> dict[str, Any]:
    """Return what the second prompt changes in risk and AUROC, question by question where there are both."""
    found = {}
    for (model, dataset, option, prompt), cell in every.items():
        if prompt != 2 or option or (model, dataset, False, 1) not in every:
            continue
        one, other = every[model, dataset, False, 1], cell
        difference = (other["state"] != 0).astype(float) - (one["state"] != 0)
        error = difference.std(ddof=1) / np.sqrt(difference.size)
        found[f"{model}|{dataset}"] = [
            difference.mean(),
            difference.mean() - 1.96 * error,
            difference.mean() + 1.96 * error,
        ]
    return found


def sentences(results: dict[str, Any]) -> list[str]:
    """Return what was found."""
    whole, models = results["all"], results["models"]
    better = [name for name, row in models.items() if row["own - threshold"][2] < 0.0]
    worse = [name for name, row in models.items() if row["own - threshold"][1] > 0.0]
    verdict = "abstain worse than" if whole["own - threshold"][1] > 0.0 else "abstain no worse than"
    verdict = "abstain better than" if whole["own - threshold"][2] < 0.0 else verdict
    s, changes = results["scores"], results["prompts"]
    moved = [name for name, each in changes.items() if each[1] > 0.0 or each[2] < 0.0]
    largest = max(changes, key=lambda name: abs(changes[name][0]))
    return [
        f"**Models seldom abstain.** With the option \"I don't know\", {len(models)} models answer "
        f"{percent(whole['answered'])} of the questions on average. Without it they are wrong in "
        f"{percent(whole['declined'])} of the others, and in {percent(whole['risk without'])} of all. The option "
        f"changes the risk of the answers by {_points(whole['with - without'])}.",
        f"**On average the models {verdict} a threshold on their MSP** that rejects equally many. The risk of "
        "the other "
        f"answers differs by {_points(whole['own - threshold'])}; the interval lies above 0 for {len(worse)} of "
        f"{len(models)} models ({', '.join(worse) or 'none'}) and below for {len(better)}.",
        f"**The MSP mostly ranks better than the largest logit**: significantly in {s['msp better']} of {s['cells']} "
        f"cells, worse in {s['max_logit better']} (AUROC of failures, paired tests, Holm; median difference "
        f"{s['median']:+.3f}). Another prompt changes the risk significantly in {len(moved)} of {len(changes)} cells, "
        f"by up to {_points(changes[largest])} ({largest.replace('|', ' on ')}).",
    ]  # fmt: skip


def _points(found: Any) -> str:
    value, low, high = (100.0 * each for each in found)
    return f"{value:+.1f} points [{low:+.1f}, {high:+.1f}]"


def write() -> str:
    """Return the page."""
    results = load("llm")
    head = ["model", "answered", "risk, all", "wrong among declined", "own choice", "threshold", "own - threshold"]
    rows = [
        [name, percent(row["answered"]), percent(row["risk without"]), percent(row["declined"]), percent(row["own"]),
         percent(row["threshold"]), _points(row["own - threshold"])]
        for name, row in results["models"].items()
    ]  # fmt: skip
    total = sum(results["questions"].values())
    listed = ", ".join(f"{name} {n:,}" for name, n in results["questions"].items())
    about = [
        "## Data and numbers", "",
        "Answers of 14 language models to multiple-choice questions, with and without the option \"I don't know\" "
        "and with two",
        "prompts (`llm_mcqa_confidence.parquet`, from bplaut/softmax-probs-predict-llm-correctness and",
        f"bplaut/llm-calibration-and-correctness-prediction, MIT): {total:,} questions ({listed}). An answer is "
        f"correct, wrong,",
        "abstained or unparseable; the last counts as wrong. The table has means over the data sets, and 95 % "
        "percentile intervals from",
        "500 bootstrap draws of questions. Own choice and threshold reject equally many questions. Both are "
        "evaluated on "
        "the answers",
        "without the option, because the option changes the prompt and so the answers.", "",
    ]  # fmt: skip
    states = [
        "## Four states, per cell", "",
        *table(["model", "data", "option", *map(str.lower, STATES), "AUROC of failures"], _cells(results)),
    ]  # fmt: skip
    pictures = [
        *image("llm-models.png", "Difference between own choice and threshold, share answered and risk, by model"), "",
        *image("llm-curves.png", "Risk-coverage curves by the MSP on MMLU, with the own choice of each model"),
    ]  # fmt: skip
    return page("llm", "Language models that may abstain", sentences(results),
                [[*about, *table(head, rows)], pictures, states])  # fmt: skip


def _cells(results: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, cell in results["cells"].items():
        model, data, option, prompt = name.split("|")
        if prompt != "1" or data not in ("mmlu", "truthfulqa"):
            continue
        counts = [str(cell["counts"][state]) for state in STATES]
        rows.append([model, data, "yes" if option == "option" else "no", *counts,
                     plain(cell["auroc_f"], 3) if "auroc_f" in cell else "—"])  # fmt: skip
    return rows


def figures() -> None:
    """Draw the figures of the page."""
    models = load("llm")["models"]
    names = list(models)

    def axis(label: str, direction: str, part: str) -> Axis:
        found = [models[name][part] for name in names]
        return Axis(label, direction, [each[0] for each in found], [(each[1], each[2]) for each in found])

    panels = [
        axis("Own choice - threshold", "lower", "own - threshold"),
        axis("Wrong if declined", "higher", "declined"),
        axis("Answered", "higher", "answered"),
        axis("Risk of all", "lower", "risk without"),
    ]
    MetricBarsDisplay(names, panels).save(PAGES / "llm-models.png", dpi=110)
    every = cells()
    shown = [name for name in ("gpt-4-turbo", "Mixtral", "Yi-6b", "Falcon-40b") if (name, "mmlu", True, 1) in every]
    pairs = {name: (every[name, "mmlu", False, 1], every[name, "mmlu", True, 1]) for name in shown}
    curves = {
        name: abstain.risk_coverage_curve((before["state"] != 0).astype(float), before["msp"])
        for name, (before, _) in pairs.items()
    }
    if not curves:
        return
    display = abstain.RiskCoverageDisplay(curves).plot(kind="selective", plot_references=False)
    for line, (before, after) in zip(display.line_, pairs.values(), strict=True):
        answered = after["state"] != STATES.index("Abstained")
        display.ax_.plot(answered.mean(), (before["state"][answered] != 0).mean(), "*", color=line.get_color(),
                         markeredgecolor="black", markersize=12, zorder=5)  # fmt: skip
    display.ax_.set_title("MMLU: curves by the MSP; star: the model's own choice", fontsize=9)
    display.save(PAGES / "llm-curves.png", dpi=110)
