"""Decisions from few labels: a certificate from the most confident share of the pool, and interim analyses.

Given its last score, the rows of the region are drawn independently from the population above that score, and labelled
rows are a simple random sample of them. So a certificate of rows holds in the region unchanged: what it
accepts is accepted by the same threshold in the population. Labels outside the region would say nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from abstain._checks import failure_probability, fraction, inside, whole
from abstain._result import Column, Result, Row, Table
from abstain._typing import ArrayLike, Document
from abstain.pool._labels import sample_of
from abstain.pool._plan import LabelPlan
from abstain.thresholds import CertifiedThreshold, choose_threshold


@dataclass(frozen=True, eq=False, repr=False)
class RegionCertificate(Result):
    """A threshold whose risk is certified from the labels of a region; :func:`certify_region` makes it.

    Parameters
    ----------
    certified : CertifiedThreshold
        The certificate of the labelled rows; its coverage is a share of the region. ``certified.policy`` deploys it.
    threshold : float
        Accept scores >= this; inf where nothing is certified.
    coverage : float
        Share of the whole pool that this accepts; it is known, not estimated.
    region : float
        Share of the pool that the labels were drawn from.
    n, errors : int
        Labelled rows, and errors among them.
    risk, delta : float
        What is certified, and how often that may fail.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> score = np.linspace(0.0, 1.0, 5000)
    >>> plan = abstain.plan_labels(score, n=300, region=0.4, seed=0)
    >>> found = abstain.pool.certify_region(plan, np.where(plan.stage > 0, 0.0, np.nan), risk=0.05, delta=0.05)
    >>> found.coverage
    0.3994
    """

    _names: ClassVar[tuple[str, ...]] = ()
    _values: ClassVar[tuple[str, ...]] = ("threshold", "coverage")

    certified: CertifiedThreshold
    threshold: float
    coverage: float
    region: float
    n: int
    errors: int
    risk: float
    delta: float

    def headline(self) -> str:
        """Return one line that says what is certified."""
        if self.coverage == 0.0:
            return (
                f"Nothing certified: risk at most {self.risk:g}, from {self.n} labels in the region of {self.region:g}"
            )
        return f"Risk at most {self.risk:g} with probability {1.0 - self.delta:g}: accept scores >= {self.threshold!r}"

    def tables(self) -> list[Table]:
        """Return what is accepted, and from which labels that follows."""
        rows: list[Row] = [("Coverage of the pool", self.coverage), ("Region", self.region)]
        rows += [("Labels", self.n), ("Errors", self.errors)]
        return [Table([Column(), Column(alike=False)], rows)]

    def notes(self) -> list[str]:
        """Return what the guarantee is about."""
        lines = ["the region must have been fixed before these labels; every further analysis needs a share of delta"]
        if 0.0 < self.coverage >= self.region - 1e-9:
            lines.append("the whole region is certified: a larger one may hold more")
        return lines

    def rows(self) -> list[Document]:
        """Return the certificate as one row."""
        return [{name: value for name, value in vars(self).items() if name != "certified"}]


def certify_region(plan: LabelPlan, loss: ArrayLike, *, risk: float, delta: float) -> RegionCertificate:
    """Certify a threshold from the labels of a plan with a region.

    Parameters
    ----------
    plan : LabelPlan
        Of ``plan_labels(..., region=)``; uniform. The region was fixed before any of these labels: by an earlier period
        or a pilot whose labels are not among them.
    loss : array-like of shape (n_rows,)
        0/1 losses of the planned rows, NaN elsewhere.
    risk : float in [0, 1]
        Largest risk of what is accepted.
    delta : float in (0, 0.5]
        Chance that the guarantee fails.

    Returns
    -------
    RegionCertificate
        It holds for the population that the pool was drawn from, and for the pool.

    Raises
    ------
    ValueError
        A plan of unequal probabilities; a planned row without a label.

    Notes
    -----
    Of the same labels drawn from the whole pool, those outside the region are lost: a region of share c needs c times
    the labels. It pays where the attainable coverage is below about two thirds, and has be a little larger.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(1)
    >>> score = rng.random(5000)
    >>> loss = (rng.random(5000) < 0.5 * (1.0 - score)).astype(float)
    >>> plan = abstain.plan_labels(score, n=400, region=0.4, seed=0)
    >>> found = abstain.pool.certify_region(plan, np.where(plan.stage > 0, loss, np.nan), risk=0.1, delta=0.05)
    >>> 0.1 < found.coverage < 0.4
    True
    """
    limit, failure = fraction(risk, "risk"), failure_probability(delta)
    sample = sample_of(plan, loss)
    chances = [np.unique(plan.probability[k][(plan.stage == 0) & plan.frame]) for k in range(plan.n_stages)]
    if any(np.ptp(each) > 1e-12 for each in chances if each.size):
        raise ValueError("a certificate needs rows drawn alike; plan with region= and design='uniform'")
    score = plan.confidence[sample.rows]
    found = choose_threshold(sample.loss, score, risk=limit, delta=failure, nan_policy="reject")
    assert isinstance(found, CertifiedThreshold)
    threshold = float(found.threshold) if found.attainable else float("inf")
    coverage = float(np.mean(plan.confidence >= threshold)) if found.attainable else 0.0
    region = float(np.mean(plan.frame))
    return RegionCertificate(found, threshold, coverage, region, sample.n, int(sample.errors), limit, failure)


# ---------------------------------------------------------------------- several analyses while labels come in

#: Points of the grid on which a sum of increments is followed, and analyses that are allowed.
_POINTS, _MOST = 801, 50


def interim_level(analysis: int, analyses: int, *, level: float = 0.95) -> float:
    r"""Return the level of the interval at an interim analysis, for a decision that may come at any of so many.

    The bounds of O'Brien and Fleming: at analysis k of K an interval with the normal quantile :math:`c\sqrt{K/k}`,
    where c makes the chance that a Brownian motion leaves them at any analysis 1 - level. Early analyses need much, the
    last nearly the usual level. ``abstain.evaluate(..., level=interim_level(k, K))`` has the interval; decide when it
    lies on one side of the limit. To stop when an interval is *short* enough, no such level is needed.

    Parameters
    ----------
    analysis : int
        Which analysis this is, from 1.
    analyses : int
        How many there will be at most, with about as many labels each; fixed before the first.
    level : float in (0, 1)
        Chance that no analysis decides wrongly.

    Returns
    -------
    float
        In (0, 1), above ``level`` at every analysis.

    Raises
    ------
    ValueError
        An analysis that is not among them.

    References
    ----------
    O'Brien and Fleming (1979); Armitage, McPherson and Rowe (1969) for the recursion.

    Examples
    --------
    >>> import abstain
    >>> [round(abstain.pool.interim_level(k, 4), 4) for k in (1, 2, 3, 4)]
    [0.9999, 0.9958, 0.9806, 0.9571]
    """
    analyses, analysis = whole(analyses, "analyses"), whole(analysis, "analysis")
    if analysis > analyses or analyses > _MOST:
        raise ValueError(
            f"analysis={analysis} of analyses={analyses}: give an analysis from 1 to analyses, of which there are at "
            f"most {_MOST}"
        )
    bound = _constant(analyses, inside(level, "level", 0.95)) * math.sqrt(analyses / analysis)
    return math.erf(bound / math.sqrt(2.0))


@lru_cache(maxsize=64)
def _constant(analyses: int, level: float) -> float:
    """Return c such that a sum of K increments stays within c sqrt(K) at every analysis with this chance."""
    from scipy.optimize import brentq

    least = NormalDist().inv_cdf(0.5 + 0.5 * level)
    if analyses == 1:
        return least
    scale = math.sqrt(analyses)
    return float(brentq(lambda c: _stays(analyses, c * scale) - level, least, 2.0 * least + 2.0, xtol=1e-13))


def _stays(analyses: int, bound: float) -> float:
    """Return the chance that sums of normal increments stay within a bound, by Simpson's rule."""
    place = np.linspace(-bound, bound, _POINTS)
    weight = np.full(_POINTS, 2.0)
    weight[1::2], weight[[0, -1]] = 4.0, 1.0
    weight *= (place[1] - place[0]) / 3.0
    step = np.exp(-0.5 * (place[:, None] - place[None, :]) ** 2) / math.sqrt(2.0 * math.pi) * weight[None, :]
    density = np.exp(-0.5 * place**2) / math.sqrt(2.0 * math.pi)
    for _ in range(analyses - 1):
        density = step @ density
    return float(weight @ density)
