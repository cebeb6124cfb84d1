"""Fourth step: how far a standard error can be trusted, by degrees of freedom and what few errors take from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from abstain._checks import to_numpy
from abstain._sums import inner, over_rows, parts
from abstain._typing import BoolArray, FloatArray
from abstain.blocks import TieBlocks
from abstain.curve import SLACK, RiskCoverageCurve
from abstain.inference._resample import Sampling
from abstain.inference._rests_on import RestsOn, Units, joined, rests_on, units_of
from abstain.metrics import Gradient, Metric, Relative, Tail

#: Below these degrees of freedom too few informative errors remain for any of these intervals.
FEW = 5.0
#: Why a metric that averages over the errors has no spread below one degree of freedom.
SINGLE = "a single error: how its rank would vary cannot be seen from one"
#: Fewer clusters than this estimate their variance badly.
FEW_CLUSTERS = 10


class Powers(NamedTuple):
    """How many terms there are, and the sums of their squares and fourth powers."""

    number: float
    square: float
    fourth: float

    @property
    def df(self) -> float:
        """Satterthwaite degrees of freedom of the sum of squares: 2n / (kurtosis - 1)."""
        if self.square == 0.0:
            return 0.0
        kurtosis = self.number * self.fourth / self.square**2
        return 2.0 * self.number / (kurtosis - 1.0) if kurtosis > 1.0 else np.inf


def powers_of(terms: FloatArray, times: FloatArray | None = None) -> Powers:
    """Return the sums over terms; ``times``: how many rows each stands for."""
    square = fourth = 0.0
    for part in parts(terms.size):
        squares, often = terms[part] * terms[part], None if times is None else times[part]
        square += over_rows(squares, often)
        squares *= squares
        fourth += over_rows(squares, often)
    return Powers(terms.size if times is None else over_rows(times), square, fourth)


def counted_powers(derivative: Gradient, blocks: TieBlocks) -> Powers:
    """Return the sums over rows of 0/1 losses that count once each, from the table: a block holds two kinds of them.

    The rows that are right would all have the term a of their block, those that are wrong have a + b.
    """
    if not blocks.weight.strides[0] and len(blocks) == blocks.n:  # no ties: a block is a row
        square = fourth = 0.0
        for part in parts(len(blocks)):
            terms = derivative.loss[part] * blocks.loss[part]
            terms += derivative.weight[part]
            terms *= terms
            square += float(np.add.reduce(terms))
            terms *= terms
            fourth += float(np.add.reduce(terms))
        return Powers(float(blocks.n), square, fourth)
    wrong = blocks.once("wrong", lambda: np.flatnonzero(blocks.loss))  # mostly few
    errors, squares = blocks.loss[wrong], (derivative.weight[wrong] + derivative.loss[wrong]) ** 2
    square, fourth = inner(errors, squares), inner(errors, squares * squares)
    for part in parts(len(blocks)):
        squares, right = derivative.weight[part] ** 2, blocks.weight[part] - blocks.loss[part]
        square += inner(right, squares)
        squares *= squares
        fourth += inner(right, squares)
    return Powers(float(blocks.n), square, fourth)


class Scatter(NamedTuple):
    """Of two numbers per row: how many rows, both means, and the sums of squares and products around them."""

    number: float
    first: float
    second: float
    squares: tuple[float, float, float]

    @classmethod
    def of(cls, number: float, columns: Callable[[slice], tuple[FloatArray, ...]], n: int) -> Scatter:
        """Return it from parts of n blocks: rows in each, and their two numbers."""
        if not number:
            return cls(0.0, 0.0, 0.0, (0.0, 0.0, 0.0))
        sums = np.zeros(2)
        for part in parts(n):
            often, *both = columns(part)
            sums += [inner(often, each) for each in both]
        first, second = (sums / number).tolist()
        squares = np.zeros(3)
        for part in parts(n):
            often, one, two = columns(part)
            one, two = one - first, two - second
            once = often * one
            squares += [inner(once, one), inner(once, two), inner(often, two * two)]
        a, b, c = squares.tolist()
        return cls(number, first, second, (a, b, c))

    def square(self, one: float, two: float, more: float) -> float:
        """Return the sum over rows of (one x the first + two x the second + more)^2."""
        mean = one * self.first + two * self.second + more
        a, b, c = self.squares
        return self.number * mean * mean + one * one * a + 2.0 * one * two * b + two * two * c


def scatters(derivative: Gradient, blocks: TieBlocks) -> tuple[Scatter, Scatter]:
    """Return how both columns scatter over the rows of 0/1 losses that are right, and over those that are wrong."""
    wrong = blocks.once("wrong", lambda: np.flatnonzero(blocks.loss))  # mostly few
    errors, *both = blocks.loss[wrong], *derivative.part(wrong)

    def right(part: slice) -> tuple[FloatArray, ...]:
        return blocks.weight[part] - blocks.loss[part], *derivative.part(part)

    return (
        Scatter.of(blocks.total_weight - blocks.total_loss, right, len(blocks)),
        Scatter.of(blocks.total_loss, lambda part: (errors[part], both[0][part], both[1][part]), wrong.size),
    )


def effective_losses(loss: FloatArray, weight: FloatArray | None, times: FloatArray | None = None) -> float:
    """Return how many samples carry the spread of the losses: of a 0/1 loss about as many as the rarer kind."""
    share = weight if times is None else times if weight is None else times * weight
    apart = loss - np.average(loss, weights=share)
    squares = np.square(apart if weight is None else weight * apart)
    fourth = over_rows(squares**2, times)
    return over_rows(squares, times) ** 2 / fourth if fourth > 0.0 else 0.0


def _of_errors(blocks: TieBlocks) -> float:
    """Return the same of 0/1 losses that count once each, from the number of errors."""
    wrong, right = blocks.mean_loss, 1.0 - blocks.mean_loss
    fourth = wrong * right**4 + right * wrong**4
    return blocks.n * (wrong * right) ** 2 / fourth if fourth > 0.0 else 0.0


class Limit(NamedTuple):
    """What the number of errors allows: the factor by which an error falls short, and most degrees of freedom."""

    factor: float = 1.0
    df: float = math.inf


def limit_of(metric: Metric, blocks: TieBlocks) -> Limit:
    """Return the limit of a metric that averages over few errors, or rests on a far quantile; none for any other."""
    few = metric.said(metric.few_errors)
    if few is None:
        return Limit()
    samples = blocks._kept
    loss, weight = to_numpy(samples.loss), None if samples.sample_weight is None else to_numpy(samples.sample_weight)
    if isinstance(few, Tail):
        kind = loss == (1.0 if few.of == "errors" else 0.0)
        kind = kind if weight is None else kind & (weight > 0.0)
        number = float(np.count_nonzero(kind)) if samples.times is None else over_rows(samples.times[kind])
        return Limit(df=min(1.0, 4.0 * few.beyond) * number)
    number = _of_errors(blocks) if blocks.binary and weight is None else effective_losses(loss, weight, samples.times)
    return Limit(number / max(number - 1.0, 1e-9), number - 1.0)


def informative(metric: Metric, powers: Powers, most_df: float) -> float:
    """Return the degrees of freedom of the terms, at most those that the errors and the number of terms allow."""
    few = metric.said(metric.few_errors)
    share = few.share if isinstance(few, Relative) else 1.0
    return min(share * powers.df, most_df, powers.number - 1.0)


class Spread(NamedTuple):
    """How an estimate on a table varies, and what the reader must know of that.

    ``independent``: neither strata nor clusters, so that a share of errors is binomial; ``units``: what the metric
    looks at, of a risk at a threshold what is accepted; ``flawless``: nothing that is accepted is wrong.
    """

    metric: Metric
    blocks: TieBlocks
    estimate: float
    error: float
    df: float
    independent: bool
    note: str | None
    rests: RestsOn | None
    units: Units
    flawless: bool = False

    @property
    def vanishes(self) -> bool:
        """Whether the error is 0 but for rounding."""
        return self.error <= 1e-12 * max(1.0, abs(self.estimate))


def spread_of(
    metric: Metric,
    blocks: TieBlocks,
    estimate: float,
    powers: Powers,
    most_df: float,
    sampling: Sampling,
) -> Spread:
    """Return the spread of an estimate whose squared terms sum to its variance."""
    df = informative(metric, powers, most_df)
    light = warning_light(df, None if sampling.clusters is None else int(powers.number))
    doubt = None if metric.doubt is None else metric.doubt(blocks, **metric.settings)
    within, flawless = looked_at(metric, blocks)
    units = units_of(blocks, sampling, within)
    rests = RestsOn(units.number, units.unit) if flawless else rests_on(blocks, sampling, within)
    note, error = joined(rests.note, light, edge_of_a_tie(metric, blocks), doubt), math.sqrt(powers.square)
    return Spread(metric, blocks, estimate, error, df, sampling.independent, note, rests, units, flawless)


def looked_at(metric: Metric, blocks: TieBlocks) -> tuple[int | None, bool]:
    """Return how many tie blocks a metric looks at, of a risk at a threshold those that are accepted, None for all.

    And whether none of these is wrong: errors among the others say nothing of what is accepted.
    """
    fact = metric.said(metric.accepted_loss)
    if fact is None:
        return None, False
    curve = RiskCoverageCurve(blocks)
    point = curve.at(coverage=fact.coverage) if fact.threshold is None else curve.at(threshold=fact.threshold)
    if point.n_accepted == 0 or fact.per == "all":
        return None, point.n_accepted > 0 and point.selective_risk <= 0.0
    return int(np.count_nonzero(blocks.score >= point.threshold)), point.selective_risk <= 0.0


def coverage_of(metric: Metric) -> float | None:
    """Return the fixed coverage at which the threshold of a metric moves with the sample; None for any other."""
    fact = metric.said(metric.accepted_loss)
    return None if metric.inference_kind != "quantile" or fact is None else fact.coverage


def jumps(metric: Metric, blocks: TieBlocks) -> bool:
    """Whether the threshold of a fixed coverage lies in a tie that is wider than two of its standard errors."""
    coverage = coverage_of(metric)
    if coverage is None or coverage >= 1.0:
        return False
    ends = blocks.cumulative_weight / blocks.total_weight
    j = min(int(np.searchsorted(ends, coverage - SLACK)), len(ends) - 1)
    return float(blocks.weight[j] / blocks.total_weight) > 2.0 * math.sqrt(coverage * (1.0 - coverage) / blocks.n)


def edge_of_a_tie(metric: Metric, blocks: TieBlocks) -> str | None:
    """Warn where the asked coverage lies within two standard errors of the end of a wide tie."""
    coverage = coverage_of(metric)
    if coverage is None or not both_sides(coverage, blocks).any():
        return None
    return f"coverage {coverage:g} is at the edge of a wide tie, where the threshold flips: fix a threshold instead"


def both_sides(coverage: float, blocks: TieBlocks) -> BoolArray:
    """Return which blocks may hold the population's threshold, if the edge of a wide tie is near; else none of them."""
    share = blocks.weight / blocks.total_weight
    wide: BoolArray = share >= blocks.n ** (-1.0 / 3.0)
    if not wide.any():
        return wide
    ends = blocks.cumulative_weight / blocks.total_weight
    reach = 2.0 * math.sqrt(coverage * (1.0 - coverage) / blocks.n)
    near = (np.abs(ends - coverage) < reach) & (wide | np.append(wide[1:], False)) & (ends < 1.0)
    return np.asarray((ends > coverage - reach) & (ends - share < coverage + reach) & near.any())


def warning_light(df: float, n_clusters: int | None) -> str | None:
    """Return what to know of an interval with so few degrees of freedom or clusters, or None."""
    notes = []
    if df < FEW:
        notes.append(f"only {df:.1f} degrees of freedom: too few informative errors for a trustworthy interval")
    if n_clusters is not None and n_clusters < FEW_CLUSTERS:
        notes.append(f"only {n_clusters} clusters: the interval is a rough guide")
    return joined(*notes)


class Components(NamedTuple):
    """Variance of a mean over runs: from the test set, and from training (NaN: one run is not enough)."""

    test: float
    seed: float
    df: float

    @property
    def total(self) -> float:
        """Sum of what is known."""
        return self.test + (0.0 if np.isnan(self.seed) else self.seed)


def over_runs(terms: FloatArray) -> FloatArray:
    """Return the mean of terms over runs; of a single run its own, without a copy."""
    return np.asarray(terms[0] if len(terms) == 1 else terms.mean(axis=0))


def components(values: FloatArray, terms: FloatArray, df: float, times: FloatArray | None = None) -> Components:
    r"""Return the variance components of the mean of ``values`` over runs.

    All runs share the test set, so its part is the squared norm of the terms averaged over runs. The spread of the
    values between runs holds training noise and, because each run errs on other samples, test-set noise

    .. math:: I = \frac{1}{R-1}\sum_r \lVert t_r - \bar t\rVert^2

    that the first part counts already: training is what exceeds it, ``max(0, S^2 - I) / R``.

    Parameters
    ----------
    values : ndarray of shape (n_runs,)
    terms : ndarray of shape (n_runs, n_terms)
        Squares sum to the test-set variance of each run.
    df : float
        Degrees of freedom of the test-set part.
    times : ndarray of shape (n_terms,), optional
        Of a single run: how many rows each term stands for.

    Notes
    -----
    The degrees of freedom of the sum are Welch and Satterthwaite's, of S^2/R (R - 1 of them) and of the part that all
    runs share. Two runs: nothing is subtracted, because S^2 with its single degree of freedom is often far too small
    by chance; with the subtraction the test of two equal models rejected 7.5 to 9.3 % (n = 300), without it 3.9 to
    6.5 %; from three runs on it rejects 3.2 to 5.6 % with it.
    """
    runs = values.size
    mean = over_runs(terms)
    if runs == 1:
        return of_one(mean, df, times)
    test = float(mean @ mean)
    between = float(np.var(values, ddof=1)) / runs
    inside = 0.0 if runs == 2 else float(np.sum((terms - mean) ** 2)) / (runs - 1) / runs
    if between <= inside:
        return Components(test, 0.0, df)
    return Components(test, between - inside, satterthwaite((max(test - inside, 0.0), df), (between, runs - 1.0)))


def satterthwaite(*parts: tuple[float, float]) -> float:
    """Return the degrees of freedom of a sum of independent variances, each given with its own."""
    total = sum(variance for variance, _ in parts)
    spread = sum(variance**2 / df for variance, df in parts if variance > 0.0)
    return np.inf if spread == 0.0 else total**2 / spread


def of_pair(
    values: tuple[FloatArray, FloatArray],
    terms: tuple[FloatArray, FloatArray],
    df: float,
    paired: bool,
) -> Components:
    """Return the variance components of a difference of means over runs.

    Runs that belong together (the same trained model, two scores) are subtracted run by run; runs of models that
    were trained apart add their training variances.
    """
    if paired:
        return components(values[0] - values[1], terms[0] - terms[1], df)
    difference = over_runs(terms[0]) - over_runs(terms[1])
    test = float(difference @ difference)
    first, second = (components(value, term, df) for value, term in zip(values, terms, strict=True))
    if np.isnan(first.seed) or np.isnan(second.seed):
        return Components(test, np.nan, df)
    if first.seed + second.seed == 0.0:
        return Components(test, 0.0, df)
    parts = [(part.seed, value.size - 1.0) for part, value in zip((first, second), values, strict=True)]
    return Components(test, first.seed + second.seed, satterthwaite((test, df), *parts))


def of_one(terms: FloatArray, df: float, times: FloatArray | None = None) -> Components:
    """Return the variance components of what was measured in a single run: its terms say nothing of training."""
    return Components(float(terms @ (terms if times is None else times * terms)), np.nan, df)


def covariance_of_runs(values: tuple[FloatArray, ...], paired: bool) -> FloatArray:
    """Return the training part of the covariance matrix of the means over runs; zero for single runs."""
    if paired and values[0].size > 1:
        return np.atleast_2d(np.cov(np.stack(values), ddof=1)) / values[0].size
    return np.diag([0.0 if value.size == 1 else float(np.var(value, ddof=1)) / value.size for value in values])
