"""What a comparison is: estimates with letters, and every pair with its test."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._checks import closest, generator
from abstain._result import (
    Better,
    Caveat,
    Column,
    Estimate,
    Result,
    Row,
    Status,
    Table,
    Verdict,
    arrow,
    plain,
)
from abstain._version import __version__
from abstain.blocks import TieBlocks
from abstain.evaluation._notes import few_labels_caveat
from abstain.inference import (
    Asked,
    Beside,
    Difference,
    Paired,
    as_metric,
    assumed,
    components,
    letter_groups,
    min_ranks,
    paired,
    panel_of,
    rank_sets,
    without_room,
)
from abstain.metrics import Metric

if TYPE_CHECKING:
    from abstain.plots import ForestDisplay

#: Pairs that a printed table lists before it stops; all of them are in the result.
PAIRS = 15


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """The result of :func:`abstain.compare`: tables of scores, best first, and of pairs; ``plot`` draws them.

    ``table``: one dict per score, best first, with name, rank, estimate, low, high, standard error and its two parts,
    degrees of freedom, letters, set of ranks (``set_low`` to ``set_high``), warning and, where all rows are labelled,
    ``mean_loss`` of all.
    ``differences``: one per pair, better score first. ``same_loss``: whether all are scores of the same answers.
    ``labels``: of a comparison by few labels how many there are, by which design, and the errors seen of each.
    ``letters``: by name; two names share a letter if and only if they do not differ significantly.

    Examples
    --------
    >>> import abstain
    >>> good, bad = [-(k % 5) for k in range(200)], [k * 77 % 200 for k in range(200)]
    >>> result = abstain.compare([0, 0, 0, 1, 0] * 40, {"bad": bad, "good": good}, metric="aurc")
    >>> result.letters
    {'bad': 'b', 'good': 'a'}
    >>> result.difference("good", "bad").significant
    True
    """

    _names = ("name",)
    _values = ("estimate", "low", "high")

    metric: str
    identifier: str
    label: str
    direction: str
    method: str
    adjust: str
    level: float
    n: int
    n_runs: tuple[int, ...]
    paired_runs: bool
    n_clusters: int | None
    table: tuple[dict[str, Any], ...]
    differences: tuple[Difference, ...]
    letters: Mapping[str, str]
    fingerprint: str
    same_loss: bool = True
    labels: Mapping[str, Any] | None = None
    asked: Asked | None = field(default=None, repr=False)  #: the rows, to ask more of them

    def difference(self, a: str, b: str) -> Difference:
        """Return the difference ``a`` minus ``b``."""
        for each in self.differences:
            if (each.a, each.b) == (a, b):
                return each
            if (each.a, each.b) == (b, a):
                return each.swapped()
        names = [row["name"] for row in self.table]
        unknown = next((name for name in (a, b) if name not in names), None)
        if unknown is None:
            raise KeyError(f"{a!r} cannot be compared with itself")
        raise KeyError(f"no score {unknown!r}; {closest(unknown, names)}")

    def notes(self) -> list[str]:
        """Return what a reader must know in addition to the numbers."""
        single = [row["name"] for row in self.table if row["n_runs"] == 1]
        lines = []
        if single:
            whose = "" if len(single) == len(self.table) else f" of {', '.join(single)}"
            lines.append(f"one training run{whose}: how much another run would differ is unknown")
        if max(self.n_runs) > 1:
            how = "subtracted run by run" if self.paired_runs else "taken as independent between scores"
            lines.append(f"intervals include test set and training; runs are {how}")
        rests = [each.rests_on.number for each in self.differences if each.rests_on and not math.isnan(each.p_value)]
        swapped = self.method.startswith("permutation")
        lines += filter(None, [without_room(self.method, self.n_runs), assumed(rests, swapped)])
        if self.n_clusters is not None:
            lines.append(f"samples are dependent within {self.n_clusters} clusters")
        reasons: dict[str, list[str]] = {}
        for row in self.table:
            if row["warning"]:
                reasons.setdefault(row["warning"], []).append(row["name"])
        for each in self.differences:
            if each.warning:
                reasons.setdefault(each.warning, []).append(f"{each.a} - {each.b}")
        return lines + [f"{', '.join(pairs)}: {reason}" for reason, pairs in reasons.items()]

    # ------------------------------------------------------------------ as a result

    @cached_property
    def beside(self) -> Beside | None:
        """Errors, AUROC of failures, coverage at a risk, tested when first asked for; None where rows are unknown."""
        return None if self.asked is None else self.asked.beside()

    def better(self) -> Better | None:
        """Return the best against the next."""
        best, *others = [str(row["name"]) for row in self.table]
        if not others:
            return None
        pair, first = self.difference(best, others[0]), [str(row["name"]) for row in self.table if row["set_low"] == 1]
        return Better(
            best, others[0], self.label, self.table[0]["estimate"], self.table[1]["estimate"], p=pair.p_adjusted,
            significant=pair.significant, same_answers=self.same_loss,
            may_be_best=tuple(first) if len(self.table) > 2 else (),
        )  # fmt: skip

    @cached_property
    def details(self) -> tuple[str, ...]:
        """The best against the next in what is known in addition to the metric: eleven models cost no more."""
        two = [str(row["name"]) for row in self.table[:2]]
        known = self.beside if self.asked is None or len(self.table) <= 2 else self.asked.beside(two)
        return () if known is None or len(two) < 2 else known.compared(*two)

    @cached_property
    def verdict(self) -> Verdict:
        """Which is better, by what test; no threshold is chosen here."""
        first, better, few = str(self.table[0]["name"]), self.better(), self.labels
        equal = better is not None and better.value == better.next_value
        caveats = [] if equal else [Caveat.of("selected_here", score=first)]
        if few is not None:
            caveats += few_labels_caveat(few["labelled"], self.n, few["design"], max(few["errors"].values()))
        known = {"score": first, "comparison": better, "reason": "" if better is None else better.sentence}
        return Verdict.of(Status.COMPARED, self, *caveats, confidence=self.level, **known)

    def headline(self) -> str:
        """Return one line that says what was compared and how."""
        runs = f" · {max(self.n_runs)} runs" if max(self.n_runs) > 1 else ""
        adjusted = "" if self.adjust == "none" or len(self.table) == 2 else f", {self.adjust}"
        tests = f"tests at {1.0 - self.level:.3g}{adjusted}"
        return f"{arrow(self.label, self.direction)} · {self.n} samples{runs} · {self.method} · {tests}"

    def tables(self) -> list[Table]:
        """Return the scores, best first, then the pairs."""
        return [self._scores(), self._pairs()]

    def rows(self) -> list[dict[str, Any]]:
        """Return the scores, best first."""
        return list(self.table)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: the fields, with notes and versions."""
        kept = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "asked"}
        versions = {"abstain": __version__, "numpy": np.__version__}
        return {**plain(kept), **self._decided(), "notes": self.notes(), **versions}

    def _scores(self) -> Table:
        several = max(self.n_runs) > 1
        columns = [Column("Score"), Column("Rank"), Column("Estimate", self.direction), Column("Standard error")]
        columns += [Column("of test set"), Column("of training")] if several else []
        rows: list[Row] = []
        for row in self.table:
            errors = [row["standard_error"], *([row["error_test"], row["error_runs"]] if several else [])]
            estimate = Estimate(row["estimate"], row["low"], row["high"])
            rows.append((row["name"], row["rank"], estimate, *errors, row["letters"]))
        notes = [f"In brackets: {100.0 * self.level:g} % confidence interval.",
                 "Scores that share a letter do not differ significantly."]  # fmt: skip
        return Table([*columns, Column("Letters", left=True)], rows, notes=notes)

    def _pairs(self) -> Table:
        simultaneous = "simultaneous " if self.adjust == "max-t" and len(self.table) > 2 else ""
        columns = [Column("Better - worse"), Column(f"Difference [{simultaneous}interval]")]
        columns += [Column("p" if len(self.table) == 2 else "adjusted p")]
        columns += [Column("differ", left=True)]
        rows: list[Row] = []
        for each in self.differences[:PAIRS]:
            difference = Estimate(each.difference, each.low, each.high)
            differ = "yes" if each.significant else "no"
            rows.append((f"{each.a} - {each.b}", difference, _p(each.p_adjusted), differ))
        hidden = len(self.differences) - PAIRS
        notes = [f"{hidden} more pairs are in .differences."] if hidden > 0 else []
        if self.labels is not None and self.labels["labelled"] < self.n:
            notes.append("The difference is estimated by itself: the two estimates need not differ by it.")
        return Table(columns, rows, notes=notes)

    def plot(self, ax: Any = None) -> ForestDisplay:
        """Draw estimates with intervals and letters, best on top."""
        from abstain.plots import ForestDisplay

        return ForestDisplay.from_comparison(self, ax=ax)


def _p(value: float) -> str:
    return "—" if math.isnan(value) else "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def compare_tables(tables: Mapping[str, TieBlocks], metric: str, level: float) -> Comparison:
    """Return what ``compare`` says of scores on the same rows, from their tables, which kept their rows."""
    chosen, columns = as_metric(metric), panel_of(tables)
    tests = paired(chosen, columns, level=level, rng=generator(0))
    return compared(chosen, Asked(columns, level), tests, "holm")


def compared(chosen: Metric, asked: Asked, tests: Paired, adjust: str) -> Comparison:
    """Return tests of all pairs as a comparison, best first."""
    columns, level, estimates = asked.panel, asked.level, tests.estimates
    sign = 1.0 if chosen.direction == "lower" else -1.0
    order: list[int] = np.argsort(sign * estimates.means, kind="stable").tolist()  # equal ones in the order given
    ranks = min_ranks(sign * estimates.means[None, order])[0].astype(int).tolist()
    letters = letter_groups(tests.significant[np.ix_(order, order)])
    set_low, set_high = rank_sets(tests, level, columns.paired, generator(0))
    rows = []
    for position, k in enumerate(order):
        interval, mass = estimates.intervals[k], columns.times
        parts = components(estimates.values[k], estimates.terms[k], estimates.df[k], estimates.times)
        mean_loss = np.mean(columns.loss[k]) if mass is None else np.average(columns.loss[k][0], weights=mass)
        rows.append(
            {
                "name": columns.names[k],
                "rank": ranks[position],
                "estimate": float(estimates.means[k]),
                "low": interval.low,
                "high": interval.high,
                "standard_error": interval.standard_error,
                "error_test": float(np.sqrt(parts.test)),
                "error_runs": float(np.sqrt(parts.seed)),
                "df": interval.df,
                "mean_loss": float(mean_loss),
                "n_runs": columns.n_runs[k],
                "letters": letters[position],
                "set_low": int(set_low[k]),
                "set_high": int(set_high[k]),
                "interval": interval.method,
                "warning": interval.warning,
            }
        )
    place = {columns.names[k]: position for position, k in enumerate(order)}
    pairs = [each if place[each.a] < place[each.b] else each.swapped() for each in tests.differences]
    pairs.sort(key=lambda each: (place[each.a], place[each.b]))
    return Comparison(
        metric=chosen.spec,
        identifier=chosen.identifier,
        label=chosen.label,
        direction=chosen.direction,
        method=estimates.route if not tests.swapped else f"permutation, {estimates.route}",
        adjust=adjust,
        level=level,
        n=columns.n,
        n_runs=columns.n_runs,
        paired_runs=columns.paired,
        n_clusters=estimates.n_clusters,
        table=tuple(rows),
        differences=tuple(pairs),
        letters={name: letters[place[name]] for name in columns.names},
        fingerprint=columns.fingerprint,
        same_loss=columns.same_loss,
        asked=asked,
    )
