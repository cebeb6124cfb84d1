"""Several risks certified on one table: sorted once, and said in full only where somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.thresholds._attained import Attained, least_needed, least_risk
from abstain.thresholds._certify import Found, search
from abstain.thresholds._reuse import warn_if_selected
from abstain.thresholds._sample import Sample, of_table
from abstain.thresholds._statements import statement

if TYPE_CHECKING:
    from abstain.thresholds._results import CertifiedThreshold, EmpiricalThreshold


@dataclass(frozen=True, eq=False)
class Promise:
    """A risk that was to be certified: at which threshold and coverage, if one passed; ``found`` says all else.

    ``delta``: of this one alone; ``tried``: among so many, of which one is chosen once all are known.
    """

    risk: float
    delta: float
    attained: bool
    threshold: float
    coverage: float
    certified: Callable[[], CertifiedThreshold]
    needed: Callable[[], int | None] = lambda: None
    least: Callable[[], tuple[int, float] | None] = lambda: None
    tried: int = 1

    @cached_property
    def found(self) -> CertifiedThreshold:
        """The certificate, with intervals, fingerprint and statement."""
        return self.certified()

    def chosen(self) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return objective and guarantee of whoever takes this one of all that were tried: delta is that of all."""
        objective, guarantee = self.found.objective, self.found.guarantee()
        if self.tried == 1 or guarantee is None:
            return objective, guarantee
        delta = float(f"{self.delta * self.tried:.12g}")
        words = statement(self.risk, delta, weighted=False, clustered=False,
                          together=f" for all {self.tried} promises that were tried at once")  # fmt: skip
        more = {"delta": delta, "multiplicity": "all", "statement": words}
        return objective | {"delta": delta}, guarantee | more


def ladder(blocks: TieBlocks, risks: Sequence[float], delta: float, tried: int = 1) -> tuple[Promise, ...]:
    """Certify each risk with probability 1 - delta, as ``choose_threshold`` does, on a table that kept its rows.

    ``tried``: promises of which one will be chosen, those of other scores too; ``delta`` is that of each.
    Of 0/1 losses without weights. Rows of a selection warn; copies are for whoever knows more of the rows to notice.
    """
    sample = of_table(blocks)
    warn_if_selected(sample)
    found = []
    for risk in risks:
        each = search(sample, risk, delta)
        accepted = float(blocks.cumulative_weight[blocks.score >= each.threshold][-1:].sum())
        said = partial(_in_full, sample, risk, delta, each)
        needed, least = partial(least_needed, sample, risk, delta), partial(least_risk, sample, risk, delta)
        attained, coverage = each.reason is None, accepted / sample.n
        found.append(Promise(risk, delta, attained, each.threshold, coverage, said, needed, least, tried))
    return tuple(found)


def _in_full(sample: Sample, risk: float, delta: float, found: Found) -> CertifiedThreshold:
    from abstain.thresholds._choose import certificate  # only where somebody asks

    return certificate(sample, risk, delta, found)


def certified_instead(found: EmpiricalThreshold | CertifiedThreshold, curve: RiskCoverageCurve) -> tuple[Promise, ...]:
    """Return what rows do certify in place of a limit that they do not, of which all hold together with its delta.

    What holds of all rows whatever their score is left out, since no threshold says it.
    """
    from abstain.thresholds._results import CertifiedThreshold

    if not isinstance(found, CertifiedThreshold) or found.attainable or "n_clusters" in found.calibration:
        return ()
    lowest = float(curve.threshold[curve.threshold > -np.inf].min(initial=np.inf))
    return tuple(
        Promise(one.risk, found.delta, True, one.threshold, one.coverage, partial(_other, found, curve, one))
        for one in found.attained
        if one.threshold >= lowest
    )


def _other(found: CertifiedThreshold, curve: RiskCoverageCurve, one: Attained) -> CertifiedThreshold:
    point = curve.at(threshold=one.threshold)
    words = statement(
        one.risk, found.delta, weighted=found.calibration["weighted"], clustered=False,
        together=" for all limits that were found at once", answered="answered" in found.calibration,
    )  # fmt: skip
    return replace(
        found, threshold=one.threshold, printed=one.printed, coverage=one.coverage, risk=point.selective_risk,
        n_accepted=point.n_accepted, risk_limit=one.risk, reason=None, statement=words, procedure="fixed ranks",
        objective={"risk": one.risk, "delta": found.delta},
    )  # fmt: skip
