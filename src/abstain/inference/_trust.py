"""How far a standard error can be trusted: degrees of freedom, what few errors take from it, a warning light."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from abstain._checks import to_numpy
from abstain._typing import FloatArray
from abstain.blocks import TieBlocks
from abstain.metrics import Metric

#: Below these degrees of freedom too few informative errors remain for any of these intervals.
FEW = 5.0
#: Why a metric that averages over the errors has no spread below one degree of freedom.
SINGLE = "a single error: how its rank would vary cannot be seen from one"
#: Fewer clusters than this estimate their variance badly.
FEW_CLUSTERS = 10
#: Metrics that average over the errors, or are divided by what these allow, so that k errors vary them like a mean of
#: k values: at most k - 1 degrees of freedom, and the error k/(k - 1) times as large, as of a delete-one jackknife. The
#: number is the share of the terms' own degrees of freedom that is granted: AURC's logarithmic weight lets one
#: confident error carry the variance, and a sample that lacks it does not show that in its kurtosis.
RELATIVE = {
    "auroc_f": 1.0,
    "average_precision_error": 1.0,
    "naugrc": 1.0,
    "naurc": 0.5,
    "prediction_rejection_ratio": 1.0,
}
#: Metrics at a 95 % quantile of the errors (loss 1) or of the right predictions (0). Of k such samples k/20 lie beyond
#: it, and a bootstrap of k = 10 sees next to none: at most k/5 degrees of freedom.
TAIL = {"fpr95_error": 1.0, "fpr95_success": 0.0}


def degrees_of_freedom(terms: FloatArray) -> float:
    """Satterthwaite degrees of freedom of a sum of squares: 2n / (kurtosis - 1)."""
    squares = terms * terms
    square = float(np.sum(squares))
    if square == 0.0:
        return 0.0
    kurtosis = terms.size * float(np.sum(squares * squares)) / square**2
    return 2.0 * terms.size / (kurtosis - 1.0) if kurtosis > 1.0 else np.inf


def effective_losses(loss: FloatArray, weight: FloatArray | None) -> float:
    """Return how many samples carry the spread of the losses: of a 0/1 loss about as many as the rarer kind."""
    apart = loss - np.average(loss, weights=weight)
    squares = np.square(apart if weight is None else weight * apart)
    fourth = float(np.sum(squares**2))
    return float(np.sum(squares)) ** 2 / fourth if fourth > 0.0 else 0.0


class Limit(NamedTuple):
    """What the number of errors allows: the factor by which an error falls short, and most degrees of freedom."""

    factor: float = 1.0
    df: float = math.inf


def limit_of(metric: Metric, blocks: TieBlocks) -> Limit:
    """Return the limit of a metric that is relative to its losses, or at a far quantile; none for any other."""
    samples = blocks.samples
    assert samples is not None
    if metric.name not in RELATIVE.keys() | TAIL.keys():
        return Limit()
    loss, weight = to_numpy(samples.loss), None if samples.weight is None else to_numpy(samples.weight)
    if metric.name in TAIL:
        beyond = loss == TAIL[metric.name]
        return Limit(df=0.2 * float(np.count_nonzero(beyond if weight is None else beyond & (weight > 0.0))))
    number = effective_losses(loss, weight)
    return Limit(number / max(number - 1.0, 1e-9), number - 1.0)


def informative(metric: Metric, terms: FloatArray, most_df: float) -> float:
    """Return the degrees of freedom of the terms, at most those that the errors and the number of terms allow."""
    return min(RELATIVE.get(metric.name, 1.0) * degrees_of_freedom(terms), most_df, terms.size - 1.0)


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
