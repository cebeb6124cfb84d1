"""What a study found: one tidy row per number, means over runs with their two variances, tables and files."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from abstain._checks import closest, one_of
from abstain._files import write_file
from abstain._quantiles import t_tails
from abstain._result import Column, Estimate, Result, Row, Table, arrow, as_polars, plain
from abstain._typing import Document, FloatArray
from abstain._version import __version__
from abstain.inference import of_pair
from abstain.metrics import parse
from abstain.study._best import verdict_of
from abstain.study._grid import ORDER, Grid, Head, column_of
from abstain.study._sets import differ

#: What distinguishes one mean over runs from another.
CELL = ("data", "model", "set", "role", "shift", "id_failures", "score", "metric")


class Failure(NamedTuple):
    """A file that could not be evaluated, and why.

    Examples
    --------
    >>> from abstain.study import Failure
    >>> Failure("ce/seed0/test", "is truncated").file
    'ce/seed0/test'
    """

    file: str
    why: str


@dataclass(frozen=True)
class Mean:
    """The mean of a number over the runs of a model, with what the test set and what training add to its error.

    Parameters
    ----------
    data, model, set, score, metric : str
        What was measured.
    role, shift, id_failures : str
        Role and shift of the set (JSON), and whether failures of the model are kept with OOD data.
    label, direction : str
        The metric as printed; which direction is better.
    value : float
    n_runs, n : int
        Runs with a value; rows of the set.
    deviation : float
        Standard deviation of the values of the runs (divisor runs - 1; NaN for one run).
    test_error, training_error : float
        Standard errors of the mean due to the test set, which all runs share, and due to training; their squares add.
    low, high : float
        Interval of the value of a single run; NaN for several.
    labelled : int
        Rows with a label, if a plan chose them; 0: all.

    Examples
    --------
    >>> from abstain.study import Mean
    >>> mean = Mean("toy", "ce", "test", "test", "", "", "msp", "augrc", "AUGRC", "lower", .1, 3, 500, .02, .03, .04)
    >>> mean.standard_error
    0.05
    """

    data: str
    model: str
    set: str
    role: str
    shift: str
    id_failures: str
    score: str
    metric: str
    label: str
    direction: str
    value: float
    n_runs: int
    n: int
    deviation: float
    test_error: float
    training_error: float
    low: float = math.nan
    high: float = math.nan
    labelled: int = 0

    @property
    def standard_error(self) -> float:
        """Of the mean, from both sources; NaN where one of several runs is not known."""
        known = [each for each in (self.test_error, self.training_error) if not math.isnan(each)]
        return math.hypot(*known) if known else math.nan


@dataclass(frozen=True, eq=False, repr=False)
class StudyResults(Result):
    """The result of :func:`evaluate`: prints as a table; every number is a row of :meth:`rows`.

    Parameters
    ----------
    numbers : tuple of dict
        One per data set, model, run, set, score and metric.
    failures : tuple of Failure
        Files that could not be evaluated; everything else is there.
    level : float or None
        Of the intervals.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> from abstain import study
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for seed in (0, 1):
    ...     outputs = abstain.datasets.synthetic("calibrated", 200, seed)
    ...     made = study.add_outputs(folder, outputs, model="toy", run=f"seed{seed}", set="test")
    >>> results = study.evaluate(folder, metrics="augrc")
    >>> len(results.rows()), results.means("augrc")[0].n_runs
    (2, 2)
    """

    _names = ("model", "run", "set", "id_failures", "score", "metric")
    _values = ("value",)

    numbers: tuple[Document, ...]
    failures: tuple[Failure, ...] = ()
    level: float | None = 0.95
    said: tuple[str, ...] = ()
    sums: Any = field(default=(), repr=False)  #: influences of each number, summed over groups of rows
    samples: Any = field(default_factory=dict, repr=False)  #: what names the rows of each set of each run

    # ------------------------------------------------------------------ look-ups

    def values(self, column: str) -> list[str]:
        """Return the distinct values of a column of the rows, in order."""
        return list(dict.fromkeys(row[column] for row in self.numbers))

    def means(self, metric: str | None = None) -> list[Mean]:
        """Return the means over runs, of one metric or of all.

        Notes
        -----
        Runs share the test set, so the variance of their mean that is due to it does not fall with their number. It is
        estimated from the influences of the rows, summed over 200 groups of rows drawn at random: the correlation of
        two runs has a standard error of .07 (1 - correlation squared). What the values of the runs vary beyond that is
        training (:func:`abstain.compare` has the exact form for two models).
        """
        spec = None if metric is None else self._spec(metric)
        return [self._mean(cell, rows) for cell, rows in self._cells.items() if spec in (None, cell[-1])]

    @cached_property
    def _cells(self) -> dict[tuple[Any, ...], list[int]]:
        """The places of the numbers that one mean is of."""
        cells: dict[tuple[Any, ...], list[int]] = {}
        for k, row in enumerate(self.numbers):
            if not math.isnan(row["value"]):
                cells.setdefault(tuple(row[name] for name in CELL), []).append(k)
        return cells

    def _spec(self, metric: str) -> str:
        known = {row[name]: row["metric"] for name in ("label", "metric") for row in self.numbers}
        if metric not in known:
            spec = parse(metric).spec
            if spec not in known:
                raise ValueError(f"metric {metric!r} was not evaluated; {closest(metric, known)}")
            return spec
        return str(known[metric])

    def _shown(self, metric: str | None) -> str:
        """Return the metric of a table; default AUGRC, else the first."""
        specs = self.values("metric")
        return self._spec(metric) if metric is not None else "augrc" if "augrc" in specs else specs[0]

    def _mean(self, cell: tuple[Any, ...], rows: list[int]) -> Mean:
        from abstain.inference import components

        first = self.numbers[rows[0]]
        values = np.array([self.numbers[k]["value"] for k in rows])
        errors = np.array([self.numbers[k]["standard_error"] for k in rows])
        test = training = math.nan
        deviation = float(np.std(values, ddof=1)) if len(rows) > 1 else math.nan
        terms = self._terms(rows)
        if len(rows) == 1:
            test = float(errors[0])
        elif np.all(errors == 0.0):
            test, training = 0.0, deviation / math.sqrt(len(rows))
        elif terms is not None:
            parts = components(values, terms, terms.shape[1] - 1.0)
            test, training = math.sqrt(parts.test), math.sqrt(parts.seed)
        labelled: int = first["labelled"] if "labelled" in first else first["n"]
        return Mean(
            **dict(zip(CELL, cell, strict=True)),
            label=first["label"],
            direction=first["direction"],
            value=float(values.mean()),
            n_runs=len(rows),
            n=first["n"],
            deviation=deviation,
            test_error=test,
            training_error=training,
            low=first["low"] if len(rows) == 1 else math.nan,
            high=first["high"] if len(rows) == 1 else math.nan,
            labelled=labelled if labelled < first["n"] else 0,
        )

    def same_rows(self, a: Mean, b: Mean) -> bool:
        """Return whether nothing shows that two means of one set rest on different rows, or on another order."""
        one, other = (
            [sample for place, sample in self.samples.items() if place[:3] == (each.data, each.set, each.model)]
            for each in (a, b)
        )
        return a.model == b.model or not any(differ(first, second) for first in one for second in other)

    def _terms(self, rows: list[int]) -> FloatArray | None:
        """Return the influences of numbers, summed over groups of rows and as long as their standard errors."""
        errors = np.array([self.numbers[k]["standard_error"] for k in rows])
        terms = self.sums[rows] if len(self.sums) else None
        if terms is None or np.isnan(terms).any() or np.isnan(errors).any():
            return None
        lengths = np.linalg.norm(terms, axis=1)
        factors = np.divide(errors, lengths, out=np.zeros_like(errors), where=lengths > 0.0)
        return np.asarray(terms * factors[:, None])

    def p_value(self, a: Mean, b: Mean) -> float:
        """Return the p-value of the difference of two means of one set; NaN where it is not known.

        The test is paired: the influences of all runs are summed over the same groups of rows, so differences of these
        sums give the variance of a difference.
        """
        places = [self._cells[tuple(getattr(mean, name) for name in CELL)] for mean in (a, b)]
        (one, other), terms = (
            ([self.numbers[k]["value"] for k in rows] for rows in places),
            list(map(self._terms, places)),
        )
        if terms[0] is None or terms[1] is None or not self.same_rows(a, b):
            return math.nan
        together = a.model == b.model and len(one) == len(other)
        if not together and 1 in (len(one), len(other)) and len(one) != len(other):
            return math.nan
        values = np.array(one), np.array(other)
        parts = of_pair(values, (terms[0], terms[1]), terms[0].shape[1] - 1.0, together)
        difference = float(np.mean(one) - np.mean(other))
        if parts.total == 0.0:
            return 1.0 if difference == 0.0 else math.nan
        return t_tails(difference / math.sqrt(parts.total), parts.df)

    # ------------------------------------------------------------------ as a result

    verdict = property(verdict_of)

    def headline(self) -> str:
        """Return what was evaluated."""
        sizes = [
            f"{len(self.values(column))} {word}{'s' if len(self.values(column)) != 1 else ''}"
            for column, word in (("model", "model"), ("set", "set"), ("score", "score"), ("metric", "metric"))
        ]
        runs = len({(row["model"], row["run"]) for row in self.numbers})
        return " · ".join([sizes[0], f"{runs} run{'s' if runs != 1 else ''}", *sizes[1:]])

    def table(self, metric: str | None = None) -> Table:
        """Return one metric: a row per model and score, a column per set, means over runs with their standard error."""
        if not self.numbers:
            return Table([Column("Model")], [], title="nothing was evaluated")
        spec = self._shown(metric)
        means = self.means(spec)
        columns = list(dict.fromkeys((each.data, each.set, each.id_failures) for each in means))
        names = list(dict.fromkeys((each.model, each.score) for each in means))
        found = {((each.model, each.score), (each.data, each.set, each.id_failures)): each for each in means}
        several = len({each.data for each in means}) > 1
        direction = means[0].direction if means else ""
        heads = [
            Column(" ".join(filter(None, (data if several else "", name, f"({mode})" if mode else ""))), direction)
            for data, name, mode in columns
        ]
        rows: list[Row] = [
            (" ".join(name), *(_estimate(found.get((name, column))) for column in columns)) for name in names
        ]
        label = arrow(means[0].label, direction) if means else spec
        runs = {each.n_runs for each in means}
        notes = []
        if means:
            several_runs = f"{min(runs)}{f' to {max(runs)}' if len(runs) > 1 else ''}"
            error = "standard error of the mean, from the test set and, with several runs, from training"
            notes.append(f"runs of each model: {several_runs}; ±: {error}")
        notes += _of_plans(means, self.level)
        return Table([Column("Model"), *heads], rows, title=label, notes=notes)

    def grid(self, metric: str | None = None) -> Grid:
        """Return one metric in the columns of the AUGRC paper: data sets x (iid, sub, cor, s-ncs, ns-ncs).

        Means over runs; over the levels of a corruption the mean of their means. Rows are scores where there is one
        model, models where each has one score, else both.
        """
        means = [each for each in self.means(self._shown(metric)) if each.role != "validation"]
        if not means:
            raise ValueError("there is nothing but validation sets; evaluate test sets, too")
        modes = sorted({each.id_failures for each in means} - {""})
        cells: dict[tuple[str, tuple[str, str]], list[Mean]] = {}
        data = list(dict.fromkeys(each.data for each in means))
        models, scores = ({getattr(each, name) for each in means} for name in ("model", "score"))
        for each in means:
            title = column_of(each.role, json.loads(each.shift or "{}"), each.set)
            title += f" ({each.id_failures})" if each.id_failures and len(modes) > 1 else ""
            name = each.score if len(models) == 1 else each.model if len(scores) == 1 else f"{each.model} {each.score}"
            cells.setdefault((name, (each.data, title)), []).append(each)
        places = {title: place for place, title in enumerate(ORDER)}
        columns = sorted(
            dict.fromkeys(column for _, column in cells),
            key=lambda column: (data.index(column[0]), places.get(column[1].split(" ")[0], len(places))),
        )
        values, spreads = ({name: [math.nan] * len(columns) for name, _ in cells} for _ in range(2))
        for (name, column), several in cells.items():
            j = columns.index(column)
            values[name][j] = float(np.mean([each.value for each in several]))
            if len(several) == 1:
                spreads[name][j] = several[0].standard_error
        heads = [Head(title, means[0].direction, data) for data, title in columns]
        notes = [f"with OOD data, ID failures: {', '.join(modes)}"] if modes else []
        title = arrow(means[0].label, means[0].direction) if means[0].direction else means[0].label
        return Grid(heads, values, spreads, title, notes)

    def tables(self) -> list[Table]:
        """Return the table of the first metric."""
        return [self.table()]

    def notes(self) -> list[str]:
        """Return what failed, what is lacking, and which metrics are not shown."""
        specs = self.values("metric")
        others = ", ".join(spec for spec in specs if spec != "augrc") if "augrc" in specs else ""
        left_out = [f"{each.file} was left out: {each.why}" for each in self.failures]
        return [*left_out, *self.said, *([f"also evaluated: {others}"] if others else [])]

    def rows(self) -> list[Document]:
        """Return the numbers, a dict each."""
        return [dict(row) for row in self.numbers]

    def to_dict(self) -> Document:
        """Return plain Python values: the numbers, the means and the failures."""
        failures = [each._asdict() for each in self.failures]
        kept = {"numbers": self.numbers, "means": self._mean_rows(), "failures": failures}
        return {**plain(kept), "level": self.level, "notes": self.notes(), "abstain": __version__}

    def to_parquet(self, path: str | os.PathLike[str], *, means: bool = False) -> None:
        """Write the numbers, or the means over runs, as one Parquet file: all of it or nothing."""
        found = self._mean_rows() if means else []
        write_file(path, as_polars(found or self.rows()).write_parquet)

    def _mean_rows(self) -> list[Document]:
        return [{**vars(each), "standard_error": each.standard_error} for each in self.means()]

    def only(self, **columns: str | Sequence[str]) -> StudyResults:
        """Return the numbers whose columns have these values: ``only(set="test", score=["msp", "energy"])``."""
        wanted = {name: {value} if isinstance(value, str) else set(value) for name, value in columns.items()}
        for name in columns if self.numbers else ():
            one_of(name, self.numbers[0], "column")
        kept = [k for k, row in enumerate(self.numbers) if all(row[name] in values for name, values in wanted.items())]
        sums = self.sums[kept] if len(self.sums) else self.sums
        return replace(self, numbers=tuple(self.numbers[k] for k in kept), sums=sums)


def _estimate(mean: Mean | None) -> Estimate | float:
    """Return a mean as it is printed: from a few labels with its interval, which is not symmetric."""
    if mean is None:
        return math.nan
    if mean.labelled and not math.isnan(mean.low):
        return Estimate(mean.value, mean.low, mean.high)
    return Estimate(mean.value, spread=mean.standard_error)


def _of_plans(means: list[Mean], level: float | None) -> list[str]:
    """Return what to know of means that come from a few labels."""
    few = [each for each in means if each.labelled]
    found = []
    if level is not None and any(each.n_runs == 1 for each in few):
        found.append(f"in brackets: {100 * level:g} % interval, where a plan chose the rows that are labelled")
    if any(each.n_runs > 1 for each in few):
        found.append("of runs with plans the error of the mean is not known: their labels may be of the same rows")
    return found
