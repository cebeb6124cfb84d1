"""What else is known of compared scores: whether the answers differ, the ranking alone, and coverage at a risk.

One area per score says which is better, not by how much it matters. Next to it belong whether the answers differ,
whether the ranking alone differs, and how many more cases are answered at a risk that somebody may ask for. Each is
tested by itself, paired, and without adjustment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from abstain._result import decimals, fixed, p_value, percent
from abstain.inference._columns import Panel
from abstain.inference._interval import Interval
from abstain.inference._paired import Difference, Method, Paired, paired
from abstain.metrics import BESIDE, Metric, get

#: Risks at which coverage is reported: the first that answering everything exceeds.
RISKS = (0.05, 0.02, 0.01)
#: Resamples behind a difference in coverage, and the most rows, times scores, that are resampled.
RESAMPLES, MOST = 400, 2_000_000


class Asked(NamedTuple):
    """What a comparison was made of, to ask more of it; ``beside`` of these arguments."""

    panel: Panel
    level: float
    draws: bool = True  #: whether rows may be resampled: counts come back from an engine in any order

    def beside(self, names: Sequence[str] | None = None) -> Beside:
        """Return what else is known of these scores, or of some of them."""
        return beside(self.panel, level=self.level, names=names, draws=self.draws)


@dataclass(frozen=True)
class Beside:
    """What is known of compared scores in addition to the metric they are compared by.

    Parameters
    ----------
    n : int
        Rows.
    errors : dict of str to int, or None
        Wrong answers of each; None where losses are not 0/1, rows have weights or there are several runs.
    mean_loss : dict of str to float
    same_loss : bool
        Whether all are scores of the same answers.
    risk : float or None
        The risk at which coverage is reported; None where all satisfy each of :data:`RISKS` with all answers.
    tested : dict of str to Paired
        ``"errors"`` (the mean loss of answering everything), ``"ranking"`` (AUROC of failures) and ``"coverage"``, each
        where it is defined.

    Examples
    --------
    >>> from abstain.inference import Beside
    >>> Beside(100, {"a": 7}, {"a": 0.07}, True, None, {}).errors["a"]
    7
    """

    n: int
    errors: dict[str, int] | None
    mean_loss: dict[str, float]
    same_loss: bool
    risk: float | None
    tested: dict[str, Paired]

    def interval(self, what: str, name: str) -> Interval | None:
        """Return the interval of one of them; None where there is none."""
        found = self.tested.get(what)
        return None if found is None else found.estimates.intervals[found.estimates.names.index(name)]

    def difference(self, what: str, a: str, b: str) -> Difference | None:
        """Return the paired difference ``a`` minus ``b``; None where there is none."""
        for each in self.tested[what].differences if what in self.tested else ():
            if {each.a, each.b} == {a, b}:
                return each if each.a == a else each.swapped()
        return None

    def compared(self, a: str, b: str) -> tuple[str, ...]:
        """Return the two by coverage at a risk, by errors, and by the rankings of other answers, a line each."""
        labels = {"coverage": f"coverage at {percent(self.risk or 0.0)} risk", "errors": "error rate"}
        labels |= {} if self.same_loss else {"ranking": "AUROC of failures"}
        if self.errors is None:
            labels["errors"] = "mean loss"
        found = []
        for what, label in labels.items():
            pair, here, there = self.difference(what, a, b), self.interval(what, a), self.interval(what, b)
            if pair is None or here is None or there is None:
                continue
            values, ends = (here.estimate, there.estimate), (pair.difference, pair.low, pair.high)
            if what == "coverage" or label == "error rate":
                one, two = (percent(each) for each in values)
                apart = "{:.1f} [{:.1f}, {:.1f}]".format(*(100.0 * each for each in ends))
            else:
                one, two = (fixed(each, decimals(values)) for each in values)
                apart = "{:.2g} [{:.2g}, {:.2g}]".format(*ends)
            known = "" if math.isnan(pair.low) else f" ({apart})"
            found.append(f"{label} {one} against {two}{known}, {p_value(pair.p_value)}")
        return tuple(found)


def beside(panel: Panel, *, level: float = 0.95, names: Sequence[str] | None = None, draws: bool = True) -> Beside:
    """Return what else is known of the scores of a panel; a metric without a value for one of them is left out.

    ``names``: test these alone, which costs their share of the time and says the same of them. ``draws``: whether to
    resample rows, without which a difference in coverage is not tested.
    """
    binary = all(bool(((each == 0.0) | (each == 1.0)).all()) for each in panel.loss)
    times = np.ones(panel.n) if panel.times is None else panel.times
    mass = times if panel.weight is None else times * panel.weight
    mean = {
        name: float(np.mean([np.average(run, weights=mass) for run in each]))
        for name, each in zip(panel.names, panel.loss, strict=True)
    }
    single = max(panel.n_runs) == 1 and panel.weight is None
    errors = {name: round(float((each * times).sum())) for name, each in zip(panel.names, panel.loss, strict=True)}
    risk = next((each for each in RISKS if max(mean.values()) > each), None) if binary else None
    wanted: list[tuple[str, Metric, Method]] = []
    if not panel.same_loss:
        wanted.append(("errors", get(BESIDE["errors"]), "influence"))
    if binary:
        wanted.append(("ranking", get(BESIDE["ranking"]), "influence"))
    few = panel if names is None else panel.of(names)
    if risk is not None and draws and panel.n * sum(few.n_runs) <= MOST:
        wanted.append(("coverage", get(BESIDE["coverage"], risk=risk), "bootstrap"))
    tested = {}
    for name, metric, method in wanted:
        with suppress(ValueError):  # such as no error, or a coverage that is not attained in many resamples
            tested[name] = paired(
                metric, few, level=level, adjust="none", method=method, n_resamples=RESAMPLES,
                rng=np.random.default_rng(0),
            )  # fmt: skip
    return Beside(panel.n, errors if binary and single else None, mean, panel.same_loss, risk, tested)
