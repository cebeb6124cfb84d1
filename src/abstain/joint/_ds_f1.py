"""DS-F1: the best F1 over all pairs of thresholds, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from abstain._checks import one_of, plain, real
from abstain._typing import AnyArray, Array, ArrayLike
from abstain.joint._problem import CORRECT, OOD, Compared, Problem, Thresholds, joint_metric, problem
from abstain.joint._quadrants import Sweep, sweep_over

#: Real weights: an iteration that gains less than this, relatively, is rounding.
SLACK = 1e-12


@dataclass(frozen=True)
class F1Point:
    """F1 of one pair of thresholds, with what is behind it; ``float()`` gives the value.

    Parameters
    ----------
    value : float
        F1 in [0, 1], higher is better.
    thresholds : Thresholds
        Accept if and only if both scores reach theirs.
    true_accept : int
        Accepted ID samples that are classified right.
    false_accept : int
        Accepted ID samples that are classified wrong, and accepted OOD samples.
    false_reject : int
        All other ID samples: a rejected error still lacks an answer.
    true_reject : int
        Rejected OOD samples.
    precision, recall : float
        Right among accepted (weighted; NaN if nothing is accepted), and right and accepted among ID samples.
    standard_error : float
        At fixed thresholds, ID and OOD samples drawn separately; that the thresholds were chosen on the same
        data is not in it.
    n_id, n_ood : int
        Samples.
    prevalence : float or None
        Share of OOD samples that was asked for; None: as in the data.
    convention : str
        Identifier of the definition.

    Examples
    --------
    >>> import abstain
    >>> inside = {"id_confidence": [0.9, 0.5, 0.4], "id_detector": [3.0, 2.0, 2.5]}
    >>> point = abstain.joint.ds_f1([0, 0, 1], **inside, ood_confidence=[0.8, 0.7], ood_detector=[1.0, 2.2])
    >>> float(point), point.true_accept, point.false_accept, point.false_reject, point.true_reject
    (0.6666666666666666, 2, 1, 1, 1)
    """

    value: float
    thresholds: Thresholds
    true_accept: int
    false_accept: int
    false_reject: int
    true_reject: int
    precision: float
    recall: float
    standard_error: float
    n_id: int
    n_ood: int
    prevalence: float | None
    convention: str

    def __float__(self) -> float:
        return self.value


@joint_metric(
    title="DS-F1", direction="higher", convention="method", source="From Misclassifications to Outliers, Eq. 2"
)
def ds_f1(
    id_loss: ArrayLike,
    *,
    id_confidence: ArrayLike,
    id_detector: ArrayLike,
    ood_confidence: ArrayLike,
    ood_detector: ArrayLike,
    prevalence: float | None = None,
    method: str = "exact",
    T: int | None = None,
) -> F1Point:
    r"""Best F1 over all pairs of thresholds on a confidence and a detector score.

    A sample is accepted if :math:`c_i \ge \tau_\text{ID}` and :math:`a_i \ge \tau_\text{OOD}`. With A the accepted
    samples and TA those of them that are ID and right, precision is TA/\|A\| and recall TA/n_ID, so that

    .. math:: \text{DS-F1} = \max_{\tau_\text{ID}, \tau_\text{OOD}} \frac{2\,\text{TA}}{|A| + n_\text{ID}}.

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    id_confidence, id_detector : array-like of shape (n_id,)
        The two scores of these samples, any scale, higher = accept.
    ood_confidence, ood_detector : array-like of shape (n_ood,)
        The two scores of the out-of-distribution samples; may be empty.
    prevalence : float in [0, 1), optional
        Share of OOD samples in the target population: each weighs n_ID p / ((1 - p) n_OOD). Default: as in the data.
    method : {"exact", "grid"}
        All pairs, or a grid of T x T quantiles, which is what papers print: a lower bound.
    T : int, optional
        Quantiles per score; needed for, and only for, ``"grid"``.

    Returns
    -------
    F1Point
        Value in [0, 2 acc / (1 + acc)]; higher is better. If several pairs are best, the one with the highest
        threshold on the detector, then on the confidence.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns; prevalence outside [0, 1), or positive without OOD samples; T missing.

    See Also
    --------
    f1 : one score.
    null_gain : how much of a gain a useless second score would show.

    Notes
    -----
    Exact by Dinkelbach's method for ratios: for F = P/Q, maximise :math:`\sum_A w_i` with w = 2Q - P for a right
    sample and -P for any other; F is the optimum if that maximum is P n_ID. Each round is one sweep with a segment
    tree, O(N log N); three or four rounds suffice, in integers without rounding.
    Ties are accepted or rejected together. The value depends on the share of OOD samples: compare at one prevalence.

    References
    ----------
    "From Misclassifications to Outliers: Joint Reliability Assessment in Classification", Eq. 2 and Algorithm 1.
    Dinkelbach (1967), Management Science 13.

    Examples
    --------
    >>> import abstain
    >>> inside = {"id_confidence": [0.9, 0.5, 0.4], "id_detector": [3.0, 2.0, 2.5]}
    >>> best = abstain.joint.ds_f1([0, 0, 1], **inside, ood_confidence=[0.8, 0.7], ood_detector=[1.0, 2.2])
    >>> round(best.value, 4), best.thresholds
    (0.6667, Thresholds(confidence=0.5, detector=2.0))
    """
    data = problem(id_loss, id_confidence, id_detector, ood_confidence, ood_detector, prevalence)
    if one_of(method, ("exact", "grid"), "method") == "exact":
        if T is not None:
            raise TypeError(f'T={T!r} is an option of method="grid"; the exact method needs none')
        return exact(data)
    from abstain.joint._quadrants import grid_f1, steps

    return point(data, grid_f1(data, steps(T, "T")), f"ds_f1/grid-{T}")


def f1_at(
    id_loss: ArrayLike,
    thresholds: Thresholds | tuple[float, float],
    *,
    id_confidence: ArrayLike,
    id_detector: ArrayLike,
    ood_confidence: ArrayLike,
    ood_detector: ArrayLike,
    prevalence: float | None = None,
) -> F1Point:
    """F1 at given thresholds, for instance those chosen on calibration data.

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    thresholds : Thresholds or (confidence, detector)
        Accept if and only if both scores reach theirs.
    id_confidence, id_detector : array-like of shape (n_id,)
        The two scores of these samples, higher = accept.
    ood_confidence, ood_detector : array-like of shape (n_ood,)
        The two scores of the out-of-distribution samples; may be empty.
    prevalence : float in [0, 1), optional
        Share of OOD samples in the target population; default: as in the data.

    Returns
    -------
    F1Point
        0 where no ID sample is accepted.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns or prevalence; thresholds that are no pair of numbers, or NaN.

    Examples
    --------
    >>> import abstain
    >>> inside = {"id_confidence": [0.9, 0.5, 0.4], "id_detector": [3.0, 2.0, 2.5]}
    >>> outside = {"ood_confidence": [0.8, 0.7], "ood_detector": [1.0, 2.2]}
    >>> point = abstain.joint.f1_at([0, 0, 1], (0.6, 2.0), **inside, **outside)
    >>> round(float(point), 4), point.true_accept, point.false_accept
    (0.4, 1, 1)
    """
    data = problem(id_loss, id_confidence, id_detector, ood_confidence, ood_detector, prevalence)
    return point(data, _pair(thresholds), "f1/at")


def _pair(thresholds: ArrayLike) -> Thresholds:
    if plain(thresholds, "thresholds", "two numbers").shape != (2,):
        raise TypeError(f"thresholds must be a pair (confidence, detector), got {thresholds!r}")
    pair = Thresholds(*(real(each, "thresholds", "on the scale of each score") for each in thresholds))
    if np.isnan(pair).any():
        raise ValueError(f"thresholds={tuple(pair)} hold NaN; -inf rejects nothing, +inf everything")
    return pair


def exact(data: Problem, convention: str = "ds_f1/exact") -> F1Point:
    """Return the best point over all pairs of thresholds."""
    if data.wrong.all():
        return point(data, Thresholds(np.inf, np.inf), convention)
    sweep = sweep_over(data, np.flatnonzero(data.kind == CORRECT))
    kind = data.kind[sweep.rows]
    # from about the best threshold of the confidence alone few steps are left
    counts = np.bincount(3 * sweep.column + kind, minlength=3 * sweep.column_threshold.size).reshape(-1, 3)
    top, bottom = numerator_denominator(data, counts.cumsum(axis=0).T.astype(np.float64))
    group, column = sweep.ends.size - 1, int(np.argmax(top / bottom))
    top, bottom = _ratio(data, sweep, kind, group, column)
    while True:
        gain = _gain(data, kind, top, bottom)
        _, group = sweep.best(gain)
        column = sweep.column_of(gain, group)
        new_top, new_bottom = _ratio(data, sweep, kind, group, column)
        if new_top * bottom <= top * new_bottom * (1 if data.integer else 1.0 + SLACK):
            pair = Thresholds(float(sweep.column_threshold[column]), float(sweep.group_threshold[group]))
            return point(data, pair, convention)
        top, bottom = new_top, new_bottom


#: The metric as gains are made of it: the best point has no thresholds to save.
F1 = Compared("ds_f1", "f1", 1, lambda data: exact(data).value, lambda data: exact(data.alone()).value)


def _gain(data: Problem, kind: AnyArray, top: float, bottom: float) -> AnyArray:
    """Gain per row, so that the sum over A is 2 TA bottom - |A| top."""
    table = [(2 * bottom - top) * data.id_weight, -top * data.id_weight, -top * data.ood_weight]
    return np.array(table, dtype=np.int64 if data.integer else np.float64)[kind]


def _ratio(data: Problem, sweep: Sweep, kind: AnyArray, group: int, column: int) -> tuple[Array, Array]:
    """F1 of a quadrant as numerator and denominator, without a common divisor."""
    end = int(sweep.ends[group])
    counts = np.bincount(kind[:end][sweep.column[:end] <= column], minlength=3).tolist()
    top, bottom = numerator_denominator(data, counts)
    common = gcd(top, bottom) if data.integer else bottom
    return (top // common, bottom // common) if data.integer else (top / common, 1.0)


def numerator_denominator(data: Problem, counts: Array) -> tuple[Array, Array]:
    """Return 2 TA and |A| + n_ID, weighted, from the accepted right, wrong and OOD rows."""
    right, wrong, outside = counts
    inside = data.id_weight * (right + wrong + data.n_id)
    return 2 * data.id_weight * right, inside + data.ood_weight * outside


def point(data: Problem, thresholds: Thresholds, convention: str) -> F1Point:
    """Return F1 with its counts at a pair of thresholds."""
    taken = (data.confidence >= thresholds.confidence) & (data.detector >= thresholds.detector)
    right, wrong, outside = np.bincount(data.kind[taken], minlength=3).tolist()
    top, bottom = numerator_denominator(data, (right, wrong, outside))
    weight = data.id_weight * (right + wrong) + data.ood_weight * outside
    value = float(top / bottom)
    # delta method for the ratio; ID and OOD rows are two samples, so each is centred by itself
    right_ones = taken & (data.kind == CORRECT)
    terms = np.where(data.kind == OOD, -value * data.ratio * taken, 2.0 * right_ones - value * (taken + 1.0))
    terms = terms / (bottom / data.id_weight)
    parts = terms[: data.n_id], terms[data.n_id :]
    error = float(np.sqrt(sum(part.size * part.var(ddof=1) for part in parts if part.size > 1)))
    return F1Point(
        value=value,
        thresholds=thresholds,
        true_accept=right,
        false_accept=wrong + outside,
        false_reject=data.n_id - right,
        true_reject=data.n_ood - outside,
        precision=float(data.id_weight * right / weight) if weight else np.nan,
        recall=right / data.n_id,
        standard_error=error,
        n_id=data.n_id,
        n_ood=data.n_ood,
        prevalence=data.prevalence,
        convention=convention,
    )
