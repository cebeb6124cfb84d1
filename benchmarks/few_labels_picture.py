"""Draw docs/few-labels.png: half-width of intervals against labels, on bundled answers of Llama 3 70B to MMLU.

    python -m benchmarks.few_labels_picture [FILE]

Medians over 15 draws, through the public API; about half a minute.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import abstain

SIZES, DRAWS = (100, 200, 400, 800, 1600), 15
DATA = abstain.datasets.load("llama3_70b_mmlu")
LOSS, A, B = DATA.loss_per_sample(), DATA.scores["msp"], DATA.scores["max_logit"]


def known(plan: Any) -> Any:
    """Return the losses of the rows that a plan asked for."""
    return np.where(plan.stage > 0, LOSS, np.nan)


def one_score(n: int, seed: int) -> tuple[float, float, float]:
    """Return half-widths of AUGRC: plain evaluation, the default plan, two stages."""
    rows = np.random.default_rng(seed).choice(len(LOSS), n, replace=False)
    plain = abstain.evaluate(loss=LOSS[rows], confidence=A[rows], metrics="augrc")
    default = abstain.plan_labels(A, n=n, seed=seed)
    first = abstain.plan_labels(A, n=n, design="adaptive", seed=seed)
    second = first.extend(known(first), seed=seed + 1)
    found = [
        plain,
        *(abstain.evaluate(loss=known(p), confidence=A, plan=p, metrics="augrc") for p in (default, second)),
    ]
    widths = [0.5 * (each.measurements[0].high - each.measurements[0].low) for each in found]
    return widths[0], widths[1], widths[2]


def two_scores(n: int, seed: int) -> tuple[float, float]:
    """Return half-widths of the difference of two scores: plain comparison, planned."""
    rows = np.random.default_rng(seed).choice(len(LOSS), n, replace=False)
    plain = abstain.compare(LOSS[rows], {"a": A[rows], "b": B[rows]})
    plan = abstain.plan_labels(A, n=n, compare=B, seed=seed)
    planned = abstain.compare(known(plan), {"a": A, "b": B}, plan=plan)
    tests = [each.difference("a", "b") for each in (plain, planned)]
    return 0.5 * (tests[0].high - tests[0].low), 0.5 * (tests[1].high - tests[1].low)


def main() -> None:
    """Simulate and draw."""
    from matplotlib.figure import Figure

    warnings.simplefilter("ignore")
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/few-labels.png")
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    panels = figure.subplots(1, 2)
    colours = {"plain": "#777777", "default": "#0072b2", "adaptive": "#009e73", "planned": "#d55e00"}
    for panel, measure, names, title in (
        (panels[0], one_score, ("plain", "default", "adaptive"), "AUGRC of one score"),
        (panels[1], two_scores, ("plain", "planned"), "Difference of two scores in AUGRC"),
    ):
        found = np.array([np.median([measure(n, 100 * k) for k in range(DRAWS)], axis=0) for n in SIZES])
        for j, name in enumerate(names):
            panel.plot(SIZES, found[:, j], marker="o", ms=4, color=colours[name], label=name)
        print(title, dict(zip(names, found.T.round(4).tolist(), strict=True)))
        panel.set(xscale="log", yscale="log", xlabel="labels", ylabel="half-width of the 95 % interval", title=title)
        panel.set_xticks(SIZES, [str(n) for n in SIZES])
        ticks = [0.005, 0.01, 0.02, 0.04]
        panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
        panel.legend(frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
