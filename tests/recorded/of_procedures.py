"""Thresholds of the other procedures, and of other risks."""

from itertools import product

import numpy as np

from abstain import thresholds
from tests.recorded import tried
from tests.recorded.contents import chosen, easy, said, whole

SHORT = ("calibration", "verdict", "objective", "level", "full_risk", "best", "n", "risk_limit", "delta")
SIZES = ((1, 0), (2, 0), (60, 0), (500, 0), (500, 9), (1800, 0), (1800, 30))
LIMITS = ((0.02, 0.05), (0.07, 0.1), (0.2, 0.25), (0.8, 0.3))


def procedures_of_right_and_wrong():
    """Return what the exact procedures of papers certify."""
    kinds = ("sgr", "fixed_sequence", "bonferroni", "prespecified")
    for (n, steps), (risk, delta), kind in product(SIZES, LIMITS, kinds):
        if (n < 3) != (risk > 0.5):
            continue
        p = chosen(easy(n, n, steps=steps, share=0.5))
        for fixed in (None, [0.9, 0.6, 0.3, 0.05, -np.inf, 0.6], np.linspace(0.0, 1.0, 11)):
            more = {} if fixed is None else {"thresholds": fixed}
            if (kind == "sgr") != (fixed is None) and kind in ("sgr", "prespecified"):
                continue
            result = tried(getattr(thresholds, f"{kind}_threshold"), **p, risk=risk, delta=delta, **more)
            yield f"{n} {steps} {risk} {kind} {np.size(fixed)}", whole(result, *SHORT, "attained", "statement")


def scores_that_are_refused():
    """Return what the procedures make of scores that are missing or infinite."""
    p = chosen(easy(5, 300))
    for odd, policy in product((np.nan, np.inf, -np.inf), ("raise", "reject", "drop")):
        score = np.where(np.arange(300) % 29 == 0, odd, p["confidence"])
        given = {"loss": p["loss"], "confidence": score, "risk": 0.15, "delta": 0.1, "nan_policy": policy}
        each = [
            tried(getattr(thresholds, f"{kind}_threshold"), **given) for kind in ("sgr", "fixed_sequence", "bonferroni")
        ]
        each.append(tried(thresholds.prespecified_threshold, thresholds=[0.9, 0.5], **given))
        del given["delta"]
        each.append(tried(thresholds.conformal_threshold, **given))
        yield f"{odd} {policy}", [whole(one, *SHORT) for one in each]


def procedures_of_other_losses():
    """Return what bounds of other losses, weights and clusters certify at fixed thresholds and at fixed ranks."""
    at = [0.85, 0.5, 0.2]
    for n, graded, largest in product((200, 1500), (False, True), (1.0, 2.0)):
        p = easy(n, n, graded=graded)
        weights = {"sample_weight": p["sample_weight"] * (np.arange(n) % 4 > 0), "max_weight": 14.0}
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
            yield f"{n} {graded} {largest} {risk} {len(more)}", [whole(one, *SHORT, "statement") for one in each]


def thresholds_of_other_risks():
    """Return conditional, conformal and prior thresholds."""
    for seed, graded, steps in product((1, 2), (False, True), (0, 7)):
        p = easy(seed, 700, graded=graded, steps=steps)
        name, where, bound = f"{seed} {graded} {steps}", p["groups"] != "a", {"max_loss": 1.5} if graded else {}
        for risk in (0.05, 0.15, 0.4):
            given = {**chosen(p), "where": where, "what": "some rows", "risk": risk, "delta": 0.1, **bound}
            for more in ({}, {"clusters": p["clusters"]}):
                result = tried(thresholds.conditional_threshold, **given, **more)
                yield (
                    f"conditional {name} {risk} {len(more)}",
                    [whole(result, "sketch", "fingerprint", "bins", "verdict"), said(result)],
                )
        for risk in (0.0005, bound.get("max_loss", 1.0) / 701.0, 0.02, 0.05, 0.2):
            result = thresholds.conformal_threshold(**chosen(p), risk=risk, **bound)
            yield f"conformal {name} {risk:.6f}", [whole(result), said(result.reason)]


def thresholds_of_known_priors():
    """Return prior thresholds over priors, grids, limits and largest losses."""
    priors = ({0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25}, {0: 0.7, 1: 0.1, 2: 0.2, 3: 0.0}, {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4})
    for n, (k, prior), risk, delta in product((300, 4000), enumerate(priors), (0.05, 0.1, 0.2), (0.05, 0.3)):
        p = easy(n, n, graded=n == 300)
        for grid in ({"thresholds": np.linspace(0.05, 0.95, 19)}, {"scores": p["other"]}):
            for largest in (1.0, 1.5):
                given = {**chosen(p, "labels"), "prior": prior, "risk": risk, "delta": delta, "max_loss": largest}
                at = thresholds.prior_threshold(**given, **grid)
                yield f"{n} {k} {risk} {delta} {list(grid)} {largest}", whole(at)
