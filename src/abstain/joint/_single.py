"""One score on ID and OOD samples together: F1, AURC, AUGRC and the SCOD risk, comparable with the DS metrics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from abstain._checks import fraction, one_of
from abstain._sums import inner
from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks
from abstain.joint._ds_f1 import F1Point, exact
from abstain.joint._frontier import OPERATORS, single_frontier
from abstain.joint._problem import Problem, Thresholds, errors, joint_metric, single

COVERAGES = ("id", "all")


@joint_metric(
    title="F1", direction="higher", convention="exact", source="From Misclassifications to Outliers, Section 3.1"
)
def f1(id_loss: ArrayLike, *, id_score: ArrayLike, ood_score: ArrayLike, prevalence: float | None = None) -> F1Point:
    r"""Best F1 over all thresholds on one score, on ID and OOD samples together.

    .. math:: \text{F1} = \max_\tau \frac{2\,\text{TA}}{|A| + n_\text{ID}}

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    id_score, ood_score : array-like of shape (n_id,) and (n_ood,)
        The score of the in- and the out-of-distribution samples, higher = accept.
    prevalence : float in [0, 1), optional
        Share of OOD samples in the target population; default: as in the data.

    Returns
    -------
    F1Point
        Value in [0, 1]; higher is better. 0 where no ID sample is accepted.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns or prevalence.

    See Also
    --------
    ds_f1 : two scores, never below this.

    Notes
    -----
    Tied samples are accepted together.

    References
    ----------
    "From Misclassifications to Outliers: Joint Reliability Assessment in Classification", section 3.1.

    Examples
    --------
    >>> import abstain
    >>> float(abstain.joint.f1([0, 0, 1, 0], id_score=[0.9, 0.8, 0.4, 0.7], ood_score=[0.6, 0.2]))
    0.8571428571428571
    """
    return of_single(exact(single(id_loss, id_score, ood_score, prevalence), "f1/exact"))


def of_single(found: F1Point) -> F1Point:
    """Return the point with the detector's threshold opened: the constant score accepts everything."""
    pair = Thresholds(found.thresholds.confidence, -np.inf)
    return replace(found, thresholds=pair)


@joint_metric(
    title="AURC", direction="lower", convention="operator", source="From Misclassifications to Outliers, Eq. 3 to 5"
)
def aurc(
    id_loss: ArrayLike,
    *,
    id_score: ArrayLike,
    ood_score: ArrayLike,
    coverage_of: str = "id",
    operator: str = "at_least",
    prevalence: float | None = None,
) -> float:
    r"""Area under the selective risk of one score on ID and OOD samples together.

    The risk counts errors and OOD samples among what is accepted, :math:`1 - \text{TA}/|A|`.

    Parameters
    ----------
    coverage_of : {"id", "all"}
        Share of the ID samples that is accepted, at the tightest threshold; or of all samples, as in SCOD.
    operator : {"at_least", "exact"}
        Least risk at this coverage or more; or at the next attainable coverage, which is AURC of all samples
        under ``coverage_of="all"``, and of the ID samples if there are no others.

    Returns
    -------
    float
        In [0, 1]; lower is better.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns, options or prevalence.

    See Also
    --------
    ds_aurc : two scores, never above this under ``"at_least"``.

    Notes
    -----
    Tied samples are accepted together.

    References
    ----------
    "From Misclassifications to Outliers: Joint Reliability Assessment in Classification", Eqs. 3 to 5. Coverage of all
    samples: Xia & Bouganis (2022), ACCV; Jaeger et al. (2023), ICLR.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.joint.aurc([0, 0, 1, 0], id_score=[0.9, 0.8, 0.4, 0.7], ood_score=[0.6, 0.2]), 4)
    0.1
    """
    data = single(id_loss, id_score, ood_score, prevalence)
    one_of(operator, OPERATORS, "operator")
    if one_of(coverage_of, COVERAGES, "coverage_of") == "id":
        return single_frontier(data).aurc(operator)
    share, risk, _ = _over_all(data, 1.0, 1.0)
    return _steps(share, risk, operator)


@joint_metric(title="AUGRC", direction="lower", convention="operator", source="after Traub et al. 2024")
def augrc(
    id_loss: ArrayLike,
    *,
    id_score: ArrayLike,
    ood_score: ArrayLike,
    coverage_of: str = "id",
    operator: str = "at_least",
    prevalence: float | None = None,
) -> float:
    """Area under the generalized risk of one score on ID and OOD samples together.

    The risk counts accepted errors and accepted OOD samples, per sample of the whole population.

    Parameters
    ----------
    coverage_of : {"id", "all"}
        Share of the ID samples that is accepted, at the tightest threshold; or of all samples.
    operator : {"at_least", "exact"}
        Least risk at this coverage or more; or straight lines between attainable coverages. The risk never falls with
        coverage, so that they differ by ties only; over all samples, straight lines are used for both.

    Returns
    -------
    float
        In [0, 1]; lower is better.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns, options or prevalence.

    See Also
    --------
    ds_augrc : two scores, never above this under ``"at_least"``.

    Notes
    -----
    Tied samples are accepted together.

    References
    ----------
    Traub et al. (2024), NeurIPS, Eq. 3, with OOD samples as failures.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.joint.augrc([0, 0, 1, 0], id_score=[0.9, 0.8, 0.4, 0.7], ood_score=[0.6, 0.2]), 4)
    0.0417
    """
    data = single(id_loss, id_score, ood_score, prevalence)
    one_of(operator, OPERATORS, "operator")
    if one_of(coverage_of, COVERAGES, "coverage_of") == "id":
        return single_frontier(data).augrc(operator)
    share, risk, _ = _over_all(data, 1.0, 1.0)
    return float(np.trapezoid(np.append(0.0, share * risk), np.append(0.0, share)))


def scod_risk(
    id_loss: ArrayLike,
    *,
    id_score: ArrayLike,
    ood_score: ArrayLike,
    ood_cost: float = 0.5,
    coverage: float | None = None,
    prevalence: float | None = None,
) -> float:
    r"""Risk of selective classification with OOD inputs: accepted OOD samples and accepted errors have different costs.

    .. math:: R = \frac{(1 - c)\,W_A + c\,O_A}{|A|}

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    id_score, ood_score : array-like of shape (n_id,) and (n_ood,)
        The score of the in- and the out-of-distribution samples, higher = accept.
    ood_cost : float in [0, 1]
        c: cost of accepting an OOD sample; an accepted ID error costs 1 - c.
    coverage : float in (0, 1], optional
        Accepted share of the ID samples: the attainable point of smallest coverage that is at least this, at its
        tightest threshold. Default: the area under R over the coverage of all samples.
    prevalence : float in [0, 1), optional
        Share of OOD samples in the target population; default: as in the data.

    Returns
    -------
    float
        In [0, 1]; lower is better. With c = 1/2 it is half of what :func:`aurc` integrates.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns, cost, coverage or prevalence.

    Notes
    -----
    Tied samples are accepted together. The area holds the risk of the next attainable coverage.

    References
    ----------
    Xia & Bouganis (2022), ACCV. The normalisation, by what is accepted, is theirs; the costs sum to 1 here.

    Examples
    --------
    >>> import abstain
    >>> columns = {"id_score": [0.9, 0.8, 0.4, 0.7], "ood_score": [0.6, 0.2]}
    >>> abstain.joint.scod_risk([0, 0, 1, 0], **columns, ood_cost=0.8, coverage=1.0)
    0.2
    """
    data = single(id_loss, id_score, ood_score, prevalence)
    cost = fraction(ood_cost, "ood_cost")
    share, risk, inside = _over_all(data, 1.0 - cost, cost)
    if coverage is None:
        return _steps(share, risk, "exact")
    target = fraction(coverage, "coverage")
    if target == 0.0:
        raise ValueError("coverage=0.0 accepts nothing, so that there is no risk; give a coverage in (0, 1]")
    return float(risk[int(np.argmax(inside >= target - 1e-12))])


def aurc_optimum(id_loss: ArrayLike) -> float:
    r"""AURC of the perfect order: right before wrong before OOD samples; the coverage is that of ID samples.

    .. math:: \frac1{n_\text{ID}} \sum_{j > \#C} \frac{j - \#C}{j}

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.

    Returns
    -------
    float
        In [0, 1]. What AURC and DS-AURC exceed it by is the excess risk; no OOD sample need be accepted.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        A bad column.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.joint.aurc_optimum([0, 0, 1, 0]), 4)
    0.0625
    """
    wrong = errors(id_loss)
    right = int((~wrong).sum())
    level = np.arange(right + 1, wrong.size + 1)
    return float(((level - right) / level).sum() / wrong.size)


def _over_all(data: Problem, error: float, outside: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return accepted share of all samples, risk, and accepted share of ID samples per distinct score."""
    loss = np.append(error * data.wrong, np.full(data.n_ood, outside))
    is_id = np.append(np.ones(data.n_id), np.zeros(data.n_ood))
    weight = np.where(is_id == 1.0, 1.0, data.ratio)
    kept = weight > 0.0
    columns: tuple[FloatArray, FloatArray, FloatArray] = (loss[kept], data.confidence[kept], weight[kept])
    blocks = TieBlocks.from_samples(*columns)
    inside = TieBlocks.from_samples(is_id[kept], *columns[1:])
    share = blocks.cumulative_weight / blocks.total_weight
    risk: FloatArray = blocks.cumulative_loss / blocks.cumulative_weight
    return share, risk, inside.cumulative_loss / data.n_id


def _steps(share: FloatArray, risk: FloatArray, operator: str) -> float:
    if operator == "at_least":
        risk = np.minimum.accumulate(risk[::-1])[::-1]
    return inner(np.diff(share, prepend=0.0), risk)
