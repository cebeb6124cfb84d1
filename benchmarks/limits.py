"""Whether bands of clusters, AURC from few labels and of errors at the top, and differences of coverages hold.

    python -m benchmarks.limits [bands large few top coverage] [--repetitions N]

From the root of the repository; the truth is known everywhere. ``bands``: simultaneous bands with ``clusters=``.
``large``: with a few large clusters whose risk is their own. ``few``: AURC of pools where a few confident errors
decide, from plans for it and from rows drawn alike. ``top``: ``unseen="random"`` and ``"top"``. ``coverage``: the
difference of two coverages at a risk.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from scipy import stats

import abstain
from abstain import pool as room
from abstain.pool import Sample, _sampling
from abstain.pool._pool import guessed

GRID = (np.arange(4000) + 0.5) / 4000


def share(held: Any) -> str:
    """Return a share in per cent."""
    return f"{100.0 * np.mean(held):.1f} %"


def bands(many: int) -> None:
    """Share of samples in which a band holds at all thresholds from a coverage of .1 on."""
    for frail in (True, False):
        rate = stats.gamma(2.0, scale=0.5).ppf((np.arange(2000) + 0.5) / 2000) if frail else np.ones(1)
        risk = np.minimum((0.02 + 0.35 * GRID**2)[:, None] * rate, 1.0).mean(axis=1)
        truth = np.cumsum(risk) / np.arange(1, 4001)
        for sizes in ("equal", "log-normal", "one in twenty"):
            for m in (60, 200):
                rng, held, warned = np.random.default_rng(3), [], []
                for draw in range(many):
                    size = np.full(m, 10)
                    if sizes == "log-normal":
                        size = np.clip(np.round(5.0 * np.exp(rng.normal(0.0, 1.0, m) - 0.5)), 1, 200).astype(int)
                    elif sizes == "one in twenty":
                        size = np.where(rng.random(m) < 0.05, 100, 5)
                    cluster = np.repeat(np.arange(m), size)
                    each = rng.gamma(2.0, 0.5, m)[cluster] if frail else 1.0
                    u = rng.random(len(cluster))
                    loss = (rng.random(len(u)) < np.minimum((0.02 + 0.35 * u**2) * each, 1.0)).astype(float)
                    options: dict[str, Any] = {"kind": "simultaneous", "n_draws": 300, "rng": draw}
                    band = abstain.inference.risk_band(loss, -u, clusters=cluster, **options)
                    known = band.coverage >= 0.1
                    at = np.interp(-band.threshold, GRID + 0.5 / 4000, truth)[known]
                    held.append(bool(((band.low[known] <= at) & (at <= band.high[known])).all()))
                    warned.append(band.warning is not None)
                print(f"bands, {sizes}, frailty {frail}, {m} clusters: hold {share(held)}, warned {share(warned)}")


def large(many: int) -> None:
    """Of all clusters 15 % have 40 rows, the others 3 rows and 5 % errors; the scores are useless, so the risk is one.

    ``whole``: a large one is wrong altogether in one case of five; samples without any are those of a population with
    much less risk.
    """
    for kind, m in (("rates from Beta(1, 4)", 60), ("wrong as a whole", 50)):
        rng, held, below, truth = np.random.default_rng(3), [], [], (6.0 * 0.2 + 2.55 * 0.05) / 8.55
        for draw in range(many):
            big = rng.random(m) < 0.15
            cluster = np.repeat(np.arange(m), np.where(big, 40, 3))
            rate = rng.beta(1, 4, m) if kind.startswith("rates") else (rng.random(m) < 0.2) * 1.0
            loss = (rng.random(len(cluster)) < np.where(big, rate, 0.05)[cluster]) * 1.0
            options: dict[str, Any] = {"kind": "simultaneous", "n_draws": 300, "rng": draw}
            band = abstain.inference.risk_band(loss, rng.random(len(loss)), clusters=cluster, **options)
            known = band.coverage >= 0.1
            held.append(bool(((band.low[known] <= truth) & (truth <= band.high[known])).all()))
            if not rate[big].any():
                below.append(bool(band.high[-1] < truth))
        print(f"large clusters, {kind}: hold {share(held)} of {many}, risk {truth:.3f}")
        if len(below) > 0.05 * many:
            print(
                f"  none wrong in {len(below) / many:.1%}, in {share(below)} of these the upper end is below the risk"
            )


def few(many: int) -> None:
    """AURC of 2,000 rows from 100 and 200 labels."""
    metric, n_rows, rng = abstain.metrics.get("aurc"), 2000, np.random.default_rng(3)
    u = (np.arange(n_rows) + 0.5) / n_rows
    risks = {"30 % of the top 2 % wrong": np.where(u < 0.02, 0.3, 0.3 * u**2), "risk .3 u2": 0.3 * u**2,
             "risk .6 u3": 0.6 * u**3, "risk .01 + .3 u3": 0.01 + 0.3 * u**3}  # fmt: skip
    losses = {name: (rng.random(n_rows) < risk).astype(float) for name, risk in risks.items()}
    top = rng.permutation(20)
    losses["all errors in the top 1 %"] = np.isin(np.arange(n_rows), top[:10]) * 1.0
    losses["six of the top 1 % wrong"] = np.maximum(losses["risk .3 u2"], np.isin(np.arange(n_rows), top[:6]))
    pool = room.Pool.of(1.0 - u)
    size = _sampling.levelled(metric, pool, guessed(pool, None), np.arange(n_rows))
    order, whole = np.argsort(pool.block, kind="stable"), np.ones(n_rows, dtype=bool)
    for n in (100, 200):
        chance, alike = _sampling.proportional(size, n), np.full(n_rows, n / n_rows)
        for name, loss in losses.items():
            truth, rng, found = abstain.aurc(loss, 1.0 - u), np.random.default_rng(1), list[list[Any]]()
            for _ in range(many):
                rows = _sampling.spread(order, chance, rng), np.sort(rng.choice(n_rows, n, replace=False))
                each = [Sample(pool, mine, loss[mine], np.zeros(n, int), pi[mine], whole, (n,), inclusion=pi)
                        for mine, pi in zip(rows, (chance, alike), strict=True)]  # fmt: skip
                kinds: Any = ((each[0], "top"), (each[1], "top"), (each[1], "random"))
                made = [room.estimate(metric, sample, 0.95, "pool", unseen) for sample, unseen in kinds]
                found.append([(one.low <= truth <= one.high, one.high - one.low) for one in made])
            held, width = np.moveaxis(np.array(found), 2, 0)
            ratio = np.median(width, axis=0) / np.median(width[:, 2])
            cells = ", ".join(f"{share(held[:, k])} x{ratio[k]:.2f}" for k in range(3))
            print(f"few labels, {name}, {n}: levelled, alike, alike and random: {cells}")


def top(many: int) -> None:
    """AURC and AUGRC where confident errors are seldom seen, by where an unseen one may lie."""
    u = (np.arange(1_000_000) + 0.5) / 1_000_000
    risks = {"top 2 % at 10 %": np.where(u < 0.02, 0.1, 0.001 + 0.3 * u**6),
             "top 1 % at 30 %": np.where(u < 0.01, 0.3, np.where(u < 0.97, 0.0, 0.5)),
             ".3 u2": 0.3 * u**2, ".2 u3": 0.2 * u**3, ".01 + .3 u2": 0.01 + 0.3 * u**2}  # fmt: skip
    for name, risk in risks.items():
        total = np.cumsum(risk)
        truths = {"aurc": np.mean(total / np.arange(1, len(u) + 1)), "augrc": np.mean(total / len(u))}
        for n in (200, 500, 1000):
            rng, found = np.random.default_rng(2), list[list[Any]]()
            for _ in range(many):
                x = rng.random(n)
                loss = (rng.random(n) < risk[(x * len(u)).astype(int)]).astype(float)
                made = [(abstain.confidence_interval(metric, loss, -x, unseen=unseen), truth)
                        for metric, truth in truths.items() for unseen in ("random", "top")]  # type: ignore[arg-type]  # fmt: skip
                found.append([one.low <= truth <= one.high for one, truth in made])
            cells = ", ".join(share(each) for each in np.array(found).T)
            print(f"top, {name}, n={n}: AURC random, top, AUGRC random, top: {cells}")


def coverage(many: int) -> None:
    """The difference of two coverages at a risk where the risk is flat around the limit, and where it rises."""
    for kind in ("flat", "rises"):
        for limit in (0.01, 0.05):
            for n in (300, 1000):
                rng, held, metric = np.random.default_rng(1), [], f"coverage_at_risk(risk={limit})"

                def draw(rows: int, rng: Any = rng, kind: str = kind) -> tuple[Any, dict[str, Any]]:
                    e = rng.random(rows)
                    risk = np.where(e < 0.7, 0.048, 0.25) if kind == "flat" else 0.4 * e**3
                    wider = (0.05, 0.3) if kind == "flat" else (0.0, 0.25)
                    scores = {name: -e + by * rng.normal(size=rows) for name, by in zip("ab", wider, strict=True)}
                    return (rng.random(rows) < risk).astype(float), scores

                loss, scores = draw(1_000_000)
                values = [abstain.coverage_at_risk(loss, each, risk=limit) for each in scores.values()]
                truth = values[0] - values[1]
                for _ in range(many):
                    each = abstain.compare(*draw(n), metric=metric, n_resamples=100, rng=0).difference("a", "b")
                    held.append(each.low <= truth <= each.high)
                print(f"coverage at {limit:g}, {kind}, n={n}: true {truth:.3f}, covered {share(held)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = {"bands": bands, "large": large, "few": few, "top": top, "coverage": coverage}
    parser.add_argument("parts", nargs="*", choices=[*parts, []], default=[])
    parser.add_argument("--repetitions", type=int, default=400)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.parts or parts:
        parts[name](options.repetitions)


if __name__ == "__main__":
    main()
