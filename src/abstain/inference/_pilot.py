"""What a pilot says of the spread per sample, with the range that its size leaves open."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from abstain._checks import to_numpy
from abstain._typing import FloatArray
from abstain.blocks import TieBlocks
from abstain.inference._influence import gradient, per_sample
from abstain.inference._spread import FEW, effective_losses
from abstain.inference._unseen import augmented, sizes_of
from abstain.metrics import Metric

#: How often the range of a plan should hold what the true spread needs.
RANGE = 0.8


class Plan(NamedTuple):
    """How many samples are needed: ``n``, and from a pilot the range that its size leaves open.

    ``low``, ``high``: an 80 % interval of the number that the true spread needs (``n`` where the spread was given);
    ``df``: degrees of freedom of the pilot's spread (infinite where it was given). To be safe, take ``high``.

    Examples
    --------
    >>> import abstain
    >>> abstain.inference.samples_for_difference(0.01, sd=0.18)
    Plan(n=2544, low=2544, high=2544, df=inf)
    """

    n: int
    low: int
    high: int
    df: float


class Deviation(NamedTuple):
    """Standard deviation per sample with an 80 % interval, and its degrees of freedom."""

    value: float
    low: float
    high: float
    df: float


def one_more_of(metric: Metric, blocks: TieBlocks) -> tuple[FloatArray, FloatArray, float]:
    """Return the terms of the pilot with one unseen error: of its samples, and of the error at each; and the shift."""
    size = sizes_of(blocks)
    more = augmented(blocks, size)[0]
    derivative = gradient(metric, more)
    assert blocks.samples is not None
    row = blocks.samples.block
    unseen = derivative.weight[row] + size.mean * derivative.loss[row]
    return per_sample(derivative, blocks), unseen, float(metric.smooth(more) - metric.smooth(blocks))


def deviation_of(blocks: list[TieBlocks], terms: FloatArray, shown: FloatArray, *unseen: FloatArray) -> Deviation:
    """Return the spread of a pilot's terms with its range; ``shown`` and ``unseen``: with one more error.

    The pilot knows no more than its errors do: no more degrees of freedom are counted than there are errors.
    """
    n = terms.size
    errors = min(effective_losses(to_numpy(each.samples.loss), None) for each in blocks if each.samples is not None)
    variance = float(shown @ shown) + sum(float(np.mean(each**2)) for each in unseen)
    fourth = float(np.sum(shown**4)) + sum(float(np.mean(each**4)) for each in unseen)
    df = 0.0 if variance == 0.0 else min(errors, 2.0 / max(fourth / variance**2 - 1.0 / n, 2.0 / n))
    if df < FEW:
        raise ValueError(
            f"pilot: only {df:.1f} degrees of freedom, too few informative errors to plan from; "
            "take a pilot with at least 10 errors on which the outcome depends, or give sd= if you know it"
        )
    from scipy.special import gammaincinv

    few, many = (math.sqrt(0.5 * df / gammaincinv(0.5 * df, 0.5 + half * RANGE / 2.0)) for half in (1.0, -1.0))
    value = math.sqrt(n * float(terms @ terms))
    return Deviation(value, min(value, few * value), many * math.sqrt(n * variance), df)
