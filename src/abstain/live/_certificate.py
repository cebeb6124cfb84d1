"""``LiveCertificate``: a guarantee that may be issued again on any day, from the labels that a team has."""

from __future__ import annotations

import copy
import math
import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from abstain._checks import failure_probability, flag, fraction, positive, whole
from abstain._files import locked
from abstain._typing import Age, ArrayLike, Document, Frame, Moment
from abstain.live import _columns as columns
from abstain.live import _state
from abstain.live._grid import Grid, Rows, Rules
from abstain.live._issued import Issued
from abstain.live._result import Line, LiveCertification
from abstain.monitoring import Clock, SentRows
from abstain.policy import Policy
from abstain.thresholds import Hashes, Reach, new_clusters, stricter
from abstain.thresholds._grid_bets import cells, grid_of

#: Lines of the history: of more every second of the older half is left out.
LINES = 128
#: What to do with clusters that come again.
ONCE = "all rows of a cluster come in one call, when it is complete"


class LiveCertificate:
    r"""A certified threshold that may be chosen again on any day, with one error probability for all days together.

    With probability 1 - ``delta`` *no* threshold that is ever declared certified has a risk above ``risk``, however
    often new labels are counted and policies are issued. A grid of thresholds is fixed before the first label. For
    each there is a test supermartingale that grows while its risk is below the limit, and a closed test over all of
    them decides which are certified (see ``Notes``).

    Threads may share one object, and processes a file (:func:`abstain.live.update_live`). It has at most 100 kB with
    60 thresholds, whatever the number of rows, 6 kB more for each further group, and 11 bytes for each cluster.

    Parameters
    ----------
    risk : float
        Limit of the mean loss of what is answered, in (0, ``max_loss``).
    delta : float in (0, 1)
        Probability that any threshold that is ever declared has a higher risk.
    scores : array-like of shape (n_samples,), optional
        Scores of rows like the coming ones, without labels: their quantiles are the grid.
    thresholds : array-like of shape (n_thresholds,), optional
        The grid itself, instead of ``scores``: at most 200 values, chosen before any label is seen.
    audit : float in (0, 1]
        The smallest chance with which labels of answered rows will ever be drawn (:meth:`Policy.decide` draws them);
        what is not answered is reviewed. The stakes of the test are scaled by it from the first certified threshold on,
        so a small chance costs time.
    ood_share : float in [0, 1)
        Share of the answers that may be of a kind that the counted rows do not have, and all wrong, without the limit
        being exceeded: what is certified is then (risk - ood_share) / (1 - ood_share) for losses up to 1.
    max_loss : float > 0
        Largest possible loss.
    max_weight : float > 0
        Largest possible ``sample_weight``.
    max_cluster : int, optional
        Largest possible number of rows of one cluster. Rows of a cluster may then depend on each other; the guarantee
        stays one about the mean over rows. It costs as many rows as the largest cluster has more than a usual one.
    groups : sequence of str, optional
        One certificate for each of these groups, on one grid.
    each : bool
        ``delta`` holds for each group instead of for all together.
    reserve : float in [0, 1)
        Part of ``delta`` that is kept for groups that join later (:meth:`add_group`).
    restarts : int
        How often :meth:`restart` may begin anew; ``delta`` is shared equally by all beginnings.
    maturity : float or timedelta, optional
        Age in days, or the unit of ``time``, at which all labels of rows of that age are known; rows count at that
        age. Needed where errors are known sooner than successes.
    run_length : float > 1
        Answered rows between false signals of the change detector, on average at least.

    Notes
    -----
    **What is assumed.** Rows are drawn independently (or clusters are) from one population that does not change, and
    each label is drawn with the stated chance, whatever the loss is. A change of the population makes old rows wrong:
    the test of violation and the change detector run in parallel, and :meth:`restart` begins anew.

    **What may depend on results.** When to evaluate, issue a policy or stop, and how many labels to draw next. What may
    not: the grid, the limit, ``audit``, which rows a call has, and in which order calls are counted: cut the stream
    by time or by number, and count the parts as they come. The order of
    the rows of a call does not matter. Stakes on the rows of a call are fixed by the calls before it: they are those of
    full labels until a threshold is certified, and those of ``audit`` after that.

    References
    ----------
    Ville (1939); Waudby-Smith & Ramdas (2024); Xu, Karampatziakis & Mineiro (2024); Vovk & Wang (2021).

    Examples
    --------
    >>> import abstain
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> live = abstain.LiveCertificate(risk=0.05, delta=0.05, scores=rng.random(1000))
    >>> for week in range(4):
    ...     score = rng.random(1000)
    ...     wrong = rng.random(1000) < 0.3 * (1 - score) ** 1.5
    ...     now = live.update(score, wrong)
    >>> round(now.coverage, 2), round(live.threshold, 2)
    (0.43, 0.56)
    """

    def __init__(
        self,
        *,
        risk: float,
        delta: float = 0.05,
        scores: ArrayLike | None = None,
        thresholds: ArrayLike | None = None,
        audit: float = 1.0,
        ood_share: float = 0.0,
        max_loss: float = 1.0,
        max_weight: float = 1.0,
        max_cluster: int | None = None,
        groups: Sequence[str] | None = None,
        each: bool = False,
        reserve: float = 0.0,
        restarts: int = 0,
        maturity: Age = None,
        run_length: float = 10_000.0,
    ) -> None:
        self.max_loss = positive(max_loss, "max_loss", "give the largest possible loss")
        self.max_weight = positive(max_weight, "max_weight", "give the largest possible weight")
        self.risk = positive(risk, "risk", "give the limit of the mean loss of what is answered")
        if not self.risk < self.max_loss:
            raise ValueError(f"risk must be below max_loss={self.max_loss:g}, got {risk!r}; every threshold attains it")
        self.audit = fraction(audit, "audit")
        if not self.audit > 0.0:
            raise ValueError("audit must be above 0: what is answered and never labelled cannot be certified again")
        self.ood_share = fraction(ood_share, "ood_share", below_one=True)
        stricter(self.risk / self.max_loss, self.ood_share)
        self.delta = failure_probability(delta)
        self.thresholds = grid_of(scores, thresholds)
        self.max_cluster = None if max_cluster is None else whole(max_cluster, "max_cluster")
        self.restarts = whole(restarts, "restarts", 0)
        self.reserve = fraction(reserve, "reserve", below_one=True)
        self.each = flag(each, "each")
        self.run_length = positive(run_length, "run_length")
        if self.run_length <= 1.0:
            raise ValueError(f"run_length must be above 1, got {run_length!r}; give rows between false signals")
        self.clock = Clock(maturity)
        self.period = 0
        self.calls = self.given = 0
        self.lines: list[Line] = []
        self.sent = SentRows(50, "ids=, a name of each row, or again=True")
        self.clusters: Hashes = np.zeros(0, dtype=np.uint64)
        self.reserved = self.reserve
        self.on_file: dict[str, str] = {}
        names = [""] if groups is None else columns.group_names(groups)
        self.named, self.grouped = tuple(names), groups is not None
        share = self._whole_share() * (1.0 - self.reserve) / (1 if each else len(names))
        self.groups = {name: Grid(self._rules(), share) for name in names}
        self._lock = threading.RLock()

    def __getstate__(self) -> Document:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: Document) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def _rules(self) -> Rules:
        most = self.risk / self.max_loss
        return Rules(stricter(most, self.ood_share), most, self.thresholds, self.audit, self.run_length)

    def _whole_share(self) -> float:
        return self.delta / (self.restarts + 1)

    def update(
        self,
        confidence: ArrayLike | str,
        loss: ArrayLike | str,
        *,
        label_probability: ArrayLike | float | str = 1.0,
        drawn: ArrayLike | str | None = None,
        sample_weight: ArrayLike | str | None = None,
        groups: ArrayLike | str | None = None,
        clusters: ArrayLike | str | None = None,
        time: ArrayLike | str | None = None,
        as_of: Moment = None,
        ids: ArrayLike | str | None = None,
        frame: Frame | None = None,
        again: bool = False,
    ) -> LiveCertification:
        """Count new rows, and return what is certified now.

        Parameters
        ----------
        confidence, loss : array-like of shape (n_samples,)
            All new rows, also those whose label was not drawn: their loss is NaN. They count for the coverage. None at
            all, as in a week without rows, change nothing.
        label_probability : float or array-like of shape (n_samples,)
            The chance with which the label of a row was drawn, in (0, 1]; it was fixed before the loss was known and
            does not depend on it. A row with chance 1 that the grid can accept needs its label. No chance may be below
            1 until a threshold is certified, or below ``audit`` after that.
        drawn : array-like of bool of shape (n_samples,), optional
            Which labels were drawn (:attr:`Decisions.drawn`); default: those that are there. A drawn row that the grid
            can accept then needs its label, and a label that came without being drawn, as of a complaint, is left out.
        sample_weight, groups, clusters : array-like of shape (n_samples,), optional
            Weights in [0, ``max_weight``]; the group, if the certificate has groups; with ``max_cluster``, which rows
            belong together, all of them in one call.
        time : array-like of shape (n_samples,), optional
            Dates or numbers: when each row was predicted; needed with ``maturity``. Rows that are too young have to
            come again. ``as_of`` is the present, from which ages are counted; default the latest ``time``.
        ids : array-like of shape (n_samples,), optional
            A name of each row that no other row ever has. A row is then recognised if it is among the last 3,000, or
            among 2,500 of all rows at random. Without names calls are recognised by all their columns: as a whole if
            others, drawn independently, would be the same with a probability of at most 1e-9 (24 different rows, or 10
            in the same order), and a call of 80 different rows of which three quarters were in one earlier call. Fewer
            rows count, even if they are sent twice.
            New rows with ranks as scores, or of a fixed set of cases, may look the same: they need names. Clusters are
            recognised by their own names.
        frame : data frame, lazy frame or relation, optional
            Of polars, pandas, DuckDB or another library that Narwhals knows: names of its columns then stand for rows.
        again : bool
            Count rows although they were counted before, or look so.

        Returns
        -------
        LiveCertification

        Raises
        ------
        ValueError
            A loss above ``max_loss``; a missing label of a row that has to have one; a chance that is 0 or below the
            smallest in force; rows that were counted before; a cluster that was counted before or is too large.
            What was counted until then stays as it was.
        """
        if frame is not None:
            confidence, loss, label_probability, drawn, sample_weight, groups, clusters, time, ids = columns.of_frame(
                frame, confidence, loss, label_probability, drawn, sample_weight, groups, clusters, time, ids
            )
        with self._lock:
            score, losses = columns.scores_and_losses(confidence, loss, self.max_loss)
            n = len(score)
            if not n:
                self.calls, self.given = self.calls + 1, 0
                self._remember(str(self.calls))
                return self.result()
            weight = columns.weights(sample_weight, n, self.max_weight)
            cell = cells(self.thresholds, score)
            place = columns.places_of(groups, n, list(self.groups) if self.grouped else None)
            chance = columns.chances(
                label_probability, n, np.array([one.smallest for one in self.groups.values()])[place]
            )
            number = columns.numbers_of(clusters, n, self.max_cluster)
            answerable = cell < len(self.thresholds)
            needed, losses = columns.drawn_labels(drawn, chance, losses, number, answerable)
            names = columns.hashes_of(ids, n)
            clock = copy.copy(self.clock)
            due, when = columns.due_rows(clock, time, as_of, losses, needed & answerable, number)
            others = [chance, weight, place] if when is None else [chance, weight, place, when]
            by_cluster = clusters is not None and names is None  # each cluster that was counted is recognised below
            known = self.sent.check(
                score[due],
                losses[due],
                flag(again, "again") or by_cluster,
                None if names is None else names[due],
                *(each[due] for each in others),
            )
            fresh = None if clusters is None else new_clusters(np.asarray(clusters)[due], self.clusters, ONCE)
            self.clock, self.calls, self.given = clock, self.calls + 1, n
            self.sent.add(known)  # nothing was changed until here, and nothing can fail from here on
            self.clusters = self.clusters if fresh is None else np.union1d(self.clusters, fresh)
            rows = Rows(
                cell[due],
                ~np.isnan(losses[due]),
                np.nan_to_num(losses[due]) / self.max_loss,
                weight[due] / self.max_weight,
                chance[due],
                None if number is None else number[due],
                self.max_cluster or 1,
            )
            place = place[due]
            for k, one in enumerate(self.groups.values()):
                mine = rows if len(self.groups) == 1 else rows.of(place == k)
                if len(mine.cell):
                    one.take(mine, bool(clock.waiting))
            self._remember(str(self.calls) if when is None or not len(due) else clock.shown(float(when[due[-1]])))
            return self.result()

    def _remember(self, when: str) -> None:
        self.lines.append(Line.of(self, when))
        for one in self.groups.values():
            one.last = (0, 0.0, 0.0)
        if len(self.lines) > LINES:
            half = LINES // 2
            self.lines = self.lines[1:half:2] + self.lines[half:]

    def covered(self) -> float:
        """Return the share of all rows so far that the certified thresholds accept."""
        total = sum(float(one.cases.sum()) for one in self.groups.values())
        answered = sum(float(one.cases[: one.lowest + 1].sum()) for one in self.groups.values())
        return answered / total if total else 0.0

    def _one(self) -> Grid:
        return next(iter(self.groups.values()))

    @property
    def threshold(self) -> float:
        """The lowest certified threshold; +inf if there is none. Of a certificate with groups see :meth:`result`."""
        if self.grouped:
            raise ValueError("each group has its own threshold; result().thresholds has them")
        position = self._one().lowest
        return math.inf if position < 0 else float(self.thresholds[position])

    @property
    def reach(self) -> Reach | None:
        """How far the guarantee reaches beyond the counted rows; None while nothing is certified."""
        return self.result().reach

    @property
    def certified(self) -> dict[str, tuple[float, ...]]:
        """All thresholds that were declared certified so far, for each group (without groups the only key is "")."""
        return {name: tuple(self.thresholds[one.certified].tolist()) for name, one in self.groups.items()}

    def result(self) -> LiveCertification:
        """Return what is certified now."""
        with self._lock:
            return LiveCertification.of(self)

    def policy(self, *, score: str, group: str | None = None, **about: Any) -> Policy:
        """Return the policy of the lowest certified thresholds; from now on its answers are monitored.

        Parameters
        ----------
        score : str
            Column of the confidence score in new files, or the score that is computed; as for
            :meth:`CertifiedThreshold.policy`, which also has the other arguments (``about``).
        group : str, optional
            Column of the groups, needed where the certificate has groups.

        Returns
        -------
        Policy
        """
        with self._lock:
            found = Policy.of(Issued.of(self), score=score, group=group, **about)
            for one in self.groups.values():
                one.in_force = one.answers
            return found

    def add_group(self, name: str) -> None:
        """Begin a certificate for one more group, with half of what is left of the reserve of ``delta``."""
        with self._lock:
            if not isinstance(name, str) or not name:
                raise TypeError(f"name must be text, the name of a group, got {name!r}")
            if not self.grouped or name in self.groups:
                raise ValueError(f"{name!r} cannot join: " + ("it is a group already" if self.grouped else "no groups"))
            if self.reserved <= 0.0:
                raise ValueError("nothing is reserved for groups that join; give reserve= when the certificate is made")
            self.reserved /= 2.0
            self.groups[name] = Grid(self._rules(), self._whole_share() * self.reserved)

    def restart(self) -> None:
        """Begin anew after a change: rows that were counted say nothing any more, and no threshold is certified.

        What was declared before stays a statement about the rows before. ``delta`` is shared by all beginnings. Rows
        that the last policy answered, with audits, may come in the next call, and while rows wait for their labels, but
        not later.
        """
        with self._lock:
            if self.period >= self.restarts:
                raise ValueError(
                    f"restarts={self.restarts} were provided for, and delta is spent; make a new certificate, whose "
                    "delta counts in addition to that of this one"
                )
            self.period += 1
            self.clock.last, self.clock.waiting = self.clock.seen, 0  # rows that wait are of before the change
            # rows that the last policy answered may come next, so its smallest chance stays as it is
            self.groups = {
                name: Grid(self._rules(), one.share, smallest=one.smallest) for name, one in self.groups.items()
            }
            self.lines = []

    def options(self) -> Document:
        """Return what was fixed at the start, in plain values."""
        plain = ("risk", "delta", "audit", "ood_share", "max_loss", "max_weight", "max_cluster", "each", "reserve")
        return {name: getattr(self, name) for name in (*plain, "restarts", "run_length")} | {
            "thresholds": self.thresholds.tolist(),
            "groups": list(self.named) if self.grouped else None,
            "maturity": self.clock.maturity,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state, all of it or nothing; refuse to replace that of another certificate, or a newer one."""
        with self._lock, locked(path):
            self.write(path)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the state where the caller holds the lock of the file."""
        _state.write(os.fspath(path), self)
