"""The risk-coverage frontier: for every number of accepted ID samples, the pair of thresholds of least risk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain import _fast
from abstain._checks import fraction, one_of
from abstain._sums import inner
from abstain._typing import AnyArray, Axes, BoolArray, FloatArray, IntArray
from abstain.joint import _kernels
from abstain.joint._problem import CORRECT, OOD, Problem, Thresholds
from abstain.joint._quadrants import Sweep, sweep_over
from abstain.joint._stairs import search, steps_of

if TYPE_CHECKING:
    from abstain.plots import FrontierDisplay

OPERATORS = ("at_least", "exact")


@dataclass(frozen=True)
class JointOperatingPoint:
    """One attainable operating point of two thresholds.

    Parameters
    ----------
    thresholds : Thresholds
        Accept if and only if both scores reach theirs.
    coverage : float
        Accepted share of the ID samples.
    selective_risk : float
        Errors and OOD samples among what is accepted (weighted).
    n_id_accepted, n_ood_accepted : int
        Accepted samples.

    Examples
    --------
    >>> import abstain
    >>> inside = {"id_confidence": [0.9, 0.5, 0.4], "id_detector": [3.0, 2.0, 2.5]}
    >>> curve = abstain.joint.ds_aurc([0, 0, 1], **inside, ood_confidence=[0.8], ood_detector=[1.0]).frontier
    >>> curve.at(coverage=0.5)
    JointOperatingPoint(thresholds=Thresholds(confidence=0.5, detector=2.0), coverage=0.6666666666666666, selective_risk=0.0, n_id_accepted=2, n_ood_accepted=0)
    """  # noqa: E501

    thresholds: Thresholds
    coverage: float
    selective_risk: float
    n_id_accepted: int
    n_ood_accepted: int


@dataclass(frozen=True, eq=False, repr=False)
class RiskCoverageFrontier:
    r"""Least risk for attainable numbers of accepted ID samples, over all pairs of thresholds.

    Parameters
    ----------
    n_id_accepted : array of shape (n_levels,)
        Numbers of accepted ID samples, ascending to ``n_id``.
    n_correct, n_ood_accepted : array of shape (n_levels,)
        Right ID samples and OOD samples that the best pair accepts.
    confidence_threshold, detector_threshold : array of shape (n_levels,)
        The best pair.
    n_id, n_ood : int
        Samples.
    ood_weight : float
        Weight of an OOD sample in units of an ID sample; 1 unless a prevalence was given.
    prevalence : float or None
        Share of OOD samples that was asked for.
    generalized : bool
        Whether pairs were chosen by generalized instead of selective risk.
    method : str
        ``"exact"``: all attainable levels. ``"steps"``: those above which no risk is as small; they give the least
        risk at every coverage or more.

    See Also
    --------
    ds_aurc : the area under it.

    Examples
    --------
    >>> import abstain
    >>> inside = {"id_confidence": [0.9, 0.5, 0.4], "id_detector": [3.0, 2.0, 2.5]}
    >>> curve = abstain.joint.ds_aurc([0, 0, 1], **inside, ood_confidence=[0.8], ood_detector=[1.0]).frontier
    >>> curve
    RiskCoverageFrontier(n_id=3, n_ood=1, levels=2)
    >>> curve.coverage.round(2), curve.selective_risk.round(2)
    (array([0.67, 1.  ]), array([0.  , 0.33]))
    """

    n_id_accepted: IntArray
    n_correct: IntArray
    n_ood_accepted: IntArray
    confidence_threshold: FloatArray
    detector_threshold: FloatArray
    n_id: int
    n_ood: int
    ood_weight: float
    prevalence: float | None
    generalized: bool
    method: str

    def __repr__(self) -> str:
        return f"RiskCoverageFrontier(n_id={self.n_id}, n_ood={self.n_ood}, levels={self.n_id_accepted.size})"

    @cached_property
    def coverage(self) -> FloatArray:
        """Accepted share of the ID samples per level, shape (n_levels,), ascending to 1."""
        return self.n_id_accepted / self.n_id

    @cached_property
    def selective_risk(self) -> FloatArray:
        """Share of errors and OOD samples among what is accepted, shape (n_levels,)."""
        weight = self.n_id_accepted + self.ood_weight * self.n_ood_accepted
        return (weight - self.n_correct) / weight

    @cached_property
    def generalized_risk(self) -> FloatArray:
        """Accepted errors and OOD samples per sample of the whole population, shape (n_levels,)."""
        bad = self.n_id_accepted - self.n_correct + self.ood_weight * self.n_ood_accepted
        return bad / (self.n_id + self.ood_weight * self.n_ood)

    def at(self, *, coverage: float) -> JointOperatingPoint:
        """Return the attainable point of least risk among those with at least this ID coverage.

        Parameters
        ----------
        coverage : float in [0, 1]
            The least share of ID samples that must be accepted.

        Returns
        -------
        JointOperatingPoint

        Raises
        ------
        ValueError
            A coverage outside [0, 1].
        """
        target = fraction(coverage, "coverage") * self.n_id
        risk = self.generalized_risk if self.generalized else self.selective_risk
        first = int(np.searchsorted(self.n_id_accepted, target - 1e-9))
        i = risk.size - 1 - int(np.argmin(risk[first:][::-1]))  # the highest such level
        thresholds = Thresholds(float(self.confidence_threshold[i]), float(self.detector_threshold[i]))
        taken = int(self.n_id_accepted[i]), int(self.n_ood_accepted[i])
        return JointOperatingPoint(thresholds, float(self.coverage[i]), float(self.selective_risk[i]), *taken)

    def aurc(self, operator: str = "at_least") -> float:
        """Area under selective risk: the mean over j = 1..n_ID of the risk that the operator gives to j.

        Parameters
        ----------
        operator : {"at_least", "exact"}
            Least risk at coverage j/n_ID or more; or at the next attainable level.

        Returns
        -------
        float
            In [0, 1]; lower is better.
        """
        at = slice(None) if self._operator(operator) == "exact" else steps_of(self.selective_risk)
        return inner(np.diff(self.n_id_accepted[at], prepend=0), self.selective_risk[at]) / self.n_id

    def augrc(self, operator: str = "at_least") -> float:
        """Area under generalized risk, by trapezoids from (0, 0).

        Parameters
        ----------
        operator : {"at_least", "exact"}
            Least risk at coverage j/n_ID or more, for j = 1..n_ID; or straight lines between attainable levels.

        Returns
        -------
        float
            In [0, 1]; lower is better.
        """
        if self._operator(operator) == "exact":
            level, risk = (np.append(0, each) for each in (self.n_id_accepted, self.generalized_risk))
            return float(np.trapezoid(risk, level) / self.n_id)
        steps = steps_of(self.generalized_risk)
        risk = self.generalized_risk[steps]
        return (inner(risk, np.diff(self.n_id_accepted[steps], prepend=0)) - 0.5 * float(risk[-1])) / self.n_id

    def _operator(self, operator: str) -> str:
        if one_of(operator, OPERATORS, "operator") == "exact" and self.method != "exact":
            raise ValueError('this curve has no operator="exact"; ask for it with ds_aurc(..., operator="exact")')
        return operator

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> FrontierDisplay:
        """Draw selective risk over coverage.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Default: a new figure.
        **kwargs
            Passed to matplotlib's ``plot``.

        Returns
        -------
        FrontierDisplay
            With the axes, ``ax_``, and their figure, ``figure_``.
        """
        from abstain.plots import FrontierDisplay

        return FrontierDisplay({"two scores": self}).plot(ax, **kwargs)


def frontier(data: Problem, *, generalized: bool = False) -> RiskCoverageFrontier:
    """Return the frontier with every attainable level, from all pairs of thresholds.

    For a fixed set of accepted ID samples each accepted OOD sample adds risk, so that both thresholds lie on ID values.
    """
    sweep = sweep_over(data, np.arange(data.n_id))
    kind = data.kind[sweep.rows]
    # by accepted ID rows: the right and OOD rows (-1: none), the group and the column of the best pair
    found = np.full((4, data.n_id + 1), -1, dtype=np.int64)
    sums = np.zeros((3, sweep.column_threshold.size), dtype=np.int64)
    compiled = _fast.kernel(_kernels.levels, sweep.rows.size, _kernels.PAYS)
    if compiled is not None:
        compiled(kind, sweep.column, sweep.ends, data.id_weight, data.ood_weight, generalized, sums, found)
    else:
        _sweep_levels(data, sweep, kind, generalized, sums, found)
    levels = np.flatnonzero(found[0] >= 0)
    return _curve(data, sweep, levels, found[:, levels], generalized, "exact")


def stairs(data: Problem, *generalized: bool) -> list[RiskCoverageFrontier]:
    """Return, for every kind of risk, the frontier with the levels at which the least risk at them or more steps."""
    sweep, found = search(data, *generalized)
    return [_curve(data, sweep, *each, kind, "steps") for each, kind in zip(found, generalized, strict=True)]


def single_frontier(data: Problem) -> RiskCoverageFrontier:
    """Return the frontier of the confidence alone: the detector score is made constant."""
    found = frontier(data.alone())
    return replace(found, detector_threshold=np.full(found.n_id_accepted.size, -np.inf))


def _curve(
    data: Problem, sweep: Sweep, levels: IntArray, found: IntArray, generalized: bool, method: str
) -> RiskCoverageFrontier:
    right, outside, group, column = found
    return RiskCoverageFrontier(
        n_id_accepted=levels,
        n_correct=right,
        n_ood_accepted=outside,
        confidence_threshold=sweep.column_threshold[column],
        detector_threshold=sweep.group_threshold[group],
        n_id=data.n_id,
        n_ood=data.n_ood,
        ood_weight=data.ratio,
        prevalence=data.prevalence,
        generalized=generalized,
        method=method,
    )


def _sweep_levels(
    data: Problem, sweep: Sweep, kind: AnyArray, generalized: bool, sums: IntArray, found: IntArray
) -> None:
    """The kernel without a compiler: cumulative counts are kept, and only columns below a new ID row are read."""
    n_columns, start = sums.shape[1], 0
    occupied = np.zeros(n_columns, dtype=bool)
    for group, end in enumerate(sweep.ends.tolist()):
        column, kinds = sweep.column[start:end], kind[start:end]
        inside = kinds != OOD
        chosen = (inside, kinds == CORRECT, ~inside)
        if column.size <= 8:
            for row, rows in enumerate(chosen):
                for first in column[rows].tolist():
                    sums[row, first:] += 1
        else:
            for row, rows in enumerate(chosen):
                sums[row] += np.cumsum(np.bincount(column[rows], minlength=n_columns))
        start = end
        occupied[column[inside]] = True
        first = int(column[inside].min())  # every group has an ID row: thresholds are ID values
        at = first + np.flatnonzero(occupied[first:])
        level, right, outside = sums[:, at]
        better = _better(data, generalized, level, right, outside, found[0, level], found[1, level])
        level, at = level[better], at[better]
        found[:, level] = right[better], outside[better], np.full(level.size, group), at


def _better(
    data: Problem,
    generalized: bool,
    level: IntArray,
    right: IntArray,
    outside: IntArray,
    old_right: IntArray,
    old_outside: IntArray,
) -> BoolArray:
    """Return where a quadrant has less risk than the one found before (right = -1: there was none)."""
    weight = data.id_weight * level + data.ood_weight * outside
    old_weight = data.id_weight * level + data.ood_weight * old_outside
    if generalized:
        less = weight - data.id_weight * right < old_weight - data.id_weight * old_right
    else:
        less = right * old_weight > old_right * weight
    return np.asarray(less | (old_right < 0))
