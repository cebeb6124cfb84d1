"""What is seen over calls and weeks: guarantees, groups, clusters, drift, frames, times, late labels, audits."""

import json
import pickle
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import abstain
from abstain.live import LiveCertificate, begin_live, load_live, same_options, update_live
from abstain.monitoring import Monitor, update_monitor
from tests.recorded import shown, tried
from tests.recorded.calls import calls, guaranteed, later
from tests.recorded.contents import chosen, easy, said, shortened, warned, whole
from tests.recorded.sources import folder


def _of(part, kept):
    """Return some rows of a part."""
    n = len(part["loss"])
    return {key: each[kept] for key, each in part.items() if len(each) == n}


def calls_without_times():
    """Return what is seen over calls, by risk, shift of scores, kind of guarantee, and what is tested."""
    policies = {"exact": guaranteed(), "bound": guaranteed(max_loss=1.5)}
    policies |= {"none": guaranteed(risk=None, delta=None, coverage=0.5)}
    policies |= {"cost": guaranteed(risk=None, delta=None, cost=(4.0, 0.5))}
    options = {"row": {}, "since first": {"since_first": True}, "window": {"window": 150}}
    options |= {"accepted": {"accepted_only": True, "run_length": 40.0, "delta": 0.2}}
    shifts = ((0.0, 0.0), (0.25, 0.0), (0.06, 0.5))
    for (name, policy), (kind, more), (worse, lower) in product(policies.items(), options.items(), shifts):
        usual = (name, kind) == ("exact", "row")
        if (name in ("none", "cost") and kind not in ("row", "accepted")) or not (worse or usual):
            continue
        how = [{"worse": worse * (k > 1), "lower": lower * (k > 1), "graded": name == "bound"} for k in range(4)]
        parts = [later(100 + k, n, **how[k]) for k, n in enumerate([1, 290, 400, 0])]
        if kind == "accepted":
            parts = [_of(part, part["confidence"] >= policy.thresholds[""]) for part in parts]
        yield calls(policy, parts, **more)


def calls_by_group():
    """Return what is seen of a guarantee about each group, some of which have none."""
    kinds = ({}, {"risk": 0.06}, {"risk": None, "delta": None, "coverage": 0.4})
    for kind, worse in zip(kinds, (0.3, 0.0, 0.3), strict=True):
        parts = [later(200 + k, n) for k, n in enumerate((60, 300, 500))]
        for part in parts[1:]:
            hit = (part["groups"] == "b") & (np.random.default_rng(3).random(len(part["loss"])) < worse)
            part["loss"] = np.where(hit, 1.0, part["loss"])
        parts[2]["groups"] = np.where(np.arange(500) % 50 == 0, "new", parts[2]["groups"])
        yield calls(guaranteed("groups", **kind), parts, "groups")


def calls_of_clusters():
    """Return what is seen of clusters that count once, of rows of clusters, and of clusters that come again."""
    for (most, worse), returning in product(((None, 0.3), (16, 0.0)), ("refuse", "skip")):
        policy = guaranteed("clusters", risk=0.13, delta=0.2, **({} if most is None else {"max_cluster": most}))
        parts, days = [later(300 + k, n, worse=worse * (k > 0)) for k, n in enumerate((80, 300, 120))], []
        for k, part in enumerate(parts):
            part["clusters"] = part["clusters"] + 1000 * k
        parts[2]["clusters"][:20] = parts[1]["clusters"][:20]
        yield calls(policy, parts, "clusters", returning=returning)
        for k, part in enumerate(parts):
            days.append({"time": 10.0 * k + np.sort(part["clusters"] % 10) / 2.0, "as_of": 10.0 * k + 9.0})
        yield calls(policy, parts, "clusters", times=days, maturity=3.0, returning=returning)


def drift_of_scores():
    """Return what drift is seen, and where first, over many rows."""
    base, changes = guaranteed(), ({}, {"weighted": True}, {"n_accepted": None})
    for change, lower, only in product(changes, (0.0, 0.2, -0.3), (False, True)):
        policy = replace(base, calibration=replace(base.calibration, **change))
        parts = [later(500 + k, n, lower=lower) for k, n in enumerate((700, 3000))]
        seen = tried(calls, policy, parts, accepted_only=only)
        yield seen if isinstance(seen, str) else seen[0][-1]


@shortened("periods")
def many_calls():
    """Return the periods of so many calls that older ones are joined, and rows that were sent before."""
    policy, part, first, fresh = guaranteed(), later(600, 1400), later(601, 400), later(602, 300)
    stream = Monitor(policy)
    for k in range(140):
        rows = slice(10 * k, 10 * k + 10)
        stream.update(part["loss"][rows], part["confidence"][rows], again=True)
    yield [whole(stream.result().periods[:70:9]), whole(shown(stream.result()), "result")]
    for share in (0.2, 0.5, 0.8, 1.0):
        again, kept = Monitor(policy), np.arange(300) < share * 300
        again.update(first["loss"], first["confidence"])
        mixed = {name: np.where(kept, first[name][:300], fresh[name]) for name in ("loss", "confidence")}
        yield [tried(again.update, **mixed, again=each) for each in (False, True)]
    for values, ordered in product((2, 3, 8), (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 1.0)):
        column = (np.random.default_rng(values).integers(0, values, 150) + 0.5) / values
        column = np.where(np.arange(150) < ordered * 150, np.sort(column), column)
        yield type(tried(Monitor(policy).update, np.zeros(150), column)).__name__
    order = np.argsort(first["confidence"])
    runs = np.argsort(first["loss"] + 0.0 * first["confidence"], kind="stable")
    for rows in (order, order[::-1], runs, np.sort(order // 2 * 2)):
        yield warned(Monitor(policy).update, first["loss"][rows], first["confidence"][rows])[1]
    for n, steps in ((12, 0), (13, 0), (14, 9), (20, 6), (40, 2)):  # from about a billion orders on
        line = 0.6 + 0.39 * np.arange(n) / n
        line = np.round(steps * line) / steps if steps else line
        for column in (line, line[::-1], -line):
            yield warned(Monitor(policy).update, np.arange(n) % 3 == 0, column)[1]
    for n in (1, 2, 30):
        seen = Monitor(guaranteed(max_loss=1.5)).update(np.full(n, 0.5), np.linspace(0.9, 0.95, n))
        yield [seen.periods[0].risk_low, seen.periods[0].risk_high]


def rows_of_a_frame():
    """Return what is seen of the rows of a lazy frame, and of a state on disk."""
    part, day = later(700, 900, worse=0.1), np.arange(900) // 9 / 3.0
    matrix = {f"p{k}": part["probabilities"][:, k] for k in range(4)}
    frame = pl.DataFrame({"l": part["loss"], "s": part["confidence"], "g": part["groups"], "day": day, **matrix}).lazy()
    names, ages = {"frame": frame, "loss": "l", "time": "day"}, {"maturity": 10.0, "as_of": 33.0}
    for policy, more in product((guaranteed(), guaranteed("groups")), ({}, ages, {"window": 20.0})):
        result = abstain.monitor(policy, **names, **more)
        yield [whole(result, "periods", "verdict"), said(result)]
    given, days = {name: part[name] for name in ("loss", "confidence")}, {"time": np.arange(900) / 9.0}
    for more in ({}, days, days | {"accepted_only": True}):
        yield whole(tried(abstain.monitor, guaranteed(), **given, **more), "periods", "verdict")
    made = abstain.choose_threshold(**chosen(easy(21, 400)), coverage=0.5)
    for score, temperature in (("msp", None), ("softmax_margin", None), ("neg_entropy", None), ("msp", 2.0)):
        policy = made.policy(score=score, probabilities=list(matrix), temperature=temperature)
        yield whole(tried(abstain.monitor, policy, **names), "periods", "verdict")
    yield tried(abstain.monitor, guaranteed(), **names, as_of=50.0, maturity=3.0)
    held = pickle.loads(pickle.dumps(Monitor(guaranteed("clusters", risk=0.13, delta=0.2), returning="skip")))
    for k in range(3):
        rows = slice(0, 300 - 100 * (k == 1))
        seen = held.update(part["loss"][rows], part["confidence"][rows], clusters=part["clusters"][rows] + 7 * (k == 2))
        yield [whole(seen, "verdict"), said(seen)]
    with folder():
        for k in range(3):
            rows = slice(300 * k, 300 * k + 300)
            seen = update_monitor("state.json", guaranteed(), part["loss"][rows], part["confidence"][rows])
            yield whole(seen, "verdict")


START = np.datetime64("2026-01-05")


def _parts():
    """Return rows of four calls, with days that tie."""
    parts = [later(400 + k, n, worse=0.25 * (k > 1)) for k, n in enumerate((60, 200, 180, 90))]
    days = [np.floor(30.0 * k + 30.0 * np.linspace(0.0, 0.99, len(part["loss"]))) for k, part in enumerate(parts)]
    return parts, days


def periods_and_windows():
    """Return what is seen of numbers and dates as times, by period and window."""
    (parts, days), policy = _parts(), guaranteed()
    when, dates = [{"time": each} for each in days], [{"time": START + each.astype(int)} for each in days]
    for times, more in (
        (when, {}),
        (when, {"window": 14.0}),
        (dates, {"period": 10.0}),
        (dates, {"since_first": True}),
    ):
        result = calls(policy, parts, times=times, **more)
        short = [[one["period"], one["n"], one["evidence"]] for one in result[1]["result"]["periods"]]
        yield result if times is when else short
    kept = [part["confidence"] >= policy.thresholds[""] for part in parts]
    answers = [_of(*each) for each in zip(parts, kept, strict=True)]
    times = [{"time": each[some]} for each, some in zip(days, kept, strict=True)]
    yield calls(policy, answers, times=times, accepted_only=True)
    yield calls(guaranteed("groups"), parts, "groups", times=when, window=14.0)


@shortened()
def times_of_many_kinds():
    """Return the periods of times that are written in other ways."""
    parts, days = (each[:2] for each in _parts())
    dates = [START + each.astype(int) for each in days]
    text = [[str(day) for day in each] for each in dates]
    kinds = {"hours": [each * 24.0 for each in days], "text": text, "dates": dates}
    kinds["whole"] = [np.char.replace(each, "-", "").astype(float) for each in text]
    seconds = [(each - np.datetime64(0, "D")).astype(float) * 86400.0 for each in dates]
    for k, unit in enumerate(("seconds", "milliseconds", "microseconds", "nanoseconds")):
        kinds[unit] = [1000.0**k * each for each in seconds]
    kinds["zones"] = [[f"{day}T23:30:00-03:00" for day in each] for each in text]
    kinds["utc"] = [[f"{day}T23:30:00Z" for day in each] for each in text]
    kinds["regional"] = [[f"{day[8:]}.{day[5:7]}.{day[:4]}" for day in each] for each in text]
    kinds["american"] = [[f"{day[5:7]}/{day[8:]}/{day[:4]}" for day in each] for each in text]
    kinds["objects"] = [each.astype(object) for each in dates]
    kinds["digits"] = [[f"{day:.0f}" for day in each] for each in days]
    policy = guaranteed()
    for name, times in kinds.items():
        stream, seen = Monitor(policy), []
        for part, time in zip(parts, times, strict=True):
            result = tried(stream.update, part["loss"], part["confidence"], time=time)
            seen.append(result if isinstance(result, str) else result.time_unit)
        yield name, [seen, [[one.period, one.n] for one in stream.result().periods]]
    written = ["13/02/2026", "03/02/2026", "12/13/2026", "13/12/2026", "31/12/2026", "32/02/2026", "02.13.2026", "soon"]
    written += [None, "", float("nan"), 0.0, 631152000.0, 631151999.0, 4102444800.0, 19900101.0, 19900100.0, 21001231.0]
    for time in (*written, 20200101.5, 21001232.0):
        result = tried(Monitor(policy).update, [0.0, 1.0], [0.9, 0.8], time=[time, time])
        yield str(time), result if isinstance(result, str) else [result.time_unit, result.periods[0].period]


@shortened("verdict")
def labels_that_come_late():
    """Return what is seen at an age of rows, where some have no label, or come again with all others."""
    parts, days = _parts()
    bare = [part | {"loss": np.where(np.arange(len(part["loss"])) % 9 == 0, np.nan, part["loss"])} for part in parts]
    sofar = [{key: np.concatenate([part[key] for part in bare[: k + 1]]) for key in ("loss", "confidence")}
             for k in range(4)]  # fmt: skip
    policy = guaranteed()
    for dates, how, maturity in product((False, True), ("refuse", "error"), (12.0, 30.0)):
        when = [START + each.astype(int) if dates else each for each in days]
        ends = [each[-1] + (np.timedelta64(5, "D") if dates else 5.0) for each in when]
        options = {"maturity": np.timedelta64(int(maturity), "D") if dates else maturity, "unlabelled": how}
        options |= {"max_loss": 1.0}
        given = [{"time": column, "as_of": end} for column, end in zip(when, ends, strict=True)]
        one = calls(policy, bare, times=given, **options)
        given = [{"time": np.concatenate(when[: k + 1]), "as_of": ends[k]} for k in range(4)]
        again = calls(policy, sofar, times=given, **options)
        yield f"{dates} {how} {maturity}", [one[:1], again] if not dates else [one[0][-1], again[1:]]
    stream = Monitor(policy, maturity=10.0)
    for k, (as_of, some) in enumerate(((40.0, 200), (39.0, 260), (60.0, 30), (None, 260), (80.0, 0))):
        column = {"loss": np.concatenate([part["loss"] for part in parts]), "confidence": np.arange(530) / 530.0}
        times = np.concatenate(days)[:some]
        found = tried(stream.update, column["loss"][:some], column["confidence"][:some], time=times, as_of=as_of)
        yield f"turn {k}", found


GRID = [0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
LEFT = ("run_length", "delta", "verdict", "graded")


def _week(seed, n=1500, *, worse=0.0, graded=False):
    p, rng = easy(seed, n, graded=graded, share=0.4), np.random.default_rng(seed + 5)
    return p | {"loss": np.where(rng.random(n) < worse, 1.0, p["loss"]), "u": rng.random(n)}


def _weeks(live, weeks, *columns, audits=1.0, times=None):
    """Return what is certified after each week; answers are labelled by chance; saved and restored in between."""
    seen, group = [], "g" if live.grouped else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "live.json"
        for k, week in enumerate(weeks):
            given = {name: week[name] for name in columns}
            if audits < 1.0 and live.certified and any(live.certified.values()):
                lowest = {name: one.threshold for name, one in live.result().groups.items()}
                at = np.array([lowest[each] for each in week["groups"]]) if live.grouped else lowest[""]
                chance = np.where(week["confidence"] >= at, audits, 1.0)
                given |= {"label_probability": chance, "drawn": week["u"] < chance}
            given |= {} if times is None else times[k]
            found, caught = warned(live.update, week["confidence"], week["loss"], **given)
            seen.append([whole(found, "history", *LEFT), caught])
            if k % 2:
                live.save(path)
                live = load_live(path)
            policy = live.policy(score="s", group=group)
            known = policy.calibration
            seen.append([policy.thresholds, policy.guarantee is not None, known.n, known.coverage])
        live.save(path)
        sent = json.loads(path.read_text())["state"]["sent"]
    return whole([seen, sent, shown(live.result()), {name: list(each)[-1:] for name, each in live.certified.items()}])


def weeks_that_are_labelled():
    """Return certificates over weeks by limit, loss, weight, audit, share of unseen rows, and change."""
    kinds = [{}, {"max_loss": 1.5}, {"ood_share": 0.01}, {"max_weight": 14.0}, {"audit": 0.2}]
    kinds += [{"run_length": 50.0, "audit": 0.5}]
    for options, (risk, worse) in product(kinds, ((0.05, 0.0), (0.1, 0.25))):
        live = LiveCertificate(risk=risk, thresholds=GRID, **options)
        columns = ("sample_weight",) if "max_weight" in options else ()
        weeks = [_week(50 + k, worse=worse * (k > 2), graded="max_loss" in options) for k in range(5)]
        yield _weeks(live, weeks, *columns, audits=options.get("audit", 1.0))
    yield _weeks(LiveCertificate(risk=0.05, thresholds=[0.7, 0.01], delta=0.3), [_week(55, 600), _week(56, 600)])
    scores = LiveCertificate(risk=0.1, delta=0.2, scores=_week(9)["confidence"])
    yield [whole(scores.thresholds), _weeks(scores, [_week(60, 900), _week(61, 0), _week(62, 400)])]


def weeks_of_groups():
    """Return certificates of groups that share delta, have their own, and join later."""
    for each, (audit, worse) in product((False, True), ((1.0, 0.3), (0.3, 0.0))):
        given = {"groups": ["a", "b"], "each": each, "audit": audit, "reserve": 0.3}
        live, weeks = LiveCertificate(risk=0.1, thresholds=GRID, **given), []
        for k in range(4):
            weeks.append(week := _week(70 + k, worse=worse * (k > 1)))
            week["groups"] = np.where(week["groups"] == "c", "a" if k < 2 else "b", week["groups"])
        first = _weeks(live, weeks, "groups", audits=audit)
        live.add_group("c")
        then = _weeks(live, [_week(80)], "groups")
        live.add_group("d")
        yield [first, then, tried(live.add_group, "c"), live.reserved, whole(live.options())]


@shortened()
def weeks_of_clusters_and_late_labels():
    """Return certificates of clusters, of labels that come late, and after a restart."""
    for largest, late, worse in product((None, 16), (False, True), (0.0, 0.3)):
        options = {"max_cluster": largest, "maturity": 5.0 if late else None, "restarts": 1, "audit": 0.5}
        live = LiveCertificate(risk=0.12, thresholds=GRID, delta=0.1, **options)
        weeks, times = [_week(90 + k, worse=worse * (k > 1)) for k in range(4)], None
        for k, week in enumerate(weeks):
            week["clusters"] = week["clusters"] + 10_000 * k
        if late:
            days = [7.0 * k + 7.0 * week["clusters"] % 7 for k, week in enumerate(weeks)]
            times = [{"time": 20.0 * k + each % 6, "as_of": 20.0 * k + 12.0} for k, each in enumerate(days)]
        result = _weeks(live, weeks, *() if largest is None else ("clusters",), times=times, audits=0.5)
        live.restart()
        yield f"{largest} {late} {worse}", [result, whole(live.result()), live.certified, tried(live.restart)]
    live, week = LiveCertificate(risk=0.1, thresholds=GRID, maturity=4.0), _week(99, 300)
    days = np.arange(300) / 30.0
    for some in (150, 300):
        part = slice(0 if some == 150 else 60, some)
        seen = tried(live.update, week["confidence"][part], week["loss"][part], time=days[part])
        yield f"waiting {some}", seen if isinstance(seen, str) else [whole(seen), said(seen)]


def many_weeks():
    """Return the lines of so many calls that older ones are joined, a state on disk, and rows that come again."""
    live, week = LiveCertificate(risk=0.2, thresholds=GRID[::3], delta=0.2), _week(110, 1400)
    for k in range(140):
        rows = slice(10 * k, 10 * k + 10)
        live.update(week["confidence"][rows], week["loss"][rows], ids=np.arange(10 * k, 10 * k + 10))
    yield whole(live.result().history[:70:9])
    for shared in (0, 1, 100):
        ids = np.arange(1400 - shared, 1600 - shared)
        yield type(tried(live.update, week["confidence"][:200], week["loss"][:200], ids=ids)).__name__
    with folder():
        LiveCertificate(risk=0.1, thresholds=GRID).save("live.json")
        for k in range(3):
            week = _week(120 + k, 700)
            seen = update_live(Path("live.json"), week["confidence"], week["loss"])
            yield [whole(seen), said(seen), whole(seen.reach)]
    frame = pl.DataFrame({name: week[name] for name in ("confidence", "loss", "sample_weight")})
    score = week["confidence"]
    for rows in (frame, frame.lazy()):
        held = pickle.loads(pickle.dumps(LiveCertificate(risk=0.1, thresholds=GRID, max_weight=14.0)))
        yield whole(held.update("confidence", "loss", sample_weight="sample_weight", frame=rows))
    columns = (score, 100.0 * score, np.full(9, np.nan), score - 1.0, 0.9 + score, np.round(score))
    for column, others in product((*columns, np.append(score[:5], 1.5)), (None, week["other"])):
        made = tried(begin_live, column, others, {"risk": 0.1})
        yield made if isinstance(made, str) else whole(made.thresholds)
    yield [tried(begin_live, week["loss"], None, {}), tried(same_options, live, {"risk": 0.2, "delta": 0.2})]
    yield tried(same_options, live, {"risk": 0.3})
    fresh, n = LiveCertificate(risk=0.2, thresholds=GRID, audit=0.3), np.arange(260)
    fresh.update(week["confidence"], week["loss"])
    for number in (6, 30, 60):  # rows without a score need no label, and are no labels that are missing
        given = {"label_probability": np.where(n < 200, 1.0, 0.3), "drawn": n >= 260 - number}
        yield type(tried(fresh.update, np.where(n < 200, np.nan, 0.97), np.zeros(260), **given)).__name__
    for chance in (0.9, 0.0, 1.1, 1.0):
        fresh = LiveCertificate(risk=0.1, thresholds=GRID, audit=0.3)
        yield whole(tried(fresh.update, week["confidence"], week["loss"], label_probability=chance))
