"""Certificates on saved outputs of real models: where the promise holds, where it breaks, what monitoring says.

    python benchmarks/thresholds_real.py FOLDER

FOLDER holds ``outputs/`` and ``tabular/`` as listed in the README there. Every row of a table is the mean over repeated
random halves: calibrate on one, check on the other. "broken": share of halves whose check risk is above the limit; with
check sets of the same size as the calibration set, some of that is noise of the check itself.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain.monitoring import monitor

DELTA = 0.05


def halves(name: str, loss: Any, score: Any, risk: float, repetitions: int = 20, **options: Any) -> None:
    """Calibrate on a random half, check and monitor on the other."""
    rows = []
    for i in range(repetitions):
        rng = np.random.default_rng(i)
        order = rng.permutation(len(loss))
        a, b = order[: len(loss) // 2], order[len(loss) // 2 :]
        rows.append(_once(loss[a], score[a], loss[b], score[b], risk, i, **options))
    _show(name, risk, rows)


def shift(name: str, old: tuple[Any, Any], new: tuple[Any, Any], risk: float, repetitions: int = 20) -> None:
    """Calibrate on a random half of one population, check and monitor on rows of another."""
    rows = []
    for i in range(repetitions):
        rng = np.random.default_rng(i)
        a, b = rng.permutation(len(old[0]))[: len(old[0]) // 2], rng.permutation(len(new[0]))
        rows.append(_once(old[0][a], old[1][a], new[0][b], new[1][b], risk, i))
    _show(name, risk, rows)


def _once(loss: Any, score: Any, new_loss: Any, new_score: Any, risk: float, seed: int, **options: Any) -> list[float]:
    found = abstain.choose_threshold(loss, score, risk=risk, delta=DELTA, **options)
    accepted = found.accept(new_score)
    if not found.attainable:
        return [0.0, 0.0, np.nan, 0.0, 0.0, 0.0]
    seen = monitor(found.policy(score="s"), new_loss, new_score, max_loss=options.get("max_loss", 1.0))
    new = float(new_loss[accepted].mean()) if accepted.any() else np.nan
    return [
        1.0,
        accepted.mean(),
        new,
        float(new > risk),
        float(bool(seen.violated)),
        float(bool(seen.score_drifted)),
    ]


def _show(name: str, risk: float, rows: list[list[float]]) -> None:
    attained, coverage, new, broken, alarm, drift = np.nanmean(np.array([*rows, [np.nan] * 6]), axis=0)
    print(
        f"{name:44s} limit {risk:.3f} attained {attained:.2f} coverage {coverage:.3f} risk {new:.4f} "
        f"broken {broken:.2f} alarm {alarm:.2f} score drift {drift:.2f}",
        flush=True,
    )


def imagenet(folder: Path) -> None:
    data = np.load(folder / "outputs/imagenet_val_msp.npz")
    for name, pred, conf in zip(data["models"], data["pred"], data["conf"], strict=True):
        halves(f"ImageNet {name}", (pred != data["labels"]).astype(float), conf.astype(float), 0.05)


def cifar_shift(folder: Path) -> None:
    """Agreement of 30 models as confidence of their majority; CIFAR-10 -> CIFAR-10.1, and OOD inputs mixed in."""
    data = np.load(folder / "outputs/cifar10_1_hard_predictions.npz")
    parts = {}
    for key in data.files:
        if data[key].ndim == 2:
            parts[key] = data[key]
    labels = {key: data[key] for key in data.files if data[key].ndim == 1 and data[key].dtype.kind in "ui"}
    named = {}
    for key, votes in parts.items():
        counts = np.apply_along_axis(np.bincount, 0, votes.astype(int), minlength=10)
        truth = next((y for y in labels.values() if len(y) == votes.shape[1]), None)
        if truth is not None:
            named[key] = ((counts.argmax(axis=0) != truth).astype(float), counts.max(axis=0) / votes.shape[0])
    keys = sorted(named, key=lambda key: -len(named[key][0]))
    halves(f"{keys[0]}: agreement of 30 models", *named[keys[0]], 0.01)
    for key in keys[1:]:
        shift(f"{keys[0]} -> {key}", named[keys[0]], named[key], 0.01)
    for name in ("cifar10_vs_cifar100", "fashionmnist_vs_mnist"):
        ood = np.load(folder / f"outputs/ood_{name}.npz")
        score, wrong = (
            ood["probs"].max(axis=1).astype(float),
            (ood["probs"].argmax(axis=1) != ood["labels"]).astype(float),
        )
        known = ~ood["is_ood"].astype(bool)
        halves(f"{name}: in-distribution", wrong[known], score[known], 0.005 if "cifar" in name else 0.02)
        shift(f"{name}: half OOD (an error each)", (wrong[known], score[known]), (wrong, score), 0.02)


def llm(folder: Path) -> None:
    import polars as pl

    frame = pl.read_parquet(folder / "outputs/llm_mcqa_confidence.parquet")
    frame = frame.filter(pl.col("abstain_option").cast(pl.Boolean) & (pl.col("dataset") == "mmlu"))
    for model in sorted(frame["model"].unique().to_list()):
        part = frame.filter(pl.col("model") == model)
        answered = part.filter(~pl.col("grade").is_in(["Abstained"]) & pl.col("msp").is_not_null())
        if answered.height < 500:
            continue
        loss = (answered["grade"] != "Correct").to_numpy().astype(float)
        halves(f"{model}, mmlu ({answered.height / part.height:.2f} answered)", loss, answered["msp"].to_numpy(), 0.2)


def ecg(folder: Path) -> None:
    """Hamming-like loss of a multi-label model: share of the labels in question that are wrong."""
    data = np.load(folder / "outputs/ecg_ptbxl_xresnet1d101_multilabel.npz")
    keys = {part: [key for key in data.files if part in key] for part in ("val", "test")}
    found = {}
    for part, names in keys.items():
        two = [np.asarray(data[key], dtype=float) for key in names if data[key].ndim == 2]
        truth, proba = sorted(two, key=lambda matrix: len(np.unique(matrix)))[:2]
        union = np.maximum((truth > 0.5) | (proba > 0.5), 0).sum(axis=1)
        wrong = ((truth > 0.5) != (proba > 0.5)).sum(axis=1)
        found[part] = (wrong / np.maximum(union, 1), -np.sum(np.minimum(proba, 1 - proba), axis=1))
    loss, score = (np.concatenate([found[part][k] for part in ("val", "test")]) for k in (0, 1))
    halves("PTB-XL, 1 - Jaccard, both folds mixed", loss, score, 0.25, max_loss=1.0)
    a, b = found["val"], found["test"]
    rows = [_once(*a, *b, 0.25, 0, max_loss=1.0)]
    _show("PTB-XL, validation -> test fold", 0.25, rows)


def adult(folder: Path) -> None:
    import polars as pl
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    frame = pl.read_parquet(folder / "tabular/adult_train32k.parquet")
    target = next(name for name in frame.columns if name.lower() in ("income", "class", "class-label", "target"))
    y = frame[target].cast(pl.String).to_numpy()
    X = frame.drop(target)
    words = [name for name in X.columns if X[name].dtype in (pl.String, pl.Categorical)]
    numbers = [name for name in X.columns if name not in words]
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), (StandardScaler(), numbers))
    order = np.random.default_rng(0).permutation(len(y))
    train, rest = order[:10000], order[10000:]
    model = make_pipeline(encode, LogisticRegression(max_iter=2000)).fit(X[train], y[train])
    proba = model.predict_proba(X[rest])
    loss, score = (model.classes_[proba.argmax(axis=1)] != y[rest]).astype(float), proba.max(axis=1)
    halves("adult, all", loss, score, 0.05)
    for name in ("sex", "race"):
        group = X[rest][next(c for c in X.columns if c.lower() == name)].cast(pl.String).to_numpy()
        half = np.random.default_rng(1).permutation(len(rest))
        a, b = half[: len(half) // 2], half[len(half) // 2 :]
        single = abstain.choose_threshold(loss[a], score[a], risk=0.05, delta=DELTA)
        each = abstain.choose_threshold(loss[a], score[a], risk=0.05, delta=DELTA, groups=group[a])
        for value in np.unique(group):
            rows = b[group[b] == value]
            one, own = single.accept(score[rows]), each.accept(score[rows], group[rows])
            risks = [float(loss[rows][mask].mean()) if mask.any() else np.nan for mask in (one, own)]
            print(
                f"  {name} = {value:20s} n {len(rows):5d}; one threshold: "
                f"coverage {one.mean():.3f} risk {risks[0]:.4f}; "
                f"its own: coverage {own.mean():.3f} risk {risks[1]:.4f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+")
    options = parser.parse_args()
    for study in (imagenet, cifar_shift, llm, ecg, adult):
        if not options.only or study.__name__ in options.only:
            study(options.folder)


if __name__ == "__main__":
    main()
