r"""Evidence against "the risk at this threshold is above the limit", for every threshold of a fixed grid at once.

A row has the confidence c, the loss L in [0, 1] and the chance :math:`\pi` with which its label was drawn, :math:`\xi`
says whether it was, and :math:`A_j` whether the threshold :math:`t_j` accepts it. With the limit :math:`\alpha`

.. math:: X_j = \frac{\xi}{\pi} A_j (\alpha - L), \qquad E[X_j] \le 0 \iff R(t_j) \ge \alpha,

so that :math:`M_j = \sum_k v_k \prod_i (1 + \lambda_k X_{ij})`, with weights that sum to 1, is a test
supermartingale where the risk at :math:`t_j` is not below the limit, as long as every stake is fixed before the label
is seen and :math:`\lambda X > -1`. The stakes are

.. math:: \lambda_k = q\,\frac{1 - \rho_k}{1 - \alpha}, \qquad \rho_k = \frac{1}{1 + h_k\sqrt{(1 - q\alpha)/(q\alpha)}},

where q is the smallest chance of a label that is *in force*: 1 until a threshold is certified, and then the one that
was declared for all later days. The chance of a row itself depends on its confidence, and a stake that follows it would
not keep the expectation. Without audits (q = 1) and with 0/1 losses a stake is the likelihood ratio of the error rate
:math:`\rho_k \alpha` against :math:`\alpha`. The root is the relative standard deviation of one loss at the limit, so
that at every limit, and with every chance, the same numbers of labels decide.

**Why that is valid.** Let F be all that the calls before have counted. The stakes of a call are a function of F and of
what was fixed at the start. What a user knows of labels that are not counted yet cannot change them, whether these rows
wait or are held back. So, for every F, each factor of the call has an expectation of at most 1 under the hypothesis, as
long as which rows the call has does not depend on their losses; and it is positive, because no chance is below q:
:math:`\lambda_k X \ge -\lambda_k (1 - \alpha)/q > -1`. The products over independent rows, or clusters, keep both.

**What is kept.** A row counts at all thresholds from its own *cell* on, the first threshold that accepts it. So one sum
of logarithms for each stake and cell is the whole state, and a row costs as many operations as there are stakes.

**Clusters.** With at most m rows each, :math:`X_j` is the sum over the rows of a cluster, divided by m. Its logarithm
is spread over the cells of its rows, so that the sums over cells stay those of whole clusters.

Sources: Waudby-Smith & Ramdas (2024), for bets; Xu, Karampatziakis & Mineiro (2024), for bets with chances of labels.
"""

from __future__ import annotations

import numpy as np

from abstain._checks import vector
from abstain._typing import ArrayLike, BoolArray, FloatArray, IntArray

#: Relative distances from the limit against which the stakes are best, in standard deviations of one loss, and the
#: weights of the bets. The first three decide within some 50,000 rows (chosen by simulation, on other populations than
#: those of benchmarks/live.py); the others are needed when a risk closely below the limit is to be certified at all.
DISTANCES = np.array([0.24, 0.12, 0.06, 0.02, 0.006])
WEIGHTS = np.array([0.3, 0.3, 0.3, 0.08, 0.02])
#: Thresholds of a grid that is made from scores, and the most that may be given.
USUAL, MOST = 60, 200


def grid_of(scores: ArrayLike | None, thresholds: ArrayLike | None) -> FloatArray:
    """Return the thresholds, falling."""
    if (scores is None) == (thresholds is None):
        raise TypeError("give scores (without labels, whose quantiles are the thresholds) or thresholds, one of them")
    if thresholds is not None:
        grid = np.unique(vector(thresholds, "thresholds", np, None))[::-1]
        if not np.isfinite(grid).all() or not 0 < len(grid) <= MOST:
            raise ValueError(f"thresholds must be 1 to {MOST} finite numbers, got {len(grid)}")
        return np.ascontiguousarray(grid)
    known: FloatArray = vector(scores, "scores", np, None)
    finite = known[np.isfinite(known)]
    if not finite.size:
        raise ValueError("scores must hold numbers of rows like the coming ones; none is finite")
    shares = 1.0 - np.arange(1, USUAL + 1) / USUAL
    return np.ascontiguousarray(np.unique(np.quantile(finite, shares, method="lower"))[::-1])


def cells(thresholds: FloatArray, confidence: FloatArray) -> IntArray:
    """Return the position of the first of these falling thresholds that accepts each row; their number if none does."""
    known = np.where(np.isnan(confidence), -np.inf, confidence)
    return np.searchsorted(-thresholds, -known, side="left")


def stakes(limit: float, smallest: float) -> FloatArray:
    """Return the stakes where the smallest chance of a label in force is ``smallest``."""
    part = smallest * limit
    rates = 1.0 / (1.0 + DISTANCES * np.sqrt((1.0 - part) / part))
    return np.asarray(smallest * (1.0 - rates) / (1.0 - limit))


def log_factors(gain: FloatArray, limit: float, smallest: float) -> FloatArray:
    """Return the logarithm of each factor, shape (stakes, rows); ``gain``: the X of a row where it is accepted."""
    return np.log1p(stakes(limit, smallest)[:, np.newaxis] * gain)


def by_cell(logs: FloatArray, cell: IntArray, n_cells: int) -> FloatArray:
    """Return the sums of these logarithms for each stake and cell; rows that no threshold accepts are left out."""
    return np.array([np.bincount(cell, weights=row, minlength=n_cells + 1)[:n_cells] for row in logs])


def cluster_logs(gain: FloatArray, cell: IntArray, cluster: IntArray, limit: float, smallest: float) -> FloatArray:
    """Return for each row by how much it changes the logarithm of its cluster's factor, once its cell is reached."""
    order = np.lexsort((cell, cluster))
    begins = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    total = np.cumsum(gain[order])
    before = np.repeat(np.append(0.0, total)[begins], np.diff(np.append(begins, len(order))))
    logs = log_factors(total - before, limit, smallest)
    change = np.diff(logs, axis=1, prepend=0.0)
    change[:, begins] = logs[:, begins]
    found = np.empty_like(change)
    found[:, order] = change
    return found


def log_evidence(sums: FloatArray) -> FloatArray:
    """Return the logarithm of the evidence for each threshold, from the sums of each stake and cell."""
    total = np.cumsum(sums, axis=1)
    largest = total.max(axis=0)
    return np.asarray(largest + np.log(WEIGHTS @ np.exp(total - largest)))


def start_weights(n: int) -> FloatArray:
    """Return the share of delta of n thresholds: half of it to the first sixth, a sixth to the lower half.

    A start counts for every threshold from it on, and for none above it. Weights that fall at once, as 1, 1/2, 1/3,
    lose much where errors are among the most confident.
    """
    weight = (np.arange(1.0, n + 1.0) + 0.5 * n) ** -3.0
    return np.asarray(weight / weight.sum())


def certify(log_evidences: FloatArray, certified: BoolArray, log_bar: float) -> BoolArray:
    r"""Return which thresholds are certified now, with those that were before; ``log_bar``: :math:`\log(1/\delta)`.

    **Closed test.** For a set I of thresholds, "all of I have a risk not below the limit" is tested by
    :math:`E_I = \sum_s w_s M_{f(s, I)}`, where f(s, I) is the first threshold of I from s on (no term if I has none).
    That is a test supermartingale too, whatever the thresholds have to do with each other. A threshold is certified
    if :math:`E_I \ge 1/\delta` for all I that hold it. The least favourable I is found from the highest threshold down.

    **At any time.** Let I be all thresholds whose risk is not below the limit. With probability 1 - delta its
    :math:`E_I` never reaches :math:`1/\delta` (Ville). Then none of them is certified first, so that those that were
    certified are not in I and may be left out of the sets that are searched.

    Sources: Marcus, Peritz & Gabriel (1976), closed tests; Vovk & Wang (2021), means of e-values; the weights of the
    starts are those of the fallback procedure, Wiens (2003).
    """
    reached = np.cumsum(start_weights(len(log_evidences)))
    value, bar = np.exp(np.minimum(log_evidences, 700.0)), np.exp(log_bar)
    done = certified.copy()
    while (reached * value >= bar)[~done].any():  # the sets of one threshold each: mostly they decide
        rest = np.flatnonzero(~done)
        fresh = _least_favourable(value[rest], reached[rest], bar) >= bar
        if not fresh.any():
            break
        done[rest[fresh]] = True
    return done


def _least_favourable(value: FloatArray, reached: FloatArray, bar: float) -> FloatArray:
    """Return the smallest E over the sets that end with each threshold; or what is too small, if that is for all."""
    steps = np.triu((reached - reached[:, np.newaxis]) * value, 1)
    steps[np.tril_indices(len(value))] = np.inf
    least, larger = reached * value, np.full(len(value), np.inf)
    while (least < larger).any() and (least >= bar).any():
        larger = least
        least = np.minimum(least, (least[:, np.newaxis] + steps).min(axis=0))
    return least
