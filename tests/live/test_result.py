"""What a live certificate says on a day, counted again from all rows; what it says of a policy, by the bets."""

import math
from dataclasses import replace

import numpy as np
import pytest

from abstain.live import LiveCertificate
from abstain.monitoring import Detector, Evidence

GRID = [0.8, 0.6, 0.4, 0.2]


def call(seed, n, chance, worse=1.0):
    """Rows of two groups, of which b is bad; losses up to 2, weights up to 4; some labels are not drawn."""
    rng = np.random.default_rng(seed)
    score, group = rng.random(n), rng.choice(["a", "b"], n, p=[0.7, 0.3])
    often = worse * np.where(group == "a", 0.03 * (1.2 - score), 0.5)
    loss = np.where(rng.random(n) < often, rng.choice([1.0, 2.0], n), 0.0)
    chances = np.where(score > 0.5, chance, 1.0)
    loss[rng.random(n) >= chances] = np.nan
    score[0] = np.nan  # accepted by no threshold
    return {"confidence": score, "loss": loss, "sample_weight": rng.choice([1.0, 4.0], n), "groups": group,
            "label_probability": chances}  # fmt: skip


def recounted(rows, taken):
    """Weighted share and mean loss of the rows that are taken, from labels by one over their chance."""
    weight, loss = rows["sample_weight"], np.nan_to_num(rows["loss"])
    answered = weight[taken].sum()
    return answered / weight.sum(), (weight * loss / rows["label_probability"])[taken].sum() / answered


def test_a_day_is_counted_from_all_rows():
    """Thresholds, coverage, risk and labels of each group, the line of each call, the reach and the verdict."""
    live = LiveCertificate(risk=0.2, delta=0.1, thresholds=GRID, max_loss=2.0, max_weight=4.0, groups=["a", "b"],
                           audit=0.25, restarts=1)  # fmt: skip
    calls = [call(1, 900, 1.0), call(2, 700, 0.25), call(3, 500, 0.5)]
    limits, lines = {"a": math.inf, "b": math.inf}, []
    for k, rows in enumerate(calls):
        if k == 1:  # only group a has smaller chances
            rows["label_probability"][rows["groups"] == "b"] = 1.0
            rows["loss"] = np.where((rows["groups"] == "b") & np.isnan(rows["loss"]), 0.0, rows["loss"])
        if k == 2:
            rows = calls[2] = {name: values[rows["groups"] == "a"] for name, values in rows.items()}
        result = live.update(**rows)
        known = np.array([limits[name] for name in rows["groups"]])
        mine = (rows["confidence"] >= known) & ~np.isnan(rows["loss"])
        shares = (rows["sample_weight"] / rows["label_probability"])[mine]
        lines.append((mine.sum(), (shares @ rows["loss"][mine]) / shares.sum() if mine.any() else None))
        live.policy(score="msp", group="kind")
        limits = dict(result.thresholds)
    every = {name: np.concatenate([rows[name] for rows in calls]) for name in calls[0]}
    assert limits["a"] in GRID
    assert limits["b"] == math.inf
    for name, one in result.groups.items():
        own = {key: values[every["groups"] == name] for key, values in every.items()}
        taken = own["confidence"] >= limits[name]
        assert (one.rows, one.labels) == (len(taken), (~np.isnan(own["loss"])).sum())
        assert one.answered == taken.sum()
        if name == "a":
            assert (one.coverage, one.risk) == pytest.approx(recounted(own, taken))
        else:
            assert (one.coverage, math.isnan(one.risk)) == (0.0, True)
        assert (one.violated_at, one.changed_at, one.old_rows) == (None, None, None)
    taken = every["confidence"] >= np.array([limits[name] for name in every["groups"]])
    coverage = recounted(every, taken)[0]
    assert result.coverage == pytest.approx(coverage)
    for line, (answered, risk) in zip(result.history, lines, strict=True):
        assert line.answered == answered
        assert line.risk == (None if risk is None else round(risk, 6))
        assert line.threshold is None  # of groups there are several
    last = result.history[-1]
    counted = (len(taken), (~np.isnan(every["loss"])).sum(), round(coverage, 6), False)
    assert (last.when, last.rows, last.labels, last.coverage, last.changed) == ("3", *counted)
    assert (result.risk, result.delta, result.given, result.graded) == (0.2, 0.1, len(calls[2]["loss"]), True)
    # the lower limit of the coverage, for cases that were never seen
    spread, begin = len(taken) / 4, 1000 / 4
    chance = 2 * math.log(4) - math.log(0.1 / 2)
    short = math.sqrt((spread + begin) * (math.log((spread + begin) / begin) + 2 * chance))
    low = coverage - short / (every["sample_weight"].sum() / 4.0)
    assert (result.reach.limit, result.reach.coverage) == pytest.approx((0.1, low))
    verdict, (good, bad) = result.verdict, result.verdict.groups
    assert (verdict.status.name, verdict.n, verdict.n_accepted) == ("PARTLY", len(taken), taken.sum())
    assert (verdict.coverage, verdict.limit, verdict.confidence) == (result.coverage, 0.2, 0.9)
    one = result.groups["a"]
    assert (good.coverage, good.threshold, good.risk) == (one.coverage, limits["a"], one.risk)
    assert (bad.coverage, bad.threshold, bad.violated) == (0.0, None, False)
    assert [each.kind for each in verdict.caveats] == ["groups_rejected"]
    assert result.rows()[0] == {"group": "a", **vars(one)}


@pytest.mark.parametrize("clusters", [False, True])
def test_answers_of_a_policy_are_tested_by_the_bets(clusters):
    """Evidence and signals are those of the answered labels in their order, or of the clusters of these."""
    options = {"risk": 0.1, "delta": 0.05, "thresholds": GRID, "audit": 0.5, "max_weight": 2.0}
    live = LiveCertificate(**options, run_length=500.0, max_cluster=2 if clusters else None)
    rng, evidence, detector = np.random.default_rng(1), Evidence(0.1), Detector(0.1, 500.0)
    highest, answered, violated, changed = 0.0, 0, None, None
    rows, old = 0, None
    for week in range(14):
        n, score = 300, rng.random(300)
        loss = (rng.random(n) < (0.02 if week < 6 else 0.14)) * 1.0
        chance = np.where(score > 0.5, 0.5, 1.0) if live.certified[""] else np.ones(n)
        weight = rng.choice([1.0, 2.0], n)
        loss[rng.random(n) >= chance] = np.nan
        pairs = {"clusters": [f"{week} {k // 2}" for k in range(n)]} if clusters else {}
        before, smallest = live.threshold if week else math.inf, 0.5 if live.certified[""] else 1.0
        mine = (score >= before) & ~np.isnan(loss)
        found = live.update(score, loss, label_probability=chance, sample_weight=weight, **pairs)
        if mine.any() and violated is None:
            gain = smallest * (weight / 2.0 * (0.1 - loss) / chance)[mine]
            if clusters:
                number = np.flatnonzero(mine) // 2
                gain = np.array([gain[number == k].sum() for k in np.unique(number)]) / 2
            values = np.clip(0.1 - gain, 0.0, 1.0)
            first = np.arange(len(values)) == 0
            highest = max(highest, float(evidence.update(values, first)[-1]))
            _, signals = detector.update(values, first)
            answered += mine.sum()
            if highest >= math.log(1 / 0.05):
                violated = answered
            if changed is None and signals:
                changed, old = answered, rows
        rows += n
        one = found.groups[""]
        assert (one.violated_at, one.changed_at, one.old_rows) == (violated, changed, old)
        if violated is not None:
            break
        assert found.history[-1].log_evidence == pytest.approx(highest, abs=1e-6)
        assert found.history[-1].changed == (changed is not None)
        live.policy(score="msp")
    assert None not in (violated, changed)
    assert (found.verdict.status.name, found.verdict.risk, found.graded) == ("VIOLATED", found.groups[""].risk, False)
    assert found.reach is None
    assert [each.kind for each in found.verdict.caveats] == ["change", "old_rows", "groups_missing"]
    assert found.verdict.caveats[1].sentence.startswith(f"Only the {rows - old:,} rows from the call of that signal on")
    assert f", first seen after {violated:,} labelled answers" in found.verdict.guarantee
    assert live.policy(score="msp").thresholds[""] == math.inf


def test_old_calls_are_thinned():
    """Of more than 128 calls every second of the older half is left out, and the newest stay."""
    live = LiveCertificate(risk=0.1, thresholds=GRID)
    for _ in range(129):
        live.update([], [])
    assert [int(line.when) for line in live.result().history] == [*range(2, 65, 2), *range(65, 130)]
    assert (live.result().verdict.status.name, live.result().verdict.coverage) == ("NOT_CERTIFIED", 0.0)


def test_what_is_said_of_several_groups():
    """Of changes the first label, their number, and the rows since; violated groups answer nothing."""
    live = LiveCertificate(risk=0.2, thresholds=GRID, groups=["a", "b", "c"])
    found = live.update(np.tile([0.9, 0.5], 300), np.zeros(600), groups=np.tile(["a", "b", "c"], 200))
    told = {"a": (70, 120), "b": (40, 30), "c": (None, None)}
    changed = {
        name: replace(one, changed_at=told[name][0], old_rows=told[name][1]) for name, one in found.groups.items()
    }
    first, rows = [each.sentence for each in replace(found, groups=changed).verdict.caveats]
    assert "after accepted row 40 with a label; signals in all: 2." in first
    assert "Only the 250 rows of a and b from the call of that signal on" in rows
    assert "the 150 before it" in rows
    broken = {name: replace(one, violated_at=told[name][0]) for name, one in found.groups.items()}
    verdict = replace(found, groups=broken).verdict
    assert (verdict.status.name, verdict.n_accepted, verdict.n) == ("VIOLATED", 200, 600)
    assert verdict.reason.startswith("first seen after 40 labelled answers")
