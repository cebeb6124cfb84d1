"""``tune``: choose the hyper-parameters of a score on a validation split, and show the whole table."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from abstain import metrics, scores
from abstain._checks import UnmetNeed, closest
from abstain._result import Column, Result, Row, Table, plain
from abstain._typing import AnyArray, Document, FloatArray, Options
from abstain._version import __version__
from abstain.blocks import TieBlocks
from abstain.outputs import Outputs, expect
from abstain.scores import FittedScore, Score
from abstain.scores._fitted import score_each

#: From the scores of the validation and of the out-of-distribution samples to the value, or NaN with the reason.
_Measure: TypeAlias = Callable[[Any, Any], tuple[float, str | None]]

#: What the functions of joint metrics call the scores that are tuned.
_INSIDE, _OUTSIDE = ("id_score", "id_detector"), ("ood_score", "ood_detector")


@dataclass(frozen=True)
class Candidate:
    """One point of the grid: the hyper-parameters, the value, and the reason if there is none.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("cifar10_vgg16")
    >>> abstain.tune("gen", outputs, grid={"gamma": [0.5]}).candidates[0].options
    {'gamma': 0.5}
    """

    options: Options
    value: float
    reason: str | None = None

    @property
    def name(self) -> str:
        """The hyper-parameters in words."""
        return ", ".join(f"{key}={value}" for key, value in self.options.items())


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Result):
    """The result of :func:`abstain.tune`: the whole table, and the fitted score of the best candidate.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("cifar10_vgg16")
    >>> result = abstain.tune("gen", outputs, grid={"gamma": [0.1, 0.5, 2.0], "top": [10]})
    >>> print(result)
    gen by AUGRC: gamma=0.5, top=10 is the best of 3
    <BLANKLINE>
    Candidate            AUGRC ↓
    gamma=0.1, top=10  0.006261
    gamma=0.5, top=10  0.005959*
    gamma=2.0, top=10  0.006026
    <BLANKLINE>
    * best of its column
    >>> result.best.score(outputs).shape
    (10000,)
    """

    _names = ("candidate",)
    _values = ("value",)

    score: str
    metric: str
    direction: str
    candidates: tuple[Candidate, ...]
    best: FittedScore
    index: int
    row_hashes: AnyArray | tuple[()] = field(
        default=(), repr=False
    )  #: hashed rows of the validation split, with the chosen score

    @property
    def label(self) -> str:
        """The metric as a table prints it."""
        return _metric(self.metric).label

    @property
    def options(self) -> Options:
        """Hyper-parameters of the best candidate."""
        return self.candidates[self.index].options

    @property
    def value(self) -> float:
        """Its value on the validation split: the best of several, so look at another split for an estimate."""
        return self.candidates[self.index].value

    # ------------------------------------------------------------------ as a result

    def headline(self) -> str:
        """Return what was tuned and what was chosen."""
        best = self.candidates[self.index].name
        return f"{self.score} by {self.label}: {best} is the best of {len(self.candidates)}"

    def tables(self) -> list[Table]:
        """Return one row per candidate."""
        columns = [Column("Candidate"), Column(self.label, self.direction)]
        if not any(each.reason for each in self.candidates):
            return [Table(columns, [(each.name, each.value) for each in self.candidates])]
        rows: list[Row] = [(each.name, each.value, each.reason or "") for each in self.candidates]
        return [Table([*columns, Column("Reason", left=True)], rows)]

    def rows(self) -> list[Document]:
        """Return one dict per candidate: hyper-parameters, value, reason, and whether it is the best."""
        found = []
        for i, each in enumerate(self.candidates):
            measured = {"value": each.value, "reason": each.reason, "best": i == self.index}
            found.append({"candidate": each.name, **each.options, **measured})
        return found

    def to_dict(self) -> Document:
        """Return plain Python values: what was tuned, every candidate, and the chosen options."""
        names = ("score", "metric", "label", "direction", "options", "candidates", "index")
        return {**plain({name: getattr(self, name) for name in names}), "abstain": __version__}


def tune(
    score: str | Score,
    validation: Outputs,
    *,
    fit: Outputs | None = None,
    ood: Outputs | None = None,
    metric: str | metrics.Metric = "augrc",
    grid: Mapping[str, Sequence[object]] | None = None,
    confidence: str | FittedScore = "neg_log_error",
) -> Tuning:
    """Choose the hyper-parameters of a confidence score on a validation split.

    Every combination of the grid is fitted, scored and measured; what is fitted is shared by candidates that differ
    in how they score only (the bank of ``knn`` is built once for all numbers of neighbours).

    Parameters
    ----------
    score : str or Score
        Name (with options, if some are to be fixed), or the score itself. ``"column"`` with ``grid={"column": names}``
        chooses among finished scores, such as those of ODIN or Gram, by the names of their columns.
    validation : Outputs
        Labelled in-distribution samples that neither the network nor the score was fitted on.
    fit : Outputs, optional
        Fit data, for scores that are fitted.
    ood : Outputs, optional
        Out-of-distribution samples for the criteria that need them; neither those nor the kind of the final test.
    metric : str or Metric
        A metric of ``abstain.metrics`` such as ``"augrc"``, ``"aurc"`` or ``"auroc_f"``, with options in parentheses;
        or with ``ood`` one of ``abstain.joint`` such as ``"auroc"`` (in against out of distribution), ``"oscr"`` or,
        with the score as the detector next to ``confidence``, ``"ds_f1"`` and ``"ds_aurc"``. A name that both have is
        that of ``abstain.metrics``; the other one is ``"joint.aurc"``.
    grid : dict of str to sequence, optional
        Values by hyper-parameter; default the grid of the registry.
    confidence : str or FittedScore
        The confidence score next to it, for the DS criteria.

    Returns
    -------
    Tuning
        Ties are won by the first candidate. A candidate that is refused (more neighbours than rows) or has no value
        stays in the table with its reason.

    Raises
    ------
    UnmetNeed
        Fit data, out-of-distribution data or a column that is missing.
    ValueError
        An unknown score or metric, one of the probabilities alone; an empty grid; no candidate with a value.
    TypeError
        An unknown hyper-parameter; a grid that is no dict of sequences; no Outputs.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("cifar10_vgg16")
    >>> abstain.tune("gen", outputs, grid={"gamma": [0.1, 0.5, 2.0]}, metric="aurc").options
    {'gamma': 0.5}
    """
    for outputs, name in ((validation, "validation"), (fit, "fit"), (ood, "ood")):
        if outputs is not None or name == "validation":
            expect(outputs, name)
    if not isinstance(score, str | scores.Score):
        raise TypeError(f"score must be a name or a Score, got {type(score).__name__}")
    if not isinstance(metric, str | metrics.Metric):
        raise TypeError(f"metric must be a name or a Metric, got {type(metric).__name__}")
    entry = scores.parse(score) if isinstance(score, str) else score
    metric = metric.spec if isinstance(metric, metrics.Metric) else metric
    grid = entry.grid if grid is None else _grid(grid)
    if not grid or not all(len(values) for values in grid.values()):
        raise ValueError(f"{entry.name} has no grid to try; give grid={{option: [values]}}")
    first = entry.using(**{name: values[0] for name, values in grid.items()})  # unknown names fail here
    chosen = _metric(metric)
    measure = _criterion(chosen, metric, validation, ood, confidence)
    if entry.fit_function is not None and fit is None:
        raise UnmetNeed(f"{entry.name} is fitted: give fit=outputs, its {entry.fit_split} split")
    for outputs in (validation, ood):
        if outputs is not None:
            first.require(outputs)
    tried = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    fitted = _fit_each([entry.using(**options) for options in tried], fit)
    inside = score_each(fitted, validation)
    outside = score_each(fitted, ood) if ood is not None and chosen.input == "joint" else inside
    candidates = []
    for options, *columns in zip(tried, inside, outside, strict=True):
        refused = next((each for each in columns if isinstance(each, ValueError)), None)
        candidates.append(Candidate(options, *((math.nan, str(refused)) if refused else measure(*columns))))
    values = np.array([each.value for each in candidates])
    defined = np.where(np.isnan(values), np.inf, values if chosen.direction == "lower" else -values)
    index = int(np.argmin(defined))
    best = fitted[index]
    if isinstance(best, ValueError) or math.isnan(values[index]):
        raise ValueError(f"no candidate of {entry.name} has a value; the first: {candidates[0].reason}")
    from abstain.thresholds import remember_selection

    rows: AnyArray | tuple[()] = ()
    with suppress(ValueError):  # outputs without answers have no loss, and no certificate
        rows = remember_selection(validation.loss_per_sample(), inside[index])
    return Tuning(entry.name, metric, chosen.direction, tuple(candidates), best, index, rows)


def _grid(grid: Mapping[str, Sequence[object]]) -> dict[str, list[object]]:
    """Return values by hyper-parameter as lists; text is a value, not a sequence of letters."""
    if not isinstance(grid, Mapping):
        raise TypeError(f"grid must be a dict of option -> values, got {type(grid).__name__}")
    for option, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise TypeError(f"grid[{option!r}] must be a sequence of values, got {values!r}; write [{values!r}]")
    return {option: list(values) for option, values in grid.items()}


def _metric(spec: str) -> metrics.Metric:
    """Return a metric of one score, else one of ID and OOD samples, which needs no "joint." in its name."""
    name = spec.split("(")[0].strip()
    known = metrics.names("blocks", "probabilities")
    if name in known:
        return metrics.parse(spec)
    joint = metrics.names("joint")
    if name in joint:
        return metrics.parse(spec)
    if f"joint.{name}" in joint:
        return metrics.parse(f"joint.{spec.strip()}")
    others = [each.partition(".")[2] for each in joint]
    raise ValueError(f"metric {spec!r} is not known; {closest(name, dict.fromkeys([*known, *others]))}")


def _criterion(
    metric: metrics.Metric, spec: str, validation: Outputs, ood: Outputs | None, confidence: str | FittedScore
) -> _Measure:
    """Return what gives the value of scores of both sets, with the reason if it has none."""
    if metric.input == "joint":
        if ood is None:
            raise UnmetNeed(f"metric={spec!r} needs out-of-distribution data; give ood=outputs")
        return _with_ood(metric, validation, ood, confidence)
    if metric.input == "probabilities" or not metric.reads_score:
        raise ValueError(f"{spec} does not depend on the score, so it cannot choose one; use augrc, aurc or auroc_f")
    loss, weights = validation.loss_per_sample(), validation.sample_weight

    def measure(inside: FloatArray, _: Any) -> tuple[float, str | None]:
        return metric.evaluate(TieBlocks.from_samples(loss, inside, weights, oracle=True))

    return measure


def _with_ood(metric: metrics.Metric, validation: Outputs, ood: Outputs, confidence: str | FittedScore) -> _Measure:
    """Return a joint metric of what its function takes: the score alone, or as the detector next to the confidence."""
    takes = inspect.signature(metric.function).parameters
    given: Options = {}
    judged = validation
    if "id_detector" in takes:
        for name, outputs in (("id_confidence", validation), ("ood_confidence", ood)):
            if isinstance(confidence, FittedScore):
                given[name] = confidence.score(outputs)
            else:
                given[name] = scores.compute(confidence, outputs)
        judged = scores.judged(confidence if isinstance(confidence, str) else confidence.name, validation)
    if "id_loss" in takes:
        given["id_loss"] = judged.loss_per_sample()
    inner, outer = [next(name for name in takes if name in pair) for pair in (_INSIDE, _OUTSIDE)]

    def measure(inside: FloatArray, outside: FloatArray) -> tuple[float, str | None]:
        return float(metric.function(**given, **{inner: inside, outer: outside}, **metric.options)), None

    return measure


def _fit_each(entries: Sequence[Score], outputs: Outputs | None) -> list[FittedScore | ValueError]:
    """Fit once per setting of what the fit itself depends on; a refusal takes the place of the fit."""
    known: dict[str, FittedScore | ValueError] = {}
    for entry in entries:
        key = repr(entry.fit_settings)
        if key not in known:
            try:
                known[key] = entry.fit(outputs)
            except UnmetNeed:
                raise
            except ValueError as error:
                known[key] = error
    fits = [(entry, known[repr(entry.fit_settings)]) for entry in entries]
    return [fit if isinstance(fit, ValueError) else fit.using(entry) for entry, fit in fits]
