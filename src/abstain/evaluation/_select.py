"""``select``: choose among candidates on a validation split by any metric, and report the choice on a test split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

import numpy as np

from abstain._checks import closest
from abstain._result import Column, Estimate, Result, Row, Table, arrow
from abstain._typing import AnyArray, ArrayLike, Document
from abstain.inference import (
    Interval,
    Panel,
    as_metrics,
    by_influence,
    check_level,
    check_scored,
    confidence_interval,
    evaluated,
    min_ranks,
    panel,
    tables,
)
from abstain.metrics import Metric

#: Loss and confidence of one split.
Split = tuple[ArrayLike, ArrayLike]


#: Loss and confidence of a split; a candidate has one of the validation split, and may have one of the test split.
Pair: TypeAlias = tuple[ArrayLike, ArrayLike]
Splits: TypeAlias = Mapping[str, Pair] | tuple[Pair, Pair] | Pair


@dataclass(frozen=True)
class Choice:
    """What one metric chooses.

    ``name``: the chosen candidate; ``validation``: its value there, by which it was chosen; ``tied``: other
    candidates with the same value (the first one given wins); ``test``: its interval on the test split, None without
    one; ``by_metric``: the chosen candidate's test value by every metric of the selection.

    Examples
    --------
    >>> import abstain
    >>> valid = {"T=1": ([0, 1, 0, 0], [4, 3, 2, 1]), "T=2": ([0, 1, 0, 0], [4, 1, 2, 3])}
    >>> choice = abstain.select(valid, "augrc").choices["augrc"]
    >>> choice.name, choice.validation
    ('T=2', 0.03125)
    """

    metric: str
    label: str
    direction: str
    name: str
    validation: float
    tied: tuple[str, ...]
    test: Interval | None
    by_metric: Mapping[str, float]


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Result):
    """The result of :func:`select`: one :class:`Choice` per selecting metric; prints as a table.

    Examples
    --------
    >>> import abstain
    >>> valid = {"T=1": ([0, 1, 0, 0], [4, 3, 2, 1]), "T=2": ([0, 1, 0, 0], [4, 1, 2, 3])}
    >>> abstain.select(valid, ["augrc", "aurc"]).chosen
    'T=2'
    """

    _names = ("metric",)
    _values = ("validation", "test")

    choices: Mapping[str, Choice]
    validation: Mapping[str, Mapping[str, float]]
    level: float
    n_validation: int
    n_test: int | None
    row_hashes: AnyArray | tuple[()] = field(
        default=(), repr=False
    )  #: hashed rows of the validation split, with the chosen scores

    @property
    def chosen(self) -> str:
        """The candidate that the first metric chooses."""
        return next(iter(self.choices.values())).name

    def others(self, metric: str | None = None) -> dict[str, str]:
        """Return what each other metric would have chosen."""
        spec = next(iter(self.choices)) if metric is None else metric
        if spec not in self.choices:
            raise KeyError(f"no selection by {spec!r}; {closest(spec, self.choices)}")
        return {other: choice.name for other, choice in self.choices.items() if other != spec}

    # ------------------------------------------------------------------ as a result

    def headline(self) -> str:
        """Return the sizes of the splits."""
        test = "" if self.n_test is None else f" and {self.n_test} test"
        return f"{self.n_validation} validation{test} samples"

    def tables(self) -> list[Table]:
        """Return one row per selecting metric: its choice, the validation value, and the test value."""
        columns = [Column("Selected by"), Column("Choice", left=True), Column("Validation", alike=False)]
        rows: list[Row] = []
        for choice in self.choices.values():
            test = choice.test
            row: Row = (arrow(choice.label, choice.direction), choice.name, choice.validation)
            rows.append(row if test is None else (*row, Estimate(test.estimate, test.low, test.high)))
        if self.n_test is None:
            return [Table(columns, rows)]
        notes = [f"In brackets: {100.0 * self.level:g} % confidence interval."]
        return [Table([*columns, Column("Test", alike=False)], rows, notes=notes)]

    def notes(self) -> list[str]:
        """Return what a reader must know in addition to the numbers: warnings of intervals, and ties."""
        lines = []
        for each in self.choices.values():
            if each.test is not None and each.test.warning:
                lines.append(f"{each.label}: {each.test.warning}")
            if each.tied:
                lines.append(f"{each.label} is the same for {each.name} and {', '.join(each.tied)}; the first wins")
        return lines

    def rows(self) -> list[Document]:
        """Return one dict per selecting metric."""
        found = []
        for choice in self.choices.values():
            row = {"metric": choice.metric, "choice": choice.name, "validation": choice.validation}
            test = choice.test
            row |= {} if test is None else {"test": test.estimate, "low": test.low, "high": test.high}
            found.append(row | {"tied": ", ".join(choice.tied)})
        return found

    def to_dict(self) -> Document:
        """Return plain Python values: the choices, each with what other metrics would have chosen, and all values."""
        found = super().to_dict()
        return {**found, "choices": [{**each, "others": self.others(spec)} for spec, each in found["choices"].items()]}


def select(
    candidates: Mapping[str, Splits],
    metric: str | Metric | Sequence[str | Metric] = ("augrc", "aurc"),
    *,
    level: float = 0.95,
) -> Selection:
    r"""Choose among candidates (temperatures, dropout rates, scores, ...) on a validation split.

    .. math:: \hat k = \arg\min_k \hat\theta^{\text{val}}_k,\qquad \text{reported: } \hat\theta^{\text{test}}_{\hat k}

    (arg max for a metric whose higher values are better.)

    Parameters
    ----------
    candidates : dict
        Name to ``{"validation": (loss, confidence), "test": (loss, confidence)}``, to such a pair of splits, or to
        one split ``(loss, confidence)`` where there is no test split. Arrays of shape (n_samples,) or
        (n_runs, n_samples): the metric is averaged over runs.
    metric : str, Metric or list of them
        The metrics to select by, each on its own; the first is :attr:`Selection.chosen`.
    level : float in (0, 1)
        Of the intervals on the test split.

    Returns
    -------
    Selection

    Raises
    ------
    UnmetNeed
        A metric needs what the input does not hold.
    ValueError, TypeError
        No candidates, candidates of unequal form, bad columns, a metric that is undefined on the validation split.

    Notes
    -----
    The validation value of the chosen candidate is too good on average, the more so the more candidates there were;
    the value to report is the test value, whose interval is valid because the test split had no part in the choice.
    Ties go to the candidate given first and are named.

    References
    ----------
    Jaeger et al. (2023), ICLR, and Traub et al. (2024), NeurIPS: selection on a validation set, by the mean over runs.

    Examples
    --------
    >>> import abstain
    >>> loss, good, bad = [0, 0, 0, 1] * 25, [9, 7, 8, 1] * 25, [1, 5, 2, 4] * 25
    >>> candidates = {"good": {"validation": (loss, good), "test": (loss, good)},
    ...               "bad": {"validation": (loss, bad), "test": (loss, bad)}}
    >>> result = abstain.select(candidates, ["augrc", "aurc"])
    >>> result.chosen, result.others(), round(result.choices["augrc"].test.high, 4)
    ('good', {'aurc': 'good'}, 0.0631)
    """
    level = check_level(level)
    metrics = as_metrics(metric, "metric")
    for each in metrics:
        check_scored(each)
    validation, test = _splits(candidates)
    choices, values = {}, {}
    for each in metrics:
        means = _means(each, validation)
        values[each.spec] = dict(zip(validation.names, means, strict=True))
        sign = 1.0 if each.direction == "lower" else -1.0
        ranks = min_ranks(sign * np.array([means]))[0].tolist()
        winner, *tied = [name for name, rank in zip(validation.names, ranks, strict=True) if rank == 1]
        interval, by_metric = None, {}
        if test is not None:
            alone = test.of([winner])
            interval = _interval(each, alone, level)
            by_metric = {other.spec: _mean(other, alone) for other in metrics}
        head = each.spec, each.label, each.direction
        choices[each.spec] = Choice(*head, winner, values[each.spec][winner], tuple(tied), interval, by_metric)
    from abstain.thresholds import remember_selection

    chosen = validation.of(sorted({choice.name for choice in choices.values()}))
    runs = zip(chain(*chosen.loss), chain(*chosen.score), strict=True)
    rows = np.unique(np.concatenate([remember_selection(loss, score) for loss, score in runs]))
    return Selection(choices, values, level, validation.n, None if test is None else test.n, rows)


def _splits(candidates: Mapping[str, Splits]) -> tuple[Panel, Panel | None]:
    """Return the checked validation and test columns of all candidates."""
    if not isinstance(candidates, Mapping) or not candidates:
        form = '{name: {"validation": (loss, confidence), "test": (loss, confidence)}}'
        raise TypeError(f"candidates must be a dict {form}, got {candidates!r:.60}")
    pairs = {str(name): _pair(str(name), entry) for name, entry in candidates.items()}
    without = [name for name, (_, test) in pairs.items() if test is None]
    if without and len(without) < len(pairs):
        raise ValueError(f"candidates[{without[0]!r}] has no test split but others have; give it to all or to none")
    columns = []
    for splits in zip(*pairs.values(), strict=True):
        if splits[0] is not None:
            loss, score = (dict(zip(pairs, column, strict=True)) for column in zip(*splits, strict=True))
            columns.append(panel(loss, score, at_least=1))
    return columns[0], columns[1] if len(columns) > 1 else None


def _pair(name: str, entry: Splits) -> tuple[Pair, Pair | None]:
    """Return the validation and the test split of one candidate."""
    form = f'candidates[{name!r}] must be {{"validation": (loss, confidence), "test": (loss, confidence)}}'
    if isinstance(entry, Mapping):
        unknown = sorted(map(str, entry.keys() - {"validation", "test"}))
        if unknown or "validation" not in entry:
            raise ValueError(f"{form}, got the keys {', '.join(sorted(map(str, entry)))}")
        splits = (entry["validation"], entry.get("test"))
    elif isinstance(entry, tuple | list) and len(entry) == 2:
        nested = all(isinstance(part, tuple) and len(part) == 2 and np.ndim(part[0]) > 0 for part in entry)
        splits = (entry[0], entry[1]) if nested else (tuple(entry), None)
    else:
        raise TypeError(f"{form} or one split (loss, confidence), got {type(entry).__name__}")
    for split in splits:
        if split is not None and (not isinstance(split, tuple | list) or len(split) != 2):
            raise TypeError(f"{form}; a split is a pair (loss, confidence), got {type(split).__name__}")
    return splits


def _means(metric: Metric, columns: Panel) -> list[float]:
    """Return the metric of every candidate, averaged over runs; undefined ones are an error."""
    result = []
    for name in columns.names:
        value = _mean(metric, columns.of([name]))
        if np.isnan(value):
            raise ValueError(f"{metric.name} of candidate {name!r} is undefined on the validation split; choose augrc")
        result.append(value)
    return result


def _mean(metric: Metric, alone: Panel) -> float:
    columns = zip(alone.loss[0], alone.score[0], strict=True)
    return float(np.mean([evaluated(metric, tables(metric, loss, score)).value for loss, score in columns]))


def _interval(metric: Metric, alone: Panel, level: float) -> Interval:
    """Return the interval on the test split: of one run as everywhere, of several with both sources of variance."""
    if alone.n_runs == (1,):
        return confidence_interval(metric, alone.loss[0][0], alone.score[0][0], level=level)
    if metric.inference_kind in ("smooth", "quantile"):
        return by_influence(metric, alone, level).intervals[0]
    why = f"{metric.name} of several runs gets no interval: it has no influence function"
    return Interval(np.nan, np.nan, _mean(metric, alone), np.nan, level, "none", 0.0, why)
