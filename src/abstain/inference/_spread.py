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
from abstain.curve import SLACK
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


def degrees_of_freedom(terms: FloatArray, times: FloatArray | None = None) -> float:
    """Satterthwaite degrees of freedom of the sum of the squared terms."""
    return powers_of(terms, times).df


def counted_powers(derivative: Gradient, blocks: TieBlocks) -> Powers:
    """Return the sums over rows of 0/1 losses that count once each, from the table: a block holds two kinds of them.

    The rows that are right would all have the term a of their block, those that are wrong have a + b.
    """
    square = fourth = 0.0
    if not blocks.weight.strides[0] and len(blocks) == blocks.n:  # no ties: a block is a row
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
    samples = blocks.samples
    assert samples is not None
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

    ``independent``: neither strata nor clusters, so that a share of errors is binomial.
    """

    metric: Metric
    blocks: TieBlocks
    estimate: float
    error: float
    df: float
    independent: bool
    note: str | None

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
    grouped: tuple[bool, bool],
) -> Spread:
    """Return the spread of an estimate whose squared terms sum to its variance; ``grouped``: by strata, by clusters."""
    df = informative(metric, powers, most_df)
    light = warning_light(df, int(powers.number) if grouped[1] else None)
    error = math.sqrt(powers.square)
    doubt = None if metric.doubt is None else metric.doubt(blocks, **metric.settings)
    note = joined(light, edge_of_a_tie(metric, blocks), doubt)
    return Spread(metric, blocks, estimate, error, df, not any(grouped), note)


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
    result: BoolArray = (ends > coverage - reach) & (ends - share < coverage + reach) & near.any()
    return result


def warning_light(df: float, n_clusters: int | None) -> str | None:
    """Return what to know of an interval with so few degrees of freedom or clusters, or None."""
    notes = []
    if df < FEW:
        notes.append(f"only {df:.1f} degrees of freedom: too few informative errors for a trustworthy interval")
    if n_clusters is not None and n_clusters < FEW_CLUSTERS:
        notes.append(f"only {n_clusters} clusters: the interval is a rough guide")
    return joined(*notes)


def joined(*notes: str | None) -> str | None:
    """Return the notes as one text, or None without any."""
    return "; ".join(note for note in notes if note) or None
