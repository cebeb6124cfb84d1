"""Metrics at one operating point of the reject option, of which answering everything is one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from abstain._checks import Undefined, real
from abstain._sums import inner
from abstain._typing import ArrayLike, FloatArray, NanPolicy, Options
from abstain.blocks import TieBlocks
from abstain.curve import OperatingPoint, RiskCoverageCurve
from abstain.metrics._declare import image_of, register
from abstain.metrics._facts import AcceptedLoss, FromSums, Sums
from abstain.metrics._gradient import Attribution, Gradient
from abstain.metrics._metric import Inference, Metric, Reads

__all__ = ["accuracy", "coverage_at_risk", "generalized_risk", "risk", "selective_accuracy", "selective_risk"]


def _risk(blocks: TieBlocks) -> float:
    return blocks.mean_loss


def _risk_gradient(blocks: TieBlocks) -> Gradient:
    flat = np.full(len(blocks), 1.0 / blocks.total_weight)
    return Gradient(-blocks.mean_loss * flat, flat)


def _of_sums(sums: Sums) -> FloatArray:
    return sums.loss / sums.weight


def mean_of_terms(metric: Metric) -> Metric:
    """Return a mean over predictions as the mean loss of a table that holds their terms."""
    mean = replace(metric, value=_risk, gradient=_risk_gradient, from_sums=FromSums(_of_sums))
    return replace(mean, input="blocks", terms=None, options={})


@register(
    title="Risk",
    value=_risk,
    gradient=_risk_gradient,
    attribution="losses",
    worst=lambda p: p,
    accepted_loss=AcceptedLoss(),
    from_sums=FromSums(_of_sums),
    direction="lower",
    scale="log",
    convention="full-coverage",
    source="mean loss",
)
def risk(loss: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Risk without rejection: the mean loss, :math:`\sum_i w_i\ell_i / \sum_i w_i`.

    Returns
    -------
    float
        In [0, max loss]; lower is better.

    Notes
    -----
    No score is involved, so ties do not matter.

    References
    ----------
    Traub et al. (2024), NeurIPS: Section 2.

    Examples
    --------
    >>> import abstain
    >>> abstain.risk([0, 0, 1, 0])
    0.25
    """


@register(
    title="Accuracy",
    image=image_of(risk, 1.0, -1.0),
    direction="higher",
    needs={"unit_loss"},
    source="mean of 1 - loss",
)
def accuracy(loss: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Accuracy without rejection, :math:`1 - \sum_i w_i\ell_i / \sum_i w_i`.

    Notes
    -----
    No score is involved, so ties do not matter.

    References
    ----------
    Traub et al. (2024), NeurIPS: Section 2.

    Examples
    --------
    >>> import abstain
    >>> abstain.accuracy([0, 0, 1, 0])
    0.75
    """


def _percent(value: float) -> str:
    return f"{100.0 * value:g} %"


def _where(coverage: float | None, threshold: float | None) -> str:
    return f"at coverage {_percent(coverage or 0.0)}" if threshold is None else f"at threshold {threshold:g}"


def _inference(coverage: float | None, threshold: float | None) -> Inference:
    return "quantile" if threshold is None else "smooth"


def _reads(coverage: float | None, threshold: float | None) -> Reads:
    return "order" if threshold is None else "scores"


def _point(blocks: TieBlocks, coverage: float | None = 0.8, threshold: float | None = None) -> OperatingPoint:
    curve = RiskCoverageCurve(blocks)
    return curve.at(coverage=coverage) if threshold is None else curve.at(threshold=threshold)


def _accepted(blocks: TieBlocks, **where: float) -> FloatArray:
    """1.0 for the blocks that the point accepts, else 0.0."""
    n_accepted = _point(blocks, **where).n_accepted  # a score of +inf also reaches the threshold of none
    return (np.cumsum(blocks.count) <= n_accepted).astype(np.float64)


def _target(coverage: float | None, threshold: float | None) -> Options:
    if (coverage is None) == (threshold is None):
        raise TypeError(f"give exactly one of coverage= and threshold=, got {coverage!r} and {threshold!r}")
    return {"coverage": coverage} if threshold is None else {"threshold": threshold}


def _selective_risk(blocks: TieBlocks, coverage: float | None = 0.8, threshold: float | None = None) -> float:
    point = _point(blocks, coverage, threshold)
    if point.reason is not None:
        raise Undefined(point.reason)
    return point.selective_risk


def _selective_risk_gradient(blocks: TieBlocks, **where: float) -> Gradient:
    """Derivative with the set of accepted blocks held fixed; at a coverage, inference adds the local term."""
    risk, accepted = _selective_risk(blocks, **where), _accepted(blocks, **where)
    weight = accepted / inner(accepted, blocks.weight)
    return Gradient(-risk * weight, weight)


@register(
    title=lambda coverage, threshold: f"Selective risk {_where(coverage, threshold)}",
    value=_selective_risk,
    gradient=_selective_risk_gradient,
    attribution="losses",
    given=_target,
    accepted_loss=lambda coverage, threshold: AcceptedLoss(threshold, coverage),
    reads=_reads,
    direction="lower",
    inference=_inference,
    scale="log",
    convention="attainable",
    source="Traub et al. 2024, Eq. 2",
)
def selective_risk(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    coverage: float | None = None,
    threshold: float | None = None,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Mean loss of what is accepted, at a coverage or at a threshold.

    .. math:: R(\tau) = \frac{\sum_i w_i\ell_i\,\mathbb 1[g_i \ge \tau]}{\sum_i w_i\,\mathbb 1[g_i \ge \tau]}

    Parameters
    ----------
    coverage : float in [0, 1], optional
        At the attainable point of smallest coverage that is at least this.
    threshold : float, optional
        Accept scores >= threshold. Give exactly one of the two.

    Returns
    -------
    float
        In [0, max loss]; lower is better. NaN, with a warning, if nothing is accepted.

    Notes
    -----
    Ties are accepted together, so the coverage can exceed the request.

    References
    ----------
    Traub et al. (2024), NeurIPS: Eq. 2.

    Examples
    --------
    >>> import abstain
    >>> abstain.selective_risk([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], coverage=0.6)
    0.3333333333333333
    """


def _selective_accuracy_attribution(blocks: TieBlocks, **where: float) -> Attribution:
    """What is rejected contributes nothing to the accuracy of what is accepted."""
    share = _selective_risk_gradient(blocks, **where).loss
    return share, -share


@register(
    title=lambda coverage, threshold: f"Selective accuracy {_where(coverage, threshold)}",
    image=image_of(selective_risk, 1.0, -1.0),
    attribution=_selective_accuracy_attribution,
    direction="higher",
    needs={"unit_loss"},
    given=_target,
    source="Shahnazari et al. 2025, Section 4.3",
)
def selective_accuracy(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    coverage: float | None = None,
    threshold: float | None = None,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Accuracy of what is accepted, at a coverage or at a threshold: :math:`1 - R(\tau)`.

    Returns
    -------
    float
        In [0, 1]; higher is better. NaN, with a warning, if nothing is accepted.

    Notes
    -----
    Ties are accepted together, so the coverage can exceed the request.

    References
    ----------
    Traub et al. (2024), NeurIPS: Eq. 2; Shahnazari et al. (2025): Section 4.3.

    Examples
    --------
    >>> import abstain
    >>> abstain.selective_accuracy([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], threshold=0.8)
    1.0
    """


def _generalized_risk(blocks: TieBlocks, coverage: float | None = 0.8, threshold: float | None = None) -> float:
    point = _point(blocks, coverage, threshold)
    if point.reason is not None and math.isnan(point.generalized_risk):
        raise Undefined(point.reason)
    return point.generalized_risk


def _generalized_risk_gradient(blocks: TieBlocks, **where: float) -> Gradient:
    value, T = _generalized_risk(blocks, **where), blocks.total_weight
    return Gradient(np.full(len(blocks), -value / T), _accepted(blocks, **where) / T)


@register(
    title=lambda coverage, threshold: f"Generalized risk {_where(coverage, threshold)}",
    value=_generalized_risk,
    gradient=_generalized_risk_gradient,
    attribution="losses",
    given=_target,
    accepted_loss=lambda coverage, threshold: AcceptedLoss(threshold, coverage, "all"),
    reads=_reads,
    direction="lower",
    inference=_inference,
    scale="log",
    convention="attainable",
    source="Traub et al. 2024, Eq. 3",
)
def generalized_risk(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    coverage: float | None = None,
    threshold: float | None = None,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Accepted loss per sample of the whole population: the risk of an undetected failure.

    .. math:: G(\tau) = \frac{\sum_i w_i\ell_i\,\mathbb 1[g_i \ge \tau]}{\sum_i w_i}

    Returns
    -------
    float
        In [0, mean loss]; lower is better; 0 if nothing is accepted.

    Notes
    -----
    Ties are accepted together, so the coverage can exceed the request.

    References
    ----------
    Traub et al. (2024), NeurIPS: Eq. 3.

    Examples
    --------
    >>> import abstain
    >>> abstain.generalized_risk([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], coverage=0.6)
    0.25
    """


def _coverage_at_risk(blocks: TieBlocks, risk: float = 0.05) -> float:
    if blocks.binary and real(risk, "risk", "in [0, 1]") > 1.0:
        raise ValueError(f"risk must lie in [0, 1] for a 0/1 loss, got {risk!r}; give a fraction, not per cent")
    point = RiskCoverageCurve(blocks).at(risk=risk)
    if point.reason is not None:
        raise Undefined(point.reason)
    return point.coverage


@register(
    title=lambda risk: f"Coverage at risk {_percent(risk)}",
    value=_coverage_at_risk,
    unattained=0.0,
    tolerated=lambda risk: risk,
    direction="higher",
    inference="bootstrap",
    scale="logit",
    convention="attainable",
    source="Geifman & El-Yaniv 2017",
)
def coverage_at_risk(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    risk: float = 0.05,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> float:
    r"""Largest coverage at which the selective risk is at most ``risk``: :math:`\max\{c_j : R_j \le r\}`.

    Parameters
    ----------
    risk : float >= 0
        The risk that is tolerated, as a fraction.

    Returns
    -------
    float
        In (0, 1]; higher is better. NaN, with a warning that names the lowest attainable risk, if no threshold
        attains it.

    Notes
    -----
    An empirical value, not a guarantee. Ties are accepted together, so only attainable coverages occur.

    References
    ----------
    Geifman & El-Yaniv (2017), NeurIPS.

    Examples
    --------
    >>> import abstain
    >>> abstain.coverage_at_risk([0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], risk=0.3)
    1.0
    """
