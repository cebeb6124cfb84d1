"""Monitoring: rows until a late change is noticed, false alarms in years of daily looks, late labels, drift, time.

    python benchmarks/monitoring.py [PART ...] [--quick]

Parts: delays, detector, years, late, swings, windows, kills, ties, speed, returning, drift. Without parts all: a
quarter of an hour; with --quick a tenth of the repetitions. ``returning``: patients who come back, each judged by its
first call (``Monitor(returning="skip")``), with the risk at the limit for first calls or for all rows of a patient.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain._typing import FloatArray
from abstain.monitoring import Monitor, load_monitor, monitor
from abstain.monitoring._evidence import FIRST, POWER, SCALE, Bets, Detector, Evidence, ends
from abstain.policy import Policy

LIMIT, DELTA = 0.05, 0.05
#: Average run length of the change detector here.
RUN = 7300
ALARM = -np.log(DELTA)


def wait(rng: np.random.Generator, before: float, history: int, after: float) -> float:
    """Return the rows of the new risk until the alarm; NaN if there was one before."""
    evidence = Evidence(LIMIT)
    if (evidence.update((rng.random(history) < before).astype(float)) >= ALARM).any():
        return np.nan
    waited = 0
    while True:
        over = np.flatnonzero(evidence.update((rng.random(500) < after).astype(float)) >= ALARM)
        if over.size:
            return float(waited + over[0] + 1)
        waited += 500


def delays(rng: np.random.Generator, repetitions: int = 1000) -> None:
    """The risk was fine for a while, then it is above the limit."""
    shifts = (0.075, 0.10, 0.20)
    print(f"rows until the alarm, median / 90 %, limit {LIMIT}, {repetitions} streams (alarms before the change)")
    print("before, rows   " + "".join(f"{f'then {after:.3g}':>20}" for after in shifts))
    for before, history in ((0.0, 0), *((p, n) for p in (0.02, 0.04, 0.05) for n in (500, 2000, 10000))):
        cells = []
        for after in shifts:
            found = np.array([wait(rng, before, history, after) for _ in range(repetitions)])
            middle, late = np.nanquantile(found, [0.5, 0.9])
            cells.append(f"{middle:.0f} / {late:.0f} ({np.isnan(found).sum()})")
        print(f"{f'{before:.2f}, {history}' if history else '-, 0':<15}" + "".join(f"{each:>20}" for each in cells))


def signalled(rng: np.random.Generator, before: float, history: int, after: float) -> float:
    """Return the rows of the new risk until the detector signals, whatever it signalled before."""
    detector, waited = Detector(LIMIT, RUN), 0
    detector.update((rng.random(history) < before).astype(float))
    while True:
        signals = detector.update((rng.random(500) < after).astype(float))[1]
        if signals:
            return float(waited + signals[0] + 1)
        waited += 500


def detector(rng: np.random.Generator, repetitions: int = 1000) -> None:
    """The change detector: rows until its signal, and between false ones."""
    print(f"change detector, run length {RUN}: rows until the signal, median / 90 %, {repetitions} streams")
    for before, history in ((0.0, 0), *((p, n) for p in (0.02, 0.04, 0.05) for n in (500, 2000, 10000))):
        found = [signalled(rng, before, history, 0.10) for _ in range(repetitions)]
        middle, late = np.quantile(found, [0.5, 0.9])
        print(f"{f'{before:.2f}, {history}' if history else '-, 0':<15} {middle:.0f} / {late:.0f}")
    cut, first = 10 * RUN, []
    for _ in range(repetitions // 2):
        signals = Detector(LIMIT, RUN).update((rng.random(cut) < LIMIT).astype(float))[1]
        first.append(signals[0] + 1 if signals else cut)
    error = 1.96 * np.std(first) / np.sqrt(len(first))
    censored = 100 * np.mean(np.array(first) == cut)
    mean = f"{np.mean(first):.0f} +- {error:.0f} rows to the first signal"
    print(f"risk at the limit: {mean} ({censored:.1f} % cut at {cut})")


def stream(days: int, a_day: int, risk: float, kind: str, rng: np.random.Generator) -> tuple[FloatArray, ...]:
    """Return days of prediction, losses, and days on which labels come."""
    day = np.repeat(np.arange(days), a_day).astype(float)
    wrong = (rng.random(len(day)) < risk).astype(float)
    delay = rng.exponential(float(kind), len(day)) if kind[0].isdigit() else np.where(wrong, *EARLY[kind])
    return day, wrong, day + delay


#: Errors are known after so many days, and successes are.
EARLY = {"errors after 5, successes after 30 days": (5.0, 30.0), "errors after 2, successes after 60": (2.0, 60.0)}


def late(rng: np.random.Generator, repetitions: int = 2000) -> None:
    """Late labels: in the order of labelling where the delay tells nothing, else under maturity."""
    for a_day in (10, 30):
        for mean in ("7", "30", "90"):
            alarms = 0
            for _ in range(repetitions):
                _, wrong, known = stream(365, a_day, LIMIT, mean, rng)
                order = np.argsort(known, kind="stable")
                alarms += bool((Evidence(LIMIT).update(wrong[order][known[order] <= 365]) >= ALARM).any())
            share = percent(alarms, repetitions)
            print(f"delay of {mean} days in the mean, {a_day} rows a day, order of labels: ever {share}", flush=True)
    policy = certified()
    for kind, (_, age) in EARLY.items():
        for risk in (0.02, 0.04, 0.05):
            for a_day in (10, 30):
                found = np.zeros(2)
                for k in range(repetitions):
                    day, wrong, known = stream(365, a_day, risk, kind, rng)
                    order = np.argsort(known, kind="stable")
                    by_label = Evidence(LIMIT).update(wrong[order][known[order] <= 365])
                    by_age = Evidence(LIMIT).update(wrong[day <= 365 - age])
                    if k < 5:  # the same through the public function, which judges a day as one, a look every 30 days
                        begins = np.arange(len(by_age)) % a_day == 0
                        by_day = Evidence(LIMIT).update(wrong[day <= 365 - age], begins)[ends(begins)]
                        assert np.isclose(np.log(watched(policy, day, wrong, known, age)), max(0.0, by_day.max()))
                    found += bool((by_label >= ALARM).any()), bool((by_age >= ALARM).any())
                shares = f"order of labels {percent(found[0], repetitions)}, maturity {percent(found[1], repetitions)}"
                print(f"{kind}, risk {risk}, {a_day} rows a day: {shares}", flush=True)


def watched(policy: Policy, day: FloatArray, wrong: FloatArray, known: FloatArray, age: float) -> float:
    """Return the evidence of a year that is watched under maturity, where each month's file has the last months."""
    watch, score = Monitor(policy, maturity=age, accepted_only=True), np.linspace(0.99, 1.0, len(day))
    for today in [*range(30, 365, 30), 365]:
        new = (day <= today) & (day > today - age - 31)
        loss = np.where(known[new] <= today, wrong[new], np.nan)
        seen = watch.update(loss, score[new], time=day[new], as_of=float(today))
    return seen.evidence


def percent(k: float, n: int) -> str:
    """Return a share with 1.96 Monte Carlo errors."""
    return f"{100 * k / n:.1f} +- {196 * np.sqrt(max(k / n * (1 - k / n), 0.25 / n**2) / n):.1f} %"


def ever(path_of: Callable[[], FloatArray], repetitions: int, step: int = 1) -> str:
    """Return the share of streams with an alarm at any look, with 1.96 Monte Carlo errors."""
    share = np.mean(
        [bool((Evidence(LIMIT).update(path_of())[step - 1 :: step] >= ALARM).any()) for _ in range(repetitions)]
    )
    return f"{100 * share:.1f} +- {196 * np.sqrt(share * (1 - share) / repetitions):.1f} %"


def years(rng: np.random.Generator, repetitions: int = 2000) -> None:
    """The risk is exactly the limit, and somebody looks every evening of a year, or after every row."""
    for rows in (10, 30):
        for step, looks in ((rows, "every evening"), (1, "after every row")):
            share = ever(lambda n=365 * rows: (rng.random(n) < LIMIT).astype(float), repetitions, step)  # type: ignore[misc]
            print(f"risk at the limit, {rows} rows a day, a look {looks} of a year: ever alarmed {share}")
    share = ever(lambda: rng.beta(0.1, 1.9, 3650), repetitions)
    print(f"losses between 0 and 1 with mean {LIMIT}, 3,650 rows: ever alarmed {share}")


def swings(rng: np.random.Generator, repetitions: int = 500) -> None:
    """A year of 30 rows a day whose risk is the limit on average only: above it for a part of each period."""
    row = np.arange(365 * 30)
    for period, name in ((30, "every day"), (210, "every week"), (900, "every month"), (5475, "every half year")):
        for low, high in ((0.04, 0.06), (0.02, 0.08)):
            risk = np.where(row % period < period // 2, low, high)
            share = ever(lambda risk=risk: (rng.random(len(risk)) < risk).astype(float), repetitions)  # type: ignore[misc]
            first = np.mean([
                (Evidence(LIMIT, 1.0).update((rng.random(len(risk)) < risk).astype(float)) >= ALARM).any()
                for _ in range(repetitions)
            ])  # fmt: skip
            mean = percent(first * repetitions, repetitions)
            print(f"risk {low} then {high} {name}: alarmed {share}; with since_first {mean}")


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


def windows(rng: np.random.Generator, repetitions: int = 4000) -> None:
    """The mean risk in windows, where the risk swings around the limit; and what a window costs."""
    day = np.arange(364)
    for low, high in ((0.04, 0.06), (0.02, 0.08)):
        for turn in (7, 30, 91):
            place = (day + rng.integers(0, 2 * turn, (repetitions, 1))) // turn
            risk = np.where(place % 2 == 0, low, high)
            for window in (1, 2 * turn, 4 * turn):
                found = percent(np.isfinite(windowed(risk, window, rng)).sum(), repetitions)
                print(f"windows of {window} days, {low:g} and {high:g} by turns of {turn}: violated {found}")
    for window in (1, 7, 28):
        flat, turned = np.full(364, LIMIT), np.where(day % window < window / 2, 0.08, 0.02)
        for name, risk in (("always", flat), ("in the mean, its bad half first", turned))[: 1 + (window == 28)]:
            found = np.isfinite(windowed(np.tile(risk, (repetitions, 1)), window, rng)).sum()
            print(f"windows of {window} days at the limit {name}: violated {percent(found, repetitions)}")
    rises = np.tile(np.where(np.arange(400) < 100, 0.02, 0.10), (repetitions, 1))
    for window in (1, 7, 30, 91):
        waited = windowed(rises, window, rng) - 100.0
        print(f"windows of {window} days: from 2 to 10 %, days to the alarm {np.quantile(waited, [0.5, 0.9])}")


def certified() -> Policy:
    """Return a policy that promises 5 %."""
    rng = np.random.default_rng(0)
    score = rng.random(4000)
    wrong = rng.random(4000) < 0.1 * (1 - score)
    return abstain.choose_threshold(wrong, score, risk=LIMIT, delta=DELTA).policy(score="msp")


def kills(_: np.random.Generator, repetitions: int = 50) -> None:
    """A writer of the state is killed again and again."""
    with tempfile.TemporaryDirectory() as folder:
        file, said, lost, weeks, policy = Path(folder) / "state.json", Path(folder) / "said", 0, 0, certified()
        Monitor(policy).save(file)
        for kill in range(repetitions):
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
        print(f"killed {repetitions} times while it wrote, {weeks} weeks in all: {lost} that were written are lost")


def speed(rng: np.random.Generator, _: int = 0) -> None:
    """A million rows, and one more row."""
    policy, score, loss = certified(), rng.random(10**6), rng.random(10**6) < 0.02
    start = time.perf_counter()
    watch = Monitor(policy)
    watch.update(loss, score)
    print(f"1,000,000 rows with coverage and score: {time.perf_counter() - start:.2f} s")
    loss, score = rng.random(1000) < 0.02, rng.random(1000)
    start, used = time.perf_counter(), time.process_time()
    for k in range(1000):
        watch.update(loss[k : k + 1], score[k : k + 1])
    wall, used = time.perf_counter() - start, time.process_time() - used
    print(f"one more row: {used:.3f} ms of the processor, {wall:.3f} ms on the clock")


def ties(rng: np.random.Generator, repetitions: int = 400) -> None:
    """Rows of equal time: alarms where labels came errors first, delays, and false signals of the detector."""
    policy = certified()
    for width in (1, 7):
        alarms = 0
        for _ in range(repetitions):
            day = np.repeat(np.arange(120.0), 30)
            wrong = (rng.random(3600) < LIMIT) * 1.0
            known = np.argsort(day + np.where(wrong, rng.integers(0, 6, 3600), rng.integers(25, 30, 3600)))
            when, score = day[known] // width * width, np.linspace(0.99, 1.0, 3600)
            seen = monitor(policy, wrong[known], score, time=when, maturity=30.0, as_of=160.0, accepted_only=True)
            alarms += bool(seen.violated)
        print(f"labels errors first, times of {width} days: ever {percent(alarms, repetitions)}", flush=True)
    for size in (1, 30, 210):
        for history in (0, -(-2000 // size) * size):
            begins, found = np.arange(history + 5040) % size == 0, []
            for _ in range(repetitions):
                risk = np.where(np.arange(len(begins)) < history, 0.02, 0.10)
                path = Evidence(LIMIT).update((rng.random(len(begins)) < risk) * 1.0, begins)
                found.append(int(np.flatnonzero((path >= ALARM) & ends(begins))[0]) + 1 - history)
            middle, late = np.quantile(found, [0.5, 0.9])
            print(f"times of {size} rows, after {history} of 2 %: {middle:.0f} / {late:.0f} rows until the alarm")
        begins = np.arange(30_000 // size * size) % size == 0
        signals = sum(
            len(Detector(LIMIT, 1000.0).update((rng.random(len(begins)) < LIMIT) * 1.0, begins)[1])
            for _ in range(repetitions)
        )
        print(f"times of {size} rows: one false signal in {repetitions * len(begins) / max(1, signals):.0f} rows")


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
        seen = watch.update((rng.random(len(names)) < risks) * 1.0, score, clusters=names)
    return bool(seen.violated), seen.returned, seen.n + seen.returned


def returning(_: np.random.Generator, repetitions: int = 200) -> None:
    """New patients a week for a year, who come again in 15 % of the later weeks with one to three rows each time."""
    score = np.random.default_rng(0).random(3000)
    options: Any = {"risk": RETURNING_LIMIT, "delta": DELTA, "clusters": np.arange(3000) // 3}
    policy = abstain.choose_threshold(np.zeros(3000), score, **options).policy(score="s")
    for kind, words in KINDS.items():
        for whole in (False, True):
            scale = factor(kind, whole)
            years = [year(kind, scale, policy, seed) for seed in range(repetitions)]
            broken, left, total = np.sum(years, axis=0)
            where = "all rows" if whole else "first calls"
            print(f"{words}; at the limit over {where}: ever called broken {percent(broken, repetitions)}, "
                  f"left out {100 * left / total:.0f} % of rows", flush=True)  # fmt: skip


def drift(rng: np.random.Generator, repetitions: int = 1000) -> None:
    """Calibration and stream are one population, or the scores of the stream are u^1.2 instead of u."""

    def draw(n: int, power: float = 1.0) -> tuple[Any, Any]:
        score = rng.random(n) ** power
        return rng.random(n) < 0.1 * (1 - score), score

    for n, rows in ((1000, 5000), (4000, 5000)):
        told = []
        for _ in range(repetitions):
            policy = abstain.choose_threshold(*draw(n), risk=0.05, delta=DELTA).policy(score="s")
            seen = [monitor(policy, *draw(rows, power)) for power in (1.0, 1.2)]
            told.append([float(bool(value)) for one in seen for value in (one.coverage_drifted, one.score_drifted)])
        same_c, same_s, moved_c, moved_s = np.mean(told, axis=0)
        print(
            f"{n} calibration rows, {rows} new ones: false alarms of coverage {same_c:.3f}, score {same_s:.3f}; "
            f"scores moved by up to 0.07: coverage {moved_c:.3f}, score {moved_s:.3f} noticed"
        )


def main() -> None:
    warnings.simplefilter("ignore")
    parts: dict[str, tuple[Callable[..., None], int]] = {
        "delays": (delays, 1000), "detector": (detector, 1000), "years": (years, 2000), "late": (late, 2000),
        "swings": (swings, 500), "windows": (windows, 4000), "kills": (kills, 50), "ties": (ties, 400),
        "speed": (speed, 1),
        "returning": (returning, 200), "drift": (drift, 1000),
    }  # fmt: skip
    names = [name for name in sys.argv[1:] if name != "--quick"]
    for name in names or parts:
        part, many = parts[name]
        part(np.random.default_rng(3), max(1, many // 10) if "--quick" in sys.argv and name != "kills" else many)


if __name__ == "__main__":
    main()
