r"""``choose_pair``: two scores, such as a confidence and an OOD score, chosen, certified and deployed together.

A row is accepted if both scores reach their thresholds. Some of the rows choose the threshold of the second score, and
where the first one starts; the others certify the threshold of the first score among the rows that the second one lets
through. For them that score is fixed, so the certificate is that of one score.

**With a prevalence** the population is :math:`(1 - \pi)` ID and :math:`\pi` OOD rows, whatever their numbers in the
file. With weights w that bring the two parts to these shares, the risk above a threshold is too large if and only if
:math:`w(\ell - r)`, 0 for rejected rows, has a positive mean. Rows are independent, though of two populations, so the
expected product of the bets :math:`1 - \lambda w (\ell - r)/(VB)` is at most the n-th power of their mean expectation,
by the inequality of arithmetic and geometric means: at most 1. Each threshold of a path that other rows have fixed is
tested so at level :math:`\delta`, from the top, until the first that fails (a fixed sequence).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from abstain._checks import FRACTION, failure_probability, fraction, generator, positive, real, same_length, vector
from abstain._result import Column, Estimate, Result, Row, Table
from abstain._typing import ArrayLike, BoolArray, FloatArray
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.policy import Policy
from abstain.policy import inputs_of as inputs_of
from abstain.thresholds._betting import evidence
from abstain.thresholds._certify import why
from abstain.thresholds._choose import choose_threshold, shared
from abstain.thresholds._results import CertifiedThreshold
from abstain.thresholds._sample import largest_loss, read

#: Part of the rows that chooses.
PART = 1 / 5
#: Shares of the rows that the second score may reject; 0: it rejects none.
SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7)


@dataclass(frozen=True, repr=False)
class ChosenPair(Result):
    """Thresholds of two scores with a promise about what both accept.

    Parameters
    ----------
    found : CertifiedThreshold
        That of the first score, among the rows that the second one lets through; with the promise.
    second_threshold : float
        That of the second score; -inf lets all rows through.
    prevalence : float or None
        Share of OOD rows in the population of the promise; None: rows as they were drawn.
    accepted_id, accepted_ood : float
        Share of the certifying ID and OOD rows that is accepted; NaN where ``is_ood`` was not given.
    n_chose : int
        Rows that chose the second threshold and the path; the others certified.
    seed : int or None
        Of the lots that drew them.

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

    def accept(self, confidence: ArrayLike, second: ArrayLike) -> BoolArray:
        """Return the accept mask of new rows; a NaN of either score is rejected."""
        other = vector(second, "second", np, None)
        return np.asarray(self.found.accept(confidence) & (other >= self.second_threshold))

    def guarantee(self) -> dict[str, Any] | None:
        """Return what is promised, or None."""
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
        part = {
            "score": second, "inputs": inputs, "temperature": temperature, "uncertainty": second_uncertainty,
            "threshold": float(self.second_threshold),
        }  # fmt: skip
        return Policy.of(self.found, score=score, second=part, **options)

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the policy as a small JSON file; the options are those of :meth:`policy`."""
        self.policy(**options).save(path)

    # ------------------------------------------------------------------ as a result

    def headline(self) -> str:
        """Return what was asked for."""
        goal = self.found.objective
        where = "" if self.prevalence is None else f", prevalence {self.prevalence:g}"
        return f"ChosenPair: risk {goal['risk']:g}, delta {goal['delta']:g}{where}"

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
        """Return the promise, or why there is none."""
        return self.found.notes()

    def rows(self) -> list[dict[str, Any]]:
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
    level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> ChosenPair:
    r"""Choose thresholds of two scores, such as a confidence and an OOD score, with a promise about what both accept.

    A fifth of the rows, drawn by lot, chooses the threshold of the second score: of a few quantiles, none at all among
    them, the one with which the most can be accepted at the limit. The others certify the threshold of the first score.

    Parameters
    ----------
    loss, confidence, second : array-like of shape (n_samples,)
        Loss >= 0 and both scores, of ID rows, or of ID and OOD rows. The loss of an OOD row is what accepting it costs,
        such as 1. A NaN score is never accepted.
    risk, delta : float
        The promise :math:`P\{R(\hat\tau_1, \hat\tau_2) > \text{risk}\} \le \delta`.
    is_ood : array-like of bool of shape (n_samples,), optional
        Which rows are out of distribution.
    prevalence : float in (0, 1), optional
        Share of OOD rows where the pair will be used, with ``is_ood``. The promise is about that population, however
        many rows of either kind are given. Default: rows as they were drawn.
    second_threshold : float, optional
        One that was fixed before the data were seen; without ``prevalence`` all rows then certify.
    max_loss : float, optional
        Largest possible loss; needed for losses that are not 0/1.
    level : float in (0, 1)
        Of the pointwise intervals that are reported.
    rng : int or numpy.random.Generator, optional
        Draws the rows that choose; default: from the system. Trying seeds voids the promise.

    Returns
    -------
    ChosenPair
        With the statement of the promise, which names its population.

    Raises
    ------
    TypeError, ValueError
        Bad columns or options; ``prevalence`` without ``is_ood``, or rows of one kind only.

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
        prevalence = _share(prevalence)
        _weights(outside, prevalence)  # refuses rows of one kind
    seed = None
    chooses = np.zeros(len(losses), dtype=bool)
    if second_threshold is None or prevalence is not None:
        seed = int(generator(rng).integers(2**63))
        chooses = _drawn(len(losses), outside, np.random.default_rng(seed))
    if second_threshold is None:
        of_part = None if prevalence is None else _weights(outside[chooses], prevalence)  # type: ignore[index]
        limit = _second(losses[chooses], first[chooses], other[chooses], of_part, risk)
    else:
        limit = real(second_threshold, "second_threshold", "that the second score reaches")
    score = _through(first, other, limit)
    kept = ~chooses
    options: dict[str, Any] = {"max_loss": max_loss, "level": level}
    if prevalence is None:
        certified = choose_threshold(losses[kept], score[kept], risk=risk, delta=delta, nan_policy="reject", **options)
        assert isinstance(certified, CertifiedThreshold)
    else:
        certified = _weighted(losses, score, outside, chooses, prevalence, risk, delta, options)
    words = _statement(delta, risk, outside, prevalence)
    return _result(replace(certified, statement=words), limit, prevalence, score[kept], outside, kept, seed)


def _truth(is_ood: ArrayLike) -> BoolArray:
    values = vector(is_ood, "is_ood", np, None)
    if not np.isin(values, (0.0, 1.0)).all():
        raise ValueError("is_ood must hold truth values, or 1 and 0")
    return np.asarray(values == 1.0)


def _share(prevalence: float) -> float:
    prevalence = fraction(prevalence, "prevalence")
    if not 0.0 < prevalence < 1.0:
        raise ValueError(f"prevalence must lie inside (0, 1), got {prevalence:g}; leave it out for rows of one kind")
    return prevalence


def _weights(outside: Any, prevalence: float) -> FloatArray:
    """Return the weights that give OOD rows their share; they sum to the number of rows."""
    if outside is None:
        raise TypeError("prevalence= needs is_ood=, which tells the rows apart")
    n, n_ood = len(outside), int(np.sum(outside))
    if not 0 < n_ood < n:
        raise ValueError(f"prevalence= needs rows of both kinds, got {n_ood} OOD rows of {n}")
    return np.where(outside, prevalence * n / n_ood, (1.0 - prevalence) * n / (n - n_ood))


def _drawn(n: int, outside: BoolArray | None, rng: np.random.Generator) -> BoolArray:
    """Return which rows choose: a fifth, of either kind where kinds are known."""
    chooses = np.zeros(n, dtype=bool)
    for rows in [np.arange(n)] if outside is None else [np.flatnonzero(outside), np.flatnonzero(~outside)]:
        chooses[rng.permutation(rows)[: int(np.ceil(PART * len(rows)))]] = True
    return chooses


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


def _weighted(
    loss: FloatArray, score: FloatArray, outside: Any, chooses: BoolArray, prevalence: float, risk: float, delta: float,
    options: dict[str, Any],
) -> CertifiedThreshold:  # fmt: skip
    """Test the thresholds of a path, which the rows that chose have fixed, from the top on until one fails."""
    kept = ~chooses
    weights = [_weights(outside[rows], prevalence) for rows in (chooses, kept)]
    missing = np.where(score > -np.inf, score, np.nan)
    first, sample = (
        read(loss[rows], missing[rows], weight, "reject") for rows, weight in zip((chooses, kept), weights, strict=True)
    )
    largest = largest_loss(sample, options["max_loss"])
    if risk >= largest:
        raise ValueError(f"risk must be below the largest possible loss, {largest:g}, got {risk:g}")
    path = np.unique(first.score[first.score > -np.inf])[::-1]
    threshold: float = np.inf
    reason: str | None = why(sample.n, risk / largest, delta)
    if path.size:
        told = _evidence(first, path, risk, largest)
        path = path[int(np.argmax(told)) :]
        passed = _evidence(sample, path, risk, largest) >= -np.log(delta)
        number = len(path) if passed.all() else int(np.argmin(passed))
        if number:
            threshold, reason = float(path[number - 1]), None
    return CertifiedThreshold(
        **shared(sample, threshold, options["level"]), procedure="fixed path", objective={"risk": risk, "delta": delta},
        reason=reason, best=None, risk_limit=risk, delta=delta, max_loss=largest, bound="betting", statement="",
    )  # fmt: skip


def _evidence(sample: Any, path: FloatArray, risk: float, largest: float) -> FloatArray:
    most = float(sample.weight.max())
    values = (sample.weight * (sample.loss - risk) + most * risk) / (most * largest)
    count = np.searchsorted(-sample.score, -path, side="right")
    return evidence(values, count, risk / largest)


def _statement(delta: float, risk: float, outside: BoolArray | None, prevalence: float | None) -> str:
    """Return the promise in words, with its population."""
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


def _result(
    found: CertifiedThreshold, limit: float, prevalence: float | None, score: FloatArray, outside: BoolArray | None,
    kept: BoolArray, seed: int | None,
) -> ChosenPair:  # fmt: skip
    inside, beyond = np.nan, np.nan
    if outside is not None:
        accepted, ood = found.accept(score), outside[kept]
        inside = float(accepted[~ood].mean()) if (~ood).any() else np.nan
        beyond = float(accepted[ood].mean()) if ood.any() else np.nan
    return ChosenPair(found, limit, prevalence, inside, beyond, int(np.sum(~kept)), seed)
