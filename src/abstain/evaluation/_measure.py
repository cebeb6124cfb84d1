"""Each score on the rows of an evaluation: its table, every metric with its interval, and what the score looks like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from abstain import metrics as metrics_
from abstain._checks import UnmetNeed
from abstain._typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray, NanPolicy, Options
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.evaluation._notes import BIASED, NEEDS_BOOTSTRAP
from abstain.evaluation._provenance import Provenance
from abstain.evaluation._result import Measurement, ScoreSummary
from abstain.inference import (
    Interval,
    Sampling,
    Spread,
    as_risk,
    begin,
    confidence_interval,
    finish,
    of_coverage,
    of_samples,
)
from abstain.metrics import Metric, Predictions
from abstain.outputs import Outputs

if TYPE_CHECKING:
    from abstain import pool

#: What an evaluation shows unless asked for more: accuracy (or risk), two areas with what they leave above the
#: oracle, the ranking alone, three operating points, and calibration.
DEFAULT_METRICS = (
    "accuracy",
    "augrc",
    "e_augrc",
    "aurc",
    "auroc_f",
    "coverage_at_risk(risk=0.01)",
    "coverage_at_risk(risk=0.05)",
    "selective_risk(coverage=0.8)",
    "ece",
)
#: A group column with more values than this is refused: it is an identifier or a measured quantity.
MOST_GROUPS = 1000


@dataclass(frozen=True, eq=False)
class Scored:
    """A score on rows, with the losses of the predictions that it is about.

    ``clusters``: their numbers; ``groups``: per group column its values, and of each row the place of its value;
    ``times``: of rows that an engine counted, how many equal ones each stands for (None: one); ``sample``: of a pool
    the labelled rows with the chance that each had to be labelled; ``judged``: the outputs, where they are in memory.
    """

    name: str
    column: FloatArray
    loss: FloatArray
    sample_weight: FloatArray | None = None
    clusters: IntArray | None = None
    groups: Mapping[str, tuple[AnyArray, IntArray]] = field(default_factory=dict)
    times: FloatArray | None = None
    sample: pool.Sample | None = None
    judged: Outputs | None = None
    part_of: tuple[Scored, IntArray | BoolArray] | None = None

    def on(self, rows: IntArray | BoolArray) -> Scored:
        """Return the same on some of its rows."""
        columns = {"sample_weight": self.sample_weight, "clusters": self.clusters, "times": self.times}
        kept: Options = {name: None if each is None else each[rows] for name, each in columns.items()}
        return replace(self, column=self.column[rows], loss=self.loss[rows], part_of=(self, rows), **kept)

    @cached_property
    def predictions(self) -> Predictions | None:
        """Labels and probability vectors of the rows; None where they are not known."""
        if self.part_of is not None:
            whole, rows = self.part_of
            data = whole.predictions
            if data is None:
                return None
            weight = None if data.sample_weight is None else data.sample_weight[rows]
            return Predictions(data.labels[rows], data.probabilities[rows], None, weight)
        outputs = self.judged
        if outputs is None or outputs.labels is None or (outputs.logits is None and outputs.probabilities is None):
            return None
        return Predictions(np.asarray(outputs.labels), np.exp(outputs.log_probabilities()), None, self.sample_weight)

    @property
    def beyond(self) -> float:
        """How far the score lies outside [0, 1], at most."""
        most, least = (float(each.reduce(self.column, initial=np.nan)) for each in (np.fmax, np.fmin))
        return max(most - 1.0, -least, 0.0) if most == most else 0.0


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of an evaluation, wherever they are: each score on them, and what is known of them.

    ``columns``: all that is known of each row in memory, by which copies are found.
    """

    scored: list[Scored]
    facts: Provenance
    columns: Sequence[ArrayLike] = ()

    def parts(self) -> Iterator[tuple[str | None, list[Scored], int]]:
        """Yield all rows (None), then each group as "column = value", with the number of groups of its column."""
        yield None, self.scored, 1
        seen: set[str] = set()
        for name, (values, _) in self.scored[0].groups.items() if self.scored else ():
            for k, value in enumerate(values):
                label = f"{name} = {value}"
                if label in seen:  # column "a" with value "b = c" and column "a = b" with value "c"
                    label = f"{name!r} = {str(value)!r}"
                seen.add(label)
                yield label, [each.on(each.groups[name][1] == k) for each in self.scored], len(values)


@cache
def _defaults() -> tuple[Metric, ...]:
    return tuple(metrics_.parse(spec) for spec in DEFAULT_METRICS)


def choose(metrics: str | Metric | Iterable[str | Metric], largest_loss: float) -> tuple[list[Metric], bool]:
    """Return the metrics, and whether one that the data do not allow is listed instead of raised."""
    if isinstance(metrics, str) and metrics == "default":
        chosen = list(_defaults())
        if largest_loss > 1.0:
            chosen[0] = metrics_.get("risk")
        return chosen, True
    if isinstance(metrics, str) and metrics == "all":
        found = [*_defaults(), *(metrics_.get(name) for name in metrics_.names("blocks", "probabilities"))]
        return _distinct(found), True
    if isinstance(metrics, str | Metric):
        metrics = [metrics]
    if isinstance(metrics, np.ndarray):
        metrics = metrics.ravel()
    found = []
    for entry in metrics:
        if not isinstance(entry, str | Metric):
            raise TypeError(f"metrics must be names or Metric objects, got {entry!r} of type {type(entry).__name__}")
        found += metrics_.parse_list(entry) if isinstance(entry, str) else [entry]
    if not found:
        raise ValueError("metrics is empty; give names, 'default' or 'all'")
    return _distinct(found), False


def _distinct(metrics: list[Metric]) -> list[Metric]:
    """Return one metric of each spec: the last one, in the place of the first."""
    return list({metric.spec: metric for metric in metrics}.values())


def measured_rows(
    rows: Rows,
    metrics: list[Metric],
    forgiving: bool,
    nan_policy: NanPolicy,
    level: float | None,
    n_resamples: int,
    top: bool = False,
) -> tuple[list[Measurement], list[ScoreSummary]]:
    """Return every metric of every score, on all rows and then by group; ``top``: where an unseen error may lie."""
    measurements: list[Measurement] = []
    summaries: list[ScoreSummary] = []
    unmet: dict[str, list[UnmetNeed]] = {}
    for group, every, together in rows.parts():
        each_level = None if level is None else 1.0 - (1.0 - level) / together
        for scored in every:
            found, summary = _measured(scored, group, metrics, unmet, nan_policy, each_level, n_resamples, top)
            measurements += found
            summaries += [] if summary is None else [summary]
        for needs in unmet.values() if group is None and not forgiving else ():
            if len(needs) == len(every):  # no score allows it; for some, the table shows a dash and a note says why
                raise needs[0]
    return measurements, summaries


def _measured(
    scored: Scored,
    group: str | None,
    metrics: list[Metric],
    unmet: dict[str, list[UnmetNeed]],
    nan_policy: NanPolicy,
    level: float | None,
    n_resamples: int,
    top: bool,
) -> tuple[list[Measurement], ScoreSummary | None]:
    """Return every metric of a score on its rows, and what it looks like there; nothing where no row counts."""
    weight = scored.sample_weight
    kept = ~np.isnan(scored.column) if nan_policy == "drop" else np.ones(len(scored.column), dtype=bool)
    if group is not None and not np.any(kept if weight is None else kept & (weight > 0.0)):
        why = "no sample of the group has a score and a positive weight"
        return [_entry(metric, scored.name, group, np.nan, why) for metric in metrics], None
    blocks = _table(scored, nan_policy, level is not None)
    clusters = scored.clusters
    in_table = clusters if clusters is None or nan_policy != "drop" else clusters[kept]
    result: list[Measurement] = []
    spreads: dict[int, Spread] = {}
    for metric in metrics:
        data: TieBlocks | Predictions | None = blocks
        sampling = Sampling(None, in_table)
        if metric.input == "probabilities":  # do not depend on the score, so nothing is dropped
            data, sampling = scored.predictions, Sampling(None, clusters)
        try:
            if data is None:
                raise UnmetNeed(f"{metric.name} needs labels with logits or probabilities")
            value, reason = metric.evaluate(data)
        except UnmetNeed as need:
            if group is None:
                unmet.setdefault(metric.spec, []).append(need)
            value, reason = np.nan, str(need)
        found = _entry(metric, scored.name, group, value, reason)
        if level is not None and data is not None and reason is None:
            interval = _interval(metric, data, value, level, sampling, n_resamples)
            if isinstance(interval, Spread):
                spreads[len(result)] = interval
            else:
                found = _with(found, interval)
        result.append(found)
    if level is not None and spreads:
        finished = finish(list(spreads.values()), blocks, level, Sampling(None, in_table), top)
        for k, each in zip(spreads, finished, strict=True):
            result[k] = _with(result[k], each)
    return result, ScoreSummary.of(scored.name, group, blocks, RiskCoverageCurve(blocks))


def _entry(metric: Metric, score: str, group: str | None, value: float, reason: str | None) -> Measurement:
    return Measurement(score, group, metric.label, metric.spec, metric.identifier, metric.direction, value, reason)


def _with(entry: Measurement, found: Interval | str) -> Measurement:
    """Return a measurement with its interval, or with the reason why there is none."""
    if isinstance(found, str):
        return replace(entry, warning=found)
    low, high, _, error, _, method, _, warning, _ = found
    return replace(entry, low=low, high=high, method=method, warning=warning, standard_error=error)


def _table(scored: Scored, nan_policy: NanPolicy, keep: bool) -> TieBlocks:
    columns = scored.loss, scored.column, scored.sample_weight
    try:
        if scored.times is not None:
            return TieBlocks._of_counted(*columns, scored.times, nan_policy)
        if keep:
            return TieBlocks._of_rows(*columns, nan_policy)
        return TieBlocks.from_samples(*columns, nan_policy=nan_policy, oracle=True)
    except ValueError as error:
        raise ValueError(f"score {scored.name!r}: {error}") from None


def _interval(
    metric: Metric,
    data: TieBlocks | Predictions,
    value: float,
    level: float,
    sampling: Sampling,
    n_resamples: int,
) -> Interval | str | Spread:
    """Return the confidence interval, or the reason why there is none; or the spread from which it follows."""
    kind = metric.inference_kind
    if kind == "none":
        return BIASED
    if isinstance(data, TieBlocks) and sampling.independent:
        exact = of_coverage(metric, data, level, value)
        if exact is not None:
            return exact
    if kind == "bootstrap" and n_resamples == 0:
        return NEEDS_BOOTSTRAP
    if kind == "bootstrap" and isinstance(data, Predictions):
        return "no interval: the bootstrap does not resample probabilities"
    try:
        if isinstance(data, Predictions):
            risk, terms = as_risk(metric, data)
            blocks = TieBlocks.from_samples(terms, np.zeros_like(terms), data.sample_weight, keep_samples=True)
            return of_samples(risk, blocks, level, sampling)
        if kind != "bootstrap":
            return begin(metric, data, level, value, sampling)
        samples = data._kept
        return confidence_interval(
            metric,
            samples.loss,
            data.score[samples.block],
            level=level,
            method="percentile",
            sample_weight=samples.sample_weight,
            clusters=sampling.clusters,
            n_resamples=n_resamples,
        )
    except ValueError as why_not:  # such as a group of a single cluster
        return f"no interval: {why_not}"
