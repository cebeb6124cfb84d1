"""``evaluate``: every metric for every score, on all samples and within groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from abstain import metrics as metrics_
from abstain import scores as scores_
from abstain._checks import UnmetNeed, closest, one_of, whole
from abstain._classes import ROUNDING
from abstain._typing import BoolArray, FloatArray, NanPolicy
from abstain._version import __version__
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.evaluation import _answers, _planned
from abstain.evaluation._entry import check_names, same_samples
from abstain.evaluation._notes import BIASED, NEEDS_BOOTSTRAP
from abstain.evaluation._result import Evaluation, Measurement, ScoreSummary
from abstain.inference import Interval, as_risk, check_level, confidence_interval, of_coverage, of_samples
from abstain.metrics import Metric, Predictions
from abstain.outputs import Outputs, expect

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


def evaluate(
    outputs: Any = None,
    scores: str | Sequence[str] | None = None,
    metrics: str | Metric | Iterable[str | Metric] = "default",
    *,
    fit: Outputs | None = None,
    groups: str | Sequence[str] | Mapping[str, Any] | None = None,
    nan_policy: NanPolicy = "raise",
    level: float | None = 0.95,
    n_resamples: int = 0,
    plan: Any = None,
    target: Literal["pool", "population"] = "pool",
    labelled: Literal["at random"] | None = None,
    **columns: Any,
) -> Evaluation:
    """Evaluate the reject option of saved outputs: every metric for every score, on all samples and by group.

    Parameters
    ----------
    outputs : Outputs, path, data frame, or dict of str to Outputs
        One model's outputs on one split, or what :func:`read_outputs` reads them from; nothing where ``columns`` are
        arrays. Several models by name: one table of models and scores.
    scores : str or list of str, optional
        Confidence scores by name; default the given confidence, else the maximum softmax probability.
    metrics : "default", "all", or specs
        ``"default"``: few and well chosen. ``"all"``: everything registered; what the data do not allow is
        listed with its reason. Or metrics by name, with options: ``["aurc", "coverage_at_risk(risk=0.01)"]``.
    fit : Outputs, optional
        Other outputs of the model, to fit scores on that need it, such as ``knn`` and ``klm``.
    groups : str or list of str, or dict, optional
        Names of group columns: every metric also within each group. With arrays: the columns by name.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means.
    level : float in (0, 1), optional
        Of the confidence intervals; None: none. Weights count as fixed, ``outputs.clusters`` as dependent samples.
    n_resamples : int
        Bootstrap resamples for metrics that need them (such as coverage at a risk); 0: these get no interval.
    plan : LabelPlan, optional
        Only the rows of this plan are labelled (:func:`plan_labels`), the scores of all are known. A label that is NaN
        or null is one that is missing; labels outside the plan are not used. One score, 0/1 losses, no weights.
    target : {"pool", "population"}
        With a plan: whether intervals are about these rows, or about what they were drawn from.
    labelled : {"at random"}, optional
        Instead of a plan: every row had the same chance to be labelled.
    **columns
        Of a path or frame: which column is what, as in :func:`read_outputs` (``labels="y"``). Without one: the arrays
        themselves (``labels=y, probabilities=p``).

    Returns
    -------
    Evaluation

    Raises
    ------
    UnmetNeed
        A metric asked for by name needs what the outputs do not hold, for no score. One that some scores allow has
        no value for the others, and the reason.
    ValueError, TypeError
        Unknown names; bad columns.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("cifar10_vgg16")
    >>> result = abstain.evaluate(outputs, scores=["msp", "neg_entropy"])
    >>> round(result.value("augrc", score="neg_entropy"), 5)
    0.00597
    >>> y, p = [0, 1, 1, 0], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]]
    >>> abstain.evaluate(labels=y, probabilities=p, metrics="augrc").value("augrc")
    0.03125
    """
    if isinstance(outputs, Mapping) and any(isinstance(each, Outputs) for each in outputs.values()):
        options = {"fit": fit, "groups": groups, "nan_policy": nan_policy, "level": level, "n_resamples": n_resamples}
        return _models(outputs, scores, metrics, options | columns)
    check_names(scores, groups, metrics)
    if not (isinstance(n_resamples, int | np.integer) and n_resamples == 0):
        n_resamples = whole(n_resamples, "n_resamples", least=2, usual=1000)
    one_of(target, ("pool", "population"), "target")
    if plan is not None or labelled is not None or target != "pool":
        _planned.alone(fit=fit, groups=groups, n_resamples=n_resamples or None)
        wanted = _choose(_planned.METRICS if str(metrics) == "default" else metrics, 1.0)
        few = {"plan": plan, "target": target, "labelled": labelled, "level": level, "nan_policy": nan_policy}
        return _planned.planned(outputs, scores, *wanted, columns, **few)
    outputs, groups = _planned.read(outputs, scores, groups, columns)
    if fit is not None:
        expect(fit, "fit")
    one_of(nan_policy, ("raise", "reject", "drop"), "nan_policy")
    if level is not None:
        check_level(level)
    names = [scores] if isinstance(scores, str) else list(scores or [scores_.default(outputs)])
    chosen, forgiving = _choose(metrics, outputs.loss_per_sample())
    columns = {name: scores_.compute(name, outputs, fit) for name in names}
    judged = {name: scores_.judged(name, outputs) for name in names}
    losses = {name: each.loss_per_sample() for name, each in judged.items()}
    probabilities = {name: _probabilities(each, chosen) for name, each in judged.items()}
    measurements: list[Measurement] = []
    summaries: list[ScoreSummary] = []
    unmet: dict[str, list[UnmetNeed]] = {}
    everything: tuple[None, Any] = None, slice(None)
    for group, rows in (everything, *_groups(outputs, groups)):
        weights = None if outputs.sample_weight is None else np.asarray(outputs.sample_weight)[rows]
        for name, column in columns.items():
            if group is not None and _nothing_counts(column[rows], weights, nan_policy):
                measurements += [_nothing(metric, name, group) for metric in chosen]
                continue
            blocks = _table(name, losses[name][rows], column[rows], weights, nan_policy, level is not None)
            summaries.append(_summary(name, group, blocks))
            clusters = None if outputs.clusters is None else np.asarray(outputs.clusters)[rows]
            scored = ~np.isnan(column[rows]) if nan_policy == "drop" else slice(None)
            for metric in chosen:
                data: TieBlocks | Predictions | None = blocks
                members = None if clusters is None else clusters[scored]
                if metric.input == "probabilities":  # do not depend on the score, so nothing is dropped
                    whole_vectors = probabilities[name]
                    data, members = None if whole_vectors is None else _rows(whole_vectors, rows), clusters
                found = _measure(metric, data, name, group, unmet)
                if level is not None and data is not None and found.reason is None:
                    found = _with_interval(found, metric, data, level, members, n_resamples)
                measurements.append(found)
        for needs in unmet.values() if group is None and not forgiving else ():
            if len(needs) == len(columns):  # no score allows it; for some, the table shows a dash and a note says why
                raise needs[0]
    provenance = _provenance(outputs, fit, nan_policy, level, n_resamples)
    provenance["understood"] = outputs.understood(names[0] if scores is None else "")
    if outputs.origin is not None:
        provenance["origin"] = list(outputs.origin.notes)
    if outputs.states is not None:
        provenance["answers"] = _answers.summary(outputs.states, level)
    provenance["clipped"] = {
        name: float(beyond.max())
        for name, column in columns.items()
        if any("unit_score" in metric.needs for metric in chosen)
        and 0.0 < (beyond := np.fmax(column - 1.0, -column)[~np.isnan(column)]).max(initial=0.0) <= ROUNDING
    }
    provenance["same_samples"] = nan_policy != "drop" or _alike(columns.values())
    others = {name: int((losses[name] != outputs.loss_per_sample()).sum()) for name in names}
    if any(each is not outputs for each in judged.values()):
        provenance["judged_by_passes"] = {name: others[name] for name in names if judged[name] is not outputs}
    return Evaluation(tuple(measurements), tuple(summaries), provenance)


def _models(models: Mapping[str, Outputs], scores: Any, metrics: Any, options: dict[str, Any]) -> Evaluation:
    """Return one evaluation of several models: a score of it is a model with its score."""
    other = next((each for each in models.values() if not isinstance(each, Outputs)), None)
    if other is not None:
        raise TypeError(f"several models are a dict of name -> Outputs, got {type(other).__name__}; read_outputs(...)")
    several = scores is not None and not isinstance(scores, str) and len(list(scores)) > 1
    measurements: list[Measurement] = []
    summaries: list[ScoreSummary] = []
    facts: dict[str, Any] = {}
    for model, outputs in models.items():
        found = evaluate(outputs, scores, metrics, **options)
        names = {score: f"{model} {score}" if several else str(model) for score in found.scores}
        measurements += [replace(entry, score=names[entry.score]) for entry in found.measurements]
        summaries += [replace(entry, score=names[entry.score]) for entry in found.summaries]
        facts[str(model)] = found.provenance
    first = next(iter(facts.values()))
    same = same_samples(models) and all(each["same_samples"] for each in facts.values())
    keys = ("level", "n_resamples", "nan_policy", "abstain", "numpy", "python")
    shared = {key: first[key] for key in keys} | {"same_samples": same, "models": facts}
    order = {name: place for place, name in enumerate(dict.fromkeys(entry.score for entry in measurements))}
    groups = list(dict.fromkeys(entry.group for entry in measurements))
    measurements.sort(key=lambda entry: (groups.index(entry.group), order[entry.score]))
    return Evaluation(tuple(measurements), tuple(summaries), shared)


def _choose(metrics: str | Metric | Iterable[str | Metric], loss: Any) -> tuple[list[Metric], bool]:
    """Return the metrics, and whether one that the data do not allow is listed instead of raised."""
    if isinstance(metrics, str) and metrics == "default":
        chosen = [metrics_.parse(spec) for spec in DEFAULT_METRICS]
        if np.max(loss) > 1.0:
            chosen[0] = metrics_.get("risk")
        return chosen, True
    if isinstance(metrics, str) and metrics == "all":
        defaults = [metrics_.parse(spec) for spec in DEFAULT_METRICS]
        shown = {metric.spec for metric in defaults}
        rest = [metrics_.get(name) for name in metrics_.names("blocks", "probabilities")]
        return defaults + [metric for metric in rest if metric.spec not in shown], True
    if isinstance(metrics, str | Metric):
        metrics = [metrics]
    found: list[Metric] = []
    for entry in metrics:
        if not isinstance(entry, str | Metric):
            raise TypeError(f"metrics must be names or Metric objects, got {entry!r} of type {type(entry).__name__}")
        found += metrics_.parse_list(entry) if isinstance(entry, str) else [entry]
    if not found:
        raise ValueError("metrics is empty; give names, 'default' or 'all'")
    return list({metric.spec: metric for metric in found}.values()), False


def _groups(outputs: Outputs, names: str | Sequence[str] | None) -> Iterator[tuple[str, BoolArray]]:
    """Yield each group as "column = value", with its rows."""
    seen: set[str] = set()
    for name in dict.fromkeys([names] if isinstance(names, str) else names or []):
        groups = outputs.groups or {}
        if name not in groups:
            remedy = closest(name, groups) if groups else "these outputs have no groups; give Outputs(groups={...})"
            raise ValueError(f"groups={name!r} is no group column; {remedy}")
        values, which = np.unique(np.asarray(groups[name]), return_inverse=True)
        if len(values) > MOST_GROUPS:
            raise ValueError(
                f"groups={name!r} has {len(values)} distinct values, more than {MOST_GROUPS}; "
                "give a column with fewer, for example intervals of a measured quantity"
            )
        for k, value in enumerate(values):
            label = f"{name} = {value}"
            if label in seen:  # column "a" with value "b = c" beside column "a = b" with value "c"
                label = f"{name!r} = {str(value)!r}"
            seen.add(label)
            yield label, which == k


def _alike(columns: Iterable[FloatArray]) -> bool:
    """Whether all scores are missing on the same samples."""
    first, *others = (np.isnan(column) for column in columns)
    return all(np.array_equal(first, other) for other in others)


def _nothing_counts(column: FloatArray, weights: FloatArray | None, nan_policy: NanPolicy) -> bool:
    """Whether no sample has a positive weight and, where samples without a score are dropped, a score."""
    counts = np.ones(len(column), dtype=bool) if weights is None else weights > 0.0
    return not np.any(counts & ~np.isnan(column) if nan_policy == "drop" else counts)


def _nothing(metric: Metric, score: str, group: str) -> Measurement:
    why = "no sample of the group has a score and a positive weight"
    return Measurement(score, group, metric.label, metric.spec, metric.identifier, metric.direction, float("nan"), why)


def _table(
    name: str, loss: FloatArray, column: FloatArray, weights: FloatArray | None, nan_policy: NanPolicy, keep: bool
) -> TieBlocks:
    try:
        return TieBlocks.from_samples(loss, column, weights, nan_policy=nan_policy, oracle=True, keep_samples=keep)
    except ValueError as error:
        raise ValueError(f"score {name!r}: {error}") from None


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


def _with_interval(
    found: Measurement, metric: Metric, data: TieBlocks | Predictions, level: float, clusters: Any, n_resamples: int
) -> Measurement:
    """Return the measurement with its confidence interval, or with the reason why it has none."""
    kind = metric.inference_kind
    if kind == "none":
        return replace(found, warning=BIASED)
    exact = of_coverage(metric, data, level) if isinstance(data, TieBlocks) and clusters is None else None
    if exact is not None:
        return replace(found, low=exact.low, high=exact.high, method=exact.method)
    if kind == "bootstrap" and n_resamples == 0:
        return replace(found, warning=NEEDS_BOOTSTRAP)
    if kind == "bootstrap" and isinstance(data, Predictions):
        return replace(found, warning="no interval: the bootstrap does not resample probabilities")
    try:
        if isinstance(data, TieBlocks) and kind == "bootstrap":
            interval = _resampled(metric, data, level, clusters, n_resamples)
        else:
            interval = of_samples(*_on_table(metric, data), level, clusters=clusters)
    except ValueError as why_not:  # such as a group of a single cluster
        return replace(found, warning=f"no interval: {why_not}")
    return replace(
        found, low=interval.low, high=interval.high, method=interval.method, warning=interval.warning,
        standard_error=interval.standard_error,
    )  # fmt: skip


def _on_table(metric: Metric, data: TieBlocks | Predictions) -> tuple[Metric, TieBlocks]:
    """Return the metric with its table; a mean over predictions has one of its own."""
    if isinstance(data, TieBlocks):
        return metric, data
    risk, terms = as_risk(metric, data)
    return risk, TieBlocks.from_samples(terms, np.zeros_like(terms), data.sample_weight, keep_samples=True)


def _resampled(metric: Metric, blocks: TieBlocks, level: float, clusters: Any, n_resamples: int) -> Interval:
    """Return a percentile interval from resampling the samples that the table kept."""
    samples = blocks.samples
    assert samples is not None
    return confidence_interval(
        metric, samples.loss, blocks.score[samples.block], level=level, method="percentile",
        sample_weight=samples.weight, clusters=clusters, n_resamples=n_resamples,
    )  # fmt: skip


def _provenance(
    outputs: Outputs, fit: Outputs | None, nan_policy: NanPolicy, level: float | None, n_resamples: int
) -> dict[str, Any]:
    import platform

    loss = outputs.loss_per_sample()
    return {
        "fingerprint": outputs.fingerprint,
        "n": outputs.n,
        "mean_loss": float(np.average(loss, weights=outputs.sample_weight)),
        "binary_loss": bool(np.all((loss == 0.0) | (loss == 1.0))),
        "weighted": outputs.sample_weight is not None,
        "nan_policy": nan_policy,
        "level": level,
        "n_resamples": n_resamples,
        "fit": None if fit is None else fit.fingerprint,
        "abstain": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
