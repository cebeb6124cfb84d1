"""Does a second score really help? Real outputs, a small network with feature scores, and the gain of a useless score.

    python benchmarks/joint_study.py --outputs ood_cifar10_vs_cifar100.npz ood_fashionmnist_vs_mnist.npz
    python benchmarks/joint_study.py --images FOLDER --figures docs/joint

``--outputs``: files with ``probs``, ``labels`` and ``is_ood``. ``--images``: a folder with fashion_mnist.npz,
mnist.npz, kmnist_test5k.npz and notmnist_test5k.npz; needs PyTorch. For every second score, paired with the maximum
softmax probability: the gain, the mean gain of the same score permuted over all samples (noise), and permuted among
samples of similar confidence (what it shares with the confidence, without what it adds).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from abstain import joint
from abstain._typing import ArrayLike

Scores = dict[str, np.ndarray]


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
        similar = np.concatenate(
            [
                -np.partition(-(self._unit(part) @ self.bank.T), 49, axis=1)[:, 49]
                for part in np.array_split(features, 10)
            ]
        )
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


def train(x: np.ndarray, y: np.ndarray, seed: int, mixup: bool, epochs: int) -> Any:
    """Train two convolutions and 64 features; return a function from images to features and logits."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    body = nn.Sequential(
        nn.Conv2d(1, 16, 5, stride=2, padding=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * 49, 64), nn.ReLU(),
    )  # fmt: skip
    head = nn.Linear(64, 10)
    steps = epochs * (len(x) // 128)
    optimizer = torch.optim.AdamW([*body.parameters(), *head.parameters()], lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    images, labels = torch.tensor(x[:, None]), torch.tensor(y)
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for start in range(0, len(x) - 127, 128):
            rows = order[start : start + 128]
            batch, first = images[rows], labels[rows]
            share, other = 1.0, torch.randperm(128)
            if mixup:
                share = float(torch.distributions.Beta(0.3, 0.3).sample())
                batch = share * batch + (1 - share) * batch[other]
            z = head(body(batch))
            loss = share * nn.functional.cross_entropy(z, first) + (1 - share) * nn.functional.cross_entropy(
                z, first[other]
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()

    def outputs(new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with torch.no_grad():
            parts = [body(torch.tensor(part[:, None])) for part in np.array_split(new, 20)]
            h = torch.cat(parts)
            return h.double().numpy(), head(h).double().numpy()

    return outputs


def images(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return Fashion-MNIST and the OOD test sets, grey levels in [0, 1]."""

    def grey(array: np.ndarray) -> np.ndarray:
        return array.reshape(-1, 28, 28).astype(np.float32) / 255

    with np.load(folder / "fashion_mnist.npz") as file:
        inside = {name: file[name] for name in ("x_train", "y_train", "x_test", "y_test")}
    for name in ("x_train", "x_test"):
        inside[name] = grey(inside[name])
    outside = {}
    for name, path in (("mnist", "mnist"), ("kmnist", "kmnist_test5k"), ("notmnist", "notmnist_test5k")):
        with np.load(folder / f"{path}.npz") as file:
            key = next(key for key in ("x_test", "x", "images", *file.files) if key in file.files)
            outside[name] = grey(file[key])
    return inside, outside


def network_runs(folder: Path, n_runs: int, epochs: int) -> dict[str, list[joint.ScoredRun]]:
    """Train the network plainly and with Mixup, and score all sets."""
    inside, outside = images(folder)
    labels = inside["y_train"].astype(np.int64)
    runs: dict[str, list[joint.ScoredRun]] = {}
    for strategy in ("basic", "mixup"):
        for seed in range(n_runs):
            outputs = train(inside["x_train"], labels, seed, strategy == "mixup", epochs)
            features, _ = outputs(inside["x_train"])
            score = FeatureScores(features, labels)
            h, z = outputs(inside["x_test"])
            loss = (z.argmax(axis=1) != inside["y_test"]).astype(float)
            runs.setdefault(strategy, []).append(
                joint.ScoredRun(loss, score(h, z), {name: score(*outputs(x)) for name, x in outside.items()})
            )
            print(f"{strategy} {seed}: accuracy {1 - loss.mean():.4f}", flush=True)
    return runs


# ---------------------------------------------------------------------- what is printed


def pair(run: joint.ScoredRun, name: str, confidence: str, detector: str | None) -> dict[str, ArrayLike]:
    """Return the columns of two scores on one OOD set; None: a constant detector."""
    sides = {"id": run.id_scores, "ood": run.ood_scores[name]}
    columns = {f"{side}_confidence": scores[confidence] for side, scores in sides.items()}
    for side, scores in sides.items():
        columns[f"{side}_detector"] = np.zeros(len(scores[confidence])) if detector is None else scores[detector]
    return {"id_loss": run.id_loss, **columns}


def gains(run: joint.ScoredRun, name: str, prevalence: float | None, n_permutations: int) -> None:
    """Print, per second score, what it does alone and with the confidence, and gains beside null gains."""
    outside = run.ood_scores[name]
    share = "as in the data" if prevalence is None else f"{prevalence:g}"
    n = len(outside["msp"])
    print(f"\n{name}: n_ID {len(run.id_loss)}, n_OOD {n}, share of OOD samples {share}; confidence msp")
    print(
        f"{'':<12} AUROC    F1 (%)  DS-F1   gain   null  cond.  AURC x1000  DS-AURC     gain     null (sd)"
        "    cond. (sd)  p cond.  over it: F1  AURC (null)"
    )
    for score in run.id_scores:
        columns = pair(run, name, "msp", score)
        options = {"prevalence": prevalence, "n_permutations": n_permutations, "scheme": "permuted"}
        f1, area = (joint.null_gain(**columns, metric=metric, **options) for metric in ("ds_f1", "ds_aurc"))
        f1_c, area_c = (
            joint.null_gain(**columns, metric=metric, **options | {"scheme": "conditional"})
            for metric in ("ds_f1", "ds_aurc")
        )
        swapped = pair(run, name, score, "msp")  # what the confidence adds to the score
        f1_over, over = (joint.null_gain(**swapped, metric=metric, **options) for metric in ("ds_f1", "ds_aurc"))
        one = {"id_score": run.id_scores[score], "ood_score": outside[score]}
        auroc, alone = joint.auroc(**one), joint.aurc(run.id_loss, **one, prevalence=prevalence)
        print(
            f"{score:<12} {auroc:.4f}  {100 * joint.f1(run.id_loss, **one, prevalence=prevalence).value:6.2f}  "
            f"{100 * f1.double:5.2f}  {100 * f1.gain:5.2f}  {100 * f1.null_mean:5.2f}  {100 * f1_c.null_mean:5.2f}  "
            f"{1000 * alone:10.2f}  {1000 * area.double:7.2f}  {1000 * area.gain:7.2f}  "
            f"{1000 * area.null_mean:5.2f} ({1000 * area.null_sd:.2f})  "
            f"{1000 * area_c.null_mean:5.2f} ({1000 * area_c.null_sd:.2f})  {area_c.p_value:.2f}     "
            f"{100 * f1_over.gain:8.2f} {1000 * over.gain:6.2f} ({1000 * over.null_mean:.2f})",
            flush=True,
        )


def from_outputs(path: Path, n_permutations: int) -> None:
    """Evaluate saved probabilities."""
    with np.load(path) as file:
        probabilities, labels, is_ood = file["probs"], file["labels"], file["is_ood"]
    scores = from_probabilities(probabilities)
    loss = (probabilities.argmax(axis=1) != labels)[~is_ood].astype(float)
    name = path.stem.removeprefix("ood_")
    inside = {score: column[~is_ood] for score, column in scores.items()}
    run = joint.ScoredRun(loss, inside, {name: {score: column[is_ood] for score, column in scores.items()}})
    print(f"\n{name}: accuracy {1 - loss.mean():.4f}")
    for prevalence in (None, 0.1):
        gains(run, name, prevalence, n_permutations)
    print("\n" + str(joint.protocol(run, {"OOD": [name]}, confidence="msp").table("detection")))


def draw(run: joint.ScoredRun, name: str, score: str, folder: Path) -> None:
    """Draw the frontier and the F1 surface of one pair of scores."""
    from abstain.plots import F1SurfaceDisplay, FrontierDisplay

    columns = pair(run, name, "msp", score)
    curves = {
        "MSP": joint.ds_aurc(**pair(run, name, "msp", None)).frontier,
        score: joint.ds_aurc(**pair(run, name, score, None)).frontier,
        "both": joint.ds_aurc(**columns).frontier,
    }
    folder.mkdir(parents=True, exist_ok=True)
    frontiers = FrontierDisplay({k: v for k, v in curves.items() if v is not None})
    for file, display in {"frontier": frontiers, "f1-surface": F1SurfaceDisplay(joint.evaluate(**columns))}.items():
        display.plot().ax_.set_title(f"Fashion-MNIST (ID), {name} (OOD): MSP and {score}", fontsize="medium")
        display.save(folder / f"{file}.png", dpi=110)
        print(f"wrote {folder / file}.png")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outputs", type=Path, nargs="*", default=[])
    parser.add_argument("--images", type=Path)
    parser.add_argument("--figures", type=Path)
    parser.add_argument("--runs", type=int, default=3, help="trained networks per strategy")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--permutations", type=int, default=20)
    arguments = parser.parse_args()
    for path in arguments.outputs:
        from_outputs(path, arguments.permutations)
    if arguments.images is None:
        return
    runs = network_runs(arguments.images, arguments.runs, arguments.epochs)
    groups = {"handwritten": ["mnist", "kmnist"], "fonts": ["notmnist"]}
    for prevalence in (None, 0.5):
        result = joint.protocol(runs, groups, confidence="msp", prevalence=prevalence)
        for strategy in runs:
            print(f"\n[{strategy}]\n{result.table('single-double', strategy=strategy)}")
        for metric in ("ds_f1", "ds_aurc"):
            for group in groups:
                print(f"\n{result.table('strategies', metric=metric, group=group)}")
    print(f"\n{result.table('tasks')}\n\n{result.table('detection', strategy='basic')}")
    first = runs["basic"][0]
    for name in ("mnist", "kmnist", "notmnist"):
        gains(first, name, 0.5, arguments.permutations)
    evaluation = joint.evaluate(**pair(first, "notmnist", "msp", "knn"))
    print(f"\nnotmnist with knn, network basic 0\n{evaluation}\n")
    for key, interval in evaluation.confidence_intervals().items():
        print(f"{key:<20} {interval.estimate:.4f} [{interval.low:.4f}, {interval.high:.4f}]")
    if arguments.figures is not None:
        draw(first, "notmnist", "knn", arguments.figures)


if __name__ == "__main__":
    main()
