r"""How far a guarantee reaches: how much new cases may differ from the calibration rows before its limit is exceeded.

Let u be an upper limit of the risk of what a threshold answers, and :math:`\alpha > u` the limit that is to hold. All
statements follow from u alone and hold with its confidence, for every distribution with losses in [0, 1]:

===============================================================  ==================================================
what changes                                                     worst risk
===============================================================  ==================================================
a share s of the answers is of an unseen kind, and all wrong     :math:`(1 - s)u + s`
a share p of all cases is of an unseen kind, answered at rate a  :math:`((1-p)Cu + pa) / ((1-p)C + pa)`
density ratio of the answered cases within [1/G, G]              :math:`\min(Gu,\ 1 - (1 - u)/G)`
chi-square divergence at most r                                  :math:`u + \sqrt{r u (1 - u)}`
total variation distance at most v                               :math:`u + v`
a subgroup with a share m of the answers                         :math:`\min(1,\ u/m)`
===============================================================  ==================================================

C is the coverage. For graded losses each line is an upper limit; 0/1 losses attain it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from abstain._checks import failure_probability, fraction
from abstain.inference import clopper_pearson

if TYPE_CHECKING:
    from abstain.joint import JointEvaluation


@dataclass(frozen=True)
class Reach:
    """How far a guarantee reaches beyond the population of the calibration rows.

    Parameters
    ----------
    limit : float
        The limit of the risk, as a part of the largest loss.
    upper : float
        Upper limit of the risk of the answers in the calibrated population, with the confidence of the guarantee.
    coverage : float
        Share of the cases that is answered.
    answered : float
        At which rate cases of an unseen kind are answered; 1 if that is unknown.
    where : str
        Of what these are the answered cases, such as `` of each group``.

    Examples
    --------
    >>> from abstain.thresholds import Reach
    >>> reach = Reach(limit=0.05, upper=0.04, coverage=0.5)
    >>> round(reach.ood_share, 4), round(reach.density_ratio, 2), round(reach.smallest_subgroup, 2)
    (0.0104, 1.25, 0.4)
    >>> round(reach.with_ood(0.02), 4)
    0.0592
    """

    limit: float
    upper: float
    coverage: float
    answered: float = 1.0
    where: str = ""

    @classmethod
    def of_joint(
        cls, result: JointEvaluation, thresholds: tuple[float, float], *, risk: float, delta: float = 0.05
    ) -> Reach:
        r"""Return how far a limit reaches at a pair of thresholds, from ID and OOD rows that were evaluated together.

        :meth:`ood_cases` of what is returned is the share of OOD cases up to which the limit holds, if all that both
        scores accept of them is wrong. Exact binomial limits at :math:`\delta/3` each bound the risk of the accepted ID
        cases, their share, and that of the OOD cases.

        Parameters
        ----------
        result : JointEvaluation
        thresholds : (float, float)
            Of the confidence and of the detector, chosen on *other* rows.
        risk, delta : float in (0, 1)
            Limit of the error rate of all that is accepted, and the probability that the stated share is too large.
        """
        limit, part, rows = fraction(risk, "risk"), failure_probability(delta) / 3.0, result.problem
        accepted = (rows.confidence >= thresholds[0]) & (rows.detector >= thresholds[1])
        inside, outside = accepted[: rows.n_id], int(accepted[rows.n_id :].sum())
        wrong, n = int(rows.wrong[inside].sum()), int(inside.sum())
        upper = clopper_pearson(wrong, n, 1.0 - part, side="upper")[1] if n else 1.0
        rate = clopper_pearson(outside, rows.n_ood, 1.0 - part, side="upper")[1] if rows.n_ood else 1.0
        return cls(limit, upper, clopper_pearson(n, rows.n_id, 1.0 - part, side="lower")[0], rate)

    @property
    def slack(self) -> float:
        """How far the upper limit lies below the limit; 0 if it does not."""
        return max(0.0, self.limit - self.upper)

    @property
    def ood_share(self) -> float:
        """The largest share of the *answers* that may be of an unseen kind and all wrong."""
        return self.slack / (1.0 - self.upper) if self.upper < 1.0 else 0.0

    def ood_cases(self, answered: float | None = None) -> float:
        """Return the largest share of all *cases* that may be of an unseen kind, and wrong wherever they are answered.

        Parameters
        ----------
        answered : float in [0, 1], optional
            At which rate they are answered, as measured on such cases; default: that of this object.
        """
        rate = self.answered if answered is None else fraction(answered, "answered")
        if rate == 0.0:
            return 1.0
        odds = self.coverage * self.slack / (rate * (1.0 - self.limit))
        return odds / (1.0 + odds)

    @property
    def density_ratio(self) -> float:
        """The largest G such that the answered cases may have a density within [1/G, G] times that of calibration."""
        if not self.slack:
            return 1.0
        return max(self.limit / self.upper if self.upper else math.inf, (1.0 - self.upper) / (1.0 - self.limit))

    @property
    def chi_square(self) -> float:
        """The largest chi-square divergence of the answered cases from those of calibration."""
        spread = self.upper * (1.0 - self.upper)
        return self.slack**2 / spread if spread else math.inf if self.slack else 0.0

    @property
    def total_variation(self) -> float:
        """The largest total variation distance of the answered cases from those of calibration."""
        return self.slack

    def subgroup(self, limit: float) -> float:
        """Return the smallest share of the answers for which every subgroup of it satisfies its own limit."""
        return min(1.0, self.upper / fraction(limit, "limit"))

    @property
    def smallest_subgroup(self) -> float:
        """The smallest share of the answers for which every subgroup satisfies twice the limit."""
        return self.subgroup(min(1.0, 2.0 * self.limit))

    def with_ood(self, share: float) -> float:
        """Return the worst risk if a share of the answers is of an unseen kind and all wrong."""
        part = fraction(share, "share")
        return (1.0 - part) * self.upper + part

    @property
    def sentence(self) -> str:
        """How far the guarantee reaches, in one sentence."""
        if not self.slack:
            return "The certified limit leaves no room: it holds for cases like the calibration rows only."
        share = 100.0 * self.ood_share
        digits = 10.0 ** (1 - math.floor(math.log10(share)))  # two, rounded down: a little more would be too much
        share = math.floor(share * digits + 1e-9) / digits
        return f"It holds while at most {share:.2g} % of the answered cases{self.where} are unlike calibration."


def stricter(limit: float, ood_share: float) -> float:
    """Return the limit that has to be certified so that a share of unseen, wrong answers may come on top.

    Both are parts of the largest loss; raises if the share alone exceeds the limit.
    """
    if not ood_share < limit:
        raise ValueError(
            f"ood_share={ood_share:g} must be below the limit {limit:g}: so many wrong answers exceed it by themselves"
        )
    return (limit - ood_share) / (1.0 - ood_share)
