"""Four estimators of AURC on random batches of a population, all batches of one size at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from abstain import aurc, rank_weights
from abstain._typing import FloatArray

ESTIMATORS = ("harmonic", "log", "SELE", "2 x SELE")


def tie_averaged(scores: FloatArray, by_rank: FloatArray) -> FloatArray:
    """Return the weight of each entry of rows that ascend: mean of the weights of the ranks that its tie spans."""
    n = scores.shape[1]
    new = np.ones(scores.shape, dtype=bool)
    new[:, 1:] = scores[:, 1:] != scores[:, :-1]
    if new.all():
        return np.broadcast_to(by_rank, scores.shape)
    position = np.arange(n)
    start = np.maximum.accumulate(np.where(new, position, 0), axis=1)
    last = np.ones(scores.shape, dtype=bool)
    last[:, :-1] = new[:, 1:]
    end = np.minimum.accumulate(np.where(last, position, n)[:, ::-1], axis=1)[:, ::-1] + 1
    total = np.concatenate([[0.0], np.cumsum(by_rank)])
    return np.asarray((total[end] - total[start]) / (end - start))


def batches(n: int, size: int, rounds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Random divisions of n samples into batches, one array (n_batches, size) per round; a rest is left out."""
    for _ in range(rounds):
        yield rng.permutation(n)[: n // size * size].reshape(-1, size)


def estimate(
    losses: dict[str, FloatArray], score: FloatArray, size: int, rounds: int, rng: np.random.Generator
) -> dict[tuple[str, str], FloatArray]:
    """Return the estimates of all batches by (loss, estimator).

    Ties are averaged, which is the mean over all ways to break them; for SELE, too.
    """
    weights = {name: rank_weights(size, name) for name in ("harmonic", "log", "sele")}
    found: dict[tuple[str, str], list[FloatArray]] = {(loss, name): [] for loss in losses for name in ESTIMATORS}
    for rows in batches(len(score), size, rounds, rng):
        order = np.argsort(score[rows], axis=1)
        rows = np.take_along_axis(rows, order, axis=1)
        ascending = score[rows]
        averaged = {name: tie_averaged(ascending, weight) for name, weight in weights.items()}
        for name, loss in losses.items():
            values = {which: np.mean(weight * loss[rows], axis=1) for which, weight in averaged.items()}
            found[name, "harmonic"].append(values["harmonic"])
            found[name, "log"].append(values["log"])
            found[name, "SELE"].append(values["sele"])
            found[name, "2 x SELE"].append(2.0 * values["sele"])
    return {key: np.concatenate(parts) for key, parts in found.items()}


class Summary(NamedTuple):
    """How the estimates of one size lie around the population's value, with standard errors of bias and MSE."""

    mean: float
    sd: float
    bias: float
    bias_se: float
    mae: float
    mse: float
    mse_se: float
    batches: int


def summarise(values: FloatArray, population: float, rounds: int) -> Summary:
    """Return the summary of estimates from several rounds; standard errors come from the rounds.

    Batches of one round exclude each other, so their errors cancel in part: only rounds are independent.
    """
    error = values - population
    per_round = error.reshape(rounds, -1)
    scale = max(rounds, 2) ** -0.5
    spread = 1 if rounds > 1 else 0
    return Summary(
        mean=float(values.mean()),
        sd=float(values.std()),
        bias=float(error.mean()),
        bias_se=float(per_round.mean(axis=1).std(ddof=spread) * scale),
        mae=float(np.abs(error).mean()),
        mse=float(np.mean(error**2)),
        mse_se=float((per_round**2).mean(axis=1).std(ddof=spread) * scale),
        batches=len(values),
    )


def population_value(loss: FloatArray, score: FloatArray) -> float:
    """AURC_p, Eq. 11 over the whole set, ties averaged."""
    return aurc(loss, score, estimator="harmonic")


def reweighted_value(loss: FloatArray, score: FloatArray) -> float:
    """AURC_a, Eq. 8: mean of -ln(1 - G) times loss, with the empirical distribution G read at the middle of its steps.

    Read at the top of its steps, G = 1 for the most confident sample and the value is infinite whenever that one has
    any loss.
    """
    n = len(loss)
    order = np.argsort(score)
    percentile = (np.arange(n) + 0.5) / n
    weight = tie_averaged(score[order][None], -np.log1p(-percentile))[0]
    return float(np.mean(weight * loss[order]))
