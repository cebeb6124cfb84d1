"""Claims that few seeds leave open, from the committed numbers: ``python -m experiments.openood.undecided``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import numpy as np
from scipy.stats import f

from experiments.openood._rows import LITERAL, STEPS
from experiments.openood._tables import read, welch
from experiments.training._differences import half_width, markdown, squared_error
from experiments.training._numbers import read as read_numbers

FOLDER = Path(__file__).parents[1]
#: Network -> settings with its numbers; a training that two of them have is counted once.
SETTINGS = {
    "small": ("fashion_small", "fashion_scores"),
    "wider": ("fashion_mnist",),
    "cifar10": ("cifar10", "cifar10_scores"),
}
#: Quantity -> its name, factor, and the margin within which a difference is called none.
MARGINS = {
    "test errors": ("errors, points", 100.0, 0.5),
    "test aurc": ("AURC x 1000", 1e3, 1.0),
    "test ece": ("calibration error, points", 100.0, 0.5),
    "corruption errors": ("errors under corruption, points", 100.0, 1.0),
    "corruption aurc": ("AURC under corruption x 1000", 1e3, 5.0),
    "near auroc knn": ("AUROC near, points", 100.0, 1.0),
    "far auroc knn": ("AUROC far, points", 100.0, 1.0),
    "far ds_f1 msp": ("F1 far, points", 100.0, 1.0),
    "near ds_aurc knn": ("DS-AURC near x 1000", 1e3, 5.0),
    "far ds_aurc knn": ("DS-AURC far x 1000", 1e3, 5.0),
}
_MOST = 1000


@dataclass(frozen=True)
class Contrast:
    """What a claim says of two rows in one quantity: that the first has less of it (-1), more (1), or nothing (0)."""

    claim: str
    row: str
    base: str
    quantity: str
    way: int


CONTRASTS = (
    Contrast("J23", "cutmix", "ce", "test errors", -1),
    Contrast("J23", "cutmix", "ce", "test aurc", 1),
    Contrast("J23", "cutmix", "ce", "far ds_f1 msp", -1),
    Contrast("J26", "sure", "ce", "test aurc", -1),
    *(
        Contrast("J27", after, before, quantity, -1)
        for before, after in pairwise(STEPS)
        for quantity in ("test errors", "near ds_aurc knn", "far ds_aurc knn")
    ),
    Contrast("J28", "sure_plus", "ce", "near ds_aurc knn", -1),
    Contrast("J28", "sure_plus", "ce", "far ds_aurc knn", -1),
    Contrast("J29", "sure_plus", "ce", "test errors", -1),
    Contrast("J30", "sure_plus", "ce", "test aurc", -1),
    Contrast("J30", "sure_plus", "ce", "near auroc knn", 1),
    Contrast("J30", "sure_plus", "ce", "far auroc knn", 1),
    Contrast("J34", "sure_fsam", "sure_ema", "test errors", -1),
    Contrast("J34", "sure_fsam", "sure_ema", "test aurc", -1),
    Contrast("J39", "sure_ema", "sure_no_crl", "test ece", -1),
    Contrast("J39", "sure_ema", "sure_no_crl", "corruption errors", -1),
    Contrast("J39", "sure_ema", "sure_no_crl", "corruption aurc", -1),
    *(
        Contrast(claim, row, LITERAL[row][0], quantity, 0)
        for claim, row in (("J35", "sure_fsam_mixed"), ("J37", "pixmix_1_to_4"), ("J40", "ce_decay"))
        for quantity in ("test errors", "test aurc", "near ds_aurc knn", "far ds_aurc knn")
    ),
)


@dataclass(frozen=True)
class Gain:
    """What a claim says of two numbers of the same training: that the first is larger."""

    claim: str
    what: str
    of: Callable[[Mapping[str, float], str], float]
    groups: tuple[str, ...] = ("near", "far")


def _over_msp(values: Mapping[str, float], group: str) -> float:
    return values[f"{group} ds_f1 knn"] - values[f"{group} f1 msp"]


#: F1 in points, within a margin of one; by the maximum probability and knn.
GAINS = (
    Gain("J17", "DS-F1 less the better F1", lambda v, g: v[f"{g} ds_f1 knn"] - max(v[f"{g} f1 knn"], v[f"{g} f1 msp"])),
    Gain("J19", "gain in DS-F1 over msp, far less near", lambda v, g: _over_msp(v, g) - _over_msp(v, "near"), ("far",)),
    Gain("J21", "F1 of msp less F1 of knn", lambda v, g: v[f"{g} f1 msp"] - v[f"{g} f1 knn"]),
)
GAINING = ("ce", "sure_plus")
#: EMA is more stable than SWA: deviations over seeds of these.
STABLE = ("test errors", "test aurc", "near auroc knn", "far auroc knn")
#: Fine-tuning lowers AURC below further cross-entropy: claim -> objective; the margin is a share of the value.
TUNED, SHARE = {"E42": "aurc", "E43": "sele"}, 0.01

HEAD = ("claim", "network", "what", "seeds", "difference", "95 %", "margin", "verdict", "seeds to decide")


def verdict(middle: float, half: float, way: int, margin: float) -> str:
    """Return what an interval says of a claim: as said, against it, none to speak of, or undecided."""
    if abs(middle) > half:
        return "differs" if not way else "as said" if np.sign(middle) == way else "against"
    return "equal within the margin" if abs(middle) + half <= margin else "undecided"


def seeds_to_decide(deviation: float, margin: float, rows: int = 2) -> int:
    """Return the least number of seeds of each row (one row or two) whose interval decides, whatever is true.

    It does if it reaches half the margin to each side: then it leaves out zero, or lies within the margin.
    """
    for n in range(2, _MOST):
        if half_width(rows * deviation**2 / n, rows * (n - 1)) <= margin / 2.0:
            return n
    return _MOST


def table() -> str:
    """Return the table: a line per claim, network and quantity."""
    return markdown(HEAD, [*_contrasts(), *_gains(), *_stable(), *_tuned()])


#: Row -> quantity -> seed -> value.
Values = Mapping[str, Mapping[str, Mapping[str, float]]]


def _values(network: str) -> Values:
    found: dict[str, dict[str, dict[str, float]]] = {}
    for setting in SETTINGS[network]:
        for row in read(FOLDER / "openood" / "results" / f"{setting}.csv"):
            seeds = found.setdefault(str(row["model"]), {}).setdefault(str(row["quantity"]), {})
            seeds.setdefault(str(row["seed"]), float(row["value"]))  # type: ignore[arg-type]
    return found


def interval(own: Sequence[float], base: Sequence[float]) -> tuple[float, float]:
    """Return half the width of the interval of a difference of means, and the deviation over seeds in each row.

    A row with a single seed is taken to scatter as the other one.
    """
    if len(own) > 1:
        return welch(own, base), math.sqrt((np.var(own, ddof=1) + np.var(base, ddof=1)) / 2.0)
    deviation = float(np.std(base, ddof=1))
    return half_width(deviation**2 * (1.0 + 1.0 / len(base)), len(base) - 1), deviation


def _contrasts() -> list[Sequence[str]]:
    body: list[Sequence[str]] = []
    values = {network: _values(network) for network in SETTINGS}
    for each in CONTRASTS:
        name, factor, margin = MARGINS[each.quantity]
        for network, here in values.items():
            own, base = (list(here.get(row, {}).get(each.quantity, {}).values()) for row in (each.row, each.base))
            if not own or len(base) < 2:
                continue
            middle = factor * (fmean(own) - fmean(base))
            half, deviation = (factor * number for number in interval(own, base))
            said = verdict(middle, half, each.way, margin)
            seeds = f"{len(own)}" if len(own) == len(base) else f"{len(own)}, {len(base)}"
            what = f"{each.row} less {each.base}: {name}"
            needed = seeds_to_decide(deviation, margin)
            body.append(_line(each.claim, network, what, seeds, middle, half, margin, said, needed))
    return body


def _gains() -> list[Sequence[str]]:
    body: list[Sequence[str]] = []
    values = {network: _values(network) for network in SETTINGS}
    for each, row, group in ((gain, row, group) for gain in GAINS for row in GAINING for group in gain.groups):
        for network, here in values.items():
            seeds = here[row]["test errors"]
            found = [
                100.0 * each.of({quantity: cell[seed] for quantity, cell in here[row].items() if seed in cell}, group)
                for seed in seeds
            ]
            middle, half = fmean(found), half_width(squared_error(found), len(found) - 1)
            needed = seeds_to_decide(float(np.std(found, ddof=1)), 1.0, rows=1)
            what = f"{row}, {group}: {each.what}, points"
            body.append(
                _line(
                    each.claim, network, what, str(len(found)), middle, half, 1.0, verdict(middle, half, 1, 1.0), needed
                )
            )
    return body


def _line(
    claim: str, network: str, what: str, n: str, middle: float, half: float, margin: float, said: str, needed: int
) -> Sequence[str]:
    more = "" if said != "undecided" else f"over {_MOST - 1}" if needed == _MOST else str(needed)
    interval = f"{middle - half:+.2f} to {middle + half:+.2f}"
    return [claim, network, what, n, f"{middle:+.2f}", interval, f"{round(margin, 2):g}", said, more]


def _stable() -> list[Sequence[str]]:
    """Ratios of the deviations over seeds, with the interval of F; a factor of 2 is called none."""
    body: list[Sequence[str]] = []
    values = {network: _values(network) for network in SETTINGS}
    for quantity in STABLE:
        for network, here in values.items():
            if "sure_ema" not in here:
                continue
            ema, swa = (np.array([*here[row][quantity].values()]) for row in ("sure_ema", "sure_no_crl"))
            ratio, df = float(ema.std(ddof=1) / swa.std(ddof=1)), (len(ema) - 1, len(swa) - 1)
            low, high = (ratio * math.sqrt(1.0 / float(f.ppf(p, *df))) for p in (0.975, 0.025))
            said = "as said" if high < 1.0 else "against" if low > 1.0 else "undecided"
            need = next(n for n in range(3, _MOST) if math.sqrt(float(f.ppf(0.975, n - 1, n - 1))) <= math.sqrt(2.0))
            what = f"sure_ema over sure_no_crl: deviation of {MARGINS[quantity][0].partition(',')[0]}"
            more = str(need) if said == "undecided" else ""
            body.append(
                ["J33", network, what, str(len(ema)), f"x {ratio:.2f}", f"{low:.2f} to {high:.2f}", "x 2", said, more]
            )
    return body


def _tuned() -> list[Sequence[str]]:
    body: list[Sequence[str]] = []
    numbers = read_numbers(FOLDER / "estimators_table1" / "results" / "cpu.csv")
    for claim, objective in TUNED.items():
        for row in numbers:
            if (row["model"], row["measure"]) == (objective, "AURC"):
                body.append(_of_tuning(claim, row))
    return body


def _of_tuning(claim: str, row: Mapping[str, float]) -> Sequence[str]:
    """Paired differences of seeds that share their pre-training: the interval counts the test set, too."""
    n, middle = int(row["n"]), 1e3 * row["difference"]
    half, margin = 1e3 * (row["high"] - row["low"]) / 2.0, 1e3 * SHARE * row["value"]
    said = verdict(middle, half, -1, margin)
    needed = math.ceil(n * (2.0 * half / margin) ** 2)
    what = f"{row['model']} less ce: AURC x 1000"
    return _line(claim, str(row["setting"]), what, str(n), middle, half, margin, said, needed)


if __name__ == "__main__":
    print(table())
