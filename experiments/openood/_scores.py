"""Tables 1, 2, 3 and 5 of the joint paper on networks of ours: seventeen scores, then nine on every row of training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

import numpy as np

from experiments.openood._numbers import NINE, SEVENTEEN
from experiments.openood._rows import LADDER, STEPS
from experiments.training._differences import markdown

Rows = Sequence[Mapping[str, object]]
#: Column -> metric, factor, and whether higher is better.
TABLE_1 = {
    "F1": ("f1", 100.0, True),
    "AURC": ("aurc", 1e3, False),
    "DS-F1": ("ds_f1", 100.0, True),
    "DS-AURC": ("ds_aurc", 1e3, False),
}
TABLE_5 = {
    "AUROC": ("auroc", 100.0, True),
    "FPR@95": ("fpr_at_ood_recall95", 100.0, False),
    "AUPR": ("aupr_in", 100.0, True),
}


def by_score(rows: Rows, columns: Mapping[str, tuple[str, float, bool]], model: str = "ce") -> str:
    """Return seventeen scores of one training by columns, near / far: mean and deviation over seeds, the best bold."""
    values = _by_quantity(rows)
    cells = [
        [
            [values(model, f"{group} {metric} {score}", factor) for score in SEVENTEEN.values()]
            for group in ("near", "far")
        ]
        for metric, factor, _ in columns.values()
    ]
    shown = [
        [_column(group, higher, deviation=True) for group in both]
        for both, (*_, higher) in zip(cells, columns.values(), strict=True)
    ]
    body = [
        [_cell_of(name), *(" / ".join(group[place] for group in both) for both in shown)]
        for place, name in enumerate(SEVENTEEN)
    ]
    return markdown(["score", *(f"{name} near / far" for name in columns)], body)


def by_training(rows: Rows, metric: str, group: str) -> str:
    """Return nine scores of every row of training that is there: means over seeds, the best of each column bold."""
    values = _by_quantity(rows)
    name, factor, higher = TABLE_1[metric]
    models = [model for model in LADDER if values(model, f"{group} {name} msp", factor)]
    columns = [
        _column([values(model, f"{group} {name} {score}", factor) for model in models], higher)
        for score in NINE.values()
    ]
    seeds = [str(len(values(model, "test errors"))) for model in models]
    right = [f"{100.0 - float(np.mean(values(model, 'test errors', 100.0))):.1f}" for model in models]
    body = [
        [model, seeds[place], *(column[place] for column in columns), right[place]]
        for place, model in enumerate(models)
    ]
    return markdown(["row", "seeds", *NINE, "right, %"], body)


def counted(rows: Rows, model: str = "ce") -> str:
    """Return what the paper counts in its Table 1, of one training: means over seeds of seventeen scores."""
    values = _by_quantity(rows)
    mean = {
        (group, metric, score): float(np.mean(found))
        for group in ("near", "far")
        for metric in ("f1", "aurc", "ds_f1", "ds_aurc", "auroc")
        for score in SEVENTEEN.values()
        if (found := values(model, f"{group} {metric} {score}"))
    }
    body = []
    for group in ("near", "far"):
        here = [score for score in SEVENTEEN.values() if (group, "f1", score) in mean]
        others = [score for score in here if score != "msp"]
        f1, gain = mean[group, "f1", "msp"], {s: mean[group, "ds_f1", s] - mean[group, "f1", "msp"] for s in others}
        less = {s: 1.0 - mean[group, "ds_aurc", s] / mean[group, "aurc", "msp"] for s in others}
        single = sum(mean[group, "f1", s] > f1 for s in others)
        own = sum(mean[group, "ds_f1", s] > max(f1, mean[group, "f1", s]) + 5e-5 for s in others)
        areas = sum(mean[group, "aurc", s] < mean[group, "aurc", "msp"] for s in others)
        best = {metric: _best(mean, group, metric, here) for metric in ("aurc", "ds_aurc")}
        body.append([
            group, f"{own} of {len(others)}", f"{100 * float(np.median(list(gain.values()))):.2f}",
            f"{100 * float(np.median(list(less.values()))):.1f} %", str(1 + single), str(1 + areas),
            best["aurc"], best["ds_aurc"],
        ])  # fmt: skip
    head = ["group", "DS-F1 above both single scores", "median gain in DS-F1 over MSP, points", "median fall of AURC"]
    return markdown([*head, "place of MSP by F1", "by AURC", "best AURC", "best DS-AURC"], body)


def steps_counted(rows: Rows) -> str:
    """Return what the paper counts in its Tables 2 and 3: of nine scores those that improve; means over seeds.

    Rows that are not there are left out.
    """
    values = _by_quantity(rows)
    columns = [(f"{name} {group}", f"{group} {TABLE_1[name][0]}", TABLE_1[name][2])
               for name in ("DS-F1", "DS-AURC") for group in ("near", "far")]  # fmt: skip
    here = [model for model in LADDER if values(model, "test errors")]
    steps = [(before, after) for before, after in pairwise(STEPS) if {before, after} <= {*here}]
    compared = [(f"{after} against {before}", after, [before]) for before, after in steps]
    compared += [(f"sure_plus against {base}", "sure_plus", [base]) for base in ("ce", "sure") if base in here]
    compared.append(("sure_plus best of all rows", "sure_plus", [model for model in here if model != "sure_plus"]))
    body = []
    for label, row, others in compared:
        cells = []
        for _, quantity, higher in columns:
            mean = {
                (model, score): (1.0 if higher else -1.0) * fmean(found)
                for model in (row, *others)
                for score in NINE.values()
                if (found := values(model, f"{quantity} {score}"))
            }
            judged = [score for score in NINE.values() if all((model, score) in mean for model in (row, *others))]
            better = sum(mean[row, score] > max(mean[other, score] for other in others) for score in judged)
            cells.append(f"{better} of {len(judged)}")
        body.append([label, *cells])
    return markdown(["comparison", *(label for label, *_ in columns)], body)


def _best(mean: Mapping[tuple[str, str, str], float], group: str, metric: str, scores: Sequence[str]) -> str:
    best = min(scores, key=lambda score: mean[group, metric, score])
    return next(_cell_of(name) for name, score in SEVENTEEN.items() if score == best)


def _cell_of(name: str) -> str:
    return name.replace("|", "\\|")


def _by_quantity(rows: Rows) -> Callable[..., list[float]]:
    """Return a function of row, quantity and factor that gives the values of the seeds."""
    found: dict[tuple[object, object], list[float]] = {}
    for row in rows:
        found.setdefault((row["model"], row["quantity"]), []).append(float(row["value"]))  # type: ignore[arg-type]
    return lambda model, quantity, factor=1.0: [factor * each for each in found.get((model, quantity), [])]


def _column(values: Sequence[Sequence[float]], higher: bool, deviation: bool = False) -> list[str]:
    """Return a column as text; where a score could not be computed, nothing."""
    means = [float(np.mean(each)) if len(each) else np.nan for each in values]
    best = np.nanmax(means) if higher else np.nanmin(means)
    found = []
    for each, mean in zip(values, means, strict=True):
        text = "" if np.isnan(mean) else f"{mean:.1f}"
        text = f"**{text}**" if text and mean == best else text
        found.append(f"{text} ± {np.std(each, ddof=1):.1f}" if deviation and len(each) > 1 else text)
    return found
