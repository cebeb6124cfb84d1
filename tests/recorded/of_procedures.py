"""Thresholds of the other procedures, of two scores, of other risks, and of candidates; plans of certificates."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

import abstain
from abstain import thresholds
from tests.recorded import tried
from tests.recorded.contents import chosen, easy, said, whole
from tests.recorded.populations import rows

SHORT = ("calibration", "verdict", "objective", "level", "full_risk", "best", "n", "risk_limit", "delta")
SIZES = ((60, 0), (500, 0), (500, 9), (1800, 0), (1800, 30))
LIMITS = ((0.02, 0.05), (0.07, 0.1), (0.2, 0.25))


def procedures_of_right_and_wrong() -> Any:
    """Return what the exact procedures of papers certify."""
    found = {}
    kinds = ("sgr", "fixed_sequence", "bonferroni", "prespecified")
    for (n, steps), (risk, delta), kind in product(SIZES, LIMITS, kinds):
        p = chosen(easy(n, n, steps=steps, share=0.5))
        for fixed in (None, [0.9, 0.6, 0.3, 0.05, -np.inf, 0.6], np.linspace(0.0, 1.0, 11)):
            more = {} if fixed is None else {"thresholds": fixed}
            if (kind == "sgr") != (fixed is None) and kind in ("sgr", "prespecified"):
                continue
            result = tried(getattr(thresholds, f"{kind}_threshold"), **p, risk=risk, delta=delta, **more)
            found[f"{n} {steps} {risk} {kind} {np.size(fixed)}"] = whole(result, *SHORT, "attained", "statement")
    return found


def procedures_of_other_losses() -> Any:
    """Return what bounds of other losses, weights and clusters certify at fixed thresholds and at fixed ranks."""
    found = {}
    at = [0.85, 0.5, 0.2]
    for n, graded, largest in product((200, 1500), (False, True), (1.0, 2.0)):
        p = easy(n, n, graded=graded)
        weights = {"sample_weight": p["sample_weight"], "max_weight": 14.0}
        for risk, more in product((0.15, 0.35), ({}, weights)):
            options = {**chosen(p), "risk": risk, "delta": 0.1, "max_loss": largest, **more}
            each = [tried(thresholds.prespecified_threshold, thresholds=at, **options)]
            each.append(tried(thresholds.prespecified_threshold, thresholds=at, bound="hoeffding-bentkus", **options))
            for fixed in (None, at):
                bound = {"bound": "hoeffding-bentkus", "thresholds": fixed}
                each.append(tried(thresholds.bonferroni_threshold, **options, **bound))
            if not more:
                options |= {"clusters": p["clusters"]}
                each.append(tried(thresholds.prespecified_threshold, thresholds=at, **options))
            found[f"{n} {graded} {largest} {risk} {len(more)}"] = [whole(one, *SHORT, "statement") for one in each]
    return found


def thresholds_of_other_risks() -> Any:
    """Return conditional, conformal and prior thresholds."""
    found: dict[str, Any] = {}
    for seed, graded, steps in product((1, 2), (False, True), (0, 7)):
        p = easy(seed, 700, graded=graded, steps=steps)
        name, where, bound = f"{seed} {graded} {steps}", p["groups"] != "a", {"max_loss": 1.5} if graded else {}
        for risk in (0.05, 0.15, 0.4):
            given = {**chosen(p), "where": where, "what": "some rows", "risk": risk, "delta": 0.1, **bound}
            for more in ({}, {"clusters": p["clusters"]}):
                result = tried(thresholds.conditional_threshold, **given, **more)
                found[f"conditional {name} {risk} {len(more)}"] = [
                    whole(result, "sketch", "fingerprint", "bins", "verdict"),
                    said(result),
                ]
        for risk in (0.0005, 0.02, 0.05, 0.2):
            found[f"conformal {name} {risk}"] = whole(thresholds.conformal_threshold(**chosen(p), risk=risk, **bound))
    return found


def thresholds_of_known_priors() -> Any:
    """Return prior thresholds over priors, grids, limits and largest losses."""
    found = {}
    priors = ({0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25}, {0: 0.7, 1: 0.1, 2: 0.2, 3: 0.0}, {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4})
    for n, (k, prior), risk, delta in product((300, 4000), enumerate(priors), (0.05, 0.1, 0.2), (0.05, 0.3)):
        p = easy(n, n, graded=n == 300)
        for grid in ({"thresholds": np.linspace(0.05, 0.95, 19)}, {"scores": p["other"]}):
            for largest in (1.0, 1.5):
                given = {**chosen(p, "labels"), "prior": prior, "risk": risk, "delta": delta, "max_loss": largest}
                at = thresholds.prior_threshold(**given, **grid)
                found[f"{n} {k} {risk} {delta} {list(grid)} {largest}"] = whole(at)
    return found


def bands_and_reach() -> Any:
    """Return certified bands of the risk, and how far they reach."""
    found: dict[str, Any] = {}
    at = np.array([-1.0, 0.0, 0.31, 0.5, 0.77, 0.9, 0.999, 2.0])
    cases = [(1, 0, 0, 0.1), (2, 0, 0, 0.1), (40, 0, 0, 0.05), (900, 0, 0, 0.05), (900, 8, 0, 0.3)]
    for n, steps, graded, delta in (*cases, (900, 0, 1, 0.05), (900, 8, 1, 0.2)):
        p = easy(n, n, steps=steps, graded=bool(graded))
        band = thresholds.certified_band(**chosen(p), delta=delta, max_loss=2.0 if graded else None)
        found[f"{n} {steps} {graded}"] = [whole(band), whole(band.upper_at(at)), whole(band.upper_at(band.threshold))]
        reaches = [band.reach(each, risk=risk) for each in (0.5, 0.9, 3.0) for risk in (0.03, 0.2, 0.6)]
        found[f"reach {n} {steps} {graded}"] = [_reach(each) for each in reaches]
    return found


def _reach(one: Any) -> Any:
    numbers = [one.slack, one.ood_share, one.ood_cases(), one.ood_cases(0.4), one.ood_cases(0.0), one.density_ratio]
    numbers += [one.chi_square, one.total_variation, one.subgroup(0.5), one.smallest_subgroup, one.with_ood(0.1)]
    return whole([*vars(one).values(), *numbers, said(one.sentence)])


def two_scores() -> Any:
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
                "both": {"is_ood": outside, "prevalence": 0.1, "second_threshold": 0.35},
            }.items():
                given = {"risk": risk, "delta": delta, "rng": seed, **more, **bound}
                pair = thresholds.choose_pair(loss, p["confidence"], other, **given)
                counts = [int(pair.accept(p["confidence"], other).sum()), said(pair), pair.rows()]
                short = ("fingerprint", "sketch", "bins", "attained", "verdict")
                found[f"{seed} {risk} {name}"] = [whole(pair, *short), whole(counts), _reach(pair.reach)]
    return found


def candidates_and_metrics() -> Any:
    """Return what is chosen among candidates, and the thresholds of the largest CWSA."""
    found: dict[str, Any] = {}
    for n, many, graded in product((400, 1000), (1, 2, 3, 5, 6), (False, True)):
        p = easy(n, n, graded=graded, share=0.4)
        mix = {f"s{k}": p["confidence"] * (1.0 - 0.15 * k) + 0.15 * k * p["other"] for k in range(many)}
        bound = {"max_loss": 1.5} if graded else {}
        for risk in (0.05, 0.15):
            made = abstain.choose_among(p["loss"], mix, risk=risk, delta=0.1, rng=4, **bound)
            short = [made.name, made.rule, made.seed, {name: one.threshold for name, one in made.each.items()}]
            found[f"among {n} {many} {graded} {risk}"] = whole([*short, made.found.coverage, made.found.delta])
    for steps, metric, column in product((0, 9), ("cwsa", "cwsa_plus"), ((), ("sample_weight",), ("groups",))):
        for shift in (0.0, 0.4, 5.0):
            p = rows(steps, 120, steps=steps)
            given = chosen(p, *column) | {"confidence": p["confidence"] + shift}
            result = tried(thresholds.cwsa_threshold, **given, metric=metric)
            found[f"{metric} {steps} {column} {shift}"] = whole(result, *SHORT)
    return found


def plans_of_certificates() -> Any:
    """Return how many rows a certificate takes, from a pilot."""
    found = {}
    for steps, risk, coverage in ((0, 0.3, 0.6), (8, 0.3, 0.0)):
        p = rows(4, 40, steps=steps)
        plan = thresholds.plan_certificate(**chosen(p), risk=risk, delta=0.1, coverage=coverage, rng=3)
        found[f"{steps} {risk} {coverage}"] = whole(plan)
    return found
