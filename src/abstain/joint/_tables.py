"""Protocol results as plain tables in the layouts of the literature, in per cent or per mille as there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from abstain._checks import closest

if TYPE_CHECKING:
    from abstain.joint._protocol import ProtocolResult

#: Shorter than the registry has it, for the two of the ID samples alone.
SHORT = {"accuracy": "Acc.", "id_aurc": "ID-only AURC"}


@dataclass(frozen=True)
class JointTable:
    """Text cells with a rank per cell for the shading.

    Parameters
    ----------
    title : str
        What is shown, with the size of every set.
    header : tuple of str
        Names of the columns; the first is that of the row names.
    names : tuple of str
        Names of the rows.
    cells : tuple of tuples of str
        One text per row and column; groups are separated by slashes.
    ranks : tuple of tuples of tuples of int
        Per cell and group, 1 for the best of the column, with equal ranks for equal values; 0: not ranked.
    notes : tuple of str
        Conventions and scales.

    Examples
    --------
    >>> import abstain
    >>> run = abstain.joint.ScoredRun([0, 0, 1], {"msp": [0.9, 0.5, 0.4]}, {"mnist": {"msp": [0.8, 0.7]}})
    >>> abstain.joint.protocol(run, {"far": ["mnist"]}, confidence="msp").table().header
    ('Score', 'F1 ↑', 'AURC ↓', 'DS-F1 ↑', 'DS-AURC ↓')
    """

    title: str
    header: tuple[str, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    ranks: tuple[tuple[tuple[int, ...], ...], ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        from abstain.report._joint import table_text

        return table_text(self)

    def to_markdown(self) -> str:
        """Return a Markdown table; the best of each column is bold."""
        from abstain.report._joint import table_markdown

        return table_markdown(self)

    def to_latex(self) -> str:
        """Return a LaTeX tabular; the best of each column are shaded (packages xcolor with table, booktabs)."""
        from abstain.report._joint import table_latex

        return table_latex(self)

    def to_html(self) -> str:
        """Return an HTML table; the best of each column are shaded, the darker the better."""
        from abstain.report._joint import table_html

        return table_html(self)


#: A column: metric, score, strategy (None: taken from the row), and the groups behind slashes.
Column = tuple[str, str | None, str | None, tuple[str | None, ...]]


def _layout_single_double(result: ProtocolResult, *, strategy: str | None = None) -> JointTable:
    groups = tuple(result.groups)
    columns: list[Column] = [(metric, None, strategy, groups) for metric in ("f1", "aurc", "ds_f1", "ds_aurc")]
    return _build(result, "One score, and with the confidence", columns, result.scores, "Score")


def _layout_strategies(result: ProtocolResult, *, metric: str = "ds_f1", group: str | None = None) -> JointTable:
    columns: list[Column] = [(metric, score, None, (group,)) for score in result.scores]
    columns.append(("accuracy", result.confidence, None, (None,)))
    where = group or "all sets"
    return _build(result, f"{_title(metric)}, {where}", columns, result.strategies, "Training strategy")


def _layout_tasks(result: ProtocolResult, *, score: str | None = None) -> JointTable:
    score, groups = score or result.confidence, tuple(result.groups)
    columns: list[Column] = [(metric, score, None, groups) for metric in ("auroc", "fpr_at_id_recall95")]
    columns += [(metric, score, None, (None,)) for metric in ("id_aurc", "accuracy")]
    return _build(result, f"Separate tasks with {score}", columns, result.strategies, "Training strategy")


def _layout_detection(result: ProtocolResult, *, strategy: str | None = None) -> JointTable:
    groups = tuple(result.groups)
    metrics = ("auroc", "fpr_at_id_recall95", "fpr_at_ood_recall95", "aupr_in", "aupr_out", "oscr")
    columns: list[Column] = [(metric, None, strategy, groups) for metric in metrics]
    return _build(result, "OOD detection", columns, result.scores, "Score")


def _layout_sets(result: ProtocolResult, *, metric: str = "ds_f1", strategy: str | None = None) -> JointTable:
    sets = [name for names in result.groups.values() for name in names]
    columns: list[Column] = [(metric, None, strategy, (name,)) for name in sets]
    return _build(result, f"{_title(metric)} per OOD set", columns, result.scores, "Score", by_set=True)


LAYOUTS: dict[str, Callable[..., JointTable]] = {
    "single-double": _layout_single_double,
    "strategies": _layout_strategies,
    "tasks": _layout_tasks,
    "detection": _layout_detection,
    "sets": _layout_sets,
}


def _title(metric: str) -> str:
    from abstain.joint._protocol import RECORDED

    if metric not in RECORDED:
        raise ValueError(f"metric={metric!r} is not known; {closest(metric, RECORDED)}")
    found = RECORDED[metric]
    return f"{SHORT.get(metric, found.label)} {'↑' if found.direction == 'higher' else '↓'}"


def _scale(metric: str) -> float:
    return 1000.0 if "aurc" in metric or "augrc" in metric else 100.0


def _build(
    result: ProtocolResult,
    title: str,
    columns: list[Column],
    rows: list[str],
    corner: str,
    *,
    by_set: bool = False,
) -> JointTable:
    from abstain.joint._protocol import RECORDED

    by_score = corner == "Score"
    texts: list[list[str]] = [[] for _ in rows]
    ranks: list[list[tuple[int, ...]]] = [[] for _ in rows]
    header = [corner]
    one_metric = len({column[0] for column in columns} - {"accuracy"}) == 1  # then the columns are scores
    for metric, score, strategy, groups in columns:
        if by_set:
            header.append(str(groups[0]))
        else:
            header.append(score if one_metric and score is not None and metric != "accuracy" else _title(metric))
        pairs = [
            [
                result.mean(
                    metric, score=row if by_score else score, strategy=strategy if by_score else row, group=group
                )
                for group in groups
            ]
            for row in rows
        ]
        values = np.array([[mean for mean, _ in pair] for pair in pairs])
        scale = _scale(metric)
        ranked = _ranks(scale * values, RECORDED[metric].direction)
        for i, pair in enumerate(pairs):
            texts[i].append(" / ".join(_number(scale * mean, scale * sd) for mean, sd in pair))
            ranks[i].append(tuple(ranked[i]))
    sizes = ", ".join(f"{name} {n}" for name, n in result.sizes.items())
    notes = [f"n: {sizes}"]
    if any(len(groups) > 1 for *_, groups in columns):
        notes.append(f"groups: {' / '.join(result.groups)}, unweighted means over their sets")
    if not any(metric == "accuracy" for metric, *_ in columns):
        mean, sd = result.mean("accuracy", strategy=columns[0][2])
        notes.append(f"ID accuracy {_number(100.0 * mean, 100.0 * sd)} %")
    notes.append("AURC and AUGRC x 1000, all others in per cent; areas: at least, coverage of ID samples")
    share = "as in the data" if result.prevalence is None else f"{result.prevalence:g} for every set"
    notes.append(f"share of OOD samples: {share}; confidence: {result.confidence}")
    runs = len({record.run for record in result.records})
    notes.append(f"runs: {runs}" + (", mean ± standard deviation (divisor runs - 1)" if runs > 1 else ""))
    return JointTable(
        title, tuple(header), tuple(rows), tuple(map(tuple, texts)), tuple(map(tuple, ranks)), tuple(notes)
    )


def _ranks(values: np.ndarray[tuple[int, int], np.dtype[np.float64]], direction: str) -> list[list[int]]:
    """Rank each group by itself, the best first; values that print alike share a rank."""
    shown = np.round(values, 2)
    signed = -shown if direction == "higher" else shown
    return [[1 + int(np.sum(signed[:, j] < signed[i, j])) for j in range(values.shape[1])] for i in range(len(values))]


def _number(mean: float, sd: float) -> str:
    return f"{mean:.2f}" if np.isnan(sd) else f"{mean:.2f} ± {sd:.2f}"
