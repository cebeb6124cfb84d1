"""Few labels: what they cost and whether the intervals hold, on real pools of which all labels are known.

    python -m benchmarks.few_labels [PART ...] [--full] [--data FOLDER] [--file PICTURE]

Parts: exact, coverage, price, useless, population, adaptive, wrong, compare, judge, region, stop; and, without FOLDER,
confident and picture.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.few_labels_pools import imagenet, pairs, picture, pools
from benchmarks.harness import DATA, Form, command, held, say

import abstain
from abstain import pool as room
from abstain.pool import Sample, _sampling
from abstain.pool._pair import FLOOR, contrast
from abstain.pool._pool import guessed

Rng = np.random.Generator
SIZES = (100, 200, 400, 1000)
METRICS = ("augrc", "aurc", "selective_risk(coverage=0.8)", "auroc_f")
AUGRC, AURC = abstain.metrics.get("augrc"), abstain.metrics.get("aurc")


def value_of(metric: Any, loss: Any, score: Any) -> float:
    """Return plain evaluation of labelled rows."""
    return metric.evaluate(abstain.TieBlocks.from_samples(loss, score)).value


def labelled(pool: Any, loss: Any, rows: Any, chance: Any = None) -> Sample:
    """Return labels of rows of a pool, which were drawn alike if no chances are given."""
    n = len(rows)
    each = np.full(n, n / pool.n) if chance is None else chance[rows]
    return Sample(pool, rows, loss[rows], np.zeros(n, int), each, np.ones(pool.n, bool), (n,))


def uniform(pool: Any, loss: Any, n: int, rng: Rng) -> Sample:
    """Draw n rows alike and label them."""
    return labelled(pool, loss, np.sort(rng.choice(pool.n, n, replace=False)))


def holds(found: Any, truth: float, room: float = 0.0) -> bool:
    """Return whether an interval contains the truth."""
    return bool(found.low - room <= truth <= found.high + room)


def ratio(few: Any, plain: Any, truth: float) -> tuple[float, str]:
    """Return the ratio of two mean squared errors, and the same with 1.96 Monte Carlo errors, by the delta method."""
    a, b = (np.asarray(few) - truth) ** 2, (np.asarray(plain) - truth) ** 2
    value = a.mean() / b.mean()
    error = value * np.std(a / a.mean() - b / b.mean()) / np.sqrt(len(a))
    return float(value), f"x{value:.3f} +-{1.96 * error:.3f}"


def geometric(ratios: list[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))


def mean_and_least(cells: list[Any]) -> str:
    """Return the mean and the least of shares, each with its name."""
    least, name = min(cells)
    return f"covered {100 * np.mean([cell[0] for cell in cells]):.1f} %, least {100 * least:.1f} % ({name})"


def exact(form: Form, data: Path = DATA) -> None:
    """Values with all labels, then bias in many draws."""
    for name, (loss, score) in pools(data).items():
        plan = abstain.plan_labels(score, n=len(score), seed=0)
        found = abstain.evaluate(loss=loss, confidence=score, plan=plan, metrics="all", level=None)
        plain = abstain.evaluate(loss=loss, confidence=score, metrics="all", level=None)
        expected = {entry.metric: entry.value for entry in plain.measurements}
        gaps = [abs(e.value - expected[e.metric]) for e in found.measurements if e.value == e.value]
        say(f"  {name:18s} {len(gaps)} metrics, all rows labelled: largest difference {max(gaps):.1e}")
    rng, draws, n = np.random.default_rng(0), form(10_000, 2_000), 60
    ease = np.round(rng.random(500), 2)
    loss = (rng.random(500) < 0.6 * (1 - ease) ** 2 + 0.02).astype(float)
    judge = np.where(rng.random(500) < 0.9, loss, 1.0 - loss)
    truth, guess = value_of(AUGRC, loss, ease), np.linspace(0.5, 0.05, 500)
    for design in ("uniform", "adaptive", "planned"):
        plan = abstain.plan_labels(ease, n=n, design=design, judge=judge if design == "planned" else None, seed=0)
        values = np.empty((draws, 2))
        for k in range(draws):
            drawn = replace(plan, stage=first_stage(plan, plan.sizes[0], k, design != "planned"))
            if design == "adaptive":
                drawn = drawn.extend(np.where(drawn.stage > 0, loss, np.nan), seed=draws + k)
            sample = room.sample_of(drawn, np.where(drawn.stage > 0, loss, np.nan))
            values[k] = AUGRC(sample.with_guess(guess)), AUGRC(sample.estimated)
        bias = (values.mean(axis=0) - truth) / (values.std(axis=0) / np.sqrt(draws))
        said = f"bias {bias[0]:+.1f} Monte Carlo errors with a fixed guess, {bias[1]:+.1f} fitted"
        say(f"  {design:9s} {draws} draws: {said}")


def first_stage(plan: Any, n: int, seed: int, even: bool) -> Any:
    """Return the stages after a new draw of the first one."""
    rows = np.arange(plan.n)
    drawn = _sampling.drawn(plan.pool, plan.probability[0], rows, n, np.random.default_rng(seed), even=even)
    stage = np.zeros(plan.n, int)
    stage[drawn] = 1
    return stage


def coverage(form: Form, data: Path = DATA) -> None:
    """Coverage and labels needed of the default at four sizes."""
    runs, known = form(250, 60), pools(data)
    chosen = {name: abstain.metrics.parse(name) for name in METRICS}
    hits: dict[Any, list[Any]] = {}
    ratios: dict[str, dict[str, list[float]]] = {name: {} for name in METRICS}
    for name, (loss, score) in known.items():
        pool = room.Pool.of(score)
        for n in SIZES if form.full else (100, 400):
            if n > 0.8 * pool.n:
                continue
            rng = np.random.default_rng(n)
            samples = [uniform(pool, loss, n, rng) for _ in range(runs)]
            for key, metric in chosen.items():
                truth = value_of(metric, loss, score)
                few = np.array([room.estimate(metric, sample, 0.95, "pool")[:3] for sample in samples])
                plain = np.array([value_of(metric, loss[sample.rows], score[sample.rows]) for sample in samples])
                low, high = few[~np.isnan(few[:, 0]), 1:].T
                inside = (low <= truth + 1e-12) & (truth <= high + 1e-12)
                hits.setdefault((key, n), []).append((inside.mean(), name))
                fair = ~np.isnan(few[:, 0]) & ~np.isnan(plain)
                if truth > 0:
                    needed, said = ratio(few[fair, 0], plain[fair], truth)
                    ratios[key].setdefault(name, []).append(needed)
                    width = np.median(high - low) / truth
                    say(f"  {name:18s} n={n:5d} {key}: {held(inside)}, {said}, width {width:.2f}")
    for (key, n), cells in hits.items():
        say(f"  {key:30s} n={n:5d} {mean_and_least(cells)}")
    for key, each in ratios.items():
        means = {name: geometric(values) for name, values in each.items()}
        common = [value for name, value in means.items() if known[name][0].mean() >= 0.05]
        say(f"  labels needed, {key}: " + ", ".join(f"{name} {value:.2f}" for name, value in means.items()))
        say(f"  largest {max(means.values()):.2f}; mean of pools with 5 % errors and more {np.mean(common):.2f}")


def price(form: Form, data: Path = DATA) -> None:
    """Widths beside those of plain evaluation of the labelled rows, by how many errors these are expected to show."""
    runs, bounds = form(100, 15), (0.0, 5.0, 15.0, 50.0, np.inf)
    found: dict[Any, list[float]] = {}
    for loss, score in pools(data).values():
        pool = room.Pool.of(score)
        for n in (each for each in SIZES if each <= 0.8 * pool.n):
            rng, place = np.random.default_rng(n), int(np.searchsorted(bounds, n * loss.mean(), side="right"))
            for metric in (AUGRC, AURC):
                widths = []
                for _ in range(runs):
                    sample = uniform(pool, loss, n, rng)
                    few = room.estimate(metric, sample, 0.95, "pool")
                    columns = {"loss": sample.loss, "confidence": score[sample.rows]}
                    plain = abstain.evaluate(**columns, metrics=metric.spec).measurements[0]
                    widths.append((few.high - few.low, plain.high - plain.low))
                narrow, wide = np.nanmedian(np.array(widths), axis=0)
                found.setdefault((metric.spec, place), []).append(narrow / wide)
    for (key, place), each in sorted(found.items()):
        said = f"{bounds[place - 1]:g} to {bounds[place]:g} errors expected, {len(each)} cells of {runs} draws"
        say(f"  {key}, {said}: width over plain x{geometric(each):.2f} ({min(each):.2f} to {max(each):.2f})")


def useless(form: Form) -> None:
    """Labels needed for AUGRC where the score says nothing."""
    for rate in (0.05, 0.25, 0.5):
        rng = np.random.default_rng(3)
        score, loss = rng.random(10_000), (rng.random(10_000) < rate).astype(float)
        pool, few, plain = room.Pool.of(score), [], []
        for _ in range(form(12_000, 300)):
            sample = uniform(pool, loss, 200, rng)
            few.append(AUGRC(sample.estimated))
            plain.append(value_of(AUGRC, loss[sample.rows], score[sample.rows]))
        say(f"  useless score, {rate:.0%} errors, n=200: AUGRC {ratio(few, plain, value_of(AUGRC, loss, score))[1]}")


def population(form: Form, data: Path = DATA) -> None:
    """Coverage of what a pool was drawn from, by both kinds of intervals."""
    loss, score, _ = imagenet(data / "outputs", "timm_efficientnet_b3a", 50_000)
    truth = value_of(AUGRC, loss, score)
    for size in (1000, 2000, 5000):
        rng, hits = np.random.default_rng(size), {"pool": [], "population": []}
        for _ in range(form(500, 100)):
            rows = rng.choice(len(loss), size, replace=False)
            sample = uniform(room.Pool.of(score[rows]), loss[rows], 400, rng)
            for target, hit in hits.items():
                hit.append(holds(room.estimate(AUGRC, sample, 0.95, target), truth))
        said = "; ".join(f'target="{target}" {held(hit)}' for target, hit in hits.items())
        say(f"  ImageNet, pools of {size}, 400 labels, AUGRC of all 50,000 rows covered: {said}")


def adaptive(form: Form, data: Path = DATA) -> None:
    """Labels needed and coverage of AURC with two stages; with the error rate stated, from 15 % on."""
    runs, known = form(800, 60), pools(data)
    means: dict[str, dict[str, float]] = {"adaptive": {}, "error rate stated": {}}
    hits: dict[int, list[Any]] = {}
    for name, (loss, score) in known.items():
        truth = value_of(AURC, loss, score)
        found: dict[str, list[float]] = {kind: [] for kind in means}
        for n in (each for each in ((200, 400, 1000) if form.full else (400,)) if each <= 0.8 * len(loss)):
            rng = np.random.default_rng(n)
            drawn = (rng.choice(len(loss), n, replace=False) for _ in range(4 * runs))
            plain = np.array([value_of(AURC, loss[rows], score[rows]) for rows in drawn])
            for kind in means if loss.mean() >= 0.15 else ("adaptive",):
                rate = float(loss.mean()) if kind == "error rate stated" else None
                plan = abstain.plan_labels(score, n=n, metric=AURC, design="adaptive", error_rate=rate, seed=0)
                few = [two_stages(plan, loss, rng, rate is None) for _ in range(runs)]
                inside = [holds(each, truth) for each in few]
                square = (np.array([each.value for each in few]) - truth) ** 2 / np.mean((plain - truth) ** 2)
                found[kind].append(float(square.mean()))
                hits.setdefault(n, []).append((np.mean(inside), name))
                said = f"x{square.mean():.2f} +-{1.96 * square.std() / np.sqrt(runs):.2f}, covered {held(inside)}"
                say(f"  {name:18s} n={n:5d} AURC, {kind}: {said}")
        for kind, each in found.items():
            if each:
                means[kind][name] = geometric(each)
    for kind, each in means.items():
        common = [value for name, value in each.items() if known[name][0].mean() >= 0.15]
        say(f"  labels needed, AURC, {kind}: " + ", ".join(f"{name} {value:.2f}" for name, value in each.items()))
        say(f"  from 15 % errors on: mean {np.mean(common):.2f}, largest {max(common):.2f}")
    for n, cells in hits.items():
        say(f"  n={n}: {mean_and_least(cells)}")


def two_stages(plan: Any, loss: Any, rng: Rng, even: bool) -> Any:
    """Return the estimate of AURC from one draw of both stages."""
    seeds = rng.integers(2**31, size=2).tolist()
    first = replace(plan, stage=first_stage(plan, plan.sizes[0], seeds[0], even))
    second = first.extend(np.where(first.stage > 0, loss, np.nan), seed=seeds[1])
    return room.estimate(AURC, room.sample_of(second, np.where(second.stage > 0, loss, np.nan)), 0.95, "pool")


def wrong(form: Form) -> None:
    """Nearly all rows are wrong and the right ones are at the top; and of these the draws that see few right rows."""
    rng = np.random.default_rng(0)
    for rate in (0.9, 0.97, 0.99):
        score = rng.random(5000)
        right = (1.0 - rate) * np.exp(4.0 * score) / np.exp(4.0 * score).mean()
        loss = (rng.random(5000) > right).astype(float)
        pool, truth = room.Pool.of(score), value_of(AURC, loss, score)
        for n in (100, 400):
            samples = [uniform(pool, loss, n, rng) for _ in range(form(300, 40))]
            inside = np.array([holds(room.estimate(AURC, each, 0.95, "pool"), truth, 1e-12) for each in samples])
            few = np.array([n - each.errors < 5 for each in samples])
            say(f"  {rate:.0%} wrong, right ones at the top, n={n}: AURC {held(inside)}, few right {held(inside[few])}")


def compare(form: Form, data: Path = DATA) -> None:
    """Labels needed and coverage of planned comparisons."""
    totals: dict[Any, list[Any]] = {}
    for name, (losses, scores, predictions) in pairs(data).items():
        models = "two scores" if predictions is None else "two models"
        for metric in (AUGRC, AURC):
            other = scores[1] if predictions is None else (scores[1], *predictions)
            plan = abstain.plan_labels(scores[0], n=10, compare=other, metric=metric, seed=0)
            size, order = plan.pair.sizes(metric, None), np.argsort(plan.pool.block, kind="stable")
            truth = value_of(metric, losses[0], scores[0]) - value_of(metric, losses[1], scores[1])
            for n in (100, 200, 400) if form.full else (200,):
                rng, chance, few, plain = np.random.default_rng(n), _sampling.mixed(size, n, FLOOR), [], []
                for _ in range(form(1000, 60)):
                    rows = _sampling.spread(order, chance, rng)
                    one = labelled(plan.pool, losses[0], rows, chance)
                    few.append(contrast(metric, plan.pair, one, losses[1][rows], 0.95))
                    rows = rng.choice(plan.n, n, replace=False)
                    drawn = [value_of(metric, losses[k][rows], scores[k][rows]) for k in (0, 1)]
                    plain.append(drawn[0] - drawn[1])
                inside = [holds(each, truth) for each in few]
                value, said = ratio([each.difference for each in few], plain, truth)
                totals.setdefault((models, metric.spec), []).append((value, np.mean(inside), f"{name} n={n}"))
                say(f"  {name:26s} {metric.spec:5s} n={n:4d} {said}, covered {held(inside)}")
    for (models, key), cells in totals.items():
        needed = geometric([cell[0] for cell in cells])
        covered = mean_and_least([cell[1:] for cell in cells])
        say(f"  {models}, {key}: labels needed {needed:.2f} (geometric mean), {covered}")


def judge(form: Form, data: Path = DATA) -> None:
    """Labels needed for AUGRC with judges; agreement is simulated, independent of everything (real judges are not)."""
    n, totals = 300, dict[Any, list[Any]]()
    for name in ("gpt4_hellaswag", "c100_wrn", "llama3_70b_mmlu"):
        loss, score = pools(data)[name]
        truth, rng, without = value_of(AUGRC, loss, score), np.random.default_rng(5), room.Pool.of(score)
        words = {"coin": (rng.random(len(loss)) < 0.5) * 1.0}
        words |= {kind: np.where(rng.random(len(loss)) < share, loss, 1 - loss)
                  for kind, share in (("80 %", 0.8), ("90 %", 0.9))}  # fmt: skip
        for kind, word in words.items():
            for design in ("uniform", "planned"):
                plan = abstain.plan_labels(score, n=n, judge=word, design=design, seed=0)
                few, bare, plain = [], [], []
                for r in range(form(300, 80)):
                    rows = np.flatnonzero(first_stage(plan, n, 9 * r, design == "uniform"))
                    one = labelled(plan.pool, loss, rows, plan.probability[0])
                    few.append(room.estimate(AUGRC, one, 0.95, "pool"))
                    rows = rng.choice(plan.n, n, replace=False)
                    plain.append(value_of(AUGRC, loss[rows], score[rows]))
                    bare.append(AUGRC(replace(one, pool=without).estimated))
                inside, values = [holds(each, truth) for each in few], [each.value for each in few]
                (needed, said), (beside, _) = ratio(values, plain, truth), ratio(values, bare, truth)
                totals.setdefault((kind, design), []).append((needed, beside))
                alone = f"its word alone {value_of(AUGRC, word, score) / truth:.1f} x the truth"
                say(f"  {name:16s} judge {kind} {design:8s} {said}; covered {held(inside)}; {alone}")
    for (kind, design), cells in totals.items():
        needed, beside = (geometric(list(column)) for column in zip(*cells, strict=True))
        say(f"  judge {kind}, {design}: labels needed {needed:.2f}, beside the same labels without it {beside:.3f}")


def region(form: Form, data: Path = DATA) -> None:
    """Certified coverage from a region, beside labels of the whole pool; then false certificates."""
    cases = (("llama3_8b_mmlu", 0.1, 400), ("llama3_8b_mmlu", 0.1, 1000), ("c100_wrn", 0.02, 1000),
             ("llama3_8b_mmlu", 0.2, 400))  # fmt: skip
    for name, limit, n in cases:
        loss, score = pools(data)[name]
        curve, rng = abstain.risk_coverage_curve(loss, score), np.random.default_rng(7)
        reach, said = float(curve.coverage[curve.selective_risk <= limit].max(initial=0.0)), []
        for label, part in (("region", min(1.0, 1.1 * reach)), ("whole pool", 1.0)):
            plan, values = abstain.plan_labels(score, n=n, region=part, seed=0), []
            frame = np.flatnonzero(plan.frame)
            chance = np.where(plan.frame, n / len(frame), 0.0)[None, :]
            for _ in range(form(200, 40)):
                stage = np.zeros(plan.n, int)
                stage[rng.choice(frame, n, replace=False)] = 1
                drawn = replace(plan, stage=stage, probability=chance)
                done = room.certify_region(drawn, np.where(stage > 0, loss, np.nan), risk=limit, delta=0.05)
                accepted = score >= done.threshold
                values.append((done.coverage, accepted.any() and loss[accepted].mean() > limit))
            certified, false = np.array(values, float).T
            said.append(f"{label} certified {certified.mean():.3f} false {held(false)}")
        say(f"  {name}, limit {limit:g} (attainable {reach:.2f}), n={n}: {'; '.join(said)}")
    falls, rng = [], np.random.default_rng(8)
    for _ in range(form(2000, 200)):
        score = rng.random(4000)
        loss = (rng.random(4000) < 0.0502).astype(float)
        picked = rng.choice(np.argsort(-score)[:1600], 400, replace=False)
        falls.append(abstain.choose_threshold(loss[picked], score[picked], risk=0.05, delta=0.05).attainable)
    say(f"  false certificates in a region of .4, risk just above the limit, delta .05: {held(falls)}")


def stop(form: Form, data: Path = DATA) -> None:
    """Looks every 100 labels: coverage where the width stops, wrong answers where a question does."""
    looks = 10
    levels = [room.interim_level(k + 1, looks) for k in range(looks)]
    for name, (loss, score) in pools(data).items():
        pool, truth, rng, found = room.Pool.of(score), value_of(AUGRC, loss, score), np.random.default_rng(9), []
        if pool.n < 1300 or loss.mean() < 0.03:
            continue
        for _ in range(form(200, 30)):
            order, stopped, wrong, naive = rng.permutation(pool.n), None, False, False
            for k in range(looks):
                one = labelled(pool, loss, np.sort(order[: 100 * (k + 1)]))
                usual = room.estimate(AUGRC, one, 0.95, "pool")
                short = usual.high - usual.low <= 0.5 * usual.value and one.errors >= 10
                if stopped is None and (short or k == looks - 1):
                    stopped = holds(usual, truth)
                naive |= not holds(usual, truth)  # the limit is the truth itself: every answer is wrong
                wrong |= not holds(room.estimate(AUGRC, one, levels[k], "pool"), truth)
            found.append((stopped, wrong, naive))
        width, bound, plain = (held(column) for column in np.array(found, float).T)
        said = f"wrong at any of {looks} looks: group bounds {bound}, plain intervals {plain}"
        say(f"  {name:18s} stop at a half-width of 25 %: covered {width}; {said}")


def confident(form: Form) -> None:
    """AURC of 2,000 rows from 100 and 200 labels, where a few confident errors decide."""
    n_rows, rng = 2000, np.random.default_rng(3)
    u = (np.arange(n_rows) + 0.5) / n_rows
    risks = {"30 % of the top 2 % wrong": np.where(u < 0.02, 0.3, 0.3 * u**2), "risk .3 u2": 0.3 * u**2,
             "risk .6 u3": 0.6 * u**3, "risk .01 + .3 u3": 0.01 + 0.3 * u**3}  # fmt: skip
    losses = {name: (rng.random(n_rows) < risk).astype(float) for name, risk in risks.items()}
    top = rng.permutation(20)
    losses["all errors in the top 1 %"] = np.isin(np.arange(n_rows), top[:10]) * 1.0
    losses["six of the top 1 % wrong"] = np.maximum(losses["risk .3 u2"], np.isin(np.arange(n_rows), top[:6]))
    pool = room.Pool.of(1.0 - u)
    size = _sampling.levelled(AURC, pool, guessed(pool, None), np.arange(n_rows))
    order = np.argsort(pool.block, kind="stable")
    for n in (100, 200):
        chance, alike = _sampling.proportional(size, n), np.full(n_rows, n / n_rows)
        for name, loss in losses.items():
            truth, rng, found = abstain.aurc(loss, 1.0 - u), np.random.default_rng(1), list[list[Any]]()
            for _ in range(form(2000, 20)):
                rows = _sampling.spread(order, chance, rng), np.sort(rng.choice(n_rows, n, replace=False))
                each = [replace(labelled(pool, loss, mine, pi), inclusion=pi)
                        for mine, pi in zip(rows, (chance, alike), strict=True)]  # fmt: skip
                kinds: Any = ((each[0], "top"), (each[1], "top"), (each[1], "random"))
                made = [room.estimate(AURC, sample, 0.95, "pool", unseen) for sample, unseen in kinds]
                found.append([(holds(one, truth), one.high - one.low) for one in made])
            inside, width = np.moveaxis(np.array(found, float), 2, 0)
            wide = np.median(width, axis=0) / np.median(width[:, 2])
            cells = ", ".join(f"{held(inside[:, k])} x{wide[k]:.2f}" for k in range(3))
            say(f"few labels, {name}, {n}: levelled, alike, alike and random: {cells}")


if __name__ == "__main__":
    parts = (exact, coverage, price, useless, population, adaptive, wrong, compare, judge, region, stop)
    command(__doc__, *parts, also=(confident, picture))
