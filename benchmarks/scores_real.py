"""Scores x data sets on real models: AUGRC with intervals and rank groups; and AUROC against out-of-distribution data.

    python -m benchmarks.scores_real [--epochs 4] [--seeds 3] [--data FOLDER]

Needs PyTorch and scikit-learn. FOLDER holds ``images/`` and ``outputs/``; without it, only the digits of scikit-learn
are used. The training data of a network are the fit split, and of the held-out data one part is the validation split.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import DATA, Form, command, say

import abstain
from abstain import Outputs, joint, scores

SETS = {  # published models: file, key of the probabilities
    "CIFAR-10, WRN-16-4": ("cifar10_test_models", "probs_wideresnet_16_4"),
    "CIFAR-10, LeNet-5": ("cifar10_test_models", "probs_lenet5"),
    "CIFAR-100, DenseNet": ("cifar100_test_models", "probs_densenet_bc_100"),
    "20 newsgroups": ("20news_test_cleanlab", "probs"),
}


def network(width: int, channels: tuple[int, ...], side: int, seed: int) -> Any:
    """Return a small convolutional network as (body, head)."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    layers: list[Any] = []
    before = 1
    for after in channels:
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        before, side = after, side // 2
    body = nn.Sequential(*layers, nn.Flatten(), nn.Linear(before * side * side, width), nn.ReLU(), nn.Dropout(0.3))
    return body, nn.Linear(width, 10)


def train(body: Any, head: Any, x: Any, y: Any, epochs: int, seed: int) -> None:
    """Train with Adam and a one-cycle learning rate."""
    import torch

    torch.manual_seed(seed)
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-3)
    steps = epochs * -(-len(x) // 128)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps)
    body.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(128):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(head(body(x[rows])), y[rows]).backward()
            optimizer.step()
            schedule.step()


def outputs_of(body: Any, head: Any, x: Any, y: Any, passes: int = 0) -> Outputs:
    """Return logits, features, head and, if asked for, passes with dropout."""
    import torch

    def run(model: Any) -> Any:
        return torch.cat([model(rows) for rows in x.split(1000)])

    with torch.no_grad():
        body.eval()
        features = run(body)
        logits = head(features)
        columns: dict[str, Any] = {"features": features, "logits": logits, "head": (head.weight, head.bias)}
        if passes:
            body[-1].train()  # dropout only
            made = [torch.softmax(head(body[-1](features)).double(), dim=1) for _ in range(passes)]
            columns["passes"] = torch.stack(made)
    return Outputs(labels=y, unlabelled=y is None, **columns)


def images(x: Any) -> Any:
    """Return standardised images as a tensor of one channel."""
    import torch

    return torch.tensor(np.asarray(x, dtype=np.float32)[:, None] / 255.0 * 2.0 - 1.0)


def digits(epochs: int, seed: int) -> dict[str, Outputs]:
    """Train on 600 digits, hold out 400 for validation; out of distribution: digits upside down."""
    from sklearn.datasets import load_digits

    data = load_digits()
    x, y = images(data.images * (255 / 16)), data.target
    order = np.random.default_rng(0).permutation(len(y))
    parts = {"train": order[:600], "validation": order[600:1000], "test": order[1000:]}
    body, head = network(64, (16,), 8, seed)
    import torch

    train(body, head, x[parts["train"]], torch.tensor(y[parts["train"]]), 5 * epochs, seed)
    found = {name: outputs_of(body, head, x[rows], y[rows], 20) for name, rows in parts.items()}
    return found | {"ood": outputs_of(body, head, x[parts["test"]].flip(2), None, 20)}


def fashion(folder: Path, epochs: int, seed: int) -> dict[str, Outputs]:
    """Train on 20,000 articles of clothing; out of distribution: Japanese letters."""
    import torch

    with np.load(folder / "images/fashion_mnist.npz") as z:
        x_train, y_train, x_test, y_test = z["x_train"], z["y_train"], z["x_test"], z["y_test"]
    with np.load(folder / "images/kmnist_test5k.npz") as z:
        other = next(z[key] for key in z.files if z[key].ndim == 3)
    body, head = network(128, (16, 32), 28, seed)
    x, y = images(x_train[:20_000]), torch.tensor(y_train[:20_000].astype(np.int64))
    train(body, head, x, y, epochs, seed)
    held = images(x_test)
    return {
        "train": outputs_of(body, head, x, y),
        "validation": outputs_of(body, head, held[:2000], y_test[:2000], 20),
        "test": outputs_of(body, head, held[2000:], y_test[2000:], 20),
        "ood": outputs_of(body, head, images(other), None, 20),
    }


def published(folder: Path) -> dict[str, dict[str, Outputs]]:
    """Return saved probabilities, a random half of them for validation."""
    found = {}
    for name, (file, key) in SETS.items():
        with np.load(folder / f"outputs/{file}.npz") as z:
            p, y = z[key].astype(np.float64), z["labels"]
        outputs = Outputs(labels=y, probabilities=p / p.sum(axis=1, keepdims=True))
        first, second = np.split(np.random.default_rng(0).permutation(outputs.n), [outputs.n // 2])
        found[name] = {"validation": outputs.select(first), "test": outputs.select(second)}
    return found


def every_score(parts: dict[str, Outputs]) -> dict[str, tuple[Any, Any]]:
    """Return all scores that these outputs allow, on the test split and on OOD data (None without any)."""
    found: dict[str, tuple[Any, Any]] = {}
    test, ood = parts["test"], parts.get("ood")
    for name in scores.names():
        if name in ("confidence", "column", "platt") or name.startswith("pass_"):
            continue
        entry = scores.get(name, **({"neighbours": 10} if name == "knn" else {}))
        if name.startswith("combine"):
            entry = entry.using(scores=("neg_log_error", "max_logit" if test.logits is not None else "gen"))
        fit = parts.get(entry.fit_split or "test")
        if fit is None or not entry.available(test, fit):
            continue
        fitted = entry.fit(fit)
        found[name] = fitted.score(test), None if ood is None else fitted.score(ood)
    return found


def inside(found: dict[str, tuple[Any, Any]]) -> dict[str, Any]:
    """Return the scores of the test split alone."""
    return {name: pair[0] for name, pair in found.items()}


def of_passes(parts: dict[str, Outputs]) -> tuple[Any, dict[str, Any]]:
    """Return the loss of the mean prediction and the scores that belong to it, with the deterministic MSP beside."""
    test = parts["test"]
    mean = replace(test, predictions=scores.pass_predictions(test))
    names = [name for name in scores.names() if name.startswith("pass_")]
    found = {name: scores.compute(name, mean) for name in names}
    return mean.error, found | {"neg_log_error (no passes)": scores.compute("neg_log_error", mean)}


def areas(loss: Any, found: dict[str, Any]) -> dict[str, float]:
    """Return AUGRC x 1000 of each score."""
    return {name: 1000.0 * abstain.augrc(loss, column) for name, column in found.items()}


def report(
    name: str, loss: Any, found: dict[str, Any], others: list[dict[str, float]], ood: dict[str, Any] | None = None
) -> str:
    """Return one Markdown table: AUGRC x 1000, 95 % interval, letters, spread over trainings, AUROC against OOD."""
    own = areas(loss, found)
    comparison = abstain.compare(loss, found, metric="augrc")
    more = " trainings |" * bool(others) + " AUROC OOD |" * bool(ood)
    lines = [f"## {name}\n", f"{len(loss)} test samples, error {np.mean(loss):.4f}\n"]
    lines.append("| score | AUGRC x 1000 | 95 % interval | letters |" + more)
    lines.append("|---|---|---|---|" + "---|" * (bool(others) + bool(ood)))
    for score in sorted(own, key=own.__getitem__):
        low, high = (1000 * end for end in abstain.confidence_interval("augrc", loss, found[score])[:2])
        line = f"| {score} | {own[score]:.3f} | {low:.3f} to {high:.3f} | {comparison.letters[score]} |"
        if others:
            values = [each[score] for each in (own, *others)]
            line += f" {np.mean(values):.3f} ± {np.std(values, ddof=1):.3f} |"
        lines.append(line + (f" {ood[score]:.3f} |" if ood else ""))
    return "\n".join(lines) + "\n"


def models(form: Form, epochs: int = 4, seeds: int = 3, data: Path = DATA) -> None:
    """One table per model; networks are trained as often as there are seeds."""
    networks: dict[str, Callable[[int], dict[str, Outputs]]] = {"Digits, CNN": partial(digits, epochs)}
    if data != Path():
        networks["Fashion-MNIST, CNN"] = partial(fashion, data, epochs)
    for name, trained in networks.items():
        parts, *others = (trained(seed) for seed in range(seeds))
        found = every_score(parts)
        ood = {score: joint.auroc(id_score=inside, ood_score=outside) for score, (inside, outside) in found.items()}
        spread = [areas(each["test"].error, inside(every_score(each))) for each in others]
        say(report(name, parts["test"].error, inside(found), spread, ood))
        spread = [areas(*of_passes(each)) for each in others]
        say(report(f"{name}, 20 dropout passes", *of_passes(parts), spread))
    for name, parts in (published(data) if data != Path() else {}).items():
        say(report(name, parts["test"].error, inside(every_score(parts)), []))


if __name__ == "__main__":
    command(__doc__, models)
