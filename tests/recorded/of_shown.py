"""Thresholds, audits, monitors, plans and live certificates as they are shown: columns, cells and sentences."""

from itertools import product

import numpy as np

import abstain
from abstain import pool, thresholds
from abstain.live import LiveCertificate
from abstain.monitoring import Monitor
from tests.recorded import shown
from tests.recorded.calls import guaranteed, later
from tests.recorded.contents import chosen, easy, whole

SHORT = ("result", "fingerprint", "sketch", "bins")


def thresholds_as_they_are_shown():
    """Return certificates that hold and fail, by rows and groups, points of these rows, and pairs of scores."""
    found = {}
    p = easy(3, 900, share=0.7)
    missing = np.where(np.arange(900) % 50 == 0, np.nan, p["confidence"])
    for name, options in {
        "certified": {"risk": 0.1, "delta": 0.1},
        "fails": {"risk": 0.01, "delta": 0.1},
        "bound": {"risk": 0.04, "delta": 0.1, "max_loss": 2.0},
        "costs": {"cost": (5.0, 0.5)},
        "point fails": {"risk": 0.0001},
        "capacity": {"capacity": (10, 40)},
    }.items():
        for column in ((), ("groups",), ("clusters",)):
            given = {**chosen(p, *column), "confidence": missing, "nan_policy": "reject", **options}
            result = abstain.choose_threshold(**given)
            found[f"{name} {column}"] = [shown(result), len(result.brief()), result.rows()[:1]]
    found["pair"] = shown(thresholds.choose_pair(p["loss"], p["confidence"], p["other"], risk=0.1, delta=0.1, rng=1))
    return whole(found, *SHORT)


def audits_as_they_are_shown():
    """Return audits by kind, groups and shift."""
    found = {}
    p = easy(2, 2400, share=0.8)
    for name, options in {"risk": {"risk": 0.1, "delta": 0.1}, "costs": {"cost": (5.0, 0.5)}}.items():
        plain = abstain.choose_threshold(**chosen(p), **options)
        grouped = abstain.choose_threshold(**chosen(p, "groups"), **options)
        for made, n, worse in product((plain, grouped), (25, 700), (0.0, 0.2)):
            for column in ((), ("groups",)) if made is plain else (("groups",),):
                seen = abstain.audit(made, **chosen(later(n, n, worse=worse), *column))
                found[f"{name} {made is plain} {n} {worse} {column}"] = shown(seen)
    return whole(found, *SHORT)


def monitors_as_they_are_shown():
    """Return monitors by groups, times and change."""
    found = {}
    for columns, worse, timed in product(((), ("groups",)), (0.0, 0.3), (False, True)):
        stream = Monitor(guaranteed(*columns), run_length=300.0, maturity=4.0 if timed else None)
        for k, n in enumerate((300, 900, 40)):
            part = later(10 + k, n, worse=worse * (k > 0), lower=0.4 * worse * k)
            days = {"time": 40.0 * k + np.arange(n) * 30.0 / n, "as_of": 40.0 * k + (31.0 if k == 2 else 39.0)}
            more = days if timed else {}
            result = stream.update(**chosen(part, *columns), **more)
        found[f"{columns} {worse} {timed}"] = [shown(result), len(result.brief())]
    many = Monitor(guaranteed(risk=None, delta=None, cost=(4.0, 0.5)))
    part = later(30, 600)
    for k in range(30):
        many.update(**{name: column[20 * k : 20 * k + 20] for name, column in chosen(part).items()}, again=True)
    found["many"] = shown(many.result())
    return whole(found, *SHORT, "periods")


def plans_and_live_certificates_as_they_are_shown():
    """Return plans of labels, certificates of regions, and live certificates."""
    found = {}
    p = easy(5, 400, share=0.5)
    for name, options in {
        "usual": {"n": 50},
        "few": {"n": 12, "error_rate": 0.03},
        "adaptive": {"n": 60, "design": "adaptive"},
        "region": {"n": 60, "region": 0.5, "design": "uniform"},
        "point": {"n": 60, "metric": "selective_risk(coverage=0.4)"},
        "two": {"n": 60, "compare": p["other"]},
    }.items():
        plan = abstain.plan_labels(p["confidence"], seed=1, **options)
        known = np.where(plan.stage > 0, p["loss"], np.nan)
        stages = [plan] if name == "two" else [plan, plan.extend(known, 10, seed=2)]
        found[name] = [[shown(one), one.rows()[:2]] for one in stages]
        if name == "region":
            found["certified"] = [shown(pool.certify_region(plan, known, risk=each, delta=0.1)) for each in (0.02, 0.2)]
    for groups, worse in product((None, ["a", "b", "c"]), (0.0, 0.4)):
        live = LiveCertificate(risk=0.1, thresholds=[0.9, 0.6, 0.3], groups=groups, maturity=2.0, run_length=100.0)
        for k in range(3):
            week = later(40 + k, 900, worse=worse * (k > 1))
            more = {} if groups is None else {"groups": week["groups"]}
            more |= {"time": 10.0 * k + np.arange(900) / 200.0, "as_of": 10.0 * k + (5.0 if k == 2 else 9.0)}
            result = live.update(week["confidence"], week["loss"], **more)
            live.policy(score="s", group=None if groups is None else "g")
        found[f"live {groups} {worse}"] = shown(result)
    return whole(found, *SHORT)
