"""The risk-coverage curve and its operating points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._checks import FRACTION, fraction, not_negative, real
from abstain._typing import ArrayLike, Axes, Document, FloatArray, IntArray, NanPolicy
from abstain.blocks import TieBlocks

if TYPE_CHECKING:
    from abstain.plots import RiskCoverageDisplay

#: Sums of real weights are rounded: a coverage or risk that misses its target by less than this hits it.
SLACK = 1e-12


@dataclass(frozen=True)
class OperatingPoint:
    """One attainable operating point of a reject option: accept if and only if score >= threshold.

    Parameters
    ----------
    threshold : float
        The lowest accepted score; +inf rejects everything but scores of +inf.
    coverage : float
        Accepted share of the (weighted) population, in [0, 1].
    selective_risk : float
        Mean loss of what is accepted; NaN if nothing is.
    generalized_risk : float
        Accepted loss per sample of the whole population: coverage times selective risk.
    n_accepted, n : int
        Accepted rows and all rows.
    reason : str or None
        Why the point or its selective risk is NaN.

    Examples
    --------
    >>> import abstain
    >>> curve = abstain.risk_coverage_curve([0, 0, 1, 1], [0.9, 0.8, 0.7, 0.6])
    >>> curve.at(risk=0.4)
    OperatingPoint(threshold=0.7, coverage=0.75, selective_risk=0.3333333333333333, generalized_risk=0.25, n_accepted=3, n=4, reason=None)
    """  # noqa: E501

    threshold: float
    coverage: float
    selective_risk: float
    generalized_risk: float
    n_accepted: int
    n: int
    reason: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class RiskCoverageCurve:
    r"""Risk against coverage over all attainable thresholds, from one table of tie blocks.

    Point j accepts the blocks 1..j: coverage :math:`c_j = W_j/W`, selective risk :math:`R_j = L_j/W_j`,
    generalized risk :math:`G_j = L_j/W`. Tied samples are accepted together, so only attainable points occur.

    Parameters
    ----------
    blocks : TieBlocks

    See Also
    --------
    abstain.risk_coverage_curve : the curve from losses and scores.

    Notes
    -----
    Selective risk as in Traub et al. (2024), Eq. 2; generalized risk Eq. 3.

    Examples
    --------
    >>> import abstain
    >>> curve = abstain.risk_coverage_curve([0, 0, 1, 1], [0.9, 0.8, 0.7, 0.6])
    >>> curve.coverage, curve.generalized_risk
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.  , 0.  , 0.25, 0.5 ]))
    >>> curve
    RiskCoverageCurve(n=4, thresholds=4, risk at full coverage 0.5)
    """

    blocks: TieBlocks

    @property
    def threshold(self) -> FloatArray:
        """Lowest accepted score of each point, shape (n_blocks,), descending."""
        return self.blocks.score

    @cached_property
    def coverage(self) -> FloatArray:
        """Accepted share of the weight at each point, shape (n_blocks,), ascending to 1."""
        return self.blocks.cumulative_weight / self.blocks.total_weight

    @cached_property
    def selective_risk(self) -> FloatArray:
        """Mean loss of what is accepted at each point, shape (n_blocks,)."""
        return self.blocks.selective_risk

    @cached_property
    def generalized_risk(self) -> FloatArray:
        """Accepted loss per sample of the whole population at each point, shape (n_blocks,)."""
        return self.blocks.cumulative_loss / self.blocks.total_weight

    @cached_property
    def n_accepted(self) -> IntArray:
        """Accepted rows at each point, integers of shape (n_blocks,)."""
        return np.cumsum(self.blocks.count, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.blocks)

    def __repr__(self) -> str:
        return (
            f"RiskCoverageCurve(n={self.blocks.n}, thresholds={len(self)}, "
            f"risk at full coverage {self.blocks.mean_loss:.6g})"
        )

    def at(
        self, *, coverage: float | None = None, risk: float | None = None, threshold: float | None = None
    ) -> OperatingPoint:
        """Return an attainable operating point; give exactly one of the three targets.

        Parameters
        ----------
        coverage : float in [0, 1]
            The point of smallest coverage that is at least this.
        risk : float >= 0
            The point of largest coverage whose selective risk is at most this.
        threshold : float
            Accept the scores >= threshold, as is.

        Returns
        -------
        OperatingPoint
            With NaN and a ``reason`` where no threshold attains the target, or where nothing is accepted.

        Notes
        -----
        A score of -inf, which is also what ``nan_policy="reject"`` makes of NaN, is ranked last and stays in the
        population, but no threshold is chosen that accepts it.

        Raises
        ------
        TypeError
            Not exactly one target.
        ValueError
            A target outside its range.

        Examples
        --------
        >>> import abstain
        >>> curve = abstain.risk_coverage_curve([1, 0, 0], [0.9, 0.8, 0.7])
        >>> curve.at(coverage=0.5).coverage
        0.6666666666666666
        >>> curve.at(risk=0.1).reason
        'no threshold attains a selective risk of 0.1 or less; the lowest attainable is 0.333333'
        """
        given = {"coverage": coverage, "risk": risk, "threshold": threshold}
        if sum(value is not None for value in given.values()) != 1:
            raise TypeError(f"give exactly one of coverage=, risk= and threshold=, got {given}")
        if coverage is not None:
            target = fraction(coverage, "coverage")
            j = int(np.searchsorted(self.coverage, target - SLACK)) if target > 0.0 else -1
            if j < self._scored:
                return self._point(j)
            largest = float(self.coverage[self._scored - 1]) if self._scored else 0.0
            return self._nowhere(f"a coverage of {target:g} is not reached: at most {largest:.4g} have scores")
        if risk is not None:
            risk = not_negative(risk, "risk", FRACTION)
            reached = self.selective_risk[: self._scored]
            attained = np.flatnonzero(reached <= risk * (1.0 + SLACK))
            if attained.size:
                return self._point(int(attained[-1]))
            lowest = f"the lowest attainable is {reached.min():.6g}" if reached.size else "no row has a score"
            return self._nowhere(f"no threshold attains a selective risk of {risk:g} or less; {lowest}")
        assert threshold is not None
        threshold = real(threshold, "threshold", "on the scale of the score")
        if np.isnan(threshold):
            raise ValueError("threshold is NaN; give a score, or +inf to reject everything")
        point = self._point(int(np.searchsorted(-self.threshold, -threshold, side="right")) - 1)
        return replace(point, threshold=float(threshold))

    @cached_property
    def _scored(self) -> int:
        """Number of points that a threshold may be chosen at: all but that of -inf."""
        return len(self) - int(self.threshold[-1] == -np.inf)

    def _nowhere(self, why: str) -> OperatingPoint:
        return OperatingPoint(np.nan, np.nan, np.nan, np.nan, 0, self.blocks.n, why)

    def _point(self, j: int) -> OperatingPoint:
        """Return point j; -1 is the point that rejects everything."""
        if j < 0:
            why = "nothing is accepted, so the selective risk is undefined"
            return OperatingPoint(np.inf, 0.0, np.nan, 0.0, 0, self.blocks.n, why)
        weight, loss = self.blocks.cumulative_weight[j], self.blocks.cumulative_loss[j]
        return OperatingPoint(
            threshold=float(self.threshold[j]),
            coverage=float(weight) / self.blocks.total_weight,
            selective_risk=float(loss / weight),  # of one point: the column of all is not made
            generalized_risk=float(loss) / self.blocks.total_weight,
            n_accepted=int(self.blocks.count[: j + 1].sum()),
            n=self.blocks.n,
        )

    def table(self) -> Document:
        """Return all operating points as columns, ready for any data-frame constructor.

        Returns
        -------
        dict of ndarray
            ``threshold``, ``n_accepted``, ``coverage``, ``selective_risk``, ``generalized_risk``.

        Examples
        --------
        >>> import abstain
        >>> abstain.risk_coverage_curve([0, 1], [0.9, 0.8]).table()["n_accepted"]
        array([1, 2])
        """
        return {
            "threshold": self.threshold,
            "n_accepted": self.n_accepted,
            "coverage": self.coverage,
            "selective_risk": self.selective_risk,
            "generalized_risk": self.generalized_risk,
        }

    def hull(self) -> RiskCoverageCurve:
        """Return the lower convex hull of the generalized-risk curve: what mixing two thresholds achieves.

        Adjacent blocks are pooled until the mean loss rises along the ranking; accepting a pooled block with
        a probability gives the points between its ends.

        Returns
        -------
        RiskCoverageCurve
            With the vertices of the hull as its points.

        Notes
        -----
        The hull of cumulative sums is the isotonic regression of the block means (pool adjacent violators),
        so it applies to any loss >= 0.

        Examples
        --------
        >>> import abstain
        >>> abstain.risk_coverage_curve([1, 0, 1], [0.9, 0.8, 0.7]).hull().generalized_risk
        array([0.33333333, 0.66666667])
        """
        from scipy.optimize import isotonic_regression

        blocks = self.blocks
        starts = isotonic_regression(blocks.loss / blocks.weight, weights=blocks.weight).blocks[:-1]
        ends = np.append(starts[1:], len(blocks)) - 1

        def pooled(column: FloatArray) -> FloatArray:
            return np.add.reduceat(column, starts)

        return RiskCoverageCurve(
            TieBlocks(
                blocks.score[ends],
                pooled(blocks.weight),
                pooled(blocks.loss),
                pooled(blocks.count),
                binary=blocks.binary,
                frequencies=blocks.frequencies,
                _oracle=blocks._oracle,
            )
        )

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> RiskCoverageDisplay:
        """Draw the curve with its oracle and random references; see :class:`abstain.RiskCoverageDisplay`.

        Parameters
        ----------
        ax : matplotlib axes, optional
        **kwargs
            Passed to :meth:`abstain.RiskCoverageDisplay.plot`.

        Returns
        -------
        RiskCoverageDisplay
        """
        from abstain.plots import RiskCoverageDisplay

        return RiskCoverageDisplay(self).plot(ax=ax, **kwargs)


def risk_coverage_curve(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> RiskCoverageCurve:
    """Return the risk-coverage curve of a confidence score; see :class:`RiskCoverageCurve`.

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
        Loss per sample, >= 0.
    confidence : array-like of shape (n_samples,)
        Confidence score, higher = more confident.
    sample_weight : array-like of shape (n_samples,), optional
        Weights >= 0, on both axes; default 1 each.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means: an error, ranked last and never accepted, or left out; see :class:`abstain.TieBlocks`.

    Returns
    -------
    RiskCoverageCurve

    Raises
    ------
    ValueError, TypeError
        Bad columns, as in :meth:`TieBlocks.from_samples`.

    Examples
    --------
    >>> import abstain
    >>> curve = abstain.risk_coverage_curve([0, 1, 0], [0.9, 0.5, 0.5])
    >>> curve.coverage
    array([0.33333333, 1.        ])
    """
    return RiskCoverageCurve(
        TieBlocks.from_samples(loss, confidence, sample_weight, nan_policy=nan_policy, oracle=True)
    )
