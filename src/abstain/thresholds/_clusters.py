r"""Certificates for dependent rows: patients with images, documents with fields, prompts with samples.

Rows of one cluster depend on each other, clusters are an independent sample. The promise is about **a new cluster**: of
those with an accepted row, the mean of a cluster's mean accepted loss,

.. math:: R_c(\tau) = E\bigl[\bar\ell_c(\tau) \mid \text{cluster } c \text{ has a row with } g \ge \tau\bigr],

which is the expected loss of one of its accepted rows, drawn at random. Large clusters count no more than small ones; a
promise about pooled rows would need a bound for the size of a cluster, and has almost no power.

At a threshold that was fixed before the losses were seen, the cluster means are independent values in [0, 1], and

.. math:: L(\tau) = \frac1J \sum_j \prod_c \bigl(1 + \lambda_j (r - \bar\ell_c(\tau))\bigr)

has a mean of at most 1 if the risk is r or more: 1/L is a p-value. Starts at ranks (:mod:`._fallback`) need
independent rows. So :math:`\lceil\sqrt{n_c}\rceil` clusters, drawn by lot, only fix with their scores where the walk of
:mod:`._fallback` starts. Given them, the highest threshold below a start that breaks the promise is fixed, and the walk
passes it with probability at most the level there. The seed of the lots comes from the system and is recorded.

Source: betting on means, Waudby-Smith & Ramdas (2024). Why not rows or cluster-robust t: benchmarks/certificates.py.
"""

from __future__ import annotations

from math import ceil, log, sqrt

import numpy as np

from abstain._typing import BoolArray, FloatArray, IntArray
from abstain.thresholds._betting import STAKES
from abstain.thresholds._certify import LEAST, Found, why
from abstain.thresholds._fallback import fallback
from abstain.thresholds._p_values import fewest
from abstain.thresholds._sample import Sample

#: Coverages of the starts, and their shares of delta in proportion; fixed (benchmarks/certificates.py).
COVERAGES = (1 / 8, 1 / 4, 1 / 2)
SHARES = (1.0, 2.0, 4.0)


def search_clusters(
    sample: Sample, cluster: IntArray, risk: float, delta: float, largest: float, fixed: FloatArray | None, seed: int
) -> Found:
    """Return the certified threshold of a sample whose sorted rows belong to these clusters, numbered from 0."""
    if risk >= largest:
        raise ValueError(f"risk must be below the largest possible loss, {largest:g}, got {risk:g}")
    limit = max(risk / largest, LEAST)
    n = int(cluster.max()) + 1
    pilot = np.zeros(n, dtype=bool)
    if fixed is None:
        pilot[np.random.default_rng(seed).permutation(n)[: ceil(sqrt(n))]] = True
    rest = ~pilot[cluster]
    left = n - int(pilot.sum())
    short = why(left, limit, delta, f"clusters{'' if fixed is not None else ', besides those that fix the starts,'}")
    if left < fewest(limit, delta):
        return Found(np.inf, "fallback", "betting", short)
    threshold, evidence = _evidence(sample.score[rest], sample.loss[rest] / largest, cluster[rest], limit)
    if fixed is not None:
        begin, share = fixed, np.full(len(fixed), delta / len(fixed))
        tested = fixed
    else:
        begin, share = _starts(sample.score[pilot[cluster]], delta)
        tested = np.unique(np.append(threshold, begin))[::-1]
        tested = tested[tested <= begin.max(initial=-np.inf)]
    place = np.searchsorted(-threshold, -tested, side="right") - 1  # what each accepts of the rows that are tested
    found = np.where(place >= 0, evidence[place], 0.0) if len(threshold) else np.zeros(len(tested))
    start = np.searchsorted(-tested, -begin)
    position = fallback(len(tested), start, share, lambda low, high: np.exp(-found[low:high]))
    at = float(tested[position]) if position >= 0 else np.inf
    return Found(at, "fallback", "betting", None if position >= 0 else short)


def cluster_means(loss: FloatArray, accepted: BoolArray, cluster: IntArray) -> FloatArray:
    """Return the mean accepted loss of each cluster that has an accepted row."""
    count = np.bincount(cluster[accepted])
    total = np.bincount(cluster[accepted], loss[accepted])
    return np.asarray(total[count > 0] / count[count > 0])


def _starts(pilot: FloatArray, delta: float) -> tuple[FloatArray, FloatArray]:
    """Return the scores of the pilot at which the walk starts, with their shares."""
    scores = np.sort(pilot[pilot > -np.inf])[::-1]
    if not scores.size:
        return np.zeros(0), np.zeros(0)
    rank = np.clip(np.ceil(np.array(COVERAGES) * len(pilot)).astype(int), 1, len(scores)) - 1
    return scores[rank], np.array(SHARES) / sum(SHARES) * delta


def _evidence(score: FloatArray, loss: FloatArray, cluster: IntArray, limit: float) -> tuple[FloatArray, FloatArray]:
    """Return the distinct scores, descending, and the log of L at each; an accepted row changes one mean at a time."""
    by_cluster = np.argsort(cluster, kind="stable")  # rows stay in order of falling scores
    sizes = np.bincount(cluster)
    first = np.repeat((np.cumsum(sizes) - sizes)[sizes > 0], sizes[sizes > 0])
    total = np.cumsum(loss[by_cluster])
    total -= np.concatenate([[0.0], total])[first]
    mean = np.empty(len(score))
    mean[by_cluster] = np.clip(total / (np.arange(len(score)) - first + 1.0), 0.0, 1.0)
    before = np.full(len(score), np.nan)
    again = np.flatnonzero(cluster[by_cluster][1:] == cluster[by_cluster][:-1])
    before[by_cluster[again + 1]] = mean[by_cluster[again]]
    paths = []
    for part in STAKES:
        stake = part / (1.0 - limit)
        gain = np.log1p(stake * (limit - mean)) - np.where(np.isnan(before), 0.0, np.log1p(stake * (limit - before)))
        paths.append(np.cumsum(gain))
    evidence = np.logaddexp.reduce(paths, axis=0) - log(len(STAKES))
    ends = np.append(score[1:] != score[:-1], True)[: len(score)] & (score > -np.inf)
    return score[ends], evidence[ends]
