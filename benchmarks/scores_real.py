"""Scores x data sets on real models: AUGRC with intervals and rank groups; and AUROC against out-of-distribution data.

    ABSTAIN_DATA=folder python benchmarks/scores_real.py [--epochs 4] [--seeds 3] [--markdown docs/measured/scores.md]

Needs PyTorch and scikit-learn. ABSTAIN_DATA is a folder with ``images/fashion_mnist.npz`` (x_train, y_train, x_test,
y_test), ``images/kmnist_test5k.npz`` and ``outputs/*.npz`` (probabilities of published models); without it, only the
digits of scikit-learn are used. Each network has dropout before its last layer; its training data are the fit split,
and of the held-out data one part is the validation split and the rest the test split.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain import Outputs, joint, scores

#: Hyper-parameters that differ from the defaults: few classes, few features.
OPTIONS: dict[str, dict[str, Any]] = {"knn": {"neighbours": 10}, "max_logit_pnorm": {}}
SETS = {  # published models: file, key of the probabilities
    "CIFAR-10, WRN-16-4": ("cifar10_test_models", "probs_wideresnet_16_4"),
    "CIFAR-10, LeNet-5": ("cifar10_test_models", "probs_lenet5"),
    "CIFAR-100, DenseNet": ("cifar100_test_models", "probs_densenet_bc_100"),
    "20 newsgroups": ("20news_test_cleanlab", "probs"),
}

HEAD = """# Scores on real models

Made by `benchmarks/scores_real.py --epochs 4`. AUGRC × 1000, lower is better, of one training, with 95 % intervals for
the choice of the test samples; scores of one table that share a letter do not differ significantly at 0.05 (paired
tests, Holm). What another training would change is not in these: where the networks were trained here, *trainings* is
the mean ± standard deviation over three of them, the first among them, on the same splits. *AUROC OOD* is
in-distribution against out-of-distribution: digits upside down, Kuzushiji-MNIST for Fashion-MNIST. Fitted scores use
the training split or a validation split of their own, as their pages say; hyper-parameters are the defaults, but for
10 neighbours.

"""


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
    parameters = [*body.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
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
        order = np.random.default_rng(0).permutation(outputs.n)
        found[name] = {
            "validation": outputs.select(order[: outputs.n // 2]), "test": outputs.select(order[outputs.n // 2 :]),
        }  # fmt: skip
    return found


def every_score(parts: dict[str, Outputs]) -> dict[str, tuple[Any, Any]]:
    """Return all scores that these outputs allow, on the test split and on OOD data (None without any)."""
    found: dict[str, tuple[Any, Any]] = {}
    test, ood = parts["test"], parts.get("ood")
    for name in scores.names():
        if name in ("confidence", "column", "platt") or name.startswith("pass_"):
            continue
        entry = scores.get(name, **OPTIONS.get(name, {}))
        if name.startswith("combine"):
            entry = entry.using(scores=("neg_log_error", "max_logit" if test.logits is not None else "gen"))
        fit = parts.get(entry.fit_split or "test")
        if fit is None or not entry.available(test, fit):
            continue
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="the temperature stopped")
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
    lines = [
        f"## {name}\n",
        f"{len(loss)} test samples, error {np.mean(loss):.4f}\n",
        "| score | AUGRC x 1000 | 95 % interval | letters |"
        + " trainings |" * bool(others)
        + " AUROC OOD |" * bool(ood),
        "|---|---|---|---|" + "---|" * (bool(others) + bool(ood)),
    ]
    for score in sorted(own, key=own.__getitem__):
        low, high = (1000 * end for end in abstain.confidence_interval("augrc", loss, found[score])[:2])
        line = f"| {score} | {own[score]:.3f} | {low:.3f} to {high:.3f} | {comparison.letters[score]} |"
        if others:
            values = [each[score] for each in (own, *others)]
            line += f" {np.mean(values):.3f} ± {np.std(values, ddof=1):.3f} |"
        lines.append(line + (f" {ood[score]:.3f} |" if ood else ""))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print, and write if asked to, one table per model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=3, help="trainings of each network")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    folder = os.environ.get("ABSTAIN_DATA")
    networks: dict[str, Callable[[int], dict[str, Outputs]]] = {"Digits, CNN": partial(digits, options.epochs)}
    if folder:
        networks["Fashion-MNIST, CNN"] = partial(fashion, Path(folder), options.epochs)
    texts = []
    for name, trained in networks.items():
        parts, *others = (trained(seed) for seed in range(options.seeds))
        found = every_score(parts)
        ood = {score: joint.auroc(id_score=inside, ood_score=outside) for score, (inside, outside) in found.items()}
        spread = [areas(each["test"].error, inside(every_score(each))) for each in others]
        texts.append(report(name, parts["test"].error, inside(found), spread, ood))
        spread = [areas(*of_passes(each)) for each in others]
        texts.append(report(f"{name}, 20 dropout passes", *of_passes(parts), spread))
    for name, parts in (published(Path(folder)) if folder else {}).items():
        texts.append(report(name, parts["test"].error, inside(every_score(parts)), []))
    print("\n".join(texts))
    if options.markdown:
        options.markdown.write_text(HEAD + "\n".join(texts), encoding="utf-8")


if __name__ == "__main__":
    main()
