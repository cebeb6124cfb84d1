"""``Monitor``: a guarantee that is tested for years by new rows only; what it remembers fits into a small file."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Iterator

import numpy as np

from abstain._checks import check_loss, failure_probability, flag, one_of, positive, real, same_length, vector
from abstain._files import digest_of, locked
from abstain._result import plain
from abstain._typing import Age, AnyArray, ArrayLike, BoolArray, Document, FloatArray, IntArray, Moment
from abstain.inference import codes
from abstain.monitoring._guarantee import (
    ONLY,
    Line,
    Monitored,
    Period,
    Rules,
    Seen,
    Violation,
    counted,
    drift_undecided,
    units,
)
from abstain.monitoring._result import Monitoring, any_known
from abstain.monitoring._rows import SentRows, shuffled, warn_if_in_runs, warn_if_sorted
from abstain.monitoring._state import STATE, as_in_0_2, policy_content
from abstain.monitoring._times import Clock
from abstain.policy import Policy, group_column
from abstain.thresholds import check_clusters, read, warn_if_reused, warn_of_copies
from abstain.thresholds._row_hashes import Hashes, named, new_clusters, packed, taken, unpacked

#: Signals that are kept, and lines of the table: of more the oldest are joined.
_SIGNALS, LINES = 100, 128
#: What to do with clusters that come again.
ONCE = "give it once, complete, or begin a monitor with returning='skip', which judges each cluster by its first call"


class Monitor:
    """Test a policy's guarantee on labelled rows that come in parts, with one error probability for all time.

    ``update`` takes new rows only, and returns what all rows until now show; ``save`` writes what has to be remembered,
    and :func:`load_monitor` takes it up again.

    **State.** At most 160 kB and 5 kB a group, whatever the number of rows and calls; with ``clusters`` 11 bytes more
    for each. Of a file that is sent twice the last 1,000 calls are recognised, of part of it the last 100. The table
    has at most 128 periods, of which the oldest are joined in pairs.

    **Threads.** One object may be used by several threads: a lock makes ``update``, ``result`` and ``save`` wait for
    each other. Processes share one state by :func:`update_monitor`.

    Parameters
    ----------
    policy : Policy
    accepted_only, max_loss, delta, run_length, since_first, window, maturity, period, unlabelled
        As for :func:`monitor`.
    returning : {"refuse", "skip"}
        What rows of a cluster are that was tested in an earlier call: refused, or left out and counted. Each cluster
        is then judged by its first call, or with ``maturity`` by its first rows up to that age.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(4000)
    >>> wrong = rng.random(4000) > score ** 0.1
    >>> policy = abstain.choose_threshold(wrong, score, risk=0.1, delta=0.05).policy(score="msp")
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "state.json"
    >>> monitored = abstain.monitoring.Monitor(policy)
    >>> monitored.update(rng.random(700) < 0.02, rng.random(700)).violated
    False
    >>> monitored.save(file)
    >>> later = abstain.monitoring.load_monitor(file, policy).update(rng.random(900) < 0.3, rng.random(900))
    >>> later.violated, len(later.periods)
    (True, 2)
    """

    def __init__(
        self, policy: Policy, *, accepted_only: bool = False, max_loss: float | None = None,
        delta: float | None = None, run_length: float = 10_000.0, since_first: bool = False,
        window: float | None = None, maturity: Age = None, period: float = 7.0, unlabelled: str = "refuse",
        returning: str = "refuse",
    ) -> None:  # fmt: skip
        if not isinstance(policy, Policy):
            raise TypeError(f"policy must be a Policy, got {type(policy).__name__}; give threshold.policy(score=...)")
        guarantee = policy.guarantee
        bound = max_loss if max_loss is not None else guarantee.max_loss if guarantee is not None else np.inf
        self.largest = real(bound, "max_loss", "> 0", "give the largest possible loss")
        if not self.largest > 0.0:
            raise ValueError(f"max_loss must be > 0, got {max_loss!r}; give the largest possible loss")
        if not positive(run_length, "run_length") > 1.0:
            raise ValueError(f"run_length must be above 1, got {run_length!r}; give rows between false signals")
        self.policy, self.period = policy, positive(period, "period", "give days, or the unit of time=")
        self.delta = failure_probability(delta if delta is not None else 0.05 if guarantee is None else guarantee.delta)
        if window is not None and flag(since_first, "since_first"):
            raise TypeError("since_first=True and window= are two guarantees to test; give one of them")
        if window is not None:
            window = positive(window, "window", "give days, the unit of time=, or rows without times")
        self.rules = Rules(
            None if guarantee is None else float(guarantee.risk) / self.largest,
            self.delta / max(1, sum(limit < np.inf for limit in policy.thresholds.values())),
            float(run_length), flag(since_first, "since_first"), flag(accepted_only, "accepted_only"),
            window,
        )  # fmt: skip
        self.largest_cluster = policy.calibration.largest_cluster
        self.drift_undecided = drift_undecided(policy, self.rules.accepted_only)
        each = policy.calibration.each
        told = policy.calibration.n_accepted is not None and self.drift_undecided in (None, ONLY)
        self.monitored = {
            name: Monitored(self.rules, limit, each[name] if told else None)
            for name, limit in policy.thresholds.items()
            if limit < np.inf or policy.group is None
        }
        self.clock, self.lines, self.total = Clock(maturity, unlabelled), list[Line](), Line("", None)
        self.of_group = {name: Line(name, None) for name in self.monitored if policy.group is not None}
        self.violated_at: int | None = None
        self.changed_at: list[int] = []
        self.sent = SentRows()
        self.clusters: Hashes = np.zeros(0, dtype=np.uint64)
        self.begun: float | None = None
        self.returning = one_of(returning, ("refuse", "skip"), "returning")
        self.calls = self.skipped = self.empty = self.returned = 0
        self.on_file: str | None = None
        self.shown: list[Period] = []
        self._lock = threading.RLock()

    def __getstate__(self) -> Document:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: Document) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def update(
        self, loss: ArrayLike, confidence: ArrayLike, *, groups: ArrayLike | None = None,
        clusters: ArrayLike | None = None, time: ArrayLike | None = None, as_of: Moment = None, again: bool = False,
    ) -> Monitoring:  # fmt: skip
        """Take new labelled rows, and return what all rows until now show.

        Parameters
        ----------
        loss, confidence, groups, clusters, time, as_of
            As for :func:`monitor`, but only rows that were not given before; with ``maturity`` those that were too
            young have to come again, and rows that were monitored may come again and are left out. None at all, as in a
            week without rows, change nothing but ``empty``. A time that comes in two calls is evaluated after each.
        again : bool
            Take rows although most of them, by score and loss, were given before.

        Returns
        -------
        Monitoring

        Raises
        ------
        ValueError, TypeError
            As :func:`monitor`; rows that were sent before. What was seen until then stays as it was.
        """
        with self._lock:
            if all(getattr(one, "shape", one) in ((0,), []) for one in (loss, confidence)):
                return self._nothing(as_of)
            losses, scores = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None)
            same_length(loss=losses, confidence=scores)
            left_out = 0
            if clusters is not None and self.returning == "skip":
                seen = np.isin(named(clusters)[1], self.clusters)
                kept = ~seen[codes(clusters, "clusters", len(losses))]
                left_out = len(kept) - int(kept.sum())
                losses, scores = losses[kept], scores[kept]
                groups, clusters, time = (taken(column, kept) for column in (groups, clusters, time))
                if not len(losses):
                    self.returned += left_out
                    return self._nothing(as_of, without=False)
            check_loss(np.where(np.isnan(losses), 0.0, losses), np)
            accepted = self.policy.accept(scores, groups)
            if len(losses) and np.nanmax(losses, initial=0.0) > self.largest:
                raise ValueError(f"max_loss={self.largest:g} is below a loss that occurs, {np.nanmax(losses):g}")
            check_clusters(self.policy, clusters)
            unit = None if clusters is None else codes(clusters, "clusters", len(losses))
            clock = copy.copy(self.clock)
            rows, when, skipped = clock.order(time, as_of, losses, accepted, unit)
            clock.check_unit(period=self.period, maturity=clock.maturity)
            values, scores, accepted = losses[rows], scores[rows], accepted[rows]
            bare = accepted & np.isnan(values)
            if bare.any() and self.largest == np.inf:
                raise ValueError("unlabelled='error' counts rows with the largest loss; give max_loss=")
            values = np.where(bare, self.largest, values)
            column = None if self.policy.group is None or groups is None else group_column(groups)[rows]
            unit = None if unit is None else unit[rows]
            known = self.sent.check(scores, values, flag(again, "again"))
            fresh = None if clusters is None else new_clusters(np.asarray(clusters)[rows], self.clusters, ONCE)
            labelled = ~np.isnan(values)
            warn_if_reused(self.policy.calibration, values[labelled], scores[labelled])
            last, mean_loss = units(values, accepted, unit)
            mixed = slice(None) if when is None else shuffled(when[rows][last])
            mean_loss = mean_loss[mixed]
            if not warn_if_sorted(
                loss=mean_loss, **({} if unit is not None else {"confidence": scores[accepted][mixed]})
            ):
                warn_if_in_runs(mean_loss)
            if unit is None and labelled.sum() > 1:
                warn_of_copies(read(values[labelled], scores[labelled], None, "reject"), stacklevel=3)
            # nothing was changed until here, and nothing can fail from here on
            self.clock, self.skipped, self.calls = clock, skipped, self.calls + 1
            self.returned += left_out
            self.sent.add(known)
            self.clusters = self.clusters if fresh is None else np.union1d(self.clusters, fresh)
            when = None if when is None else when[rows]
            for some in self._periods(when, len(rows)):
                here, then = None if unit is None else unit[some], None if when is None else when[some]
                self._take(
                    values[some], scores[some], accepted[some], None if column is None else column[some], here, then
                )
            return self.result()

    def _nothing(self, as_of: Moment, without: bool = True) -> Monitoring:
        """Take a call without rows, which changes nothing but the clock; rows that wait have to come again."""
        clock, none = copy.copy(self.clock), np.zeros(0)
        timed = clock.maturity is not None or clock.last is not None
        clock.order(none if timed else None, as_of, none, none > 0.0)
        self.clock, self.skipped, self.calls, self.empty = clock, 0, self.calls + 1, self.empty + without
        return self.result()

    def _take(
        self, loss: FloatArray, scores: FloatArray, accepted: BoolArray, column: AnyArray | None, unit: IntArray | None,
        when: FloatArray | None,
    ) -> None:  # fmt: skip
        """Take rows of one period, which is the last line."""
        before, guarantee = self.total.n_accepted, self.policy.guarantee
        limit = 0.0 if guarantee is None else guarantee.risk
        count, found = np.cumsum(accepted), list[Seen]()
        for name, monitored in self.monitored.items():
            mine = np.ones(len(loss), dtype=bool) if column is None else column == name
            last, values = units(loss, mine & accepted, unit, limit, self.largest_cluster)
            times = None if when is None else (when[last], when[mine])
            windows = None
            if when is not None and self.begun is not None and self.rules.window is not None:
                windows = np.floor((when[last] - self.begun) / self.rules.window)
            seen = monitored.update(values / self.largest, last, scores[mine], accepted[mine], times, windows)
            found.append(seen)
            if name in self.of_group:
                self.of_group[name].add(
                    int(mine.sum()), *counted(loss, mine & accepted, unit, [seen], self.largest_cluster)
                )
            signals = [*self.changed_at, *(before + int(count[row]) for row in seen.signals)]
            self.changed_at = [*signals[:1], *signals[1:][1 - _SIGNALS :]]
            if seen.broken is not None:
                monitored.broke = before + int(count[seen.broken]), self.lines[-1].period
                self.violated_at = min(monitored.broke[0], self.violated_at or monitored.broke[0])
        for line in (self.lines[-1], self.total):
            line.add(len(loss), *counted(loss, accepted, unit, found, self.largest_cluster))

    def _periods(self, when: FloatArray | None, n: int) -> Iterator[slice]:
        """Return the rows of each period in turn, each time after its line was opened."""
        if when is None:
            self._open(str(self.calls), None)
            yield slice(0, n)
        if when is None or not n:
            return
        self.begun = float(np.floor(when[0])) if self.begun is None else self.begun
        week = np.floor((when - self.begun) / self.period)
        ends = [*np.flatnonzero(np.diff(week)) + 1, len(week)]
        for begin, end in zip([0, *ends[:-1]], ends, strict=True):
            key = float(week[begin])
            if not self.lines or self.lines[-1].key != key:
                self._open(self.clock.shown(self.begun + key * self.period), key)
            yield slice(begin, end)

    def _open(self, period: str, key: float | None) -> None:
        """Begin a line of the table; of more lines than are kept those of the older half are joined in pairs."""
        self.lines.append(Line(period, key))
        if len(self.lines) > LINES:
            older, self.shown = self.lines[: LINES // 2], []
            joined = [one.joined(other) for one, other in zip(older[::2], older[1::2], strict=True)]
            self.lines = joined + self.lines[LINES // 2 :]

    def result(self) -> Monitoring:
        """Return what all rows until now show."""
        with self._lock:
            return self._result()

    def _result(self) -> Monitoring:
        total = self.total
        seen = {name: one for name, one in self.monitored.items() if one.n}
        strongest = max((one.highest for one in seen.values()), default=0.0) - np.log(max(1, len(self.monitored)))
        groups = {} if self.policy.group is None else {name: one.broken for name, one in seen.items()}
        risk = total.total / total.n_losses if total.n_losses else np.nan
        coverage = total.n_accepted / total.n if total.n else np.nan
        guarantee, known = self.policy.guarantee, self.policy.calibration
        calibrated = known.coverage
        if calibrated is None and known.n_accepted is not None:  # a policy of 0.2.0
            calibrated = known.n_accepted / known.n
        unit = self.clock.unit if self.begun is not None else None
        every = np.nan if self.rules.accepted_only else coverage  # costs are of all cases
        return Monitoring(
            violated=any(one.broken for one in seen.values()) if seen else None, violated_at=self.violated_at,
            evidence=float(np.exp(min(700.0, max(0.0, strongest)))), n=total.n, n_accepted=total.n_accepted,
            risk=risk, coverage=coverage, cost=self.policy.objective.cost_per_case(every, risk),
            coverage_drifted=any_known([one.coverage.left for one in self.monitored.values()]),
            score_drifted=any_known([one.score.left for one in self.monitored.values()]),
            drifts=tuple(each for name, one in self.monitored.items() for each in one.drifts(name)),
            violations=tuple(Violation(name, *one.broke) for name, one in seen.items() if one.broke is not None),
            drift_undecided=self.drift_undecided, groups=groups, delta=self.delta,
            changed_at=tuple(sorted(self.changed_at)),
            n_changes=total.signals, time_unit=unit, period=self.period,
            run_length=self.rules.run_length, waiting=self.clock.waiting, skipped=self.skipped,
            empty=self.empty, returned=self.returned, periods=self._shown(), guaranteed=guarantee is not None,
            limit=None if guarantee is None else guarantee.risk, tested=self.rules.tested(unit),
            graded=guarantee is not None and guarantee.max_loss > 1.0,
            thresholds=dict(self.policy.thresholds), score=self.policy.confidence_name, calibrated=calibrated,
            by_group=tuple(map(self._line, self.of_group.values())),
        )  # fmt: skip

    def _shown(self) -> tuple[Period, ...]:
        """Return the periods; only what may have changed since the last call is made again."""
        old = self.lines[: max(0, len(self.shown) - 1)]
        fresh = self.lines[len(old) :]
        self.shown[len(old) :] = map(self._line, fresh)
        return tuple(self.shown)

    def _line(self, one: Line) -> Period:
        return one.shown(max(1, len(self.monitored)), self.rules.run_length, self.largest)

    # ------------------------------------------------------------------ the file

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state, all of it or nothing; refuse to replace that of another monitor, or a newer one."""
        name = os.fspath(path)
        with self._lock, locked(name):
            self._write(name)

    def _write(self, name: str) -> None:
        self.on_file = STATE.write(name, self._state(), self.on_file)

    def _identity(self, policy: Document | None = None) -> str:
        """Return a hash of the policy as its file holds it, and of the rules."""
        rules = {"limit": self.rules.limit, **self._options()}
        rules["largest"] = rules.pop("max_loss")
        for name, usual in (("window", None), ("returning", "refuse")):  # which were no options once
            if rules[name] == usual:
                del rules[name]
        return digest_of({"policy": policy or policy_content(self.policy), "rules": rules})

    def fits(self, found: Document) -> bool:
        """Whether a state is of this policy and these rules; those of 0.2.0 hashed the policy as they wrote it."""
        return found["identity"] in (self._identity(), self._identity(as_in_0_2(policy_content(self.policy))))

    def _options(self) -> Document:
        """Return the options that a monitor of the same rules is made with."""
        return {
            "accepted_only": self.rules.accepted_only, "max_loss": plain(self.largest), "delta": self.delta,
            "run_length": self.rules.run_length, "since_first": self.rules.since_first, "window": self.rules.window,
            "maturity": self.clock.maturity, "period": self.period, "unlabelled": self.clock.unlabelled,
            "returning": self.returning,
        }  # fmt: skip

    def _state(self) -> Document:
        return {
            "identity": self._identity(), "calls": self.calls, "empty": self.empty, "skipped": self.skipped,
            "clock": vars(self.clock), "returned": self.returned,
            "begun": self.begun, "broken_at": self.violated_at, "changed_at": self.changed_at,
            **self.sent.state(), "clusters": packed(self.clusters),
            "lines": [vars(line) for line in (self.total, *self.lines)],
            "watched": {name: one.state() for name, one in self.monitored.items()},
            "groups": {name: vars(line) for name, line in self.of_group.items()},
            "options": self._options(),
        }  # fmt: skip

    def _restore(self, found: Document) -> None:
        self.calls, self.skipped, self.begun = found["calls"], found["skipped"], found["begun"]
        self.empty, self.returned = found.get("empty", 0), found.get("returned", 0)
        self.clock, self.violated_at, self.changed_at = Clock(**found["clock"]), found["broken_at"], found["changed_at"]
        self.clusters = unpacked(found["clusters"])
        self.sent.restore(found)
        self.total, *lines = [Line(**line) for line in found["lines"]]
        for line in lines:
            self._open(line.period, line.key)
            self.lines[-1] = line
        for name, one in self.monitored.items():
            one.restore(found["watched"][name])
        self.of_group = {name: Line(**line) for name, line in found.get("groups", {}).items()}
