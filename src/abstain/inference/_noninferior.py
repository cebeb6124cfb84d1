r"""``non_inferiority``: show that a score or model is not worse than another by a margin, or equivalent to it.

A test of a difference cannot say so: "not significant" is no proof of "as good". Here the null is that the new one is
worse by the margin or more, and it is rejected one-sidedly.

**Skewness.** With few errors influences are skewed, and one side of Student's t is then false too often, the other too
rarely: 8.1 and 1.1 % at the margin at a nominal 5 % with ten errors. Hall's transformation

.. math:: g(T) = T + \tfrac13 k T^2 + \tfrac1{27} k^2 T^3 + \tfrac16 k, \qquad
          k = \frac{\sum_i t_i^3}{(\sum_i t_i^2)^{3/2}},

with the terms t of the paired difference, takes this out to the next order. It rises with T, so it can be solved for a
limit of the difference.

**Degrees of freedom.** The spread of the terms, whose kurtosis is :math:`\beta`, is known with
:math:`\nu = 2n/(\beta - 1)` degrees of freedom. Where few errors decide these are few, and k errs too, together with T:
their covariance is about :math:`(\beta - 3)/n`, close to :math:`2/\nu`, so g errs by :math:`T(2T^2 + 1)/3\nu`, a
little more than what Student's t has at :math:`\nu/2` next to the normal distribution, :math:`T(T^2 + 1)/2\nu`. So half
of them are used. With :math:`\nu` AURC was false in 7.5 % of samples with 40 errors among 200, with n - 1 in 8.8 %.
Below 40 errors a warning remains, below 20 the test is refused.

**What was not seen.** Errors count where the two differ. One more is added there (as in ``compare``):
scores that differ in 47 of 2,500 rows, with 1.8 errors among these, were called not inferior at the margin in 15.5 %.
A sample of n rows without one that differs occurs with a probability of e^-x at most if x of n differ in the
population. These change the metric by x times what one of them does at most, so e^-x is the p-value of the x that
makes this the margin.

Sources: Hall (1992), JRSS B 54; equivalence as two one-sided tests: Schuirmann (1987).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np

from abstain._checks import one_of, positive
from abstain._quantiles import t_quantile, t_tails
from abstain._result import Caveat, Column, Result, Row, Status, Table, Verdict, arrow, p_value, plain
from abstain._typing import ArrayLike
from abstain._version import __version__
from abstain.inference._beside import Asked, Beside
from abstain.inference._binomial import check_level
from abstain.inference._columns import Losses, Panel, Scores, as_metric, panel
from abstain.inference._estimates import by_influence, route_of
from abstain.inference._rests_on import EQUAL, HARDLY, RestsOn, joined
from abstain.inference._spread import FEW, of_pair, powers_of
from abstain.inference._unseen_pair import DECIDING, assumed, with_unseen
from abstain.metrics import Metric

#: Errors (or successes, if fewer) below which the test warns, and is refused.
WARN, REFUSE = 40, 20
#: Share of the degrees of freedom of the spread that is left, since the skewness is estimated from the same terms.
KNOWN = 0.5

Claim = Literal["non-inferior", "equivalent"]


@dataclass(frozen=True, eq=False, repr=False)
class NonInferiority(Result):
    """The result of :func:`abstain.inference.non_inferiority`.

    ``new``, ``reference``: names; ``difference``: by how much the new one is *worse* (negative: better), in units of
    the metric; ``low``, ``high``: one-sided limits of it at ``level`` each; ``margin``; ``p_value``: of the claim;
    ``shown``: whether it is shown at ``level``; ``n_errors``: that decide; ``warning``; ``note``: what is not covered;
    ``rests_on``: as of :class:`Difference`.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.datasets.load("llama3_70b_mmlu")
    >>> scores = {name: outputs.scores[name] for name in ("msp", "max_logit")}
    >>> abstain.inference.non_inferiority(outputs.loss_per_sample(), scores, margin=0.005).shown
    True
    """

    _names = ("new", "reference")

    metric: str
    label: str
    direction: str
    claim: str
    new: str
    reference: str
    difference: float
    low: float
    high: float
    standard_error: float
    df: float
    skewness: float
    margin: float
    p_value: float
    shown: bool
    level: float
    n: int
    n_errors: int
    n_clusters: int | None
    warning: str | None
    note: str | None = None
    rests_on: RestsOn | None = None
    asked: Asked | None = field(default=None, repr=False)  #: the rows, to ask more of them

    def headline(self) -> str:
        """Return what is claimed, and whether it is shown."""
        shown = "shown" if self.shown or self._worse else "not shown"
        return f"{self._sentence} in {arrow(self.label, self.direction)}: {shown} at {1.0 - self.level:.3g}"

    @property
    def _worse(self) -> bool:
        """Whether the opposite of the claim is shown."""
        return not self.shown and self.low > self.margin

    @property
    def _sentence(self) -> str:
        """What is claimed, or the opposite where that is shown."""
        if self._worse:
            return f"{self.reference} is better than {self.new} by more than {self.margin:g}"
        if self.claim == "non-inferior":
            return f"{self.new} is not worse than {self.reference} by {self.margin:g} or more"
        return f"{self.new} is within {self.margin:g} of {self.reference}"

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the claim is shown; no threshold is chosen here."""
        p = "" if self._worse else f", {p_value(self.p_value)}"
        shown = "shown" if self.shown or self._worse else "not shown"
        worse = f"{self.label} worse by {self.difference:.4g} [{self.low:.4g}, {self.high:.4g}], below 0: better"
        more = () if self.beside is None else self.beside.compared(self.new, self.reference)
        return Verdict.of(
            Status.COMPARED, self, Caveat.of("selected_here", score=self.chosen), score=self.chosen,
            reason=f"It is {shown} that {self._sentence} ({self.label}{p}).", confidence=self.level,
            details=(worse, *more),
        )  # fmt: skip

    @cached_property
    def beside(self) -> Beside | None:
        """Errors, AUROC of failures, coverage at a risk, tested when first asked for; None where rows are unknown."""
        return None if self.asked is None else self.asked.beside()

    @property
    def chosen(self) -> str:
        """The new one where the claim is shown, else the reference."""
        return self.new if self.shown else self.reference

    def tables(self) -> list[Table]:
        """Return the difference with its limits."""
        than = "not worse by" if self.claim == "non-inferior" else "within"
        p = "< 0.0001" if self.p_value < 1e-4 else f"{self.p_value:.4f}"
        rows: list[Row] = [
            (f"{self.new} worse than {self.reference} by", self.difference),
            (f"at most ({100 * self.level:g} %, one-sided)", self.high),
            (f"at least ({100 * self.level:g} %, one-sided)", self.low),
            ("margin", self.margin),
            (f"p (claim: {self.new} {than} the margin)", f"{p}, claim not shown" if self._worse else p),
        ]
        return [Table([Column(), Column(alike=False)], rows)]

    def notes(self) -> list[str]:
        """Return what the test is of, and its warning."""
        units = f"{self.n} samples" + (f" in {self.n_clusters} clusters" if self.n_clusters is not None else "")
        fewer = f"{self.n_errors} errors, or right answers, of the one that has fewer"
        how = "Hall's transformation of Student's t" if self.standard_error > 0.0 else "limits by unseen rows alone"
        said = f"{units}; {fewer}; below 0: better; {how}"
        return [said, *filter(None, (self.note, self.warning))]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict; what the result rests on is its sentence."""
        row = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "asked"}
        return [row | {"rests_on": None if self.rests_on is None else str(self.rests_on)}]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values: the fields, with notes and version."""
        return {**plain(self.rows()[0]), **self._decided(), "notes": self.notes(), "abstain": __version__}


def non_inferiority(
    loss: Losses,
    scores: Scores,
    metric: str | Metric = "augrc",
    *,
    margin: float,
    claim: Claim = "non-inferior",
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    paired_runs: bool | None = None,
) -> NonInferiority:
    r"""Test that a new score or model is not worse than a reference by a margin or more, on the same samples.

    Parameters
    ----------
    loss : array-like of shape (n_samples,) or (n_runs, n_samples), or a dict of such
        One loss for both scores, or one per model, by the names in ``scores``.
    scores : dict of two array-likes of shape (n_samples,) or (n_runs, n_samples)
        The new one first, then the reference.
    metric : str or Metric
    margin : float
        Largest loss of quality that does not matter, > 0, in units of the metric; fixed before the data were seen.
    claim : {"non-inferior", "equivalent"}
        ``"equivalent"``: neither worse nor better by the margin, which takes two one-sided tests.
    level : float in (0, 1)
        Of each one-sided test: a claim is false with probability 1 - level at most, approximately.
    sample_weight, strata, clusters, paired_runs
        As in :func:`abstain.compare`.

    Returns
    -------
    NonInferiority

    Raises
    ------
    UnmetNeed
        A metric without an influence function.
    ValueError, TypeError
        Not two scores; a margin that is not positive; fewer than 20 errors (or successes); too few clusters, or too
        few that differ; what :func:`abstain.compare` refuses.

    Notes
    -----
    Where nothing differs in the sample, or all that differs moves less than one row could, the limits lie at least
    -log(1 - level) times the most that one row may do from the difference: rows that differ more may be missing.
    How often a claim is false at the margin is simulated (``benchmarks/differences.py margins``). Several
    training runs: the training variance is in the standard error; the skewness is that of the test set.

    References
    ----------
    Hall (1992); Schuirmann (1987).

    Examples
    --------
    >>> import abstain
    >>> loss, a, b = [0, 1, 0, 0, 1] * 100, range(500), [k * 77 % 500 for k in range(500)]
    >>> abstain.inference.non_inferiority(loss, {"b": b, "a": a}, margin=0.2).shown
    True
    """
    level = check_level(level)
    one_of(claim, ("non-inferior", "equivalent"), "claim")
    margin = positive(margin, "margin", "give the largest loss of quality that does not matter")
    chosen = as_metric(metric)
    columns = panel(loss, scores, sample_weight, strata, clusters, paired_runs)
    if len(columns.names) != 2:
        raise ValueError(f"scores must hold two, the new one and the reference, got {len(columns.names)}")
    if route_of(chosen, "auto", columns) != "influence":
        raise ValueError(f"{chosen.spec} has no influence function here; test another metric, such as augrc")
    errors = _errors(columns)
    if errors < REFUSE:
        found = f"loss holds {errors} errors (or successes, if fewer), too few to show that something is not worse"
        raise ValueError(f"{found}; collect more rows, until it has {WARN}")
    estimates = by_influence(chosen, columns, level)
    sign = 1.0 if chosen.direction == "lower" else -1.0
    (one, other), ((first, second), most_df) = estimates.values, estimates.pair(0, 1, 2.0 * level - 1.0)
    large = estimates.unequal is not None and most_df < FEW
    terms = sign * (first.mean(axis=0) - second.mean(axis=0))
    most_df = min(most_df, KNOWN * powers_of(terms).df)
    parts = of_pair((one, other), (first, second), most_df, columns.paired)
    if estimates.unseen:
        more = max(each.of(0, 1) for each in estimates.unseen)
        test, df = with_unseen(parts.test, most_df, most_df, more, estimates.n_clusters)
        parts = parts._replace(test=test, df=df)
    difference = sign * float(estimates.means[0] - estimates.means[1])
    error = float(np.sqrt(parts.total))
    rests, refusal, narrow = estimates.rests_on(0, 1)
    if refusal is not None or (narrow is not None and estimates.n_clusters is not None):
        raise ValueError(refusal or narrow)
    low, high, p, skew = difference, difference, 0.0, 0.0
    if error > 0.0:
        skew, critical = float(np.sum(terms**3)) / error**3, t_quantile(2.0 * level - 1.0, parts.df)  # of its one side
        low, high = (difference - _solved(each, skew) * error for each in (critical, -critical))
        below, above = (_p(difference, at, error, skew, parts.df) for at in (margin, -margin))
        p = below[0] if claim == "non-inferior" else max(below[0], above[1])
    hardly = error == 0.0 or estimates.hardly(0, 1)
    if hardly:  # with rows that differ by the margin in all, a sample without any has this probability
        row = estimates.unseen_row(0, 1)
        if math.isnan(row):
            raise ValueError("no row distinguishes the two; of several runs it is not known what such a row would do")
        reach, gap = -math.log(1.0 - level) * row, margin - (difference if claim == "non-inferior" else abs(difference))
        low, high = min(low, difference - reach), max(high, difference + reach)
        p = max(p, math.exp(-max(gap, 0.0) / row)) if row > 0.0 else p
    few = f"{errors} errors are few: at the margin a claim may be false in more than {1.0 - level:.3g} of samples"
    why = "a few clusters hold most of the rows" if large else "too few errors on rows where the two differ"
    differ = f"only {parts.df:.1f} degrees of freedom: {why}" if parts.df < FEW else None
    seen = None if not hardly else EQUAL if error == 0.0 else HARDLY
    told = joined(rests.note, _lacking(estimates.n_clusters, level) if rests.number < DECIDING and not hardly else None)
    return NonInferiority(
        chosen.spec, chosen.label, chosen.direction, claim, *columns.names, difference,
        low, high, error, parts.df, skew, margin, p, bool(p <= 1.0 - level), level, columns.n, errors,
        estimates.n_clusters,
        joined(told, few if errors < WARN else seen or differ),
        joined(estimates.note, assumed([rests.number], swapped=False)), rests,
        Asked(columns, level),
    )  # fmt: skip


def _lacking(clusters: int | None, level: float) -> str | None:
    """Return how common a kind of cluster may be that the sample lacks, where few clusters decide.

    With the probability 1 - level m clusters hold none of a kind that is a share 1 - (1 - level)^(1/m) of all. If the
    new one is worse in these alone, and few others differ, that is its whole difference.
    """
    if clusters is None:
        return None
    share = 1.0 - (1.0 - level) ** (1.0 / clusters)
    return f"a kind of cluster that is {100.0 * share:.0f} % of all may be missing among {clusters}"


def _errors(columns: Panel) -> int:
    """Return the errors of the model with fewer, or its successes if these are fewer still."""
    wrong = [int((row > 0.0).sum()) for one in columns.loss for row in one]
    right = [int((row < row.max()).sum()) if row.max() > 0.0 else 0 for one in columns.loss for row in one]
    return min(*wrong, *right)


def _solved(value: float, skew: float) -> float:
    """Return the statistic whose transformed value this is."""
    if abs(skew) < 1e-9:
        return value
    # g(t) + 1/k - k/6 = (1 + k t/3)^3 / k
    return 3.0 / skew * (float(np.cbrt(1.0 + skew * (value - skew / 6.0))) - 1.0)


def _p(difference: float, at: float, error: float, skew: float, df: float) -> tuple[float, float]:
    """Return the p-values of "below" and "above" a value."""
    far = 1e6  # in standard errors: what lies beyond has the same p-value, and its cube overflows
    t = min(max((difference - at) / error, -far), far)
    statistic = t + skew * t**2 / 3.0 + skew**2 * t**3 / 27.0 + skew / 6.0
    tail = 0.5 * t_tails(statistic, df)
    return (tail, 1.0 - tail) if statistic < 0.0 else (1.0 - tail, tail)
