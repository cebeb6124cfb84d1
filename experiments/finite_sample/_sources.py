"""Saved outputs as populations: per-sample losses and the six confidence scores of Table S2, in two forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from abstain._typing import FloatArray
from abstain.losses import cross_entropy, zero_one

#: Files by data set. Probabilities lie under ``probs`` or ``probs_<model>``; ``pred``, ``conf`` and ``models`` hold
#: several models of which only the top class and its probability are known.
FILES = {
    "CIFAR-10": ("cifar10_test_models.npz", "cifar10_test_models_b.npz"),
    "CIFAR-100": ("cifar100_test_models.npz",),
    "20 Newsgroups": ("20news_test_cleanlab.npz",),
    "ImageNet": ("imagenet_val_msp.npz",),
}


@dataclass(frozen=True)
class Source:
    """One model on one test set, which stands for the population: losses and scores per sample, by name."""

    family: str
    model: str
    losses: dict[str, FloatArray]
    scores: dict[str, FloatArray]


def scores_of(probabilities: FloatArray) -> dict[str, FloatArray]:
    """Return the scores of Table S2 of Zhou et al. (2025).

    Centred log-probabilities stand in for logits, which no file holds: they are the logits up to a constant per
    sample, so MaxLogit and both norms are not those of the original logits. Two entries of the table cannot be meant
    literally. "Negative entropy" is printed with logits, sum z ln z, which is undefined for negative ones; with
    probabilities it is the entropy. "MaxLogit-lp norm" is printed as the norm of the logits; the source that it cites
    divides the largest logit by the norm. Both forms of the latter are returned.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    log_p = np.log(np.maximum(p, np.finfo(np.float32).smallest_subnormal))
    z = log_p - log_p.mean(axis=1, keepdims=True)
    top = np.sort(p, axis=1)
    norm = np.linalg.norm(z, axis=1)
    return {
        "MSP": top[:, -1],
        "MaxLogit": z.max(axis=1),
        "Margin": top[:, -1] - top[:, -2],
        "NegEntropy": np.sum(p * log_p, axis=1),
        "l2 norm (literal)": norm,
        "MaxLogit / l2 norm": z.max(axis=1) / norm,
        "NegGini": np.sum(p**2, axis=1) - 1.0,
    }


def _of_probabilities(family: str, model: str, labels: Any, probabilities: FloatArray) -> Source:
    losses = {
        "0/1": zero_one(labels, probabilities.argmax(axis=1)),
        "CE": cross_entropy(labels, probabilities / probabilities.sum(axis=1, keepdims=True)),
    }
    return Source(family, model, losses, scores_of(probabilities))


def _of_tops(family: str, model: str, labels: Any, predicted: Any, confidence: FloatArray) -> Source:
    loss = {"0/1": zero_one(labels, predicted)}
    return Source(family, model, loss, {"MSP": np.asarray(confidence, dtype=np.float64)})


def _read(family: str, path: Path) -> Iterator[Source]:
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    labels = arrays["labels"].astype(np.int64)
    for name, array in arrays.items():
        if name.startswith("probs"):
            yield _of_probabilities(family, name.removeprefix("probs").lstrip("_") or path.stem, labels, array)
        if name.startswith("conf_") and name.replace("conf_", "pred_") in arrays:
            predicted = arrays[name.replace("conf_", "pred_")].astype(np.int64)
            yield _of_tops(family, name.removeprefix("conf_"), labels, predicted, array)
    if "models" in arrays:
        for row, name in enumerate(arrays["models"]):
            yield _of_tops(family, str(name), labels, arrays["pred"][row].astype(np.int64), arrays["conf"][row])


def load(folder: str | Path) -> list[Source]:
    """Return all models of the files that the folder holds."""
    found = [
        source
        for family, names in FILES.items()
        for name in names
        if (Path(folder) / name).exists()
        for source in _read(family, Path(folder) / name)
    ]
    if not found:
        wanted = ", ".join(name for names in FILES.values() for name in names)
        raise FileNotFoundError(f"{folder} holds none of the files of this study; at least one is needed of: {wanted}")
    return found


def synthetic(n: int = 4000, classes: int = 5, seed: int = 0) -> Source:
    """Return a synthetic model, to try the study without data."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=n)
    logits = rng.normal(size=(n, classes)) + 2.5 * np.eye(classes)[labels]
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return _of_probabilities("Synthetic", "normal logits", labels, p / p.sum(axis=1, keepdims=True))
