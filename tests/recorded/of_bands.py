"""Bands of the risk, sizes of samples and curves."""

from itertools import product

import numpy as np

import abstain
from abstain import inference
from tests.recorded import tried
from tests.recorded.populations import rows


def _band(found, risks=(0.0, 0.1, 0.3)):
    """Return a band with its readings along and across."""
    if isinstance(found, str):
        return found
    along = [found.at(each) for each in (-1.0, 0.35, 0.6, 5.0)]
    across = [found.coverage_at_risk_interval(each) for each in risks]
    facts = [found.unit, found.risk_kind, found.kind, found.method, found.level, found.min_coverage, found.warning]
    return [found.table(), facts, along, across, len(found)]


def bands():
    """Return bands of each kind and method, with weights, clusters, graded and large losses."""
    for seed, steps, graded in ((71, 0, False), (72, 7, True)):
        p = rows(seed, 36, steps=steps, graded=graded)
        for kind, methods in (
            ("pointwise", ("auto", "clopper-pearson", "influence")),
            ("simultaneous", ("auto", "multiplier", "dkw")),
        ):
            for method, risk in product(methods, ("selective", "generalized")):
                for names in ((), ("sample_weight",), ("clusters",)):
                    given = {name: p[name] for name in names}
                    given |= {"kind": kind, "method": method, "risk": risk, "n_draws": 100, "level": 0.9}
                    at = f"{seed} {kind} {method} {risk} {names}"
                    yield at, _band(tried(inference.risk_band, p["loss"], p["confidence"], **given))
    for k, kind in product((0, 1, 36), ("pointwise", "simultaneous")):
        loss, score = (np.arange(36) < k) * 1.0, (7.0 * np.arange(36)) % 12
        yield f"{k} {kind}", _band(tried(inference.risk_band, loss, score, kind=kind, n_draws=100))
    p = rows(73, 40, steps=8, graded=True)
    for least in (0.0, 0.4, 1.0):
        given = {"kind": "simultaneous", "min_coverage": least, "n_draws": 100, "rng": 9}
        yield f"least {least}", _band(tried(inference.risk_band, 6.0 * p["loss"], p["confidence"], **given))
    nothing = np.where(np.arange(40) % 5 == 2, 0.0, p["sample_weight"])
    for units, kind in product((1, 2, 3, 8), ("pointwise", "simultaneous")):
        given = {"clusters": np.arange(40) % units, "sample_weight": nothing, "kind": kind, "n_draws": 100}
        yield f"{units} clusters {kind}", _band(tried(inference.risk_band, p["loss"], p["confidence"], **given))
    yield "one row", _band(tried(inference.risk_band, [1.0], [0.5]))
    yield "large clusters", _band(inference.risk_band(p["loss"], p["confidence"], clusters=np.arange(40) // 9))


def planners():
    """Return sizes of samples and what they detect, from standard deviations and from pilots."""
    p, small = rows(74, 160), rows(75, 30)
    pair = p["loss"], p["confidence"], p["other"]
    two = (p["loss"], np.roll(p["loss"], 3)), p["confidence"], p["other"]
    weak = small["loss"], small["confidence"], small["other"]
    found = {"sd": []}
    for power, level in product((0.5, 0.8, 0.95), (0.8, 0.99)):
        given = {"power": power, "level": level}
        sizes = [inference.samples_for_difference(d, sd=s, **given) for d, s in ((0.01, 0.2), (-0.4, 0.1), (3.0, 0.5))]
        found["sd"].append([sizes, [inference.detectable_difference(n, sd=0.3, **given) for n in (2, 50, 10**6)]])
    for metric in ("augrc", "auroc_f", "aurc", "risk", "e_aurc", "selective_risk(coverage=0.5)", "coverage_at_risk"):
        for name, pilot in (("pair", pair), ("two", two), ("weak", weak)):
            found[f"{metric} {name}"] = [
                tried(inference.influence_sd, pilot, metric),
                tried(inference.samples_for_difference, 0.02, pilot=pilot, metric=metric),
                tried(inference.detectable_difference, 500, pilot=pilot, metric=metric, power=0.9),
            ]
        for width, level in product((0.3, 0.1, 0.02), (0.8, 0.95)):
            at = f"{metric} {width} {level}"
            found[at] = tried(inference.samples_for_width, width, pair[:2], metric, level=level)
        alone = p["loss"], p["confidence"]
        found[f"{metric} one"] = [tried(inference.influence_sd, alone, metric)]
    clean = np.zeros(50), np.arange(50)
    found["no error"] = [tried(inference.samples_for_width, 0.05, clean, m) for m in ("augrc", "risk", "aurc")]
    few = (np.arange(80) % 6 == 1) * 1.0, np.arange(80) % 13
    found["few errors"] = [tried(inference.samples_for_width, 0.05, few, m) for m in ("augrc", "risk", "aurc")]
    return found


def curves():
    """Return curves with their tables, hulls and operating points."""
    for seed, steps, graded in ((76, 0, False), (77, 6, False), (78, 8, True)):
        p = rows(seed, 30, steps=steps, graded=graded)
        gaps = p["confidence"].copy()
        gaps[[2, 9]] = np.nan
        for name, given in {
            "plain": {"confidence": p["confidence"]},
            "weights": {"confidence": p["confidence"], "sample_weight": p["sample_weight"]},
            "reject": {"confidence": gaps, "nan_policy": "reject"},
            "drop": {"confidence": gaps, "nan_policy": "drop", "sample_weight": p["sample_weight"]},
        }.items():
            curve = abstain.risk_coverage_curve(p["loss"], **given)
            hull = curve.hull()
            asked = [{"coverage": each} for each in (0.0, 0.3, 0.65, 1.0)]
            asked += [{"risk": each} for each in (0.0, 0.1, 0.2, 1.0)]
            asked += [{"threshold": each} for each in (-1.0, 0.5, 0.75, 2.0)]
            at = [[tried(each.at, **point) for point in asked] for each in (curve, hull)]
            yield f"{seed} {name}", [curve.table(), curve.n_accepted, hull.table(), at]


def curves_at_the_edges():
    """Return curves of one and two rows, without errors, of only errors and of one score."""
    n = np.arange(8.0)
    for loss, score in (
        ([1.0], [0.3]),
        ([0.0, 1.0], [1.0, 1.0]),
        (n * 0.0, n),
        (n * 0.0 + 1.0, n),
        (n % 2, n * 0.0),
        (n, -n),
    ):
        curve = abstain.risk_coverage_curve(loss, score)
        asked = ({"coverage": 0.5}, {"risk": 0.0}, {"risk": 0.5}, {"threshold": 0.5})
        yield [curve.table(), curve.hull().table(), [tried(curve.at, **each) for each in asked]]


def losses():
    """Return losses of predictions, with options and what is clipped."""
    p = rows(79, 12)
    labels, matrix, guess = p["labels"], p["probabilities"], p["probabilities"].argmax(axis=1)
    costs = np.arange(16.0).reshape(4, 4) / 4.0
    masks = np.random.default_rng(3).random((2, 5, 4, 4)) < 0.4
    masks[:, 1], masks[0, 2], masks[1, 3] = False, False, False
    out = (np.arange(12) % 3 == 0) * 1
    named = ["cat", "dog", "cat"], ["dog", "dog", "cat"]
    of = abstain.losses
    return {
        "zero_one": [of.zero_one(labels, guess), of.zero_one(*named), tried(of.zero_one, labels, matrix)],
        "brier": of.brier(labels, matrix),
        "cross_entropy": [
            of.cross_entropy(labels, matrix),
            of.cross_entropy(labels, matrix, clip=0.2),
            of.cross_entropy(labels, logits=np.log(matrix) * 3.0),
            of.cross_entropy(labels, logits=np.log(matrix) * 300.0),
            of.cross_entropy([0, 1, 1], [[1.0, 0.0], [1.0, 0.0], [0.25, 0.75]]),
            tried(of.cross_entropy, labels, matrix, logits=matrix),
        ],
        "cost_matrix": [of.cost_matrix(labels, guess, costs), tried(of.cost_matrix, [0, 5], [1, 1], costs)],
        "dice": [of.dice(*masks), of.dice(*masks[:, :, 0]), tried(of.dice, masks[0], masks[1, :2])],
        "ood_cost": [of.ood_cost(p["loss"], out), of.ood_cost(p["loss"], out, 0.25), of.ood_cost(p["loss"], out, 7)],
    }


def asserted_risks():
    """Return the certified thresholds of a test of a selective risk, and its refusals."""
    from abstain import testing

    p = rows(80, 600)
    loss = p["loss"] * (p["confidence"] < 0.7)
    for risk, delta, coverage in ((0.05, 0.05, 0.0), (0.1, 0.2, 0.3), (0.3, 0.1, 0.9), (0.001, 0.05, 0.5)):
        try:
            yield (
                f"{risk} {delta} {coverage}",
                testing.assert_selective_risk(
                    {"loss": loss, "confidence": p["confidence"]}, risk, delta, coverage=coverage
                ),
            )
        except AssertionError as why:
            yield f"{risk} {delta} {coverage}", str(why)
