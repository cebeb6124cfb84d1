"""Monitoring: rows until a late change is noticed, false alarms in years of daily looks, late labels, drift, time.

    python -m benchmarks.monitoring [PART ...] [--full]

Parts: delays, detector, years, late, swings, windows, kills, ties, speed, returning, drift.
"""

import os
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import Form, command, percent, say

import abstain
from abstain._typing import FloatArray
from abstain.monitoring import Monitor, load_monitor, monitor
from abstain.monitoring._evidence import FIRST, POWER, SCALE, Bets, Detector, Evidence, ends
from abstain.policy import Policy

LIMIT, DELTA = 0.05, 0.05
ALARM = -np.log(DELTA)
#: Rows of a risk before the change.
HISTORIES = ((0.0, 0), *((risk, rows) for risk in (0.02, 0.04, 0.05) for rows in (500, 2000, 10000)))


def drawn(rng: np.random.Generator, n: int, risk: Any = LIMIT) -> FloatArray:
    """Return 0/1 losses."""
    return (rng.random(n) < risk).astype(float)


def alarmed(path: FloatArray) -> bool:
    """Return whether evidence ever reaches the alarm."""
    return bool((path >= ALARM).any())


def wait(look: Callable[[FloatArray], Any], rng: np.random.Generator, after: float) -> float:
    """Return the rows of a new risk until a look at 500 more of them finds something, in which it is the first."""
    waited = 0
    while True:
        found = look(drawn(rng, 500, after))
        if len(found):
            return float(waited + found[0] + 1)
        waited += 500


def delays(form: Form) -> None:
    """The risk was fine for a while, then it is above the limit."""
    shifts, rng, many = (0.075, 0.10, 0.20), np.random.default_rng(3), form(1000, 100)
    say(f"rows until the alarm, median / 90 %, limit {LIMIT}, {many} streams (alarms before the change)")
    say("before, rows   " + "".join(f"{f'then {after:.3g}':>20}" for after in shifts))
    for before, history in HISTORIES:
        cells = []
        for after in shifts:
            found = []
            for _ in range(many):
                evidence = Evidence(LIMIT)
                early = alarmed(evidence.update(drawn(rng, history, before)))
                look = lambda loss, update=evidence.update: np.flatnonzero(update(loss) >= ALARM)  # noqa: E731
                found.append(np.nan if early else wait(look, rng, after))
            middle, late = np.nanquantile(found, [0.5, 0.9])
            cells.append(f"{middle:.0f} / {late:.0f} ({np.isnan(found).sum()})")
        say(f"{f'{before:.2f}, {history}' if history else '-, 0':<15}" + "".join(f"{each:>20}" for each in cells))


def detector(form: Form) -> None:
    """The change detector: rows until its signal, whatever it signalled before."""
    rng, many, run = np.random.default_rng(3), form(1000, 100), 7300
    say(f"change detector, run length {run}: rows until the signal, median / 90 %, {many} streams")
    for before, history in HISTORIES:
        found = []
        for _ in range(many):
            one = Detector(LIMIT, run)
            one.update(drawn(rng, history, before))
            found.append(wait(lambda loss, update=one.update: update(loss)[1], rng, 0.10))
        middle, late = np.quantile(found, [0.5, 0.9])
        say(f"{f'{before:.2f}, {history}' if history else '-, 0':<15} {middle:.0f} / {late:.0f}")


def late(form: Form) -> None:
    """Late labels: in the order of labelling where the delay tells nothing, else under maturity."""
    rng, many = np.random.default_rng(3), form(2000, 200)
    for a_day in (10, 30):
        day = np.repeat(np.arange(365), a_day).astype(float)
        for mean in (7.0, 30.0, 90.0):
            alarms = 0
            for _ in range(many):
                wrong, known = drawn(rng, len(day)), day + rng.exponential(mean, len(day))
                order = np.argsort(known, kind="stable")
                alarms += alarmed(Evidence(LIMIT).update(wrong[order][known[order] <= 365]))
            share = percent(alarms, many)
            say(f"delay of {mean:g} days in the mean, {a_day} rows a day, order of labels: ever {share}")
    for early, age in ((5.0, 30.0), (2.0, 60.0)):
        for risk in (0.02, 0.04, 0.05):
            for a_day in (10, 30):
                day, found = np.repeat(np.arange(365), a_day).astype(float), np.zeros(2)
                for _ in range(many):
                    wrong = drawn(rng, len(day), risk)
                    known = day + np.where(wrong, early, age)
                    order = np.argsort(known, kind="stable")
                    by_label = Evidence(LIMIT).update(wrong[order][known[order] <= 365])
                    found += alarmed(by_label), alarmed(Evidence(LIMIT).update(wrong[day <= 365 - age]))
                shares = f"order of labels {percent(found[0], many)}, maturity {percent(found[1], many)}"
                said = f"errors after {early:g} days, successes after {age:g}, risk {risk}, {a_day} rows a day"
                say(f"{said}: {shares}")


def ever(path_of: Callable[[], FloatArray], many: int, step: int = 1) -> str:
    """Return the share of streams with an alarm at any look, with 1.96 Monte Carlo errors."""
    return percent(sum(alarmed(Evidence(LIMIT).update(path_of())[step - 1 :: step]) for _ in range(many)), many)


def years(form: Form) -> None:
    """The risk is exactly the limit, and somebody looks every evening of a year, or after every row."""
    rng, many = np.random.default_rng(3), form(2000, 200)
    for rows in (10, 30):
        for step, looks in ((rows, "every evening"), (1, "after every row")):
            share = ever(lambda n=365 * rows: drawn(rng, n), many, step)  # type: ignore[misc]
            say(f"risk at the limit, {rows} rows a day, a look {looks} of a year: ever alarmed {share}")
    share = ever(lambda: rng.beta(0.1, 1.9, 3650), many)
    say(f"losses between 0 and 1 with mean {LIMIT}, 3,650 rows: ever alarmed {share}")


def swings(form: Form) -> None:
    """A year of 30 rows a day whose risk is the limit on average only: above it for a part of each period."""
    rng, many, row = np.random.default_rng(3), form(500, 50), np.arange(365 * 30)
    for period, name in ((30, "every day"), (210, "every week"), (900, "every month"), (5475, "every half year")):
        for low, high in ((0.04, 0.06), (0.02, 0.08)):
            risk = np.where(row % period < period // 2, low, high)
            share = ever(lambda risk=risk: drawn(rng, len(risk), risk), many)  # type: ignore[misc]
            first = sum(alarmed(Evidence(LIMIT, 1.0).update(drawn(rng, len(risk), risk))) for _ in range(many))
            say(f"risk {low} then {high} {name}: alarmed {share}; with since_first {percent(first, many)}")


def windowed(risk: FloatArray, window: int, rng: np.random.Generator) -> FloatArray:
    """Return the day after which windows of so many days alarm in each stream, inf for none; 30 rows a day.

    ``risk``: of each stream and day. The evidence is that of ``Evidence``, of all streams at once.
    """
    bets, cash, alarm = Bets(LIMIT), 1.0, np.full(len(risk), np.inf)
    right, wrong = (np.log1p(bets.stakes * (loss - LIMIT))[:, None] for loss in (0.0, 1.0))
    parts = np.zeros((len(bets.stakes), len(risk)))
    for day in range(risk.shape[1]):
        if day % window == 0:
            before, cash = cash, (1.0 - FIRST) * (1.0 + (30 * day + 1) / SCALE) ** -POWER
            parts += before - cash
        errors = rng.binomial(30, risk[:, day])
        parts *= np.exp(errors * wrong + (30 - errors) * right)
        if (day + 1) % window == 0:
            alarm = np.where(np.isinf(alarm) & (parts.mean(axis=0) + cash >= 1.0 / DELTA), day + 1.0, alarm)
    return alarm


def windows(form: Form) -> None:
    """The mean risk in windows, where the risk swings around the limit; and what a window costs."""
    rng, many, day = np.random.default_rng(3), form(4000, 400), np.arange(364)
    for low, high in ((0.04, 0.06), (0.02, 0.08)):
        for turn in (7, 30, 91):
            place = (day + rng.integers(0, 2 * turn, (many, 1))) // turn
            risk = np.where(place % 2 == 0, low, high)
            for window in (1, 2 * turn, 4 * turn):
                found = percent(np.isfinite(windowed(risk, window, rng)).sum(), many)
                say(f"windows of {window} days, {low:g} and {high:g} by turns of {turn}: violated {found}")
    rises = np.tile(np.where(np.arange(400) < 100, 0.02, 0.10), (many, 1))
    for window in (1, 7, 30, 91):
        waited = windowed(rises, window, rng) - 100.0
        say(f"windows of {window} days: from 2 to 10 %, days to the alarm {np.quantile(waited, [0.5, 0.9])}")


def certified() -> Policy:
    """Return a policy that promises 5 %."""
    rng = np.random.default_rng(0)
    score = rng.random(4000)
    wrong = rng.random(4000) < 0.1 * (1 - score)
    return abstain.choose_threshold(wrong, score, risk=LIMIT, delta=DELTA).policy(score="msp")


def kills(form: Form) -> None:
    """A writer of the state is killed again and again."""
    many = form(50, 50)
    with tempfile.TemporaryDirectory() as folder:
        file, said, lost, weeks, policy = Path(folder) / "state.json", Path(folder) / "said", 0, 0, certified()
        Monitor(policy).save(file)
        for kill in range(many):
            child = os.fork()
            if not child:
                mine, watch = np.random.default_rng(kill), load_monitor(file, policy)
                while True:
                    watch.update(mine.random(60) < 0.02, mine.random(60))
                    watch.save(file)
                    said.write_text(str(watch.calls))
            time.sleep(0.02 + 0.2 * np.random.default_rng([1, kill]).random())
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            written = int(said.read_text() or 0) if said.exists() else 0
            weeks = load_monitor(file, policy).calls
            lost += weeks < written
        say(f"killed {many} times while it wrote, {weeks} weeks in all: {lost} that were written are lost")


def speed(form: Form) -> None:
    """A million rows, and one more row."""
    rng, watch = np.random.default_rng(3), Monitor(certified())
    score, loss = rng.random(10**6), rng.random(10**6) < 0.02
    start = time.perf_counter()
    watch.update(loss, score)
    say(f"1,000,000 rows with coverage and score: {time.perf_counter() - start:.2f} s")
    loss, score = rng.random(1000) < 0.02, rng.random(1000)
    start, used = time.perf_counter(), time.process_time()
    for k in range(1000):
        watch.update(loss[k : k + 1], score[k : k + 1])
    wall, used = time.perf_counter() - start, time.process_time() - used
    say(f"one more row: {used:.3f} ms of the processor, {wall:.3f} ms on the clock")


def ties(form: Form) -> None:
    """Rows of equal time: alarms where labels came errors first, delays, and false signals of the detector."""
    rng, many, policy = np.random.default_rng(3), form(400, 40), certified()
    for width in (1, 7):
        alarms = 0
        for _ in range(many):
            day = np.repeat(np.arange(120.0), 30)
            wrong = drawn(rng, 3600)
            known = np.argsort(day + np.where(wrong, rng.integers(0, 6, 3600), rng.integers(25, 30, 3600)))
            when, score = day[known] // width * width, np.linspace(0.99, 1.0, 3600)
            seen = monitor(policy, wrong[known], score, time=when, maturity=30.0, as_of=160.0, accepted_only=True)
            alarms += bool(seen.violated)
        say(f"labels errors first, times of {width} days: ever {percent(alarms, many)}")
    for size in (1, 30, 210):
        for history in (0, -(-2000 // size) * size):
            begins, found = np.arange(history + 5040) % size == 0, []
            for _ in range(many):
                risk = np.where(np.arange(len(begins)) < history, 0.02, 0.10)
                path = Evidence(LIMIT).update(drawn(rng, len(begins), risk), begins)
                found.append(int(np.flatnonzero((path >= ALARM) & ends(begins))[0]) + 1 - history)
            middle, late = np.quantile(found, [0.5, 0.9])
            say(f"times of {size} rows, after {history} of 2 %: {middle:.0f} / {late:.0f} rows until the alarm")
        begins = np.arange(30_000 // size * size) % size == 0
        signals = sum(len(Detector(LIMIT, 1000.0).update(drawn(rng, len(begins)), begins)[1]) for _ in range(many))
        say(f"times of {size} rows: one false signal in {many * len(begins) / max(1, signals):.0f} rows")


RETURNING_LIMIT, WEEKS, NEW, AGAIN = 0.1, 52, 15, 0.15
KINDS = {
    "alike": "all patients alike",
    "hard": "30 % of them six times the risk",
    "less": "these accepted less often (30 against 90 % of rows)",
    "more": "these accepted more often (95 against 30 %)",
    "first": "first visits twice the risk of later ones",
}


def patient(kind: str, rng: np.random.Generator) -> tuple[float, float]:
    """Return a patient's risk, up to a factor, and chance that a row is accepted."""
    hard = rng.random() < 0.3
    accepted = {"less": (0.9, 0.3), "more": (0.3, 0.95)}.get(kind, (0.8, 0.8))
    return (0.1 if kind == "alike" else 0.24 if hard else 0.04), accepted[hard]


def at_visit(kind: str, risk: float, visit: int) -> float:
    """Return the risk at a visit."""
    return risk * (1.0 if kind != "first" else 1.6 if visit == 0 else 0.8)


def factor(kind: str, whole: bool) -> float:
    """Return what brings the mean accepted loss of patients to the limit: of first calls, or of all their rows."""
    rng, found = np.random.default_rng(1), []
    for _ in range(20_000):
        risk, accepted = patient(kind, rng)
        each = [np.full(int((rng.random(rng.integers(1, 4)) < accepted).sum()), at_visit(kind, risk, visit))
                for visit in range(1 + rng.binomial(WEEKS // 2, AGAIN) if whole else 1)]  # fmt: skip
        rows = np.concatenate(each)
        if rows.size:
            found.append(rows.mean())
    return RETURNING_LIMIT / float(np.mean(found))


def year(kind: str, scale: float, policy: Any, seed: int) -> tuple[bool, int, int]:
    """Return whether the promise was ever called broken, and how many rows were left out of how many."""
    rng, least = np.random.default_rng([seed, 7]), min(policy.thresholds.values())
    weeks: list[list[tuple[int, float, float]]] = [[] for _ in range(WEEKS)]
    for name in range(WEEKS * NEW):
        (risk, accepted), begun = patient(kind, rng), name // NEW
        again = [week for week in range(begun + 1, WEEKS) if rng.random() < AGAIN]
        for visit, week in enumerate([begun, *again]):
            weeks[week].append((name, scale * at_visit(kind, risk, visit), accepted))
    watch = Monitor(policy, returning="skip")
    for week in weeks:
        shown = [week[k] for k in rng.permutation(len(week)) for _ in range(rng.integers(1, 4))]
        names, risks, chances = (np.array(column) for column in zip(*shown, strict=True))
        sure, luck = rng.random(len(names)) < chances, rng.random(len(names))
        score = np.where(sure, least + (1.0 - least) * luck, 0.99 * least * luck)
        seen = watch.update(drawn(rng, len(names), risks), score, clusters=names)
    return bool(seen.violated), seen.returned, seen.n + seen.returned


def returning(form: Form) -> None:
    """New patients a week for a year, who come again in 15 % of the later weeks with one to three rows each time."""
    score, many = np.random.default_rng(0).random(3000), form(200, 20)
    options: Any = {"risk": RETURNING_LIMIT, "delta": DELTA, "clusters": np.arange(3000) // 3}
    policy = abstain.choose_threshold(np.zeros(3000), score, **options).policy(score="s")
    for kind, words in KINDS.items():
        for whole, where in ((False, "first calls"), (True, "all rows")):
            scale = factor(kind, whole)
            broken, left, total = np.sum([year(kind, scale, policy, seed) for seed in range(many)], axis=0)
            shares = f"ever called broken {percent(broken, many)}, left out {100 * left / total:.0f} % of rows"
            say(f"{words}; at the limit over {where}: {shares}")


def drift(form: Form) -> None:
    """Calibration and stream are one population."""
    rng, many = np.random.default_rng(3), form(1000, 100)

    def draw(n: int, power: float = 1.0) -> tuple[Any, Any]:
        score = rng.random(n) ** power
        return rng.random(n) < 0.1 * (1 - score), score

    for n, rows in ((1000, 5000), (4000, 5000)):
        told = []
        for _ in range(many):
            policy = abstain.choose_threshold(*draw(n), risk=0.05, delta=DELTA).policy(score="s")
            seen = [monitor(policy, *draw(rows, power)) for power in (1.0, 1.2)]
            told.append([float(bool(value)) for one in seen for value in (one.coverage_drifted, one.score_drifted)])
        same_c, same_s, moved_c, moved_s = np.mean(told, axis=0)
        false = f"false alarms of coverage {same_c:.3f}, score {same_s:.3f}"
        moved = f"scores moved by up to 0.07: coverage {moved_c:.3f}, score {moved_s:.3f} noticed"
        say(f"{n} calibration rows, {rows} new ones: {false}; {moved}")


if __name__ == "__main__":
    command(__doc__, delays, detector, years, late, swings, windows, kills, ties, speed, returning, drift)
