"""The paper's statements, each with the numbers that confirm or correct it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recuse.metrics import aurc, rank_weight_mse, sele
from recuse.nn.finite_sample._estimates import ESTIMATORS
from recuse.nn.finite_sample._study import Record


def counter_example() -> dict[str, float]:
    """Five samples, the only loss on the most confident one: AURC is H_5/5, 2 x SELE is 2/5 (Eq. 34-36)."""
    loss, confidence = [0.0, 0.0, 0.0, 0.0, 1.0], [0.1, 0.2, 0.3, 0.4, 0.5]
    value = aurc(loss, confidence, estimator="harmonic")
    return {"aurc": value, "twice_sele": sele(loss, confidence, factor=2.0), "aurc_times_5": 5.0 * value}


def _pick(records: Sequence[Record], **wanted: Any) -> list[Record]:
    return [each for each in records if all(getattr(each, key) == value for key, value in wanted.items())]


def _share(flags: Sequence[bool]) -> str:
    return f"{sum(flags)} of {len(flags)}"


def statements(records: Sequence[Record], equal: Sequence[Any], rates: Sequence[Any]) -> list[str]:
    """Return the statements with numbers, as Markdown list items."""
    msp = _pick(records, score="MSP")
    cells = list(dict.fromkeys((each.family, each.model, each.loss) for each in msp))
    by = {(each.family, each.model, each.loss, each.size, each.estimator): each for each in msp}
    sizes = sorted({each.size for each in msp})
    large = sizes[-1]

    def all_sizes(cell: Any) -> list[int]:
        return [size for size in sizes if (*cell, size, "harmonic") in by]

    pairs = [(cell, size) for cell in cells for size in all_sizes(cell)]
    lower = _share([by[*c, n, "log"].mean <= by[*c, n, "harmonic"].mean for c, n in pairs])
    below = _share([by[*c, n, "SELE"].bias < 0 for c, n in pairs])
    above = _share([by[*c, n, "2 x SELE"].bias > 0 for c, n in pairs])
    lines = [
        f"- log <= harmonic in the mean: {lower} settings (exact by Jensen).",
        f"- SELE underestimates AURC: {below} settings; 2 x SELE overestimates: {above}.",
    ]

    def least_biased(cell: Any, size: int) -> str:
        return min(ESTIMATORS, key=lambda name: abs(by[*cell, size, name].bias))

    for loss in sorted({cell[2] for cell in cells}):
        own = [(cell, size) for cell, size in pairs if cell[2] == loss]
        lower = _share([by[*c, n, "log"].mse < by[*c, n, "harmonic"].mse for c, n in own])
        lines.append(f"- {loss}: the log estimator has the smaller MSE in {lower} settings.")
        closest = _share([least_biased(c, n) in ("harmonic", "log") for c, n in own])
        lines.append(f"- {loss}: harmonic or log has the smallest absolute bias in {closest} settings.")
    # the direction of the bias, and whether theory predicts it
    misses = [
        abs(each.bias - each.bias_theory) / max(each.bias_se, 1e-15)
        for each in msp
        if each.estimator in ("harmonic", "log")
    ]
    lines.append(
        f"- Bias predicted by the weights of Propositions 3.3 and 3.4 (hypergeometric ranks): root mean squared "
        f"standardised gap {np.sqrt(np.mean(np.square(misses))):.2f} over {len(misses)} settings (1 is perfect)."
    )
    worst = max(abs(row["aurc_a"] / row["aurc_p"] - 1.0) for row in equal)
    lines.append(
        f"- AURC_a and AURC_p differ by at most {worst:.1e} of the value over {len(equal)} models and losses. They are "
        "one functional, so no test is needed, and a p-value near 1 would not show equality."
    )
    mean = [float(rank_weight_mse(n, np.arange(1, n + 1)).mean()) for n in (8, 128, 1024)]
    harmonic = [sum(1.0 / k for k in range(1, n + 1)) / n for n in (8, 128, 1024)]
    gap = max(abs(a / b - 1.0) for a, b in zip(mean, harmonic, strict=True))
    lines.append(f"- Proposition A.4: the mean of the weights' MSE is exactly H_n/n (largest relative gap {gap:.0e}).")
    for loss in sorted({row["loss"] for row in rates}):
        own_rates = [row for row in rates if row["loss"] == loss and row["estimator"] == "harmonic"]
        exponent = np.array([row["exponent"] for row in own_rates])
        root = _share([row["misfit_root"] < row["misfit_root_log"] for row in own_rates])
        lines.append(
            f"- {loss}: RMSE of harmonic ~ n^a with a = {np.median(exponent):.3f} (median; {exponent.min():.3f} to "
            f"{exponent.max():.3f}); 1/sqrt(n) fits better than sqrt(ln n / n) for {root} models."
        )
    stuck = _share([
        by[*c, all_sizes(c)[-1], "2 x SELE"].mae > 0.8 * abs(by[*c, all_sizes(c)[-1], "2 x SELE"].bias)
        and by[*c, large, "harmonic"].mae < by[*c, large, "2 x SELE"].mae
        for c in cells if large in all_sizes(c)
    ])  # fmt: skip
    lines.append(
        f"- At n = {large} the MAE of 2 x SELE exceeds that of harmonic, and is its bias: {stuck} pairs of model "
        "and loss."
    )
    better = _share([by[*c, large, "SELE"].mae < by[*c, large, "harmonic"].mae for c in cells if large in all_sizes(c)])
    small = _share([by[*c, 8, "SELE"].mae < by[*c, 8, "harmonic"].mae for c in cells if 8 in all_sizes(c)])
    lines.append(
        f"- MAE of SELE below that of harmonic: {small} pairs of model and loss at n = 8, {better} at n = {large}."
    )
    share = max(msp, key=lambda each: each.above_twice_sele)
    count = _share([by[*c, n, "harmonic"].above_twice_sele > 0 for c, n in pairs])
    lines.append(
        f"- AURC exceeds 2 x SELE in some batches in {count} settings, most often for {share.family} {share.model} "
        f"({share.loss}, n = {share.size}): {100 * share.above_twice_sele:.1f} % of the batches."
    )
    at_128: dict[Any, dict[str, float]] = {}
    for each in _pick(records, size=128):
        at_128.setdefault((each.family, each.model, each.loss, each.score), {})[each.estimator] = each.bias
    biases = list(at_128.values())
    closest = _share([min(own, key=lambda name: abs(own[name])) in ("harmonic", "log") for own in biases])
    below = _share([own["SELE"] < 0 for own in biases])
    above = _share([own["2 x SELE"] > 0 for own in biases])
    lines.append(
        f"- All scores at n = 128: harmonic or log has the smallest absolute bias in {closest} settings; SELE "
        f"underestimates in {below}, 2 x SELE overestimates in {above}."
    )
    share = max(records, key=lambda each: each.above_twice_sele)
    lines.append(
        f"- Over all scores: {100 * share.above_twice_sele:.1f} % of the batches of {share.size} for {share.family} "
        f"{share.model} ranked by {share.score} ({share.loss}), where errors gather at the top of the ranking."
    )
    example = counter_example()
    lines.append(
        f"- Counter-example to 'AURC <= 2 SELE' (five samples): AURC = {example['aurc']:.4f} > "
        f"{example['twice_sele']:.4f} = 2 SELE."
    )
    return lines
