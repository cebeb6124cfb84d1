r"""Certificates for dependent rows: patients with images, documents with fields, prompts with samples.

Rows of one cluster depend on each other, clusters are an independent sample. The guarantee is about **a new cluster**:
of those with an accepted row, the mean of a cluster's mean accepted loss,

.. math:: R_c(\tau) = E\bigl[\bar\ell_c(\tau) \mid \text{cluster } c \text{ has a row with } g \ge \tau\bigr],

which is the expected loss of one of its accepted rows, drawn at random. Large clusters count no more than small ones.

At a threshold that was fixed before the losses were seen, the cluster means are independent values in [0, 1], and

.. math:: L(\tau) = \frac1J \sum_j \prod_c \bigl(1 + \lambda_j (r - \bar\ell_c(\tau))\bigr)

has a mean of at most 1 if the risk is r or more. Starts at ranks (:mod:`._fallback`) need independent rows: clusters
that have an accepted row early may be those with the larger means later, and their number would say so. **One cluster
alone may say where walks start,** if it bets on none of them. Let cluster c start at scores s of its own rows, with
shares :math:`\pi_s` that add up to 1, and let the others bet:

.. math:: W_c(\tau) = \sum_{s \ge \tau} \pi_s \min_{\tau \le \tau' \le s} L_{-c}(\tau').

Given c its starts are fixed and the others are a random sample. A walk from s that reaches any threshold that breaks
the guarantee passes the highest such :math:`v_s \le s`, which is fixed. So where the guarantee is violated :math:`W_c`
is nowhere above :math:`\sum_s \pi_s L_{-c}(v_s)`, whose mean is at most 1; and the mean of these sums over **all
clusters in turn** has one, too. What one cluster adds to a product is at most :math:`1 + \lambda_j r`, hence

.. math:: W(\tau) = \frac1n \sum_c \sum_{s \ge \tau} \pi_s \min_{\tau \le \tau' \le s} L'(\tau'),
   \qquad L'(\tau) = \frac1J \sum_j \frac{\prod_c (\dots)}{1 + \lambda_j r} \le L_{-c}(\tau) \text{ for every } c,

is no larger than that mean. **The lowest threshold at which W reaches** :math:`1/\delta` **is certified**, with
probability :math:`1 - \delta` (Markov). Nothing is randomized; the order of rows and clusters does not matter. Formerly
a random part of the clusters fixed the starts, which certified between 0 and .47 of the same 300 clusters.

**The risk of rows** is another: with a_c accepted rows of a cluster and the sum s_c of their losses it is
E[s] / E[a], and a large cluster counts for as many rows as it has. It is r or more exactly if the mean of

.. math:: x_c(\tau) = (r\,a_c(\tau) - s_c(\tau)) / M

over new clusters is at most 0, so with a *declared* largest size M of a cluster :math:`x_c \ge -(1 - r)` takes the
place of :math:`r - \bar\ell_c`; it is at most r as well, and the rest stands. Clusters with few accepted rows then
bet little, which is what the declaration costs: about the ratio of M to the mean number of accepted rows.

**Without M no guarantee about rows can hold.** Take any population of clusters, and let one cluster in m more have k
rows, all wrong, above all scores. A sample of n clusters has none of these with probability :math:`(1 - 1/m)^n`, as
near to 1 as one likes; whatever is then certified has a risk as near to 1 as one likes, if k is large enough next to m.

Source: betting on means, Waudby-Smith & Ramdas (2024). Not rows or cluster-robust t: benchmarks/certificate_attacks.py.
"""

from __future__ import annotations

import numpy as np

from abstain._typing import BoolArray, FloatArray, IntArray
from abstain.thresholds._certify import Found, Search, why
from abstain.thresholds._evidence import STAKES, fewest
from abstain.thresholds._fallback import fallback

#: Where a cluster starts, as parts of its scored rows, and the shares; fixed (benchmarks/certificates.py).
PARTS, SHARES = (0.1, 0.25), (1 / 3, 2 / 3)
#: Largest logarithm that evidence is distinguished from others at.
HIGHEST = 600.0


def search_clusters(search: Search) -> Found:
    """Return what is certified on a sample whose rows belong to clusters."""
    sample, limit, delta, tested = search.sample, search.limit, search.delta, search.tested
    cluster = sample.cluster
    if cluster is None or sample.weight is not None:
        raise ValueError("a certificate with clusters= and sample_weight= is not offered; give one of them")
    fixed = search.thresholds is not None
    left = int(cluster.max()) + 1 - (not fixed)
    largest = search.max_cluster
    short = why(left, limit, delta, f"clusters{'' if fixed else ', besides one that fixes the starts,'}")
    if left < fewest(limit, delta):
        return Found(np.inf, "fallback", "betting", short)
    gain = np.cumsum(_gains(search.values(), cluster, limit, largest), axis=1)
    count = sample.accepted(tested)
    if fixed:
        found = np.append(0.0, _mean(gain))[count]
        share = np.full(len(tested), delta / len(tested))
        position = fallback(len(tested), np.arange(len(tested)), share, lambda low, high: np.exp(-found[low:high]))
    else:
        held = np.log1p(_stakes(limit) * limit)  # what a cluster adds at most
        evidence = _mean(gain[:, count - 1] - held)
        begun = np.cumsum(_starts(sample.score, cluster))[count - 1]
        passed = np.flatnonzero(_walks(np.exp(np.minimum(evidence, HIGHEST)), begun) >= 1.0 / delta)
        position = int(passed[-1]) if passed.size else -1
    at = float(tested[position]) if position >= 0 else np.inf
    if not sample.loss.any():
        short = f"{left + (not fixed)} clusters are too few, though no answer is wrong; add clusters"
    return Found(at, "fallback", "betting", None if position >= 0 else short)


def _starts(score: FloatArray, cluster: IntArray) -> FloatArray:
    """Return the share of each row among the starts of all clusters."""
    scored = np.flatnonzero(score > -np.inf)
    by_cluster = scored[np.argsort(cluster[scored], kind="stable")]  # rows stay in order of falling scores
    sizes = np.bincount(cluster[scored], minlength=int(cluster.max()) + 1)
    first = (np.cumsum(sizes) - sizes)[sizes > 0]
    share = np.zeros(len(score))
    for part, each in zip(PARTS, SHARES, strict=True):
        row = by_cluster[first + (part * sizes[sizes > 0]).astype(np.int64)]
        share[row] += each / len(sizes)  # no row is that of two clusters
    return share


def _walks(evidence: FloatArray, begun: FloatArray) -> FloatArray:
    """Return at each threshold the smallest evidence since each start, weighted by shares; ``begun``: their sum."""
    values, started = evidence.tolist(), begun.tolist()
    sums: list[float] = []
    lower: list[int] = []  # positions whose evidence is below that of all later ones, ascending
    for at, value in enumerate(values):
        while lower and values[lower[-1]] >= value:
            lower.pop()
        before, since = (sums[lower[-1]], started[lower[-1]]) if lower else (0.0, 0.0)
        sums.append(before + value * (started[at] - since))
        lower.append(at)
    return np.array(sums)


def cluster_means(loss: FloatArray, accepted: BoolArray, cluster: IntArray) -> FloatArray:
    """Return the mean accepted loss of each cluster that has an accepted row."""
    count = np.bincount(cluster[accepted])
    total = np.bincount(cluster[accepted], loss[accepted])
    return np.asarray(total[count > 0] / count[count > 0])


def cluster_sums(loss: FloatArray, accepted: BoolArray, cluster: IntArray, limit: float, largest: int) -> FloatArray:
    """Return of each cluster with an accepted row a value in [0, 1], whose mean is at most the limit if the risk is."""
    kept = np.unique(cluster[accepted], return_inverse=True)[1]
    return limit + np.bincount(kept, loss[accepted] - limit) / largest


def _gains(loss: FloatArray, cluster: IntArray, limit: float, largest: int | None) -> FloatArray:
    """Return for each stake what every row, accepted after those before it, adds to the log of its cluster's factor.

    ``largest``: the size of a cluster in the guarantee about rows; None: each cluster counts once.
    """
    by_cluster = np.argsort(cluster, kind="stable")  # rows stay in order of falling scores
    sizes = np.bincount(cluster)
    first = np.repeat((np.cumsum(sizes) - sizes)[sizes > 0], sizes[sizes > 0])
    total = np.cumsum(loss[by_cluster])
    total -= np.concatenate([[0.0], total])[first]
    many = np.arange(len(loss)) - first + 1.0
    won = np.clip(limit * many - total, (limit - 1.0) * many, limit * many) / (many if largest is None else largest)
    gain, before = np.empty(len(loss)), np.zeros(len(loss))  # without an accepted row nothing is won
    gain[by_cluster] = won
    again = np.flatnonzero(cluster[by_cluster][1:] == cluster[by_cluster][:-1])
    before[by_cluster[again + 1]] = won[again]
    stake = _stakes(limit)
    return np.log1p(stake * gain) - np.log1p(stake * before)


def _stakes(limit: float) -> FloatArray:
    return np.array(STAKES)[:, np.newaxis] / (1.0 - limit)


def _mean(path: FloatArray) -> FloatArray:
    """Return the log of the mean over stakes."""
    highest = path.max(axis=0)
    return np.asarray(highest + np.log(np.mean(np.exp(path - highest), axis=0)))
