"""Live certificates over weeks: audits, weights, groups, clusters, late labels, changes, restarts, restored states."""

import json
import pickle
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from abstain.live import LiveCertificate, begin_live, load_live, same_options, update_live
from tests.recorded import tried
from tests.recorded.contents import easy, said, shortened, warned, whole
from tests.recorded.sources import folder

GRID = [0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
SHORT = ("run_length", "delta", "verdict", "graded")


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
            seen.append([whole(found, "history", *SHORT), caught])
            if k % 2:
                live.save(path)
                live = load_live(path)
            policy = live.policy(score="s", group=group)
            seen.append(
                [policy.thresholds, policy.guarantee is not None, policy.calibration.n, policy.calibration.coverage]
            )
        live.save(path)
        sent = json.loads(path.read_text())["state"]["sent"]
    last = live.result()
    return whole([seen, sent, last, said(last), {name: list(each)[-1:] for name, each in live.certified.items()}])


def weeks_that_are_labelled():
    """Return certificates over weeks by limit, loss, weight, audit, share of unseen rows, and change."""
    kinds = [{}, {"max_loss": 1.5}, {"ood_share": 0.01}, {"max_weight": 14.0}, {"audit": 0.2}]
    kinds += [{"run_length": 50.0, "audit": 0.5}]
    for options, risk, worse in product(kinds, (0.05, 0.1), (0.0, 0.25)):
        live = LiveCertificate(risk=risk, thresholds=GRID, **options)
        columns = ("sample_weight",) if "max_weight" in options else ()
        weeks = [_week(50 + k, worse=worse * (k > 2), graded="max_loss" in options) for k in range(5)]
        yield _weeks(live, weeks, *columns, audits=options.get("audit", 1.0))
    first = LiveCertificate(risk=0.05, thresholds=[0.7, 0.01], delta=0.3)
    yield _weeks(first, [_week(55, 600), _week(56, 600)])
    scores = LiveCertificate(risk=0.1, delta=0.2, scores=_week(9)["confidence"])
    yield [whole(scores.thresholds), _weeks(scores, [_week(60, 900), _week(61, 0), _week(62, 400)])]


def weeks_of_groups():
    """Return certificates of groups that share delta, have their own, and join later."""
    for each, audit, worse in product((False, True), (1.0, 0.3), (0.0, 0.3)):
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
        weeks = [_week(90 + k, worse=worse * (k > 1)) for k in range(4)]
        times = None
        for k, week in enumerate(weeks):
            week["clusters"] = week["clusters"] + 10_000 * k
        if late:
            days = [7.0 * k + 7.0 * week["clusters"] % 7 for k, week in enumerate(weeks)]
            times = [{"time": 20.0 * k + each % 6, "as_of": 20.0 * k + 12.0} for k, each in enumerate(days)]
        columns = () if largest is None else ("clusters",)
        result = _weeks(live, weeks, *columns, times=times, audits=0.5)
        live.restart()
        yield f"{largest} {late} {worse}", [result, whole(live.result()), live.certified, tried(live.restart)]
    live = LiveCertificate(risk=0.1, thresholds=GRID, maturity=4.0)
    week = _week(99, 300)
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
    frame, score = (
        pl.DataFrame({name: week[name] for name in ("confidence", "loss", "sample_weight")}),
        week["confidence"],
    )
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
