"""Simulations behind the claims about intervals and tests: coverage, width, warnings, sizes.

    python -m benchmarks.inference [PART ...] [--scale 1.0]
    python -m benchmarks.inference errors --data FOLDER [--resamples 2000]

The first parts: coverage, metrics, accepted, bootstrap, copies, sizes, by_metric, families, runs, wilcoxon. The
populations are those of the tests, which run the same simulations smaller. Shares have 2.6 Monte Carlo errors.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import DATA, Form, command, say

import abstain
from abstain.inference import replicates
from abstain.inference._columns import panel
from abstain.inference._paired import paired
from tests.evaluation.test_compare_sizes import columns
from tests.evaluation.test_compare_sizes import sizes as shares_of
from tests.inference.populations import POPULATIONS, Population, allowance, exchangeable
from tests.inference.populations import copies as versions
from tests.inference.test_runs import models

#: Sample size -> repetitions at scale 1.
SIZES = {200: 4000, 1000: 2000, 10_000: 500}

#: Smooth and quantile metrics beside AURC and AUGRC; scores are in [0, 1], the truth is that of four million samples.
OTHERS = (
    "risk", "e_aurc", "e_augrc", "naurc", "naugrc", "sele", "auroc_f", "average_precision_error", "f1_auc",
    "prediction_rejection_ratio", "accuracy_rejection_area", "cwsa(threshold=0.5)", "cwsa_plus(threshold=0.5)",
    "brier_confidence", "nll_confidence", "selective_risk(threshold=0.2)", "selective_risk(coverage=0.8)",
    "generalized_risk(coverage=0.8)",
)  # fmt: skip
BY_BOOTSTRAP = ("coverage_at_risk(risk=0.05)", "fpr95_error", "fpr95_success")
#: Metrics beside AURC and AUGRC whose paired test is simulated; those of the second line by bootstrap.
TESTED = ("e_aurc", "naurc", "auroc_f", "average_precision_error", "selective_risk(coverage=0.8)",
          "coverage_at_risk(risk=0.1)", "fpr95_error", "fpr95_success")  # fmt: skip


def covered(metric: Any, truth: float, draw: Callable[[], Any], repetitions: int, **options: Any) -> str:
    """Return coverage of the intervals given, median relative width, and shares warned and without one, as one row."""
    inside, widths, warned, none = 0, [], 0, 0
    for _ in range(repetitions):
        found = abstain.confidence_interval(metric, *draw(), **options)
        warned += found.warning is not None
        none += bool(np.isnan(found.low))
        inside += found.low <= truth <= found.high
        widths.append(found.high - found.low)
    given = repetitions - none
    share = inside / given if given else np.nan
    width = np.nanmedian(widths) / abs(truth) if given else np.nan
    shares = f"{100 * share:6.1f} +-{100 * allowance(max(share, 0.5), max(given, 1)):4.1f}  width {width:6.3f}"
    return f"{shares}  warned {100 * warned / repetitions:5.1f} %  none {100 * none / repetitions:4.1f} %"


def unit(population: Population, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return loss and a confidence in [0, 1]."""
    loss, confidence = population.draw(n, rng)
    return loss, confidence + 1.0


def coverage(form: Form, scale: float = 1.0) -> None:
    """AURC and AUGRC."""
    for population in POPULATIONS:
        for metric in ("aurc", "augrc"):
            for n, repetitions in SIZES.items():
                draw = partial(population.draw, n, np.random.default_rng(n))
                row = covered(metric, getattr(population, metric), draw, int(scale * repetitions))
                say(f"{metric:30} {population.name:28} {n:6} {row}")


def metrics(form: Form, scale: float = 1.0) -> None:
    """Other metrics."""
    for population in POPULATIONS[:4]:
        huge = unit(population, 4_000_000, np.random.default_rng(99))
        table = abstain.TieBlocks.from_samples(*huge, oracle=True)
        for spec in OTHERS:
            metric = abstain.metrics.parse(spec)
            for n, repetitions in SIZES.items():
                draw = partial(unit, population, n, np.random.default_rng(n))
                row = covered(metric, metric(table), draw, int(scale * repetitions / 2))
                say(f"{spec:30} {population.name:28} {n:6} {row}")


def few_accepted(wrong: Any, sizes: Any, others: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return losses and scores of accepted clusters of these sizes, wrong as a whole, and of rows with 5 % errors."""
    loss = np.r_[np.repeat(rng.random(len(sizes)) < wrong, sizes), rng.random(others) < 0.05] * 1.0
    return loss, np.r_[np.full(loss.size - others, 0.9), np.full(others, 0.1)]


def lean(small: float, chance: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return 200 graded losses, of which 40 are accepted: a small one, or with this chance 1."""
    loss = np.r_[np.where(rng.random(40) < chance, 1.0, small), 0.3 * rng.random(160)]
    return loss, np.r_[np.full(40, 0.9), np.full(160, 0.1)]


def mostly_large(rng: np.random.Generator) -> tuple[Any, Any]:
    """Return 50 clusters of 30 rows; of one in five nine rows in ten are accepted, of the others one in 25."""
    large = rng.random(50) < 0.2
    accepted = rng.random((50, 30)) < np.where(large, 0.9, 0.04)[:, None]
    wrong = (large & (rng.random(50) < 0.1))[:, None] | (rng.random((50, 30)) < 0.02)
    return wrong.ravel() * 1.0, np.where(accepted, 0.9, 0.1).ravel()


def accepted(form: Form, scale: float = 1.0) -> None:
    """The risk at a threshold where hardly anything that is accepted is wrong."""
    one, heavy, rng = np.ones(1000), np.r_[np.full(20, 12.5), np.ones(1000)], np.random.default_rng(8)
    few, some = np.r_[np.full(20, 0.05), 0 * one], np.r_[np.full(60, 0.03), 0 * one[:600]]
    flat, mixed = np.ones(1020, dtype=int), np.r_[np.full(20, 12), one.astype(int)]
    cells: dict[str, tuple[Callable[..., Any], float, dict[str, Any]]] = {
        "20 of 600 rows accepted, clusters": (
            partial(few_accepted, 0.05, flat[:20], 580), 0.05, {"clusters": np.arange(600)}),
        "the same, weights": (partial(few_accepted, 0.05, flat[:20], 580), 0.05, {"sample_weight": flat[:600] * 2.0}),
        "20 rows stand for .2, 1,000 are right": (partial(few_accepted, few, flat, 0), 0.01, {"sample_weight": heavy}),
        "the same, strata": (
            partial(few_accepted, few, flat, 0), 0.01, {"sample_weight": heavy, "strata": heavy > 1.0}),
        "60 rows stand for .3, 600 are right": (
            partial(few_accepted, some, flat[:660], 0), 0.009, {"sample_weight": np.where(some > 0.0, 30 / 7, 1.0)}),
        "20 clusters of 12, 1,000 right rows": (
            partial(few_accepted, few, mixed, 0), 12 / 1240, {"clusters": np.repeat(np.arange(1020), mixed)}),
        "50 clusters, large ones accepted": (
            mostly_large, (0.18 * 0.118 + 0.032 * 0.02) / 0.212, {"clusters": np.repeat(np.arange(50), 30)}),
        "graded, 40 accepted: 0, 3 % of 1": (partial(lean, 0.0, 0.03), 0.03, {}),
        "graded, 40 accepted: .001, 3 % of 1": (partial(lean, 0.001, 0.03), 0.001 + 0.03 * 0.999, {}),
    }  # fmt: skip
    for name, (draw, truth, design) in cells.items():
        row = covered("selective_risk(threshold=0.5)", truth, partial(draw, rng), int(2000 * scale), **design)
        say(f"{name:38} {row}")


def bootstrap(form: Form, scale: float = 1.0) -> None:
    """Metrics whose intervals are resampled."""
    for population in (POPULATIONS[0], POPULATIONS[3]):
        table = abstain.TieBlocks.from_samples(*unit(population, 4_000_000, np.random.default_rng(99)))
        for spec in BY_BOOTSTRAP:
            metric = abstain.metrics.parse(spec)
            for n, repetitions in ((200, 400), (1000, 200)):
                draw = partial(unit, population, n, np.random.default_rng(n))
                row = covered(metric, metric(table), draw, int(scale * repetitions), n_resamples=300)
                say(f"{spec:30} {population.name:28} {n:6} {row}")


def copies(form: Form, scale: float = 1.0) -> None:
    """Eighty images in fifteen versions each: intervals that take the rows for independent, and clustered ones."""
    truth = versions(60_000, np.random.default_rng(99))
    for name in ("aurc", "augrc"):
        for method, options in (("influence", {}), ("percentile", {"n_resamples": 300})):
            for kind, clusters in (("i.i.d.", None), ("clustered", np.repeat(np.arange(80), 15))):
                draw, value = partial(versions, 80, np.random.default_rng(3)), float(getattr(abstain, name)(*truth))
                row = covered(name, value, draw, int(400 * scale), method=method, clusters=clusters, **options)
                say(f"{name:8} {method:10} {kind:10} {row}")


def sizes(form: Form, scale: float = 1.0) -> None:
    """The paired test of AURC and AUGRC."""
    for kind, error in (("plain", 0.05), ("plain", 0.2), ("ties", 0.2), ("models", 0.2), ("real", 0.2)):
        for n, repetitions in SIZES.items():
            tested(kind, error, n, int(scale * repetitions))


def by_metric(form: Form, scale: float = 1.0) -> None:
    """The paired test of other metrics."""
    for kind, error in (("plain", 0.05), ("plain", 0.2), ("ties", 0.2), ("models", 0.2)):
        tested(kind, error, 200, int(scale * 800), specs=TESTED, n_resamples=200)
    tested("plain", 0.2, 1000, int(scale * 300), specs=TESTED, n_resamples=200)


def tested(kind: str, error: float, n: int, count: int, **options: Any) -> None:
    """Print how often two exchangeable scores differ."""
    found = shares_of(partial(exchangeable, n, kind=kind, error=error), count, seed=n, **options)
    shares = ", ".join(f"{spec} {100 * share:.1f}" for spec, share in found.items())
    say(f"{kind:8} error {error:4} {n:6}  {shares} +-{100 * allowance(0.05, count):.1f} %")


def families(form: Form, scale: float = 1.0) -> None:
    """Any false rejection among several exchangeable scores."""
    rng = np.random.default_rng(1)
    for k in (3, 5, 13):
        count, wrong = int(600 * scale) // (4 if k == 13 else 1), dict.fromkeys(("holm", "max-t", "none"), 0)
        for _ in range(count):
            losses, scores = exchangeable(500, rng, k=k)
            several = panel(losses[0], {f"s{i}": score for i, score in enumerate(scores)})
            for adjust in wrong:
                found = paired(abstain.metrics.get("augrc"), several, adjust=adjust, rng=rng)
                wrong[adjust] += any(each.significant for each in found.differences)
        shares = ", ".join(f"{adjust} {100 * number / count:.1f}" for adjust, number in wrong.items())
        say(f"{k:2} exchangeable scores, any false rejection: {shares} +-{100 * allowance(0.05, count):.1f} %")


def runs(form: Form, scale: float = 1.0) -> None:
    """Two equal models with several training runs."""
    rng, repetitions, augrc = np.random.default_rng(2), int(800 * scale), abstain.metrics.get("augrc")
    for number in (1, 2, 3, 5, 10):
        shares = []
        for seed_sd in (0.0, 0.05, 0.15, 0.4):
            drawn = (panel(*models(300, number, seed_sd, rng)) for _ in range(repetitions))
            wrong = sum(paired(augrc, each, rng=rng).differences[0].significant for each in drawn)
            shares.append(f"seed {seed_sd}: {100 * wrong / repetitions:.1f}")
        said = f"{', '.join(shares)} +-{100 * allowance(0.05, repetitions):.1f} %"
        say(f"{number:2} runs, two equal models: {said}")


def wilcoxon(form: Form, scale: float = 1.0) -> None:
    """Wilcoxon's test over resamples of one test set, beside the paired test."""
    n, resamples, repetitions = 2000, 500, int(400 * scale)
    rng, counts = np.random.default_rng(3), dict.fromkeys(("wilcoxon", "paired test"), 0)
    for _ in range(repetitions):
        losses, scores = exchangeable(n, rng)
        counted, drawn = rng.multinomial(n, np.full(n, 1.0 / n), size=resamples).astype(float), []
        for score in scores:  # AUGRC of resamples by sums over sorted counts: the scores have no ties
            order = np.argsort(-score)
            weight, lost = counted[:, order], counted[:, order] * losses[0][order]
            drawn.append(np.sum(weight * (np.cumsum(lost, axis=1) - 0.5 * lost), axis=1) / n**2)
        p = abstain.inference.wilcoxon_over_resamples(np.stack(drawn, axis=1))
        counts["wilcoxon"] += min(p[0, 1], p[1, 0]) < 0.05
        found = paired(abstain.metrics.get("augrc"), columns(losses, scores), rng=rng)
        counts["paired test"] += found.differences[0].significant
    shares = ", ".join(f"{name} {100 * count / repetitions:.1f} %" for name, count in counts.items())
    say(f"two exchangeable scores, N = {n}, {resamples} resamples, {repetitions} repetitions: {shares}")


# ---------------------------------------------------------------------- saved outputs


def from_probabilities(probabilities: Any, labels: Any) -> tuple[Any, Any]:
    """Return 0/1 loss and maximum probability."""
    return (probabilities.argmax(axis=1) != labels).astype(float), probabilities.max(axis=1)


def sets_of(path: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield (item, loss, confidence) for every set of predictions in a file."""
    if path.suffix == ".parquet":
        import polars

        for (name,), rows in polars.read_parquet(path).group_by(["set"], maintain_order=True):
            wrong = (rows["true_label"] != rows["pred_label"]).to_numpy().astype(float)
            yield str(name), wrong, rows["confidence"].to_numpy()
        return
    with np.load(path, allow_pickle=False) as file:
        data = {name: file[name] for name in file.files}
    labels = data.get("labels")
    if "is_ood" in data:
        loss, confidence = from_probabilities(data["probs"], labels)
        known = ~data["is_ood"]
        yield "ID only", loss[known], confidence[known]
        yield "ID+OOD (OOD counts as error)", np.where(known, loss, 1.0), confidence
    elif "models" in data and "conf" in data:
        for name, predicted, confidence in zip(data["models"], data["pred"], data["conf"], strict=True):
            yield str(name), (predicted != labels).astype(float), confidence
    elif data.get("probs", np.empty(0)).ndim == 3:
        for k, probabilities in enumerate(data["probs"]):
            yield f"prompt{k}", *from_probabilities(probabilities, labels)
        yield f"mean of {len(data['probs'])} prompts", *from_probabilities(data["probs"].mean(axis=0), labels)
    else:
        for name, values in data.items():
            if name.startswith("probs") and labels is not None:
                yield name, *from_probabilities(values, labels)
            elif name.startswith("conf_"):
                item = name.removeprefix("conf_")
                yield item, (data[f"pred_{item}"] != labels).astype(float), values


def errors(form: Form, data: Path = DATA, resamples: int = 2000) -> None:
    """Closed-form errors of AURC and AUGRC on saved outputs next to those of resamples, in Monte Carlo errors."""
    areas = [abstain.metrics.get("aurc"), abstain.metrics.get("augrc")]
    outputs, worst, n_sets = data / "outputs", 0.0, 0
    say(f"{'set':<66} {'n':>6}  AURC: closed  bootstrap  ratio  AUGRC: closed  bootstrap  ratio")
    for file in sorted([*outputs.glob("*.npz"), *outputs.glob("small_msp_sets.parquet")]):
        for name, wrong, score in sets_of(file):
            loss, confidence = np.asarray(wrong, dtype=float), np.asarray(score, dtype=float)
            drawn = replicates(areas, [(loss, confidence)], n_resamples=resamples, rng=0)[:, 0, :]
            cells = []
            for k, metric in enumerate(areas):
                closed, resampled = abstain.standard_error(metric, loss, confidence), float(np.std(drawn[:, k], ddof=1))
                z = (drawn[:, k] - drawn[:, k].mean()) / resampled
                noise = np.sqrt((np.mean(z**4) - 1.0) / (4.0 * resamples))
                worst = max(worst, abs(resampled / closed - 1.0) / noise)
                cells.append(f"{closed:12.4g} {resampled:10.4g} {resampled / closed:6.3f}")
            n_sets += 1
            say(f"{f'{file.name}: {name}':<66} {loss.size:>6}  {cells[0]}  {cells[1]}")
    say(f"{n_sets} sets; largest deviation {worst:.1f} Monte Carlo errors")
    assert worst <= 4.0


if __name__ == "__main__":
    command(
        __doc__,
        coverage,
        metrics,
        accepted,
        bootstrap,
        copies,
        sizes,
        by_metric,
        families,
        runs,
        wilcoxon,
        also=(errors,),
    )
