"""A whole monitor by hand: the numbers of each call, evidence and changes by sums over starts, drift by products."""

import numpy as np
import pytest
from scipy import stats

from abstain.inference import clopper_pearson
from abstain.monitoring import Detector, Evidence, Monitor, load_monitor
from abstain.monitoring._evidence import PIECE
from abstain.policy import Calibration, Guarantee, Objective, Policy

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # equal rows, and rows that depend on each other
AGAINST = np.array([1.15, 1.3, 1.6, 2.0, 3.0, 5.0])


def stakes(limit):
    """Return stakes that are best against larger means."""
    return (np.minimum(limit * AGAINST, 0.5 * (1.0 + limit)) - limit) / (limit * (1.0 - limit))


def evidence(values, limit, first=0.5):
    """Return the capital after each value: every start by itself, and the cash for those to come."""
    cash = np.r_[1.0, (1.0 - first) * (1.0 + np.arange(1, len(values) + 1) / 50.0) ** -0.25]
    factors = 1.0 + stakes(limit) * (np.asarray(values)[:, None] - limit)
    return [
        sum((cash[s] - cash[s + 1]) * factors[s : t + 1].prod(axis=0).mean() for s in range(t + 1)) + cash[t + 1]
        for t in range(len(values))
    ]


def changes(values, limit, run_length):
    """Return Shiryaev's and Roberts's statistic after each value, and where it signals."""
    path, signals, state = [], [], np.zeros(6)
    for at, value in enumerate(values):
        state = (state + 1.0 / 6.0) * (1.0 + stakes(limit) * (value - limit))
        path.append(state.sum())
        if state.sum() >= run_length:
            signals, state = [*signals, at], np.zeros(6)
    return path, signals


def drifting(inside, counts, n, error):
    """Return the evidence after each row, as a part of its alarm, that shares left what calibration had shown."""
    paths = []
    for share, count in zip(np.asarray(inside, dtype=float), counts, strict=True):
        low, high = clopper_pearson(count, n, 1.0 - error / (2.0 * len(counts)))
        for column, limit in ((share, high), (1.0 - share, 1.0 - low)):
            bets = [1.0 + stake * (column - limit) for stake in stakes(limit)] if limit < 1.0 else [0.0 * column] * 6
            paths += [np.cumprod(each) for each in bets]
    return np.mean(paths, axis=0) * error / 2.0


@pytest.mark.parametrize("limit", [0.001, 0.05, 0.6, 0.99])
def test_evidence_is_the_sum_over_starts(limit):
    """Every start by itself, with its weight and its products, adds up to the evidence; losses of 1 in between."""
    values = np.random.default_rng(11).choice([0.0, 0.3, 1.0], 120, p=[0.7, 0.2, 0.1])
    values[60:70] = 1.0
    np.testing.assert_allclose(Evidence(limit).update(values), np.log(evidence(values, limit)), rtol=1e-10, atol=1e-12)


def test_a_detector_of_a_long_stream_signals_where_the_sum_says():
    """More values than are played at once, and many signals among them."""
    values = (np.random.default_rng(4).random(3 * PIECE + 5) < 0.08) * 1.0
    path, signals = Detector(0.05, 2000.0).update(values)
    wanted, at = changes(values, 0.05, 2000.0)
    assert (signals, len(at) > 5, max(at) > PIECE) == (at, True, True)
    np.testing.assert_allclose(path, np.log(wanted), rtol=1e-9, atol=1e-9)


def policy(kind, calibration):
    """Return a policy that guarantees 10 % above 0.4, by group or not; losses up to 2."""
    promise = Guarantee(risk=0.2, delta=0.1, max_loss=2.0, statement="risk at most 0.2")
    limits = {"a": 0.4, "b": 0.6, "closed": np.inf} if kind == "groups" else {"": 0.4}
    return Policy("s", None, None, "g" if kind == "groups" else None, limits, Objective(), promise, calibration)


@pytest.mark.parametrize("kind", ["rows", "groups", "clusters", "rows of clusters", "since_first", "graded"])
def test_each_call_is_a_line_of_numbers(kind):
    """Three calls of which the second one is bad: shares, risks with intervals, evidence, changes, violations."""
    rng, clustered = np.random.default_rng(4), "clusters" in kind
    largest = 4 if kind == "rows of clusters" else None
    known = Calibration(n=50, n_clusters=20 if clustered else None, max_cluster=largest, n_accepted=30)
    if kind == "groups":
        known = Calibration(n=50, groups=dict.fromkeys(("a", "b", "closed"), Calibration(n=50, n_accepted=30)))
    asked = policy(kind, known)
    watch = Monitor(asked, run_length=50.0, since_first=kind == "since_first")
    names = ["a", "b"] if kind == "groups" else [""]
    values = {name: [] for name in names}
    answered, violated, broke, signalled = 0, {}, {}, []
    for call, risk in enumerate((0.05, 0.9, 0.02), 1):
        score, unit = np.round(rng.random(60), 2), np.random.default_rng(call).permutation(60) // 3
        site = rng.choice(["a", "b", "closed"], 60) if kind == "groups" else np.full(60, "")
        loss = np.where(rng.random(60) < risk, rng.uniform(0.1, 2.0, 60) if kind == "graded" else 2.0, 0.0)
        if kind != "graded":
            loss = np.minimum(loss, 1.0) if call == 1 else loss
        if clustered:
            loss = loss[unit] * rng.choice([0.5, 1.0], 60)
        given = {"groups": site} if kind == "groups" else {"clusters": unit + 100 * call} if clustered else {}
        seen = watch.update(loss, score, **given)
        limit = np.array([asked.thresholds.get(str(each), np.inf) for each in site])
        accepted = (score >= limit) & (limit < np.inf)
        found = seen.periods[-1]
        count = np.cumsum(accepted)
        strongest, change, number = 0.0, 0.0, 0
        for name in names:
            mine = accepted & (site == name)
            if clustered:
                begun = sorted(range(20), key=unit.tolist().index)  # in the order of their first rows
                groups = [np.flatnonzero(mine & (unit == each)) for each in begun]
                each = [(loss[rows].mean(), rows[-1], len(rows)) for rows in groups if len(rows)]
                new = [0.2 + (mean - 0.2) * size / largest if largest else mean for mean, _, size in each]
                last = [row for _, row, _ in each]
            else:
                new, last = loss[mine].tolist(), np.flatnonzero(mine).tolist()
            old, first = len(values[name]), 1.0 if kind == "since_first" else 0.5
            values[name] += [value / 2.0 for value in new]
            path = evidence(values[name], 0.1, first)
            statistic, signals = changes(values[name], 0.1, 50.0)
            strongest, change = max(strongest, *path[old:]), max(change, *statistic[old:])
            fresh = [answered + int(count[last[at - old]]) for at in signals if at >= old]
            number, signalled = number + len(fresh), signalled + fresh
            over = [at for at in range(old, len(path)) if path[at] >= len(names) / 0.1]
            if over and name not in broke:
                broke[name] = answered + int(count[last[over[0] - old]])
                violated[name] = str(call)
        assert (found.period, found.n, found.n_accepted) == (str(call), 60, int(accepted.sum()))
        shown = np.array(new) if clustered and not largest else loss[accepted]
        assert found.coverage == pytest.approx(accepted.mean(), rel=1e-12)
        assert found.risk == pytest.approx(shown.mean(), rel=1e-12)
        assert found.evidence == pytest.approx(strongest / len(names), rel=1e-9)
        assert found.change == pytest.approx(change / 50.0, rel=1e-9)
        assert found.signals == number
        binary = not largest and bool(np.isin(shown, (0.0, 1.0)).all())
        assert found.errors == (int(shown.sum()) if binary and len(shown) == accepted.sum() else None)
        if binary:
            wanted = clopper_pearson(int(shown.sum()), len(shown), 0.95)
        else:
            square = float(np.mean((shown - shown.mean()) ** 2))
            if largest:  # rows count, but depend on each other
                off = np.bincount(unit[accepted], loss[accepted] - shown.mean())
                square = float(np.sum(off**2)) / len(shown)
            reach = stats.t.ppf(0.975, len(shown) - 1) * np.sqrt(square / (len(shown) - 1))
            wanted = (max(0.0, shown.mean() - reach), shown.mean() + reach) if square > 0.0 else (np.nan, np.nan)
        assert (found.risk_low, found.risk_high) == pytest.approx(wanted, rel=1e-9, nan_ok=True)
        answered += int(accepted.sum())
    found_at = {one.group: (one.row, one.period) for one in seen.violations}
    assert found_at == {name: (row, violated[name]) for name, row in broke.items()}
    assert broke
    assert seen.violated_at == min(broke.values())
    assert (seen.n, seen.n_accepted, seen.n_changes) == (180, answered, len(signalled))
    assert list(seen.changed_at) == sorted(signalled)
    assert signalled


@pytest.mark.parametrize("only", [False, True])
@pytest.mark.parametrize("rose", [True, False])
def test_drift_is_the_mean_of_products(rose, only):
    """Of both sides, all shares and stakes, row by row; the alarm, its row, its share, and what it is now."""
    bins = ((0.1, 450), (0.3, 350), (0.55, 225), (0.8, 100))
    known = Calibration(n=500, n_accepted=300, bins=bins)
    watch, rng = Monitor(policy("rows", known), accepted_only=only), np.random.default_rng(5)
    score = np.r_[rng.random(400), rng.random(900) ** 0.3 if rose else 0.5 * rng.random(900), rng.random(300)]
    accepted = score >= 0.4
    periods = []
    for part in np.split(score, [400, 1300]):
        seen = watch.update(np.zeros(len(part)), part)
        periods.append(seen.periods[-1])
    if only:
        score, n, edges = score[accepted], 300, bins[2:]
    else:
        n, edges = 500, bins
    paths = {"score": drifting([score >= edge for edge, _ in edges], [count for _, count in edges], n, 0.1)}
    if not only:
        paths["coverage"] = drifting([accepted], [300], 500, 0.1)
    cuts = np.cumsum(accepted)[[399, 1299]] if only else [400, 1300]
    for what, path in paths.items():
        for period, part in zip(periods, np.split(path, cuts), strict=True):
            assert getattr(period, f"{what}_drift") == pytest.approx(part.max(), rel=1e-9)
        (found,) = [each for each in seen.drifts if each.what == what]
        at = int(np.argmax(path >= 1.0))
        assert path.max() >= 1.0
        assert (found.row, found.rose) == (at + 1, rose)
        assert found.now == pytest.approx(path[-1], rel=1e-9)
        which = accepted if what == "coverage" else score >= found.edge
        assert found.share == pytest.approx(which[: at + 1].mean(), rel=1e-12)
        assert found.calibrated == (300 / 500 if what == "coverage" else dict(edges)[found.edge] / n)
    if only:
        assert np.isnan(periods[0].coverage_drift)
        assert seen.coverage_drifted is None


def test_a_fall_within_a_large_part_is_noticed_at_its_row():
    """After 3,256 rows near the lowest share that the calibration allows, of which the part holds the last 256."""
    watch, rng = Monitor(policy("rows", Calibration(n=500, n_accepted=300))), np.random.default_rng(3)
    accepted = rng.random(4280) < np.repeat([0.53, 0.05, 0.55], [3256, 256, 768])
    for part in np.split(np.where(accepted, 0.4, 0.0) + 0.3 * rng.random(4280), [3000]):
        seen = watch.update(np.zeros(len(part)), part)
    path = drifting([accepted], [300], 500, 0.1)
    assert [(each.what, each.row) for each in seen.drifts] == [("coverage", int(np.argmax(path >= 1.0)) + 1)]
    assert seen.periods[-1].coverage_drift == pytest.approx(path[3000:].max(), rel=1e-9)


def test_rows_are_tested_when_they_are_mature():
    """Day by day: what is due, what waits and comes again, what was tested before; periods of two days each."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        day = np.sort(rng.integers(0, 14, 80)) + (0.5 if seed % 2 else 0.0)
        score, loss = rng.random(80), (rng.random(80) < 0.1) * 1.0
        watch, tested, until = Monitor(policy("rows", Calibration(n=9)), maturity=3.0, period=2.0), [], -np.inf
        for now in (1.5, 4.5, 8.5, 9.5, 20.5):
            known = np.flatnonzero((day <= now) & ((day > until) | (rng.random(80) < 0.3)))
            rows = rng.permutation(known)
            if not len(rows):
                continue
            seen = watch.update(loss[rows], score[rows], time=day[rows], as_of=now)
            before, until = until, max(until, now - 3.0)
            due = [row for row in known.tolist() if before < day[row] <= until]
            tested += due
            assert (seen.n, seen.skipped) == (len(tested), sum(day[row] <= before for row in known))
            assert seen.waiting == sum(day[row] > until for row in known)
            assert seen.n_accepted == sum(score[row] >= 0.4 for row in tested)
        begun = np.floor(day[tested[0]])
        pairs = [int((day[row] - begun) // 2) for row in tested]
        wanted = [(f"{begun + 2 * key:g}", pairs.count(key)) for key in sorted(set(pairs))]
        assert [(one.period, one.n) for one in seen.periods] == wanted


@pytest.mark.parametrize("timed", [False, True])
def test_windows_are_judged_where_they_end(timed, tmp_path):
    """Bets begin with a window, and count after its last row: at once, or by times when a later one begins.

    A monitor that is saved and loaded between two calls goes on.
    """
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, calls = 160, np.sort(rng.integers(1, 160, 7))
        loss, score = (rng.random(n) < 0.25) * 1.0, rng.random(n) * 0.5 + 0.45
        day = np.sort(rng.integers(0, 60, n)) * 1.0
        calls = calls if seed % 2 else np.searchsorted(day, day[0] + [20.0, 40.0])  # as the windows
        watch, shown, seen = Monitor(policy("rows", Calibration(n=9)), window=20.0), [], []
        for part in np.split(np.arange(n), calls):
            if len(part):
                now = watch.update(loss[part], score[part], **({"time": day[part]} if timed else {}))
                shown.append(part)
                seen.append(now.evidence)
                watch.save(tmp_path / f"{seed}.json")
                watch = load_monitor(tmp_path / f"{seed}.json", watch.policy)
        kept = np.flatnonzero(score >= 0.4)
        values = loss[kept] / 2.0
        if timed:  # within one time the order is that of the losses
            values = values[np.lexsort((values, day[kept]))]
        windows = np.floor((day[kept] - day[0]) / 20.0) if timed else np.arange(len(kept)) // 20
        begins = np.flatnonzero(np.diff(windows, prepend=-1.0))
        spent = np.r_[0.0, begins + 1.0]
        cash = np.where(spent > 0, 0.5 * (1.0 + spent / 50.0) ** -0.25, 1.0)
        factors = 1.0 + stakes(0.1) * (values[:, None] - 0.1)
        path = []
        for at in range(len(values)):
            begun = begins[begins <= at]
            won = [factors[start : at + 1].prod(axis=0).mean() for start in begun]
            path.append(cash[len(begun)] + np.subtract(cash[: len(begun)], cash[1 : len(begun) + 1]) @ won)
        last = [*(begins[1:] - 1), *([len(values) - 1] if not timed and len(values) % 20 == 0 else [])]
        known = [kept[at + 1] if timed else kept[at] for at in last]  # by times once a later window has begun
        for evidence_now, part in zip(seen, shown, strict=True):
            told = [path[at] for at, row in zip(last, known, strict=True) if row <= part[-1]]
            assert evidence_now == pytest.approx(max([1.0, *told]), rel=1e-9)
        if not timed:
            for one, part in zip(now.periods, shown, strict=True):
                mine = [path[at] for at in last if kept[at] in part]
                assert one.evidence == pytest.approx(max(mine, default=0.0), rel=1e-9)


def test_of_many_signals_the_first_and_the_last_are_kept():
    """A hundred in all, and how many there were."""
    watch = Monitor(policy("rows", Calibration(n=9)), run_length=1.5)
    for _ in range(2):
        seen = watch.update(np.full(150, 2.0), np.full(150, 0.9), again=True)
    assert (seen.n_changes, seen.changed_at) == (300, (1, *range(202, 301)))
