"""DS-AURC and DS-AUGRC: the areas under the frontier of two thresholds."""

from __future__ import annotations

from dataclasses import dataclass

from abstain._checks import one_of
from abstain._typing import ArrayLike
from abstain.joint._frontier import OPERATORS, RiskCoverageFrontier, frontier, single_frontier, stairs
from abstain.joint._problem import Compared, Problem, joint_metric, problem


@dataclass(frozen=True)
class AreaResult:
    """An area under a risk-coverage frontier; ``float()`` gives the value.

    Parameters
    ----------
    value : float
        The area in [0, 1], lower is better.
    frontier : RiskCoverageFrontier or None
        The curve with its thresholds: all attainable levels, or with "at least" those at which the least risk steps.
        None for the binned method, which has none.
    operator : str
        How a coverage that several pairs reach, or none, is read.
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
    >>> area = abstain.joint.ds_aurc([0, 0, 1], **inside, ood_confidence=[0.8], ood_detector=[1.0])
    >>> round(float(area), 4), area.convention
    (0.1111, 'ds_aurc/at_least')
    """

    value: float
    frontier: RiskCoverageFrontier | None
    operator: str
    n_id: int
    n_ood: int
    prevalence: float | None
    convention: str

    def __float__(self) -> float:
        return self.value


@joint_metric(
    title="DS-AURC", direction="lower", convention="operator", source="From Misclassifications to Outliers, Eq. 3 to 7"
)
def ds_aurc(
    id_loss: ArrayLike,
    *,
    id_confidence: ArrayLike,
    id_detector: ArrayLike,
    ood_confidence: ArrayLike,
    ood_detector: ArrayLike,
    operator: str = "at_least",
    prevalence: float | None = None,
    method: str = "exact",
    T: int | None = None,
    K: int | None = None,
) -> AreaResult:
    r"""Area under the least selective risk that two thresholds attain, over the coverage of ID samples.

    With j accepted ID samples, O_A accepted OOD samples and TA right ones, the risk is
    :math:`1 - \text{TA}/(j + O_A)`. R(j) is its minimum over all pairs of thresholds that accept exactly j, and

    .. math:: \text{DS-AURC} = \frac1{n_\text{ID}} \sum_{j=1}^{n_\text{ID}} \min_{j' \ge j} R(j').

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    id_confidence, id_detector : array-like of shape (n_id,)
        The two scores of these samples, any scale, higher = accept.
    ood_confidence, ood_detector : array-like of shape (n_ood,)
        The two scores of the out-of-distribution samples; may be empty.
    operator : {"at_least", "exact"}
        ``"at_least"``: the least risk at this coverage *or more*, as in the formula: defined for every coverage,
        monotone, and never above a single score. ``"exact"``: R at the next attainable level, which without OOD samples
        and with a constant second score is AURC; ties can lift it above that of a single score.
    prevalence : float in [0, 1), optional
        Share of OOD samples in the target population; default: as in the data.
    method : {"exact", "grid"}
        All pairs; or T x T quantiles and the minimum in each of K coverage bins, to compare with published numbers. It
        has no operator.
    T, K : int, optional
        Thresholds and coverage bins; needed for, and only for, ``"grid"``.

    Returns
    -------
    AreaResult
        Value in [0, 1]; lower is better.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns, prevalence, or options that do not belong to the method.

    See Also
    --------
    ds_augrc : the same for generalized risk, better behaved at low coverage.
    aurc : one score.
    null_gain : how much of a gain a useless second score would show.

    Notes
    -----
    Tied samples are accepted together. The minimum over pairs chosen on the same data favours small samples.
    "At least" leaves out blocks of pairs that cannot improve on what is known: of 20,000 ID samples without ties it
    reads one pair in a hundred, of 160,000 one in a thousand. "Exact" visits all n_ID^2/2.
    Coverage is that of ID samples, so that rejecting OOD samples costs none. Over all samples it would, and the right
    end of the curve, where all are accepted, would be the same for all scores. For that coverage, as in SCOD, pass the
    OOD samples as ID samples that are wrong; it has no prevalence, because levels are counted.

    References
    ----------
    "From Misclassifications to Outliers: Joint Reliability Assessment in Classification", Eqs. 3 to 7, Algorithm 2.
    The operator "at least" and the exact sweep are of this library.

    Examples
    --------
    >>> import abstain
    >>> inside = {"id_confidence": [0.9, 0.5, 0.4], "id_detector": [3.0, 2.0, 2.5]}
    >>> outside = {"ood_confidence": [0.8], "ood_detector": [1.0]}
    >>> round(float(abstain.joint.ds_aurc([0, 0, 1], **inside, **outside)), 4)
    0.1111
    >>> round(float(abstain.joint.ds_aurc([0, 0, 1], **inside, **outside, method="grid", T=4, K=3)), 4)
    0.1111

    Over the coverage of all samples:

    >>> both = {"id_confidence": [0.9, 0.5, 0.4, 0.8], "id_detector": [3.0, 2.0, 2.5, 1.0]}
    >>> round(float(abstain.joint.ds_aurc([0, 0, 1, 1], **both, ood_confidence=[], ood_detector=[])), 4)
    0.2083
    """
    data = problem(id_loss, id_confidence, id_detector, ood_confidence, ood_detector, prevalence)
    one_of(operator, OPERATORS, "operator")
    if one_of(method, ("exact", "grid"), "method") == "grid":
        from abstain.joint._quadrants import binned_aurc, steps

        if operator != "at_least":
            raise TypeError(f'operator={operator!r} is an option of method="exact"; bins have none')
        value = binned_aurc(data, steps(T, "T"), steps(K, "K"))
        return AreaResult(value, None, "bins", data.n_id, data.n_ood, data.prevalence, f"ds_aurc/grid-T{T}-K{K}")
    for name, given in (("T", T), ("K", K)):
        if given is not None:
            raise TypeError(f'{name}={given!r} is an option of method="grid"; the exact method needs none')
    return area(data, operator)


@joint_metric(title="DS-AUGRC", direction="lower", convention="operator", source="after Traub et al. 2024")
def ds_augrc(
    id_loss: ArrayLike,
    *,
    id_confidence: ArrayLike,
    id_detector: ArrayLike,
    ood_confidence: ArrayLike,
    ood_detector: ArrayLike,
    operator: str = "at_least",
    prevalence: float | None = None,
) -> AreaResult:
    r"""Area under the least generalized risk that two thresholds attain, over the coverage of ID samples.

    With j accepted ID samples, W_A of them wrong, and O_A accepted OOD samples of N samples in all, G(j) is the
    minimum of :math:`(W_A + O_A)/N` over all pairs of thresholds that accept exactly j; trapezoids from (0, 0).

    Parameters
    ----------
    operator : {"at_least", "exact"}
        Least risk at this coverage or more; or straight lines between attainable levels, which without OOD samples and
        with a constant second score is AUGRC.

    Returns
    -------
    AreaResult
        Value in [0, 1]; lower is better.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns, prevalence, or options that do not belong to the method.

    See Also
    --------
    ds_aurc : the same for selective risk.

    Notes
    -----
    Tied samples are accepted together.

    References
    ----------
    Generalized risk: Traub et al. (2024), NeurIPS, Eq. 3; its minimum over two thresholds is of this library.

    Examples
    --------
    >>> import abstain
    >>> inside = {"id_confidence": [0.9, 0.5, 0.4], "id_detector": [3.0, 2.0, 2.5]}
    >>> round(float(abstain.joint.ds_augrc([0, 0, 1], **inside, ood_confidence=[0.8], ood_detector=[1.0])), 4)
    0.0417
    """
    data = problem(id_loss, id_confidence, id_detector, ood_confidence, ood_detector, prevalence)
    return area(data, one_of(operator, OPERATORS, "operator"), generalized=True)


def area(data: Problem, operator: str = "at_least", *, generalized: bool = False) -> AreaResult:
    """Return the area of a checked problem."""
    at_least = operator == "at_least"
    curve = stairs(data, generalized)[0] if at_least else frontier(data, generalized=generalized)
    return _of(data, curve, operator)


def areas(data: Problem) -> tuple[AreaResult, AreaResult]:
    """Return DS-AURC and DS-AUGRC, "at least", from one search."""
    first, second = (_of(data, curve, "at_least") for curve in stairs(data, False, True))
    return first, second


def _of(data: Problem, curve: RiskCoverageFrontier, operator: str) -> AreaResult:
    value = curve.augrc(operator) if curve.generalized else curve.aurc(operator)
    name = "ds_augrc" if curve.generalized else "ds_aurc"
    return AreaResult(value, curve, operator, data.n_id, data.n_ood, data.prevalence, f"{name}/{operator}")


#: The metrics as gains are made of them.
AURC = Compared("ds_aurc", "aurc", -1, lambda data: area(data).value, lambda data: single_frontier(data).aurc())
AUGRC = Compared(
    "ds_augrc",
    "augrc",
    -1,
    lambda data: area(data, generalized=True).value,
    lambda data: single_frontier(data).augrc(),
)
