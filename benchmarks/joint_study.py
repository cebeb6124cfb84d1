"""Does a second score really help? Real outputs, a small network with feature scores, and the gain of a useless score.

    python -m benchmarks.joint_study outputs [--files NAME ...] [--permutations 20] --data FOLDER
    python -m benchmarks.joint_study images --data FOLDER [--figures docs/joint]

``--files``: with ``probs``, ``labels`` and ``is_ood``, in FOLDER/outputs. ``images`` needs PyTorch.
"""

from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import DATA, Form, command, say

from abstain import joint
from abstain._typing import ArrayLike

Scores = dict[str, np.ndarray]
FILES = ("ood_cifar10_vs_cifar100.npz", "ood_fashionmnist_vs_mnist.npz")


# ---------------------------------------------------------------------- scores


def from_probabilities(p: np.ndarray) -> Scores:
    """Return the confidence and six OOD scores; ranked through the rest mass, so that nothing saturates."""
    p = np.clip(p.astype(float), 1e-300, None)
    p /= p.sum(axis=1, keepdims=True)
    ordered = -np.sort(-p, axis=1)
    rest = ordered[:, 1:].sum(axis=1)
    return {
        "msp": -np.log(np.maximum(rest, 1e-300)),
        "entropy": (p * np.log(p)).sum(axis=1),
        "margin": ordered[:, 0] - ordered[:, 1],
        "gini": np.log((p**2).sum(axis=1)),
        "gen": -(ordered**0.1 * (1 - ordered) ** 0.1).sum(axis=1),
        "log-ratio": np.log(ordered[:, 0] / ordered[:, 1]),
        "kl-uniform": -np.log(p).mean(axis=1),
    }


class FeatureScores:
    """Energy and largest logit, and three scores of the features, fitted on training features."""

    def __init__(self, features: np.ndarray, labels: np.ndarray) -> None:
        self.means = np.stack([features[labels == k].mean(axis=0) for k in range(10)])
        centred = features - self.means[labels]
        d = features.shape[1]
        self.precision = np.linalg.inv(centred.T @ centred / len(features) + 1e-6 * np.eye(d))
        rng = np.random.default_rng(0)
        self.bank = self._unit(features[rng.choice(len(features), 5000, replace=False)])
        self.centre = features.mean(axis=0)
        _, vectors = np.linalg.eigh(np.cov(features.T))
        self.residual = vectors[:, : d // 2]

    @staticmethod
    def _unit(features: np.ndarray) -> np.ndarray:
        return features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)

    def __call__(self, features: np.ndarray, logits: np.ndarray) -> Scores:
        """Return all scores of new samples."""
        top = logits.max(axis=1)
        p = np.exp(logits - top[:, None])
        p /= p.sum(axis=1, keepdims=True)
        parts = from_probabilities(p)
        gaps = features[:, None, :] - self.means[None]
        cosines = (self._unit(part) @ self.bank.T for part in np.array_split(features, 10))
        similar = np.concatenate([-np.partition(-each, 49, axis=1)[:, 49] for each in cosines])
        return {
            "msp": parts["msp"],
            "entropy": parts["entropy"],
            "max-logit": top,
            "energy": top + np.log(np.exp(logits - top[:, None]).sum(axis=1)),
            "mahalanobis": -np.einsum("nkd,de,nke->nk", gaps, self.precision, gaps).min(axis=1),
            "knn": similar,
            "residual": -np.linalg.norm((features - self.centre) @ self.residual, axis=1),
        }


# ---------------------------------------------------------------------- the network


def train(x: np.ndarray, y: np.ndarray, seed: int, epochs: int = 5) -> Any:
    """Train two convolutions and 64 features; return a function from images to features and logits."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    body = nn.Sequential(
        nn.Conv2d(1, 16, 5, stride=2, padding=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * 49, 64), nn.ReLU(),
    )  # fmt: skip
    head = nn.Linear(64, 10)
    optimizer = torch.optim.AdamW([*body.parameters(), *head.parameters()], lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * (len(x) // 128))
    images, labels = torch.tensor(x[:, None]), torch.tensor(y)
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for start in range(0, len(x) - 127, 128):
            rows = order[start : start + 128]
            torch.randperm(128)  # unused, but part of the seeds of the documented runs
            optimizer.zero_grad()
            nn.functional.cross_entropy(head(body(images[rows])), labels[rows]).backward()
            optimizer.step()
            schedule.step()

    def outputs(new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with torch.no_grad():
            h = torch.cat([body(torch.tensor(part[:, None])) for part in np.array_split(new, 20)])
            return h.double().numpy(), head(h).double().numpy()

    return outputs


def grey(file: Path, *keys: str) -> np.ndarray:
    """Return images of a file, grey levels in [0, 1]."""
    with np.load(file) as arrays:
        key = next(key for key in (*keys, *arrays.files) if key in arrays.files)
        return arrays[key].reshape(-1, 28, 28).astype(np.float32) / 255


def network_run(folder: Path, seed: int) -> joint.ScoredRun:
    """Train the network on Fashion-MNIST, and score its test images and three OOD sets."""
    fashion = folder / "fashion_mnist.npz"
    with np.load(fashion) as arrays:
        labels, truth = arrays["y_train"].astype(np.int64), arrays["y_test"]
    inside = grey(fashion, "x_train")
    outputs = train(inside, labels, seed)
    score = FeatureScores(outputs(inside)[0], labels)
    h, z = outputs(grey(fashion, "x_test"))
    loss = (z.argmax(axis=1) != truth).astype(float)
    say(f"network {seed}: accuracy {1 - loss.mean():.4f}")
    files = {"mnist": "mnist", "kmnist": "kmnist_test5k", "notmnist": "notmnist_test5k"}
    outside = {name: grey(folder / f"{file}.npz", "x_test", "x", "images") for name, file in files.items()}
    return joint.ScoredRun(loss, score(h, z), {name: score(*outputs(x)) for name, x in outside.items()})


# ---------------------------------------------------------------------- what is printed


def pair(run: joint.ScoredRun, name: str, confidence: str, detector: str | None) -> dict[str, ArrayLike]:
    """Return the columns of two scores on one OOD set; None: a constant detector."""
    sides = {"id": run.id_scores, "ood": run.ood_scores[name]}
    columns = {f"{side}_confidence": scores[confidence] for side, scores in sides.items()}
    for side, scores in sides.items():
        columns[f"{side}_detector"] = np.zeros(len(scores[confidence])) if detector is None else scores[detector]
    return {"id_loss": run.id_loss, **columns}


def gains(run: joint.ScoredRun, name: str, prevalence: float | None, n_permutations: int) -> None:
    """Print of every second score what it does alone and with the MSP, its gain, that of noise, and what the MSP adds.

    Noise is the same score permuted over all samples.
    """
    outside = run.ood_scores[name]
    say(f"\n{name}: n_ID {len(run.id_loss)}, n_OOD {len(outside['msp'])}, share of OOD samples {prevalence}")
    say(f"{'':<12} F1 (%)  DS-F1   AURC x1000  DS-AURC     gain     noise (sd)   the MSP adds: F1  AURC (noise)")
    options = {"prevalence": prevalence, "n_permutations": n_permutations, "scheme": "permuted"}
    for score in run.id_scores:
        f1, area = (joint.null_gain(**pair(run, name, "msp", score), metric=metric, **options)
                    for metric in ("ds_f1", "ds_aurc"))  # fmt: skip
        f1_over, over = (joint.null_gain(**pair(run, name, score, "msp"), metric=metric, **options)
                         for metric in ("ds_f1", "ds_aurc"))  # fmt: skip
        one = {"id_score": run.id_scores[score], "ood_score": outside[score], "prevalence": prevalence}
        single, alone = joint.f1(run.id_loss, **one).value, joint.aurc(run.id_loss, **one)
        say(
            f"{score:<12} {100 * single:6.2f}  {100 * f1.double:5.2f}   {1000 * alone:10.2f}  {1000 * area.double:7.2f}"
            f"  {1000 * area.gain:7.2f}  {1000 * area.null_mean:5.2f} ({1000 * area.null_sd:.2f})  "
            f"{100 * f1_over.gain:8.2f} {1000 * over.gain:6.2f} ({1000 * over.null_mean:.2f})"
        )


def outputs(form: Form, data: Path = DATA, permutations: int = 20, files: tuple[str, ...] = FILES) -> None:
    """Evaluate saved probabilities."""
    for file in files:
        with np.load(data / "outputs" / file) as arrays:
            probabilities, labels, is_ood = arrays["probs"], arrays["labels"], arrays["is_ood"]
        scores = from_probabilities(probabilities)
        loss = (probabilities.argmax(axis=1) != labels)[~is_ood].astype(float)
        inside = {score: column[~is_ood] for score, column in scores.items()}
        run = joint.ScoredRun(loss, inside, {file: {score: column[is_ood] for score, column in scores.items()}})
        gains(run, file, None, permutations)


def images(form: Form, data: Path = DATA, permutations: int = 20, figures: str = "") -> None:
    """Train networks, compare single with double scores, and draw one pair if a folder for figures is given."""
    runs = [network_run(data / "images", seed) for seed in range(form(2, 2))]
    groups = {"handwritten": ["mnist", "kmnist"], "fonts": ["notmnist"]}
    result = joint.protocol({"basic": runs}, groups, confidence="msp", prevalence=0.5)
    say(f"\n{result.table('single-double', strategy='basic')}")
    for name in ("mnist", "kmnist", "notmnist"):
        gains(runs[0], name, 0.5, permutations)
    if figures:
        draw(runs[0], "notmnist", "knn", Path(figures))


def draw(run: joint.ScoredRun, name: str, score: str, folder: Path) -> None:
    """Draw the frontier and the F1 surface of one pair of scores."""
    from abstain.plots import F1SurfaceDisplay, FrontierDisplay

    pairs = {"MSP": ("msp", None), score: (score, None), "both": ("msp", score)}
    curves = {words: joint.ds_aurc(**pair(run, name, *both)).frontier for words, both in pairs.items()}
    displays = {
        "frontier": FrontierDisplay({words: curve for words, curve in curves.items() if curve is not None}),
        "f1-surface": F1SurfaceDisplay(joint.evaluate(**pair(run, name, "msp", score))),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for file, display in displays.items():
        display.plot().ax_.set_title(f"Fashion-MNIST (ID), {name} (OOD): MSP and {score}", fontsize="medium")
        display.save(folder / f"{file}.png", dpi=110)


if __name__ == "__main__":
    command(__doc__, also=(outputs, images))
