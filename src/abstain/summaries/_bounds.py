"""Bounds of a metric from bins, by what the metric declares; nothing here asks for its name."""

from __future__ import annotations

import numpy as np

from abstain._checks import UnmetNeed, fraction, not_negative, real
from abstain.metrics import AcceptedLoss, Metric, Sums
from abstain.summaries._bins import Bins, Bounds
from abstain.summaries._points import at_coverage, at_threshold, tolerated

#: Means of smaller losses than this, over a billion rows, are no numbers of full precision any more.
LEAST = 1e-280


def lacking(metric: Metric, bins: Bins) -> str | None:
    """Return why bins cannot bound a metric, or None if they can.

    A metric survives binning if its leaf declares that it follows from sums over the table, that it is the loss of what
    is accepted, or that it is the largest coverage within a risk.
    """
    if 0.0 < bins.M.max() < LEAST:
        return f"{metric.name} of losses of at most {bins.M.max():.3g} underflows, so that no bound holds; rescale them"
    if "unit_loss" in metric.needs and bins.M.max() > 1.0:
        return f"{metric.name} needs losses in [0, 1], but the largest is {bins.M.max():.6g}; rescale them"
    if metric.from_sums is not None and not metric.options:
        if metric.from_sums.binary and not bins.binary:
            return f"{metric.name} needs a 0/1 loss, or else the order of the losses, which no summary holds"
        return None
    if metric.accepted_loss is not None or metric.tolerated is not None:
        return None
    return f"{metric.spec} does not follow from a summary, which has no order within its bins; evaluate the rows"


def bounds_of(metric: Metric, bins: Bins) -> Bounds:
    """Return value, least and most; UnmetNeed where a summary cannot say."""
    why = lacking(metric, bins)
    if why is not None:
        raise UnmetNeed(why)
    if metric.from_sums is not None and not metric.options:
        return _of_sums(metric, bins)
    found = _of_points(metric.base, bins)
    if metric.image is None:
        return found
    return Bounds(metric.image(found.value), *metric.image.ends(found.low, found.high), found.reason)


def _of_sums(metric: Metric, bins: Bins) -> Bounds:
    """A closed form is monotone in the one sum that it reads, so the ends of that sum give its ends."""
    form = metric.from_sums
    assert form is not None
    same = np.ones(3)
    selective = bins.selective() if form.selective else 0.0 * same
    with np.errstate(invalid="ignore", divide="ignore"):
        values = form.formula(Sums(bins.n * same, bins.total * same, selective, bins.generalized()))
    value, *ends = (float(each) for each in values)
    if np.isnan(value):
        return Bounds(value, value, value, metric.evaluate(bins.table()).reason)
    return Bounds(value, min(ends), max(ends))


def _of_points(metric: Metric, bins: Bins) -> Bounds:
    loss: AcceptedLoss | None = metric.said(metric.accepted_loss)
    if loss is None:
        assert metric.tolerated is not None
        risk: float = metric.tolerated(**metric.settings)
        return tolerated(bins, not_negative(risk, "risk"))
    if loss.threshold is not None:
        return at_threshold(bins, real(loss.threshold, "threshold", "on the scale of the score"), loss.per)
    assert loss.coverage is not None
    return at_coverage(bins, fraction(loss.coverage, "coverage"), loss.per)
