"""Problems that a metric accepts: the strategies of all tests, narrowed down to what the metric needs."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from abstain.metrics import Metric
from tests.strategies import SCORES, WEIGHTS, Problem, problems, weights
from tests.strategies import losses as loss_values

#: Losses of about one size, so that a ratio of areas is well conditioned.
TAME = ("binary", "graded", "repeated")
COUNTS = ("harmonic", "log")
#: For tests that run once per metric: together they still see thousands of problems.
FEWER = settings(max_examples=max(1, settings().max_examples // 2))
#: For the test that all values rest on.
MORE = settings(max_examples=2 * settings().max_examples)


def needs_counts(metric):
    """Whether the metric is defined on row counts only."""
    estimator = metric.options.get("estimator")
    on_optimum = "oracle" in metric.needs and estimator == "trapezoid"  # of a loss that is not 0/1
    return metric.name == "augrc_unbiased" or estimator in COUNTS or on_optimum


def losses_of(metric):
    """Kinds of losses that the metric takes."""
    if "binary" in metric.needs:
        return ("binary",)
    if "unit_loss" in metric.needs:
        return ("binary", "graded")
    return (*TAME, "unbounded") if metric.name not in ("naurc", "naugrc", "prediction_rejection_ratio") else TAME


@st.composite
def unit_problems(draw, losses, kinds, min_size, max_size):
    """Draw a problem whose scores are probabilities, bin edges, 0 and 1 among them."""
    n = draw(st.integers(min_size, max_size))
    free = st.floats(0.0, 1.0, allow_subnormal=False)
    edges = st.sampled_from([k / bins for bins in (2, 6, 12, 15) for k in range(bins + 1)])
    kind = draw(st.sampled_from([free, edges, free | edges, st.sampled_from([0.25, 0.5, 0.75])]))
    loss = draw(st.lists(loss_values(draw(st.sampled_from(losses))), min_size=n, max_size=n))
    weight = draw(weights(draw(st.sampled_from(kinds)), n))
    confidence = draw(st.lists(kind, min_size=n, max_size=n))
    return Problem(np.array(loss), np.array(confidence), None if weight is None else np.array(weight))


def problems_for(metric, *, scores=SCORES, kinds=None, losses=None, min_size=1, max_size=14):
    """Return a strategy for problems that this metric accepts; ``kinds`` are kinds of weights."""
    allowed = losses_of(metric) if losses is None else tuple(kind for kind in losses if kind in losses_of(metric))
    given = (("none", "frequencies") if needs_counts(metric) else WEIGHTS) if kinds is None else kinds
    if "unit_score" in metric.needs:
        return unit_problems(allowed, given, min_size, max_size)
    return problems(losses=allowed, scores=scores, weights=given, min_size=min_size, max_size=max_size)


class Family(list[Metric]):
    """Metrics that take the same problems; a failing example shows their names, not all that they declare."""

    def __repr__(self):
        return ", ".join(metric.spec for metric in self)


def families(cases):
    """Return the cases as parameters of a test, those that take the same problems together.

    To draw a problem costs more than all metrics of it, so that each is drawn once and read by many.
    """
    found = {}
    for metric in cases:
        score = "unit" if "unit_score" in metric.needs else "any"
        weights = "counted" if needs_counts(metric) else "weighted"
        found.setdefault("-".join((score, weights, *losses_of(metric))), Family()).append(metric)
    return [pytest.param(metrics, id=name) for name, metrics in found.items()]


def values(metrics, blocks):
    """Return the values of several metrics of one table, by their names."""
    return {metric.spec: metric(blocks) for metric in metrics}


def table(problem, **options):
    """Return the table of a problem with its loss-ordered table."""
    return problem.table(oracle=True, **options)


def scale(problem):
    """Return the size of a value of this problem, for tolerances."""
    return max(1.0, float(np.max(problem.loss)))
