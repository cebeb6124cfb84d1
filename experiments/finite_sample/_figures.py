"""The figures: the paper's 1 to 6 and the families S7 to S28, on whatever sources there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from abstain import rank_weight_mse
from experiments.finite_sample._estimates import ESTIMATORS
from experiments.finite_sample._sources import Source
from experiments.finite_sample._study import Record, finite_rmse, weight_errors

COLOURS = dict(zip(ESTIMATORS, ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd"), strict=True))
MARKS = dict(zip(ESTIMATORS, "osv^", strict=True))
#: Figure name: column of the record, label of the axis.
QUANTITIES = {
    "estimates": ("mean", "estimate"),
    "bias": ("bias", "bias / AURC"),
    "mae": ("mae", "mean absolute error / AURC"),
    "mse": ("mse", "mean squared error / AURC²"),
}


def _grid(n: int, columns: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """A figure with n panels, row by row."""
    from matplotlib.figure import Figure

    columns = min(columns, n)
    rows = -(-n // columns)
    figure = Figure(figsize=(max(width * columns, 4.0), height * rows + 0.9), layout="constrained", dpi=110)
    axes = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for axis in axes:
        axis.tick_params(labelsize=7, which="both")
    for axis in axes[n:]:
        axis.set_axis_off()
    return figure, axes[:n]


def _save(figure: Any, folder: Path, name: str, title: str, labelled: Any = None) -> None:
    """Write a figure; the legend, of one panel for all, stands below."""
    figure.suptitle(title, fontsize=10)
    if labelled is not None:
        figure.legend(*labelled.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.savefig(folder / f"{name}.png")


def _slug(*parts: str) -> str:
    return "_".join(part.lower().replace(" ", "-").replace("/", "-") for part in parts)


def _groups(records: Sequence[Record], key: Callable[[Record], str]) -> dict[str, list[Record]]:
    """Records by a key, in order of appearance."""
    found: dict[str, list[Record]] = {}
    for each in records:
        found.setdefault(key(each), []).append(each)
    return found


def by_size(records: Sequence[Record], folder: Path) -> None:
    """Figures 3, 4, 5 and S9 to S25: one file per data set, loss and quantity; a panel per model."""
    msp = [each for each in records if each.score == "MSP"]
    for family, own in _groups(msp, lambda each: each.family).items():
        for loss, rows in _groups(own, lambda each: each.loss).items():
            models = _groups(rows, lambda each: each.model)
            for quantity, (_, label) in QUANTITIES.items():
                figure, axes = _grid(len(models), 4, width=2.7, height=2.1)
                for axis, (model, cell) in zip(axes, models.items(), strict=True):
                    _curves(axis, cell, quantity)
                    axis.set_title(model, fontsize=8)
                figure.supylabel(label, fontsize=9)
                lines = "; lines: theory" if quantity in ("estimates", "bias") else ""
                title = f"{family}, {loss} loss, in batches of n{lines}"
                _save(figure, folder, _slug(family, quantity, loss), title, axes[0])


def _curves(axis: Any, cell: Sequence[Record], quantity: str) -> None:
    """All estimators of one model and loss against n."""
    attribute = QUANTITIES[quantity][0]
    population = cell[0].population
    scale = {"estimates": 1.0, "mse": population**2}.get(quantity, population)
    axis.set_xscale("log", base=2)
    for name, rows in _groups(cell, lambda each: each.estimator).items():
        n = np.array([each.size for each in rows])
        value = np.array([getattr(each, attribute) for each in rows]) / scale
        line = value
        if quantity in ("estimates", "bias"):  # what the weights' expectations say, drawn over the measurements
            theory = np.array([each.bias_theory for each in rows])
            line = population + theory if quantity == "estimates" else theory / scale
        axis.plot(n, value, MARKS[name], color=COLOURS[name], label=name, markersize=3)
        axis.plot(n, line, "-", color=COLOURS[name], linewidth=0.8)
        if quantity == "estimates":
            sd = np.array([each.sd for each in rows])
            axis.fill_between(n, value - sd, value + sd, color=COLOURS[name], alpha=0.12, linewidth=0)
    if quantity in ("mae", "mse"):
        axis.set_yscale("log")
        return
    axis.axhline(population if quantity == "estimates" else 0.0, color="black", linewidth=0.8, dashes=(4, 2))
    if quantity == "estimates":
        axis.set_ylim(bottom=0.0)  # no estimate is negative, only mean less deviation


def by_score(records: Sequence[Record], folder: Path, size: int = 128) -> None:
    """Figures 6 and S26 to S28: all scores at one size, one file per data set and loss.

    Models of which only the MSP is known share a panel.
    """
    own = [each for each in records if each.size == size]
    for family, of_family in _groups(own, lambda each: each.family).items():
        for loss, rows in _groups(of_family, lambda each: each.loss).items():
            models = _groups(rows, lambda each: each.model)
            several = {model: cell for model, cell in models.items() if len({each.score for each in cell}) > 1}
            panels = {model: _groups(cell, lambda each: each.score) for model, cell in several.items()}
            single = {model: cell for model, cell in models.items() if model not in several}
            if single:
                panels["MSP of other models" if several else "MSP"] = single
            figure, axes = _grid(len(panels), 3, width=3.4 if len(panels) > 1 else 7.0, height=2.6)
            for axis, (title, places) in zip(axes, panels.items(), strict=True):
                _spread(axis, places)
                axis.set_title(title, fontsize=8)
            figure.supylabel("estimate / AURC", fontsize=9)
            title = f"{family}, {loss} loss, n = {size}: mean ± standard deviation (AURC in parentheses)"
            _save(figure, folder, _slug(family, "scores", loss), title, axes[0])


def _spread(axis: Any, places: dict[str, list[Record]]) -> None:
    """Mean and deviation of all estimators, relative to the population's value, at places on the axis."""
    for shift, name in enumerate(ESTIMATORS):
        rows = [each for cell in places.values() for each in cell if each.estimator == name]
        population = np.array([each.population for each in rows])
        mean, sd = (np.array([getattr(each, column) for each in rows]) / population for column in ("mean", "sd"))
        at = np.arange(len(rows)) + 0.17 * (shift - 1.5)
        axis.errorbar(at, mean, sd, fmt=MARKS[name], color=COLOURS[name], ms=3, linewidth=0.8, label=name)
    axis.axhline(1.0, color="black", linewidth=0.8, dashes=(4, 2))
    labels = [f"{place} ({cell[0].population:.3g})" for place, cell in places.items()]
    axis.set_xticks(range(len(labels)), labels, rotation=40, ha="right", rotation_mode="anchor", fontsize=6)


def weights(source: Source, folder: Path, sizes: Sequence[int], rounds: int) -> None:
    """Figures 1, 2 and S8: bias and error of the weights, measured in batches (dots) and from theory (lines)."""
    figure, axes = _grid(3 * len(sizes), len(sizes), width=2.7, height=2.3)
    for column, n in enumerate(sizes):
        bias, error, by_rank = axes[column :: len(sizes)]
        found = weight_errors(source.scores["MSP"], n, rounds)
        beta = found["beta"]
        for key, name in {"harmonic": "harmonic", "log": "log", "sele": "SELE"}.items():
            bias.plot(beta, found[f"{key} bias"], MARKS[name], color=COLOURS[name], ms=3, label=name)
            bias.plot(beta, found[f"{key} bias theory"], "-", color=COLOURS[name], linewidth=0.9)
        for key in ("harmonic", "log"):
            error.plot(beta, found[f"{key} mse"], MARKS[key], color=COLOURS[key], ms=3)
            error.plot(beta, found[f"{key} mse theory"], "-", color=COLOURS[key], linewidth=0.9)
        fine = np.linspace(0.01, 1.0, 200)
        error.plot(fine, fine / (n * (1 - fine) + 1), "k:", linewidth=0.9, label="β / (n(1 − β) + 1)")
        rank = np.arange(1, n + 1)
        by_rank.plot(rank / n, found["mse_by_rank"], "o", color=COLOURS["harmonic"], ms=2)
        by_rank.plot(rank / n, rank_weight_mse(n, rank), "k-", linewidth=0.9, label="Proposition 3.5")
        bias.set_title(f"n = {n}", fontsize=9)
        bias.set_ylim(-1.2, 0.3)
        for axis, label in ((bias, "percentile β"), (error, "percentile β"), (by_rank, "rank r / n")):
            axis.set_xlabel(label, fontsize=7)
        for axis in (error, by_rank):
            axis.set_yscale("log")
    for row, label in enumerate(("bias of the weight at β", "MSE of the weight at β", "MSE of the weight at rank r")):
        axes[row * len(sizes)].set_ylabel(label, fontsize=8)
        axes[row * len(sizes)].legend(fontsize=7)
    _save(figure, folder, "weights", f"Weights in batches of {source.family}, {source.model}; lines: theory")


def equal(rows: Sequence[Any], folder: Path) -> None:
    """Figure S7: AURC_a against AURC_p."""
    losses = list(dict.fromkeys(row["loss"] for row in rows))
    figure, axes = _grid(len(losses), 2, width=3.2, height=2.8)
    for axis, loss in zip(axes, losses, strict=True):
        own = [row for row in rows if row["loss"] == loss]
        for family in dict.fromkeys(row["family"] for row in rows):
            points = [(row["aurc_p"], row["aurc_a"]) for row in own if row["family"] == family]
            axis.loglog(*zip(*points, strict=True) if points else ([], []), "o", ms=4, label=family)
        ends = [min(row["aurc_p"] for row in own), max(row["aurc_p"] for row in own)]
        axis.plot(ends, ends, "k-", linewidth=0.6)
        axis.set_xlabel("$\\mathrm{AURC}_p$", fontsize=9)
        axis.set_ylabel("$\\mathrm{AURC}_a$", fontsize=9)
        axis.set_title(f"{loss} loss", fontsize=9)
    _save(figure, folder, "equal", "Both forms of AURC, one point per model", axes[0])


def rate(records: Sequence[Record], sources: Sequence[Source], folder: Path) -> None:
    """Root mean squared error times the root of n, and both laws, all 1 at n = 32."""
    length = {(source.family, source.model): len(source.scores["MSP"]) for source in sources}
    own = [each for each in records if each.score == "MSP" and each.estimator == "harmonic"]
    families = list(dict.fromkeys(each.family for each in own))
    losses = _groups(own, lambda each: each.loss)
    figure, axes = _grid(len(losses), 2, width=4.0, height=3.0)
    for axis, (loss, cell) in zip(axes, losses.items(), strict=True):
        for place, family in enumerate(families):
            axis.plot([], [], "-o", ms=3, color=f"C{place}", label=family)
        for rows in _groups(cell, lambda each: f"{each.family} {each.model}").values():
            n = np.array([float(each.size) for each in rows])
            scaled = finite_rmse(rows, length[rows[0].family, rows[0].model]) * np.sqrt(n)
            colour = f"C{families.index(rows[0].family)}"
            axis.plot(n, scaled / np.interp(32.0, n, scaled), "-o", ms=2, linewidth=0.6, color=colour)
        n = np.array(sorted({float(each.size) for each in cell}))
        axis.plot(n, np.ones(len(n)), "k-", linewidth=1.2, label="1 / √n")
        axis.plot(n, np.sqrt(np.log(n) / np.log(32.0)), "k--", linewidth=1.2, label="√(ln n / n)")
        axis.set_xscale("log", base=2)
        axis.set_xlabel("batch size n", fontsize=8)
        axis.set_ylabel("RMSE × √n, 1 at n = 32", fontsize=8)
        axis.set_title(f"{loss} loss", fontsize=9)
    _save(figure, folder, "rate", "Rate of convergence of harmonic, one line per model", axes[0])
