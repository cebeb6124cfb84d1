"""One score on some rows: its table, every metric with its interval, and what the score looks like."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from abstain import scores as scores_
from abstain._checks import UnmetNeed
from abstain._typing import FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.evaluation._notes import BIASED, NEEDS_BOOTSTRAP
from abstain.evaluation._result import Measurement, ScoreSummary
from abstain.inference import Interval, Sampling, Spread, as_risk, begin, codes, finish, of_coverage, of_samples
from abstain.metrics import Metric, Predictions
from abstain.outputs import Outputs


@dataclass(frozen=True, eq=False)
class Scored:
    """A score on rows of outputs, with the losses and probabilities of the predictions that it is about."""

    name: str
    column: FloatArray
    loss: FloatArray
    judged: Outputs | None
    probabilities: Predictions | None
    sample_weight: FloatArray | None
    clusters: Any
    #: of rows that an engine counted, how many equal ones each stands for
    times: FloatArray | None = None

    @classmethod
    def of(cls, outputs: Outputs, name: str, fit: Outputs | None, metrics: list[Metric]) -> Scored:
        """Compute a score of all rows."""
        column, judged = scores_.compute(name, outputs, fit), scores_.judged(name, outputs)
        weight = None if outputs.sample_weight is None else np.asarray(outputs.sample_weight)
        clusters = None if outputs.clusters is None else codes(outputs.clusters, "clusters", outputs.n)
        return cls(name, column, judged.loss_per_sample(), judged, _probabilities(judged, metrics), weight, clusters)

    def on(self, rows: Any) -> Scored:
        """Return the same on some of its rows."""
        kept = (self.sample_weight, self.clusters, self.times)
        weight, clusters, times = (None if each is None else each[rows] for each in kept)
        vectors = None if self.probabilities is None else _rows(self.probabilities, rows)
        return replace(
            self, column=self.column[rows], loss=self.loss[rows], probabilities=vectors, sample_weight=weight,
            clusters=clusters, times=times,
        )  # fmt: skip

    @property
    def beyond(self) -> float:
        """How far the score lies outside [0, 1], at most."""
        most, least = (float(each.reduce(self.column, initial=np.nan)) for each in (np.fmax, np.fmin))
        return max(most - 1.0, -least, 0.0) if most == most else 0.0


#: A group column with more values than this is refused: it is an identifier or a measured quantity.
MOST_GROUPS = 1000


def measured_parts(
    parts: Iterable[tuple[str | None, list[Scored], int]],
    metrics: list[Metric],
    forgiving: bool,
    nan_policy: NanPolicy,
    level: float | None,
    n_resamples: int,
) -> tuple[list[Measurement], list[ScoreSummary]]:
    """Return every metric of every score, on all rows and then by group.

    ``parts``: the group, None for all rows; the scores on its rows; and how many groups its column has.
    """
    measurements: list[Measurement] = []
    summaries: list[ScoreSummary] = []
    unmet: dict[str, list[UnmetNeed]] = {}
    for group, every, beside in parts:
        each_level = None if level is None else 1.0 - (1.0 - level) / beside
        for scored in every:
            found, summary = measured(scored, group, metrics, unmet, nan_policy, each_level, n_resamples)
            measurements += found
            summaries += [] if summary is None else [summary]
        for needs in unmet.values() if group is None and not forgiving else ():
            if len(needs) == len(every):  # no score allows it; for some, the table shows a dash and a note says why
                raise needs[0]
    return measurements, summaries


def measured(
    scored: Scored,
    group: str | None,
    metrics: list[Metric],
    unmet: dict[str, list[UnmetNeed]],
    nan_policy: NanPolicy,
    level: float | None,
    n_resamples: int,
) -> tuple[list[Measurement], ScoreSummary | None]:
    """Return every metric of a score on its rows, and what it looks like there; nothing where no row counts."""
    if group is not None and _nothing_counts(scored.column, scored.sample_weight, nan_policy):
        return [_nothing(metric, scored.name, group) for metric in metrics], None
    blocks = _table(scored, nan_policy, level is not None)
    kept = ~np.isnan(scored.column) if nan_policy == "drop" else slice(None)
    in_table = None if scored.clusters is None else scored.clusters[kept]
    result: list[Measurement] = []
    spreads: dict[int, Spread] = {}
    for metric in metrics:
        data: TieBlocks | Predictions | None = blocks
        clusters = in_table
        if metric.input == "probabilities":  # do not depend on the score, so nothing is dropped
            data, clusters = scored.probabilities, scored.clusters
        found = _measure(metric, data, scored.name, group, unmet)
        if level is not None and data is not None and found.reason is None:
            interval = _interval(found, metric, data, level, clusters, n_resamples)
            if isinstance(interval, Spread):
                spreads[len(result)] = interval
            else:
                found = replace(found, **interval)
        result.append(found)
    if level is not None and spreads:
        finished = finish(list(spreads.values()), blocks, level, Sampling(None, in_table))
        for k, each in zip(spreads, finished, strict=True):
            result[k] = replace(result[k], **_said(each))
    return result, _summary(scored.name, group, blocks)


def _nothing_counts(column: FloatArray, weights: FloatArray | None, nan_policy: NanPolicy) -> bool:
    """Whether no sample has a positive weight and, where samples without a score are dropped, a score."""
    counts = np.ones(len(column), dtype=bool) if weights is None else weights > 0.0
    return not np.any(counts & ~np.isnan(column) if nan_policy == "drop" else counts)


def _nothing(metric: Metric, score: str, group: str) -> Measurement:
    why = "no sample of the group has a score and a positive weight"
    return Measurement(score, group, metric.label, metric.spec, metric.identifier, metric.direction, float("nan"), why)


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


def _probabilities(outputs: Outputs, metrics: list[Metric]) -> Predictions | None:
    if all(metric.input == "blocks" for metric in metrics) or outputs.labels is None:
        return None
    if outputs.logits is None and outputs.probabilities is None:
        return None
    probabilities = np.exp(outputs.log_probabilities())
    weights = None if outputs.sample_weight is None else np.asarray(outputs.sample_weight)
    return Predictions(np.asarray(outputs.labels), probabilities, None, weights)


def _rows(data: Predictions, rows: Any) -> Predictions:
    weight = None if data.sample_weight is None else data.sample_weight[rows]
    return Predictions(data.labels[rows], data.probabilities[rows], None, weight)


def _summary(name: str, group: str | None, blocks: TieBlocks) -> ScoreSummary:
    return ScoreSummary(
        score=name,
        group=group,
        n=blocks.n,
        n_rejected=blocks.n_rejected,
        n_dropped=blocks.n_dropped,
        weight_sum=blocks.total_weight,
        distinct_share=blocks.distinct_share,
        largest_tie=blocks.largest_tie,
        curve=RiskCoverageCurve(blocks),
    )


def _measure(
    metric: Metric,
    data: TieBlocks | Predictions | None,
    score: str,
    group: str | None,
    unmet: dict[str, list[UnmetNeed]],
) -> Measurement:
    """Return the value, or why there is none; what all samples lack is added to ``unmet``, by metric."""
    try:
        if data is None:
            raise UnmetNeed(f"{metric.name} needs labels with logits or probabilities")
        value, reason = metric.evaluate(data)
    except UnmetNeed as need:
        if group is None:
            unmet.setdefault(metric.spec, []).append(need)
        value, reason = np.nan, str(need)
    return Measurement(score, group, metric.label, metric.spec, metric.identifier, metric.direction, value, reason)


def _interval(
    found: Measurement, metric: Metric, data: TieBlocks | Predictions, level: float, clusters: Any, n_resamples: int
) -> dict[str, Any] | Spread:
    """Return the confidence interval, or the reason why there is none; or the spread from which it follows."""
    kind = metric.inference_kind
    if kind == "none":
        return {"warning": BIASED}
    exact = of_coverage(metric, data, level, found.value) if isinstance(data, TieBlocks) and clusters is None else None
    if exact is not None:
        return {"low": exact.low, "high": exact.high, "method": exact.method}
    if kind == "bootstrap" and n_resamples == 0:
        return {"warning": NEEDS_BOOTSTRAP}
    if kind == "bootstrap" and isinstance(data, Predictions):
        return {"warning": "no interval: the bootstrap does not resample probabilities"}
    sampling = Sampling(None, clusters)
    try:
        if isinstance(data, Predictions):
            return _said(of_samples(*_on_table(metric, data), level, sampling))
        if kind == "bootstrap":
            return _said(_resampled(metric, data, level, clusters, n_resamples))
        begun = begin(metric, data, level, found.value, sampling)
        return begun if isinstance(begun, Spread) else _said(begun)
    except ValueError as why_not:  # such as a group of a single cluster
        return {"warning": f"no interval: {why_not}"}


def _said(interval: Interval) -> dict[str, Any]:
    """Return what a measurement says of an interval."""
    kept = ("low", "high", "method", "warning", "standard_error")
    return {name: getattr(interval, name) for name in kept}


def _on_table(metric: Metric, data: Predictions) -> tuple[Metric, TieBlocks]:
    """Return a mean over predictions as a metric with a table of its own."""
    risk, terms = as_risk(metric, data)
    return risk, TieBlocks.from_samples(terms, np.zeros_like(terms), data.sample_weight, keep_samples=True)


def _resampled(metric: Metric, blocks: TieBlocks, level: float, clusters: Any, n_resamples: int) -> Interval:
    """Return a percentile interval from resampling the samples that the table kept."""
    from abstain.inference import confidence_interval

    samples = blocks.samples
    assert samples is not None
    return confidence_interval(
        metric, samples.loss, blocks.score[samples.block], level=level, method="percentile",
        sample_weight=samples.sample_weight, clusters=clusters, n_resamples=n_resamples,
    )  # fmt: skip
