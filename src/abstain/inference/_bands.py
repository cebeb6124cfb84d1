r"""Confidence bands of the risk-coverage curve, for the risk at each threshold.

A band is a function of the threshold: at threshold t it holds the risk that the population shows among the scores >= t.
The coverage next to it is that of the sample; the population's coverage at t has an error of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Any, Literal

import numpy as np

from abstain._checks import FRACTION, UnmetNeed, fraction, generator, not_negative, one_of, real, whole
from abstain._typing import ArrayLike, BoolArray, FloatArray
from abstain.curve import SLACK
from abstain.inference._binomial import beta_quantiles, check_level
from abstain.inference._interval import Interval
from abstain.inference._points import Points, points_of, spread, units_of, unseen_of
from abstain.inference._rests_on import FEWEST, LEAST, RestsOn, joined, with_whole_clusters

__all__ = ["RiskBand", "risk_band"]

Kind = Literal["pointwise", "simultaneous"]
Method = Literal["auto", "clopper-pearson", "influence", "multiplier", "dkw"]
Risk = Literal["selective", "generalized"]
Unseen = Literal["whole", "alike"]

#: Smallest coverage of a simultaneous band by default: below it the Gaussian process has too few errors to lean on.
MIN_COVERAGE = 0.1
#: What a shorter band assumes.
ALIKE = "the band assumes that the sample lacks no cluster that is wrong as a whole"
#: Multipliers drawn at once.
CHUNK = 4_000_000


@dataclass(frozen=True, eq=False, repr=False)
class RiskBand:
    """A confidence band over the attainable thresholds of one score.

    ``threshold`` (descending), ``coverage``, ``risk``, ``low``, ``high``: one entry per attainable point, with
    ``rests_on``, the effective number of accepted rows or clusters (``unit``);
    ``risk_kind``: ``"selective"`` or ``"generalized"``; ``kind``: ``"pointwise"`` (each threshold at its level) or
    ``"simultaneous"`` (all thresholds at once); ``method``; ``level``; ``min_coverage``: below it the band says
    nothing, [0, largest loss]; ``warning``: None, or what the reader must know.

    Examples
    --------
    >>> import abstain
    >>> band = abstain.inference.risk_band([0, 0, 1, 0] * 50, range(200))
    >>> band
    RiskBand(selective risk, pointwise, Clopper-Pearson, level=0.95, thresholds=200)
    >>> interval = band.at(100)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.169, 0.347)
    """

    threshold: FloatArray
    coverage: FloatArray
    risk: FloatArray
    low: FloatArray
    high: FloatArray
    rests_on: FloatArray
    unit: str
    risk_kind: Risk
    kind: Kind
    method: str
    level: float
    min_coverage: float
    warning: str | None = None

    def __len__(self) -> int:
        return len(self.threshold)

    def __repr__(self) -> str:
        return (
            f"RiskBand({self.risk_kind} risk, {self.kind}, {self.method}, level={self.level:g}, thresholds={len(self)})"
        )

    def at(self, threshold: float) -> Interval:
        """Return the band where scores >= threshold are accepted; above the highest score it says nothing.

        Parameters
        ----------
        threshold : float

        Returns
        -------
        Interval
        """
        threshold = real(threshold, "threshold", "on the scale of the scores")
        if np.isnan(threshold):
            raise ValueError("threshold is NaN; give a score")
        j = int(np.searchsorted(-self.threshold, -threshold, side="right")) - 1
        if j < 0:
            why = "nothing is accepted at this threshold"
            return Interval(np.nan, np.nan, np.nan, np.nan, self.level, "none", 0.0, why)
        ends, rests = (float(self.low[j]), float(self.high[j])), RestsOn(float(self.rests_on[j]), self.unit)
        note = joined(rests.note, self.warning)
        return Interval(*ends, float(self.risk[j]), np.nan, self.level, self.method, np.nan, note, rests)

    def table(self) -> dict[str, FloatArray]:
        """Return the band as columns, ready for any data-frame constructor."""
        return {name: getattr(self, name) for name in ("threshold", "coverage", "risk", "low", "high", "rests_on")}

    def coverage_at_risk_interval(self, risk: float) -> Interval:
        """Return the coverages at which the risk may first exceed ``risk``, by reading the band sideways.

        From the largest coverage whose whole band is at most ``risk`` (0 if there is none) to the largest whose
        lower end is.

        Parameters
        ----------
        risk : float >= 0
            The risk that is tolerated, as a fraction.

        Returns
        -------
        Interval
            Of the coverage, with the empirical coverage at this risk as its estimate (0: unattainable).

        Raises
        ------
        ValueError
            A negative risk.

        Notes
        -----
        Coverages are those of the sample. From a simultaneous band it holds for any curve; from a pointwise band for
        one that rises through ``risk``, where only the threshold of the crossing has to be covered.
        """
        risk = not_negative(risk, "risk", FRACTION)

        def largest(within: BoolArray) -> float:
            return float(self.coverage[np.flatnonzero(within)[-1]]) if within.any() else 0.0

        tolerated = risk * (1.0 + SLACK)
        low, high, estimate = (largest(each <= tolerated) for each in (self.high, self.low, self.risk))
        rests = RestsOn(float(self.rests_on[np.flatnonzero(self.coverage >= estimate)[0]]), self.unit)
        method, note = f"inverted band, {self.method}", joined(rests.note, self.warning)
        return Interval(low, high, estimate, np.nan, self.level, method, np.nan, note, rests)


def risk_band(
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    level: float = 0.95,
    kind: Kind = "pointwise",
    method: Method = "auto",
    min_coverage: float | None = None,
    risk: Risk = "selective",
    sample_weight: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    unseen: Unseen = "whole",
    n_draws: int = 1000,
    rng: int | np.random.Generator | None = 0,
) -> RiskBand:
    r"""Return a confidence band of the risk over all attainable thresholds.

    Simultaneous: the studentised process of the errors of the curve is drawn with Gaussian multipliers :math:`\xi_i`,

    .. math:: \max_j \left|\sum_i \xi_i\, \frac{w_i(\ell_i - R_j)A_{ij}}{W_j\,\text{SE}_j}\right|

    (:math:`A_{ij}`: sample i is accepted at threshold j), and its quantile gives the level at which the pointwise
    interval of every threshold is taken.

    Parameters
    ----------
    loss : array-like of shape (n_samples,)
    confidence : array-like of shape (n_samples,)
    level : float in (0, 1)
    kind : {"pointwise", "simultaneous"}
        Each threshold, if it was fixed before the data were seen; or all thresholds at once, also one that was
        chosen on these data.
    method : {"auto", "clopper-pearson", "influence", "multiplier", "dkw"}
        ``"auto"``, pointwise: Clopper-Pearson for a plain 0/1 loss, else influence functions with Student's t on the
        log scale. ``"auto"``, simultaneous: ``"multiplier"``, as above. ``"dkw"``: simultaneous and valid at every
        sample size, for i.i.d. losses in [0, 1]; wide where little is accepted.
    min_coverage : float in [0, 1], optional
        Smallest coverage over which a simultaneous band by multipliers holds; default 0.1.
    risk : {"selective", "generalized"}
        Loss per accepted sample, or accepted loss per sample.
    sample_weight : array-like of shape (n_samples,), optional
    clusters : array-like of shape (n_samples,), optional
        Groups of dependent samples; their terms are summed first. One whose weights are 0 is none.
    unseen : {"whole", "alike"}
        What clusters that the sample lacks may be like, where fewer than 20 decide: wrong as a whole, or like those
        with errors that were seen.
    n_draws : int
        Multiplier draws.
    rng : int, numpy.random.Generator or None

    Returns
    -------
    RiskBand
        Ends >= 0, and <= 1 for losses in [0, 1].

    Raises
    ------
    ValueError, TypeError
        Bad columns or options; a method of the other kind; a single cluster.
    UnmetNeed
        Clopper-Pearson of another loss than a plain 0/1 loss; DKW with weights, clusters or losses above 1.

    See Also
    --------
    abstain.thresholds.certified_band : one-sided bounds that certify a threshold chosen by them.

    Notes
    -----
    Tied samples are accepted together: only attainable thresholds have an entry. From 20,000 thresholds on the ends of
    Clopper-Pearson are interpolated in SciPy's inverse of the incomplete beta function, to 10 digits.

    In simulations with known truth (seven curves, n = 200 to 5000) multiplier bands at 95 % held everywhere in 92 to
    98 % of samples, for 0/1 losses also down to 2 % coverage; exponential losses down to 2 % coverage, four accepted of
    n = 200: 89.5 %.

    **Clusters.** The degrees of freedom follow from the fourth moment of the sums of clusters, and are at most the
    effective number of clusters less one: :math:`(\sum m)^2 / \sum m^2` of the accepted weights m. The upper end has
    room for one more cluster with losses, drawn in proportion to losses from those that were seen: where it lies
    further out, it is the quantile of a gamma distribution with that mean and variance; the lower end is that of
    Student's t on the scale of square roots. Below 20 effective clusters the upper end has room for a share of
    clusters that are wrong as a whole, too, with scores like those of the others: of m clusters none is with the
    probability a if the share is 1 - a^(1/m). With ``unseen="alike"`` it has none. With fewer than six of similar size
    the band says nothing. The interval ``at`` a threshold, and the ``warning`` of a simultaneous band, have their
    number below thirty.

    DKW: the generalized risk G of a 0/1 loss is the tail of a distribution (of the scores of the failures; right
    predictions at -inf), so :math:`P(\sup|\hat G - G| > \epsilon) \le 2e^{-2n\epsilon^2}` (Massart). A loss in
    [0, 1] is the mean of a 0/1 loss drawn with that probability, whence, by Jensen's and Markov's inequality on the
    hinge, :math:`P \le \min_s \int_s^\infty 2e^{-2nx^2}dx\,/\,(\epsilon - s)`. The selective band is
    :math:`(\hat G \pm \epsilon_G)/(\hat c \mp \epsilon_c)`, each at half of 1 - level.

    References
    ----------
    Clopper & Pearson (1934); Massart (1990), Annals of Probability; Chernozhukov, Chetverikov & Kato (2013), Annals
    of Statistics (Gaussian multipliers).

    Examples
    --------
    >>> import abstain
    >>> loss, confidence = [0, 0, 0, 1, 0, 1] * 50, [k * 7 % 300 for k in range(300)]
    >>> band = abstain.inference.risk_band(loss, confidence, kind="simultaneous")
    >>> interval = band.at(0)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.26, 0.41)
    """
    level, n_draws, rng = check_level(level), whole(n_draws, "n_draws", 100, usual=1000), generator(rng)
    one_of(kind, ("pointwise", "simultaneous"), "kind")
    one_of(risk, ("selective", "generalized"), "risk")
    one_of(unseen, ("whole", "alike"), "unseen")
    allowed = ("auto", *(("clopper-pearson", "influence") if kind == "pointwise" else ("multiplier", "dkw")))
    if not isinstance(method, str) or method not in allowed:
        raise ValueError(f"method={method!r} gives no {kind} band; choose from {', '.join(allowed)}")
    if min_coverage is not None and (kind == "pointwise" or method == "dkw"):
        raise ValueError(f"min_coverage={min_coverage!r} belongs to a simultaneous band by multipliers; leave it out")
    points = points_of(loss, confidence, sample_weight, clusters, risk == "generalized")
    if method == "clopper-pearson" and not points.plain:
        raise UnmetNeed('Clopper-Pearson needs a 0/1 loss without weights and clusters; use method="influence"')
    start = 0.0
    if method == "dkw":
        low, high, name = *_dkw(points, 1.0 - level), "DKW"
    elif kind == "pointwise":
        low, high, name = _ends(points, 0.5 - 0.5 * level, points.plain and method != "influence")
    else:
        start = MIN_COVERAGE if min_coverage is None else fraction(min_coverage, "min_coverage")
        valid = points.coverage >= start - SLACK
        tail = _tail(points, valid, level, n_draws, generator(rng))
        low, high, name = _ends(points, tail, points.plain)
        low, high, name = np.where(valid, low, 0.0), np.where(valid, high, points.largest), f"max-t, {name}"
    warning, number = None, units_of(points)
    if clusters is not None:
        few, known = number < FEWEST, number >= LEAST
        if unseen == "whole":
            worst = points.largest * (points.coverage if points.generalized else np.ones_like(number))
            high = np.where(few, np.maximum(high, with_whole_clusters(points.risk, worst, number, level)), high)
        low, high = np.where(known, low, 0.0), np.where(known, high, points.largest)
        counts = points.coverage >= start - SLACK
        fewest = float(number[known & counts].min(initial=np.inf))
        if not known.any():
            warning = f"the band says nothing: {number.max():.1f} clusters of equal weight would show as much"
        else:
            note = RestsOn(fewest, "clusters").note if kind == "simultaneous" else None
            most = float(number[counts].max())
            if unseen == "alike":
                note = joined(note, ALIKE if few[counts].any() else None)
            elif note is not None and fewest < FEWEST <= most:
                note += f"; where 20 or more do (here up to {most:.0f}), no room for clusters that are wrong as a whole"
            warning = note
    unit = "rows" if clusters is None else "clusters"
    columns = points.threshold, points.coverage, points.risk, low, high, number
    return RiskBand(*columns, unit, risk, kind, name, level, start, warning)


# ---------------------------------------------------------------------- ends


def _ends(points: Points, tail: float, binomial: bool) -> tuple[FloatArray, FloatArray, str]:
    """Return the interval of each point that leaves ``tail`` out on either side."""
    if binomial:
        accepted = np.full_like(points.accepted, points.loss.size) if points.generalized else points.accepted
        errors = np.round(points.risk * accepted)  # the tail is the same without errors: no side depends on the data
        right = accepted - errors
        some, wrong = errors > 0.0, right == 0.0
        low = beta_quantiles(np.where(some, errors, 1.0), right + 1.0, tail)
        high = beta_quantiles(errors + 1.0, np.where(wrong, 1.0, right), 1.0 - tail)
        return np.where(some, low, 0.0), np.where(wrong, 1.0, high), "Clopper-Pearson"
    from scipy.special import gammaincinv, stdtrit

    error, df = spread(points)
    known = (points.risk > 0.0) & (error > 1e-12 * points.risk)
    risk, error = np.where(known, points.risk, 1.0), np.where(known, error, 0.0)
    with np.errstate(over="ignore"):
        width = np.exp(np.minimum(stdtrit(np.maximum(df, 0.5), 1.0 - tail) * error / risk, 700.0))
    low, high = risk / width, risk * width
    if (more := unseen_of(points)) is not None:  # room for one more cluster with losses, as for rows one more error
        mean, variance = risk + more, np.where(known, error**2 + more**2, 1.0)
        high = np.maximum(high, gammaincinv(mean**2 / variance, 1.0 - tail) * variance / mean)
        # a sum of rare events has a constant spread on the scale of roots, where a lower end lies further out
        low = np.minimum(low, risk * np.maximum(1.0 - 0.5 * np.log(width), 0.0) ** 2)
    return (
        np.where(known, low, 0.0),
        np.where(known, np.minimum(high, points.largest), points.largest),
        "log-t",
    )


def _tail(points: Points, valid: BoolArray, level: float, n_draws: int, rng: np.random.Generator) -> float:
    """Return the tail beyond the quantile of the largest studentised deviation."""
    from scipy.special import ndtr

    error, _ = spread(points)
    used = valid & (error > 1e-12 * points.risk) & (points.risk > 0.0)
    if not used.any():
        return 0.5 - 0.5 * level
    end, risk, scale = points.end[used], points.risk[used], (points.denominator * error)[used]
    weighted_loss = points.weight * points.loss
    largest = np.empty(n_draws)
    rows = max(1, CHUNK // points.loss.size)
    for first in range(0, n_draws, rows):
        normal: Any = rng.standard_normal((min(rows, n_draws - first), points.n_units))
        if points.cluster is not None:
            normal = normal[:, points.cluster]
        accepted = np.cumsum(normal * points.weight, axis=1)
        accepted = accepted[:, -1:] if points.generalized else accepted[:, end]
        process = (np.cumsum(normal * weighted_loss, axis=1)[:, end] - risk * accepted) / scale
        largest[first : first + rows] = np.abs(process).max(axis=1)
    return float(ndtr(-np.quantile(largest, level, method="higher")))


# ---------------------------------------------------------------------- Dvoretzky, Kiefer, Wolfowitz


def _dkw(points: Points, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Return the band that holds at every sample size."""
    if points.weighted or points.cluster is not None:
        raise UnmetNeed('method="dkw" needs independent samples of equal weight; use method="multiplier"')
    if points.largest > 1.0:
        raise UnmetNeed(f'method="dkw" needs losses in [0, 1], the largest is {points.loss.max():.6g}; rescale them')
    n, share = points.loss.size, alpha if points.generalized else 0.5 * alpha
    around = (sqrt(log(2.0 / share) / 2.0) if points.plain else _graded(share)) / sqrt(n)
    risk = points.risk if points.generalized else points.risk * points.coverage
    least, most = np.maximum(risk - around, 0.0), np.minimum(risk + around, 1.0)
    if points.generalized:
        return least, most
    off = sqrt(log(2.0 / share) / 2.0) / sqrt(n)
    room = points.coverage - off
    high = np.where(room > 0.0, most / np.where(room > 0.0, room, 1.0), 1.0)
    return least / np.minimum(points.coverage + off, 1.0), np.minimum(high, 1.0)


def _graded(alpha: float) -> float:
    """Smallest x with min_s int_s^inf 2 exp(-2 t^2) dt / (x - s) <= alpha: the deviation of a loss in [0, 1]."""
    from scipy.special import erfc

    low, high = sqrt(log(2.0 / alpha) / 2.0), sqrt(log(2.0 / alpha) / 2.0) + 1.0
    for _ in range(60):
        x = 0.5 * (low + high)
        s = np.linspace(0.6, x, 2000, endpoint=False)  # beyond .589 the bound on the tail is below 1
        held = np.min(sqrt(np.pi / 2.0) * erfc(sqrt(2.0) * s) / (x - s)) <= alpha
        low, high = (low, x) if held else (x, high)
    return high
