"""A comparison as plain text, and as a forest plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.report._tables import ARROW, clean, decimals, fixed

if TYPE_CHECKING:
    from abstain.comparison import Comparison

#: Pairs that a printed table lists before it stops; all of them are in the result.
PAIRS = 15
#: Numbers of a row of the first table, which share their decimals.
_NUMBERS = ("estimate", "low", "high", "standard_error", "error_test", "error_seed")


def comparison_as_text(comparison: Comparison) -> str:
    """Return plain text: the scores, best first, then the pairs, then notes."""
    runs = max(comparison.n_runs)
    facts = f"{comparison.n} samples" + (f" · {runs} runs" if runs > 1 else "")
    how = f"{comparison.method} · {_adjusted(comparison)}"
    head = f"{clean(comparison.label)} {ARROW[comparison.direction]}  {facts} · {how}"
    parts = [head, _aligned(_scores(comparison)), _aligned(_pairs(comparison))]
    hidden = len(comparison.differences) - PAIRS
    if hidden > 0:
        parts[-1] += f"\n... and {hidden} more pairs in .differences"
    legend = "scores that share a letter do not differ significantly"
    return "\n\n".join([*parts, "\n".join(f"note: {clean(line)}" for line in [legend, *comparison.notes()])])


def _adjusted(comparison: Comparison) -> str:
    test = f"tests at {1.0 - comparison.level:.3g}"
    return test if comparison.adjust == "none" or len(comparison.table) == 2 else f"{test}, {comparison.adjust}"


def _scores(comparison: Comparison) -> list[list[str]]:
    several = max(comparison.n_runs) > 1
    header = ["", "rank", "estimate", f"{100 * comparison.level:g} % interval", "error"]
    header += ["test set", "training"] if several else []
    rows = [[*header, "group"]]
    places = decimals(row["estimate"] for row in comparison.table)
    for row in comparison.table:
        numbers = {key: fixed(row[key], places) for key in _NUMBERS}
        cells = [clean(row["name"]), str(row["rank"]), numbers["estimate"]]
        cells += [f"{numbers['low']} to {numbers['high']}", numbers["standard_error"]]
        cells += [numbers["error_test"], numbers["error_seed"]] if several else []
        rows.append([*cells, row["group"]])
    return rows


def _pairs(comparison: Comparison) -> list[list[str]]:
    simultaneous = "simultaneous " if comparison.adjust == "max-t" and len(comparison.table) > 2 else ""
    rows = [["better - worse", "difference", f"{simultaneous}interval", "p", "adjusted p", ""]]
    listed = comparison.differences[:PAIRS]
    places = decimals(each.difference for each in listed)
    for each in listed:
        difference, low, high = (fixed(value, places) for value in (each.difference, each.low, each.high))
        rows.append(
            [
                clean(f"{each.a} - {each.b}"),
                difference,
                f"{low} to {high}",
                _p(each.p_value),
                _p(each.p_adjusted),
                "*" if each.significant else "",
            ]
        )
    return rows


def _p(value: float) -> str:
    return "—" if np.isnan(value) else "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def _aligned(rows: list[list[str]]) -> str:
    """Return rows with the first column left and the others right."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(w) if j == 0 else cell.rjust(w) for j, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def plot_comparison(comparison: Comparison, ax: Any = None) -> Any:
    """Draw estimates with intervals, best on top, letters on the right; return the axes."""
    rows = comparison.table
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(6.0, 1.2 + 0.34 * len(rows)), layout="constrained")
    height = np.arange(len(rows))
    estimate = np.array([row["estimate"] for row in rows])
    ends = np.array([[row["low"], row["high"]] for row in rows], dtype=np.float64).T
    known = ~np.isnan(ends).any(axis=0)
    ax.hlines(height[known], *ends[:, known], color="tab:blue", linewidth=2.0)
    ax.plot(estimate, height, "o", color="tab:blue", markersize=5)
    for y, row in zip(height, rows, strict=True):
        ax.annotate(
            row["group"], (1.0, y), xycoords=("axes fraction", "data"), xytext=(6, 0),
            textcoords="offset points", va="center", family="monospace", annotation_clip=False,
        )  # fmt: skip
    ax.set_yticks(height, [shown(row["name"]) for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel(f"{comparison.label} ({comparison.direction} is better), {100 * comparison.level:g} % intervals")
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def shown(name: str) -> str:
    """Return a name that matplotlib does not read as mathematics."""
    return clean(name).replace("$", r"\$")
