"""Checks of the CWSA paper: its printed tables and text, and the sweeps and predictions that its authors publish."""

from __future__ import annotations

import csv
import itertools
import math
from functools import cache
from typing import Any

import numpy as np

import abstain
from experiments.claims._ledger import check
from experiments.claims._sources import PRINTED, data, holds, listed, printed, synthetic


def rows(table: str) -> dict[str, list[float]]:
    """Return threshold, selective accuracy, CWSA, CWSA+ and coverage by threshold."""
    found: dict[str, list[float]] = printed("cwsa")[table]["rows"]
    return found


def text(model: str, metric: str, threshold: float | None = None) -> float:
    """Return a number that section 5 quotes."""
    found = [each["value"] for each in printed("cwsa")["text"]
             if (each["model"], each["metric"], each["threshold"]) == (model, metric, threshold)]  # fmt: skip
    holds(len(found) == 1, (model, metric, threshold))
    return float(found[0])


@check("C14", "C43", "C39")
def low_ece() -> str:
    names = ("perfect", "MNIST", "overconfident", "CIFAR-10", "calibrated", "random", "underconfident")
    values = {name: text(name, "ece") for name in names}
    order = sorted(values, key=lambda name: values[name])
    holds(order.index("overconfident") == 2 and values["calibrated"] > 10 * values["overconfident"], values)
    return "printed ECE: " + ", ".join(f"{name} {values[name]:g}" for name in order)


@check("C17")
def order_of_models() -> str:
    t = {name: rows(name) for name in ("table1", "table2")}
    ahead = {
        k: [tau for tau in t["table1"] if t["table2"][tau][j] > t["table1"][tau][j]]
        for k, j in (("CWSA", 2), ("CWSA+", 3))
    }
    holds(ahead["CWSA+"] and ahead["CWSA"], ahead)
    return "the overconfident model is ahead of the calibrated one in " + "; ".join(
        f"{k} at {' '.join(v)}" for k, v in ahead.items()
    )


@check("C19", "C57")
def order_by_others() -> str:
    names = ("perfect", "calibrated", "overconfident", "underconfident", "random")
    areas, gaps = ([text(name, metric) for name in names] for metric in ("aurc", "ece"))
    right = [rows(table)["0.50"][1] for table in ("table1", "table2")]
    noise = published("noise")
    falls = {name: sum(a[name] > b[name] for a, b in itertools.pairwise(noise)) for name in noise[0]}
    holds(areas == sorted(areas) and gaps[1] > gaps[2] and right[0] < right[1], (areas, gaps, right))
    holds(falls["AURC"] == 0 and falls["CWSA"] == falls["CWSA+"] == falls["SelectiveAccuracy"] == 4, falls)
    holds(noise[1]["ECE"] < noise[0]["ECE"], noise)
    return (
        f"printed, from perfect to random: AURC {listed(areas)}; ECE {listed(gaps)}; selective accuracy at .5 of the calibrated and the overconfident "
        f"model {listed(right)}; published noise test, shares of wrong labels 0 to .4: AURC {listed([row['AURC'] for row in noise], 2)}, ECE "
        f"{listed([row['ECE'] for row in noise], 2)}, CWSA+ {listed([row['CWSA+'] for row in noise], 3)}"
    )


@check("C51")
def order_by_aurc() -> str:
    names = ("perfect", "calibrated", "overconfident", "underconfident", "random")
    values = [text(name, "aurc") for name in names]
    loss, confidence = synthetic("random")
    own = abstain.ece(loss, confidence), abstain.aurc(loss, confidence)
    holds(values == sorted(values), values)
    return (
        "printed AURC, "
        + ", ".join(f"{n} {v:g}" for n, v in zip(names, values, strict=True))
        + f"; random here: ECE {own[0]:.3f}, AURC {own[1]:.3f}"
    )


@check("C20")
def intervals_of_calibrated() -> str:
    t = rows("table1")
    holds(t["0.70"][4] > t["0.80"][4] and t["0.80"][1] < 1.0, t)
    return f"coverage {t['0.70'][4]} at .70, {t['0.80'][4]} at .80 where the stated intervals leave no sample between; accuracy {t['0.80'][1]} at .80, stated 1"


#: A wrong answer is drawn among all three classes and so is right by chance in a third of its draws.
RIGHT_SHARE = 0.9 + 0.1 / 3


@check("C21", "C22")
def draws() -> str:
    deviation = np.sqrt(RIGHT_SHARE * (1 - RIGHT_SHARE) / 1000)
    z = [(rows(table)["0.50"][1] - RIGHT_SHARE) / deviation for table in ("table1", "table2")]
    shares = {row["Threshold"]: row["Coverage"] for row in published("overconfident") if row["Threshold"] > 0.9}
    off = [(coverage - 10 * (1 - t)) / np.sqrt(10 * (1 - t) * (10 * t - 9) / 1000) for t, coverage in shares.items()]
    holds(max(map(abs, z)) < 2 and max(map(abs, off)) < 1, (z, off))
    return (
        f"a share of right answers of {RIGHT_SHARE:.4f}: accuracies lie {listed(z, 2)} standard deviations above; coverage {listed(shares.values(), 3)} at "
        f"{listed(shares, 4)}, {listed(off, 1)} standard deviations from uniform(.9, 1)"
    )


@check("C23")
def table_1() -> str:
    bad, whole, other = [], [], []
    for tau, (_, sa, one, plus, coverage) in rows("table1").items():
        # CWSA divided by all: with another coverage than the printed one the bound may hold
        fit = range(int(1000 * (one - 5e-5) / (plus + 5e-5)), math.ceil(1000 * one / (plus - (1 - sa) - 6e-4)) + 1)
        if not any(round(k / n, 3) == sa for n in fit for k in range(n + 1)):
            other.append(f"{tau} ({fit[0]} to {fit[-1]})")
        for value in (plus - one, plus - one / coverage):
            if not -0.0005 <= value <= 1 - sa + 0.0005:
                bad.append((tau, round(value, 3), round(1 - sa, 3)))
        n = round(1000 * coverage)
        if not any(round(k / n, 3) == sa for k in range(n + 1)):
            whole.append(tau)
    both = [tau for tau in rows("table1") if sum(each[0] == tau for each in bad) == 2]
    holds(both and whole == ["0.90", "0.95"], (bad, whole))
    return (
        f"0 <= CWSA+ - CWSA <= 1 - SA fails for both denominators at {' '.join(both)}; no whole number gives the accuracy at {' '.join(whole)}, "
        f"nor with any coverage that the bound allows at {', '.join(other)}"
    )


@check("C24")
def table_2() -> str:
    found = rows_of("table2", "overconfident")
    return "each row is a row of the published sweep, at " + listed(found)


@check("C25")
def table_3() -> str:
    found = rows_of("table3", "random")
    parts = []
    for tau in ("0.50", "0.60"):
        _, _, one, plus, coverage = rows("table3")[tau]
        parts.append(f"{2 * plus - one:.3f}, {2 * plus - one / coverage:.3f}")
    return (
        f"each row is a row of the published sweep, at {listed(found)}; mean of phi in the first two by the formula and with CWSA "
        f"divided by all, .5 expected: {'; '.join(parts)}"
    )


def rows_of(table: str, name: str) -> list[float]:
    """Return the thresholds at which the published sweep has the rows of a table."""
    columns, found = ("SelectiveAccuracy", "CWSA", "CWSA+", "Coverage"), []
    for tau, (_, *values) in rows(table).items():
        same = [
            row["Threshold"]
            for row in published(name)
            if all(abs(row[key] - value) <= 1e-4 for key, value in zip(columns, values, strict=True))
        ]
        holds(len(same) == 1, (table, tau, same))
        found += same
    return found


@check("C26", "C27", "C28", "C29")
def mnist() -> str:
    found = published("mnist")
    accuracy = [row["SelectiveAccuracy"] for row in found]
    rises = sum(a < b for a, b in itertools.pairwise(accuracy))
    first, last = found[0], found[-1]
    near = min(found, key=lambda row: abs(row["CWSA"] - text("MNIST", "cwsa", 0.99)))
    holds(rises == len(found) - 1, rises)
    return (
        f"published sweep of {len(found)} thresholds: selective accuracy {first['SelectiveAccuracy']:.4f} to {last['SelectiveAccuracy']:.4f}, rising at "
        f"{rises} of {len(found) - 1} steps; CWSA {first['CWSA']:.4f} to {last['CWSA']:.4f}; CWSA+ {first['CWSA+']:.4f} to {last['CWSA+']:.4f}, at most "
        f"{max(row['CWSA+'] for row in found):.4f}; coverage {first['Coverage']:.4f} to {last['Coverage']:.4f}; printed CWSA "
        f"{text('MNIST', 'cwsa', 0.99):g} is nearest to the row at {near['Threshold']:.4f}; ECE {first['ECE']:.5f}, AURC {first['AURC']:.6f}"
    )


@cache
def published(name: str) -> list[dict[str, float]]:
    """Return a table that the authors publish; a sweep over 20 thresholds, or a test."""
    with (PRINTED / f"cwsa-{name}.csv").open(encoding="utf-8") as file:
        return [
            {key: float(value or "nan") for key, value in row.items() if key != "Model"} for row in csv.DictReader(file)
        ]


@check("C2", kind="data")
def denominators() -> str:
    loss, confidence = cnn()
    gaps = {"accepted": 0.0, "all": 0.0, "plus": 0.0}
    for row in published("cifar10"):
        for name in ("accepted", "all"):
            value = abstain.cwsa(loss, confidence, threshold=row["Threshold"], denominator=name)
            gaps[name] = max(gaps[name], abs(value - row["CWSA"]))
        gaps["plus"] = max(
            gaps["plus"], abs(abstain.cwsa_plus(loss, confidence, threshold=row["Threshold"]) - row["CWSA+"])
        )
    holds(gaps["all"] < 1e-6 and gaps["plus"] < 1e-6 and gaps["accepted"] > 0.5, gaps)
    return f"largest gap to the published columns: CWSA by all {gaps['all']:.0e}, by accepted {gaps['accepted']:.3f}; CWSA+ by accepted {gaps['plus']:.0e}"


def cnn() -> tuple[Any, Any]:
    """Return loss and confidence of the authors' network."""
    with np.load(data("cifar10_test_models.npz")) as archive:
        wrong = archive["pred_cwsa_cnn"] != archive["labels"]
        return wrong.astype(float), np.asarray(archive["conf_cwsa_cnn"], dtype=float)


@check("C30", "C33", "C32", "C31", "C55")
def published_sweep() -> str:
    found = published("cifar10")
    first, last = found[0], found[-1]
    above = sum(row["CWSA+"] > row["SelectiveAccuracy"] for row in found)
    falls = all(a["CWSA"] > b["CWSA"] for a, b in itertools.pairwise(found))
    holds(above == 0 and falls and len(found) == 20, (above, falls))
    most = max(row["CWSA+"] for row in found)
    return (
        f"{len(found)} thresholds: selective accuracy {first['SelectiveAccuracy']:.4f} to {last['SelectiveAccuracy']:.4f}; CWSA "
        f"{first['CWSA']:.4f} to {last['CWSA']:.4f}, falling; CWSA+ {first['CWSA+']:.4f} to {last['CWSA+']:.4f}, at most {most:.4f}, "
        f"above selective accuracy in {above} rows"
    )


@check("C34", "C35", kind="data")
def cifar_numbers() -> str:
    loss, confidence = cnn()
    on = confidence >= 0.5
    value = abstain.aurc(loss, confidence)
    return f"AURC {value:.4f}, published {published('cifar10')[0]['AURC']:.4f}; at .5 mean confidence {confidence[on].mean():.3f} next to accuracy {1 - loss[on].mean():.3f}"


@check("C36", "C37", "C41")
def calibrated_falls() -> str:
    t, o = rows("table1"), rows("table2")
    holds(t["0.99"][3] < 0.71 and t["0.99"][2] < 0.1, t)
    return (
        f"Table 1, .50 to .99: CWSA {t['0.50'][2]} to {t['0.99'][2]}, CWSA+ {t['0.50'][3]} to {t['0.99'][3]} (text: over .71); Table 2, "
        f"overconfident: {o['0.50'][2]} to {o['0.99'][2]}, {o['0.50'][3]} to {o['0.99'][3]}"
    )


@check("C38", "C44", "C47")
def synthetic_numbers() -> str:
    found = {}
    for kind in ("calibrated", "overconfident", "underconfident"):
        loss, confidence = synthetic(kind)
        found[kind] = (abstain.ece(loss, confidence), abstain.aurc(loss, confidence), float(loss.mean()))
    return "ECE, AURC, error here: " + "; ".join(f"{k} {listed(v, 3)}" for k, v in found.items())


@check("C40", "C42")
def text_and_table() -> str:
    t = rows("table2")["0.99"]
    quoted = text("overconfident", "cwsa", 0.99), text("overconfident", "cwsa_plus", 0.99)
    holds(abs(quoted[0] - t[2]) > 0.1, t)
    return f"at .99 the text has CWSA {quoted[0]}, CWSA+ {quoted[1]}, Table 2 {t[2]}, {t[3]}; selective accuracy .9574 and coverage .094 there, text .943 and 1"


@check("C45", "C46")
def underconfident() -> str:
    loss, confidence = synthetic("underconfident")
    one, plus = abstain.cwsa(loss, confidence), abstain.cwsa_plus(loss, confidence)
    by_all = abstain.cwsa(loss, confidence, denominator="all")
    levels = [1 - abstain.selective_risk(loss, confidence, threshold=t) for t in (0.5, 0.52, 0.54, 0.56)]
    holds(max(levels) - min(levels) < 0.03, levels)
    return f"CWSA {one:.4f}, divided by all {by_all:.4f}, CWSA+ {plus:.4f}; selective accuracy at .50, .52, .54, .56: {listed(levels, 3)}"


@check("C48", "C49", "C50")
def random_model() -> str:
    t = rows("table3")
    loss, confidence = synthetic("random")
    taus = (0.5, 0.7, 0.9)
    own = {d: [abstain.cwsa(loss, confidence, threshold=x, denominator=d) for x in taus] for d in ("accepted", "all")}
    holds(all(row[2] < 0 for row in t.values()), t)
    return (
        f"printed CWSA negative in {len(t)} of {len(t)} rows, CWSA+ at most {max(row[3] for row in t.values())}; here at .5, .7, .9 by accepted "
        f"{listed(own['accepted'], 3)}, by all {listed(own['all'], 3)}"
    )
