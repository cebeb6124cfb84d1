"""Certified bands and their reach, thresholds of two scores, choices among candidates, plans of certificates."""

from itertools import product

import numpy as np

import abstain
from abstain import thresholds
from tests.recorded import tried
from tests.recorded.contents import chosen, easy, said, whole
from tests.recorded.populations import rows

SHORT = ("calibration", "verdict", "objective", "level", "full_risk", "best", "n", "risk_limit", "delta")


def bands_and_reach():
    """Return certified bands of the risk, and how far they reach."""
    for limit, upper, coverage in product((0.01, 0.05, 0.3), (0.0, 0.0031, 0.0499, 0.2, 1.0), (0.0, 0.33, 1.0)):
        yield f"{limit} {upper} {coverage}", _reach(thresholds.Reach(limit, upper, coverage, answered=0.7))
    p, outside = easy(6, 500, share=0.5), easy(7, 200)
    columns = {"id_confidence": p["confidence"], "id_detector": p["other"], "ood_confidence": outside["confidence"]}
    joint = abstain.joint.evaluate(p["loss"], **columns, ood_detector=0.5 * outside["other"])
    for limits, delta in product(((0.2, 0.3), (0.6, 0.1), (2.0, 0.0)), (0.05, 0.2)):
        yield f"joint {limits} {delta}", _reach(thresholds.Reach.of_joint(joint, limits, risk=0.15, delta=delta))
    at = np.array([-1.0, 0.0, 0.31, 0.5, 0.77, 0.9, 0.999, 2.0])
    cases = [(1, 0, 0, 0.1), (2, 0, 0, 0.1), (40, 0, 0, 0.05), (900, 0, 0, 0.05), (900, 8, 0, 0.3)]
    for n, steps, graded, delta in (*cases, (900, 0, 1, 0.05), (900, 8, 1, 0.2)):
        p = easy(n, n, steps=steps, graded=bool(graded))
        band = thresholds.certified_band(**chosen(p), delta=delta, max_loss=2.0 if graded else None)
        yield f"{n} {steps} {graded}", [whole(band), whole(band.upper_at(at)), whole(band.upper_at(band.threshold))]
        reaches = [band.reach(each, risk=risk) for each in (0.5, 0.9, 3.0) for risk in (0.03, 0.2, 0.6)]
        yield f"reach {n} {steps} {graded}", [_reach(each) for each in reaches]


def _reach(one):
    numbers = [one.slack, one.ood_share, one.ood_cases(), one.ood_cases(0.4), one.ood_cases(0.0), one.density_ratio]
    numbers += [one.chi_square, one.total_variation, one.subgroup(0.5), one.smallest_subgroup, one.with_ood(0.1)]
    return whole([*vars(one).values(), *numbers, said(one.sentence)])


def two_scores():
    """Return pairs of thresholds, by what is known of rows out of distribution."""
    found = {}
    for seed, n, graded in ((1, 600, False), (2, 2500, False), (3, 2500, True)):
        p = easy(seed, n, graded=graded, share=0.5)
        outside = np.arange(n) % 5 == 0
        loss, other = np.where(outside, 1.0, p["loss"]), np.where(outside, 0.4 * p["other"], p["other"])
        other[::17] = np.nan
        bound = {"max_loss": 1.2} if graded else {}
        for risk, delta in ((0.05, 0.1), (0.12, 0.05)):
            for name, more in {
                "plain": {},
                "fixed": {"second_threshold": 0.3},
                "known": {"is_ood": outside},
                "none": {"is_ood": np.zeros(n, dtype=bool)},
                "rare": {"is_ood": outside, "prevalence": 0.04},
                "often": {"is_ood": outside, "prevalence": 0.5},
                "nearly all": {"is_ood": outside, "prevalence": 0.999},
                "both": {"is_ood": outside, "prevalence": 0.1, "second_threshold": 0.35},
            }.items():
                given = {"risk": risk, "delta": delta, "rng": seed, **more, **bound}
                pair = thresholds.choose_pair(loss, p["confidence"], other, **given)
                counts = [int(pair.accept(p["confidence"], other).sum()), said(pair), pair.rows()]
                short = (*SHORT[:-3], "attained", "statement", "prevalence")
                found[f"{seed} {risk} {name}"] = [whole(pair, *short), whole(counts), _reach(pair.reach)]
                made = pair.policy(score="msp", second="softmax_margin", second_computed=True, logits=["a", "b"])
                plain = pair.policy(score="s", second="t", second_uncertainty=name == "fixed")
                found[f"{seed} {risk} {name}"] += [made.second, plain.second, plain.thresholds]
    return found


def candidates_and_metrics():
    """Return what is chosen among candidates, and the thresholds of the largest CWSA."""
    for n, many, graded in product((400, 1000), (2, 3, 5, 6), (False, True)):
        p = easy(n, n, graded=graded, share=0.4)
        mix = {f"s{k}": p["confidence"] * (1.0 - 0.15 * k) + 0.15 * k * p["other"] for k in range(many)}
        bound = {"max_loss": 1.5} if graded else {}
        for risk in (0.05, 0.15):
            made = abstain.choose_among(p["loss"], mix, risk=risk, delta=0.1, rng=4, **bound)
            short = [made.name, made.rule, made.seed, {name: one.threshold for name, one in made.each.items()}]
            yield f"among {n} {many} {graded} {risk}", whole([*short, made.found.coverage, made.found.delta])
    for steps, metric, column in product((0, 9), ("cwsa", "cwsa_plus"), ((), ("sample_weight",), ("groups",))):
        for shift in (0.0, 0.4, 5.0):
            p = rows(steps, 120, steps=steps)
            given = chosen(p, *column) | {"confidence": p["confidence"] + shift}
            result = tried(thresholds.cwsa_threshold, **given, metric=metric)
            yield f"{metric} {steps} {column} {shift}", whole(result, *SHORT)


def plans_of_certificates():
    """Return how many rows a certificate takes, from a pilot."""
    for steps, risk, coverage in ((8, 0.25, 0.3),):
        p = rows(4, 40, steps=steps)
        plan = thresholds.plan_certificate(**chosen(p), risk=risk, delta=0.1, coverage=coverage, rng=3)
        yield f"{steps} {risk} {coverage}", whole(plan)
