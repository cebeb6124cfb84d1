"""A live certificate through its public class: what it counts, refuses, remembers, and begins anew."""

import json
import math
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest

from abstain.live import LiveCertificate, load_live, update_live
from tests.processes import beside
from tests.refusal import refused

BETS = ((0.24, 0.3), (0.12, 0.3), (0.06, 0.3), (0.02, 0.08), (0.006, 0.02))
GRID = [0.9, 0.7, 0.5, 0.3, 0.1]


def rows(n, seed, scale=0.3):
    """Return scores and losses whose error rate falls with the score."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    return score, (rng.random(n) < scale * (1 - score) ** 1.5).astype(float)


def fresh(**options):
    """Return a certificate of 5 % on a small grid."""
    return LiveCertificate(**({"risk": 0.05, "delta": 0.05, "thresholds": GRID} | options))


def plain_certified(score, loss, chance, smallest, size=1):
    """Return what one call certifies, with loops and subsets that share nothing with the package.

    Rows that follow one another form clusters of a size, whose mean gain is bet on.
    """
    spread = math.sqrt((1 - smallest * 0.05) / (smallest * 0.05))
    stakes = [smallest * (1 - 1 / (1 + step * spread)) / 0.95 for step, _ in BETS]
    products, weight = [[1.0] * len(BETS) for _ in GRID], [(j + 1 + 0.5 * len(GRID)) ** -3 for j in range(len(GRID))]
    for first, (j, threshold) in product(range(0, len(score), size), enumerate(GRID)):
        mine = [k for k in range(first, first + size) if score[k] >= threshold and not math.isnan(loss[k])]
        gain = sum((0.05 - loss[k]) / chance[k] for k in mine) / size
        products[j] = [one * (1 + stake * gain) for one, stake in zip(products[j], stakes, strict=True)]
    values, done = [sum(w * one for (_, w), one in zip(BETS, each, strict=True)) for each in products], set[int]()
    fresh_ones = {-1}
    while fresh_ones:
        fresh_ones = {j for j in range(len(GRID)) if j not in done and _least(j, values, weight, done) >= 20}
        done |= fresh_ones
    return [GRID[j] for j in sorted(done)]


def _least(j, values, weight, done):
    """Return the smallest evidence against a set of thresholds that are not certified, of which j is the last."""
    totals = []
    for mask in range(1 << j):
        members = [k for k in range(j) if mask >> k & 1 and k not in done] + [j]
        total = 0.0
        for s in range(j + 1):
            total += weight[s] / sum(weight) * values[next(k for k in members if k >= s)]
        totals.append(total)
    return min(totals)


@pytest.mark.parametrize("seed", range(6))
def test_one_call_against_plain_loops(seed):
    """What a call certifies follows from products and all subsets, with and without drawn labels."""
    score, loss = rows(1500, seed)
    rng = np.random.default_rng(seed)
    chance = np.where(score > 0.5, 0.5, 1.0) if seed % 2 else np.ones(1500)
    loss = np.where(rng.random(1500) < chance, loss, np.nan)
    size, scale = 3 if seed > 3 else 1, 2.0 if seed in (2, 5) else 1.0  # losses and limit in other units
    live = fresh(max_cluster=size, max_loss=scale, risk=0.05 * scale)
    live.groups[""].smallest = 0.5 if seed % 2 else 1.0
    live.update(score, scale * loss, label_probability=chance, clusters=np.arange(1500) // size)
    assert list(live.certified[""]) == plain_certified(score, loss, chance, 0.5 if seed % 2 else 1.0, size)
    if seed == 0:
        live = fresh(thresholds=[0.5])
        assert (live.update(score, 0 * loss).thresholds[""], live.threshold) == (0.5, 0.5)


def test_certified_stays_certified():
    """What was declared once stays declared, also if later rows look worse."""
    live = fresh()
    live.update(*rows(3000, 2))
    before = set(live.certified[""])
    live.update(*rows(3000, 3, scale=1.0))
    assert set() < before <= set(live.certified[""])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label_probability": [1.0, 0.0]}, r"label_probability\[1\] is 0"),
        ({"label_probability": [1.0, 0.5]}, r"below the smallest chance in force, 1"),
        ({"loss": [0.0, np.nan]}, r"loss\[1\] is missing, although its label was drawn"),
        ({"loss": [0, np.nan], "drawn": [True, False]}, r"drawn\[1\] is False, although the chance of its label is 1"),
        ({"loss": [0.0, 2.0]}, "max_loss=1 is below"),
        ({"sample_weight": [1.0, 2.0]}, "max_weight=1 is below"),
        ({"groups": ["a", "b"]}, "has no groups"),
        ({"clusters": ["a", "b"]}, "needs max_cluster"),
        ({"confidence": [0.9]}, "lengths differ .confidence: 1, loss: 2"),
        ({"sample_weight": [1.0]}, "lengths differ .confidence: 2, sample_weight: 1"),
        ({"drawn": [True]}, "lengths differ .confidence: 2, drawn: 1"),
        ({"label_probability": [1.0]}, "lengths differ .confidence: 2, label_probability: 1"),
        ({"label_probability": [1.0, 1.5]}, r"label_probability\[1\] is 1.5"),
        ({"loss": [0.0, -1.0]}, "loss"),
        ({"sample_weight": [1.0, -1.0]}, "sample_weight"),
    ],
)
def test_refused_rows_change_nothing(given, message):
    """A call that is refused names the reason, and leaves the state as it was."""
    live = fresh()
    live.update([0.95], [0])
    before = json.dumps(live.options()), repr(live.result().groups), live.groups[""].sums.copy()  # nan != nan
    refused(ValueError, message, live.update, **{"confidence": [0.9, 0.8], "loss": [0.0, 1.0]} | given)
    assert (json.dumps(live.options()), repr(live.result().groups)) == before[:2]
    assert (live.groups[""].sums == before[2]).all()


def test_a_share_of_unseen_answers():
    """A stricter limit is certified, the guarantee says so, and the reach is that share at least."""
    grid, cases = np.linspace(0.99, 0.01, 60), ({}, {"ood_share": 0.02}, {"risk": 0.03 / 0.98})
    plain, asked, strict = (fresh(thresholds=grid, **options) for options in cases)
    for live in (plain, asked, strict):
        live.update(*rows(20_000, 12))
    assert asked.certified == strict.certified != plain.certified
    assert asked.result().coverage - 0.02 < asked.reach.coverage < asked.result().coverage
    assert (plain.reach.ood_share, asked.reach.ood_share) == (0.0, pytest.approx(0.02))
    assert asked.policy(score="msp").objective.ood_share == 0.02
    assert "0.02" in asked.policy(score="msp").guarantee.statement


def test_young_rows_wait():
    """With maturity a row counts when its label is due, and comes again until then, but not after."""
    live = fresh(maturity=7)
    found = live.update([0.9, 0.8], [0, np.nan], time=[0, 5], as_of=8)
    assert live.groups[""].rows == 1
    young = [each.text for each in found.verdict.caveats if each.kind == "rows_left_out"]
    assert young == ["1 of 2 rows after 1 were too young and did not count; give them again with the next rows."]
    refused(ValueError, "too young", live.update, [0.7], [0], time=[9], as_of=20)
    live.update([0.8, 0.7], [1, 0], time=[5, 9], as_of=20)
    assert (live.groups[""].rows, live.groups[""].labels) == (3, 3)
    said = "was counted before, or of before a restart: until 13; leave these out"
    refused(ValueError, said, live.update, [0.9], [1], time=[13], as_of=21)


def test_groups_share_delta_and_join():
    """Each group has a threshold of its own; one that joins takes half of the reserve, of one beginning's delta."""
    several = fresh(groups=["good", "bad"], reserve=0.2, restarts=3)
    several.add_group("new")
    assert [one.share for one in several.groups.values()] == pytest.approx([0.005, 0.005, 0.00125])
    live, rng = fresh(groups=["good", "bad"], reserve=0.2), np.random.default_rng(1)
    live.add_group("new")
    assert [one.share for one in live.groups.values()] == pytest.approx([0.02, 0.02, 0.005])
    names = rng.choice(["good", "bad"], 6000)
    wrong = rng.random(6000) < np.where(names == "good", 0.01, 0.2)
    found = live.update(rng.random(6000), wrong, groups=names).thresholds
    assert found == {"good": 0.1, "bad": math.inf, "new": math.inf}
    refused(ValueError, "'other' is not known", live.update, [0.5], [0], groups=["other"])
    refused(ValueError, "this certificate has groups; give groups=", live.update, [0.5], [0])
    refused(ValueError, "it is a group already", live.add_group, "new")
    refused(ValueError, "nothing is reserved for groups that join", fresh(groups=["a"]).add_group, "b")


def test_clusters_come_whole_and_once():
    """A cluster is counted in one call; a larger one than declared is refused."""
    live = fresh(max_cluster=2)
    live.update([0.9, 0.8, 0.7], [0, 0, 1], clusters=["a", "a", "b"])
    live.update([0.9] * 40, [0] * 40, clusters=[f"first {k // 2}" for k in range(40)])
    live.update([0.9] * 40, [0] * 40, clusters=[f"second {k // 2}" for k in range(40)])  # others, by their names
    refused(ValueError, "'b' has rows that were counted before", live.update, [0.6], [0], clusters=["b"])
    refused(ValueError, "one has 3 rows", live.update, [0.6] * 3, [0, 0, 1], clusters=["c"] * 3)
    refused(ValueError, "about rows in clusters; give clusters=", live.update, [0.6], [0])


def test_restart_begins_anew_with_a_share_of_delta():
    """After a restart no row counts and nothing is certified; no more restarts than were provided for."""
    live = fresh(restarts=1, audit=0.2)
    assert live.groups[""].share == pytest.approx(0.025)
    assert fresh(restarts=2).groups[""].share == pytest.approx(0.05 / 3)
    live.update(*rows(4000, 6))
    assert live.certified[""]
    live.restart()
    assert (live.certified[""], live.result().groups[""].rows) == ((), 0)
    live.update([0.01, 0.2], [np.nan, np.nan], label_probability=[1, 0.5], drawn=[False, False])  # teaches nothing
    live.update([0.95], [0], label_probability=0.2)  # of the last policy
    refused(ValueError, "smallest chance in force, 1", live.update, [0.96], [0], label_probability=0.2)
    refused(ValueError, "restarts=1", live.restart)
    refused(TypeError, "drawn must hold truth values", live.update, [0.97], [0], label_probability=1, drawn=[2])


def test_rows_of_before_a_restart_do_not_count_after_it():
    """Rows that waited for their labels when the certificate was begun anew need not come again."""
    live = fresh(maturity=30, restarts=1)
    live.update(np.full(500, 0.95), np.full(500, np.nan), time=np.repeat(np.arange(10.0), 50), as_of=10)
    live.restart()
    live.update(np.full(50, 0.95), np.ones(50), time=np.full(50, 11.0), as_of=41)
    assert (live.result().groups[""].rows, live.certified[""]) == (50, ())


def test_no_choice_changes_the_stakes_of_known_labels():
    """Policies that are issued once errors of waiting rows are known leave the evidence as it would be without them."""
    rng = np.random.default_rng(5)
    chosen, plain = (fresh(thresholds=[0.8, 0.4], risk=0.1, maturity=3, audit=0.1) for _ in range(2))
    day = np.repeat(np.arange(40.0), 100)
    score = rng.random(4000)
    wrong = (rng.random(4000) < np.where(score > 0.8, 0.02, 0.12)) * 1.0
    for now in range(4, 40):
        young = (day > now - 4) & (day <= now)
        for live in (chosen, plain):
            live.update(score[young], wrong[young], time=day[young], as_of=now)
        if wrong[(day > now - 3) & (day <= now)].mean() > 0.1:  # the labels of these rows do not count yet
            chosen.policy(score="msp")
    assert chosen.certified == plain.certified != {"": ()}
    assert (chosen.groups[""].sums == plain.groups[""].sums).all()
    assert plain.groups[""].smallest == 0.1
    refused(TypeError, "audit", chosen.policy, score="msp", audit=0.5)


def test_file_keeps_everything(tmp_path):
    """A certificate that was saved goes on as one that was not."""
    there, back = (fresh(groups=["a", "b"], restarts=1, max_loss=2.0, risk=0.1) for _ in range(2))
    for week in range(3):
        score, loss = rows(3000, week)
        for live in (there, back):
            live.update(score, 2 * loss, groups=np.where(score > 0.4, "a", "b"))
            live.policy(score="msp", group="kind")
        back.save(tmp_path / "live.json")
        back = load_live(tmp_path / "live.json")
    assert (back.options(), back.certified) == (there.options(), there.certified)
    assert back.result().history == there.result().history
    for name in "ab":
        (one, bets), (other, same) = ((live.groups[name], live.groups[name].evidence.bets) for live in (there, back))
        assert (one.sums == other.sums).all()
        assert (bets.gained == same.gained).all()


def test_files_that_were_edited_or_of_others_are_refused(tmp_path):
    """A number that was changed by hand, another certificate, a state older than its file; a copy changes nothing."""
    file, live = tmp_path / "live.json", fresh()
    live.save(file)
    text = file.read_text()
    file.write_text(text.replace('"risk": 0.05', '"risk": 0.06'))
    refused(ValueError, "edited or damaged", load_live, file)
    file.write_text(text)
    refused(ValueError, "another certificate", fresh(risk=0.1).save, file)
    live.update([0.95], [0])
    live.save(tmp_path / "copy.json")
    live.save(file)
    assert load_live(file).result().groups[""].rows == 1
    update_live(file, [0.9], [0])
    refused(ValueError, "has not seen", live.save, file)


def test_state_is_small(tmp_path):
    """After more calls and names than are remembered the file stays below 100 kB."""
    rng = np.random.default_rng(0)
    live = LiveCertificate(risk=0.05, scores=rng.random(500))
    for k in range(1150):
        day = np.full(80, np.datetime64("2026-01-01") + k)
        names = None if k < 1050 else [f"{k}-{row}" for row in range(80)]
        live.update(rng.random(80), rng.random(80) < 0.02, time=day, ids=names)
        if k % 50 == 0:
            live.policy(score="msp")
    assert live.result().history[-1].risk is not None
    live.save(tmp_path / "live.json")
    assert (tmp_path / "live.json").stat().st_size < 100_000


def test_a_policy_decides_as_certified():
    """The policy answers from the certified threshold on, with the guarantee, and labels may be drawn from then on."""
    live, none = fresh(audit=0.25), {"confidence": [0.9], "loss": [np.nan]}
    early = live.policy(score="msp")
    assert (early.accept([1.0]).tolist(), early.guarantee) == ([False], None)
    message = r"below the smallest chance in force, 1; .* before anything is certified"
    refused(ValueError, message, live.update, **none, label_probability=0.5)
    live.update(*rows(4000, 9))
    policy = live.policy(score="msp")
    assert policy.accept([live.threshold, np.nextafter(live.threshold, 0)]).tolist() == [True, False]
    assert (policy.guarantee.risk, policy.guarantee.delta) == (0.05, 0.05)
    assert policy.calibration.n_accepted == policy.accept(rows(4000, 9)[0]).sum() == policy.calibration.coverage * 4000
    refused(ValueError, r"smallest chance in force, 0\.25", live.update, **none, label_probability=0.2)
    live.update(**none, label_probability=0.25)


def test_threads_lose_nothing():
    """Sixteen threads that count parts at the same time give what one thread gives."""
    score, loss = rows(3200, 8)
    live, serial = fresh(), fresh()
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(live.update, np.split(score, 16), np.split(loss, 16)))
    serial.update(score, loss)
    np.testing.assert_allclose(live.groups[""].sums, serial.groups[""].sums, rtol=1e-12)
    assert live.groups[""].rows == 3200


def _count(send, file, first):
    for k in range(4):
        update_live(file, *rows(100, first + k))
    send(first)


def test_processes_share_a_file(tmp_path):
    """Two processes that update one file at the same time lose no row."""
    fresh().save(file := tmp_path / "live.json")
    assert [ended() for ended in [beside(_count, file, first) for first in (100, 200)]] == [100, 200]
    assert load_live(file).result().groups[""].rows == 800


def test_bad_options():
    """What cannot be meant is refused when the certificate is made."""
    for message, options in (
        ("below max_loss", {"risk": 1.0}),
        ("empty", {"thresholds": []}),
        ("thresholds", {"thresholds": [np.nan]}),
        ("different names", {"groups": ["a", "a"]}),
        ("list of names", {"groups": "ab"}),
        ("reserve", {"reserve": 1.0}),
        ("ood_share", {"ood_share": 0.05}),
    ):
        refused((ValueError, TypeError), message, fresh, **options)
    refused(TypeError, "name must be text", fresh(groups=["1"], reserve=0.5).add_group, 1)
