"""Real pools with all their labels, what is decided from few of them, and a picture, for ``benchmarks.few_labels``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import abstain
from abstain import pool as room
from abstain.pool import Sample

Column = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Form:
    """The full form or the quick one, and how often a cell is drawn if that was said."""

    full: bool
    said: int | None = None

    def draws(self, full: int, quick: int) -> int:
        """Return how often to draw."""
        return self.said or (full if self.full else quick)


def _of(probabilities: Column, labels: Column) -> tuple[Column, Column]:
    """Return loss and maximum softmax probability."""
    return (probabilities.argmax(axis=1) != labels).astype(float), probabilities.max(axis=1).astype(float)


def _imagenet(outputs: Path, model: str, n: int = 10_000) -> tuple[Column, Column, Column]:
    file = np.load(outputs / "imagenet_val_msp.npz")
    row = list(file["models"]).index(model)
    keep = np.random.default_rng(0).permutation(50_000)[:n]
    predicted, confidence = file["pred"][row][keep], file["conf"][row][keep].astype(float)
    return (predicted != file["labels"][keep]).astype(float), confidence, predicted


def pools(folder: str) -> dict[str, tuple[Column, Column]]:
    """Return loss and confidence by name, in the order of their error rates."""
    import polars as pl

    outputs = Path(folder) / "outputs"
    found = {}
    for name, file in (("mnist", "mnist_test_cleanlab.npz"), ("20news", "20news_test_cleanlab.npz")):
        arrays = np.load(outputs / file)
        found[name] = _of(arrays[next(key for key in arrays.files if key.startswith("probs"))], arrays["labels"])
    ten, b = np.load(outputs / "cifar10_test_models.npz"), np.load(outputs / "cifar10_test_models_b.npz")
    hundred = np.load(outputs / "cifar100_test_models.npz")
    found["c10_vgg16"] = _of(ten["probs_vgg16"], ten["labels"])
    found["c10_densenet190"] = _of(b["probs_densenet_bc_l190_k40"], b["labels"])
    found["c100_wrn"] = _of(hundred["probs_wideresnet_16_4"], hundred["labels"])
    found["imagenet_b3a"] = _imagenet(outputs, "timm_efficientnet_b3a")[:2]
    table = pl.read_parquet(outputs / "llm_mcqa_confidence.parquet")
    table = table.filter(~pl.col("abstain_option") & (pl.col("prompt") == 1))
    models = sorted(table["model"].unique().to_list())
    for name, words, data in (
        ("gpt4_arc", ("gpt", "4"), "arc"), ("gpt4_hellaswag", ("gpt", "4"), "hellaswag"),
        ("llama3_70b_mmlu", ("3", "70b"), "mmlu"), ("llama3_8b_mmlu", ("3", "8b"), "mmlu"),
    ):  # fmt: skip
        model = next(each for each in models if all(word in each.lower() for word in words))
        rows = table.filter((pl.col("model") == model) & (pl.col("dataset") == data))
        found[name] = ((rows["grade"] != "Correct").to_numpy().astype(float), rows["msp"].to_numpy().astype(float))
    return dict(sorted(found.items(), key=lambda each: float(each[1][0].mean())))


def _entropy(p: Column) -> Column:
    p = p.astype(float)
    return np.sum(p * np.log(np.maximum(p, 1e-300)), axis=1)


def _margin(p: Column) -> Column:
    two = np.sort(p, axis=1)[:, -2:]
    return (two[:, 1] - two[:, 0]).astype(float)


def pairs(folder: str) -> dict[str, tuple[tuple[Column, Column], tuple[Column, Column], Any]]:
    """Return losses, confidences, and predictions (None for two scores of one model) by name."""
    outputs = Path(folder) / "outputs"
    ten, b = np.load(outputs / "cifar10_test_models.npz"), np.load(outputs / "cifar10_test_models_b.npz")
    hundred = np.load(outputs / "cifar100_test_models.npz")
    models = {
        "c10 vgg16 : wrn": (ten["probs_vgg16"], ten["probs_wideresnet_16_4"], ten["labels"]),
        "c10 densenet : preresnet": (b["probs_densenet_bc_l190_k40"], b["probs_preresnet110"], b["labels"]),
        "c100 wrn : densenet": (hundred["probs_wideresnet_16_4"], hundred["probs_densenet_bc_100"], hundred["labels"]),
    }
    found: dict[str, Any] = {}
    for name, (p, q, labels) in models.items():
        (first, sure), (second, certain) = _of(p, labels), _of(q, labels)
        found[name] = (first, second), (sure, certain), (p.argmax(axis=1), q.argmax(axis=1))
    for first_name, second_name in (
        ("tv_resnet101", "timm_efficientnet_b3a"),
        ("tv_resnext101_32x8d", "timm_resnext50_32x4d"),
    ):
        one, two = _imagenet(outputs, first_name), _imagenet(outputs, second_name)
        found[f"in {first_name[3:12]} : {second_name[5:14]}"] = (one[0], two[0]), (one[1], two[1]), (one[2], two[2])
    for name, p, labels in (
        ("c100 wrn", hundred["probs_wideresnet_16_4"], hundred["labels"]),
        ("c10 lenet5", ten["probs_lenet5"], ten["labels"]),
    ):
        loss, sure = _of(p, labels)
        for other, score in (("entropy", _entropy(p)), ("margin", _margin(p))):
            found[f"{name} msp : {other}"] = (loss, loss), (sure, score), None
    return found


def ratio(few: np.ndarray, plain: np.ndarray, truth: float) -> tuple[float, float]:
    """Return the ratio of two mean squared errors with 1.96 Monte Carlo errors, by the delta method."""
    a, b = (few - truth) ** 2, (plain - truth) ** 2
    value = a.mean() / b.mean()
    error = value * np.std(a / a.mean() - b / b.mean()) / np.sqrt(len(a))
    return float(value), float(1.96 * error)


def share(hits: np.ndarray) -> str:
    """Return a share in per cent with 1.96 Monte Carlo errors."""
    p = float(np.mean(hits))
    return f"{100 * p:5.1f} +-{196 * np.sqrt(max(p * (1 - p), 1e-9) / len(hits)):.1f}"


def geometric(ratios: list[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))


def uniform(pool: Any, loss: np.ndarray, n: int, rng: np.random.Generator) -> Sample:
    """Draw n rows alike and label them."""
    rows = np.sort(rng.choice(pool.n, n, replace=False))
    return Sample(pool, rows, loss[rows], np.zeros(n, int), np.full(n, n / pool.n), np.ones(pool.n, bool), (n,))


def value_of(metric: Any, loss: np.ndarray, score: np.ndarray) -> float:
    """Return plain evaluation of labelled rows."""
    return metric.evaluate(abstain.TieBlocks.from_samples(loss, score)).value


def _attainable(loss: np.ndarray, score: np.ndarray, limit: float) -> float:
    curve = abstain.risk_coverage_curve(loss, score)
    good = curve.selective_risk <= limit
    return float(curve.coverage[good].max()) if good.any() else 0.0


def region(form: Form, data: dict[str, Any]) -> None:
    """Certified coverage from a region, beside labels of the whole pool; then false certificates."""
    runs = form.draws(200, 40)
    cases = [
        ("llama3_8b_mmlu", 0.1, 400),
        ("llama3_8b_mmlu", 0.1, 1000),
        ("c100_wrn", 0.02, 1000),
        ("llama3_8b_mmlu", 0.2, 400),
    ]
    for name, limit, n in cases:
        if name not in data:
            continue
        loss, score = data[name]
        reach = _attainable(loss, score, limit)
        plan = abstain.plan_labels(score, n=n, region=min(1.0, 1.1 * reach), seed=0)
        whole, rng = abstain.plan_labels(score, n=n, region=1.0, seed=0), np.random.default_rng(7)
        found = {}
        for label, each, size in (
            ("region", plan, n),
            *((f"whole pool x{f:.2f}", whole, round(n / f)) for f in (1.0, 0.6)),
        ):
            frame, values = np.flatnonzero(each.frame), []
            if size > len(frame):
                continue
            chance = np.where(each.frame, size / len(frame), 0.0)
            for _ in range(runs):
                stage = np.zeros(each.n, int)
                stage[rng.choice(frame, size, replace=False)] = 1
                drawn = replace(each, stage=stage, probability=chance[None, :])
                done = room.certify_region(drawn, np.where(stage > 0, loss, np.nan), risk=limit, delta=0.05)
                accepted = score >= done.threshold
                values.append((done.coverage, accepted.any() and loss[accepted].mean() > limit))
            found[label] = np.array(values, float)
        said = [f"{label} certified {v[:, 0].mean():.3f} false {share(v[:, 1])}" for label, v in found.items()]
        print(f"  {name}, limit {limit:g} (attainable {reach:.2f}), n={n}: " + "; ".join(said), flush=True)
    for kind in ("flat", "dip"):
        falls, rng = [], np.random.default_rng(8)
        for _ in range(form.draws(2000, 200)):
            score = rng.random(4000)
            risk = (
                np.full(4000, 0.0502)
                if kind == "flat"
                else np.where(score > 0.8, 0.06, np.where(score > 0.6, 0.04, 0.3))
            )
            loss = (rng.random(4000) < risk).astype(float)
            rows = np.argsort(-score)[:1600]
            picked = rng.choice(rows, 400, replace=False)
            done = abstain.choose_threshold(loss[picked], score[picked], risk=0.05, delta=0.05)
            t = done.threshold if done.attainable else np.inf
            true = (
                0.0502
                if kind == "flat"
                else (0.06 if t > 0.8 else (0.06 * 0.2 + 0.04 * (0.8 - t)) / (1 - t) if t > 0.6 else 1.0)
            )
            falls.append(bool(done.attainable) and true > 0.05)
        print(
            f"  false certificates in a region of .4, {kind} risk, limit .05, delta .05: {share(np.array(falls))} %",
            flush=True,
        )


def stop(form: Form, data: dict[str, Any]) -> None:
    """Looks every 100 labels: coverage where the width stops, wrong answers where a question does."""
    runs, looks, metric = form.draws(200, 30), 10, abstain.metrics.get("augrc")
    levels = [room.interim_level(k + 1, looks) for k in range(looks)]
    for name, (loss, score) in data.items():
        pool = room.Pool.of(score)
        if pool.n < 1300 or loss.mean() < 0.03:
            continue
        truth, rng, held, wrong, naive = value_of(metric, loss, score), np.random.default_rng(9), [], [], []
        for _ in range(runs):
            order, stopped, answers = rng.permutation(pool.n), None, {"bound": None, "naive": None}
            for k in range(looks):
                n = 100 * (k + 1)
                rows = np.sort(order[:n])
                one = Sample(
                    pool, rows, loss[rows], np.zeros(n, int), np.full(n, n / pool.n), np.ones(pool.n, bool), (n,)
                )
                usual = room.estimate(metric, one, 0.95, "pool")
                short = usual.high - usual.low <= 0.5 * usual.value and one.errors >= 10
                if stopped is None and (short or k == looks - 1):
                    stopped = usual.low <= truth <= usual.high
                deep = room.estimate(metric, one, levels[k], "pool")
                for key, each in (("bound", deep), ("naive", usual)):
                    if answers[key] is None and not each.low <= truth <= each.high:
                        answers[key] = True  # the limit is the truth itself: every answer is wrong
            held.append(bool(stopped))
            wrong.append(bool(answers["bound"]))
            naive.append(bool(answers["naive"]))
        three = [share(np.array(each)) for each in (held, wrong, naive)]
        print(f"  {name:18s} stop at a half-width of 25 %: covered {three[0]}", end="")
        print(f"; wrong at any of {looks} looks: group bounds {three[1]}, plain intervals {three[2]}", flush=True)


def price(form: Form, data: dict[str, Any]) -> None:
    """Widths beside those of plain evaluation of the labelled rows, by how many errors these are expected to show."""
    runs, bounds = form.draws(100, 15), (0.0, 5.0, 15.0, 50.0, np.inf)
    found: dict[Any, list[float]] = {}
    for loss, score in data.values():
        pool = room.Pool.of(score)
        for n in (100, 200, 400, 1000):
            if n > 0.8 * pool.n:
                continue
            rng, errors = np.random.default_rng(n), n * loss.mean()
            place = int(np.searchsorted(bounds, errors, side="right"))
            for key in ("augrc", "aurc"):
                metric, widths = abstain.metrics.get(key), []
                for _ in range(runs):
                    sample = uniform(pool, loss, n, rng)
                    few = room.estimate(metric, sample, 0.95, "pool")
                    plain = abstain.evaluate(loss=sample.loss, confidence=score[sample.rows], metrics=key)
                    widths.append((few.high - few.low, plain.measurements[0].high - plain.measurements[0].low))
                few_width, plain_width = np.nanmedian(np.array(widths), axis=0)
                found.setdefault((key, place), []).append(few_width / plain_width)
    for (key, place), each in sorted(found.items()):
        said = f"{bounds[place - 1]:g} to {bounds[place]:g} errors expected, {len(each)} cells of {runs} draws"
        print(f"  {key}, {said}: median width beside plain evaluation x{geometric(each):.2f}"
              f" ({min(each):.2f} to {max(each):.2f})", flush=True)  # fmt: skip


DRAWN = (100, 200, 400, 800, 1600)


BUNDLED = abstain.datasets.load("llama3_70b_mmlu")


LOSS, A, B = BUNDLED.loss_per_sample(), BUNDLED.scores["msp"], BUNDLED.scores["max_logit"]


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


def picture(path: Path) -> None:
    """Draw half-widths of intervals against labels, on bundled answers of Llama 3 70B to MMLU."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    panels = figure.subplots(1, 2)
    colours = {"plain": "#777777", "default": "#0072b2", "adaptive": "#009e73", "planned": "#d55e00"}
    for panel, measure, names, title in (
        (panels[0], one_score, ("plain", "default", "adaptive"), "AUGRC of one score"),
        (panels[1], two_scores, ("plain", "planned"), "Difference of two scores in AUGRC"),
    ):
        found = np.array([np.median([measure(n, 100 * k) for k in range(15)], axis=0) for n in DRAWN])
        for j, name in enumerate(names):
            panel.plot(DRAWN, found[:, j], marker="o", ms=4, color=colours[name], label=name)
        print(title, dict(zip(names, found.T.round(4).tolist(), strict=True)))
        panel.set(xscale="log", yscale="log", xlabel="labels", ylabel="half-width of the 95 % interval", title=title)
        panel.set_xticks(DRAWN, [str(n) for n in DRAWN])
        ticks = [0.005, 0.01, 0.02, 0.04]
        panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
        panel.legend(frameon=False)
    figure.savefig(path, dpi=110)
