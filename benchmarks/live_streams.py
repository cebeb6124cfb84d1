"""Many live certificates at once: the bets and the closed test of the package over arrays of streams, and their uses.

The first few streams also go through ``LiveCertificate``, row by row the same, and have to declare the same thresholds
on every day. Streams go on after a violation is proved, where a policy of the package rejects everything.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.live_populations import DELTA, LIMIT, POPULATIONS, TWENTY, Population, plateau

from abstain.live import LiveCertificate
from abstain.policy import drawn_rows
from abstain.thresholds import _grid_bets as _bets


class Streams:
    """The certificates of all streams: sums and certified thresholds by group and stream.

    ``compared``: so many streams go through the public class, too, made with ``options``.
    """

    def __init__(
        self, thresholds: np.ndarray, streams: int, shares: list[float], compared: int = 0, *,
        risk: float = LIMIT, audit: float = 1.0, **options: Any,
    ) -> None:  # fmt: skip
        self.grid = np.unique(thresholds)[::-1]
        self.largest, self.heaviest = options.get("max_loss", 1.0), options.get("max_weight", 1.0)
        self.size = options.get("max_cluster", 1)
        self.limit, self.audit = risk / self.largest, audit
        self.names = list(options.get("groups", [""]))
        self.bars = 1.0 / np.array(shares)
        self.reached = np.cumsum(_bets.start_weights(len(self.grid)))
        self.last: tuple[Any, Any] = (None, None)
        self.kept = len(shares), streams
        self.smallest = np.ones(self.kept)
        self.labels, self.calls = np.zeros(streams, dtype=int), 0
        self.begin()
        options |= {"risk": risk, "delta": DELTA, "thresholds": thresholds, "audit": audit}
        self.mirrors = [LiveCertificate(**options) for _ in range(compared)]
        self.equal = self.different = 0

    def begin(self) -> None:
        """Forget all rows: at the start, and at a restart. The smallest chance stays as it is for the next day."""
        n = len(self.grid)
        self.sums = np.zeros((*self.kept, len(_bets.WEIGHTS), n))
        self.certified = np.zeros((*self.kept, n), dtype=bool)

    @property
    def lowest(self) -> np.ndarray:
        """The position of the lowest certified threshold of each group and stream, or -1."""
        last = self.certified.shape[2] - 1 - self.certified[:, :, ::-1].argmax(axis=2)
        return np.where(self.certified.any(axis=2), last, -1)

    def answered(self, score: np.ndarray, group: np.ndarray | int = 0) -> np.ndarray:
        """Return which rows, of shape (streams, rows), the certified thresholds accept."""
        stream = np.arange(self.kept[1])[:, np.newaxis]
        return self.cells(score) <= self.lowest[group, stream]

    def update(self, rows: dict[str, Any], drawn: np.ndarray, chance: np.ndarray, mirror: bool = True) -> None:
        """Count rows of shape (streams, rows), of which ``drawn`` are labelled."""
        self.calls += 1
        self.labels += drawn.sum(axis=1)
        score, loss, n = rows["confidence"], rows["loss"], rows["loss"].shape[1]
        group = np.searchsorted(self.names, rows["groups"]) if "groups" in rows else np.zeros((1, 1), dtype=int)
        stream = np.arange(len(loss))[:, np.newaxis]
        gain = rows.get("sample_weight", 1.0) / self.heaviest * (self.limit - loss / self.largest) / chance
        gain, smallest = np.where(drawn, gain, 0.0), np.broadcast_to(self.smallest[group, stream], loss.shape)
        place = (group * len(loss) + stream) * (len(self.grid) + 1) + self.cells(score)
        cell, found = self.cells(score), np.zeros((len(_bets.WEIGHTS), *loss.shape))
        if "clusters" in rows:
            number = np.where(rows["clusters"] < 0, n + np.arange(n), rows["clusters"]) + stream * 2 * n
        for chosen in np.unique(smallest):
            mine = smallest == chosen
            if "clusters" in rows:
                columns = gain[mine] / self.size, cell[mine], number[mine]
                found[:, mine] = _bets.cluster_logs(*columns, self.limit, float(chosen))
            else:
                found[:, mine] = _bets.log_factors(gain[mine], self.limit, float(chosen))
        self._add(place.ravel(), found.reshape(len(found), -1))
        self._certify()
        if mirror:
            for s, live in enumerate(self.mirrors):
                live.update(**self._columns(rows, drawn, chance, s), again=True)
            self.compare()

    def _columns(self, rows: dict[str, Any], drawn: np.ndarray, chance: np.ndarray, s: int) -> dict[str, Any]:
        """Return the rows of one stream as the class takes them."""
        here = np.ones(rows["loss"].shape[1], dtype=bool)
        each = {name: column[s] for name, column in rows.items()}
        if "clusters" in each:
            here = each["clusters"] >= 0
            each["clusters"] = np.array([f"{self.calls}-{number}" for number in each["clusters"]])
        each["loss"] = np.where(drawn[s], each["loss"], np.nan)
        return {name: column[here] for name, column in (each | {"label_probability": chance[s]}).items()}

    def cells(self, score: np.ndarray) -> np.ndarray:
        """Return the position of the first threshold that accepts each row."""
        if self.last[0] is not score:
            self.last = score, _bets.cells(self.grid, score)
        return self.last[1]

    def _add(self, place: np.ndarray, logs: np.ndarray) -> None:
        shape = (*self.kept, len(self.grid) + 1)
        for k, log in enumerate(logs):
            found = np.bincount(place, weights=log, minlength=math.prod(shape)).reshape(shape)
            self.sums[:, :, k] += found[:, :, :-1]

    def _certify(self) -> None:
        bar = self.bars[:, np.newaxis, np.newaxis]
        rough = np.cumsum(self.sums, axis=3, dtype=np.float32)  # finds the streams in which something may be certified
        rough = np.einsum("k,gskj->gsj", _bets.WEIGHTS.astype(np.float32), np.exp(np.minimum(rough, 80.0)))
        high = ((rough * self.reached >= 0.95 * bar) & ~self.certified).any(axis=2)
        while high.any():
            value = np.exp(np.minimum(np.cumsum(self.sums[high], axis=2), 700.0))
            least = self._least(np.einsum("k,skj->sj", _bets.WEIGHTS, value), self.certified[high])
            fresh = (least >= bar[np.nonzero(high)[0], 0]) & ~self.certified[high]
            self.certified[high] |= fresh
            high[high] = fresh.any(axis=1)

    def _least(self, value: np.ndarray, certified: np.ndarray) -> np.ndarray:
        """Return the smallest evidence over the sets of open thresholds that end with each, from the highest down."""
        least = np.full(value.shape, np.inf)
        for k in range(value.shape[1]):
            found = self.reached[k] * value[:, k]
            if k:
                steps = least[:, :k] + (self.reached[k] - self.reached[:k]) * value[:, k : k + 1]
                found = np.minimum(found, steps.min(axis=1))
            least[:, k] = np.where(certified[:, k], np.inf, found)
        return np.where(certified, 0.0, least)

    def issue(self) -> None:
        """Take the certified thresholds as those in force; where there is one, stakes are those of audits."""
        self.smallest = np.where(self.lowest >= 0, self.audit, 1.0)
        for s, live in enumerate(self.mirrors):
            for g, one in enumerate(live.groups.values()):
                assert one.smallest == self.smallest[g, s], (one.smallest, self.smallest[g, s])
                one.in_force = one.lowest

    def restart(self) -> None:
        """Begin anew."""
        self.begin()
        for live in self.mirrors:
            live.restart()

    def compare(self) -> None:
        """Compare what is certified with the public class."""
        for s, live in enumerate(self.mirrors):
            for g, one in enumerate(live.groups.values()):
                same = bool((one.certified == self.certified[g, s]).all())
                self.equal, self.different = self.equal + same, self.different + (not same)

    def violated(self, risk: Callable[[float, str], float]) -> np.ndarray:
        """Return for each stream whether a threshold was declared whose risk is not below the limit."""
        wrong = np.array([[risk(t, name) >= LIMIT * (1 - 1e-9) for t in self.grid] for name in self.names])
        return np.asarray((self.certified & wrong[:, np.newaxis]).any(axis=(0, 2)))


# ---------------------------------------------------------------------- uses

#: Violated streams, and all of them.
Found = tuple[np.ndarray, Streams]


def daily(population: Population, audit: float, days: int, rows: int, size: tuple[int, int], seed: int) -> Found:
    """Issue a policy every day, and audit what it answers; ``size``: streams, and how many of them are compared."""
    rng = np.random.default_rng(seed)
    shares = [DELTA / len(population.options.get("groups", [""]))] * len(population.options.get("groups", [""]))
    live = Streams(population.thresholds, size[0], shares, size[1], audit=audit, **population.options)
    for _ in range(days):
        day = population.draw((size[0], rows), rng)
        group = np.searchsorted(live.names, day["groups"]) if "groups" in day else 0
        chance = np.where(live.answered(day["confidence"], group), audit, 1.0)
        live.update(day, rng.random(chance.shape) < chance, chance)
        live.issue()
    return live.violated(population.risk), live


def drawn_by_policy(audit: float, days: int, rows: int, size: tuple[int, int], seed: int) -> Found:
    """Audit as the package draws, by names, with a chance that is chosen anew each day from what was seen."""
    rng, population = np.random.default_rng(seed), plateau()
    live = Streams(population.thresholds, size[0], [DELTA], size[1], audit=audit)
    for k in range(days):
        live.issue()
        day, today = population.draw((size[0], rows), rng), np.where(live.labels % 2, audit, min(1.0, 2 * audit))
        chance = np.where(live.answered(day["confidence"]), today[:, np.newaxis], 1.0)
        names = [f"{s}-{k}-{row}" for s in range(size[0]) for row in range(rows)]
        drawn = drawn_rows(names, chance.ravel(), seed).reshape(chance.shape)
        for s, one in enumerate(live.mirrors):
            mine = names[s * rows : (s + 1) * rows]
            found = one.policy(score="s").decide(day["confidence"][s], ids=mine, audit=float(today[s]), seed=seed)
            assert (found.drawn == drawn[s]).all() or one.groups[""].violated_at is not None
        live.update(day, drawn, chance)
    return live.violated(population.risk), live


def late_labels(audit: float, days: int, rows: int, size: tuple[int, int], seed: int) -> Found:
    """Errors are known on the day, what is right after three: rows come again until their labels are due."""
    rng = np.random.default_rng(seed)
    live = Streams(TWENTY, size[0], [DELTA], size[1], audit=audit, maturity=3)
    waiting: list[tuple[dict[str, Any], np.ndarray, np.ndarray]] = []
    for k in range(days):
        score = rng.random((size[0], rows))
        wrong = (rng.random(score.shape) < LIMIT).astype(float)
        chance = np.where(live.answered(score), audit, 1.0)
        waiting.append(({"confidence": score, "loss": wrong}, rng.random(chance.shape) < chance, chance))
        if k >= 3:
            live.update(*waiting[0], mirror=False)
        else:
            live.calls += 1
        for s, one in enumerate(live.mirrors):
            first = k + 1 - len(waiting)
            each = [live._columns(*day, s) | {"time": np.full(rows, first + j)} for j, day in enumerate(waiting)]
            known = {name: np.concatenate([day[name] for day in each]) for name in each[0]}
            young = (known["time"] > k - 3) & (known["loss"] == 0)
            one.update(**(known | {"loss": np.where(young, np.nan, known["loss"])}), as_of=k, again=True)
        live.compare()
        waiting = waiting[-3:]
        live.issue()
    return live.violated(lambda t, group: LIMIT), live


def late_change(audit: float, days: int, rows: int, size: tuple[int, int], seed: int) -> Found:
    """Half of the days right wherever it counts, then at the limit; the certificate is begun anew at the change."""
    rng = np.random.default_rng(seed)
    live = Streams(TWENTY, size[0], [DELTA / 2], size[1], audit=audit, restarts=1)
    before = np.zeros(size[0], dtype=bool)
    for k in range(days):
        if k == days // 2:
            before = live.violated(lambda t, group: (0.005 + 0.09 * (0.5 - t)) / (1 - t) if t < 0.5 else 0.01)
            live.restart()
        score = rng.random((size[0], rows))
        rate = np.where((score > 0.5) & (k < days // 2), 0.01, np.where(k < days // 2, 0.09, LIMIT))
        chance = np.where(live.answered(score), audit, 1.0)
        wrong = (rng.random(score.shape) < rate).astype(float)
        live.update({"confidence": score, "loss": wrong}, rng.random(chance.shape) < chance, chance)
        live.issue()
    return before | live.violated(lambda t, group: LIMIT), live


def joining_groups(audit: float, days: int, rows: int, size: tuple[int, int], seed: int) -> Found:
    """Groups at the limit that join one after the other, each of which takes half of what is left of the reserve."""
    rng = np.random.default_rng(seed)
    shares = [0.4 * DELTA, *(DELTA * 0.6 / 2**k for k in range(1, 5))]
    live = Streams(np.linspace(1, 0, 11)[1:], size[0], shares, size[1], audit=audit, groups=["0"], reserve=0.6)
    live.names = [str(g) for g in range(5)]
    joined = 1
    for k in range(days):
        if k and k % max(1, days // 5) == 0 and joined < 5:
            for one in live.mirrors:
                one.add_group(str(joined))
            joined += 1
        score, group = rng.random((size[0], rows)), rng.integers(0, joined, (size[0], rows))
        chance = np.where(live.answered(score, group), audit, 1.0)
        wrong = (rng.random(score.shape) < LIMIT).astype(float)
        day = {"confidence": score, "loss": wrong, "groups": np.array(live.names)[group]}
        live.update(day, rng.random(chance.shape) < chance, chance)
        live.issue()
    return live.violated(lambda t, group: LIMIT), live


#: Streams that use the certificate in ways of their own.
WAYS: dict[str, Callable[..., Found]] = {
    "audits by name, chances chosen daily": drawn_by_policy,
    "late labels, errors first": late_labels,
    "a change and a restart": late_change,
    "groups that join": joining_groups,
}


def cell(name: str, audit: float, days: int, rows: int, size: tuple[int, int], seed: int) -> Found:
    """Return which streams of a population or a use are violated, and the streams."""
    if name in WAYS:
        return WAYS[name](audit, days, rows, size, seed)
    return daily(POPULATIONS[name], audit, days, rows, size, seed)
