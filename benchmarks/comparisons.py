"""Compare real models and real scores, to see which differences are real: docs/measured/comparisons.md.

    python -m benchmarks.comparisons --data FOLDER [--figures DIR]

FOLDER holds outputs/imagenet_val_msp.npz, cifar10_test_models.npz and llm_mcqa_confidence.parquet.
"""

from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import DATA, Form, command, say

import abstain


def imagenet(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Losses and maximum probabilities of eleven models on the 50,000 validation images."""
    with np.load(folder / "imagenet_val_msp.npz", allow_pickle=False) as data:
        names = [str(name) for name in data["models"]]
        losses = {name: (row != data["labels"]).astype(float) for name, row in zip(names, data["pred"], strict=True)}
        return losses, dict(zip(names, data["conf"], strict=True))


def cifar10(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Losses and confidences of seven models on the 10,000 test images."""
    losses, scores = {}, {}
    with np.load(folder / "cifar10_test_models.npz", allow_pickle=False) as data:
        for key in data.files:
            kind, _, name = key.partition("_")
            if kind == "probs":
                losses[name] = (data[key].argmax(axis=1) != data["labels"]).astype(float)
                scores[name] = data[key].max(axis=1)
            elif kind == "conf":
                losses[name] = (data[f"pred_{name}"] != data["labels"]).astype(float)
                scores[name] = data[key]
    return losses, scores


def language_models(folder: Path) -> list[tuple[str, Any, dict[str, Any]]]:
    """Loss and both confidences of each open model on MMLU (first prompt, no "I don't know" offered)."""
    import polars as pl

    rows = pl.read_parquet(folder / "llm_mcqa_confidence.parquet").filter(
        (pl.col("dataset") == "mmlu") & ~pl.col("abstain_option") & (pl.col("prompt") == 1)
    )
    found = []
    for (name,), part in rows.group_by(["model"], maintain_order=True):
        if part["max_logit"].null_count():
            continue
        loss = (part["grade"] != "Correct").to_numpy().astype(float)
        found.append((str(name), loss, {"msp": part["msp"].to_numpy(), "max_logit": part["max_logit"].to_numpy()}))
    return found


def real(form: Form, data: Path = DATA, figures: str = "") -> None:
    """Print all comparisons, and draw the figures into a folder if it is given."""
    folder = data / "outputs"
    losses, scores = imagenet(folder)
    study = abstain.ranking_study(losses, scores, ("aurc", "augrc"), n_resamples=500)
    say(f"ImageNet, 11 models, 50,000 images\n{study}\n")
    say("accuracy: " + ", ".join(f"{name} {1 - loss.mean():.3f}" for name, loss in losses.items()), "\n")
    comparison = abstain.compare(losses, scores, "augrc")
    say(comparison, "\n")
    if figures:
        Path(figures).mkdir(parents=True, exist_ok=True)
        for name, shown in (("ranking", study), ("compare", comparison)):
            shown.plot().figure_.savefig(Path(figures) / f"{name}-imagenet.png", dpi=110, bbox_inches="tight")
    say(abstain.compare(*cifar10(folder), "augrc"), "\n")
    say("MMLU, 6,000 questions: accuracy, AUGRC of msp and of max_logit, difference with interval, p")
    for name, loss, columns in language_models(folder):
        result = abstain.compare(loss, columns, "augrc")
        values = {row["name"]: row["estimate"] for row in result.table}
        each = result.difference("msp", "max_logit")
        say(
            f"{name:<22} {1 - loss.mean():9.3f} {values['msp']:10.4f} {values['max_logit']:10.4f}"
            f" {each.difference:+13.5f} [{each.low:+.5f}, {each.high:+.5f}] {each.p_value:8.4f}"
        )


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    command(__doc__, real)
