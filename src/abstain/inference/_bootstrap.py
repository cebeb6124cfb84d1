"""Bootstrap of any metric on tables: i.i.d., stratified or clustered; percentile and BCa intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from abstain._checks import Undefined, UnmetNeed, one_of, to_numpy, whole
from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks
from abstain.inference._binomial import check_level
from abstain.inference._columns import as_metric, evaluated, on_columns
from abstain.inference._influence import terms_of
from abstain.inference._interval import Interval, no_interval, without_spread
from abstain.inference._replicates import prepare, replicates, run, value_of, work_of
from abstain.inference._resample import Resampling, Sampling, resampling
from abstain.inference._rests_on import RestsOn, joined, rests_on
from abstain.inference._scans import Backend, Column, choose
from abstain.inference._spread import FEW_CLUSTERS, informative, limit_of, looked_at, powers_of, warning_light
from abstain.metrics import Metric

__all__ = ["Bootstrap", "bootstrap", "replicates"]

#: Fewer resamples than this leave two or three replicates in each tail of a 95 % interval.
FEW_RESAMPLES = 100
#: More values than this are not left out one by one for the acceleration of a metric without a gradient.
MOST_LEFT_OUT = 2000


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """The bootstrap of one metric: its replicates, and the intervals that follow.

    ``metric``: the metric; ``estimate``: its value on the data; ``replicates``: shape (n_resamples,), NaN where
    the metric is undefined; ``method``: ``"iid"``, ``"stratified"``, ``"clustered"`` or ``"clustered, stratified"``;
    ``backend``: ``"numpy"`` or ``"numba"``; ``seed``: None if a generator was passed; ``df``: degrees of freedom that
    influence functions and the number of errors leave (inf: nothing is known); ``warning``: None, or what the reader
    must know; ``rests_on``: the effective number of independent units, with what they are.

    Examples
    --------
    >>> import abstain
    >>> result = abstain.inference.bootstrap("augrc", [0, 1, 0, 0, 1, 0] * 20, range(120))
    >>> result
    Bootstrap(AUGRC = 0.167, SE 0.025, iid, n_resamples=1000, undefined=0)
    >>> result.interval(0.95, "bca").method
    'BCa'
    """

    metric: Metric
    estimate: float
    replicates: FloatArray
    method: str
    backend: str
    seed: int | None
    df: float
    warning: str | None
    rests_on: RestsOn
    _column: Column
    _plan: Resampling
    _terms: FloatArray | None

    @property
    def defined(self) -> FloatArray:
        """Replicates on which the metric is defined."""
        return self.replicates[~np.isnan(self.replicates)]

    @property
    def n_undefined(self) -> int:
        """Replicates on which the metric is undefined; they are left out."""
        return int(np.count_nonzero(np.isnan(self.replicates)))

    @property
    def standard_error(self) -> float:
        """Standard deviation of the defined replicates; NaN with fewer than two."""
        return float(np.std(self.defined, ddof=1)) if self.defined.size > 1 else np.nan

    def interval(self, level: float = 0.95, method: Literal["percentile", "bca"] = "percentile") -> Interval:
        r"""Return the percentile interval, or the bias-corrected and accelerated one (BCa).

        Both are quantiles of the replicates; BCa moves their probabilities :math:`p` to

        .. math:: \Phi\!\left(z_0 + \frac{z_0 + z_p}{1 - a\,(z_0 + z_p)}\right)

        with :math:`z_0` from the share of replicates below the estimate (equal ones count half) and the
        acceleration :math:`a = \sum t_i^3 / 6 (\sum t_i^2)^{3/2}` of the influences, or of leave-one-out values.

        Parameters
        ----------
        level : float in (0, 1)
        method : {"percentile", "bca"}

        Returns
        -------
        Interval

        Raises
        ------
        ValueError
            A level outside (0, 1); BCa from fewer than 100 resamples.
        UnmetNeed
            BCa of a metric without a gradient on more than 2000 different samples (or clusters).

        References
        ----------
        Efron (1987), JASA: BCa.
        """
        level = check_level(level)
        one_of(method, ("percentile", "bca"), "method")
        if method == "bca" and self.replicates.size < FEW_RESAMPLES:
            few = f"BCa needs n_resamples >= {FEW_RESAMPLES}, got {self.replicates.size}"
            raise ValueError(f'{few}; resample more often, or use method="percentile"')

        def bca(tails: FloatArray) -> FloatArray | None:
            terms = self._terms if self._terms is not None else _left_out(self.metric, self._column, self._plan)
            square = float(np.sum(terms**2))
            acceleration = float(np.sum(terms**3)) / (6.0 * square**1.5) if square > 0.0 else 0.0
            return _bca(tails, _share_below(self.defined, self.estimate), acceleration)

        return of_replicates(
            self.metric,
            self._column.blocks,
            self.estimate,
            self.defined,
            level,
            self.df,
            self.warning,
            self.rests_on,
            bca if method == "bca" else None,
        )

    def __repr__(self) -> str:
        return (
            f"Bootstrap({self.metric.label} = {self.estimate:.3g}, SE {self.standard_error:.3g}, {self.method}, "
            f"n_resamples={self.replicates.size}, undefined={self.n_undefined})"
        )


def bootstrap(
    metric: str | Metric,
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
    progress: bool = False,
    backend: Backend = "auto",
) -> Bootstrap:
    r"""Resample the data with replacement and evaluate the metric on each resample.

    .. math:: \theta^*_b = \theta\Bigl(\sum_{i \in k} c_{bi} w_i,\ \sum_{i \in k} c_{bi} w_i \ell_i\Bigr)

    with :math:`c_{bi}` how often sample i was drawn: the table of the data under other weights, sorted once.

    Parameters
    ----------
    metric : str or Metric
        Any metric on a table, with or without a gradient, or a mean over predictions.
    loss, confidence : array-like of shape (n_samples,)
        As in :func:`confidence_interval`.
    sample_weight : array-like of shape (n_samples,), optional
        Fixed weights; a drawn sample brings its weight along.
    strata : array-like of shape (n_samples,), optional
        The number of samples (or clusters) of each stratum stays fixed, for example in-distribution and OOD.
    clusters : array-like of shape (n_samples,), optional
        Whole groups are drawn: patients, or an image with its corrupted versions.
    n_resamples : int
        At least 2; from 1000 on the interval hardly depends on the seed.
    rng : int, numpy.random.Generator or None
        The same seed gives the same numbers, to 1e-12 on either backend.
    progress : bool
        Show a progress bar on a terminal (with rich).
    backend : {"auto", "numpy", "numba"}
        ``"auto"``: numba if it is installed and the work is worth loading it.

    Returns
    -------
    Bootstrap

    Raises
    ------
    UnmetNeed
        The metric needs what the input does not hold, or is not evaluated on a table.
    ValueError, TypeError
        Bad columns; one cluster; a cluster in two strata; fewer than 2 resamples; an unknown metric.
    ImportError
        ``backend="numba"`` without numba.

    Notes
    -----
    A tie stays a tie, and a sample drawn twice is tied with itself. Replicates on which the metric is undefined
    are left out and counted; for ``coverage_at_risk`` a risk that no threshold attains counts as coverage 0.
    For metrics with a gradient :func:`confidence_interval` needs no resamples and covers better for few errors, or in
    small strata: of a stratum of u samples (or clusters) a bootstrap shows (u - 1)/u of the variance, with a warning
    below ten.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap.

    Examples
    --------
    >>> import abstain
    >>> result = abstain.inference.bootstrap("coverage_at_risk", [0, 0, 1, 0] * 25, range(100), rng=1)
    >>> result.interval(0.95).method
    'percentile'
    """
    chosen, loss, confidence = on_columns(as_metric(metric), loss, confidence)
    n_resamples = whole(n_resamples, "n_resamples", 2, usual=1000)
    column = prepare(loss, confidence, sample_weight, [chosen])
    n = column.order.size
    sampling = Sampling.of(n, strata, clusters)
    how = resampling(n, sampling)
    estimate, reason = evaluated(chosen, column.blocks)
    compiled = choose(backend, work_of([chosen], [column], n_resamples))
    drawn = run([chosen], [column], how, n_resamples, rng, compiled, progress)[:, 0, 0]
    terms = _influence_terms(chosen, column, sampling) if reason is None else None
    most_df = limit_of(chosen, column.blocks).df
    df = most_df if terms is None else informative(chosen, powers_of(terms), most_df)
    n_undefined = int(np.count_nonzero(np.isnan(drawn)))
    rests = rests_on(column.blocks, sampling, looked_at(chosen, column.blocks)[0])
    notes = [
        reason,
        rests.note,
        f"{n_undefined} of {n_resamples} replicates are undefined and left out" if n_undefined else "",
        "too few failures or successes for a trustworthy interval" if n_undefined > 0.01 * n_resamples else "",
        of_resampling(chosen, n_resamples, None if strata is None else how),
        warning_light(df, None if clusters is None else how.n_units),
    ]
    kinds = [word for word, given in (("clustered", clusters), ("stratified", strata)) if given is not None]
    seed = rng if isinstance(rng, int) else None
    return Bootstrap(
        chosen,
        estimate,
        drawn,
        ", ".join(kinds) or "iid",
        "numba" if compiled else "numpy",
        seed,
        df,
        joined(*notes),
        rests,
        column,
        how,
        terms,
    )


# ---------------------------------------------------------------------- intervals


def of_replicates(
    metric: Metric,
    blocks: TieBlocks,
    estimate: float,
    drawn: FloatArray,
    level: float,
    df: float,
    note: str | None,
    rests: RestsOn,
    move: Callable[[FloatArray], FloatArray | None] | None = None,
) -> Interval:
    """Return the percentile interval of defined replicates; ``move`` corrects the probabilities of its ends (BCa)."""
    error = float(np.std(drawn, ddof=1)) if drawn.size > 1 else np.nan
    if rests.refusal is not None:
        return no_interval(estimate, error, level, rests.refusal)._replace(rests_on=rests)
    if np.isnan(estimate) or drawn.size < 2:
        return no_interval(estimate, error, level, note or "fewer than two replicates are defined")
    if error <= 1e-12 * max(1.0, abs(estimate)):
        return without_spread(metric, blocks, estimate, level, (), rests)
    tails, name = np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level]), "percentile"
    if move is not None:
        moved = move(tails)
        if moved is None:
            note = joined(note, "BCa is undefined here (the estimate lies outside its replicates): percentile")
        else:
            tails, name = moved, "BCa"
    if tails[0] * (drawn.size + 1) < 1.0 or (1.0 - tails[1]) * (drawn.size + 1) < 1.0:
        note = joined(note, "an end is the most extreme replicate: use a larger n_resamples")
    low, high = np.quantile(drawn, tails, method="weibull")
    return Interval(float(low), float(high), estimate, error, level, name, df, note, rests)


def of_resampling(metric: Metric, n_resamples: int, stratified: Resampling | None) -> str | None:
    """Return what to know of a bootstrap of this metric with so many resamples, and within strata as they are."""
    few = f"only {n_resamples} resamples: use 1000" if n_resamples < FEW_RESAMPLES else None
    bias = f"the bias of {metric.name} does not vanish compared with its spread"
    biased, short = bias if metric.inference_kind == "none" else None, None
    if stratified is not None and stratified.smallest < FEW_CLUSTERS:
        unit = "sample" if stratified.unit is None else "cluster"
        short = (
            f"the smallest stratum holds {stratified.smallest} {unit}(s): of u in a stratum a bootstrap shows "
            "(u - 1)/u of the variance, so this spread is too small"
        )
    jumping = None if metric.tolerated is None else "its threshold jumps: this bootstrap covers less than its level"
    return joined(few, biased, jumping, short)


def _influence_terms(metric: Metric, column: Column, sampling: Sampling) -> FloatArray | None:
    """Return the terms whose squares sum to the variance, or None for a metric without a usable gradient."""
    if metric.inference_kind in ("bootstrap", "none") or metric.smooth.gradient is None:
        return None
    try:
        return terms_of(metric, column.blocks, sampling)
    except (Undefined, UnmetNeed):
        return None


def _share_below(drawn: FloatArray, estimate: float) -> float:
    """Return the share of replicates below the estimate; those equal to it, up to rounding, count half."""
    near = 1e-12 * max(1.0, abs(estimate))
    return float(np.mean(drawn < estimate - near) + 0.5 * np.mean(np.abs(drawn - estimate) <= near))


def _bca(tails: FloatArray, share_below: float, acceleration: float) -> FloatArray | None:
    """Move the tail probabilities; None where the correction has no finite value."""
    from scipy.special import ndtr, ndtri

    if share_below in (0.0, 1.0):
        return None
    z0 = ndtri(share_below)
    shifted = z0 + ndtri(tails)
    below = 1.0 - acceleration * shifted
    if (below <= 0.0).any():
        return None
    return np.asarray(ndtr(z0 + shifted / below))


def _left_out(metric: Metric, column: Column, how: Resampling) -> FloatArray:
    """Return how the metric falls short when each sample (or cluster) is left out, centred within strata."""
    samples = column.blocks._kept
    if how.unit is None:  # samples of equal score, loss and weight do the same
        weight = np.ones(how.n) if samples.sample_weight is None else to_numpy(samples.sample_weight)
        traits = np.stack([to_numpy(samples.block), to_numpy(samples.loss), weight], axis=1)
        _, first, kind = np.unique(traits, axis=0, return_index=True, return_inverse=True)
    else:
        first, kind = np.arange(how.n_units), np.arange(how.n_units)
    if first.size > MOST_LEFT_OUT:
        raise UnmetNeed(
            f'BCa of {metric.name} would leave out {first.size} samples one by one; use method="percentile"'
        )
    values = np.empty(first.size)
    for k, unit in enumerate(first):
        count = np.ones(how.n, np.uint8)
        count[how.unit == unit if how.unit is not None else unit] = 0
        table = column.table(count)
        values[k] = np.nan if table is None else value_of(metric, table)
    if np.isnan(values).any():
        raise UnmetNeed(f'BCa: {metric.name} is undefined without one of the samples; use method="percentile"')
    terms = -values[kind.ravel()]
    for members in how.strata or (np.arange(terms.size),):
        terms[members] -= terms[members].mean()
    return terms
