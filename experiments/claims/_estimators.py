"""Checks of the paper on estimators of AURC: weights, bounds, its Table 1, and the study of finite samples."""

from __future__ import annotations

import csv
import os
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from experiments.claims._ledger import check
from experiments.claims._sources import columns, holds, listed, printed, tied, vgg


def harmonic(n: int) -> float:
    """Return H_n."""
    return float(np.sum(1.0 / np.arange(1, n + 1)))


@check("E1", "E2", "E3")
def reweighted() -> str:
    rng = np.random.default_rng(0)
    n = 400_000
    score = rng.random(n)  # G(s) = s
    loss = (rng.random(n) < 1.0 - score).astype(float)  # risk of those above s: (1 - s)/2, so AURC = 1/4
    area, weighted = abstain.aurc(loss, score), float(np.mean(-np.log1p(-score) * loss))
    holds(abs(area - weighted) < 2e-3 and abs(area - 0.25) < 2e-3, (area, weighted))
    return f"loss with P = 1 - s, s uniform: area under the curve {area:.4f}, mean of -ln(1 - G) x loss {weighted:.4f}, exact .25"


@check("E5")
def mean_weight() -> str:
    found = [float(abstain.rank_weights(n).mean()) for n in (5, 100, 10_000)]
    top = abstain.rank_weights(100).max()
    holds(np.allclose(found, 1.0, atol=1e-12) and np.isclose(top, harmonic(100)), found)
    return f"mean harmonic weight at n = 5, 100, 10,000: {listed(found)}; the largest of 100 is H_100 = {top:.3f}"


@check("E6")
def empirical_weights() -> str:
    gap = 0.0
    for n in (5, 20):
        loss, score = np.random.default_rng(n).random(n), np.arange(n)
        gap = max(gap, abs(abstain.aurc(loss, score) - float(np.mean(abstain.rank_weights(n) * loss))))
    n, r = 5, 3
    last, first = harmonic(n) - harmonic(n - r), n * (harmonic(n) - harmonic(n - r))
    holds(gap < 1e-14 and np.isclose(first, 5 * last), gap)
    return f"weight H_n - H_(n-r): gap {gap:.0e}; first form of Eq. 12 at n = 5, r = 3: {first:.3f} against {last:.3f}"


@check("E7", "E28", kind="slow")
def cost() -> str:
    import time

    times = []
    for n in (200_000, 800_000):
        loss, score = np.random.default_rng(0).random((2, n))
        abstain.aurc(loss[:1000], score[:1000])
        start = time.process_time()
        abstain.aurc(loss, score)
        times.append(time.process_time() - start)
    holds(times[1] < 10 * times[0] + 0.2, times)
    return "four times the samples take less than ten times as long (n^2 would be 16)"


@check("E8", "E9")
def consistent() -> str:
    n, beta = 100_000, np.array([0.1, 0.5, 0.9, 0.99])
    weights = abstain.rank_weights(n)[(beta * n).astype(int) - 1]
    gap = float(np.abs(weights + np.log1p(-beta)).max())
    bias = float(np.abs(abstain.rank_weight_bias(1000, beta[:3])).max())
    holds(gap < 1e-3 and bias < 2e-3, (gap, bias))
    return f"n = 100,000: largest gap to -ln(1 - beta) {gap:.1e}; bias at n = 1,000 {bias:.1e}"


@check("E10", "E18")
def beta_means() -> str:
    from scipy import integrate, special, stats

    gaps = []
    for n, r in ((5, 2), (20, 19), (50, 50), (50, 10)):
        law = stats.beta(r, n + 1 - r)
        mean = integrate.quad(lambda b, law=law: -np.log1p(-b) * law.pdf(b), 0, 1, limit=200)[0]
        square = integrate.quad(lambda b, law=law, m=mean: (np.log1p(-b) + m) ** 2 * law.pdf(b), 0, 1, limit=200)[0]
        exact = special.polygamma(1, n + 1 - r) - special.polygamma(1, n + 1)
        own = abstain.rank_weight_mse(n, [r])[0]
        gaps.append(max(abs(mean - abstain.rank_weights(n)[r - 1]), abs(square - exact), abs(own - exact)))
    holds(max(gaps) < 1e-6, gaps)
    return f"mean and MSE of the weight over Beta(r, n + 1 - r) by quadrature: largest gap {max(gaps):.0e}"


@check("E11")
def log_weights() -> str:
    found = [float(abstain.rank_weights(n, "log").mean()) for n in (8, 128, 1024)]
    holds(np.all(np.diff(found) > 0) and found[-1] < 1.0, found)
    return f"mean log weight at n = 8, 128, 1024: {listed(found)}"


@check("E12")
def log_below() -> str:
    least = min(float((abstain.rank_weights(n) - abstain.rank_weights(n, "log")).min()) for n in (2, 10, 1000, 10_000))
    problems = sum(
        abstain.aurc(*each, estimator="log") <= abstain.aurc(*each, estimator="harmonic") for each in tied(200)
    )
    holds(least >= 0.0 and problems == 200, (least, problems))
    return f"smallest difference of the weights {least:.1e}, estimates ordered in {problems} of 200 tied problems"


def _bias(estimator: Any, n: int, beta: float) -> float:
    """Return the bias of a weight at a known percentile, summed over the binomial rank."""
    from scipy import stats

    below = np.arange(n)
    weights = abstain.rank_weights(n, estimator)[below]
    return float(stats.binom(n - 1, beta).pmf(below) @ weights + np.log1p(-beta))


@check("E13", "E14", "E15")
def biases() -> str:
    gaps = {
        name: max(abs(_bias(name, n, b) - float(abstain.rank_weight_bias(n, [b], name)[0]))
                  for n in (5, 30) for b in (0.1, 0.5, 0.9))
        for name in ("harmonic", "log", "sele")
    }  # fmt: skip
    n, b = 30, 0.9
    collapsed = 1 / n - sum(b**j / j for j in range(n, 4000))
    holds(max(gaps.values()) < 1e-10 and abs(collapsed - _bias("harmonic", n, b)) < 1e-10, gaps)
    gap = max(gaps.values())
    shown = "below 1e-14" if gap < 1e-14 else f"{gap:.0e}"  # the digits of rounding differ between versions of NumPy
    return f"against binomial sums: largest gap {shown}; harmonic = 1/n - sum of b^j/j over j >= n"


@check("E16", "E17")
def signs() -> str:
    n = 128
    ends = {name: [float(abstain.rank_weight_bias(n, [b], name)[0]) for b in (0.05, 0.99)]
            for name in ("harmonic", "log", "sele")}  # fmt: skip
    limit = float(abstain.rank_weight_bias(100_000, [0.9], "sele")[0])
    holds(abs(limit - (0.9 + np.log(0.1))) < 1e-3, limit)
    holds(max(abs(x) for x in ends["sele"]) > max(abs(x) for x in ends["harmonic"]), ends)
    return (
        "bias at beta = .05, .99 (n = 128): "
        + "; ".join(f"{name} {listed(v, 3)}" for name, v in ends.items())
        + f"; SELE at .9 for large n: {limit:.3f}"
    )


@check("E19")
def bound_over_percentile() -> str:
    rng = np.random.default_rng(0)
    n, rows = 64, []
    for beta in (0.9, 0.99, 0.999):
        below = rng.binomial(n - 1, beta, 200_000)
        error = float(np.mean((abstain.rank_weights(n)[below] + np.log1p(-beta)) ** 2))
        rows.append((beta, error, beta / (n * (1 - beta) + 1)))
    holds(rows[-1][1] > rows[-1][2], rows)
    return "n = 64, error at a known percentile and the printed bound: " + "; ".join(
        f"beta {b}: {e:.3f}, {bound:.3f}" for b, e, bound in rows
    )


@check("E20")
def mse_of_both() -> str:
    n = 64
    rank = [
        float((abstain.rank_weight_mse(n, [r], "log") - abstain.rank_weight_mse(n, [r]))[0]) for r in range(1, n + 1)
    ]
    from scipy import stats

    smaller = 0
    grid = np.linspace(0.01, 0.99, 99)
    for beta in grid:
        p, w = stats.binom(n - 1, beta).pmf(np.arange(n)), -np.log1p(-beta)
        errors = [p @ (abstain.rank_weights(n, name) - w) ** 2 for name in ("harmonic", "log")]
        smaller += bool(errors[1] < errors[0])
    holds(min(rank) > 0 and smaller > 50, (min(rank), smaller))
    return f"n = 64: at a known rank the log weight has the larger error for all ranks, at a known percentile the smaller for {smaller} of 99"


@check("E21")
def top_rank() -> str:
    found = []
    for n in (10, 1000, 100_000):
        q = abstain.rank_weights(n)[-1] - abstain.rank_weights(n, "log")[-1]
        found.append(float(q))
    holds(abs(found[-1] - 0.5772) < 1e-3, found)
    return f"Q at the top rank, n = 10, 1,000, 100,000: {listed(found)} (Euler's constant; the printed bound is undefined there)"


@check("E22")
def mean_mse() -> str:
    found = []
    for n in (8, 50, 1000):
        mean = float(np.mean(abstain.rank_weight_mse(n, np.arange(1, n + 1))))
        found.append(abs(mean / (harmonic(n) / n) - 1.0))
    holds(max(found) < 1e-12, found)
    return (
        f"mean MSE of the harmonic weights = H_n/n, relative gap {max(found):.0e}; at n = 50: {harmonic(50) / 50:.4f}"
    )


@check("E25")
def sele_below() -> str:
    least = min(float((abstain.rank_weights(n) - abstain.rank_weights(n, "sele")).min()) for n in (2, 10, 1000))
    n = 10
    equal = int(np.isclose(abstain.rank_weights(n), abstain.rank_weights(n, "sele")).sum())
    holds(least >= 0 and equal == 1, (least, equal))
    return f"smallest difference of the weights {least:.1e}; of ten ranks {equal} has equal weights, the lowest"


@check("E26")
def twice_sele() -> str:
    loss, score = [1, 0, 0, 0, 0], [5, 4, 3, 2, 1]
    values = abstain.aurc(loss, score), abstain.sele(loss, score, factor=2)
    holds(values[0] > values[1], values)
    return f"five samples, only the surest wrong: AURC {values[0]:.4f} > 2 x SELE {values[1]:.4f}"


@check("E27")
def sele_sum() -> str:
    loss, score = np.random.default_rng(0).random(30), np.arange(30)
    gap = abs(abstain.sele(loss, score) - float(np.sum(np.arange(1, 31) * loss)) / 900)
    tie = abstain.sele([1, 0], [0, 0])
    holds(gap < 1e-15, gap)
    return f"sum of r/n^2 x loss, gap {gap:.0e}; of two tied samples the largest rank counts: {tie:g}"


@check("E44", "E43", "E42")
def objectives() -> str:
    rows = printed("estimators")["table1"]["rows"]
    below = sum(row[k] < row[k - k % 4] for row in rows.values() for k in range(8) if k % 4)
    best = {}
    for name in ("CIFAR-10", "CIFAR-100"):
        of = columns("estimators", "table1", data=name)
        objective = [printed("estimators")["table1"]["columns"][j]["objective"] for j in of]
        best[name] = sum(objective[int(np.argmin([row[j] for j in of]))] == "SELE" for row in rows.values())
    gains = [1 - row[k + 2] / row[k] for row in rows.values() for k in (0, 4)]
    holds(below == 36, below)
    return (
        f"printed: below cross-entropy in {below} of 36 cells (harmonic by {min(gains):.1%} to {max(gains):.1%}); SELE lowest in "
        f"{best['CIFAR-10']} of 6 networks on CIFAR-10, {best['CIFAR-100']} of 6 on CIFAR-100"
    )


@check("E45")
def two_objectives_in_one() -> str:
    rows = printed("estimators")["table1"]
    gaps = sorted(abs(row[k + 2] - row[k + 3]) for row in rows["rows"].values() for k in (0, 4))
    wide, spread = rows["rows"]["WideResNet28x10"][4:], rows["standard_deviation"]["WideResNet28x10"][4:]
    holds(gaps[-1] > 10 * gaps[-2], gaps)
    return f"harmonic and log differ by at most {gaps[-2]:.3f} in 11 of 12 cells and by {gaps[-1]:.3f} in one: WideResNet, CIFAR-100, {wide}, deviations {spread}"


@check("E47")
def deviations() -> str:
    spread = printed("estimators")["table1"]["standard_deviation"]
    tiny = sorted(row[k] for row in spread.values() for k in (0, 4))[:4]
    others = sorted(row[k] for row in spread.values() for k in range(8) if k % 4)
    holds(max(tiny) <= 0.002 < others[0], (tiny, others[0]))
    return f"deviations of cross-entropy in four cells {listed(tiny, 1)}; the smallest of any other objective {others[0]:g}"


@check("E48")
def posterior() -> str:
    from abstain import study

    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], size=(6, 200))
    y = rng.integers(0, 3, 200)
    found = study.over_passes(abstain.Outputs(labels=y, passes=p), "aurc(estimator=harmonic)")
    each = [abstain.aurc(q.argmax(1) != y, q.max(1), estimator="harmonic") for q in p]
    holds(abs(found.mean - np.mean(each)) < 1e-14, (found, each))
    return f"E[AURC(f)] over six members {found.mean:.4f} ± {found.deviation:.4f}, mean of the members' own {np.mean(each):.4f}"


@check("E49")
def negative_entropy() -> str:
    z = np.array([2.0, -1.0])
    with np.errstate(invalid="ignore"):
        literal = float(np.sum(z * np.log(z)))
    holds(np.isnan(literal), literal)
    own = abstain.scores.compute("neg_entropy", abstain.Outputs(labels=[0], logits=[z]))[0]
    return f"logits (2, -1): sum of z ln z is {literal}, of probabilities {own:.4f}"


@check("E50")
def literal_norm() -> str:
    outputs = vgg()
    z = np.log(np.maximum(np.asarray(outputs.probabilities, dtype=float), 1e-45))
    z = z - z.mean(axis=1, keepdims=True)
    norm = np.linalg.norm(z, axis=1)
    found = [abstain.auroc_f(outputs.error, each) for each in (norm, z.max(1) / norm)]
    return f"VGG-16, failure AUROC: the literal norm {found[0]:.3f}, largest logit over norm {found[1]:.3f}"


@cache
def records() -> tuple[list[dict[str, str]], list[str]]:
    """Return records and statements of the study of finite samples; it runs for minutes unless it is given."""
    folder = os.environ.get("ABSTAIN_FINITE_SAMPLE")
    if folder is None:
        from experiments.finite_sample.__main__ import main

        folder = tempfile.mkdtemp()
        main(["--data", str(Path(os.environ["ABSTAIN_DATA"]) / "outputs"), "--output", folder, "--no-figures"])
    with (Path(folder) / "records.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return rows, (Path(folder) / "statements.md").read_text(encoding="utf-8").splitlines()


def _said(start: str) -> str:
    found = next((line[2:] for line in records()[1] if line.startswith(f"- {start}")), None)
    holds(found, f"no statement starts with {start!r}")
    assert found is not None
    return found


def _median(estimator: str, size: int, field: str, loss: str = "0/1", score: str = "MSP") -> float:
    found = [float(row[field]) / float(row["population"]) for row in records()[0]
             if (row["estimator"], row["size"], row["loss"], row["score"]) == (estimator, str(size), loss, score)]  # fmt: skip
    return float(np.median(found))


def _statement(*rows: tuple[str, str]) -> None:
    for identifier, start in rows:
        check(identifier, kind="data")(partial(_said, start))


_statement(
    ("E4", "AURC_a and AURC_p differ"), ("E23", "0/1: RMSE of harmonic"), ("E29", "SELE underestimates"),
    ("E35", "At n = 1024 the MAE of 2 x SELE"), ("E36", "CE: the log estimator has the smaller MSE"),
    ("E34", "MAE of SELE below"), ("E37", "All scores at n = 128"),
)  # fmt: skip


@check("E30", "E38", "E39", kind="data")
def bounds_of_sele() -> str:
    return _said("SELE underestimates") + " " + _said("AURC exceeds 2 x SELE") + " " + _said("All scores at n = 128")


@check("E31", "E51", kind="data")
def bias_falls() -> str:
    found = [_median("harmonic", n, "bias") for n in (8, 128, 1024)]
    holds(found[0] > found[1] > found[2] > -0.01, found)
    return f"median relative bias of harmonic at n = 8, 128, 1024: {listed(found, 2)}"


@check("E32", "E33", kind="data")
def other_loss() -> str:
    found = {
        loss: (_median("harmonic", 128, "mae", loss), _median("harmonic", 8, "bias", loss)) for loss in ("0/1", "CE")
    }
    holds(found["CE"][0] > found["0/1"][0] and min(each[1] for each in found.values()) > 0, found)
    return "harmonic, relative MAE at n = 128 and bias at n = 8: " + "; ".join(
        f"{k} {listed(v, 2)}" for k, v in found.items()
    )


@check("E40", "E41", kind="data")
def loss_or_score() -> str:
    table: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for row in records()[0]:
        if row["estimator"] == "harmonic" and row["size"] == "128" and "norm" not in row["score"]:
            table.setdefault((row["family"], row["model"]), {})[row["loss"], row["score"]] = float(row["sd"])
    by_loss, by_score, pairs, smaller = [], [], 0, 0
    for found in table.values():
        scores = sorted({score for loss, score in found if loss == "CE"})
        for score in scores:
            if ("0/1", score) in found:
                pairs += 1
                smaller += found["0/1", score] < found["CE", score]
                by_loss.append(found["CE", score] / found["0/1", score])
        for loss in ("0/1", "CE"):
            of = [found[loss, score] for score in scores if (loss, score) in found]
            if len(of) > 1:
                by_score.append(max(of) / min(of))
    holds(np.median(by_loss) > max(np.median(by_score), 1.5) and smaller == pairs, (by_loss, by_score))
    return (
        f"deviation at n = 128: from 0/1 to cross-entropy {min(by_loss):.1f} to {max(by_loss):.1f} times, from score to score "
        f"at most {max(by_score):.1f} times; smaller with 0/1 in {smaller} of {pairs} pairs"
    )


@check("E46", kind="quick")
def which_loss() -> str:
    outputs = vgg()
    confidence = np.asarray(outputs.probabilities).max(1)
    p = np.asarray(outputs.probabilities)[np.arange(outputs.n), outputs.labels]
    values = [100 * abstain.aurc(loss, confidence) for loss in (outputs.error, -np.log(p))]
    cells = [v for row in printed("estimators")["table1"]["rows"].values() for v in row[:4]]
    return f"a VGG-16 on CIFAR-10 has AURC x 100 {values[0]:.2f} (0/1) and {values[1]:.2f} (cross-entropy); printed {min(cells):g} to {max(cells):g}"
