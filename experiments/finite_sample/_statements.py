"""The paper's statements, each with the numbers that confirm or correct it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from abstain import aurc, rank_weight_mse, sele
from experiments.finite_sample._study import Record

#: Records of one batch size of one model, loss and score, by estimator.
Setting = dict[str, Record]


def counter_example() -> dict[str, float]:
    """Five samples, the only loss on the most confident one: AURC is H_5/5, 2 x SELE is 2/5 (Eq. 34-36)."""
    loss, confidence = [0.0, 0.0, 0.0, 0.0, 1.0], [0.1, 0.2, 0.3, 0.4, 0.5]
    value = aurc(loss, confidence, estimator="harmonic")
    return {"aurc": value, "twice_sele": sele(loss, confidence, factor=2.0), "aurc_times_5": 5.0 * value}


def statements(records: Sequence[Record], equal: Sequence[Any], rates: Sequence[Any]) -> list[str]:
    """Return the statements with numbers, as Markdown list items."""
    found: dict[Any, Setting] = {}
    for each in records:
        found.setdefault((each.family, each.model, each.loss, each.score, each.size), {})[each.estimator] = each
    settings = list(found.values())
    msp = [own for own in settings if own["SELE"].score == "MSP"]
    lines = [*_bias_and_error(msp), *_theory(msp), *_equality(equal), *_rates(rates), *_sele(msp)]
    lines += [*_all_scores(settings), *_above_twice_sele(msp, settings)]
    return [f"- {line}" for line in lines]


def _share(flags: Sequence[bool]) -> str:
    return f"{sum(flags)} of {len(flags)}"


def _plug_in_is_closest(own: Setting) -> bool:
    return min(own, key=lambda name: abs(own[name].bias)) in ("harmonic", "log")


def _bias_and_error(msp: Sequence[Setting]) -> Iterator[str]:
    lower = _share([own["log"].mean <= own["harmonic"].mean for own in msp])
    yield f"log <= harmonic in the mean: {lower} settings (exact by Jensen)."
    below = _share([own["SELE"].bias < 0 for own in msp])
    above = _share([own["2 x SELE"].bias > 0 for own in msp])
    yield f"SELE underestimates AURC: {below} settings; 2 x SELE overestimates: {above}."
    for loss in sorted({own["SELE"].loss for own in msp}):
        of_loss = [own for own in msp if own["SELE"].loss == loss]
        lower = _share([own["log"].mse < own["harmonic"].mse for own in of_loss])
        yield f"{loss}: the log estimator has the smaller MSE in {lower} settings."
        closest = _share([_plug_in_is_closest(own) for own in of_loss])
        yield f"{loss}: harmonic or log has the smallest absolute bias in {closest} settings."


def _theory(msp: Sequence[Setting]) -> Iterator[str]:
    plug_in = [own[name] for own in msp for name in ("harmonic", "log")]
    misses = [(each.bias - each.bias_theory) / max(each.bias_se, 1e-15) for each in plug_in]
    yield (
        "Bias predicted by the weights of Propositions 3.3 and 3.4 (hypergeometric ranks): root mean squared "
        f"standardised gap {np.sqrt(np.mean(np.square(misses))):.2f} over {len(misses)} settings (1 is perfect)."
    )
    sizes = (8, 128, 1024)
    mean = np.array([rank_weight_mse(n, np.arange(1, n + 1)).mean() for n in sizes])
    harmonic = np.array([np.sum(1.0 / np.arange(1, n + 1)) / n for n in sizes])
    gap = float(np.abs(mean / harmonic - 1.0).max())
    yield f"Proposition A.4: the mean of the weights' MSE is exactly H_n/n (largest relative gap {gap:.0e})."


def _equality(equal: Sequence[Any]) -> Iterator[str]:
    worst = max(abs(row["aurc_a"] / row["aurc_p"] - 1.0) for row in equal)
    yield (
        f"AURC_a and AURC_p differ by at most {worst:.1e} of the value over {len(equal)} models and losses. They are "
        "one functional, so no test is needed, and a p-value near 1 would not show equality."
    )


def _rates(rates: Sequence[Any]) -> Iterator[str]:
    for loss in sorted({row["loss"] for row in rates}):
        own = [row for row in rates if row["loss"] == loss and row["estimator"] == "harmonic"]
        exponent = np.array([row["exponent"] for row in own])
        root = _share([row["misfit_root"] < row["misfit_root_log"] for row in own])
        yield (
            f"{loss}: RMSE of harmonic ~ n^a with a = {np.median(exponent):.3f} (median; {exponent.min():.3f} to "
            f"{exponent.max():.3f}); 1/sqrt(n) fits better than sqrt(ln n / n) for {root} models."
        )


def _sele(msp: Sequence[Setting]) -> Iterator[str]:
    sizes = sorted({own["SELE"].size for own in msp})
    least, most = ([own for own in msp if own["SELE"].size == size] for size in (sizes[0], sizes[-1]))
    worse = _share([own["2 x SELE"].mae > own["harmonic"].mae for own in most])
    stuck = _share([abs(own["2 x SELE"].bias) > 0.8 * own["2 x SELE"].mae for own in most])
    yield (
        f"At n = {sizes[-1]} the MAE of 2 x SELE exceeds that of harmonic in {worse} pairs of model and loss, and is "
        f"bias to more than 80 % in {stuck}."
    )
    small, large = (_share([own["SELE"].mae < own["harmonic"].mae for own in part]) for part in (least, most))
    yield (
        f"MAE of SELE below that of harmonic: {small} pairs of model and loss at n = {sizes[0]}, {large} at "
        f"n = {sizes[-1]}."
    )


def _all_scores(settings: Sequence[Setting]) -> Iterator[str]:
    at_128 = [own for own in settings if own["SELE"].size == 128]
    closest = _share([_plug_in_is_closest(own) for own in at_128])
    below = _share([own["SELE"].bias < 0 for own in at_128])
    above = _share([own["2 x SELE"].bias > 0 for own in at_128])
    yield (
        f"All scores at n = 128: harmonic or log has the smallest absolute bias in {closest} settings; SELE "
        f"underestimates in {below}, 2 x SELE overestimates in {above}."
    )


def _above_twice_sele(msp: Sequence[Setting], settings: Sequence[Setting]) -> Iterator[str]:
    count = _share([own["harmonic"].above_twice_sele > 0 for own in msp])
    most = max((own["harmonic"] for own in msp), key=lambda each: each.above_twice_sele)
    yield (
        f"AURC exceeds 2 x SELE in some batches in {count} settings, most often for {most.family} {most.model} "
        f"({most.loss}, n = {most.size}): {100 * most.above_twice_sele:.1f} % of the batches."
    )
    most = max((own["harmonic"] for own in settings), key=lambda each: each.above_twice_sele)
    yield (
        f"Over all scores: {100 * most.above_twice_sele:.1f} % of the batches of {most.size} for {most.family} "
        f"{most.model} ranked by {most.score} ({most.loss}), where errors gather at the top of the ranking."
    )
    example = counter_example()
    yield (
        f"Counter-example to 'AURC <= 2 SELE' (five samples): AURC = {example['aurc']:.4f} > "
        f"{example['twice_sele']:.4f} = 2 SELE."
    )
