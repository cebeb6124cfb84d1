"""A line of the table by week: what was seen of a guarantee in one period, or in one call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abstain._quantiles import t_quantile
from abstain._typing import FloatArray
from abstain.inference import clopper_pearson
from abstain.monitoring._guarantee import Seen

#: Level of the interval of a risk in the table.
LEVEL = 0.95
_LARGEST = 700.0


@dataclass(frozen=True)
class Period:
    """What the rows of a week, or of a call without times, showed.

    Parameters
    ----------
    period : str
        First day of the week, or number of the call; of old periods that were joined the first and the last.
    n, n_accepted : int
        Rows, accepted ones.
    coverage, risk, risk_low, risk_high : float
        On these rows, with a 95 % interval of the risk for them alone: exact for 0/1 losses, else of the mean.
    evidence : float
        Largest evidence against the guarantee after any of these rows, of any group, divided by their number.
    change : float
        Largest value of the change detector, as a part of the one at which it signals.
    signals : int
        Changes that it signalled.
    coverage_drift, score_drift : float
        Largest evidence of drift, as a part of the one that is an alarm; NaN where it is not told.
    errors : int or None
        Wrong rows among the accepted; None where losses are not 0/1, or rows of a cluster count together.

    Examples
    --------
    >>> import abstain
    >>> policy = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).policy(score="msp")
    >>> abstain.monitor(policy, [0, 1], [0.95, 0.1]).periods[0].n_accepted
    1
    """

    period: str
    n: int
    n_accepted: int
    coverage: float
    risk: float
    risk_low: float
    risk_high: float
    evidence: float
    change: float
    signals: int
    coverage_drift: float
    score_drift: float
    errors: int | None = None


@dataclass(frozen=True)
class Break:
    """When the evidence against a guarantee first reached its alarm.

    Parameters
    ----------
    group : str
        Of a policy by group; else empty.
    row : int
        Labelled, accepted rows of all groups until then; of clusters up to the last of the one that decided.
    period : str
        In which period, or call.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(4000)
    >>> found = abstain.choose_threshold(rng.random(4000) > score ** 0.1, score, risk=0.1, delta=0.05)
    >>> later = abstain.monitor(found.policy(score="s"), np.ones(40), rng.random(40) / 10 + 0.9)
    >>> [(one.group, one.row < 40, one.period) for one in later.breaks]
    [('', True, '1')]
    """

    group: str
    row: int
    period: str


@dataclass
class Line:
    """A period that is still open: sums from which its numbers are made. Logs of evidence; None: minus infinity."""

    period: str
    key: float | None
    n: int = 0
    n_accepted: int = 0
    n_losses: int = 0
    total: float = 0.0
    squares: float = 0.0
    binary: bool = True
    evidence: float | None = None
    change: float | None = None
    signals: int = 0
    coverage: float | None = None
    score: float | None = None

    def add(self, n: int, n_accepted: int, losses: FloatArray, seen: list[Seen]) -> None:
        """Add rows, with the losses of the accepted ones or of clusters, and what each group's guarantee showed."""
        self.n, self.n_accepted, self.n_losses = self.n + n, self.n_accepted + n_accepted, self.n_losses + len(losses)
        self.total, self.squares = self.total + float(losses.sum()), self.squares + float(losses @ losses)
        self.binary = self.binary and bool(np.isin(losses, (0.0, 1.0)).all())
        for one in seen:
            self.evidence, self.change = _larger(self.evidence, one.evidence), _larger(self.change, one.change)
            self.coverage, self.score = _larger(self.coverage, one.coverage), _larger(self.score, one.score)
            self.signals += len(one.signals)

    def joined(self, later: Line) -> Line:
        """Return this period and a later one as one: sums add, of evidence the larger one counts."""
        first, last = self.period.partition(" to ")[0], later.period.rpartition(" to ")[2]
        both = Line(f"{first} to {last}", later.key, binary=self.binary and later.binary)
        for name in ("n", "n_accepted", "n_losses", "total", "squares", "signals"):
            setattr(both, name, getattr(self, name) + getattr(later, name))
        for name in ("evidence", "change", "coverage", "score"):
            known = [each for each in (getattr(self, name), getattr(later, name)) if each is not None]
            setattr(both, name, max(known, default=None))
        return both

    def shown(self, n_groups: int, run_length: float) -> Period:
        """Return the numbers of the period."""
        risk = self.total / self.n_losses if self.n_losses else np.nan
        low, high = self._interval(risk)
        return Period(
            self.period, self.n, self.n_accepted, self.n_accepted / self.n if self.n else np.nan, risk, low, high,
            _value(self.evidence, np.log(n_groups), 0.0), _value(self.change, np.log(run_length), 0.0), self.signals,
            _value(self.coverage, 0.0, np.nan), _value(self.score, 0.0, np.nan),
            round(self.total) if self.binary and self.n_losses == self.n_accepted else None,
        )  # fmt: skip

    def _interval(self, risk: float) -> tuple[float, float]:
        n = self.n_losses
        if not n:
            return np.nan, np.nan
        if self.binary:
            return clopper_pearson(round(self.total), n, LEVEL)
        spread = np.sqrt(max(0.0, self.squares / n - risk**2))
        if n < 2 or spread <= 1e-9 * risk:  # equal losses show no spread
            return np.nan, np.nan
        width = t_quantile(LEVEL, n - 1.0) * spread / np.sqrt(n - 1.0)
        return max(0.0, risk - width), risk + width


def _larger(one: float | None, other: float) -> float | None:
    return other if one is None and other > -np.inf else one if one is None else max(one, other)


def _value(log: float | None, unit: float, nothing: float) -> float:
    return nothing if log is None else float(np.exp(min(_LARGEST, log - unit)))
