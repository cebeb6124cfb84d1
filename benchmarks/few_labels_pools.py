"""Real pools with all their labels, and the picture of the guide, for ``benchmarks.few_labels``."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import Form, say

import abstain

Column = np.ndarray[Any, Any]


def of(probabilities: Column, labels: Column) -> tuple[Column, Column]:
    """Return loss and maximum softmax probability."""
    return (probabilities.argmax(axis=1) != labels).astype(float), probabilities.max(axis=1).astype(float)


def imagenet(outputs: Path, model: str, n: int = 10_000) -> tuple[Column, Column, Column]:
    """Return loss, confidence and predictions of random rows."""
    file = np.load(outputs / "imagenet_val_msp.npz")
    row = list(file["models"]).index(model)
    keep = np.random.default_rng(0).permutation(50_000)[:n]
    predicted, confidence = file["pred"][row][keep], file["conf"][row][keep].astype(float)
    return (predicted != file["labels"][keep]).astype(float), confidence, predicted


@cache
def pools(folder: Path) -> dict[str, tuple[Column, Column]]:
    """Return loss and confidence by name, in the order of their error rates."""
    import polars as pl

    outputs, found = folder / "outputs", {}
    for name in ("mnist", "20news"):
        arrays = np.load(outputs / f"{name}_test_cleanlab.npz")
        found[name] = of(arrays[next(key for key in arrays.files if key.startswith("probs"))], arrays["labels"])
    for name, file, key in (
        ("c10_vgg16", "cifar10_test_models", "vgg16"),
        ("c10_densenet190", "cifar10_test_models_b", "densenet_bc_l190_k40"),
        ("c100_wrn", "cifar100_test_models", "wideresnet_16_4"),
    ):
        arrays = np.load(outputs / f"{file}.npz")
        found[name] = of(arrays[f"probs_{key}"], np.load(outputs / f"{file.removesuffix('_b')}.npz")["labels"])
    found["imagenet_b3a"] = imagenet(outputs, "timm_efficientnet_b3a")[:2]
    table = pl.read_parquet(outputs / "llm_mcqa_confidence.parquet")
    table = table.filter(~pl.col("abstain_option") & (pl.col("prompt") == 1))
    models = sorted(table["model"].unique().to_list())
    for name, words, data in (
        ("gpt4_arc", ("gpt", "4"), "arc"), ("gpt4_hellaswag", ("gpt", "4"), "hellaswag"),
        ("llama3_70b_mmlu", ("3", "70b"), "mmlu"), ("llama3_8b_mmlu", ("3", "8b"), "mmlu"),
    ):  # fmt: skip
        model = next(each for each in models if all(word in each.lower() for word in words))
        rows = table.filter((pl.col("model") == model) & (pl.col("dataset") == data))
        found[name] = ((rows["grade"] != "Correct").to_numpy().astype(float), rows["msp"].to_numpy().astype(float))
    return dict(sorted(found.items(), key=lambda each: float(each[1][0].mean())))


def pairs(folder: Path) -> dict[str, tuple[tuple[Column, Column], tuple[Column, Column], Any]]:
    """Return losses, confidences, and predictions (None for two scores of one model) by name."""
    outputs = folder / "outputs"
    names = ("cifar10_test_models", "cifar10_test_models_b", "cifar100_test_models")
    ten, b, hundred = (np.load(outputs / f"{name}.npz") for name in names)
    found: dict[str, Any] = {}
    for name, file, one, other in (
        ("c10 vgg16 : wrn", ten, "vgg16", "wideresnet_16_4"),
        ("c10 densenet : preresnet", b, "densenet_bc_l190_k40", "preresnet110"),
        ("c100 wrn : densenet", hundred, "wideresnet_16_4", "densenet_bc_100"),
    ):
        p, q, labels = file[f"probs_{one}"], file[f"probs_{other}"], (hundred if file is hundred else ten)["labels"]
        (first, sure), (second, certain) = of(p, labels), of(q, labels)
        found[name] = (first, second), (sure, certain), (p.argmax(axis=1), q.argmax(axis=1))
    for name, one, other in (
        ("in resnet101 : efficient", "tv_resnet101", "timm_efficientnet_b3a"),
        ("in resnext10 : resnext50", "tv_resnext101_32x8d", "timm_resnext50_32x4d"),
    ):
        found[name] = tuple(zip(imagenet(outputs, one), imagenet(outputs, other), strict=True))
    for name, p, labels in (
        ("c100 wrn", hundred["probs_wideresnet_16_4"], hundred["labels"]),
        ("c10 lenet5", ten["probs_lenet5"], ten["labels"]),
    ):
        loss, sure = of(p, labels)
        logarithms, largest = np.log(np.maximum(p.astype(float), 1e-300)), np.sort(p, axis=1)[:, -2:]
        found[f"{name} msp : entropy"] = (loss, loss), (sure, np.sum(p.astype(float) * logarithms, axis=1)), None
        found[f"{name} msp : margin"] = (loss, loss), (sure, np.diff(largest)[:, 0].astype(float)), None
    return found


# ---------------------------------------------------------------------- the picture

DRAWN = (100, 200, 400, 800, 1600)
BUNDLED = abstain.datasets.load("llama3_70b_mmlu")
LOSS, A, B = BUNDLED.loss_per_sample(), BUNDLED.scores["msp"], BUNDLED.scores["max_logit"]


def known(plan: Any) -> Any:
    """Return the losses of the rows that a plan asked for."""
    return np.where(plan.stage > 0, LOSS, np.nan)


def one_score(n: int, seed: int) -> list[float]:
    """Return half-widths of AUGRC: plain evaluation, the default plan, two stages."""
    rows = np.random.default_rng(seed).choice(len(LOSS), n, replace=False)
    found = [abstain.evaluate(loss=LOSS[rows], confidence=A[rows], metrics="augrc")]
    default = abstain.plan_labels(A, n=n, seed=seed)
    first = abstain.plan_labels(A, n=n, design="adaptive", seed=seed)
    for plan in (default, first.extend(known(first), seed=seed + 1)):
        found.append(abstain.evaluate(loss=known(plan), confidence=A, plan=plan, metrics="augrc"))
    return [0.5 * (each.measurements[0].high - each.measurements[0].low) for each in found]


def two_scores(n: int, seed: int) -> list[float]:
    """Return half-widths of the difference of two scores: plain comparison, planned."""
    rows = np.random.default_rng(seed).choice(len(LOSS), n, replace=False)
    plan = abstain.plan_labels(A, n=n, compare=B, seed=seed)
    plain, planned = (
        abstain.compare(LOSS[rows], {"a": A[rows], "b": B[rows]}).difference("a", "b"),
        abstain.compare(known(plan), {"a": A, "b": B}, plan=plan).difference("a", "b"),
    )
    return [0.5 * (each.high - each.low) for each in (plain, planned)]


def picture(form: Form, file: Path = Path("docs/few-labels.png")) -> None:
    """Draw half-widths of intervals against labels, on bundled answers of Llama 3 70B to MMLU."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    panels = figure.subplots(1, 2)
    colours = {"plain": "#777777", "default": "#0072b2", "adaptive": "#009e73", "planned": "#d55e00"}
    for panel, measure, names, title in (
        (panels[0], one_score, ("plain", "default", "adaptive"), "AUGRC of one score"),
        (panels[1], two_scores, ("plain", "planned"), "Difference of two scores in AUGRC"),
    ):
        found = np.array([np.median([measure(n, 100 * k) for k in range(form(15, 15))], axis=0) for n in DRAWN])
        for j, name in enumerate(names):
            panel.plot(DRAWN, found[:, j], marker="o", ms=4, color=colours[name], label=name)
        say(title, dict(zip(names, found.T.round(4).tolist(), strict=True)))
        panel.set(xscale="log", yscale="log", xlabel="labels", ylabel="half-width of the 95 % interval", title=title)
        panel.set_xticks(DRAWN, [str(n) for n in DRAWN])
        ticks = [0.005, 0.01, 0.02, 0.04]
        panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
        panel.legend(frameon=False)
    figure.savefig(file, dpi=110)
