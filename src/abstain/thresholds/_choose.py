"""``choose_threshold``: the one question, five objectives, and a promise if one is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from abstain._checks import (
    FRACTION,
    failure_probability,
    flag,
    fraction,
    inside,
    one_of,
    positive,
    real,
)
from abstain._result import among
from abstain._sums import over_rows
from abstain._typing import ArrayLike, FloatArray, NanPolicy
from abstain._version import __version__
from abstain.curve import OperatingPoint, RiskCoverageCurve
from abstain.inference import as_metric, of_samples
from abstain.outputs import refuse_without_frame
from abstain.thresholds._attained import attained, least_risk, rows_needed
from abstain.thresholds._certify import Bound, Found, Procedure, fixed_thresholds, search
from abstain.thresholds._clusters import cluster_means, search_clusters
from abstain.thresholds._copies import warn_of_copies
from abstain.thresholds._intervals import coverage_interval, mean_interval, risk_interval
from abstain.thresholds._points import at_cost, at_trust, curve_of, nearest
from abstain.thresholds._results import CertifiedThreshold, EmpiricalThreshold
from abstain.thresholds._reuse import warn_if_selected
from abstain.thresholds._sample import Sample, largest_loss
from abstain.thresholds._statements import statement
from abstain.thresholds._unusual import warn_of_groups, warn_of_scores

if TYPE_CHECKING:
    from abstain.thresholds._groups import GroupThresholds

Metric = Literal["cwsa", "cwsa_plus"]


def choose_threshold(
    loss: ArrayLike | str | None = None,
    confidence: ArrayLike | str | None = None,
    *,
    frame: Any = None,
    risk: float | None = None,
    coverage: float | None = None,
    capacity: float | tuple[float, float] | None = None,
    cost: tuple[float, float] | None = None,
    metric: Metric | None = None,
    delta: float | None = None,
    procedure: Procedure = "fallback",
    bound: Bound | None = None,
    max_loss: float | None = None,
    sample_weight: ArrayLike | str | None = None,
    max_weight: float | None = None,
    thresholds: ArrayLike | None = None,
    groups: ArrayLike | str | None = None,
    clusters: ArrayLike | str | None = None,
    multiplicity: Literal["all", "each"] = "all",
    answered: bool = False,
    level: float = 0.95,
    nan_policy: NanPolicy = "raise",
    **columns: Any,
) -> EmpiricalThreshold | CertifiedThreshold | GroupThresholds:
    r"""Choose the threshold to deploy from calibration rows; give exactly one objective.

    Parameters
    ----------
    loss, confidence : array-like of shape (n_samples,)
        Loss >= 0 and confidence score of the calibration rows. They must not be the rows on which the result is
        reported, nor rows on which the model was trained.
    frame : lazy frame, pattern or folder of Parquet files, optional
        The rows, of which only counts come back, see the notes. ``loss``, ``confidence``, ``sample_weight``, ``groups``
        and ``clusters`` then name columns, or are found as by :func:`abstain.evaluate`; ``confidence`` may also be a
        score that the engine computes.
    risk : float
        Largest coverage with a selective risk of at most this. With ``delta``: certified.
    delta : float in (0, 1)
        With ``risk``: the promise :math:`P\{R(\hat\tau) > \text{risk}\} \le \delta`.
    coverage : float in [0, 1]
        Smallest attainable coverage that is at least this.
    capacity : float in [0, 1], or (reviews, volume)
        Largest share that reviewers can take; at most that share of the calibration rows is rejected.
    cost : (error, review)
        Costs of a unit of loss and of a review: least expected cost (Chow's rule, from data).
    metric : {"cwsa", "cwsa_plus"}
        Largest CWSA or CWSA+ over all attainable thresholds in [0, 1).
    procedure : {"fallback", "fixed_sequence", "bonferroni", "sgr"}
        How multiplicity is controlled. Choosing it after a look at the data voids the promise; the default was fixed
        by simulation.
    bound : {"binomial", "betting", "hoeffding-bentkus"}, optional
        Default: exact binomial for 0/1 losses without weights, else betting, which tests all thresholds at once.
    max_loss : float
        Largest possible loss; needed for certificates of a loss that is not 0/1. It says that a loss may be graded:
        the test is then betting, even where these rows happen to hold 0 and 1 alone (``bound="binomial"`` insists).
    sample_weight : array-like of shape (n_samples,), optional
        Importance weights (known prevalence, covariate shift): the promise is about the weighted population.
    max_weight : float
        Largest possible weight; needed for certificates with weights.
    thresholds : array-like, optional
        Thresholds fixed before the data were seen, for certificates: one of them is the answer.
    groups : array-like of shape (n_samples,), optional
        One threshold per value: predicted classes, sites, …
    clusters : array-like of shape (n_samples,), optional
        What rows depend on each other: patients, documents, prompts. Certificates are then about an accepted row of a
        new cluster, and intervals are those of sums of clusters.
    multiplicity : {"all", "each"}
        Whether ``delta`` is the probability that *any* group's promise fails (delta / number of groups each), or that
        of each group.
    answered : bool
        The rows are those that the model itself answered, out of more: the promise then says so.
    level : float in (0, 1)
        Of the pointwise intervals that are reported.
    nan_policy : {"raise", "reject", "drop"}
        A NaN score: an error; never accepted, stays in n; left out.
    **columns
        With ``frame``: which other column is what, as in :func:`read_outputs` (``labels="y"``).

    Returns
    -------
    EmpiricalThreshold, CertifiedThreshold or GroupThresholds
        What is not attainable has threshold +inf and a reason; without a promise the nearest point, with one the risks
        that these rows do certify.

    Raises
    ------
    TypeError
        Not exactly one objective; ``delta`` without ``risk``; ``bound``, ``max_weight`` or ``thresholds`` without
        ``delta``.
    ValueError
        Bad columns or options; a score of +inf, above which no threshold lies; ``max_loss`` or ``max_weight`` missing
        or below what occurs; ``delta`` above 1/2; ``bound="binomial"`` for weights or real losses; ``thresholds`` for
        SGR, which has its own; a procedure with a bound for which it is not valid; ``clusters`` with weights or a
        procedure of rows.

    Warns
    -----
    CopiedRowsWarning
        Rows are exact copies of others where scores hardly tie otherwise, and no ``clusters`` are given.
    ReusedSelectionWarning
        The rows of a certificate are those on which a score or a temperature was selected.

    Notes
    -----
    Ties are accepted or rejected together. A score of -inf is never accepted. "Pointwise" intervals ignore that the
    threshold was chosen on the same rows. The certificates assume that calibration rows and new rows (with
    ``clusters``: clusters) are independent draws from one population (with weights: from the two that the weights
    connect). Nothing else matters: not the order of the rows, ties, or the shape of the risk; no row is set aside and,
    but for clusters, no lot drawn.

    Of a ``frame`` one ``group_by`` over score, loss, weight, group and cluster comes back; the threshold, its
    intervals and the promise are those of the rows. Clusters are written out again, up to 20 million rows.

    References
    ----------
    Chow (1970); Geifman & El-Yaniv (2017); Angelopoulos et al. (2021); Waudby-Smith & Ramdas (2024).

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("digits_logreg")
    >>> loss, confidence = outputs.loss_per_sample(), outputs.confidence
    >>> abstain.choose_threshold(loss, confidence, capacity=0.1).coverage >= 0.9
    True
    >>> found = abstain.choose_threshold(loss, confidence, risk=0.03, delta=0.05)
    >>> type(found).__name__, found.attainable
    ('CertifiedThreshold', True)
    >>> abstain.choose_threshold(loss[:40], confidence[:40], risk=0.03, delta=0.05).reason
    '40 calibration rows are too few: even without an error 99 of them must be accepted'
    """
    objective = _objective(risk, coverage, capacity, cost, metric, delta)
    of_certificates = {"bound": bound, "max_weight": max_weight, "thresholds": thresholds}
    idle = [name for name, value in of_certificates.items() if value is not None]
    if delta is None and idle:
        raise TypeError(f"{idle[0]}= belongs to a certificate; give risk= with delta=, or leave it out")
    level = inside(level, "level", 0.95)
    one_of(multiplicity, ("all", "each"), "multiplicity")
    answered = flag(answered, "answered")
    if max_weight is not None:
        positive(max_weight, "max_weight")
    if bound is not None:
        one_of(bound, ("binomial", "betting", "hoeffding-bentkus"), "bound")
    options: dict[str, Any] = {
        "procedure": procedure, "bound": bound, "max_loss": max_loss, "max_weight": max_weight,
        "thresholds": thresholds,
    }  # fmt: skip
    from abstain.thresholds._calibration import counted, in_memory  # the rest is for evaluations, too

    if frame is not None:
        named = {"loss": loss, "sample_weight": sample_weight, "clusters": clusters}
        rows = counted(frame, confidence, groups, nan_policy, named | columns)
    else:
        refuse_without_frame("choose_threshold", columns, loss=loss, confidence=confidence)
        rows = in_memory(loss, confidence, sample_weight, groups, clusters, nan_policy)
    whole = rows.whole
    if delta is not None:
        warn_of_scores(whole.score)
        warn_of_groups(rows.groups if groups is not None else ())
        warn_if_selected(whole)
        if clusters is None:
            warn_of_copies(whole)
    if groups is None:
        return _said(_one(whole, objective, level, options), answered)
    if delta is not None and multiplicity == "all":
        objective = objective | {"delta": float(delta) / len(rows.groups)}
    found = {}
    for name, make in rows.groups.items():
        try:
            found[name] = _said(_one(make(), objective, level, options), answered)
        except ValueError as error:
            raise type(error)(f"group {name!r}: {error}") from None
    from abstain.thresholds._groups import GroupThresholds

    return GroupThresholds(found, None if delta is None else float(delta), multiplicity, whole.fingerprint)


def _objective(
    risk: float | None, coverage: float | None, capacity: float | tuple[float, float] | None,
    cost: tuple[float, float] | None, metric: str | None, delta: float | None,
) -> dict[str, Any]:  # fmt: skip
    given = {"risk": risk, "coverage": coverage, "capacity": capacity, "cost": cost, "metric": metric}
    named = {name: value for name, value in given.items() if value is not None}
    if len(named) != 1:
        raise TypeError(f"give exactly one objective of {', '.join(given)}; got {', '.join(named) or 'none'}")
    if delta is not None and risk is None:
        raise TypeError("delta= belongs to risk=; a promise about another objective is not offered")
    if risk is not None:
        risk = positive(risk, "risk", FRACTION)
        return {"risk": risk} | ({} if delta is None else {"delta": failure_probability(delta)})
    if coverage is not None:
        return {"coverage": fraction(coverage, "coverage")}
    if capacity is not None:
        if isinstance(capacity, tuple):
            reviews, volume = _pair(capacity, "capacity", "(reviews, volume)")
            if not 0 <= reviews <= volume or volume <= 0:
                raise ValueError(f"capacity=(reviews, volume) needs 0 <= reviews <= volume, got {capacity!r}")
            capacity = reviews / volume
        return {"capacity": fraction(capacity, "capacity")}
    if cost is not None:
        error, review = _pair(cost, "cost", "(error, review)")
        if not (0.0 < error < np.inf and 0.0 <= review < np.inf):
            raise ValueError(f"cost=(error, review) needs error > 0 and review >= 0, got {cost!r}")
        return {"cost_error": error, "cost_review": review}
    return {"metric": one_of(str(metric), ("cwsa", "cwsa_plus"), "metric")}


def _pair(values: tuple[float, float], name: str, parts: str) -> tuple[float, float]:
    if isinstance(values, str) or np.shape(values) != (2,):
        raise TypeError(f"{name} must be a pair {parts}, got {values!r}; give two numbers")
    return real(values[0], f"{name}[0]", ">= 0"), real(values[1], f"{name}[1]", ">= 0")


def _one(
    sample: Sample, objective: dict[str, Any], level: float, options: dict[str, Any]
) -> EmpiricalThreshold | CertifiedThreshold:
    curve = curve_of(sample)
    if "delta" in objective:
        return _certified(sample, objective, level, options)
    point, kind = _point(sample, curve, objective), next(iter(objective))
    attained = not np.isnan(point.threshold)
    return EmpiricalThreshold(
        **shared(sample, point.threshold if attained else np.inf, level), procedure=f"empirical/{kind}",
        objective=objective, reason=None if attained else point.reason, best=None if attained else nearest(curve, kind),
    )  # fmt: skip


def _said(found: EmpiricalThreshold | CertifiedThreshold, answered: bool) -> EmpiricalThreshold | CertifiedThreshold:
    """Return a threshold that says, if so, that its rows are those that the model itself answered."""
    if not answered:
        return found
    calibration = found.calibration | {"answered": True}
    if not isinstance(found, CertifiedThreshold):
        return replace(found, calibration=calibration)
    words = statement(
        found.risk_limit, found.delta, weighted=calibration["weighted"], clustered="n_clusters" in calibration,
        answered=True,
    )  # fmt: skip
    return replace(found, calibration=calibration, statement=words)


def _point(sample: Sample, curve: RiskCoverageCurve, objective: dict[str, Any]) -> OperatingPoint:
    """Return the point of an objective without a promise; a threshold of NaN if it is not attained."""
    if "risk" in objective:
        return curve.at(risk=objective["risk"])
    if "cost_error" in objective:
        return at_cost(curve, objective["cost_error"], objective["cost_review"])
    if "metric" in objective:
        return at_trust(sample, curve, objective["metric"])
    return curve.at(coverage=objective["coverage"] if "coverage" in objective else 1.0 - objective["capacity"])


def _certified(sample: Sample, objective: dict[str, Any], level: float, options: dict[str, Any]) -> CertifiedThreshold:
    risk, delta = objective["risk"], objective["delta"]
    largest = largest_loss(sample, options["max_loss"])
    if sample.cluster is None:
        found = search(sample, risk, delta, **options)
    else:
        found = _of_clusters(sample, risk, delta, largest, options)
    return certificate(sample, risk, delta, found, level, largest)


def certificate(
    sample: Sample, risk: float, delta: float, found: Found, level: float = 0.95, largest: float = 1.0
) -> CertifiedThreshold:
    """Return what a search found, with all that a certificate says of itself."""
    parts = shared(sample, found.threshold, level)
    answer: dict[str, Any] = {}
    if sample.cluster is not None:
        accepted = sample.score >= found.threshold
        means = cluster_means(sample.loss, accepted, sample.cluster)
        parts |= {"risk": float(means.mean()) if means.size else np.nan, "risk_interval": mean_interval(means, level)}
    elif found.reason is not None and sample.weight is None:
        answer = {"attained": attained(sample, delta, largest, found.bound == "binomial")}
        if found.bound == "binomial":
            answer |= {"rows_needed": rows_needed(sample, risk, delta), "least": least_risk(sample, risk, delta),
                       "ranking": _ranking(sample)}  # fmt: skip
    elif found.reason is None and found.bound == "binomial" and sample.weight is None and parts["full_risk"] <= risk:
        answer = {"ranking": _ranking(sample)} if parts["coverage"] < 1.0 else {}  # whether it does more than all would
    return CertifiedThreshold(
        **parts, procedure=found.procedure, objective={"risk": risk, "delta": delta}, reason=found.reason, best=None,
        risk_limit=risk, delta=delta, max_loss=largest, bound=found.bound, **answer,
        statement=statement(risk, delta, weighted=sample.weight is not None, clustered=sample.cluster is not None),
    )  # fmt: skip


def _ranking(sample: Sample) -> tuple[float, float, float] | None:
    """Return AUROC of failures with its interval; None where there is none, as without an error."""
    if not (sample.loss.any() and np.isfinite(sample.score).all()) or sample.loss.all():
        return None
    if len(sample.blocks.score) == 1:  # whatever the losses, equal scores rank by chance
        return 0.5, 0.5, 0.5
    found = of_samples(as_metric("auroc_f"), sample.blocks, 0.95)
    return (found.estimate, found.low, found.high) if found.low == found.low else None


def _of_clusters(sample: Sample, risk: float, delta: float, largest: float, options: dict[str, Any]) -> Found:
    """Run the one procedure that is valid for clusters."""
    if sample.weight is not None or sample.cluster is None:
        raise ValueError("a certificate with clusters= and sample_weight= is not offered; give one of them")
    if options["procedure"] != "fallback" or options["bound"] not in (None, "betting"):
        raise ValueError(
            "procedure= and bound= of independent rows are not valid for clusters; leave them out: the certificate "
            "bets on the means of clusters"
        )
    fixed = None if options["thresholds"] is None else fixed_thresholds(options["thresholds"])
    return search_clusters(sample, sample.cluster, risk, delta, largest, fixed)


def shared(sample: Sample, threshold: float, level: float) -> dict[str, Any]:
    """Return what every threshold says of itself."""
    accepted: FloatArray = (sample.score >= threshold).astype(np.float64)
    weight, n_accepted = sample.mass, int(over_rows(accepted, sample.times))
    mass = float(weight @ accepted)
    coverage = mass / float(weight.sum())
    return {
        "threshold": threshold,
        "printed": among(threshold, sample.score),
        "full_risk": float(weight @ sample.loss) / float(weight.sum()),
        "coverage": coverage,
        "coverage_interval": coverage_interval(sample, accepted, level),
        "risk": float(weight @ (accepted * sample.loss)) / mass if mass else np.nan,
        "risk_interval": risk_interval(sample, accepted, level),
        "n": sample.n,
        "n_accepted": n_accepted,
        "level": level,
        "calibration": {
            "n": sample.n, "n_accepted": n_accepted, "coverage": coverage,
            "n_unscored": sample.blocks.n_rejected, "n_dropped": sample.blocks.n_dropped,
            "fingerprint": sample.fingerprint, "sketch": sample.sketch,
            "bins": _bins(sample), "weighted": sample.weight is not None,
            "abstain": __version__, "numpy": np.__version__,
            **({} if sample.cluster is None else {"n_clusters": int(sample.cluster.max()) + 1}),
        },
    }  # fmt: skip


def _bins(sample: Sample) -> list[list[float]]:
    """Return nine thresholds near the deciles of the score with the number of rows at or above each: for monitoring."""
    size = int(sample.rows_of(np.array([np.count_nonzero(sample.score > -np.inf)]))[0])
    if not size or sample.weight is not None:
        return []
    edges = np.unique(sample.score[sample.entry(np.minimum((np.arange(1, 10) * size) // 10, size - 1))])
    edges = edges[np.isfinite(edges)]
    return [[float(edge), int(n)] for edge, n in zip(edges, sample.rows_of(sample.accepted(edges)), strict=True)]
