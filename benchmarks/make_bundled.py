"""Make the bundled outputs: ``python benchmarks/make_bundled.py digits``, or with the FOLDER of other people's outputs.

``FOLDER/outputs`` holds the complete sets; ``src/abstain/datasets/data/README.md`` says where each is from. Rows are
drawn once, by the seed below, and kept in the order of the source where that order means something. ``digits`` makes
real predictions of a small model of our own.
"""

from __future__ import annotations

import csv
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

import abstain

TARGET = Path(__file__).parents[1] / "src/abstain/datasets/data"
SEED, ROWS = 0, 2000
#: Names in the source and ours.
IMAGENET = {
    "tv_resnext101_32x8d": "resnext101",
    "timm_efficientnet_b3a": "efficientnet_b3a",
    "tv_resnet101": "resnet101",
    "timm_resnext50_32x4d": "resnext50",
    "timm_mobilenetv3_large_100": "mobilenetv3",
    "timm_resnet34": "resnet34",
}


def imagenet(folder: Path) -> dict[str, Any]:
    """Return wrong and the largest probability of six models on the same 2,000 images."""
    with np.load(folder / "imagenet_val_msp.npz") as file:
        names, wrong, score = list(file["models"]), file["pred"] != file["labels"], file["conf"]
    rows = np.random.default_rng(SEED).choice(wrong.shape[1], ROWS, replace=False)
    found: dict[str, Any] = {}
    for name, short in IMAGENET.items():
        found[f"{short}_wrong"] = np.packbits(wrong[names.index(name), rows])
        found[f"{short}_msp"] = score[names.index(name), rows]
    return found


def votes(folder: Path) -> dict[str, Any]:
    """Return how many of 30 networks voted for the class with most votes, and whether it is wrong."""
    found: dict[str, Any] = {}
    with np.load(folder / "cifar10_1_hard_predictions.npz") as file:
        for part, name in (("cifar10", "cifar10"), ("v6", "cifar10_1")):
            said, labels = file[f"pred_{part}"], file[f"labels_{part}"]
            counts = np.stack([(said == k).sum(axis=0) for k in range(10)], axis=1)
            found[f"{name}_wrong"] = np.packbits(counts.argmax(axis=1) != labels)
            found[f"{name}_votes"] = counts.max(axis=1).astype(np.uint8)
    return found


def ood(folder: Path) -> dict[str, Any]:
    """Return two scores of 1,000 images of Fashion-MNIST, and of 1,000 of MNIST, which the model does not know."""
    with np.load(folder / "ood_fashionmnist_vs_mnist.npz") as file:
        rows, labels, unknown = file["probs"], file["labels"], file["is_ood"]
    rows = rows / rows.sum(axis=1, keepdims=True)
    draws, found = np.random.default_rng(SEED), dict[str, Any]()
    for name, part in (("fashion", np.flatnonzero(~unknown)), ("mnist", np.flatnonzero(unknown))):
        chosen = draws.choice(part, ROWS // 2, replace=False)
        outputs = abstain.Outputs(probabilities=rows[chosen], unlabelled=True)
        for score in ("msp", "gen"):
            found[f"{name}_{score}"] = np.float32(abstain.scores.compute(score, outputs))
        if name == "fashion":
            found["fashion_wrong"] = np.packbits(rows[chosen].argmax(axis=1) != labels[chosen])
    return found


def write(path: Path, arrays: dict[str, Any]) -> None:
    """Write an archive whose bytes depend on the arrays only."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED)


def digits(target: Path = TARGET / "digits_logreg.csv") -> None:
    """Write predictions of a logistic regression that was trained on one half of the UCI digits, for the other."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split

    images, labels = load_digits(return_X_y=True)
    parts = train_test_split(images / 16.0, labels, test_size=0.5, random_state=0, stratify=labels)
    train, test, y_train, y_test = parts
    model = LogisticRegression(solver="newton-cholesky", tol=1e-10).fit(train, y_train)
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["labels", "predictions", "confidence"])
        for label, row in zip(y_test, model.predict_proba(test), strict=True):
            # Newton steps converge to rounding, so six digits are the same with any number of threads
            writer.writerow([label, row.argmax(), f"{row.max():.6f}"])


def main(folder: Path) -> None:
    for name, make in (("imagenet_six", imagenet), ("cifar10_votes", votes), ("fashion_mnist_ood", ood)):
        write(TARGET / f"{name}.npz", make(folder / "outputs"))
        print(f"{name}.npz: {(TARGET / f'{name}.npz').stat().st_size:,} bytes")


if __name__ == "__main__":
    digits() if sys.argv[1] == "digits" else main(Path(sys.argv[1]))
