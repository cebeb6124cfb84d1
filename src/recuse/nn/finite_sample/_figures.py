"""The figures: the paper's 1 to 6 and the families S7 to S28, on whatever sources there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recuse.metrics import rank_weight_bias
from recuse.nn.finite_sample._estimates import ESTIMATORS
from recuse.nn.finite_sample._sources import Source
from recuse.nn.finite_sample._study import Record, weight_errors
from recuse.nn.finite_sample._theory import weight_mse_given_percentile, weight_mse_given_rank

COLOURS = dict(zip(ESTIMATORS, ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd"), strict=True))
MARKS = dict(zip(ESTIMATORS, "osv^", strict=True))
#: Figure name: column of the record, its axis, whether the axis is logarithmic.
QUANTITIES = {
    "estimates": ("mean", "estimate", False),
    "bias": ("bias", "bias / AURC", False),
    "mae": ("mae", "mean absolute error / AURC", True),
    "mse": ("mse", "mean squared error / AURC²", True),
}


def _axes(rows: int, columns: int, width: float = 2.6, height: float = 2.5) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(width * columns, 4.5), height * rows + 0.7), layout="constrained", dpi=110)
    return figure, figure.subplots(rows, columns, squeeze=False)


def _save(figure: Any, folder: Path, name: str) -> None:
    figure.savefig(folder / f"{name}.png")


def by_size(records: Sequence[Record], folder: Path) -> None:
    """Figures 3, 4, 5 and S9 to S25: one file per data set and quantity; a row per loss, a column per model."""
    for family in dict.fromkeys(each.family for each in records):
        own = [each for each in records if each.family == family and each.score == "MSP"]
        models = list(dict.fromkeys(each.model for each in own))
        models = sorted(models, key=lambda m: -len({each.loss for each in own if each.model == m}))[:6]
        for quantity in QUANTITIES:
            losses = list(dict.fromkeys(each.loss for each in own))
            figure, axes = _axes(len(losses), len(models))
            for row, loss in enumerate(losses):
                for column, model in enumerate(models):
                    cell = [each for each in own if each.model == model and each.loss == loss]
                    if not cell:  # only the top class is known, so there is no cross-entropy
                        axes[row, column].set_axis_off()
                        continue
                    _cell(axes[row, column], cell, quantity)
                    axes[row, column].set_title(f"{model}, {loss}", fontsize=8)
                axes[row, 0].set_ylabel(QUANTITIES[quantity][1], fontsize=8)
            axes[0, 0].legend(fontsize=6)
            figure.suptitle(f"{family}: {QUANTITIES[quantity][1]} in batches of n", fontsize=9)
            _save(figure, folder, f"{family.lower().replace(' ', '-')}_{quantity}")


def _cell(axis: Any, cell: Sequence[Record], quantity: str) -> None:
    attribute, _, logarithmic = QUANTITIES[quantity]
    axis.set_xscale("log", base=2)
    axis.tick_params(labelsize=6, which="both")
    if logarithmic:
        axis.set_yscale("log")
    for name in ESTIMATORS:
        rows = [each for each in cell if each.estimator == name]
        if not rows:
            continue
        n = np.array([each.size for each in rows])
        scale = 1.0 if quantity == "estimates" else np.array([each.population for each in rows])
        if quantity == "mse":
            scale = scale**2
        value = np.array([getattr(each, attribute) for each in rows]) / scale
        axis.plot(n, value, MARKS[name], color=COLOURS[name], label=name, markersize=3)
        if quantity in ("estimates", "bias"):  # what the weights' expectations say, drawn over the measurements
            theory = np.array([each.bias_theory for each in rows])
            expected = theory + rows[0].population if quantity == "estimates" else theory / scale
            axis.plot(n, expected, "-", color=COLOURS[name], linewidth=0.8)
        else:
            axis.plot(n, value, "-", color=COLOURS[name], linewidth=0.6)
        if quantity == "estimates":
            sd = np.array([each.sd for each in rows])
            axis.fill_between(n, value - sd, value + sd, color=COLOURS[name], alpha=0.12, linewidth=0)
    if quantity in ("estimates", "bias"):
        target = cell[0].population if quantity == "estimates" else 0.0
        axis.axhline(target, color="black", linewidth=0.8, dashes=(4, 2))


def weights(source: Source, folder: Path, sizes: Sequence[int], rounds: int) -> None:
    """Figures 1, 2 and S8: bias and error of the weights, measured in batches (dots) and from theory (lines)."""
    names = {"harmonic": "harmonic", "log": "log", "sele": "SELE"}
    figure, axes = _axes(3, len(sizes))
    for column, n in enumerate(sizes):
        measured = weight_errors(source.scores["MSP"], n, rounds)
        fine = np.linspace(0.005, 0.995, 199)
        for key, name in names.items():
            theory = rank_weight_bias(n, fine, key)  # type: ignore[arg-type]
            # a cell's measurement is a mean over the cell, so the line is averaged alike where it is steep
            axes[0, column].plot(fine, theory, "-", color=COLOURS[name], linewidth=0.9, label=name)
            axes[0, column].plot(measured["beta"], measured[f"{key} bias"], MARKS[name], color=COLOURS[name], ms=3)
        for key in ("harmonic", "log"):
            line = weight_mse_given_percentile(n, fine, key)
            axes[1, column].plot(fine, line, "-", color=COLOURS[key], linewidth=0.9)
            axes[1, column].plot(measured["beta"], measured[f"{key} mse"], MARKS[key], color=COLOURS[key], ms=3)
        axes[1, column].plot(fine, fine / (n * (1 - fine) + 1), "k:", linewidth=0.9, label="β / (n(1 − β) + 1)")
        rank = np.arange(1, n + 1)
        axes[2, column].plot(rank / n, weight_mse_given_rank(n), "-", color="black", linewidth=0.9, label="Prop. 3.5")
        axes[2, column].plot(rank / n, measured["mse_by_rank"], "o", color=COLOURS["harmonic"], ms=2)
        axes[0, column].set_title(f"n = {n}", fontsize=8)
        axes[0, column].set_ylim(-1.2, 0.3)
        for row in (1, 2):
            axes[row, column].set_yscale("log")
        for row in range(3):
            axes[row, column].tick_params(labelsize=6, which="both")
            axes[row, column].set_xlabel(("percentile β", "percentile β", "rank r / n")[row], fontsize=7)
    for row, label in enumerate(("bias of the weight at β", "MSE of the weight at β", "MSE of the weight at rank r")):
        axes[row, 0].set_ylabel(label, fontsize=8)
        axes[row, 0].legend(fontsize=6)
    title = f"Weights of one sample in batches of {source.family} {source.model}: theory and measured"
    figure.suptitle(title, fontsize=10)
    _save(figure, folder, "weights")


def by_score(records: Sequence[Record], folder: Path, size: int = 128) -> None:
    """Figures 6 and S26 to S28: all scores at one size, one file per data set."""
    for family in dict.fromkeys(each.family for each in records):
        own = [each for each in records if each.family == family and each.size == size]
        every = list(dict.fromkeys(each.model for each in own))
        models = [model for model in every if len({each.score for each in own if each.model == model}) > 1]
        models = (models or every)[:4]
        losses = list(dict.fromkeys(each.loss for each in own))
        if not models:
            continue
        figure, axes = _axes(len(losses), len(models), width=3.4)
        for row, loss in enumerate(losses):
            for column, model in enumerate(models):
                axis = axes[row, column]
                cell = [each for each in own if each.model == model and each.loss == loss]
                scores = list(dict.fromkeys(each.score for each in cell))
                for shift, name in enumerate(ESTIMATORS):
                    rows = [each for each in cell if each.estimator == name]
                    place = np.arange(len(rows)) + 0.16 * (shift - 1.5)
                    value = [each.mean for each in rows]
                    axis.errorbar(place, value, [each.sd for each in rows], fmt=MARKS[name], color=COLOURS[name], ms=3,
                                  linewidth=0.8, label=name)  # fmt: skip
                for at, score in enumerate(scores):
                    population = next(each.population for each in cell if each.score == score)
                    axis.plot([at - 0.4, at + 0.4], [population] * 2, "k-", linewidth=0.9)
                axis.set_xticks(range(len(scores)), scores, rotation=60, ha="right", fontsize=6)
                axis.tick_params(axis="y", labelsize=6)
                axis.set_title(f"{model}, {loss}", fontsize=8)
        axes[0, 0].legend(fontsize=6)
        figure.suptitle(f"{family}, n = {size}: mean and sd; line: AURC of all", fontsize=9)
        _save(figure, folder, f"{family.lower().replace(' ', '-')}_scores")


def equal(rows: Sequence[Any], folder: Path) -> None:
    """Figure S7: AURC_a against AURC_p."""
    figure, axes = _axes(1, 2, width=3.2, height=2.6)
    for axis, loss in zip(axes[0], ("0/1", "CE"), strict=True):
        for family in dict.fromkeys(row["family"] for row in rows):
            own = [row for row in rows if row["family"] == family and row["loss"] == loss]
            axis.plot([row["aurc_p"] for row in own], [row["aurc_a"] for row in own], "o", ms=4, label=family)
        low, high = axis.get_xlim()
        axis.plot([low, high], [low, high], "k-", linewidth=0.6)
        axis.set_xlabel("AURC_p", fontsize=8)
        axis.set_title(loss, fontsize=8)
        axis.tick_params(labelsize=6, which="both")
    axes[0, 0].set_ylabel("AURC_a", fontsize=8)
    axes[0, 0].legend(fontsize=6)
    _save(figure, folder, "equal")


def rate(records: Sequence[Record], sources: Sequence[Source], folder: Path) -> None:
    """RMSE against n with both laws, scaled to the first point of each model."""
    length = {(source.family, source.model): len(source.scores["MSP"]) for source in sources}
    losses = list(dict.fromkeys(each.loss for each in records))
    figure, axes = _axes(1, len(losses), width=3.6, height=3.0)
    for axis, loss in zip(axes[0], losses, strict=True):
        n = np.array([])
        for family, model in dict.fromkeys((each.family, each.model) for each in records):
            rows = [
                each
                for each in records
                if (each.family, each.model, each.loss, each.score, each.estimator)
                == (family, model, loss, "MSP", "harmonic")
            ]
            if rows:
                n = np.array([float(each.size) for each in rows])
                variance = np.array([each.sd**2 for each in rows]) / (1.0 - n / length[family, model])
                rmse = np.sqrt(variance + np.array([each.bias for each in rows]) ** 2)
                axis.plot(n, rmse * np.sqrt(n) / (rmse[2] * np.sqrt(n[2])), "-o", ms=2, linewidth=0.6, color="#1f77b4")
        axis.plot(n, np.ones(len(n)), "k-", linewidth=1.0, label="1 / √n")
        axis.plot(n, np.sqrt(np.log(n) / np.log(n[2])), "k--", linewidth=1.0, label="√(ln n / n)")
        axis.set_xscale("log", base=2)
        axis.set_xlabel("n", fontsize=8)
        axis.set_title(f"{loss}: RMSE of harmonic × √n, 1 at n = {int(n[2])}", fontsize=8)
        axis.tick_params(labelsize=6, which="both")
        axis.legend(fontsize=7)
    _save(figure, folder, "rate")
