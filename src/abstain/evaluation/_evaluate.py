"""``evaluate``: every metric for every score, on all samples and within groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from abstain import scores as scores_
from abstain._checks import UnmetNeed, closest, one_of, whole
from abstain._classes import ROUNDING
from abstain._typing import BoolArray, FloatArray, NanPolicy
from abstain.blocks import TieBlocks
from abstain.evaluation import _answers, _planned
from abstain.evaluation._chosen import choose
from abstain.evaluation._entry import check_names, named_groups, same_samples
from abstain.evaluation._measure import MOST_GROUPS, Scored, measured_parts
from abstain.evaluation._provenance import provenance
from abstain.evaluation._result import Evaluation, Measurement, ScoreSummary
from abstain.inference import check_level
from abstain.metrics import Metric
from abstain.outputs import Outputs, expect, parts_of


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
        arrays. Several models by name: one table of models and scores. A lazy frame (of polars, DuckDB, Spark, Dask)
        is counted by its engine, see the notes.
    scores : str or list of str, optional
        Confidence scores by name, also in one text by commas; default the given confidence, else the maximum softmax
        probability.
    metrics : "default", "all", or specs
        ``"default"``: few and well chosen. ``"all"``: everything registered; what the data do not allow is
        listed with its reason. Or metrics by name, with options: ``["aurc", "coverage_at_risk(risk=0.01)"]``.
    fit : Outputs, optional
        Other outputs of the model, to fit scores on that need it, such as ``knn`` and ``klm``.
    groups : str or list of str, or dict, optional
        Names of group columns: every metric also within each group. With arrays: the columns by name. Intervals of
        the G groups of a column hold together, each at 1 - (1 - level)/G; pairs:
        :func:`abstain.inference.compare_groups`.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means; rows of a file, frame or arrays that lack a logit, probability or feature are left out
        with ``"drop"``, and errors otherwise.
    level : float in (0, 1), optional
        Of the confidence intervals; None or 0: none. Weights count as fixed, ``outputs.clusters`` as dependent samples.
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

    Notes
    -----
    Of a lazy frame only counts come back: one ``group_by`` over score, loss, weight, groups and cluster says how often
    each different row occurs, from which every value and interval follows as from the rows themselves. Several scores
    share the scan. What the columns are is understood from the first 10,000 rows. Engines compute ``msp``,
    ``softmax_margin``, ``neg_entropy`` and ``neg_gini`` from columns of probabilities. A bootstrap, other computed
    scores and metrics of whole probability vectors need the rows, and are refused; more than 20 million different rows
    are no summary, and are refused as well.

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
    if isinstance(scores, str) and "," in scores:
        scores = scores_.parse_list(scores)
    groups = named_groups(outputs, groups)
    if isinstance(level, int | float) and not isinstance(level, bool) and level == 0:
        level = None  # as on the command line
    if isinstance(outputs, Mapping) and any(isinstance(each, Outputs) for each in outputs.values()):
        options = {"fit": fit, "groups": groups, "nan_policy": nan_policy, "level": level, "n_resamples": n_resamples}
        return _models(outputs, scores, metrics, options | columns)
    check_names(scores, groups, metrics)
    if not (isinstance(n_resamples, int | np.integer) and n_resamples == 0):
        n_resamples = whole(n_resamples, "n_resamples", least=2, usual=1000)
    one_of(target, ("pool", "population"), "target")
    if plan is not None or labelled is not None or target != "pool":
        _planned.alone(fit=fit, groups=groups, n_resamples=n_resamples or None)
        wanted = choose(_planned.METRICS if str(metrics) == "default" else metrics, 1.0)
        few = {"plan": plan, "target": target, "labelled": labelled, "level": level, "nan_policy": nan_policy}
        return _planned.planned(outputs, scores, *wanted, columns, **few)
    one_of(nan_policy, ("raise", "reject", "drop"), "nan_policy")
    if level is not None:
        level = check_level(level)
    source = parts_of(outputs)
    if source is not None:
        from abstain.evaluation._scanned import refuse_rows, scanned

        refuse_rows(fit, n_resamples)
        return scanned(source, scores, metrics, groups, columns, nan_policy, level)
    outputs, groups = _planned.read(outputs, scores, groups, columns, nan_policy)
    if fit is not None:
        expect(fit, "fit")
    alone = scores is None and groups == [] and isinstance(metrics, str) and metrics == "default"
    names, unsure = _names_of(scores, outputs, alone)
    chosen, forgiving = choose(metrics, outputs.loss_per_sample())
    every = [Scored.of(outputs, name, fit, chosen) for name in dict.fromkeys(names)]
    everything: tuple[None, Any, int] = None, slice(None), 1
    parts = ((group, [each.on(rows) for each in every], beside)
             for group, rows, beside in (everything, *_groups(outputs, groups)))  # fmt: skip
    measurements, summaries = measured_parts(parts, chosen, forgiving, nan_policy, level, n_resamples)
    provenance = _provenance(outputs, fit, nan_policy, level, n_resamples)
    provenance["understood"] = outputs.understood(names[0] if scores is None and names else "")
    provenance |= _circumstances(outputs, every, chosen, provenance) | ({"no_score": unsure} if unsure else {})
    tables = [each.curve.blocks for each in summaries if each.group is None]
    provenance |= _copies(outputs, every, tables)
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


def _names_of(scores: str | Sequence[str] | None, outputs: Outputs, alone: bool) -> tuple[list[str], str]:
    """Return the names of the scores; none, and why, where what became of the answers can be told all the same."""
    given = [scores] if isinstance(scores, str) else list(scores or [])
    if given:
        return given, ""
    try:
        return [scores_.default(outputs)], ""
    except UnmetNeed as need:
        if not alone or outputs.states is None:
            raise
        return [], str(need)


def _groups(outputs: Outputs, names: str | Sequence[str] | None) -> Iterator[tuple[str, BoolArray, int]]:
    """Yield each group as "column = value", with its rows and the number of groups of its column."""
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
            yield label, which == k, len(values)


def _alike(columns: Iterable[FloatArray]) -> bool:
    """Whether all scores are missing on the same samples."""
    missing = [np.isnan(column) for column in columns]
    return all(np.array_equal(missing[0], other) for other in missing[1:])


def _circumstances(
    outputs: Outputs, scores: list[Scored], metrics: list[Metric], how: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a reader must know of these outputs and scores: where they are from, and what was done to them."""
    found: dict[str, Any] = {} if outputs.reading is None else {"origin": list(outputs.reading.notes)}
    if outputs.states is not None:
        found["answers"] = _answers.summary(outputs.states, how["level"])
    reads_unit = any("unit_score" in metric.needs for metric in metrics)
    beyond = {each.name: each.beyond for each in scores if reads_unit}
    found["clipped"] = {name: most for name, most in beyond.items() if 0.0 < most <= ROUNDING}
    found["same_samples"] = how["nan_policy"] != "drop" or _alike([each.column for each in scores])
    if any(each.judged is not outputs for each in scores):
        loss = outputs.loss_per_sample()
        by_passes = {each.name: int((each.loss != loss).sum()) for each in scores if each.judged is not outputs}
        found["judged_by_passes"] = by_passes
    return found


def _copies(outputs: Outputs, scores: list[Scored], tables: list[TieBlocks]) -> dict[str, str]:
    """Return what to say of rows that are copies of others in all that is known of them, but for what they are called.

    Identifiers do not count: who copies rows numbers them anew.
    """
    tied = [each for each in tables if each.binary and each.largest_tie > 1]
    if not tied or outputs.sample_weight is not None or outputs.clusters is not None:
        return {}
    from abstain.thresholds import copied_rows

    known = [outputs.labels, outputs.predictions, outputs.logits, outputs.probabilities, outputs.confidence]
    known += [*(outputs.scores or {}).values(), *(outputs.groups or {}).values(), outputs.features]
    columns = [each for score in scores for each in (score.loss, score.column)]
    said = copied_rows(tied, [*columns, *(each for each in known if each is not None)])
    return {} if said is None else {"copied_rows": said}


def _provenance(
    outputs: Outputs, fit: Outputs | None, nan_policy: NanPolicy, level: float | None, n_resamples: int
) -> dict[str, Any]:
    loss = outputs.loss_per_sample()
    return provenance(
        fingerprint=outputs.fingerprint,
        n=outputs.n,
        mean_loss=float(np.average(loss, weights=outputs.sample_weight)),
        binary_loss=bool(np.all((loss == 0.0) | (loss == 1.0))),
        weighted=outputs.sample_weight is not None,
        clustered=outputs.clusters is not None,
        nan_policy=nan_policy,
        level=level,
        n_resamples=n_resamples,
        fit=None if fit is None else fit.fingerprint,
    )
