"""``evaluate``: every metric for every score, on all samples and within groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Unpack

import numpy as np

from abstain import scores as scores_
from abstain._checks import one_of, whole
from abstain._classes import ROUNDING
from abstain._typing import NanPolicy, Options, Source
from abstain.blocks import TieBlocks
from abstain.evaluation._counted import counted, refuse_rows
from abstain.evaluation._few_labels import METRICS as FEW_LABELS_METRICS
from abstain.evaluation._few_labels import measured_pool, pool_rows, refuse_with_plan
from abstain.evaluation._measure import Rows, choose, measured_rows
from abstain.evaluation._provenance import Provenance
from abstain.evaluation._result import Evaluation, Measurement, ScoreSummary
from abstain.evaluation._sources import Groups, check_names, named_groups, rows_of_outputs
from abstain.inference import check_level
from abstain.metrics import Metric
from abstain.outputs import ColumnsOrArrays, Outputs, parts_of

if TYPE_CHECKING:
    from abstain.pool import LabelPlan


def evaluate(
    outputs: Source = None,
    scores: str | Sequence[str] | None = None,
    metrics: str | Metric | Iterable[str | Metric] = "default",
    *,
    fit: Outputs | None = None,
    groups: Groups = None,
    nan_policy: NanPolicy = "raise",
    level: float | None = 0.95,
    n_resamples: int = 0,
    plan: LabelPlan | None = None,
    target: Literal["pool", "population"] = "pool",
    labelled: Literal["at random"] | None = None,
    unseen: Literal["random", "top"] | None = None,
    **columns: Unpack[ColumnsOrArrays],
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
    unseen : {"random", "top"}, optional
        Where an error may lie that the rows do not show, for which intervals have room: as likely at one row as at
        another, or among the most confident rows, where it counts most; see :func:`confidence_interval`. Default:
        ``"top"`` for few labels, else ``"random"``.
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
        options = {"fit": fit, "groups": groups, "nan_policy": nan_policy, "level": level, "n_resamples": n_resamples,
                   "unseen": unseen}  # fmt: skip
        return _of_models(outputs, scores, metrics, options | columns)
    check_names(scores, groups, metrics)
    if not (isinstance(n_resamples, int | np.integer) and n_resamples == 0):
        n_resamples = whole(n_resamples, "n_resamples", least=2, usual=1000)
    one_of(target, ("pool", "population"), "target")
    if unseen is not None:
        one_of(unseen, ("random", "top"), "unseen")
    one_of(nan_policy, ("raise", "reject", "drop"), "nan_policy")
    level = None if level is None else check_level(level)
    default = isinstance(metrics, str) and metrics == "default"
    few_labels = plan is not None or labelled is not None or target != "pool"
    source = None if few_labels else parts_of(outputs)
    if few_labels:
        without = {"fit": fit, "groups": groups, "n_resamples": n_resamples or None}
        refuse_with_plan(without, "plan= or labelled=", "evaluate")
        rows = pool_rows(outputs, scores, columns, plan, target, labelled, level, nan_policy)
        metrics = FEW_LABELS_METRICS if default else metrics
    elif source is not None:
        refuse_rows(fit, n_resamples)
        rows = counted(source, scores, groups, columns, nan_policy, level)
    else:
        rows = rows_of_outputs(
            outputs,
            scores,
            groups,
            columns,
            fit=fit,
            nan_policy=nan_policy,
            level=level,
            n_resamples=n_resamples,
            alone=scores is None and default,
        )
    chosen, forgiving = choose(metrics, max((float(each.loss.max()) for each in rows.scored), default=1.0))
    if few_labels:
        found, summary, labels = measured_pool(rows.scored[0], chosen, forgiving, level, plan, target, unseen or "top")
        return Evaluation(tuple(found), (summary,), replace(rows.facts, few_labels=labels))
    found, summaries = measured_rows(rows, chosen, forgiving, nan_policy, level, n_resamples, top=unseen == "top")
    clipped: dict[str, float] = {}
    if any("unit_score" in metric.needs for metric in chosen):
        clipped = {each.name: each.beyond for each in rows.scored if 0.0 < each.beyond <= ROUNDING}
    copies = _copies(rows, [each.curve.blocks for each in summaries if each.group is None])
    facts = replace(rows.facts, clipped=clipped, copied_rows=copies, unseen=unseen)
    return Evaluation(tuple(found), tuple(summaries), facts)


def _of_models(
    models: Mapping[str, Outputs],
    scores: str | Sequence[str] | None,
    metrics: str | Metric | Iterable[str | Metric],
    options: Options,
) -> Evaluation:
    """Return one evaluation of several models: a score of it is a model with its score."""
    other = next((each for each in models.values() if not isinstance(each, Outputs)), None)
    if other is not None:
        raise TypeError(f"several models are a dict of name -> Outputs, got {type(other).__name__}; read_outputs(...)")
    several = scores is not None and not isinstance(scores, str) and len(list(scores)) > 1
    measurements: list[Measurement] = []
    summaries: list[ScoreSummary] = []
    facts: dict[str, Provenance] = {}
    for model, outputs in models.items():
        found = evaluate(outputs, scores, metrics, **options)
        names = {score: f"{model} {score}" if several else str(model) for score in found.scores}
        measurements += [replace(entry, score=names[entry.score]) for entry in found.measurements]
        summaries += [replace(entry, score=names[entry.score]) for entry in found.summaries]
        facts[str(model)] = found.provenance
    first = next(iter(facts.values()))
    together = Provenance(
        nan_policy=first.nan_policy,
        level=first.level,
        n_resamples=first.n_resamples,
        unseen=first.unseen,
        same_samples=_same_samples(models) and all(each.same_samples for each in facts.values()),
        models=facts,
    )
    order = {name: place for place, name in enumerate(dict.fromkeys(entry.score for entry in measurements))}
    groups = list(dict.fromkeys(entry.group for entry in measurements))
    measurements.sort(key=lambda entry: (groups.index(entry.group), order[entry.score]))
    return Evaluation(tuple(measurements), tuple(summaries), together)


def _same_samples(models: Mapping[str, Outputs]) -> bool:
    """Whether several models are judged on the same samples, as far as ids and labels show."""
    first, *others = models.values()
    pairs = [(getattr(first, field), getattr(each, field)) for each in others for field in ("ids", "labels")]
    same = all(one is None or two is None or np.array_equal(one, two) for one, two in pairs)
    return same and all(each.n == first.n for each in others)


def _copies(rows: Rows, tables: list[TieBlocks]) -> str | None:
    """Return what to say of rows that are copies of others in all that is known of them."""
    tied = [each for each in tables if each.binary and each.largest_tie > 1]
    if not tied or not rows.columns:
        return None
    from abstain.thresholds import copied_rows

    return copied_rows(tied, list(rows.columns))
