"""One guarantee that is monitored, of all rows or of a group: evidence against it, a detector of changes, drift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain._quantiles import t_quantile
from abstain._typing import BoolArray, Document, FloatArray, IntArray
from abstain.inference import clopper_pearson
from abstain.monitoring._evidence import FIRST, Detector, Drift, Evidence, Shares, ends
from abstain.policy import Calibration, Policy


@dataclass(frozen=True)
class Rules:
    """What a monitor was set up with.

    ``limit`` and ``delta`` are those of each group; None without a guarantee. ``window``: rows, or days, over which the
    mean risk is tested; None: the risk at every row, or the mean since the first.
    """

    limit: float | None
    delta: float
    run_length: float
    since_first: bool
    accepted_only: bool
    window: float | None = None

    def tested(self, unit: str | None) -> str:
        """Return what is tested, in words; ``unit``: what times are, None without."""
        if self.since_first:
            return "the mean risk since the first row"
        if self.window is None:
            return "the risk at every row"
        length = "accepted rows" if unit is None else "the unit of time" if unit == "numbers" else "days"
        return f"the mean risk in each window of {self.window:g} {length}"


@dataclass
class Seen:
    """What the next rows showed: the largest evidence, detector and drift among them, the last row of what decided."""

    evidence: float = -np.inf
    change: float = -np.inf
    broken: int | None = None
    signals: tuple[int, ...] = ()
    coverage: float = -np.inf
    score: float = -np.inf


class Monitored:
    """A guarantee and what was seen of it so far; ``calibration``: None if drift cannot be determined."""

    def __init__(self, rules: Rules, threshold: float, calibration: Calibration | None) -> None:
        self.rules, self.n, self.highest = rules, 0, -np.inf
        self.at: float | None = None  # time of the last loss
        self.window: float | None = None  # that it lies in
        self.open = -np.inf  # log evidence after it, not yet evaluated
        self.broke: tuple[int, str] | None = None  # row and period of the first alarm
        limit = 1.0 if rules.limit is None else rules.limit
        self.evidence = Evidence(limit, 1.0 if rules.since_first else FIRST)
        self.detector = Detector(limit, rules.run_length)
        known = Calibration(n=1) if calibration is None else calibration
        n, n_accepted, bins = known.n, known.n_accepted or 0, known.bins
        only = calibration is not None and rules.accepted_only
        if only:
            n, bins = n_accepted, tuple(one for one in bins if one[0] > threshold)
        counts = [] if calibration is None or only else [n_accepted]
        self.edges = np.array([edge for edge, _ in bins], dtype=np.float64)
        self.coverage = Shares(counts, n, rules.delta)
        self.score = Shares([int(count) for _, count in bins], n, rules.delta)

    @property
    def broken(self) -> bool:
        """Whether the evidence ever reached the alarm."""
        return bool(self.highest >= -np.log(self.rules.delta))

    def update(
        self, values: FloatArray, last: IntArray, scores: FloatArray, accepted: BoolArray,
        times: tuple[FloatArray, FloatArray] | None = None, windows: FloatArray | None = None,
    ) -> Seen:  # fmt: skip
        """Take losses in [0, 1] of accepted rows or clusters, with the row at which each was complete, and all rows.

        ``times``: of the losses and of the rows, sorted; only where one ends is anything evaluated. ``windows``: the
        number of the window of each loss, where times say it.
        """
        seen, was = Seen(), self.broken
        begins = looks = None
        if times is not None:
            looks = ends(_begins(times[1], None))
            begins, self.at = _begins(times[0], self.at), float(times[0][-1]) if len(values) else self.at
            # a product has no order; this one makes its last digit the same for every order of a file
            values, last = values[np.lexsort((values, times[0]))], np.maximum.accumulate(last)
        if self.rules.limit is not None and len(values):
            changes, signals = self.detector.update(values, begins)
            if begins is not None:
                changes = np.where(ends(begins), changes, -np.inf)
            path = self._path(values, begins) if self.rules.window is None else self._by_window(values, windows)
            self.n += len(values)
            self.highest = max(self.highest, float(path.max()))
            over = np.flatnonzero(path >= -np.log(self.rules.delta))
            seen.evidence, seen.change = float(path.max()), float(changes.max())
            seen.broken = int(last[over[0]]) if over.size and not was else None
            seen.signals = tuple(int(last[at]) for at in signals)
        if len(scores):
            mine = scores[accepted] if self.rules.accepted_only else scores
            seen.coverage = self.coverage.update(accepted[np.newaxis][: len(self.coverage.seen)], looks)
            if len(mine):
                if times is not None and self.rules.accepted_only:
                    looks = ends(_begins(times[1][accepted], None))
                seen.score = self.score.update(mine >= self.edges[:, np.newaxis], looks)
        return seen

    def _path(self, values: FloatArray, begins: BoolArray | None) -> FloatArray:
        """Return the log evidence after each of the next values, where a time ends."""
        path = self.evidence.update(values, begins)
        return path if begins is None else np.where(ends(begins), path, -np.inf)

    def _by_window(self, values: FloatArray, windows: FloatArray | None) -> FloatArray:
        """Return it where a window is complete; by times that is known once a later one begins."""
        assert self.rules.window is not None
        counted = np.asarray(np.arange(self.n, self.n + len(values) + 1) // self.rules.window, dtype=np.float64)
        number = counted if windows is None else windows
        begins = _begins(number[: len(values)], self.window)
        path = np.append(self.open, self.evidence.update(values, begins))
        self.window, self.open = float(number[len(values) - 1]), float(path[-1])
        if windows is None:
            return np.where(np.diff(number) > 0.0, path[1:], -np.inf)
        return np.where(begins, path[:-1], -np.inf)

    def drifts(self, group: str) -> list[Drift]:
        """Return where coverage and scores left what calibration had shown."""
        found = self.coverage.drift("coverage", group), self.score.drift("score", group, self.edges)
        return [each for each in found if each is not None]

    def state(self) -> Document:
        """Return what is kept, in plain values; floats keep all digits."""
        return {
            "n": self.n, "highest": _plain(self.highest), "at": self.at, "broke": self.broke,
            "window": self.window, "open": _plain(self.open),
            "evidence": {"n": self.evidence.n, "spent": self.evidence.spent, **_bets(self.evidence)},
            "detector": {"since": self.detector.since, **_bets(self.detector)},
            **{name: {"seen": shares.seen.tolist(), "n": shares.n, "highest": shares.highest, "first": shares.first}
               for name, shares in (("coverage", self.coverage), ("score", self.score))},
        }  # fmt: skip

    def restore(self, state: Document) -> None:
        """Take up what was kept; older files kept the logarithm of the sums, the first alarm, and no equal times."""
        row, period = state.get("broke") or (None, "")
        self.broke = None if row is None else (row, period)
        self.n, self.highest, self.at = state["n"], _number(state["highest"]), state.get("at")
        self.window, self.open = state.get("window"), _number(state.get("open"))
        self.evidence.n = state["evidence"]["n"]
        self.evidence.spent = state["evidence"].get("spent", self.evidence.n)
        self.detector.since = state["detector"].get("since", 1)
        for one, kept in ((self.evidence, state["evidence"]), (self.detector, state["detector"])):
            one.bets.gained = np.array(kept["gained"], dtype=np.float64)
            one.bets.base = np.array([_number(each) for each in kept.get("base", kept.get("opened"))], dtype=np.float64)
            one.bets.sums = np.array(kept.get("sums", one.bets.base > -np.inf), dtype=np.float64)
        for name, shares in (("coverage", self.coverage), ("score", self.score)):
            shares.seen = np.array(state[name]["seen"], dtype=np.float64)
            shares.n, shares.highest = state[name]["n"], state[name]["highest"]
            first = state[name].get("first")
            shares.first = None if first is None else tuple(first)


def _bets(one: Evidence | Detector) -> Document:
    base = [_plain(each) for each in one.bets.base.tolist()]
    return {"gained": one.bets.gained.tolist(), "base": base, "sums": one.bets.sums.tolist()}


def _begins(times: FloatArray, before: float | None) -> BoolArray:
    """Return where a new time begins, after that of the last row before."""
    return np.asarray(np.diff(times, prepend=np.nan if before is None else before) != 0.0)


def _plain(value: float) -> float | None:
    """Return a number as JSON has it; minus infinity is null."""
    return None if value == -np.inf else value


def _number(value: float | None) -> float:
    return -np.inf if value is None else float(value)


def units(
    loss: FloatArray, accepted: BoolArray, unit: IntArray | None, limit: float = 0.0, largest: int | None = None
) -> tuple[IntArray, FloatArray]:
    """Return accepted rows and their losses; of clusters, in the order of their first rows, the last one and the mean.

    By their last rows short clusters would come first, and if these have other losses that looks like a change. With a
    ``largest`` cluster the guarantee is about rows: a value whose mean is at most the limit where the risk is.
    """
    kept = np.flatnonzero(accepted)
    if unit is None or not kept.size:
        return kept, loss[kept]
    begun = np.zeros(int(unit.max()) + 1, dtype=np.int64)
    begun[unit[::-1]] = np.arange(len(unit))[::-1]  # of rows of one cluster the first is written last
    found, mine = np.unique(unit[kept], return_inverse=True)
    size: IntArray = np.bincount(mine)
    means = np.bincount(mine, loss[kept]) / size
    if largest is not None:
        means = limit + (means - limit) * size / largest
    last = np.zeros(len(found), dtype=np.int64)
    last[mine] = kept
    order = np.argsort(begun[found])
    return last[order], means[order]


def counted(
    loss: FloatArray, accepted: BoolArray, unit: IntArray | None, seen: list[Seen], largest: int | None
) -> tuple[Any, ...]:
    """Return what a line of the table adds of accepted rows."""
    if unit is None or largest is None:
        return int(accepted.sum()), units(loss, accepted, unit)[1], seen
    return int(accepted.sum()), loss[accepted], seen, unit[accepted]


ONLY = "only accepted rows are given"


def drift_undecided(policy: Policy, accepted_only: bool) -> str | None:
    """Return why drift, or the drift of coverage, is undecided."""
    calibration = policy.calibration
    if calibration.clustered:
        return "rows of a cluster depend on each other"
    if calibration.n_accepted is None:
        return "the policy was edited, so what calibration had shown is void"
    if calibration.weighted:
        return "the calibration rows were weighted, so their shares are not those of the population"
    return ONLY if accepted_only else None


# ---------------------------------------------------------------------- lines of the table by week or call

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
        On these rows, with a 95 % interval of the risk for them alone: exact for 0/1 losses, else of the mean, from
        0 to the largest loss at most.
    evidence : float
        Largest evidence against the guarantee after any of these rows, of any group, divided by their number.
    change : float
        Largest value of the change detector, as a part of the one at which it signals.
    signals : int
        Changes that it signalled.
    coverage_drift, score_drift : float
        Largest evidence of drift, as a part of the one that is an alarm; NaN where it is unknown.
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
class Violation:
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
    >>> [(one.group, one.row < 40, one.period) for one in later.violations]
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

    def add(self, n: int, n_accepted: int, losses: FloatArray, seen: list[Seen], unit: IntArray | None = None) -> None:
        """Add rows, with the losses of the accepted ones or of clusters, and what each group's guarantee showed.

        ``unit``: the clusters of rows that count as rows: the squares are then those of the sums of clusters.
        """
        self.n, self.n_accepted, self.n_losses = self.n + n, self.n_accepted + n_accepted, self.n_losses + len(losses)
        squares = float(losses @ losses)
        if unit is not None and len(losses):
            risk = float(losses.mean())
            squares = len(losses) * risk**2 + float((np.bincount(unit, losses - risk) ** 2).sum())
        self.total, self.squares = self.total + float(losses.sum()), self.squares + squares
        self.binary = self.binary and unit is None and bool(np.isin(losses, (0.0, 1.0)).all())
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

    def shown(self, n_groups: int, run_length: float, largest: float) -> Period:
        """Return the numbers of the period; ``largest``: the largest loss that is possible."""
        risk = self.total / self.n_losses if self.n_losses else np.nan
        low, high = self._interval(risk, largest)
        return Period(
            self.period, self.n, self.n_accepted, self.n_accepted / self.n if self.n else np.nan, risk, low, high,
            _value(self.evidence, np.log(n_groups), 0.0), _value(self.change, np.log(run_length), 0.0), self.signals,
            _value(self.coverage, 0.0, np.nan), _value(self.score, 0.0, np.nan),
            round(self.total) if self.binary and self.n_losses == self.n_accepted else None,
        )  # fmt: skip

    def _interval(self, risk: float, largest: float) -> tuple[float, float]:
        n = self.n_losses
        if not n:
            return np.nan, np.nan
        if self.binary:
            return clopper_pearson(round(self.total), n, LEVEL)
        spread = np.sqrt(max(0.0, self.squares / n - risk**2))
        if n < 2 or spread <= 1e-9 * risk:  # equal losses show no spread
            return np.nan, np.nan
        width = t_quantile(LEVEL, n - 1.0) * spread / np.sqrt(n - 1.0)
        return max(0.0, risk - width), min(risk + width, largest)


def _larger(one: float | None, other: float) -> float | None:
    return other if one is None and other > -np.inf else one if one is None else max(one, other)


def _value(log: float | None, unit: float, nothing: float) -> float:
    return nothing if log is None else float(np.exp(min(_LARGEST, log - unit)))
