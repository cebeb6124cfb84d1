"""Certificates by simulation and on real outputs: how often one is violated, and how much coverage it obtains.

    python -m benchmarks.thresholds [default graded weighted pairs real] [--full] [--sizes N ...] [--data FOLDER]

Certificates have no seeds. A cell is the mean coverage (share of samples in which the certificate was violated).
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import DATA, Form, command, percent, say

import abstain
from abstain.monitoring import monitor
from abstain.thresholds import choose_pair
from abstain.thresholds._certify import Search
from abstain.thresholds._evidence import binomial
from abstain.thresholds._procedures import bonferroni
from abstain.thresholds._sample import read
from tests.thresholds.populations import GRADED, MAX_WEIGHT, POPULATIONS, Population

DELTA = 0.05

#: (population, sample) -> the threshold that a rule chooses.
Rule = Callable[[Population, Any], float]


def naive(population: Population, sample: Any) -> float:
    """Lowest threshold whose own exact upper bound is below the limit."""
    ends = np.append(sample.score[1:] != sample.score[:-1], True)
    count, errors = np.arange(1.0, sample.n + 1.0)[ends], np.cumsum(sample.loss)[ends]
    passed = np.flatnonzero(binomial(count, errors, population.limit) <= DELTA)
    return float(sample.score[ends][passed[-1]]) if passed.size else np.inf


def ours(population: Population, sample: Any, find: Callable[[Search], Any] = Search.default) -> float:
    """A procedure of the library."""
    largest = 1.0 if population.graded else None
    heaviest = None if sample.weight is None else MAX_WEIGHT
    return find(Search(sample, population.limit, DELTA, largest, heaviest)).threshold


BOUNDS = {"betting": ours, "bonferroni": partial(ours, find=partial(bonferroni, bound="hoeffding-bentkus"))}
SHIFTED = ("middling", "rare errors", "just above the limit", "ten levels", "graded, just above", "graded, bad top")


def default(form: Form, sizes: tuple[int, ...] = (100, 1000)) -> None:
    """The default procedure next to the naive rule, 0/1 losses."""
    beside("default", {"naive": naive, "fallback": ours}, POPULATIONS, sizes, form(1000, 100))


def graded(form: Form, sizes: tuple[int, ...] = (100, 1000)) -> None:
    """Losses that are not 0/1, by betting and by Hoeffding-Bentkus with Bonferroni."""
    beside("graded", BOUNDS, GRADED, sizes, form(1000, 100))


def weighted(form: Form, sizes: tuple[int, ...] = (100, 1000)) -> None:
    """0/1 and graded losses from a shifted sample with known weights."""
    populations = tuple(each for each in (*POPULATIONS, *GRADED) if each.name in SHIFTED)
    beside("weighted", BOUNDS, populations, sizes, form(1000, 100))


def beside(study: str, rules: dict[str, Rule], populations: Any, sizes: tuple[int, ...], many: int) -> None:
    """Print how often the guarantees of rules are violated; all see the same samples."""
    for n in sizes:
        means: dict[str, list[tuple[float, float]]] = {name: [] for name in rules}
        for population in populations:
            rng = np.random.default_rng(n)
            draw = population.draw_shifted if study == "weighted" else population.draw
            drawn = (read(*draw(n, rng)) for _ in range(many))
            found = np.array([[rule(population, sample) for rule in rules.values()] for sample in drawn])
            cells = []
            for name, threshold in zip(rules, found.T, strict=True):
                means[name].append((population.coverage(threshold).mean(), np.mean(population.violated(threshold))))
                cells.append(f"{name} {means[name][-1][0]:.3f} ({means[name][-1][1]:.4f})")
            say(f"n={n} {population.name}, limit {population.limit}: {'; '.join(cells)}")
        for name, each in means.items():
            coverage, broken = np.array(each).T
            say(f"n={n} {study} {name}: worst {broken.max():.4f}, mean coverage {coverage.mean():.4f}")


# ---------------------------------------------------------------------- two scores

#: Limit, and error probability, of two thresholds.
LIMIT = 0.1
#: Rows in which the risk of a pair is counted, by their chances of an error: some lie less than 0.001 below the limit.
MANY = 1_000_000
#: Chances of an error, or errors drawn from them; confidence; second score; which rows are OOD.
Rows = tuple[Any, Any, Any, Any]


def flat(rng: np.random.Generator, n: int) -> Rows:
    """Scores that say nothing, tied on few levels, at a risk just above the limit."""
    return np.full(n, 1.02 * LIMIT), rng.integers(0, 30, n) / 30.0, rng.integers(0, 30, n) / 30.0, np.zeros(n, bool)


def mixed(rng: np.random.Generator, n: int) -> Rows:
    """An eighth of the rows is OOD, confident, but the second score is low there; ID rows have errors of their own."""
    return with_ood(rng, rng.random(n) < 0.125)


def inside(rng: np.random.Generator, n: int) -> Rows:
    """ID rows alone, and a second score that says nothing: the price of asking."""
    confidence = rng.beta(3, 1.2, n)
    return 0.4 - 0.4 * confidence, confidence, rng.random(n), np.zeros(n, bool)


def flat_prevalence(rng: np.random.Generator, n: int) -> Rows:
    """Half OOD in the file, a twentieth in the world, where the risk is just above the limit at every pair."""
    ood = np.arange(n) < n // 2
    _, confidence, second, _ = flat(rng, n)
    return np.where(ood, 1.0, (1.02 * LIMIT - 0.05) / 0.95), confidence, second, ood


def prevalence(rng: np.random.Generator, n: int) -> Rows:
    """Half OOD in the file, a twentieth in the world; both scores say something."""
    return with_ood(rng, np.arange(n) < n // 2)


def with_ood(rng: np.random.Generator, ood: Any) -> Rows:
    """Two scores of which each knows something, with these rows OOD."""
    confidence = np.where(ood, rng.beta(4, 2, ood.size), rng.beta(5, 1.2, ood.size))
    return np.where(ood, 1.0, 0.5 - 0.5 * confidence), confidence, rng.normal(2.5 * ~ood, 1.0), ood


#: Name -> rows, and the share of OOD rows in the world if it is not that of the file.
PAIRS: dict[str, tuple[Callable[..., Rows], float | None]] = {
    "flat": (flat, None),
    "ID and OOD as drawn": (mixed, None),
    "ID alone": (inside, None),
    "flat, prevalence 5 %": (flat_prevalence, 0.05),
    "prevalence 5 %": (prevalence, 0.05),
}


def weights(ood: Any, share: float | None) -> Any:
    """Return the weights of rows in the world."""
    return np.ones(len(ood)) if share is None else np.where(ood, share / ood.mean(), (1 - share) / (~ood).mean())


def truth(rows: Rows, accepted: Any, share: float | None) -> tuple[float, float]:
    """Return risk and coverage of an accept mask in the world."""
    weight = weights(rows[3], share)
    mass = float(weight[accepted].sum())
    return (float(weight[accepted] @ rows[0][accepted]) / mass if mass else 0.0), mass / float(weight.sum())


def pairs(form: Form, sizes: tuple[int, ...] = (100, 1000)) -> None:
    """How often a pair of thresholds is violated, and what it accepts next to single scores."""
    many, limits = form(1000, 20), {"risk": LIMIT, "delta": LIMIT}
    for name, (make, share) in PAIRS.items():
        world = make(np.random.default_rng(99), MANY)
        for n in sizes:
            broken, found = 0, {"pair": 0.0, "confidence": 0.0, "second": 0.0}
            for seed in range(many):
                rng = np.random.default_rng([seed, n])
                chance, confidence, second, ood = make(rng, n)
                loss = rng.random(n) < chance
                more: dict[str, Any] = {} if share is None else {"is_ood": ood, "prevalence": share}
                pair = choose_pair(loss, confidence, second, **limits, rng=seed, **more)
                if pair.attainable:
                    risk, coverage = truth(world, pair.accept(world[1], world[2]), share)
                    broken += name.startswith("flat") or risk > LIMIT
                    found["pair"] += coverage
                weight = weights(ood, share)
                more = {} if share is None else {"sample_weight": weight, "max_weight": float(weight.max())}
                for key, score, column in (("confidence", confidence, 1), ("second", second, 2)):
                    one = abstain.choose_threshold(loss, score, **limits, **more)
                    if one.attainable:
                        found[key] += truth(world, one.accept(world[column]), share)[1]
            coverages = "  ".join(f"{key} {value / many:.3f}" for key, value in found.items())
            say(f"{name:22} n = {n:5}  violated {percent(broken, many)}  coverage: {coverages}")


# ---------------------------------------------------------------------- real outputs


def real(form: Form, data: Path = DATA) -> None:
    """Calibrate on a random half of real outputs, check and monitor on the other."""
    for study in (imagenet, shifted, language_models, ecg, adult):
        study(data, form(20, 20))


def halves(name: str, loss: Any, score: Any, risk: float, many: int, **options: Any) -> None:
    """Calibrate on a random half, check and monitor on the other."""
    rows = []
    for i in range(many):
        order = np.random.default_rng(i).permutation(len(loss))
        a, b = order[: len(loss) // 2], order[len(loss) // 2 :]
        rows.append(checked((loss[a], score[a]), (loss[b], score[b]), risk, **options))
    show(name, risk, rows)


def shift(name: str, old: tuple[Any, Any], new: tuple[Any, Any], risk: float, many: int) -> None:
    """Calibrate on a random half of one population, check and monitor on rows of another."""
    rows = []
    for i in range(many):
        rng = np.random.default_rng(i)
        a, b = rng.permutation(len(old[0]))[: len(old[0]) // 2], rng.permutation(len(new[0]))
        rows.append(checked((old[0][a], old[1][a]), (new[0][b], new[1][b]), risk))
    show(name, risk, rows)


def checked(old: tuple[Any, Any], new: tuple[Any, Any], risk: float, **options: Any) -> list[float]:
    """Return whether there is a certificate; coverage and risk of the check, whether it is broken; alarm and drift."""
    found = abstain.choose_threshold(*old, risk=risk, delta=DELTA, **options)
    if not found.attainable:
        return [0.0, 0.0, np.nan, 0.0, 0.0, 0.0]
    loss, accepted = new[0], found.accept(new[1])
    seen = monitor(found.policy(score="s"), *new, max_loss=options.get("max_loss", 1.0))
    there = float(loss[accepted].mean()) if accepted.any() else np.nan
    return [1.0, accepted.mean(), there, there > risk, bool(seen.violated), bool(seen.score_drifted)]


def show(name: str, risk: float, rows: list[list[float]]) -> None:
    """Print the means."""
    attained, coverage, there, broken, alarm, drift = np.nanmean(np.array([*rows, [np.nan] * 6]), axis=0)
    means = f"attained {attained:.2f} coverage {coverage:.3f} risk {there:.4f} broken {broken:.2f}"
    say(f"{name:44s} limit {risk:.3f} {means} alarm {alarm:.2f} score drift {drift:.2f}")


def imagenet(folder: Path, many: int) -> None:
    data = np.load(folder / "outputs/imagenet_val_msp.npz")
    for name, pred, conf in zip(data["models"], data["pred"], data["conf"], strict=True):
        halves(f"ImageNet {name}", (pred != data["labels"]).astype(float), conf.astype(float), 0.05, many)


def shifted(folder: Path, many: int) -> None:
    """Agreement of 30 models as confidence of their majority; CIFAR-10 -> CIFAR-10.1, and OOD inputs mixed in."""
    data, named = np.load(folder / "outputs/cifar10_1_hard_predictions.npz"), {}
    for name in ("cifar10", "v4", "v6"):
        votes, labels = data[f"pred_{name}"].astype(int), data[f"labels_{name}"]
        counts = np.apply_along_axis(np.bincount, 0, votes, minlength=10)
        named[name] = ((counts.argmax(axis=0) != labels).astype(float), counts.max(axis=0) / votes.shape[0])
    halves("CIFAR-10: agreement of 30 models", *named["cifar10"], 0.01, many)
    for name in ("v4", "v6"):
        shift(f"CIFAR-10 -> {name}", named["cifar10"], named[name], 0.01, many)
    for name, limit in (("cifar10_vs_cifar100", 0.005), ("fashionmnist_vs_mnist", 0.02)):
        ood = np.load(folder / f"outputs/ood_{name}.npz")
        score = ood["probs"].max(axis=1).astype(float)
        wrong = (ood["probs"].argmax(axis=1) != ood["labels"]).astype(float)
        known = ~ood["is_ood"].astype(bool)
        halves(f"{name}: in-distribution", wrong[known], score[known], limit, many)
        shift(f"{name}: half OOD (an error each)", (wrong[known], score[known]), (wrong, score), 0.02, many)


def language_models(folder: Path, many: int) -> None:
    import polars as pl

    frame = pl.read_parquet(folder / "outputs/llm_mcqa_confidence.parquet")
    frame = frame.filter(pl.col("abstain_option").cast(pl.Boolean) & (pl.col("dataset") == "mmlu"))
    for model in sorted(frame["model"].unique().to_list()):
        part = frame.filter(pl.col("model") == model)
        answered = part.filter(~pl.col("grade").is_in(["Abstained"]) & pl.col("msp").is_not_null())
        if answered.height >= 500:
            loss = (answered["grade"] != "Correct").to_numpy().astype(float)
            name = f"{model}, mmlu ({answered.height / part.height:.2f} answered)"
            halves(name, loss, answered["msp"].to_numpy(), 0.2, many)


def ecg(folder: Path, many: int) -> None:
    """Hamming-like loss of a multi-label model: share of the labels in question that are wrong."""
    data = np.load(folder / "outputs/ecg_ptbxl_xresnet1d101_multilabel.npz")
    found = []
    for part in ("val", "test"):
        two = [np.asarray(data[key], dtype=float) for key in data.files if part in key and data[key].ndim == 2]
        truth, proba = sorted(two, key=lambda matrix: len(np.unique(matrix)))[:2]
        union = ((truth > 0.5) | (proba > 0.5)).sum(axis=1)
        wrong = ((truth > 0.5) != (proba > 0.5)).sum(axis=1)
        found.append((wrong / np.maximum(union, 1), -np.sum(np.minimum(proba, 1 - proba), axis=1)))
    both = (np.concatenate(column) for column in zip(*found, strict=True))
    halves("PTB-XL, 1 - Jaccard, both folds mixed", *both, 0.25, many, max_loss=1.0)
    show("PTB-XL, validation -> test fold", 0.25, [checked(*found, 0.25, max_loss=1.0)])


def adult(folder: Path, many: int) -> None:
    import polars as pl
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    frame = pl.read_parquet(folder / "tabular/adult_train32k.parquet")
    target = next(name for name in frame.columns if name.lower() in ("income", "class", "class-label", "target"))
    y, X = frame[target].cast(pl.String).to_numpy(), frame.drop(target)
    words = [name for name in X.columns if X[name].dtype in (pl.String, pl.Categorical)]
    numbers = [name for name in X.columns if name not in words]
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), (StandardScaler(), numbers))
    order = np.random.default_rng(0).permutation(len(y))
    train, rest = order[:10000], order[10000:]
    model = make_pipeline(encode, LogisticRegression(max_iter=2000)).fit(X[train], y[train])
    proba = model.predict_proba(X[rest])
    loss, score = (model.classes_[proba.argmax(axis=1)] != y[rest]).astype(float), proba.max(axis=1)
    halves("adult, all", loss, score, 0.05, many)
    half = np.random.default_rng(1).permutation(len(rest))
    a, b = half[: len(half) // 2], half[len(half) // 2 :]
    single = abstain.choose_threshold(loss[a], score[a], risk=0.05, delta=DELTA)
    for name in ("sex", "race"):
        group = X[rest][next(c for c in X.columns if c.lower() == name)].cast(pl.String).to_numpy()
        each = abstain.choose_threshold(loss[a], score[a], risk=0.05, delta=DELTA, groups=group[a])
        for value in np.unique(group):
            rows, cells = b[group[b] == value], []
            for kind, mask in (("one", single.accept(score[rows])), ("its own", each.accept(score[rows], group[rows]))):
                risk = float(loss[rows][mask].mean()) if mask.any() else np.nan
                cells.append(f"{kind}: coverage {mask.mean():.3f} risk {risk:.4f}")
            say(f"  {name} = {value:20s} n {len(rows):5d}; {'; '.join(cells)}")


if __name__ == "__main__":
    command(__doc__, default, graded, weighted, pairs, also=(real,))
