"""Ten real pools with all their labels, and nine pairs of models or scores, for ``benchmarks.few_labels``.

``folder`` holds ``outputs/`` with saved outputs: ``mnist_test_cleanlab.npz``, ``20news_test_cleanlab.npz``,
``cifar10_test_models.npz`` and ``_b``, ``cifar100_test_models.npz``, ``imagenet_val_msp.npz`` and
``llm_mcqa_confidence.parquet``. ImageNet is 10,000 random rows of 50,000.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain.pool import Sample

Column = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Form:
    """The full form or the quick one, and how often a cell is drawn if that was said."""

    full: bool
    said: int | None = None

    def draws(self, full: int, quick: int) -> int:
        """Return how often to draw."""
        return self.said or (full if self.full else quick)


def _of(probabilities: Column, labels: Column) -> tuple[Column, Column]:
    """Return loss and maximum softmax probability."""
    return (probabilities.argmax(axis=1) != labels).astype(float), probabilities.max(axis=1).astype(float)


def _imagenet(outputs: Path, model: str, n: int = 10_000) -> tuple[Column, Column, Column]:
    file = np.load(outputs / "imagenet_val_msp.npz")
    row = list(file["models"]).index(model)
    keep = np.random.default_rng(0).permutation(50_000)[:n]
    predicted, confidence = file["pred"][row][keep], file["conf"][row][keep].astype(float)
    return (predicted != file["labels"][keep]).astype(float), confidence, predicted


def pools(folder: str) -> dict[str, tuple[Column, Column]]:
    """Return loss and confidence by name, in the order of their error rates."""
    import polars as pl

    outputs = Path(folder) / "outputs"
    found = {}
    for name, file in (("mnist", "mnist_test_cleanlab.npz"), ("20news", "20news_test_cleanlab.npz")):
        arrays = np.load(outputs / file)
        found[name] = _of(arrays[next(key for key in arrays.files if key.startswith("probs"))], arrays["labels"])
    ten, b = np.load(outputs / "cifar10_test_models.npz"), np.load(outputs / "cifar10_test_models_b.npz")
    hundred = np.load(outputs / "cifar100_test_models.npz")
    found["c10_vgg16"] = _of(ten["probs_vgg16"], ten["labels"])
    found["c10_densenet190"] = _of(b["probs_densenet_bc_l190_k40"], b["labels"])
    found["c100_wrn"] = _of(hundred["probs_wideresnet_16_4"], hundred["labels"])
    found["imagenet_b3a"] = _imagenet(outputs, "timm_efficientnet_b3a")[:2]
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


def population(folder: str) -> tuple[Column, Column]:
    """Return loss and confidence of all 50,000 rows of ImageNet."""
    return _imagenet(Path(folder) / "outputs", "timm_efficientnet_b3a", 50_000)[:2]


def _entropy(p: Column) -> Column:
    p = p.astype(float)
    return np.sum(p * np.log(np.maximum(p, 1e-300)), axis=1)


def _margin(p: Column) -> Column:
    two = np.sort(p, axis=1)[:, -2:]
    return (two[:, 1] - two[:, 0]).astype(float)


def pairs(folder: str) -> dict[str, tuple[tuple[Column, Column], tuple[Column, Column], Any]]:
    """Return losses, confidences, and predictions (None for two scores of one model) by name."""
    outputs = Path(folder) / "outputs"
    ten, b = np.load(outputs / "cifar10_test_models.npz"), np.load(outputs / "cifar10_test_models_b.npz")
    hundred = np.load(outputs / "cifar100_test_models.npz")
    models = {
        "c10 vgg16 : wrn": (ten["probs_vgg16"], ten["probs_wideresnet_16_4"], ten["labels"]),
        "c10 densenet : preresnet": (b["probs_densenet_bc_l190_k40"], b["probs_preresnet110"], b["labels"]),
        "c100 wrn : densenet": (hundred["probs_wideresnet_16_4"], hundred["probs_densenet_bc_100"], hundred["labels"]),
    }
    found: dict[str, Any] = {}
    for name, (p, q, labels) in models.items():
        (first, sure), (second, certain) = _of(p, labels), _of(q, labels)
        found[name] = (first, second), (sure, certain), (p.argmax(axis=1), q.argmax(axis=1))
    for first_name, second_name in (
        ("tv_resnet101", "timm_efficientnet_b3a"),
        ("tv_resnext101_32x8d", "timm_resnext50_32x4d"),
    ):
        one, two = _imagenet(outputs, first_name), _imagenet(outputs, second_name)
        found[f"in {first_name[3:12]} : {second_name[5:14]}"] = (one[0], two[0]), (one[1], two[1]), (one[2], two[2])
    for name, p, labels in (
        ("c100 wrn", hundred["probs_wideresnet_16_4"], hundred["labels"]),
        ("c10 lenet5", ten["probs_lenet5"], ten["labels"]),
    ):
        loss, sure = _of(p, labels)
        for other, score in (("entropy", _entropy(p)), ("margin", _margin(p))):
            found[f"{name} msp : {other}"] = (loss, loss), (sure, score), None
    return found


# ---------------------------------------------------------------------- shares, ratios, draws


def ratio(few: np.ndarray, plain: np.ndarray, truth: float) -> tuple[float, float]:
    """Return the ratio of two mean squared errors with 1.96 Monte Carlo errors, by the delta method."""
    a, b = (few - truth) ** 2, (plain - truth) ** 2
    value = a.mean() / b.mean()
    error = value * np.std(a / a.mean() - b / b.mean()) / np.sqrt(len(a))
    return float(value), float(1.96 * error)


def share(hits: np.ndarray) -> str:
    """Return a share in per cent with 1.96 Monte Carlo errors."""
    p = float(np.mean(hits))
    return f"{100 * p:5.1f} +-{196 * np.sqrt(max(p * (1 - p), 1e-9) / len(hits)):.1f}"


def geometric(ratios: list[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))


def uniform(pool: Any, loss: np.ndarray, n: int, rng: np.random.Generator) -> Sample:
    """Draw n rows alike and label them."""
    rows = np.sort(rng.choice(pool.n, n, replace=False))
    return Sample(pool, rows, loss[rows], np.zeros(n, int), np.full(n, n / pool.n), np.ones(pool.n, bool), (n,))


def value_of(metric: Any, loss: np.ndarray, score: np.ndarray) -> float:
    """Return plain evaluation of labelled rows."""
    return metric.evaluate(abstain.TieBlocks.from_samples(loss, score)).value
