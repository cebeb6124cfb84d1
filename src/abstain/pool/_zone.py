"""Certificates from few labels: only rows of a zone are labelled, the most confident share of the pool.

Given its last score, the rows of the zone are drawn independently from the population above that score, and labelled
rows are a simple random sample of them. So a certificate of rows holds in the zone unchanged: what it
accepts is accepted by the same threshold in the population. Labels outside the zone would say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from abstain._checks import failure_probability, fraction
from abstain._result import Column, Result, Row, Table
from abstain.pool import _labelled
from abstain.pool._plan import LabelPlan
from abstain.thresholds import CertifiedThreshold, choose_threshold


@dataclass(frozen=True, eq=False, repr=False)
class ZoneCertificate(Result):
    """A threshold whose risk is certified from the labels of a zone; :func:`certify_zone` makes it.

    Parameters
    ----------
    certified : CertifiedThreshold
        The certificate of the labelled rows; its coverage is a share of the zone. ``certified.policy`` deploys it.
    threshold : float
        Accept scores >= this; inf where nothing is certified.
    coverage : float
        Share of the whole pool that this accepts; it is known, not estimated.
    zone : float
        Share of the pool that the labels were drawn from.
    n, errors : int
        Labelled rows, and errors among them.
    risk, delta : float
        What is certified, and how often that may fail.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> score = np.linspace(0.0, 1.0, 5000)
    >>> plan = abstain.plan_labels(score, n=300, zone=0.4, seed=0)
    >>> found = abstain.pool.certify_zone(plan, np.where(plan.stage > 0, 0.0, np.nan), risk=0.05, delta=0.05)
    >>> found.coverage
    0.3994
    """

    _names: ClassVar[tuple[str, ...]] = ()
    _values: ClassVar[tuple[str, ...]] = ("threshold", "coverage")

    certified: CertifiedThreshold
    threshold: float
    coverage: float
    zone: float
    n: int
    errors: int
    risk: float
    delta: float

    def headline(self) -> str:
        """Return one line that says what is certified."""
        if self.coverage == 0.0:
            return f"Nothing certified: risk at most {self.risk:g}, from {self.n} labels in the zone of {self.zone:g}"
        return f"Risk at most {self.risk:g} with probability {1.0 - self.delta:g}: accept scores >= {self.threshold!r}"

    def tables(self) -> list[Table]:
        """Return what is accepted, and from which labels that follows."""
        rows: list[Row] = [
            ("Coverage of the pool", self.coverage), ("Zone", self.zone), ("Labels", self.n), ("Errors", self.errors),
        ]  # fmt: skip
        return [Table([Column(), Column(alike=False)], rows)]

    def notes(self) -> list[str]:
        """Return what the promise is about."""
        lines = ["the zone must have been fixed before these labels; every further look needs a share of delta"]
        if 0.0 < self.coverage >= self.zone - 1e-9:
            lines.append("the whole zone is certified: a larger one may hold more")
        return lines

    def rows(self) -> list[dict[str, Any]]:
        """Return the certificate as one row."""
        return [{name: getattr(self, name) for name in
                 ("threshold", "coverage", "zone", "n", "errors", "risk", "delta")}]  # fmt: skip


def certify_zone(plan: LabelPlan, loss: Any, *, risk: float, delta: float) -> ZoneCertificate:
    """Certify a threshold from the labels of a plan with a zone.

    Parameters
    ----------
    plan : LabelPlan
        Of ``plan_labels(..., zone=)``; uniform. The zone was fixed before any of these labels: by an earlier period or
        a pilot whose labels are not among them.
    loss : array-like of shape (n_rows,)
        0/1 losses of the planned rows, NaN elsewhere.
    risk : float in [0, 1]
        Largest risk of what is accepted.
    delta : float in (0, 0.5]
        Chance that the promise fails.

    Returns
    -------
    ZoneCertificate
        It holds for the population that the pool was drawn from, and for the pool.

    Raises
    ------
    ValueError
        A plan of unequal probabilities; a planned row without a label.

    Notes
    -----
    Of the same labels drawn from the whole pool, those outside the zone are lost: a zone of share c needs c times the
    labels. It pays where the attainable coverage is below about two thirds, and has to be a little larger than that.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(1)
    >>> score = rng.random(5000)
    >>> loss = (rng.random(5000) < 0.5 * (1.0 - score)).astype(float)
    >>> plan = abstain.plan_labels(score, n=400, zone=0.4, seed=0)
    >>> found = abstain.pool.certify_zone(plan, np.where(plan.stage > 0, loss, np.nan), risk=0.1, delta=0.05)
    >>> 0.1 < found.coverage < 0.4
    True
    """
    limit, failure = fraction(risk, "risk"), failure_probability(delta)
    sample = _labelled.sample_of(plan, loss)
    chances = [np.unique(plan.probability[k][(plan.stage == 0) & plan.frame]) for k in range(plan.n_stages)]
    if any(np.ptp(each) > 1e-12 for each in chances if each.size):
        raise ValueError("a certificate needs rows drawn alike; plan with zone= and design=\"uniform\"")  # fmt: skip
    score = plan.confidence[sample.rows]
    found = choose_threshold(sample.loss, score, risk=limit, delta=failure, nan_policy="reject")
    assert isinstance(found, CertifiedThreshold)
    threshold = float(found.threshold) if found.attainable else float("inf")
    coverage = float(np.mean(plan.confidence >= threshold)) if found.attainable else 0.0
    zone = float(np.mean(plan.frame))
    return ZoneCertificate(found, threshold, coverage, zone, sample.n, int(sample.errors), limit, failure)
