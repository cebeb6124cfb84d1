"""Populations whose selective risk at every threshold is known: what certificates are held against.

A population is the error probability as a function of u, the share of the population that is more confident: u = 0 is
the most confident input, and accepting the share c has coverage c and risk (1/c) times the integral up to c.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

GRID = np.linspace(0.0, 1.0, 20001)

#: Largest weight of a shifted draw, at u = 1.
MAX_WEIGHT = 1.5


@dataclass(frozen=True)
class Population:
    """Error probability by u, the risk limit that suits it, and how many distinct scores there are (0: no ties).

    ``edges`` are the values of u at which tied scores end, where they are not equally wide.
    """

    name: str
    error: Callable[[Any], Any]
    limit: float
    levels: int = 0
    graded: bool = False
    edges: tuple[float, ...] = ()

    def draw(self, n, rng):
        """Return losses and scores of n rows; a graded loss has the same mean and is not 0/1."""
        return self._observe(rng.random(n), rng)

    def draw_shifted(self, n, rng):
        """Return losses, scores and weights of n rows with too many easy ones: u has the density 1/2 + u^(-2/3)/6."""
        u = np.where(rng.random(n) < 0.5, rng.random(n), rng.random(n) ** 3)
        weight = 1.0 / (0.5 + np.maximum(u, 1e-300) ** (-2.0 / 3.0) / 6.0)
        return *self._observe(u, rng), weight

    def _observe(self, u, rng):
        p = self.error(u)
        beta = 2.0 * p + 1e-9, 2.0 * (1.0 - p) + 1e-9
        loss = rng.beta(*beta) if self.graded else (rng.random(len(u)) < p).astype(float)
        if self.edges:
            u = np.array(self.edges)[np.searchsorted(self.edges, u)]
        elif self.levels:
            u = np.ceil(u * self.levels) / self.levels
        return loss, -u

    def risk(self, coverage):
        """Return the selective risk at a coverage."""
        p = self.error(GRID)
        area = np.concatenate([[0.0], np.cumsum(0.5 * (p[1:] + p[:-1]))]) * (GRID[1] - GRID[0])
        return np.interp(coverage, GRID, area) / np.maximum(coverage, 1e-12)

    def coverage(self, threshold):
        """Return the coverage of score >= threshold."""
        share = np.clip(-np.asarray(threshold, dtype=float), 0.0, 1.0)
        if self.edges:
            return np.append(0.0, self.edges)[np.searchsorted(self.edges, share + 1e-9, side="right")]
        return np.floor(share * self.levels + 1e-9) / self.levels if self.levels else share

    def violated(self, threshold):
        """Return whether something is accepted and its risk is above the limit."""
        coverage = self.coverage(threshold)
        return (coverage > 0.0) & (self.risk(coverage) > self.limit + 1e-6)


POPULATIONS = (
    Population("good", lambda u: 0.6 * u**5, 0.05),
    Population("middling", lambda u: 0.2 * u, 0.05),
    Population("poor", lambda u: 0.05 + 0.1 * u, 0.05),
    Population("rare errors", lambda u: 0.04 * u**3, 0.005),
    Population("hard", lambda u: 0.1 + 0.45 * u**2, 0.2),
    Population("just above the limit", lambda u: 0.0501 + 0.0 * u, 0.05),
    Population("bad top", lambda u: np.where(u < 0.05, 0.2, 0.25 * u**2), 0.05),
    Population("dip", lambda u: np.where(u < 0.06, 0.12, np.where(u < 0.12, 0.0, 0.052)), 0.05),
    Population("waves", lambda u: 0.055 + 0.05 * np.sin(3.0 * np.pi * np.log(u + 1e-3)), 0.05),
    Population("cliff", lambda u: np.where(u < 0.5, 0.01, 0.2), 0.05),
    Population("ten levels", lambda u: 0.2 * np.ceil(10 * u) / 10, 0.1, levels=10),
    Population("three levels", lambda u: np.where(u < 1 / 3, 0.03, np.where(u < 2 / 3, 0.08, 0.3)), 0.05, levels=3),
)
GRADED = (
    Population("graded, good", lambda u: 0.4 * u**3, 0.1, graded=True),
    Population("graded, just above", lambda u: 0.1001 + 0.0 * u, 0.1, graded=True),
    Population("graded, bad top", lambda u: np.where(u < 0.1, 0.3, 0.2 * u), 0.1, graded=True),
    Population("graded, ten levels", lambda u: 0.2 * np.ceil(10 * u) / 10, 0.1, levels=10, graded=True),
    Population("graded, rare losses", lambda u: 0.02 * u**2, 0.005, graded=True),
)
#: Smooth, unimodal and overconfident scores, and scores as language models say them: few words, heavily tied.
SMOOTH_AND_TIED = (
    Population("smooth", lambda u: 0.4 * u**1.5, 0.05),
    Population("smooth, 10 % limit", lambda u: 0.5 * u**1.2, 0.1),
    Population("unimodal", lambda u: 0.03 + 0.35 * np.abs(u - 0.3) ** 1.5, 0.05),
    Population("overconfident top", lambda u: 0.02 + 0.1 * np.exp(-u / 0.03) + 0.25 * u**2, 0.05),
    Population("four words", lambda u: np.select([u < 0.4, u < 0.6, u < 0.8], [0.01, 0.04, 0.3], 0.5), 0.05,
               edges=(0.4, 0.6, 0.8, 1.0)),
    Population("twenty words", lambda u: 0.02 + 0.3 * (np.ceil(20.0 * u) / 20.0) ** 4, 0.05, levels=20),
    Population("half at the top", lambda u: 0.12 + 0.8 * np.maximum(np.ceil(20.0 * u) / 20.0 - 0.5, 0.0), 0.15,
               edges=tuple(k / 20 for k in range(10, 21))),
    Population("flat below", lambda u: 0.03 + 0.0 * u, 0.05),
)  # fmt: skip
