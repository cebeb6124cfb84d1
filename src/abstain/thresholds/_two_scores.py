r"""``choose_pair``: two scores, such as a confidence and an OOD score, chosen, certified and deployed together.

A row is accepted if both scores reach their thresholds. A fifth of the rows, drawn at random, chooses the threshold of
the second score, or that it lets all rows through; the others certify the threshold of the first score.

**Why the guarantee holds.** Given the rows that chose, the second threshold :math:`\tau_2` is a number, and the first
score, -inf where the second one is below :math:`\tau_2`, is one score of a row. The other rows are independent draws
from the population. So the certificate is that of one score.

**With a prevalence** :math:`\pi` the population is :math:`(1 - \pi)` ID and :math:`\pi` OOD rows, however many of
either are in the file. A fifth of either kind chooses. Of the others n rows are drawn at random: K OOD rows, K binomial
with n and :math:`\pi`, and n - K ID rows. *In a random order they are n independent draws from that population*: to
draw a row of it is to draw its kind, OOD with probability :math:`\pi`, then a row of that kind, and the rows of a kind
are independent draws of it. So the certificate is that of one score, without weights. n is as large as leaves a
probability of :math:`10^{-4}` that the draw asks for more rows of a kind than there are; then nothing is accepted,
which violates no guarantee. n and the choice depend on the numbers of rows only, not on K.

Bets with weights on all rows, at thresholds that the choosing rows had fixed, are valid, too, by the inequality of
arithmetic and geometric means, but accepted half as much (0.31 instead of 0.60 in benchmarks/thresholds.py).
"""

from __future__ import annotations

import os
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from abstain._checks import FRACTION, failure_probability, fraction, generator, positive, real, same_length, vector
from abstain._result import Column, Estimate, Result, Row, Table
from abstain._typing import ArrayLike, BoolArray, Document, FloatArray, IntArray
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.policy import Guarantee, Policy, SecondScore
from abstain.policy import inputs_of as inputs_of
from abstain.thresholds._choose import choose_threshold
from abstain.thresholds._reach import Reach
from abstain.thresholds._results import CertifiedThreshold

#: Part of the rows that chooses.
PART = 1 / 5
#: How often the draw for a prevalence may ask for more rows of a kind than there are.
TOO_MANY = 1e-4
#: Shares of the rows that the second score may reject; 0: it rejects none.
SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7)


@dataclass(frozen=True, repr=False)
class ChosenPair(Result):
    """Thresholds of two scores with a guarantee about what both accept.

    Parameters
    ----------
    found : CertifiedThreshold
        That of the first score, among the rows that the second one lets through; with the guarantee.
    second_threshold : float
        That of the second score; -inf lets all rows through.
    prevalence : float or None
        Share of OOD rows in the population of the guarantee; None: rows as they were drawn.
    accepted_id, accepted_ood : float
        Share of the certifying ID and OOD rows that is accepted; NaN where ``is_ood`` was not given.
    n_chose : int
        Rows that chose the second threshold and the path; the others certified.
    seed : int or None
        Of the random draw of them.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> ood = rng.random(6000) < 0.2
    >>> confidence = np.where(ood, rng.beta(5, 2, 6000), rng.beta(6, 1, 6000))
    >>> loss = np.where(ood, 1.0, rng.random(6000) > confidence**0.3)
    >>> detector = rng.normal(3.0 * ~ood, 1.0)
    >>> pair = abstain.thresholds.choose_pair(loss, confidence, detector, risk=0.1, delta=0.05, rng=0)
    >>> alone = abstain.choose_threshold(loss, confidence, risk=0.1, delta=0.05)
    >>> pair.attainable, pair.found.coverage > alone.coverage
    (True, True)
    """

    _values = ("threshold", "second_threshold", "coverage", "risk")

    found: CertifiedThreshold
    second_threshold: float
    prevalence: float | None
    accepted_id: float
    accepted_ood: float
    n_chose: int
    seed: int | None

    @property
    def attainable(self) -> bool:
        """Whether the limit was reached."""
        return self.found.attainable

    @property
    def reach(self) -> Reach:
        """How far the guarantee reaches beyond the population of these rows; see :class:`abstain.thresholds.Reach`."""
        return self.found.reach

    def accept(self, confidence: ArrayLike, second: ArrayLike) -> BoolArray:
        """Return the accept mask of new rows; a NaN of either score is rejected."""
        other = vector(second, "second", np, None)
        return np.asarray(self.found.accept(confidence) & (other >= self.second_threshold))

    def guarantee(self) -> Guarantee | None:
        """Return what is guaranteed, or None."""
        return self.found.guarantee()

    def policy(
        self, *, score: str, second: str, second_computed: bool = False, second_uncertainty: bool = False,
        **options: Any,
    ) -> Policy:  # fmt: skip
        """Return the policy that a deployment needs.

        Parameters
        ----------
        score, second : str
            Columns of the scores in new files, or the scores to compute.
        second_computed : bool
            Whether the second score, too, is computed from the classes that ``logits`` or ``probabilities`` name.
        second_uncertainty : bool
            Whether the second score is minus its column.
        **options
            Those of :meth:`EmpiricalThreshold.policy`.
        """
        kinds = {kind: options.get(kind) for kind in ("logits", "probabilities")}
        if second_computed and not any(kinds.values()):
            raise TypeError("second_computed= needs the columns of the classes; give logits= or probabilities=")
        temperature = options.get("temperature") if second_computed else None
        inputs = inputs_of(second, **kinds, temperature=temperature) if second_computed else None
        part = SecondScore(second, inputs, temperature, second_uncertainty, threshold=float(self.second_threshold))
        return Policy.of(self.found, score=score, second=part, **options)

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the policy as a small JSON file; the options are those of :meth:`policy`."""
        self.policy(**options).save(path)

    # ------------------------------------------------------------------ as a result

    def headline(self) -> str:
        """Return what was asked for."""
        goal = self.found.objective
        where = "" if self.prevalence is None else f", prevalence {self.prevalence:g}"
        return f"ChosenPair: risk {goal.risk:g}, delta {goal.delta:g}{where}"

    def tables(self) -> list[Table]:
        """Return both thresholds with what they accept."""
        first, coverage, risk, accepted = self.found.cells()
        limit = "none is needed" if self.second_threshold == -np.inf else repr(self.second_threshold)
        rows: list[Row] = [
            ("accept if score >=", first),
            ("and second score >=", limit),
            ("coverage", coverage), ("risk", risk), ("accepted", accepted), ("rows that chose", self.n_chose),
        ]  # fmt: skip
        if not np.isnan(self.accepted_ood):
            rows += [("accepted of ID rows", Estimate(self.accepted_id)), ("accepted of OOD rows", self.accepted_ood)]
        return [Table([Column(), Column(alike=False)], rows, notes=self.found.brackets())]

    def notes(self) -> list[str]:
        """Return the guarantee, or why there is none."""
        return self.found.notes()

    def rows(self) -> list[Document]:
        """Return one dict."""
        more = {"second_threshold": self.second_threshold, "accepted_id": self.accepted_id}
        return [{**self.found.rows()[0], **more, "accepted_ood": self.accepted_ood}]


def choose_pair(
    loss: ArrayLike,
    confidence: ArrayLike,
    second: ArrayLike,
    *,
    risk: float,
    delta: float,
    is_ood: ArrayLike | None = None,
    prevalence: float | None = None,
    second_threshold: float | None = None,
    max_loss: float | None = None,
    rng: int | np.random.Generator | None = None,
) -> ChosenPair:
    r"""Choose thresholds of two scores, such as a confidence and an OOD score, with a guarantee about what both accept.

    A fifth of the rows, drawn at random, chooses the threshold of the second score: of a few quantiles, none at all
    among them, the one with which the most can be accepted at the limit. The others certify the threshold of the first
    score.

    Parameters
    ----------
    loss, confidence, second : array-like of shape (n_samples,)
        Loss >= 0 and both scores, of ID rows, or of ID and OOD rows. The loss of an OOD row is what accepting it costs,
        such as 1. A NaN score is never accepted.
    risk, delta : float
        The guarantee :math:`P\{R(\hat\tau_1, \hat\tau_2) > \text{risk}\} \le \delta`.
    is_ood : array-like of bool of shape (n_samples,), optional
        Which rows are out of distribution.
    prevalence : float in (0, 1), optional
        Share of OOD rows where the pair will be used, with ``is_ood``. The guarantee is about that population, however
        many rows of either kind are given. Default: rows as they were drawn.
    second_threshold : float, optional
        One that was fixed before the data were seen; without ``prevalence`` all rows then certify.
    max_loss : float, optional
        Largest possible loss; needed for losses that are not 0/1.
    rng : int or numpy.random.Generator, optional
        Draws the rows that choose; default: from the system. Trying seeds voids the guarantee.

    Returns
    -------
    ChosenPair
        With the statement of the guarantee, which names its population.

    Raises
    ------
    TypeError, ValueError
        Bad columns or options; ``prevalence`` without ``is_ood``, or rows of one kind only.

    Notes
    -----
    For the rows that certify the second threshold is fixed, so the guarantee is that of one score.

    With a prevalence :math:`\pi`, n of them are drawn at random: K OOD rows, K binomial with n and :math:`\pi`, and n -
    K ID rows. To draw a row of the population is to draw its kind, OOD with probability :math:`\pi`, and then a row of
    that kind; so these are n independent draws from it, and the certificate holds as it stands, without weights. n is
    about the smaller of :math:`n_\text{ID}/(1 - \pi)` and :math:`n_\text{OOD}/\pi`, so that once in 10,000 files the
    draw asks for more rows than there are; then nothing is accepted.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(1)
    >>> ood = np.arange(8000) < 4000
    >>> detector, confidence = rng.normal(3.0 * ~ood, 1.0), rng.random(8000)
    >>> loss = np.where(ood, 1.0, rng.random(8000) > 0.8 + 0.2 * confidence)
    >>> pair = abstain.thresholds.choose_pair(
    ...     loss, confidence, detector, risk=0.1, delta=0.05, is_ood=ood, prevalence=0.05, rng=0
    ... )
    >>> print(pair.guarantee()["statement"].replace(", ", ",\n"))
    with probability at least 0.95 over the draw of the calibration rows,
    the mean loss of what both scores accept,
    of ID rows and OOD rows at a prevalence of 0.05,
    is at most 0.1
    """
    risk, delta = positive(risk, "risk", FRACTION), failure_probability(delta)
    losses, first = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None)
    other = vector(second, "second", np, None)
    outside = None if is_ood is None else _truth(is_ood)
    same_length(loss=losses, confidence=first, second=other, is_ood=outside)
    if prevalence is not None:
        prevalence = fraction(prevalence, "prevalence")
        if not 0.0 < prevalence < 1.0:
            raise ValueError(f"prevalence must lie inside (0, 1), got {prevalence:g}")
        _weights(outside, prevalence)  # refuses rows of one kind
    seed, chooses = None, np.zeros(len(losses), dtype=bool)
    draws = np.random.default_rng(0)
    if second_threshold is None or prevalence is not None:
        seed = int(generator(rng).integers(2**63))
        draws = np.random.default_rng(seed)
    if second_threshold is None:
        apart = None if prevalence is None else outside
        chooses = _chosen(len(losses), apart, draws)
        weight = None if apart is None or prevalence is None else _weights(apart[chooses], prevalence)
        limit = _second(losses[chooses], first[chooses], other[chooses], weight, risk)
    else:
        limit = real(second_threshold, "second_threshold", "that the second score reaches")
    rows = np.flatnonzero(~chooses)
    score = _through(first, other, limit)
    if prevalence is not None and outside is not None:
        drawn = _of_prevalence(rows, outside, prevalence, draws)
        rows, score = (drawn, score) if drawn.size else (rows, np.full(len(score), -np.inf))
    certified = choose_threshold(
        losses[rows], score[rows], risk=risk, delta=delta, nan_policy="reject", max_loss=max_loss
    )
    assert isinstance(certified, CertifiedThreshold)
    certified = replace(certified, statement=_statement(delta, risk, outside, prevalence))
    accepted = certified.accept(score[rows])
    inside, beyond = (
        float(accepted[kind].mean()) if kind is not None and kind.any() else np.nan
        for kind in (None if outside is None else ~outside[rows], None if outside is None else outside[rows])
    )
    return ChosenPair(certified, limit, prevalence, inside, beyond, int(np.sum(chooses)), seed)


def _truth(is_ood: ArrayLike) -> BoolArray:
    values = vector(is_ood, "is_ood", np, None)
    if not np.isin(values, (0.0, 1.0)).all():
        raise ValueError("is_ood must hold truth values, or 1 and 0")
    return np.asarray(values == 1.0)


def _weights(outside: BoolArray | None, prevalence: float) -> FloatArray:
    """Return the weights that give OOD rows their share; they sum to the number of rows."""
    if outside is None:
        raise TypeError("prevalence= needs is_ood=, which distinguishes the rows")
    n, n_ood = len(outside), int(np.sum(outside))
    if not 0 < n_ood < n:
        raise ValueError(f"prevalence= needs rows of both kinds, got {n_ood} OOD rows of {n}")
    return np.where(outside, prevalence * n / n_ood, (1.0 - prevalence) * n / (n - n_ood))


def _chosen(n: int, outside: BoolArray | None, rng: np.random.Generator) -> BoolArray:
    """Return which rows choose: a fifth, of either kind where the kinds are drawn apart."""
    chooses = np.zeros(n, dtype=bool)
    for rows in [np.arange(n)] if outside is None else [np.flatnonzero(outside), np.flatnonzero(~outside)]:
        chooses[rng.permutation(rows)[: int(np.ceil(PART * len(rows)))]] = True
    return chooses


def _of_prevalence(rows: IntArray, outside: BoolArray, prevalence: float, rng: np.random.Generator) -> IntArray:
    """Return those of these rows that make independent draws from the population of the prevalence; perhaps none."""
    from scipy.special import bdtr, bdtrc

    near, far = (rng.permutation(rows[outside[rows] == kind]) for kind in (False, True))

    def too_many(n: int) -> bool:
        of_far = bdtrc(len(far), n, prevalence) if n > len(far) else 0.0
        of_near = bdtr(n - len(near) - 1, n, prevalence) if n > len(near) else 0.0
        return bool(of_far + of_near > TOO_MANY)

    low = bisect_left(range(len(rows) + 1), True, key=too_many) - 1  # the largest number that is none
    n_far = int(rng.binomial(low, prevalence))
    if n_far > len(far) or low - n_far > len(near):
        return np.zeros(0, dtype=np.int64)
    return np.sort(np.concatenate([near[: low - n_far], far[:n_far]]))


def _through(first: FloatArray, second: FloatArray, limit: float) -> FloatArray:
    """Return the first score where the second one reaches its threshold and neither is missing, else -inf."""
    return np.where((second >= limit) & ~np.isnan(first), first, -np.inf)


def _second(loss: FloatArray, first: FloatArray, second: FloatArray, weight: FloatArray | None, risk: float) -> float:
    """Return the threshold of the second score with which the most is accepted at the limit; -inf if none helps."""
    known = second[~np.isnan(second) & (second > -np.inf)]
    best, most = -np.inf, -1.0
    if not known.size:
        return best
    for share in SHARES:
        limit = -np.inf if share == 0.0 else float(np.quantile(known, share, method="lower"))
        score = _through(first, second, limit)
        if not (score > -np.inf).any():
            continue
        blocks = TieBlocks.from_samples(loss, np.where(score > -np.inf, score, np.nan), weight, nan_policy="reject")
        coverage = RiskCoverageCurve(blocks).at(risk=risk).coverage
        if coverage > most:  # NaN is not
            best, most = limit, float(coverage)
    return best


def _statement(delta: float, risk: float, outside: BoolArray | None, prevalence: float | None) -> str:
    """Return the guarantee in words, with its population."""
    population = ""
    if prevalence is not None:
        population = f", of ID rows and OOD rows at a prevalence of {prevalence:g},"
    elif outside is not None and outside.any():
        population = f", of ID and OOD rows as they were drawn ({100.0 * float(outside.mean()):.3g} % OOD),"
    elif outside is not None:
        population = ", of ID rows,"
    return (
        f"with probability at least {1.0 - delta:g} over the draw of the calibration rows, the mean loss of what both "
        f"scores accept{population} is at most {risk:g}"
    )
