"""Checks of the CWSA paper that need none of its numbers: formulas, axioms and what follows from them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import abstain
from experiments.claims._ledger import check
from experiments.claims._sources import holds, listed, synthetic, tied


@check("C1", "C4", "C53", "C3")
def formulas() -> str:
    gap, ends = 0.0, []
    for loss, confidence in tied(200):
        for tau in (0.0, 0.25, 0.5):
            on = confidence >= tau
            phi, right = (confidence - tau) / (1 - tau), 1.0 - loss
            own = [float(np.sum((phi * f)[on]) / max(on.sum(), 1)) for f in (2 * right - 1, right)]
            values = [f(loss, confidence, threshold=tau) for f in (abstain.cwsa, abstain.cwsa_plus)]
            gap = max(gap, *(abs(a - b) for a, b in zip(own, values, strict=True)))
            ends += values
    perfect = [f([0] * 5, [1.0] * 5, threshold=0.9) for f in (abstain.cwsa, abstain.cwsa_plus)]
    holds(gap < 1e-14 and perfect == [1.0, 1.0] and min(ends) >= -1 and max(ends) <= 1, gap)
    return f"means of phi x sign and phi x correct over the accepted: gap {gap:.0e}; perfect model {listed(perfect)}; all in [-1, 1]"


@check("C5", "C6", "C7", "C9")
def axioms() -> str:
    loss, sure = np.array([0, 0, 1, 0.0]), np.array([0.9, 0.7, 0.8, 0.3])

    def both(conf: Any, denominator: Any = "accepted") -> list[float]:
        return [abstain.cwsa(loss, conf, denominator=denominator), abstain.cwsa_plus(loss, conf)]

    right, wrong = sure.copy(), sure.copy()
    right[1], wrong[2] = 0.75, 0.85
    base, after_right, after_wrong = both(sure), both(right), both(wrong)
    less = [abstain.cwsa(loss[:3], sure[:3], denominator=d) for d in ("accepted", "all")]
    more = [abstain.cwsa(loss, sure, denominator=d) for d in ("accepted", "all")]
    holds(after_right[0] > base[0] and after_right[1] > base[1], "a more confident right prediction earns nothing")
    holds(after_wrong[0] < base[0] and after_wrong[1] == base[1], "a more confident error")
    holds(less[0] == more[0] and less[1] != more[1], (less, more))
    return (
        f"CWSA, CWSA+ {listed(base)}; a more confident right answer {listed(after_right)}; a more confident error {listed(after_wrong)}; a row below the "
        f"threshold left out: CWSA by accepted {more[0]:.4f} to {less[0]:.4f}, by all {more[1]:.4f} to {less[1]:.4f}"
    )


@check("C8", "C18")
def calibration_responsiveness() -> str:
    found = {}
    for kind in ("calibrated", "overconfident"):
        loss, confidence = synthetic(kind)
        found[kind] = [f(loss, confidence, threshold=t) for f in (abstain.cwsa, abstain.cwsa_plus) for t in (0.5, 0.7)]
        found[kind] += [abstain.augrc(loss, confidence)]
    outputs = abstain.datasets.load("cifar10_vgg16")
    conf = np.asarray(outputs.probabilities).max(1)
    lifted = [abstain.cwsa_plus(outputs.error, c) for c in (conf, conf**0.1)]
    holds(all(found["overconfident"][k] > found["calibrated"][k] for k in range(4)) and lifted[1] > lifted[0], found)
    return (
        "CWSA at .5, .7, CWSA+ at .5, .7, AUGRC: "
        + "; ".join(f"{k} {listed(v)}" for k, v in found.items())
        + f"; VGG-16, all confidences raised to the power .1: CWSA+ {listed(lifted)}, the same ranking"
    )


@check("C10")
def one_pass() -> str:
    loss, confidence = synthetic("calibrated", 5000)
    taus = np.linspace(0.5, 0.99, 50)
    sweep = abstain.cwsa_sweep(loss, confidence, taus)["cwsa"]
    gap = max(abs(a - abstain.cwsa(loss, confidence, threshold=float(t))) for a, t in zip(sweep, taus, strict=True))
    holds(gap < 1e-12, gap)
    return f"50 thresholds in one pass equal 50 calls, gap {gap:.0e}"


@check("C12")
def aurc_is_a_mean() -> str:
    loss, confidence = synthetic("calibrated", 3000)
    parts = abstain.contributions("aurc", loss, confidence)
    gap = abs(float(parts.mean() if abs(parts.mean() - abstain.aurc(loss, confidence)) < 1e-9 else parts.sum())
              - abstain.aurc(loss, confidence))  # fmt: skip
    holds(gap < 1e-12, gap)
    return f"contributions of 3,000 samples add up to AURC, gap {gap:.0e}"


@check("C13", "C59")
def selective_accuracy() -> str:
    found = [abstain.selective_risk([0, 1, 0], c, threshold=0.5) for c in ([0.6, 0.6, 0.6], [0.99, 0.99, 0.51])]
    holds(found[0] == found[1], found)
    return f"risk of the accepted {found[0]:.4f} for sure and unsure confidences alike"


@check("C15")
def equal_aurc() -> str:
    one, other = np.array([1, 0, 0, 0, 0, 0.0]), np.zeros(6)
    weights = abstain.rank_weights(6)[::-1] / 6  # surest first
    other[1:3] = weights[0] / (weights[1] + weights[2])
    values = [abstain.aurc(loss, -np.arange(6)) for loss in (one, other)]
    risks = [abstain.selective_risk(loss, -np.arange(6), coverage=1 / 6) for loss in (one, other)]
    holds(np.isclose(values[0], values[1]) and risks[0] != risks[1], values)
    return f"two losses with AURC {values[0]:.4f} and {values[1]:.4f}: risk of the surest sixth {risks[0]:g} and {risks[1]:g}"


@check("C52")
def penalty_grows() -> str:
    found = [abstain.cwsa([1.0], [c]) for c in (0.5, 0.6, 0.8, 1.0)]
    holds(all(a > b for a, b in itertools.pairwise(found)), found)
    return f"a wrong answer of confidence .5, .6, .8, 1: {listed(found)}"


@check("C54")
def area_of_sure_models() -> str:
    loss, confidence = [0] * 10, [1.0] * 10
    found = abstain.aumcc(loss, confidence, method="grid"), abstain.aumcc(loss, confidence, method="exact")
    holds(found[0] == 0.0 and abs(found[1] - 1.0) < 1e-12, found)
    return f"a perfect model: on thresholds .50 to .99 {found[0]:g}, over all its confidences {found[1]:g}"


@check("C60")
def graded() -> str:
    kappa, confidence = np.array([1.0, 0.7, 0.2]), np.array([0.9, 0.8, 0.6])
    own = float(np.mean((2 * kappa - 1) * (confidence - 0.5) / 0.5))
    gap = abs(abstain.cwsa(1 - kappa, confidence) - own)
    holds(gap < 1e-15, gap)
    return f"correctness 1, .7, .2 as loss 1 - kappa: CWSA {own:.4f}, gap {gap:.0e}"


@check("C61")
def needs_confidences() -> str:
    try:
        abstain.cwsa([0, 1], [3.0, 0.2])
    except abstain.UnmetNeed:
        before, after = (abstain.cwsa([0, 1, 0], np.array([0.9, 0.6, 0.7]) ** k) for k in (1, 2))
        holds(before != after, before)
        return f"a confidence of 3 is refused; squared confidences change the value: {before:.4f}, {after:.4f}"
    raise AssertionError("a confidence of 3 is taken")
