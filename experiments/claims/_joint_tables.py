"""Checks of the joint paper on the numbers that it prints."""

from __future__ import annotations

import itertools
import math

import numpy as np

from experiments.claims._ledger import check
from experiments.claims._sources import columns, holds, listed, printed

#: The steps from SURE to SURE+.
STEPS = ("- CSC", "- CRL", "+ SWA -> EMA", "+ SAM -> F-SAM", "+ RegPixMix (SURE+)")


def rows(table: str) -> dict[str, list[float]]:
    """Return the rows of a table."""
    found: dict[str, list[float]] = printed("joint")[table]["rows"]
    return found


def cell(table: str, row: str, **wanted: str) -> float:
    """Return one printed number."""
    return rows(table)[row][columns("joint", table, **wanted)[0]]


@check("J5")
def msp_twice() -> str:
    gaps = []
    for data in ("CIFAR-100", "ImageNet-1K"):
        for group in ("near", "far"):
            where = {"data": data, "group": group}
            gaps.append(
                (cell("table1", "MSP", metric="AURC", **where), cell("table1", "MSP", metric="DS-AURC", **where))
            )
            holds(cell("table1", "MSP", metric="F1", **where) == cell("table1", "MSP", metric="DS-F1", **where), where)
    return "F1 agrees in 4 of 4; AURC and DS-AURC of MSP with itself: " + "; ".join(f"{a} {b}" for a, b in gaps)


@check("J15")
def ranking_changes() -> str:
    parts, differ = [], 0
    for data in ("CIFAR-100", "ImageNet-1K"):
        for group in ("near", "far"):
            one, two = (min(rows("table1"), key=lambda r: cell("table1", r, metric=m, data=data, group=group))
                        for m in ("AURC", "DS-AURC"))  # fmt: skip
            differ += one != two
            parts.append(f"{data} {group} {one}, {two}")
    return f"best AURC and best DS-AURC differ in {differ} of 4: " + "; ".join(parts)


def _gains(metric: str, data: str, group: str) -> list[float]:
    single = {"DS-F1": "F1", "DS-AURC": "AURC"}[metric]
    base = cell("table1", "MSP", metric=single, data=data, group=group)
    sign = 1.0 if metric == "DS-F1" else -1.0
    return [
        sign * (cell("table1", r, metric=metric, data=data, group=group) - base) for r in rows("table1") if r != "MSP"
    ]


PLACES = [(data, group) for data in ("CIFAR-100", "ImageNet-1K") for group in ("near", "far")]


@check("J17", "J22", "J20")
def double_over_single() -> str:
    counts, medians, worse = [], [], 0
    for data, group in PLACES:
        f1 = _gains("DS-F1", data, group)
        counts.append(sum(g > 0.001 for g in f1))
        medians.append(float(np.median(f1)))
        for row in rows("table1"):
            both = {
                m: cell("table1", row, metric=m, data=data, group=group) for m in ("F1", "AURC", "DS-F1", "DS-AURC")
            }
            worse += both["DS-F1"] < both["F1"] - 1e-9 or both["DS-AURC"] > both["AURC"] + 1e-9
    holds(counts == [9, 15, 4, 6] and worse == 0, (counts, worse))
    areas = [sum(g > 0 for g in _gains("DS-AURC", *place)) for place in PLACES]
    return f"no cell worse than the own single score; DS-F1 above F1 of MSP in {counts} of 16, median gain {listed(medians, 3)} points; DS-AURC below AURC of MSP in {areas}"


@check("J18")
def size_of_gains() -> str:
    found = []
    for data, group in PLACES:
        base = cell("table1", "MSP", metric="AURC", data=data, group=group)
        found.append(100 * float(np.median(_gains("DS-AURC", data, group))) / base)
    return (
        f"median gain of DS-AURC over AURC of MSP: {listed(found, 2)} % of it (CIFAR-100 near, far, ImageNet near, far)"
    )


@check("J19")
def far_over_near() -> str:
    parts = []
    for data in ("CIFAR-100", "ImageNet-1K"):
        for metric in ("DS-AURC", "DS-F1"):
            near, far = (np.array(_gains(metric, data, g)) for g in ("near", "far"))
            parts.append(
                f"{data} {metric} {int((far > near + 1e-9).sum())} of 16 ({int((abs(far - near) < 1e-9).sum())} equal)"
            )
    return "the gain over MSP is larger far than near: " + "; ".join(parts)


@check("J21")
def msp_alone() -> str:
    found = {}
    for metric in ("F1", "AURC"):
        sign = -1.0 if metric == "F1" else 1.0
        found[metric] = [
            1 + sum(sign * cell("table1", r, metric=metric, data=d, group=g) < sign * cell("table1", "MSP", metric=metric, data=d, group=g)
                    for r in rows("table1")) for d, g in PLACES]  # fmt: skip
    return f"ranks of MSP among 17 as a single score: F1 {found['F1']}, AURC {found['AURC']} (CIFAR-100 near, far, ImageNet near, far)"


@check("J25")
def no_single_best() -> str:
    found = {}
    for group in ("near", "far"):
        for metric in ("AUROC", "FPR@95", "AUPR"):
            pick = min if metric == "FPR@95" else max
            found[f"{metric} {group}"] = pick(
                rows("table5"), key=lambda r: cell("table5", r, metric=metric, group=group)
            )
    holds(len(set(found.values())) > 1, found)
    return "best of Table 5: " + "; ".join(f"{k} {v}" for k, v in found.items())


@check("J23")
def cutmix() -> str:
    parts = [("accuracy", "table4", {"metric": "accuracy"}), ("AURC", "table4", {"metric": "AURC"}),
             ("DS-F1 far KLM", "table2", {"metric": "DS-F1", "group": "far", "ood_score": "KLM"}),
             ("DS-AURC far KLM", "table3", {"metric": "DS-AURC", "group": "far", "ood_score": "KLM"})]  # fmt: skip
    return "Basic to CutMix: " + "; ".join(
        f"{name} {cell(t, 'Basic', **w)} to {cell(t, 'CutMix', **w)}" for name, t, w in parts
    )


@check("J26")
def sure() -> str:
    found = {name: [cell("table4", name, metric="AURC"), *(cell("table4", name, metric="AUROC", group=g) for g in ("near", "far"))]
             for name in ("Basic", "SURE")}  # fmt: skip
    holds(found["SURE"][0] < found["Basic"][0] and found["SURE"][1] < found["Basic"][1], found)
    return "AURC, AUROC near, far: " + "; ".join(f"{k} {listed(v)}" for k, v in found.items())


def _steps(table: str, group: str) -> dict[str, int]:
    of = columns("joint", table, group=group)
    sign = 1.0 if table == "table2" else -1.0
    chain = ("SURE", *STEPS)
    return {
        b: sum(sign * rows(table)[b][j] > sign * rows(table)[a][j] for j in of) for a, b in itertools.pairwise(chain)
    }


@check("J27", "J31", "J34")
def ladder() -> str:
    found = {(t, g): _steps(t, g) for t in ("table2", "table3") for g in ("near", "far")}
    accuracy = [cell("table4", name, metric="accuracy") for name in ("SURE", *STEPS)]
    holds(found["table3", "far"]["+ SAM -> F-SAM"] == 0, found)
    names = {
        ("table2", "near"): "DS-F1 near",
        ("table2", "far"): "DS-F1 far",
        ("table3", "near"): "DS-AURC near",
        ("table3", "far"): "DS-AURC far",
    }
    return f"accuracy {listed(accuracy)}; scores of 9 that each step improves: " + "; ".join(
        f"{names[k]} {', '.join(map(str, v.values()))}" for k, v in found.items()
    )


@check("J28", "J32")
def always_best() -> str:
    wins, others = 0, []
    for table, pick in (("table2", max), ("table3", min)):
        for j, head in enumerate(printed("joint")[table]["columns"]):
            if head["metric"] == "accuracy":
                continue
            best = pick(rows(table), key=lambda r: rows(table)[r][j])
            wins += best == STEPS[-1]
            others += [] if best == STEPS[-1] else [f"{head['metric']} {head['group']} {head['ood_score']} ({best})"]
    holds(wins == 33, wins)
    return f"best in {wins} of 36 columns; not in {'; '.join(others)}"


@check("J29", "J30")
def separate_tasks() -> str:
    found = {name: cell("table4", name, metric="accuracy") for name in rows("table4")}
    order = sorted(found.values())
    best = 0
    for j, head in enumerate(printed("joint")["table4"]["columns"]):
        pick = max if head["better"] == "higher" else min
        best += pick(rows("table4"), key=lambda r: rows("table4")[r][j]) == STEPS[-1]
    holds(best == 6, best)
    near = sorted(cell("table4", r, metric="FPR@95", group="near") for r in rows("table4"))
    return f"accuracy {order[-1]}, next {order[-2]}; best in {best} of 6 columns of Table 4, smallest margin FPR near {near[0]} against {near[1]}"


@check("J33")
def deviations_of_ema() -> str:
    table = printed("joint")["table4"]["standard_deviation"]
    one, two = table["- CRL"], table["+ SWA -> EMA"]
    known = [(a, b) for a, b in zip(one, two, strict=True) if a is not None and b is not None]
    grow = sum(b > a for a, b in known)
    return f"Table 4, deviations of three runs, SWA to EMA: {grow} of {len(known)} grow ({'; '.join(f'{a} to {b}' for a, b in known)})"


@check("J43")
def copied_deviations() -> str:
    table = printed("joint")["table5"]["standard_deviation"]
    near, far = (
        columns("joint", "table5", metric="AUPR", group="near")[0],
        columns("joint", "table5", metric="FPR@95", group="far")[0],
    )
    same = sum(row[near] == row[far] for row in table.values())
    holds(same == 17, same)
    return f"deviations of AUPR near equal those of FPR far in {same} of 17 rows"


@check("J44")
def one_form() -> str:
    count = {}
    for name, metric in (("table3", "DS-AURC"), ("table1", "DS-AURC")):
        heads = printed("joint")[name]["columns"]
        hit = total = 0
        for row, values in rows(name).items():
            for j, head in enumerate(heads):
                if head["metric"] != metric or (name == "table1" and row == "MSP") or head.get("ood_score") == "MSP":
                    continue
                if name == "table3":
                    base = values[
                        next(k for k, h in enumerate(heads) if h["group"] == head["group"] and h["ood_score"] == "MSP")
                    ]
                else:
                    base = rows(name)["MSP"][j]
                total += 1
                hit += abs(values[j] - math.floor(base) + 0.22) < 1e-6
        count[name] = f"{hit} of {total}"
    holds(count["table3"] == "28 of 192", count)
    return f"cells equal to floor(MSP cell) - .22: {count['table3']} in Table 3, {count['table1']} in Table 1; by chance 1 in 100"


@check("J45")
def shared_cells() -> str:
    pairs = 0
    for table, metric in (("table2", "DS-F1"), ("table3", "DS-AURC")):
        for j, head in enumerate(printed("joint")[table]["columns"]):
            name = {"SIRC": "SIRC(MSP,|z|_1)"}.get(head["ood_score"], head["ood_score"])
            if head["metric"] == metric and name in rows("table1"):
                same = rows(table)["Basic"][j] == cell(
                    "table1", name, metric=metric, data="CIFAR-100", group=head["group"]
                )
                holds(same, head)
                pairs += 1
    for group in ("near", "far"):
        for metric in ("AUROC", "FPR@95"):
            holds(
                cell("table4", "Basic", metric=metric, group=group)
                == cell("table5", "MSP", metric=metric, group=group),
                metric,
            )
            pairs += 1
    return f"{pairs} of {pairs} shared cells of Tables 1 to 5 agree"
