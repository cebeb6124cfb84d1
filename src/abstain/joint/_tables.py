"""Protocol results as tables in the layouts of the literature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from abstain._checks import one_of
from abstain._result import (
    Caveat,
    Cell,
    Column,
    Estimate,
    Status,
    Table,
    Verdict,
    arrow,
    decimals,
    fixed,
    number,
    p_value,
)
from abstain.joint._detection import BACKWARD, backward
from abstain.metrics import get

if TYPE_CHECKING:
    from abstain.joint._protocol import ProtocolResult

#: What a protocol records, by name: the joint metrics, and some of the ID samples alone.
RECORDED = {name.removeprefix("joint."): get(name) for name in (
    "joint.f1", "joint.aurc", "joint.augrc", "joint.ds_f1", "joint.ds_aurc", "joint.ds_augrc", "joint.auroc",
    "joint.aupr_in", "joint.aupr_out", "joint.oscr", "accuracy",
)} | {
    "fpr_at_id_recall95": get("joint.fpr_at_id_recall"),
    "fpr_at_ood_recall95": get("joint.fpr_at_ood_recall"),
    "id_aurc": get("aurc"),
    "id_augrc": get("augrc"),
    "id_auroc_f": get("auroc_f"),
    "id_ece": get("ece"),
}  # fmt: skip

#: Shorter than the registry has it, for those of the ID samples alone.
SHORT = {
    "accuracy": "Acc.", "id_aurc": "ID-only AURC", "id_augrc": "ID-only AUGRC", "id_auroc_f": "AUROC of failures",
    "id_ece": "ECE",
}  # fmt: skip

#: A column: metric, score, strategy (None: taken from the row), and the groups, a column each.
Wanted: TypeAlias = tuple[str, str | None, str | None, tuple[str | None, ...]]


def _layout_single_double(result: ProtocolResult, *, strategy: str | None = None) -> Table:
    groups = tuple(result.groups)
    columns: list[Wanted] = [(metric, None, strategy, groups) for metric in ("f1", "aurc", "ds_f1", "ds_aurc")]
    return _build(result, "One score, and with the confidence", columns, result.scores, "Score")


def _layout_strategies(result: ProtocolResult, *, metric: str = "ds_f1", group: str | None = None) -> Table:
    columns: list[Wanted] = [(metric, score, None, (group,)) for score in result.scores]
    columns.append(("accuracy", result.confidence, None, (None,)))
    where = group or "all sets"
    return _build(result, f"{_title(metric)}, {where}", columns, result.strategies, "Training strategy")


#: Which samples are the positives of "FPR@95": OpenOOD 1.0 took the ID samples, 1.5 takes the OOD samples.
FPR = {
    "id": ("fpr_at_id_recall95",),
    "ood": ("fpr_at_ood_recall95",),
    "both": ("fpr_at_id_recall95", "fpr_at_ood_recall95"),
}


def _fpr(which: str) -> tuple[str, ...]:
    return FPR[one_of(which, FPR, "fpr")]


def _layout_tasks(result: ProtocolResult, *, score: str | None = None, fpr: str = "id") -> Table:
    score, groups = score or result.confidence, tuple(result.groups)
    columns: list[Wanted] = [(metric, score, None, groups) for metric in ("auroc", *_fpr(fpr))]
    columns += [(metric, score, None, (None,)) for metric in ("id_aurc", "accuracy")]
    return _build(result, f"Separate tasks with {score}", columns, result.strategies, "Training strategy")


def _layout_reliability(result: ProtocolResult, *, score: str | None = None, fpr: str = "id") -> Table:
    score, groups = score or result.confidence, tuple(result.groups)
    alone = ("accuracy", "id_ece", "id_auroc_f", "id_aurc", "id_augrc")
    columns: list[Wanted] = [(metric, score, None, (None,)) for metric in alone]
    columns += [(metric, score, None, groups) for metric in ("auroc", *_fpr(fpr), "ds_f1", "ds_aurc")]
    return _build(
        result, f"Accuracy, calibration, failures, OOD and both, with {score}", columns, result.strategies, "Model"
    )


def _layout_detection(result: ProtocolResult, *, strategy: str | None = None, fpr: str = "both") -> Table:
    groups = tuple(result.groups)
    metrics = ("auroc", *_fpr(fpr), "aupr_in", "aupr_out", "oscr")
    columns: list[Wanted] = [(metric, None, strategy, groups) for metric in metrics]
    return _build(result, "OOD detection", columns, result.scores, "Score")


def _layout_sets(result: ProtocolResult, *, metric: str = "ds_f1", strategy: str | None = None) -> Table:
    sets = [name for names in result.groups.values() for name in names]
    columns: list[Wanted] = [(metric, None, strategy, (name,)) for name in sets]
    return _build(result, f"{_title(metric)} per OOD set", columns, result.scores, "Score", by_set=True)


LAYOUTS: dict[str, Callable[..., Table]] = {
    "single-double": _layout_single_double,
    "strategies": _layout_strategies,
    "tasks": _layout_tasks,
    "reliability": _layout_reliability,
    "detection": _layout_detection,
    "sets": _layout_sets,
}


def _known(metric: str) -> tuple[str, str]:
    """Return title and direction of a metric."""
    found = RECORDED[one_of(metric, RECORDED, "metric")]
    return SHORT.get(metric, found.label), found.direction


def _title(metric: str) -> str:
    return arrow(*_known(metric))


def _build(
    result: ProtocolResult, title: str, columns: list[Wanted], names: list[str], corner: str, *, by_set: bool = False
) -> Table:
    """Return a table of means over runs: a column per metric or score, and per group."""
    by_score = corner == "Score"
    one_metric = len({column[0] for column in columns} - {"accuracy"}) == 1  # then the columns are scores
    heads, cells = [Column(corner)], [list[Cell](names)]
    for metric, score, strategy, groups in columns:
        label, direction = _known(metric)
        if by_set:
            label = str(groups[0])
        elif one_metric and score is not None and metric != "accuracy":
            label = score
        for group in groups:
            heads.append(Column(f"{label} {group}" if len(groups) > 1 else label, direction))
            cells.append([
                Estimate(mean, spread=sd)
                for name in names
                for mean, sd in [_mean(result, metric, score=name if by_score else score,
                                       strategy=strategy if by_score else name, group=group)]
            ])  # fmt: skip
    return Table(heads, list(zip(*cells, strict=True)), title, _notes(result, columns), ranks=5)


def _mean(result: ProtocolResult, metric: str, **where: str | None) -> tuple[float, float]:
    """Return mean and spread; NaN for a metric that the score does not allow."""
    if any(record.metric == metric and record.score == where["score"] for record in result.records):
        return result.mean(metric, **where)
    if metric not in RECORDED or where["score"] not in result.scores:
        return result.mean(metric, **where)  # which says what is wrong
    return np.nan, np.nan


def _notes(result: ProtocolResult, columns: list[Wanted]) -> list[str]:
    """Return sizes, conventions and runs."""
    notes = [f"n: {', '.join(f'{name} {n}' for name, n in result.sizes.items())}"]
    if any(len(groups) > 1 for *_, groups in columns):
        notes.append(f"groups: {', '.join(result.groups)}, unweighted means over their sets")
    if not any(metric == "accuracy" for metric, *_ in columns):
        mean, sd = result.mean("accuracy", strategy=columns[0][2])
        notes.append(f"ID accuracy {number(mean)}" + ("" if np.isnan(sd) else f" ± {fixed(sd, decimals([mean]))}"))
    notes.append("areas: of the least risk at this coverage of ID samples or more (lower envelope)")
    share = "as in the data" if result.prevalence is None else f"{result.prevalence:g} for every set"
    notes.append(f"share of OOD samples: {share}; confidence: {result.confidence}")
    runs = len({record.run for record in result.records})
    notes += [
        f"on {name} {score} is {BACKWARD.format(value)}; of a distance give the negative"
        for score, name, value in reversed_scores(result)
    ]
    return [*notes, f"runs: {runs}" + (", mean ± standard deviation (divisor runs - 1)" if runs > 1 else "")]


def reversed_scores(result: ProtocolResult) -> list[tuple[str, str, float]]:
    """Return scores that are higher for OOD samples, each with the first set where chance does not explain it.

    And the AUROC on that set.
    """
    sizes, found = result.sizes, []
    for score in result.scores:
        for name in [name for name in sizes if name != "ID"]:
            mean, _ = result.mean("auroc", score=score, group=name)
            if backward(mean, sizes["ID"], sizes[name]):
                found.append((score, name, mean))
                break
    return found


def verdict_of(result: ProtocolResult) -> Verdict:
    """Return what one score does alone, and of which OOD set it accepts most rows."""
    first, metric = result.confidence, "fpr_at_id_recall95"
    accuracy, f1, aurc = (result.mean(name)[0] for name in ("accuracy", "f1", "aurc"))
    every = {name: result.mean(metric, group=name)[0] for names in result.groups.values() for name in names}
    worst = max(every, key=lambda name: every[name])
    where, rows = f"the threshold on {first} that accepts 95 % of the ID rows", f"the OOD rows of {worst}"
    caveats = [Caveat.of("ood_answered", answered=every[worst], rows=rows, where=where, more="")]
    for score, name, value in reversed_scores(result):
        if score != first:
            caveats.append(Caveat.of("reversed", score=score, auroc=value, where=f", OOD rows of {name}"))
    n = result.sizes.get("ID", max(result.sizes.values(), default=0))
    reason = f"One threshold on {first} has an F1 of {f1:.4f} and an AURC of {aurc:.4f} with OOD rows."
    return Verdict(Status.COMPARED, first, n=n, full_risk=1.0 - accuracy, caveats=tuple(caveats), reason=reason)


def with_gains(verdict: Verdict, gains: Sequence[Mapping[str, Any]]) -> Verdict:
    """Return the verdict with the largest gain of a second threshold in each metric, p times all gains tried.

    Where so few permutations were made that no p-value could be below 5 %, there is no test.
    """
    found: list[str] = []
    for metric in dict.fromkeys(str(each["metric"]) for each in gains):
        row = max((each for each in gains if each["metric"] == metric), key=lambda each: float(each["gain"]))
        n, p = row.get("n_permutations", 0), min(1.0, len(gains) * row["p"])
        test = p_value(p)
        if len(gains) / (n + 1) >= 0.05 and p >= 0.05 and row["gain"] > row["null_mean"]:
            test = f"not tested, which takes {20 * len(gains):,} permutations"
        label, shown = metric.upper().replace("_", "-"), "shown" if p < 0.05 else "not shown"
        known = f"gain in {label} {row['gain']:z.4f}, by chance {row['null_mean']:z.4f}, {test}"
        found.append(f"On {row['set']}, it is {shown} that a second threshold on {row['score']} helps ({known}).")
    return replace(verdict, reason=found[0], details=tuple(found[1:])) if found else verdict
