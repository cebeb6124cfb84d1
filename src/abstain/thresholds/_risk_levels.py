"""Several risks certified on one table: sorted once, and described in full only where somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.policy import Guarantee, Objective, statement
from abstain.thresholds._band import Attained, errs
from abstain.thresholds._certify import Found, Search
from abstain.thresholds._row_warnings import warn_if_selected
from abstain.thresholds._rows_needed import least_needed, least_risk
from abstain.thresholds._sample import of_table

if TYPE_CHECKING:
    from abstain.thresholds._results import CertifiedThreshold, EmpiricalThreshold


@dataclass(frozen=True, eq=False)
class RiskLevel:
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

    def chosen(self) -> tuple[Objective, Guarantee | None]:
        """Return objective and guarantee of whoever takes this one of all that were tried: delta is that of all."""
        objective, guarantee = self.found.objective, self.found.guarantee()
        if self.tried == 1 or guarantee is None:
            return objective, guarantee
        delta = float(f"{self.delta * self.tried:.12g}")
        together = f" for all {self.tried} guarantees that were tried at once"
        words = statement(self.risk, delta, self.found.calibration, together=together)
        return (replace(objective, delta=delta), replace(guarantee, delta=delta, multiplicity="all", statement=words))


def certify_levels(blocks: TieBlocks, risks: Sequence[float], delta: float, tried: int = 1) -> tuple[RiskLevel, ...]:
    """Certify each risk with probability 1 - delta, as ``choose_threshold`` does, on a table that kept its rows.

    ``tried``: levels of which one will be chosen, those of other scores too; ``delta`` is that of each.
    Of 0/1 losses without weights. Rows of a selection warn; copies are for whoever knows more of the rows to notice.
    """
    sample = of_table(blocks)
    warn_if_selected(sample)
    found = []
    for risk in risks:
        search = Search(sample, risk, delta)
        each = search.default()
        accepted = float(blocks.cumulative_weight[blocks.score >= each.threshold][-1:].sum())
        found.append(
            RiskLevel(
                risk,
                delta,
                attained=each.reason is None,
                threshold=each.threshold,
                coverage=accepted / sample.n,
                certified=partial(_in_full, search, each),
                needed=partial(least_needed, sample, risk, delta),
                least=partial(least_risk, sample, risk, delta),
                tried=tried,
            )
        )
    return tuple(found)


def _in_full(search: Search, found: Found) -> CertifiedThreshold:
    from abstain.thresholds._choose import certified  # only where somebody asks

    return certified(search, found)


def certified_instead(
    found: EmpiricalThreshold | CertifiedThreshold, curve: RiskCoverageCurve
) -> tuple[RiskLevel, ...]:
    """Return what rows do certify in place of a limit that they do not, by a second certificate.

    ``delta`` is that of both certificates: whoever takes the second relies on both, because the first failed.
    What holds of all rows whatever their score is left out, since no threshold says it.
    """
    from abstain.thresholds._results import CertifiedThreshold

    if not isinstance(found, CertifiedThreshold) or found.attainable or found.calibration.clustered:
        return ()
    lowest, both = float(curve.threshold[curve.threshold > -np.inf].min(initial=np.inf)), errs(found.delta)["both"]
    return tuple(
        RiskLevel(one.risk, both, True, one.threshold, one.coverage, partial(_other, found, curve, one, both))
        for one in found.attained
        if one.threshold >= lowest
    )


def _other(found: CertifiedThreshold, curve: RiskCoverageCurve, one: Attained, delta: float) -> CertifiedThreshold:
    point = curve.at(threshold=one.threshold)
    together = f" for this certificate and the one at {found.risk_limit:g} that failed"
    return replace(
        found,
        threshold=one.threshold,
        printed=one.printed,
        coverage=one.coverage,
        risk=point.selective_risk,
        n_accepted=point.n_accepted,
        risk_limit=one.risk,
        delta=delta,
        reason=None,
        statement=statement(one.risk, delta, found.calibration, together=together),
        procedure="fixed ranks",
        objective=Objective(risk=one.risk, delta=delta),
    )
