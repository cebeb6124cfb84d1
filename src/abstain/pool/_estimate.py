r"""The difference estimator: all rows by what is guessed of them, corrected by the labelled ones.

Let stage k draw row i with probability :math:`\pi_{ki} > 0` from the rows not yet labelled, and :math:`\eta` guess
losses without these labels. Then

.. math:: T_k = \frac1N\sum_i w_i\eta_i + \frac1N\sum_{\text{before}} w_i(\ell_i - \eta_i)
          + \frac1N\sum_{\text{stage }k} w_i(\ell_i - \eta_i)/\pi_{ki}

has the mean T given all before it, and so has :math:`\sum_k a_k T_k` with fixed weights that sum to 1; its variance is
:math:`\sum_k a_k^2\operatorname{Var} T_k`, since each :math:`T_k - T` has mean 0 given the past. As a sum over labelled
rows this is :math:`\frac1N\sum_i w_i\eta_i + \frac1N\sum_{\text{labelled}} g_i w_i(\ell_i - \eta_i)` with
:math:`g_i = a_k/\pi_{ki} + \sum_{j>k} a_j`. So it is enough to estimate the loss sum of each tie block with these g:
every metric that is linear in the losses follows unbiased, and a smooth function of such metrics follows too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from abstain._checks import UnmetNeed
from abstain._typing import BoolArray, FloatArray, IntArray
from abstain.blocks import TieBlocks
from abstain.inference import gradient
from abstain.metrics import Metric
from abstain.pool._pool import Pool, expit, fit

#: Part of the variance of an even stage that a later one of an adaptive plan is taken to have: .5 to .7 on real pools.
LEANING = 0.75
#: A metric is a function of so many linear ones at most: area, error rate and one more.
MOST_PARTS = 3
_TABLES = 6
#: A label that stands for a weight above so many times the mean of all labels may miss what decides a metric.
MOST_HEAVY = 2.5


@dataclass(frozen=True, eq=False)
class Sample:
    """The labelled rows of a pool: their losses, stages (from 0) and inclusion probabilities at their stage.

    ``frame``: rows that could be drawn at all. ``leaning``: whether the first stage was even and later ones were to
    lean to where labels help. ``inclusion``: of every row of the pool, the chance that any stage labels it; None: all
    rows that could be drawn are alike.
    """

    pool: Pool
    rows: IntArray
    loss: FloatArray
    stage: IntArray
    probability: FloatArray
    frame: BoolArray
    sizes: tuple[int, ...]
    leaning: bool = False
    inclusion: FloatArray | None = None

    @property
    def n(self) -> int:
        """Labelled rows."""
        return len(self.rows)

    @property
    def errors(self) -> float:
        """Errors among them."""
        return float(self.loss.sum())

    @property
    def complete(self) -> bool:
        """Whether every row that can count is labelled."""
        return self.n == int(self.frame.sum())

    @cached_property
    def shares(self) -> FloatArray:
        """Weights of the stages."""
        return stage_weights(list(self.sizes), int(self.frame.sum()), self.leaning)

    @cached_property
    def expansion(self) -> FloatArray:
        """How many rows each labelled one stands for: g."""
        later = 1.0 - np.cumsum(self.shares)
        value: FloatArray = self.shares[self.stage] / self.probability + later[self.stage]
        return np.ones(self.n) if self.complete else value

    @property
    def unseen(self) -> FloatArray:
        """Mean square of the errors in the unlabelled rows that a labelled one stands for, of which one was not seen.

        A whole number: where these rows are less than one, an error is there with that chance.
        """
        more = np.maximum(self.expansion - 1.0, 0.0)
        return np.asarray(more * np.maximum(more, 1.0))

    def at_top(self, per_loss: FloatArray, units: float) -> float:
        """Return what one unseen error adds where errors count most; 0 where none counts much more than another.

        Errors of which so many labels are expected may all be missed. At worst they fill the unlabelled rows whose
        weight, for their chance of a label, is largest; this is their sum, for one label. A plan that caps this weight
        (:func:`._sampling.levelled`) needs no such room: there it is at most about twice the mean, which is reserved.
        """
        free = self.frame.copy()
        free[self.rows] = False
        weight = np.abs(per_loss[free])
        chance = np.full(len(weight), self.n / self.frame.sum()) if self.inclusion is None else self.inclusion[free]
        usual = float(np.abs(per_loss).mean())
        if not weight.size or weight.max() <= MOST_HEAVY * usual:
            return 0.0
        if (weight / chance).max() <= MOST_HEAVY * usual * len(per_loss) / self.n:
            return 0.0
        order = np.argsort(-weight / chance, kind="stable")
        labels, total = np.cumsum(chance[order]), np.cumsum(weight[order])
        return float(np.interp(units, np.append(0.0, labels), np.append(0.0, total))) / units

    @cached_property
    def risk(self) -> FloatArray:
        """Guess of every row's loss, fitted on the labelled ones."""
        features = self.pool.features
        coefficients = fit(features[self.rows], self.loss, self.expansion)
        return expit(features @ coefficients)

    @cached_property
    def estimated(self) -> TieBlocks:
        """The table of the pool with estimated loss sums; the true ones where all rows are labelled."""
        return self.with_guess(self.risk)

    def with_guess(self, risk: FloatArray) -> TieBlocks:
        """Return the estimated table with this guess of all rows' losses."""
        pool, rows = self.pool, self.rows
        if self.complete and self.frame.all():
            return pool.table(pool.sums(self.loss, rows))
        correction = self.expansion * (self.loss - risk[rows])
        return pool.table(pool.sums(risk) + pool.sums(correction, rows))

    def variance(self, per_loss: FloatArray) -> float:
        """Return the design variance of the sum of ``per_loss`` times the losses."""
        if self.complete:
            return 0.0
        terms = per_loss[self.rows] * (self.loss - self.risk[self.rows])
        return self.variance_of(terms, fitted=self.pool.features.shape[1])

    def variance_of(self, terms: FloatArray, fitted: float) -> float:
        """Return the design variance of a sum over rows from its labelled terms (Deville's, for fixed sizes).

        ``fitted``: parameters of the guess that the terms are left from.
        """
        total = 0.0
        for share, factor, centred in self.centred(terms):
            n = float(np.count_nonzero(factor))
            freedom = max(n - 1.0 - fitted * n / self.n, 1.0)
            total += share**2 * n / freedom * float(factor @ centred**2)
        return total

    def centred(self, terms: FloatArray) -> list[tuple[float, FloatArray, FloatArray]]:
        """Return weight, finite-population factors and centred expanded terms of each stage that is no census."""
        found = []
        for k, share in enumerate(self.shares):
            mine = self.stage == k
            factor, expanded = 1.0 - self.probability[mine], terms[mine] / self.probability[mine]
            if share > 0.0 and factor.any():
                found.append((float(share), factor, expanded - float(factor @ expanded) / float(factor.sum())))
        return found


def stage_weights(sizes: list[int], rows: int, leaning: bool = False) -> FloatArray:
    """Return the fixed weights of the stages: of uniform stages they make the sample that was drawn at once.

    A stage that labels n of the M rows left has a variance in proportion to M (M - n) / n, and less if it leans to
    where labels help. How much less must not be learnt from the labels, or the weights would go with the errors: so it
    is a fixed part of those of all stages but the first. A stage that labels all is exact and alone counts.
    """
    left: FloatArray = rows - np.concatenate([[0.0], np.cumsum(sizes)])
    if left[-1] == 0:
        return np.asarray(np.eye(len(sizes))[-1])
    weight = np.asarray(sizes) / (left[:-1] * left[1:])
    weight[1:] /= LEANING if leaning else 1.0
    return np.asarray(weight / weight.sum())


# ---------------------------------------------------------------------- what an error in each row adds to a metric


def per_block(metric: Metric, table: TieBlocks) -> FloatArray:
    """Return the derivative of the metric with respect to the loss sum of each block, the scores held."""
    if metric.attribution is not None:
        return metric.attribution_of(table)[1]
    return metric.smooth.gradient_of(table).loss


def per_row(metric: Metric, table: TieBlocks, pool: Pool) -> FloatArray:
    """Return what one more error in a row adds to the metric: of shape (n_rows,)."""
    return per_block(metric, table)[pool.block]


def plain_variance(metric: Metric, pool: Pool, risk: FloatArray) -> float:
    """Return n times the variance of plain evaluation of n uniformly drawn rows, where this is the risk."""
    derivative = gradient(metric, pool.table(pool.sums(risk)))
    a, b = derivative.weight[pool.block], derivative.loss[pool.block]
    return pool.n * float(np.sum((a + b * risk) ** 2 + b * b * risk * (1.0 - risk)))


def _parts(metric: Metric) -> int:
    """Return of how many linear metrics this one is a function: so many dimensions its derivatives span.

    With f = h(L_1(s), ..., L_k(s)) every derivative with respect to the loss sums s is a combination of the k weights
    of L_1 to L_k, wherever it is taken; and a function whose derivatives lie in k dimensions is one of k linear forms.
    """
    rng = np.random.default_rng(0)
    n = 24
    score, count = np.linspace(0.99, 0.02, n), rng.integers(2, 9, n).astype(float)
    tables = [TieBlocks(score, count, count * rng.uniform(0.05, 0.95, n), count, binary=True) for _ in range(_TABLES)]
    found = np.stack([per_block(metric, table) for table in tables])
    size = np.linalg.svd(found, compute_uv=False)
    return int(np.count_nonzero(size > 1e-9 * size[0]))


def require(metric: Metric) -> None:
    """Refuse, by name, a metric whose value does not follow from sums over the pool."""
    why = ""
    if metric.input != "blocks":
        why = "takes class probabilities or scores of two data sets, not one score"
    elif metric.attribution is None and (
        metric.inference_kind not in ("smooth", "quantile") or metric.smooth.gradient is None
    ):
        why = "is no function of sums of losses"
    elif _parts(metric) > MOST_PARTS:
        why = "is a function of the whole curve, not of a few sums of losses"
    if why:
        raise UnmetNeed(
            f"{metric.name} {why}, so a few labels of a pool do not estimate it; ask for augrc, aurc, sele, risk, "
            "selective_risk(coverage=...), auroc_f or the like"
        )
