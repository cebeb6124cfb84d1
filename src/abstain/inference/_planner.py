"""How many samples a comparison needs, and what a given number of samples can detect."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from abstain._checks import inside, real, to_numpy, whole
from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks
from abstain.inference._binomial import check_level
from abstain.inference._columns import as_metric, panel, scored, tables
from abstain.inference._estimates import by_influence, route_of
from abstain.inference._influence import gradient, per_sample
from abstain.inference._rank_tests import two_losses
from abstain.inference._resample import INDEPENDENT
from abstain.inference._rests_on import RestsOn, rests_on
from abstain.inference._spread import FEW, effective_losses
from abstain.inference._unseen import augmented, sizes_of
from abstain.metrics import Metric

__all__ = ["Detectable", "Plan", "detectable_difference", "influence_sd", "samples_for_difference"]

#: loss (or a tuple of two), score a, score b
Pilot = tuple[ArrayLike, ArrayLike, ArrayLike]


class Detectable(NamedTuple):
    """The smallest difference that is found, ``difference``; the other fields are those of :class:`Plan`.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.inference.detectable_difference(2544, sd=0.18).difference, 4)
    0.01
    """

    difference: float
    low: float
    high: float
    df: float
    rests_on: RestsOn | None = None


def influence_sd(pilot: Pilot, metric: str | Metric = "augrc") -> float:
    r"""Return the standard deviation of the influence difference of two scores: sqrt(n) times the paired error.

    .. math:: \sigma_d = \sqrt{\tfrac1n \sum_i (\text{IF}^a_i - \text{IF}^b_i)^2}

    Parameters
    ----------
    pilot : (loss, score_a, score_b)
        Arrays of shape (n_samples,); ``loss`` may be a tuple of two for models with different losses.
    metric : str or Metric
        One with an influence function.

    Returns
    -------
    float
        >= 0; 0 only if the two agree on every sample.

    Raises
    ------
    UnmetNeed
        The metric has no influence function.
    ValueError, TypeError
        Bad columns; an undefined metric.

    Examples
    --------
    >>> import abstain
    >>> pilot = [0, 1, 0, 0] * 50, range(200), [k * 77 % 200 for k in range(200)]
    >>> round(abstain.inference.influence_sd(pilot), 3)
    0.169
    """
    losses, score_a, score_b = _of_pilot(pilot)
    chosen = as_metric(metric)
    route_of(chosen, "influence")
    columns = panel(dict(zip("ab", losses, strict=True)), {"a": score_a, "b": score_b})
    terms = by_influence(chosen, columns, 0.95).mean_terms
    apart = terms[:, 0] - terms[:, 1]
    return math.sqrt(columns.n * float(apart @ apart))


def samples_for_difference(
    difference: float,
    *,
    sd: float | None = None,
    pilot: Pilot | None = None,
    metric: str | Metric = "augrc",
    power: float = 0.8,
    level: float = 0.95,
) -> Plan:
    r"""Return how many samples the paired test needs to detect a difference.

    .. math:: n = \left(\frac{(z_{1-\alpha/2} + z_{\text{power}})\,\sigma_d}{\Delta}\right)^2

    Parameters
    ----------
    difference : float
        True difference of the metric that should be found; only its size counts.
    sd : float, optional
        Standard deviation of the influence difference per sample; see :func:`influence_sd`.
    pilot : (loss, score_a, score_b), optional
        Data to take it from. Exactly one of ``sd`` and ``pilot`` is needed.
    metric : str or Metric
        For the pilot.
    power : float in (0, 1)
        Chance to find the difference.
    level : float in (0, 1)
        1 - alpha of the two-sided test. For m planned comparisons take 1 - alpha/m.

    Returns
    -------
    Plan
        ``n`` >= 2, rounded up, with its range.

    Raises
    ------
    ValueError, TypeError
        A difference of 0, or beyond the reach of any sample; both or none of ``sd`` and ``pilot``; ``power`` or
        ``level`` outside (0, 1); a pilot with too few errors on which the scores differ.

    See Also
    --------
    detectable_difference : the inverse.

    Notes
    -----
    The difference seen in a small pilot is itself uncertain: plan for the smallest difference that matters, and take
    only the standard deviation from the pilot. Its range follows from the chi-squared distribution with the pilot's
    Satterthwaite degrees of freedom; the upper end counts one error that the pilot did not show. A pilot with fewer
    than 5 degrees of freedom is refused; have at least 10 errors. Clustered samples need more, by their design effect.

    References
    ----------
    Normal approximation of the paired test, as for the z-test of a mean difference.

    Examples
    --------
    >>> import abstain
    >>> pilot = [0, 1, 0, 0] * 50, range(200), [k * 77 % 200 for k in range(200)]
    >>> abstain.inference.samples_for_difference(0.01, pilot=pilot)[:4]
    (2250, 1875, 2792, 85.7)
    """
    difference = real(difference, "difference", "other than 0", "give the smallest that matters")
    if not np.isfinite(difference) or difference == 0.0:
        raise ValueError(f"difference must be finite and not 0, got {difference!r}; give the smallest that matters")
    quantiles, deviation = _quantiles(power, level), _sd(sd, pilot, metric)

    def needed(spread: float) -> int:
        root = quantiles * spread / abs(difference)
        if root > 1e150:
            raise ValueError(f"difference={difference!r} is out of reach of any sample; give the smallest that matters")
        return max(2, math.ceil(root**2 * (1.0 - 1e-12)))

    low, high = needed(deviation.low), needed(deviation.high)
    return Plan(needed(deviation.value), low, high, round(deviation.df, 1), deviation.rests_on)


def detectable_difference(
    n: int,
    *,
    sd: float | None = None,
    pilot: Pilot | None = None,
    metric: str | Metric = "augrc",
    power: float = 0.8,
    level: float = 0.95,
) -> Detectable:
    r"""Return the smallest true difference that the paired test finds with a given power.

    .. math:: \Delta = \frac{(z_{1-\alpha/2} + z_{\text{power}})\,\sigma_d}{\sqrt n}

    Parameters
    ----------
    n : int
        Samples.
    sd, pilot, metric, power, level
        As in :func:`samples_for_difference`.

    Returns
    -------
    Detectable
        ``difference`` >= 0, with its range.

    Raises
    ------
    ValueError, TypeError
        ``n`` below 2; both or none of ``sd`` and ``pilot``; ``power`` or ``level`` outside (0, 1); a pilot with too
        few errors on which the scores differ.

    See Also
    --------
    samples_for_difference : the inverse.

    References
    ----------
    Normal approximation of the paired test.

    Examples
    --------
    >>> import abstain
    >>> round(abstain.inference.detectable_difference(2544, sd=0.18).difference, 4)
    0.01
    """
    whole(n, "n", 2)
    quantiles, deviation = _quantiles(power, level), _sd(sd, pilot, metric)
    unit = quantiles / math.sqrt(n)
    low, high = unit * deviation.low, unit * deviation.high
    return Detectable(unit * deviation.value, low, high, round(deviation.df, 1), deviation.rests_on)


def _quantiles(power: float, level: float) -> float:
    power = inside(power, "power", 0.8)
    if power <= 1.0 - check_level(level):
        raise ValueError(f"power={power!r} is not above 1 - level={1.0 - level:.3g}, which needs no data; 0.8 is usual")
    return NormalDist().inv_cdf(0.5 + 0.5 * level) + NormalDist().inv_cdf(power)


def _of_pilot(pilot: Pilot) -> tuple[tuple[ArrayLike, ArrayLike], ArrayLike, ArrayLike]:
    """Return the two losses, which may be one, and the two scores."""
    try:
        loss, score_a, score_b = pilot
    except (TypeError, ValueError):
        raise TypeError("pilot must be a tuple (loss, score_a, score_b); loss may be a tuple of two") from None
    return two_losses(loss), score_a, score_b


def _sd(sd: float | None, pilot: Pilot | None, metric: str | Metric) -> Deviation:
    metric = as_metric(metric)
    if (sd is None) == (pilot is None):
        raise TypeError("give either sd=, the standard deviation of the influence difference, or pilot=(loss, a, b)")
    if pilot is not None:
        return _of_difference(pilot, metric)
    assert sd is not None
    sd = real(sd, "sd", "> 0", "abstain.inference.influence_sd gives it")
    if not 0.0 < sd < math.inf:
        raise ValueError(f"sd must be positive and finite, got {sd!r}; abstain.inference.influence_sd gives it")
    return Deviation(sd, sd, sd, math.inf)


def _of_difference(pilot: Pilot, metric: Metric) -> Deviation:
    """Return the spread of a difference; two models of which each may err alone have two unseen errors."""
    sd, (losses, *scores) = influence_sd(pilot, metric), _of_pilot(pilot)
    if sd == 0.0:
        raise ValueError("pilot: the two scores agree on every sample, so it says nothing about their difference")
    both = [tables(metric, loss, scored(score)) for loss, score in zip(losses, scores, strict=True)]
    terms_a, terms_b = (per_sample(gradient(metric, each), each) for each in both)
    (shown_a, unseen_a, _), (shown_b, unseen_b, _) = (one_more_of(metric, each) for each in both)
    unseen = (unseen_a - unseen_b,) if losses[0] is losses[1] else (unseen_a, unseen_b)
    return deviation_of(both, terms_a - terms_b, shown_a - shown_b, *unseen)


#: How often the range of a plan should hold what the true spread needs.
RANGE = 0.8


class Plan(NamedTuple):
    """How many samples are needed: ``n``, and from a pilot the range that its size leaves open.

    ``low``, ``high``: an 80 % interval of the number that the true spread needs (``n`` where the spread was given);
    ``df``: degrees of freedom of the pilot's spread (infinite where it was given); ``rests_on``: the effective number
    of independent units of the pilot, with what they are (None without one). To be safe, take ``high``.

    Examples
    --------
    >>> import abstain
    >>> abstain.inference.samples_for_difference(0.01, sd=0.18)
    Plan(n=2544, low=2544, high=2544, df=inf, rests_on=None)
    """

    n: int
    low: int
    high: int
    df: float
    rests_on: RestsOn | None = None


class Deviation(NamedTuple):
    """Standard deviation per sample with an 80 % interval, its degrees of freedom, and what the pilot rests on."""

    value: float
    low: float
    high: float
    df: float
    rests_on: RestsOn | None = None


def one_more_of(metric: Metric, blocks: TieBlocks) -> tuple[FloatArray, FloatArray, float]:
    """Return the terms of the pilot with one unseen error: of its samples, and of the error at each; and the shift."""
    size = sizes_of(blocks)
    more = augmented(blocks, size)[0]
    derivative = gradient(metric, more)
    row = blocks._kept.block
    unseen = derivative.weight[row] + size.mean * derivative.loss[row]
    return per_sample(derivative, blocks), unseen, float(metric.smooth(more) - metric.smooth(blocks))


def deviation_of(blocks: list[TieBlocks], terms: FloatArray, shown: FloatArray, *unseen: FloatArray) -> Deviation:
    """Return the spread of a pilot's terms with its range; ``shown`` and ``unseen``: with one more error.

    The pilot knows no more than its errors do: no more degrees of freedom are counted than there are errors.
    """
    from scipy.special import gammaincinv

    n = terms.size
    errors = min(effective_losses(to_numpy(each._kept.loss), None) for each in blocks)
    variance = float(shown @ shown) + sum(float(np.mean(each**2)) for each in unseen)
    fourth = float(np.sum(shown**4)) + sum(float(np.mean(each**4)) for each in unseen)
    df = 0.0 if variance == 0.0 else min(errors, 2.0 / max(fourth / variance**2 - 1.0 / n, 2.0 / n))
    if df < FEW:
        lacking = f"pilot: only {df:.1f} degrees of freedom, too few informative errors to plan from"
        raise ValueError(f"{lacking}; take a pilot with at least 10 errors on which the outcome depends")
    few, many = (math.sqrt(0.5 * df / gammaincinv(0.5 * df, 0.5 + half * RANGE / 2.0)) for half in (1.0, -1.0))
    value = math.sqrt(n * float(terms @ terms))
    rests = min(rests_on(each, INDEPENDENT) for each in blocks)
    return Deviation(value, min(value, few * value), many * math.sqrt(n * variance), df, rests)
