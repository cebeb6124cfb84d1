"""The certified thresholds of a day, as a policy takes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from abstain.live._grid import Grid
from abstain.policy import Calibration, Guarantee, Objective

if TYPE_CHECKING:
    from abstain.live._certificate import LiveCertificate


@dataclass(frozen=True)
class Issued:
    """The thresholds of a day, as a policy takes them."""

    threshold: float
    objective: Objective
    calibration: Calibration
    certified: Guarantee | None
    groups: Mapping[str, Issued] | None = None

    def guarantee(self) -> Guarantee | None:
        """Return what is guaranteed, if anything is."""
        return self.certified

    @classmethod
    def of(cls, live: LiveCertificate) -> Issued:
        """Return what is certified now."""
        each = {name: cls._of_grid(live, one) for name, one in live.groups.items()}
        if not live.grouped:
            return each[""]
        first = next(iter(each.values()))
        whole = Calibration(
            n=sum(one.calibration.n for one in each.values()),
            groups={name: one.calibration for name, one in each.items()},
        )
        found = next((one.certified for one in each.values() if one.certified is not None), None)
        return cls(first.threshold, first.objective, whole, found, each)

    @classmethod
    def _of_grid(cls, live: LiveCertificate, one: Grid) -> Issued:
        position = one.answers
        threshold = math.inf if position < 0 else float(live.thresholds[position])
        calibration = Calibration(n=one.rows, n_accepted=one.accepted(position), coverage=one.coverage(position))
        unseen = f" but for a share of {live.ood_share:g} of it that is of an unseen kind"
        beyond = unseen if live.ood_share else ""
        guarantee = None if position < 0 else Guarantee(
            risk=live.risk, delta=live.delta, max_loss=live.max_loss, procedure="live", bound="betting",
            statement=f"with probability at least {1.0 - live.delta:g} no threshold that is declared on any day has a "
            f"mean loss of what is accepted above {live.risk:g}, as long as the population stays as it is{beyond}",
        )  # fmt: skip
        return cls(
            threshold,
            Objective(risk=live.risk, delta=live.delta, ood_share=live.ood_share or None),
            calibration,
            guarantee,
        )
