"""Claims that few seeds leave open, from the committed numbers: ``python -m experiments.openood.undecided``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.stats import f, t

from experiments.openood._claims import STEPS
from experiments.openood._tables import read, welch
from experiments.training._differences import markdown
from experiments.training._numbers import read as read_numbers

FOLDER = Path(__file__).parents[1]
#: Networks with all twelve rows and three seeds.
SETTINGS = {"fashion_small": "small", "fashion_mnist": "wider"}
#: Quantity -> its name, factor, and the margin within which a difference is called none.
MARGINS = {
    "test errors": ("errors, points", 100.0, 0.5),
    "test aurc": ("AURC x 1000", 1e3, 1.0),
    "test augrc": ("AUGRC x 1000", 1e3, 1.0),
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
    """What a claim says of two rows in one quantity: that the first has less of it (-1) or more (1)."""

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
    Contrast("J39", "sure_ema", "sure_no_crl", "corruption errors", -1),
    Contrast("J39", "sure_ema", "sure_no_crl", "corruption aurc", -1),
)
#: EMA is more stable than SWA: deviations over seeds of these.
STABLE = ("test errors", "test aurc", "near auroc knn", "far auroc knn")
#: Fine-tuning lowers AURC below further cross-entropy: claim -> objective; the margin is a share of the value.
TUNED, SHARE = {"E42": "aurc", "E43": "sele"}, 0.01

HEAD = ("claim", "network", "what", "seeds", "difference", "95 %", "margin", "verdict", "seeds to decide")


def verdict(middle: float, half: float, way: int, margin: float) -> str:
    """Return what an interval says of a claim: as said, against it, none to speak of, or undecided."""
    if abs(middle) > half:
        return "as said" if np.sign(middle) == way else "against"
    return "equal within the margin" if abs(middle) + half <= margin else "undecided"


def seeds_to_decide(deviation: float, margin: float) -> int:
    """Return the least number of seeds of each row whose interval decides, whatever is true.

    It does if it reaches half the margin to each side: then it leaves out zero, or lies within the margin.
    """
    for n in range(2, _MOST):
        if float(t.ppf(0.975, 2 * n - 2)) * deviation * math.sqrt(2.0 / n) <= margin / 2.0:
            return n
    return _MOST


def table() -> str:
    """Return the table: a line per claim, network and quantity."""
    return markdown(HEAD, [*_contrasts(), *_stable(), *_tuned()])


def _values(setting: str) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    for row in read(FOLDER / "openood" / "results" / f"{setting}.csv"):
        found.setdefault((str(row["model"]), str(row["quantity"])), []).append(float(row["value"]))  # type: ignore[arg-type]
    return found


def _contrasts() -> list[Sequence[str]]:
    body: list[Sequence[str]] = []
    for each in CONTRASTS:
        for setting, network in SETTINGS.items():
            values = _values(setting)
            own, base = (np.array(values[name, each.quantity]) for name in (each.row, each.base))
            name, factor, margin = MARGINS[each.quantity]
            middle, half = factor * float(own.mean() - base.mean()), factor * welch(own.tolist(), base.tolist())
            deviation = factor * math.sqrt((own.var(ddof=1) + base.var(ddof=1)) / 2.0)
            what = f"{each.row} less {each.base}: {name}"
            said = verdict(middle, half, each.way, margin)
            body.append(_line(each.claim, network, what, len(own), middle, half, margin, said, deviation))
    return body


def _line(
    claim: str, network: str, what: str, n: int, middle: float, half: float, margin: float, said: str, deviation: float
) -> Sequence[str]:
    needed = seeds_to_decide(deviation, margin)
    more = "" if said != "undecided" else f"over {_MOST - 1}" if needed == _MOST else str(needed)
    interval = f"{middle - half:+.2f} to {middle + half:+.2f}"
    return [claim, network, what, str(n), f"{middle:+.2f}", interval, f"{margin:g}", said, more]


def _stable() -> list[Sequence[str]]:
    """Ratios of the deviations over seeds, with the interval of F; a factor of 2 is called none."""
    body: list[Sequence[str]] = []
    for quantity in STABLE:
        for setting, network in SETTINGS.items():
            values = _values(setting)
            ema, swa = (np.array(values[name, quantity]) for name in ("sure_ema", "sure_no_crl"))
            ratio, df = float(ema.std(ddof=1) / swa.std(ddof=1)), len(ema) - 1
            low, high = (ratio * math.sqrt(1.0 / float(f.ppf(p, df, df))) for p in (0.975, 0.025))
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
    more = "" if said != "undecided" else str(needed)
    interval = f"{1e3 * row['low']:+.2f} to {1e3 * row['high']:+.2f}"
    what = f"{row['model']} less ce: AURC x 1000"
    return [claim, str(row["setting"]), what, str(n), f"{middle:+.2f}", interval, f"{margin:.2f}", said, more]


if __name__ == "__main__":
    print(table())
