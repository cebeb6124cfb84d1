"""The certificate of one group: sums for every threshold of its grid, and what was certified so far."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from abstain._typing import BoolArray, FloatArray, IntArray, Options
from abstain.monitoring import Detector, Evidence
from abstain.thresholds import _grid_bets as _bets


@dataclass(frozen=True)
class Rules:
    """What is fixed before the first label.

    ``limit``: what is certified of the mean loss, as a part of the largest loss; ``most``: what it may be with unseen
    cases; ``thresholds``: falling; ``audit``: the smallest chance of a label of a row that is answered; ``run_length``:
    answered rows between false signals of the change detector.
    """

    limit: float
    most: float
    thresholds: FloatArray
    audit: float
    run_length: float


@dataclass(frozen=True)
class Rows:
    """Rows that are due: the cell of each, whether its label was drawn, its loss and weight in [0, 1], and its chance.

    ``cluster``: the number of its cluster, if rows come in clusters of at most ``size``.
    """

    cell: IntArray
    drawn: BoolArray
    loss: FloatArray
    weight: FloatArray
    chance: FloatArray
    cluster: IntArray | None = None
    size: int = 1

    def of(self, chosen: BoolArray) -> Rows:
        """Return the chosen rows."""
        columns: Options = {name: each[chosen] for name, each in vars(self).items() if isinstance(each, np.ndarray)}
        return replace(self, **columns)


@dataclass
class Grid:
    """The state of one group.

    ``share``: of delta; ``sums``: logarithms of the bets for each stake and cell; ``counts``, ``cases``: rows of each
    cell, and their weight, last of those that no threshold accepts; ``labels``: how many labels were counted;
    ``wrong``: their losses for each cell, weighted by chance; ``certified``: the thresholds that were declared;
    ``in_force``: position of the threshold of the last policy, or -1; ``smallest``: the smallest chance of a label in
    the next call; ``answered``: labels of what the policy answered; ``violated_at``, ``changed_at``: how many of these
    there were at the first violation and signal of a change; ``old_rows``: rows before the call of that signal;
    ``last``: labels of what it answered in this call, their weight, and their losses.
    """

    rules: Rules
    share: float
    sums: FloatArray = field(init=False)
    cases: FloatArray = field(init=False)
    wrong: FloatArray = field(init=False)
    certified: BoolArray = field(init=False)
    labels: int = 0
    smallest: float = 1.0
    in_force: int = -1
    answered: int = 0
    highest: float = 0.0
    violated_at: int | None = None
    changed_at: int | None = None
    old_rows: int | None = None
    last: tuple[int, float, float] = (0, 0.0, 0.0)
    graded: bool = False
    counts: IntArray = field(init=False)
    evidence: Evidence = field(init=False)
    detector: Detector = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.rules.thresholds)
        self.sums = np.zeros((len(_bets.WEIGHTS), n))
        self.cases, self.wrong = np.zeros(n + 1), np.zeros(n + 1)
        self.counts = np.zeros(n + 1, dtype=np.int64)
        self.certified = np.zeros(n, dtype=bool)
        self.evidence = Evidence(self.rules.most)
        self.detector = Detector(self.rules.most, self.rules.run_length)

    def take(self, rows: Rows, waiting: bool) -> None:
        """Count rows; ``waiting``: others came in this call that are too young, and will come again."""
        n = len(self.rules.thresholds)
        gain = np.where(rows.drawn, rows.weight * (self.rules.limit - rows.loss) / rows.chance, 0.0)
        self._monitor(rows)
        if rows.cluster is None:
            logs = _bets.log_factors(gain, self.rules.limit, self.smallest)
        else:
            logs = _bets.cluster_logs(gain / rows.size, rows.cell, rows.cluster, self.rules.limit, self.smallest)
        self.sums += _bets.by_cell(logs, rows.cell, n)  # at the end of a call: no order of its rows can matter
        self.certified = _bets.certify(_bets.log_evidence(self.sums), self.certified, -math.log(self.share))
        if self.certified.any():
            self.smallest = self.rules.audit
        elif not waiting and (rows.drawn & (rows.cell < n)).any():  # after a restart; no call without labels does it
            self.smallest = 1.0
        self.counts += np.bincount(rows.cell, minlength=n + 1)
        self.graded = self.graded or bool(((rows.loss != 0.0) & (rows.loss != 1.0)).any())
        self.labels += int(rows.drawn.sum())
        self.cases += np.bincount(rows.cell, weights=rows.weight, minlength=n + 1)
        found = np.where(rows.drawn, rows.weight * rows.loss / rows.chance, 0.0)
        self.wrong += np.bincount(rows.cell, weights=found, minlength=n + 1)

    def _monitor(self, rows: Rows) -> None:
        """Test the risk of what the policy in force answers, and look for a change of it, with every label in turn."""
        mine = rows.drawn & (rows.cell <= self.in_force)
        if not mine.any():
            return
        weight = (rows.weight / rows.chance)[mine]
        self.last = int(mine.sum()), float(weight.sum()), float(weight @ rows.loss[mine])
        gain = self.smallest * (rows.weight * (self.rules.most - rows.loss) / rows.chance)[mine]
        if rows.cluster is not None:
            gain = np.bincount(np.unique(rows.cluster[mine], return_inverse=True)[1], weights=gain) / rows.size
        values = self.rules.most - gain
        values = np.clip(values, 0.0, 1.0)
        at_end = np.arange(len(values)) == 0
        path = self.evidence.update(values, at_end)
        _, signals = self.detector.update(values, at_end)
        self.answered += int(mine.sum())
        self.highest = max(self.highest, float(path[-1]))
        if self.violated_at is None and self.highest >= -math.log(self.share):
            self.violated_at = self.answered
        if signals and self.changed_at is None:
            self.changed_at, self.old_rows = self.answered, self.rows

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        return int(self.counts.sum())

    def accepted(self, position: int) -> int:
        """Return how many rows a threshold accepts."""
        return int(self.counts[: position + 1].sum())

    @property
    def lowest(self) -> int:
        """The position of the lowest certified threshold, or -1."""
        found = np.flatnonzero(self.certified)
        return int(found[-1]) if found.size else -1

    @property
    def answers(self) -> int:
        """The position of the threshold that a policy answers from: none once a violation was found."""
        return self.lowest if self.violated_at is None else -1

    def coverage(self, position: int) -> float:
        """Return the share of all rows so far that a threshold accepts."""
        total = float(self.cases.sum())
        return float(self.cases[: position + 1].sum()) / total if total else math.nan

    def risk(self, position: int) -> float:
        """Return the mean loss of what a threshold accepts, from the labels and their chances; NaN if it has none."""
        accepted = float(self.cases[: position + 1].sum())
        return float(self.wrong[: position + 1].sum()) / accepted if accepted else math.nan
