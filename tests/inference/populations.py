"""Populations with a known truth, for simulations here and in ``benchmarks/inference.py``."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr


class Population(NamedTuple):
    """Samples of uniform coverage rank c whose mean loss is m(c) = floor + slope c^power.

    AURC = f + a / (b + 1)^2 and AUGRC = f / 2 + a / ((b + 1)(b + 2)); with ``levels`` the confidence takes that many
    values, and m is the mean over its step; ``exponential`` draws real losses of that mean instead of 0/1.
    """

    name: str
    floor: float
    slope: float
    power: float
    levels: int | None = None
    exponential: bool = False

    @property
    def mean(self):
        return self.floor + self.slope / (self.power + 1.0)

    @property
    def aurc(self):
        if self.levels is None:
            return self.floor + self.slope / (self.power + 1.0) ** 2
        ends = np.arange(1, self.levels + 1) / self.levels
        return float(np.mean(self.accumulated(ends) / ends))

    @property
    def augrc(self):
        if self.levels is None:
            return self.floor / 2.0 + self.slope / ((self.power + 1.0) * (self.power + 2.0))
        ends = np.arange(self.levels + 1) / self.levels
        return float(np.trapezoid(self.accumulated(ends), ends))

    def accumulated(self, coverage):
        """Generalized risk at a coverage, without ties."""
        c = np.asarray(coverage, dtype=float)
        return self.floor * c + self.slope * c ** (self.power + 1.0) / (self.power + 1.0)

    def draw(self, n, rng):
        """Return loss and confidence of n samples."""
        rank = rng.random(n)
        mean = self.floor + self.slope * rank**self.power
        loss = rng.exponential(mean) if self.exponential else (rng.random(n) < mean).astype(float)
        return loss, -rank if self.levels is None else -np.ceil(rank * self.levels)


POPULATIONS = (
    Population("mu .05, no confident errors", 0.0, 0.20, 3.0),
    Population("mu .05, 1 % confident errors", 0.01, 0.16, 3.0),
    Population("mu .01, floor .002", 0.002, 0.032, 3.0),
    Population("mu .20", 0.0, 0.60, 2.0),
    Population("mu .20, useless confidence", 0.20, 0.0, 1.0),
    Population("mu .10, 20 distinct scores", 0.0, 0.40, 3.0, levels=20),
    Population("exponential loss, mean .3", 0.1, 0.60, 2.0, exponential=True),
)


def copies(n, rng, number=15):
    """Return loss and confidence of n images in so many versions each, which share their difficulty."""
    effect = np.repeat(rng.standard_normal(n), number)
    score = effect + 0.3 * rng.standard_normal(effect.size)
    return (rng.random(effect.size) < 0.6 * ndtr(-1.0 - 1.5 * effect)).astype(float), score


# ---------------------------------------------------------------------- exchangeable pairs


def exchangeable(n, rng, *, k=2, error=0.2, noise=0.7, kind="plain"):
    """Return k losses and k scores none of which is better: exchangeable given the sample.

    ``kind``: ``"plain"`` and ``"ties"`` (few distinct scores) share one 0/1 loss; ``"models"`` have dependent losses of
    their own; ``"real"`` shares an exponential loss.
    """
    difficulty = rng.standard_normal(n)
    chance = np.minimum(error * np.exp(difficulty - 0.5), 1.0)
    common = rng.random(n)
    losses = [(common < chance).astype(float)] * k
    if kind == "models":
        mine = [np.where(rng.random(n) < 0.5, common, rng.random(n)) for _ in range(k)]
        losses = [(each < chance).astype(float) for each in mine]
    if kind == "real":
        losses = [rng.exponential(chance)] * k
    scores = [-difficulty + noise * rng.standard_normal(n) for _ in range(k)]
    if kind == "ties":
        scores = [np.round(2.0 * score) for score in scores]
    return losses, scores


def rejected(test, draw, repetitions, seed=0):
    """Return the share of repetitions in which a test rejects."""
    rng = np.random.default_rng(seed)
    return sum(bool(test(*draw(rng))) for _ in range(repetitions)) / repetitions


def allowance(share, repetitions):
    """Return 2.6 Monte Carlo errors of a share."""
    return 2.6 * float(np.sqrt(share * (1.0 - share) / repetitions))
