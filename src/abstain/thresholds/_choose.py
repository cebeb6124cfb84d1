"""``choose_threshold``: the one question, four objectives, and a certificate if one is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from abstain._checks import FRACTION, failure_probability, fraction, positive, real
from abstain._checks import whole as whole_number
from abstain._result import among
from abstain._sums import over_rows
from abstain._typing import ArrayLike, FloatArray, NanPolicy, Source
from abstain._version import __version__
from abstain.curve import SLACK, OperatingPoint, RiskCoverageCurve
from abstain.inference import as_metric, of_samples
from abstain.outputs import FurtherColumns, refuse_without_frame
from abstain.policy import Calibration, Objective, statement
from abstain.thresholds._band import attained, band_of
from abstain.thresholds._certify import Found, Search, refuse_large
from abstain.thresholds._clusters import cluster_means, search_clusters
from abstain.thresholds._groups import GroupThresholds
from abstain.thresholds._reach import stricter
from abstain.thresholds._results import CertifiedThreshold, EmpiricalThreshold
from abstain.thresholds._row_warnings import warn_of_groups, warn_of_rows
from abstain.thresholds._rows_needed import least_risk, rows_needed
from abstain.thresholds._sample import (
    LEVEL,
    Groups,
    Sample,
    counted,
    coverage_interval,
    in_memory,
    mean_interval,
    risk_interval,
)

#: Arguments of 0.2.0 that went, and what does the same.
FORMER = {
    "metric": "thresholds.cwsa_threshold(loss, confidence, metric=...) finds the largest CWSA",
    "procedure": "thresholds.sgr_threshold, fixed_sequence_threshold and bonferroni_threshold are the other procedures",
    "bound": "max_loss= decides it; thresholds.bonferroni_threshold(..., bound='hoeffding-bentkus') has that one",
    "thresholds": "thresholds.prespecified_threshold(loss, confidence, thresholds, ...) tests fixed thresholds",
    "multiplicity": "thresholds.separate_group_thresholds(...) certifies each group by itself",
    "answered": "found.about_answered() states that the rows are those that the model itself answered",
    "level": "intervals are at 95 %; audit(found, loss, confidence, level=...) gives others",
}


def choose_threshold(
    loss: ArrayLike | str | None = None,
    confidence: ArrayLike | str | None = None,
    *,
    frame: Source = None,
    risk: float | None = None,
    coverage: float | None = None,
    capacity: float | tuple[float, float] | None = None,
    cost: tuple[float, float] | None = None,
    delta: float | None = None,
    max_loss: float | None = None,
    sample_weight: ArrayLike | str | None = None,
    max_weight: float | None = None,
    ood_share: float = 0.0,
    groups: ArrayLike | str | None = None,
    clusters: ArrayLike | str | None = None,
    max_cluster: int | None = None,
    nan_policy: NanPolicy = "raise",
    **columns: Unpack[FurtherColumns],
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
        With ``risk``: the guarantee :math:`P\{R(\hat\tau) > \text{risk}\} \le \delta`.
    coverage : float in [0, 1]
        Smallest attainable coverage that is at least this.
    capacity : float in [0, 1], or (reviews, volume)
        Largest share that reviewers can take; at most that share of the calibration rows is rejected.
    cost : (error, review)
        Costs of a unit of loss and of a review: least expected cost (Chow's rule, from data).
    max_loss : float
        Largest possible loss; needed for certificates of a loss that is not 0/1. It says that a loss may be graded:
        the test is then betting, which tests all thresholds at once, even where these rows happen to hold 0 and 1
        alone; without it and without weights, it is the exact binomial test.
    sample_weight : array-like of shape (n_samples,), optional
        Importance weights (known prevalence, covariate shift): the guarantee is about the weighted population.
    max_weight : float
        Largest possible weight; needed for certificates with weights.
    ood_share : float in [0, 1)
        Share of what is accepted that may be of a kind that these rows do not have, and all wrong (out of
        distribution): the limit then holds with such rows among the new ones. Certified is the stricter limit
        (risk - ood_share) / (1 - ood_share).
    groups : array-like of shape (n_samples,), optional
        One threshold per value: predicted classes, sites, … ``delta`` is the probability that the guarantee of *any*
        group fails.
    clusters : array-like of shape (n_samples,), optional
        What rows depend on each other: patients, documents, prompts. Certificates are then about an accepted row of a
        new cluster, each cluster counting once, and intervals are those of sums of clusters.
    max_cluster : int, optional
        Largest possible number of rows of a cluster, a fact that the rows cannot show: the certificate is then about
        the risk of accepted rows, as without clusters. The further it lies above the usual number, the less is
        certified.
    nan_policy : {"raise", "reject", "drop"}
        A NaN score: an error; never accepted, stays in n; left out.
    **columns
        With ``frame``: which other column is what, as in :func:`read_outputs` (``labels="y"``).

    Returns
    -------
    EmpiricalThreshold, CertifiedThreshold or GroupThresholds
        What is not attainable has threshold +inf and a reason; without a certificate the nearest point, with one the
        risks that these rows do certify.

    Raises
    ------
    TypeError
        Not exactly one objective; ``delta`` without ``risk``; ``max_weight`` without ``delta``; an argument that went.
    ValueError
        Bad columns or options; a score of +inf, above which no threshold lies; ``max_loss`` or ``max_weight`` missing
        or below what occurs; ``delta`` above 1/2; ``clusters`` with weights; a cluster above ``max_cluster``.

    Warns
    -----
    CopiedRowsWarning
        Rows are exact copies of others where scores hardly tie otherwise, and no ``clusters`` are given.
    ReusedSelectionWarning
        The rows of a certificate are those on which a score or a temperature was selected.

    See Also
    --------
    abstain.thresholds.sgr_threshold, abstain.thresholds.bonferroni_threshold : procedures of papers.
    abstain.thresholds.cwsa_threshold : the objective CWSA.

    Notes
    -----
    Ties are accepted or rejected together. A score of -inf is never accepted. "Pointwise" intervals ignore that the
    threshold was chosen on the same rows. The certificates assume that calibration rows and new rows (with
    ``clusters``: clusters) are independent draws from one population (with weights: from the two that the weights
    connect). Nothing else matters: not the order of the rows, ties, or the shape of the risk; no row is set aside, and
    nothing is randomized.

    Of a ``frame`` one ``group_by`` over score, loss, weight, group and cluster comes back; the threshold, its
    intervals and the guarantee are those of the rows. Clusters are written out again, up to 20 million rows.

    References
    ----------
    Chow (1970); Angelopoulos et al. (2021); Waudby-Smith & Ramdas (2024).

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
    for name in FORMER.keys() & columns.keys():
        raise TypeError(f"choose_threshold has no {name}= any more: {FORMER[name]}")
    objective = objective_of(risk, coverage, capacity, cost, delta)
    if max_weight is not None and delta is None:
        raise TypeError("max_weight= belongs to a certificate; give risk= with delta=, or leave it out")
    if max_cluster is not None and delta is None:
        raise TypeError("max_cluster= belongs to a certificate; give risk= with delta=, or leave it out")
    largest = None if max_cluster is None else whole_number(max_cluster, "max_cluster")
    if frame is not None:
        named = {"loss": loss, "sample_weight": sample_weight, "clusters": clusters}
        whole, each = counted(frame, confidence, groups, nan_policy, named | columns)
    else:
        refuse_without_frame("choose_threshold", columns, loss=loss, confidence=confidence)
        whole, each = in_memory(loss, confidence, sample_weight, groups, clusters, nan_policy)
    if largest is not None:
        if whole.cluster is None:
            raise TypeError("max_cluster= belongs to clusters=; give them, or leave it out")
        refuse_large(whole.cluster, largest)
    if ood_share:
        if objective.delta is None:
            raise TypeError("ood_share= belongs to a certificate; give risk= with delta=, or leave it out")
        objective = replace(objective, ood_share=fraction(ood_share, "ood_share", below_one=True))
    if groups is None:
        if delta is not None:
            warn_of_rows(whole)
        return _one(whole, objective, max_loss, max_weight, largest)
    return by_group(whole, each, objective, "all", max_loss, max_weight, largest)


def by_group(
    whole: Sample,
    groups: Groups,
    objective: Objective,
    multiplicity: str,
    max_loss: float | None,
    max_weight: float | None = None,
    max_cluster: int | None = None,
) -> GroupThresholds:
    """Return one threshold per group; ``multiplicity``: whether delta is that of "all" guarantees or of "each"."""
    delta = objective.delta
    if delta is not None and multiplicity == "all":
        objective = replace(objective, delta=delta / len(groups))
    if delta is not None:
        warn_of_rows(whole, stacklevel=4)
        warn_of_groups(groups)
    found = {}
    for name, make in groups.items():
        try:
            found[name] = _one(make(), objective, max_loss, max_weight, max_cluster)
        except ValueError as error:
            raise type(error)(f"group {name!r}: {error}") from None
    return GroupThresholds(found, delta, multiplicity, whole.fingerprint)


def objective_of(
    risk: float | None,
    coverage: float | None = None,
    capacity: float | tuple[float, float] | None = None,
    cost: tuple[float, float] | None = None,
    delta: float | None = None,
) -> Objective:
    """Check that there is one objective, and return it."""
    given = {"risk": risk, "coverage": coverage, "capacity": capacity, "cost": cost}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise TypeError(f"give exactly one objective of {', '.join(given)}; got {', '.join(named) or 'none'}")
    if delta is not None and risk is None:
        raise TypeError("delta= belongs to risk=; a certificate of another objective is not offered")
    if risk is not None:
        risk = positive(risk, "risk", FRACTION)
        return Objective(risk=risk, delta=None if delta is None else failure_probability(delta))
    if coverage is not None:
        return Objective(coverage=fraction(coverage, "coverage"))
    if isinstance(capacity, tuple):
        reviews, volume = _pair(capacity, "capacity", "(reviews, volume)")
        if not 0 <= reviews <= volume or volume <= 0:
            raise ValueError(f"capacity=(reviews, volume) needs 0 <= reviews <= volume, got {capacity!r}")
        capacity = reviews / volume
    if capacity is not None:
        return Objective(capacity=fraction(capacity, "capacity"))
    error, review = _pair(cost, "cost", "(error, review)")
    if not (0.0 < error < np.inf and 0.0 <= review < np.inf):
        raise ValueError(f"cost=(error, review) needs error > 0 and review >= 0, got {cost!r}")
    return Objective(cost_error=error, cost_review=review)


def _pair(values: Any, name: str, parts: str) -> tuple[float, float]:
    if isinstance(values, str) or np.shape(values) != (2,):
        raise TypeError(f"{name} must be a pair {parts}, got {values!r}; give two numbers")
    return real(values[0], f"{name}[0]", ">= 0"), real(values[1], f"{name}[1]", ">= 0")


def _one(
    sample: Sample,
    objective: Objective,
    max_loss: float | None,
    max_weight: float | None,
    max_cluster: int | None = None,
) -> EmpiricalThreshold | CertifiedThreshold:
    sample.refuse_infinite()
    if objective.risk is not None and objective.delta is not None:
        limit = objective.risk
        if objective.ood_share:
            largest = max_loss or 1.0
            limit = largest * stricter(limit / largest, objective.ood_share)
        search = Search(sample, limit, objective.delta, max_loss, max_weight, max_cluster=max_cluster)
        found = certified(search, search.default() if sample.cluster is None else search_clusters(search))
        return found.with_unseen(objective) if objective.ood_share else found
    return empirical(sample, objective, _point(sample.curve, objective))


def _point(curve: RiskCoverageCurve, objective: Objective) -> OperatingPoint:
    """Return the point of an objective without a certificate; a threshold of NaN if it is not attained."""
    if objective.risk is not None:
        return curve.at(risk=objective.risk)
    if objective.coverage is not None:
        return curve.at(coverage=objective.coverage)
    if objective.capacity is not None:
        return curve.at(coverage=1.0 - objective.capacity)
    assert objective.cost_error is not None
    assert objective.cost_review is not None
    # rejecting everything included (Chow 1970)
    cost = objective.cost_error * curve.generalized_risk + objective.cost_review * (1.0 - curve.coverage)
    least = min(objective.cost_review, cost.min()) * (1.0 + SLACK)
    cheap = np.flatnonzero((curve.threshold > -np.inf) & (cost <= least))
    return curve.at(threshold=float(curve.threshold[cheap[-1]])) if cheap.size else curve.at(coverage=0.0)


def empirical(sample: Sample, objective: Objective, point: OperatingPoint) -> EmpiricalThreshold:
    """Return the threshold of a point, or the nearest one where the objective is not attained there."""
    kind = next(iter(objective))
    if np.isnan(point.threshold):
        return _measured(sample, np.inf, objective, f"empirical/{kind}", point.reason, _nearest(sample.curve, kind))
    return _measured(sample, point.threshold, objective, f"empirical/{kind}", None, None)


def _nearest(curve: RiskCoverageCurve, objective: str) -> OperatingPoint:
    """Return the point of the lowest risk, or of the largest coverage, where what was asked for is not attained."""
    scored = curve.threshold > -np.inf
    if not scored.any() or objective == "metric":
        return curve.at(coverage=0.0)
    risk = curve.selective_risk[scored]
    return curve.at(threshold=float(curve.threshold[np.argmin(risk) if objective == "risk" else len(risk) - 1]))


def certified(search: Search, found: Found) -> CertifiedThreshold:
    """Return what a search found, with all that a certificate says of itself."""
    sample, risk, delta = search.sample, search.risk, search.delta
    objective = Objective(risk=risk, delta=delta)
    measured = _measured(sample, found.threshold, objective, found.procedure, found.reason, None)
    if search.max_cluster is not None:
        measured = replace(measured, calibration=replace(measured.calibration, max_cluster=search.max_cluster))
    elif sample.cluster is not None:
        means = cluster_means(sample.loss, sample.score >= found.threshold, sample.cluster)
        mean = float(means.mean()) if means.size else np.nan
        measured = replace(measured, risk=mean, risk_interval=mean_interval(means, LEVEL))
    words = statement(risk, delta, measured.calibration)
    result = CertifiedThreshold(
        **vars(measured), risk_limit=risk, delta=delta, max_loss=search.largest, bound=found.bound, statement=words
    )
    if sample.weight is not None or sample.cluster is not None:
        return result
    exact = found.bound == "binomial"
    if result.attainable:
        result = replace(
            result, upper=float(band_of(sample, delta, search.largest, exact).upper_at([result.threshold])[0])
        )
        more = exact and result.full_risk <= risk and result.coverage < 1.0  # whether it does more than all would
        return replace(result, ranking=_ranking(sample)) if more else result
    result = replace(result, attained=attained(sample, delta, search.largest, exact))
    if not exact:
        return result
    needed, least = rows_needed(sample, risk, delta), least_risk(sample, risk, delta)
    return replace(result, rows_needed=needed, least=least, ranking=_ranking(sample))


def _ranking(sample: Sample) -> tuple[float, float, float] | None:
    """Return AUROC of failures with its interval; None where there is none, as without an error."""
    if not (sample.loss.any() and np.isfinite(sample.score).all()) or sample.loss.all():
        return None
    if len(sample.blocks.score) == 1:  # whatever the losses, equal scores rank by chance
        return 0.5, 0.5, 0.5
    found = of_samples(as_metric("auroc_f"), sample.blocks, 0.95)
    return (found.estimate, found.low, found.high) if found.low == found.low else None


def _measured(
    sample: Sample,
    threshold: float,
    objective: Objective,
    procedure: str,
    reason: str | None,
    best: OperatingPoint | None,
) -> EmpiricalThreshold:
    """Return a threshold with what it does on the calibration rows."""
    accepted: FloatArray = (sample.score >= threshold).astype(np.float64)
    weight, n_accepted = sample.mass, int(over_rows(accepted, sample.times))
    total, mass = float(weight.sum()), float(weight @ accepted)
    calibration = Calibration(
        n=sample.n,
        n_accepted=n_accepted,
        coverage=mass / total,
        n_unscored=sample.blocks.n_rejected,
        n_dropped=sample.blocks.n_dropped,
        fingerprint=sample.fingerprint,
        sketch=sample.sketch,
        bins=sample.bins(),
        weighted=sample.weight is not None,
        n_clusters=None if sample.cluster is None else int(sample.cluster.max()) + 1,
        versions={"abstain": __version__, "numpy": np.__version__},
    )
    return EmpiricalThreshold(
        threshold=threshold,
        printed=among(threshold, sample.score),
        coverage=mass / total,
        coverage_interval=coverage_interval(sample, accepted, LEVEL),
        full_risk=float(weight @ sample.loss) / total,
        risk=float(weight @ (accepted * sample.loss)) / mass if mass else np.nan,
        risk_interval=risk_interval(sample, accepted, LEVEL),
        n=sample.n,
        n_accepted=n_accepted,
        procedure=procedure,
        objective=objective,
        level=LEVEL,
        reason=reason,
        best=best,
        calibration=calibration,
    )
