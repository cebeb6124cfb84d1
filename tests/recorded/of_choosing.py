"""Thresholds that ``choose_threshold`` finds, over objectives, certificates, groups, clusters, weights and losses."""

from itertools import product

import numpy as np

import abstain
from tests.recorded.contents import chosen, easy, said, warned, whole
from tests.recorded.populations import rows

LONG = ("fingerprint", "sketch", "bins")
COLUMNS = ("loss", "confidence")


def _found(p, *names, **options):
    result, caught = warned(abstain.choose_threshold, **chosen(p, *names), **options)
    short = (*LONG, "verdict", "objective", "n", "level")
    return result if isinstance(result, str) else [whole(result, *short), whole(result.reach), caught]


def certificates_of_right_and_wrong():
    """Return certificates of 0/1 losses by rows, ties, limit and delta."""
    for n, steps, share in (
        (12, 0, 0.3),
        (30, 0, 0.3),
        (63, 0, 0.0),
        (94, 0, 0.1),
        (120, 6, 0.6),
        (700, 0, 0.5),
        (700, 12, 0.2),
        (2500, 0, 0.6),
    ):
        p = easy(n + steps, n, steps=steps, share=share)
        for risk, delta in ((0.02, 0.05), (0.06, 0.1), (0.1, 0.05), (0.25, 0.3)):
            yield f"{n} {steps} {risk}", _found(p, risk=risk, delta=delta)


def certificates_that_say_how_many_rows():
    """Return certificates that fail, of scores that are good, useless or turned."""
    for n, kind, steps in product((90, 400), ("good", "useless", "turned", "equal"), (0, 8)):
        p = rows(n + steps, n, steps=steps)
        score = {
            "good": p["confidence"],
            "useless": np.roll(p["confidence"], 7),
            "turned": 1.0 - p["confidence"],
            "equal": 0.0 * p["confidence"],
        }[kind]
        for risk in (0.01, 0.08):
            result = abstain.choose_threshold(p["loss"], score, risk=risk, delta=0.1)
            yield f"{n} {kind} {steps} {risk}", [whole(result, *LONG), said(result)]


def certificates_with_losses_that_are_graded():
    """Return certificates by betting, with and without weights, ties and a largest loss above one."""
    for n, steps, largest, weighted in product((80, 900), (0, 6), (1.0, 2.5), (False, True)):
        p = easy(n, n, steps=steps, graded=True, share=1.0)
        weight = np.where(p["sample_weight"] < 0.8, 0.0, p["sample_weight"])
        more = {"sample_weight": weight, "max_weight": 12.0} if weighted else {}
        for risk, unseen in ((0.06, 0.0), (0.12, 0.0), (0.1, 0.01)):
            options = {"risk": risk, "delta": 0.1, "max_loss": largest, "ood_share": unseen}
            yield f"{n} {steps} {largest} {weighted} {risk}", _found(p, **options, **more)


def certificates_of_clusters():
    """Return certificates of clusters that count once, and of rows of clusters of at most some size."""
    for n, steps, graded, most in product((250, 1600), (0, 9), (False, True), (None, 12, 18)):
        p = easy(n, n, steps=steps, graded=graded, share=1.0)
        bound = {"max_loss": 1.5} if graded else {}
        for risk in (0.13, 0.16):
            options = {"risk": risk, "delta": 0.2, "max_cluster": most}
            yield f"{n} {steps} {graded} {most} {risk}", _found(p, "clusters", **options, **bound)


def certificates_of_groups():
    """Return one threshold for each group: of all together, and each by itself."""
    p = easy(3, 2400, share=0.8)
    for name, more in {"plain": {}, "clusters": {"clusters": p["clusters"]}, "bound": {"max_loss": 2.0}}.items():
        for risk in (0.06, 0.1, 0.14):
            given = {**chosen(p, "groups"), "risk": risk, "delta": 0.1, **more}
            for kind in (abstain.choose_threshold, abstain.thresholds.separate_group_thresholds):
                result = kind(**given)
                answered = result.about_answered()
                each = [whole(result, *LONG), whole(result.calibration, "groups"), whole(result.reach), said(result)]
                yield f"{name} {risk} {kind.__name__}", [*each, answered.guarantee()]
