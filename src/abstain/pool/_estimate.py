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

from abstain._typing import BoolArray, FloatArray, IntArray
from abstain.blocks import TieBlocks
from abstain.pool import _design, _risk
from abstain.pool._pool import Pool


@dataclass(frozen=True, eq=False)
class Sample:
    """The labelled rows of a pool: their losses, stages (from 0) and inclusion probabilities at their stage.

    ``frame``: rows that could be drawn at all. ``leaning``: whether the first stage was even and later ones were to
    lean to where labels help.
    """

    pool: Pool
    rows: IntArray
    loss: FloatArray
    stage: IntArray
    probability: FloatArray
    frame: BoolArray
    sizes: tuple[int, ...]
    leaning: bool = False

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
        return _design.shares(list(self.sizes), int(self.frame.sum()), self.leaning)

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

    @cached_property
    def risk(self) -> FloatArray:
        """Guess of every row's loss, fitted on the labelled ones."""
        features = self.pool.features
        coefficients = _risk.fit(features[self.rows], self.loss, self.expansion)
        return _risk.expit(features @ coefficients)

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

    def variance(self, per_loss: FloatArray, risk: FloatArray | None = None) -> float:
        """Return the design variance of the sum of ``per_loss`` times the losses (Deville's, for fixed sizes)."""
        if self.complete:
            return 0.0
        risk = self.risk if risk is None else risk
        terms = per_loss[self.rows] * (self.loss - risk[self.rows]) / self.probability
        p, total = self.pool.features.shape[1], 0.0
        for k, share in enumerate(self.shares):
            mine = self.stage == k
            x, f = terms[mine], 1.0 - self.probability[mine]
            n = float(np.count_nonzero(f))
            if share == 0.0 or n == 0.0:
                continue
            centre = float(f @ x) / float(f.sum())
            total += share**2 * n / max(n - 1.0 - p * n / self.n, 1.0) * float(f @ (x - centre) ** 2)
        return total
