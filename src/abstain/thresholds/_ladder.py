"""Several risks certified on one table: sorted once, and said in full only where somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from abstain.blocks import TieBlocks
from abstain.thresholds._attained import least_risk, rows_needed
from abstain.thresholds._certify import search
from abstain.thresholds._choose import certificate
from abstain.thresholds._results import CertifiedThreshold
from abstain.thresholds._reuse import warn_if_selected
from abstain.thresholds._sample import of_table


@dataclass(frozen=True, eq=False)
class Promise:
    """A risk that was to be certified: at which threshold and coverage, if one passed; ``found`` says all else."""

    risk: float
    delta: float
    attained: bool
    threshold: float
    coverage: float
    certified: Callable[[], CertifiedThreshold]
    needed: Callable[[], tuple[int, int | None] | None] = lambda: None
    least: Callable[[], tuple[int, float] | None] = lambda: None

    @cached_property
    def found(self) -> CertifiedThreshold:
        """The certificate, with intervals, fingerprint and statement."""
        return self.certified()


def ladder(blocks: TieBlocks, risks: Sequence[float], delta: float) -> tuple[Promise, ...]:
    """Certify each risk with probability 1 - delta, as ``choose_threshold`` does, on a table that kept its rows.

    Of 0/1 losses without weights. Rows of a selection warn; copies are for whoever knows more of the rows to notice.
    """
    sample = of_table(blocks)
    warn_if_selected(sample)
    found = []
    for risk in risks:
        each = search(sample, risk, delta)
        accepted = float(blocks.cumulative_weight[blocks.score >= each.threshold][-1:].sum())
        said = partial(certificate, sample, risk, delta, each)
        needed, least = partial(rows_needed, sample, risk, delta), partial(least_risk, sample, risk, delta)
        attained, coverage = each.reason is None, accepted / sample.n
        found.append(Promise(risk, delta, attained, each.threshold, coverage, said, needed, least))
    return tuple(found)
