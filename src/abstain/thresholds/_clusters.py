r"""Certificates for dependent rows: patients with images, documents with fields, prompts with samples.

Rows of one cluster depend on each other, clusters are an independent sample. The promise is about **a new cluster**: of
those with an accepted row, the mean of a cluster's mean accepted loss,

.. math:: R_c(\tau) = E\bigl[\bar\ell_c(\tau) \mid \text{cluster } c \text{ has a row with } g \ge \tau\bigr],

which is the expected loss of one of its accepted rows, drawn at random. Large clusters count no more than small ones; a
promise about pooled rows would need a bound for the size of a cluster, and has almost no power.

At a threshold that was fixed before the losses were seen, the cluster means are independent values in [0, 1], and

.. math:: L(\tau) = \frac1J \sum_j \prod_c \bigl(1 + \lambda_j (r - \bar\ell_c(\tau))\bigr)

has a mean of at most 1 if the risk is r or more. Starts at ranks (:mod:`._fallback`) need independent rows: clusters
that have an accepted row early may be those with the larger means later, and their number would say so. So clusters
drawn by lot, :math:`\lceil\sqrt{n_c}\rceil` of them, only fix with their scores where walks start, and the others bet:

.. math:: W(\tau) = \sum_s \pi_s \min_{\tau \le \tau' \le s} L(\tau')

over the starts s above :math:`\tau`, with shares :math:`\pi_s` that add up to 1. Given the lot, a walk that reaches any
threshold that breaks the promise passes the highest one below its start, which is fixed: where the promise is broken W
is nowhere above :math:`\sum_s \pi_s L(v_s)`, whose mean is at most 1. The same holds for the mean of W over any number
of lots. **So the lowest threshold at which the mean over lots reaches** :math:`1/\delta` **is certified**, with
probability :math:`1 - \delta` (Markov), and the more lots, the less hangs on them. One lot certified between 0 and .47
of the same 300 clusters; the mean of many also certifies more. The seed comes from the system and is recorded.

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
#: Lots are drawn for so many rows in all, at least and at most so often.
WORK, LOTS = 1e6, (8, 200)


def search_clusters(
    sample: Sample, cluster: IntArray, risk: float, delta: float, largest: float, fixed: FloatArray | None, seed: int
) -> Found:
    """Return the certified threshold of a sample whose sorted rows belong to these clusters, numbered from 0."""
    if risk >= largest:
        raise ValueError(f"risk must be below the largest possible loss, {largest:g}, got {risk:g}")
    limit = max(risk / largest, LEAST)
    n = int(cluster.max()) + 1
    left = n if fixed is not None else n - ceil(sqrt(n))
    short = why(left, limit, delta, f"clusters{'' if fixed is not None else ', besides those that fix the starts,'}")
    if left < fewest(limit, delta):
        return Found(np.inf, "fallback", "betting", short)
    gain = _gains(sample.loss / largest, cluster, limit)
    if fixed is not None:
        count = np.searchsorted(-sample.score, -fixed, side="right")
        found = np.append(0.0, _evidence(gain))[count]
        share = np.full(len(fixed), delta / len(fixed))
        position = fallback(len(fixed), np.arange(len(fixed)), share, lambda low, high: np.exp(-found[low:high]))
        tested = fixed
    else:
        tested, found = _over_lots(sample.score, cluster, gain, seed)
        passed = np.flatnonzero(found >= -log(delta))
        position = int(passed[-1]) if passed.size else -1
    at = float(tested[position]) if position >= 0 else np.inf
    return Found(at, "fallback", "betting", None if position >= 0 else short)


def _over_lots(score: FloatArray, cluster: IntArray, gain: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return the distinct scores, descending, and the log of the mean of W over lots at each."""
    n, rng = int(cluster.max()) + 1, np.random.default_rng(seed)
    ends = np.flatnonzero(np.append(score[1:] != score[:-1], True) & (score > -np.inf))
    tested, lots = score[ends], int(np.clip(WORK / len(score), *LOTS))
    total = np.full(len(tested), -np.inf)
    for _ in range(lots):
        pilot = np.zeros(n, dtype=bool)
        pilot[rng.permutation(n)[: ceil(sqrt(n))]] = True
        rows = pilot[cluster]
        evidence = _evidence(np.where(rows, 0.0, gain))[ends]
        for start, share in zip(*_starts(score[rows]), strict=True):
            at = int(np.searchsorted(-tested, -start))
            total[at:] = np.logaddexp(total[at:], np.minimum.accumulate(evidence[at:]) + log(share))
    return tested, total - log(lots)


def cluster_means(loss: FloatArray, accepted: BoolArray, cluster: IntArray) -> FloatArray:
    """Return the mean accepted loss of each cluster that has an accepted row."""
    count = np.bincount(cluster[accepted])
    total = np.bincount(cluster[accepted], loss[accepted])
    return np.asarray(total[count > 0] / count[count > 0])


def _starts(pilot: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the scores of the pilot at which walks start, with their shares."""
    scores = pilot[pilot > -np.inf]
    if not scores.size:
        return np.zeros(0), np.zeros(0)
    rank = np.clip(np.ceil(np.array(COVERAGES) * len(pilot)).astype(int), 1, len(scores)) - 1
    return scores[rank], np.array(SHARES) / sum(SHARES)


def _gains(loss: FloatArray, cluster: IntArray, limit: float) -> FloatArray:
    """Return for each stake what every row, accepted after those before it, adds to the log of its cluster's factor."""
    by_cluster = np.argsort(cluster, kind="stable")  # rows stay in order of falling scores
    sizes = np.bincount(cluster)
    first = np.repeat((np.cumsum(sizes) - sizes)[sizes > 0], sizes[sizes > 0])
    total = np.cumsum(loss[by_cluster])
    total -= np.concatenate([[0.0], total])[first]
    mean = np.empty(len(loss))
    mean[by_cluster] = np.clip(total / (np.arange(len(loss)) - first + 1.0), 0.0, 1.0)
    before = np.full(len(loss), np.nan)
    again = np.flatnonzero(cluster[by_cluster][1:] == cluster[by_cluster][:-1])
    before[by_cluster[again + 1]] = mean[by_cluster[again]]
    stake = np.array(STAKES)[:, np.newaxis] / (1.0 - limit)
    return np.log1p(stake * (limit - mean)) - np.where(np.isnan(before), 0.0, np.log1p(stake * (limit - before)))


def _evidence(gain: FloatArray) -> FloatArray:
    """Return the log of L after every row."""
    path = np.cumsum(gain, axis=1)
    highest = path.max(axis=0)
    return np.asarray(highest + np.log(np.mean(np.exp(path - highest), axis=0)))
