"""What a monitor sees of rows with times: periods, windows, labels that come late, and times of many kinds."""

from itertools import product

import numpy as np

from abstain.monitoring import Monitor
from tests.recorded import tried
from tests.recorded.calls import calls, guaranteed, later
from tests.recorded.contents import whole

START = np.datetime64("2026-01-05")


def _parts():
    """Return rows of four calls, with days that tie."""
    parts = [later(400 + k, n, worse=0.25 * (k > 1)) for k, n in enumerate((60, 200, 180, 90))]
    days = [np.floor(30.0 * k + 30.0 * np.linspace(0.0, 0.99, len(part["loss"]))) for k, part in enumerate(parts)]
    return parts, days


def periods_and_windows():
    """Return what is seen of numbers and dates as times, by period and window."""
    parts, days = _parts()
    kinds = [("numbers", {}), ("dates", {"period": 10.0})]
    for name, more in (*kinds, ("numbers", {"window": 14.0}), ("dates", {"since_first": True})):
        times = [{"time": each if name == "numbers" else START + each.astype(int)} for each in days]
        result = calls(guaranteed(), parts, times=times, **more)
        short = [[one["period"], one["n"], one["evidence"]] for one in result[1]["periods"]]
        yield f"{name} {more}", result if name == "numbers" else short
    answers = [{key: each[part["confidence"] >= guaranteed().thresholds[""]] for key, each in part.items()
                if len(each) == len(part["loss"])} for part in parts]  # fmt: skip
    when = [
        {"time": each[part["confidence"] >= guaranteed().thresholds[""]]}
        for part, each in zip(parts, days, strict=True)
    ]
    yield "answers", calls(guaranteed(), answers, times=when, accepted_only=True)
    by_group = [{"time": each} for each in days]
    for more in ({}, {"window": 14.0}):
        yield f"groups {more}", calls(guaranteed("groups"), parts, "groups", times=by_group, **more)


def times_of_many_kinds():
    """Return the periods of times that are written in other ways."""
    parts, days = _parts()
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
    found = {}
    policy = guaranteed()
    for name, times in kinds.items():
        stream, seen = Monitor(policy), []
        for part, time in zip(parts, times, strict=True):
            result = tried(stream.update, part["loss"], part["confidence"], time=time)
            seen.append(result if isinstance(result, str) else result.time_unit)
        found[name] = [seen, [[one.period, one.n] for one in stream.result().periods]]
    for name, time in {"1 day first": "13/02/2026", "either": "03/02/2026", "december": "12/13/2026",
                       "in it": "13/12/2026", "last day": "31/12/2026", "none": "32/02/2026", "dot": "02.13.2026",
                       "word": "soon", "missing": None, "empty": "", "nan": float("nan"), "early": 0.0,
                       "first second": 631152000.0, "before it": 631151999.0, "last": 4102444800.0,
                       "first whole": 19900101.0, "before": 19900100.0, "last whole": 21001231.0, "half": 20200101.5,
                       "after": 21001232.0}.items():  # fmt: skip
        result = tried(Monitor(policy).update, [0.0, 1.0], [0.9, 0.8], time=[time, time])
        found[name] = result if isinstance(result, str) else [result.time_unit, result.periods[0].period]
    return whole(found)


def labels_that_come_late():
    """Return what is seen at an age of rows, where some have no label, or come again with all others."""
    parts, days = _parts()
    bare = [part | {"loss": np.where(np.arange(len(part["loss"])) % 9 == 0, np.nan, part["loss"])} for part in parts]
    sofar = [{key: np.concatenate([part[key] for part in bare[: k + 1]]) for key in ("loss", "confidence")}
             for k in range(4)]  # fmt: skip
    found = {}
    policy = guaranteed()
    for dates, how, maturity in product((False, True), ("refuse", "error"), (12.0, 30.0)):
        when = [START + each.astype(int) if dates else each for each in days]
        ends = [each[-1] + (np.timedelta64(5, "D") if dates else 5.0) for each in when]
        options = {
            "maturity": np.timedelta64(int(maturity), "D") if dates else maturity,
            "unlabelled": how,
            "max_loss": 1.0,
        }
        given = [{"time": column, "as_of": end} for column, end in zip(when, ends, strict=True)]
        one = calls(policy, bare, times=given, **options)
        given = [{"time": np.concatenate(when[: k + 1]), "as_of": ends[k]} for k in range(4)]
        again = calls(policy, sofar, times=given, **options)
        found[f"{dates} {how} {maturity}"] = [one[:1], again] if not dates else [one[0][-1], again[1:]]
    stream = Monitor(policy, maturity=10.0)
    for k, (as_of, some) in enumerate(((40.0, 200), (39.0, 260), (60.0, 30), (None, 260), (80.0, 0))):
        column = {"loss": np.concatenate([part["loss"] for part in parts]), "confidence": np.arange(530) / 530.0}
        times = np.concatenate(days)[:some]
        found[f"turn {k}"] = tried(
            stream.update, column["loss"][:some], column["confidence"][:some], time=times, as_of=as_of
        )
    return whole(found, "verdict")
