"""Telling OOD from ID samples by one score: AUROC, AUPR, FPR in both orientations, and open-set recognition."""

from __future__ import annotations

import numpy as np

from abstain import metrics
from abstain._checks import fraction, one_of
from abstain._typing import ArrayLike, FloatArray
from abstain.joint._problem import CORRECT, OOD, joint_metric, score_column, single

#: Said of a score that :func:`backward` finds.
BACKWARD = "higher for OOD than for ID samples (AUROC {:.3g}), though high must mean known"


def backward(value: float, n_id: int, n_ood: int) -> bool:
    """Whether an AUROC lies below a half by more than three standard errors of a useless score."""
    return bool(value < 0.5 - 3.0 * np.sqrt((n_id + n_ood + 1) / (12.0 * n_id * n_ood)))


def _columns(id_score: ArrayLike, ood_score: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return is-OOD and score of all samples; both sides need one."""
    inside, outside = score_column(id_score, "id_score"), score_column(ood_score, "ood_score", empty=True)
    _require_ood(outside.size)
    return np.repeat([0.0, 1.0], [inside.size, outside.size]), np.concatenate([inside, outside])


def _require_ood(n: int) -> None:
    if not n:
        raise ValueError("ood_score is empty; detection needs at least one OOD sample")


@joint_metric(title="AUROC", direction="higher", convention="mid-rank", source="Hendrycks & Gimpel 2017")
def auroc(*, id_score: ArrayLike, ood_score: ArrayLike) -> float:
    r"""AUROC of OOD detection: the chance that an ID sample has the higher score.

    .. math:: P(s_\text{ID} > s_\text{OOD}) + \tfrac12 P(s_\text{ID} = s_\text{OOD})

    Parameters
    ----------
    id_score, ood_score : array-like of shape (n_id,) and (n_ood,)
        The score of the in- and the out-of-distribution samples, higher = in distribution.

    Returns
    -------
    float
        In [0, 1]; higher is better. It depends neither on the share of OOD samples nor on the classifier's errors.

    Raises
    ------
    ValueError, TypeError
        Bad or empty columns.

    Examples
    --------
    >>> import abstain
    >>> abstain.joint.auroc(id_score=[0.9, 0.8, 0.4], ood_score=[0.6, 0.2])
    0.8333333333333334
    """
    return metrics.get("auroc_f").of(*_columns(id_score, ood_score))


@joint_metric(title="AUPR-in", direction="higher", convention="interpolation", source="Hendrycks & Gimpel 2017")
def aupr_in(*, id_score: ArrayLike, ood_score: ArrayLike, interpolation: str = "trapezoid") -> float:
    """Area under the precision-recall curve with ID samples as positives.

    Parameters
    ----------
    interpolation : {"trapezoid", "step"}
        Straight lines, as OpenOOD does, or average precision.

    Returns
    -------
    float
        In [0, 1]; higher is better. Depends on the share of OOD samples.

    Raises
    ------
    ValueError, TypeError
        Bad or empty columns; another interpolation.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.joint.aupr_in(id_score=[0.9, 0.8, 0.4], ood_score=[0.6, 0.2]), 4)
    0.9028
    """
    return _aupr(id_score, ood_score, interpolation, "success")


@joint_metric(title="AUPR-out", direction="higher", convention="interpolation", source="Hendrycks & Gimpel 2017")
def aupr_out(*, id_score: ArrayLike, ood_score: ArrayLike, interpolation: str = "trapezoid") -> float:
    """Area under the precision-recall curve with OOD samples as positives, the lowest scores first.

    Returns
    -------
    float
        In [0, 1]; higher is better. Depends on the share of OOD samples.

    Raises
    ------
    ValueError, TypeError
        Bad or empty columns; another interpolation.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.joint.aupr_out(id_score=[0.9, 0.8, 0.4], ood_score=[0.6, 0.2]), 4)
    0.7917
    """
    return _aupr(id_score, ood_score, interpolation, "error")


def _aupr(id_score: ArrayLike, ood_score: ArrayLike, interpolation: str, positive: str) -> float:
    rule = one_of(interpolation, ("trapezoid", "step"), "interpolation")
    name = f"aupr_{positive}" if rule == "trapezoid" else f"average_precision_{positive}"
    return metrics.get(name).of(*_columns(id_score, ood_score))


@joint_metric(
    title=lambda recall: f"FPR@{100.0 * recall:g} % ID recall",
    direction="lower",
    convention="attainable",
    source="Liang et al. 2018",
)
def fpr_at_id_recall(*, id_score: ArrayLike, ood_score: ArrayLike, recall: float = 0.95) -> float:
    """Share of OOD samples that are accepted when 95 % of the ID samples are: what most papers call FPR@95.

    Parameters
    ----------
    recall : float in [0, 1]
        Share of ID samples that must be accepted.

    Returns
    -------
    float
        In [0, 1]; lower is better.

    Raises
    ------
    ValueError, TypeError
        Bad or empty columns; a recall outside [0, 1].

    See Also
    --------
    fpr_at_ood_recall : the other orientation, which OpenOOD 1.5 prints, a different number.

    Examples
    --------
    >>> import abstain
    >>> abstain.joint.fpr_at_id_recall(id_score=[0.9, 0.8, 0.4], ood_score=[0.6, 0.2])
    0.5
    """
    return metrics.get("fpr95_success", recall=recall).of(*_columns(id_score, ood_score))


@joint_metric(
    title=lambda recall: f"FPR@{100.0 * recall:g} % OOD recall",
    direction="lower",
    convention="attainable",
    source="Liang et al. 2018",
)
def fpr_at_ood_recall(*, id_score: ArrayLike, ood_score: ArrayLike, recall: float = 0.95) -> float:
    """Share of ID samples that are rejected when 95 % of the OOD samples are: FPR@95 of OpenOOD 1.5.

    Parameters
    ----------
    recall : float in [0, 1]
        Share of OOD samples that must be rejected.

    Returns
    -------
    float
        In [0, 1]; lower is better.

    Raises
    ------
    ValueError, TypeError
        Bad or empty columns; a recall outside [0, 1].

    See Also
    --------
    fpr_at_id_recall : the other orientation, which most papers mean, a different number.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.joint.fpr_at_ood_recall(id_score=[0.9, 0.8, 0.4], ood_score=[0.6, 0.2]), 4)
    0.3333
    """
    return metrics.get("fpr95_error", recall=recall).of(*_columns(id_score, ood_score))


def ccr_at_fpr(id_loss: ArrayLike, *, id_score: ArrayLike, ood_score: ArrayLike, fpr: float) -> float:
    r"""Correct classification rate at a false positive rate: right *and* accepted ID samples, of all ID samples.

    .. math:: \max_\tau \{\text{TA}(\tau)/n_\text{ID} : O_A(\tau)/n_\text{OOD} \le \text{fpr}\}

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    id_score, ood_score : array-like of shape (n_id,) and (n_ood,)
        The score of the in- and the out-of-distribution samples, higher = accept.
    fpr : float in [0, 1]
        Share of OOD samples that may be accepted.

    Returns
    -------
    float
        In [0, accuracy]; higher is better.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad or empty columns; an FPR outside [0, 1].

    Notes
    -----
    Only attainable thresholds count; tied samples are accepted together. OpenOOD 1.0 accepts what is strictly above the
    ceil(fpr n)-th largest OOD score, one OOD sample fewer if fpr n is whole.

    References
    ----------
    Dhamija, Guenther & Boult (2018), NeurIPS.

    Examples
    --------
    >>> import abstain
    >>> abstain.joint.ccr_at_fpr([0, 0, 1, 0], id_score=[0.9, 0.8, 0.4, 0.5], ood_score=[0.6, 0.2], fpr=0.1)
    0.5
    """
    rate, right = _open_set(id_loss, id_score, ood_score)
    return float(right[rate <= fraction(fpr, "fpr") + 1e-12].max())


@joint_metric(title="OSCR", direction="higher", convention="mid-rank", source="Dhamija et al. 2018; Vaze et al. 2022")
def oscr(id_loss: ArrayLike, *, id_score: ArrayLike, ood_score: ArrayLike) -> float:
    r"""Area under the open-set classification rate: correct classification rate over false positive rate.

    .. math:: P(\text{right}, s_\text{ID} > s_\text{OOD}) + \tfrac12 P(\text{right}, s_\text{ID} = s_\text{OOD})

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    id_score, ood_score : array-like of shape (n_id,) and (n_ood,)
        The score of the in- and the out-of-distribution samples, higher = accept.

    Returns
    -------
    float
        In [0, accuracy]; higher is better. It does not depend on the share of OOD samples.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad or empty columns.

    References
    ----------
    Dhamija, Guenther & Boult (2018), NeurIPS; Vaze et al. (2022), ICLR, for the area.

    Examples
    --------
    >>> import abstain
    >>> abstain.joint.oscr([0, 0, 1, 0], id_score=[0.9, 0.8, 0.4, 0.5], ood_score=[0.6, 0.2])
    0.625
    """
    return float(np.trapezoid(*_open_set(id_loss, id_score, ood_score)[::-1]))


def _open_set(id_loss: ArrayLike, id_score: ArrayLike, ood_score: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return false positive rate and correct classification rate from reject-all to accept-all."""
    data = single(id_loss, id_score, ood_score)
    _require_ood(data.n_ood)
    order = np.argsort(-data.confidence, kind="stable")
    ordered, kind = data.confidence[order], data.kind[order]
    last = np.append(ordered[1:] != ordered[:-1], True)
    rate = np.cumsum(kind == OOD)[last] / data.n_ood
    right = np.cumsum(kind == CORRECT)[last] / data.n_id
    return np.append(0.0, rate), np.append(0.0, right)
