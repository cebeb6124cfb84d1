"""Hypothesis strategies: problems as (loss, confidence, weight) of every kind that a metric must survive.

``problems()`` draws everything; ``problems(losses=["binary"], scores=["untied"])`` narrows it down.
"""

from typing import NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from abstain import TieBlocks

#: 0/1; eighths in [0, 1], whose sums are exact; any loss; few values, so that the losses tie as well
LOSSES = ("binary", "graded", "unbounded", "repeated")
#: all different; some ties; hardly any distinct score; infinities and both zeros among others; one score
SCORES = ("untied", "tied", "heavily_tied", "special", "constant")
#: none; whole numbers with zeros; positive; positive and zero
WEIGHTS = ("none", "frequencies", "positive", "with_zeros")


class Problem(NamedTuple):
    """One problem; ``weight`` may be None."""

    loss: np.ndarray
    confidence: np.ndarray
    weight: np.ndarray | None = None

    def rows(self, index):
        """Return the problem with only these rows, or with its rows in this order."""
        return Problem(*(None if column is None else column[index] for column in self))

    def table(self, **options):
        """Return the table of this problem."""
        return TieBlocks.from_samples(*self, **options)


def losses(kind):
    """Return a strategy for one loss of this kind."""
    return {
        "binary": st.sampled_from([0.0, 1.0]),
        "graded": st.integers(0, 8).map(lambda eighths: eighths / 8),
        "unbounded": st.floats(0.0, 1e6, allow_subnormal=False) | st.sampled_from([0.0, 1e-12, 1e6]),
        "repeated": st.sampled_from([0.0, 0.5, 2.5]),
    }[kind]


def scores(kind, n):
    """Return a strategy for n scores of this kind."""
    finite = st.floats(-1e9, 1e9, allow_subnormal=False)
    special = st.sampled_from([-np.inf, np.inf, -0.0, 0.0, 1.0, -1.0, 5e-324, 1.7976931348623157e308])

    def lists(element, **options):
        return st.lists(element, min_size=n, max_size=n, **options)

    if kind == "constant":
        return st.one_of(finite, special).map(lambda score: [score] * n)
    return {
        "untied": lists(finite, unique=True),
        "tied": lists(st.integers(0, 2 * n).map(lambda rank: rank / 7)),
        "heavily_tied": lists(st.sampled_from([0.25, 0.5, 0.75])),
        "special": lists(special | finite),
    }[kind]


def weights(kind, n):
    """Return a strategy for n weights of this kind with a positive sum."""
    if kind == "none":
        return st.none()
    element = {
        "frequencies": st.integers(0, 4).map(float),
        "positive": st.floats(0.015625, 64.0),
        "with_zeros": st.sampled_from([0.0, 0.0, 0.25, 1.0, 2.5]),
    }[kind]
    return st.lists(element, min_size=n, max_size=n).filter(lambda drawn: sum(drawn) > 0.0)


def many(n, **options):
    """Return settings for n examples in a long run, and for a tenth of them, at least as many as usual, in others."""
    usual = settings.default.max_examples if settings.default is not None else 100
    long = usual > 100
    return settings(max_examples=n if long else max(n // 10, usual), **options)


@st.composite
def problems(draw, *, losses=LOSSES, scores=SCORES, weights=("none",), min_size=1, max_size=30):
    """Draw a problem of ``min_size`` to ``max_size`` samples; each kind is drawn once per problem."""
    n = draw(st.integers(min_size, max_size))
    loss = draw(st.lists(_losses(draw(st.sampled_from(losses))), min_size=n, max_size=n))
    confidence = draw(_scores(draw(st.sampled_from(scores)), n))
    weight = draw(_weights(draw(st.sampled_from(weights)), n))
    return Problem(np.array(loss), np.array(confidence), None if weight is None else np.array(weight))


@st.composite
def partitions(draw, n, max_parts=4):
    """Draw a division of n rows into disjoint, non-empty parts."""
    part = np.array(draw(st.lists(st.integers(0, max_parts - 1), min_size=n, max_size=n)))
    return [np.flatnonzero(part == which) for which in range(max_parts) if (part == which).any()]


_losses, _scores, _weights = losses, scores, weights
