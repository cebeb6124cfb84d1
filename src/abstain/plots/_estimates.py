"""Estimates from small samples: mean, bias and error over the sample size, and side by side by score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from abstain import metrics
from abstain._checks import generator, one_of, whole
from abstain._typing import ArrayLike, Axes, FloatArray, Options
from abstain.blocks import TieBlocks
from abstain.evaluation import Evaluation
from abstain.plots._columns import chosen, rows_of, tables_of
from abstain.plots._display import Display, Shape, colour, entry, mark, tidy
from abstain.plots._registry import declare

Quantity = Literal["mean", "bias", "mae", "mse"]
LABELS = {
    "mean": "Estimate, mean ± deviation",
    "bias": "Bias / AURC",
    "mae": "Mean absolute error / AURC",
    "mse": "Mean squared error / AURC²",
}
Estimator = Callable[[TieBlocks], float]

#: The estimators of the paper.
ESTIMATORS: dict[str, Estimator] = {
    "harmonic": metrics.get("aurc", estimator="harmonic"),
    "log": metrics.get("aurc", estimator="log"),
    "SELE": metrics.get("sele"),
    "2 × SELE": lambda blocks: 2.0 * float(metrics.get("sele")(blocks)),
}


@declare(
    "estimates",
    family="metric",
    title="Estimates over the sample size",
    source="Zhou et al. 2025, Figs. 3 to 5, S9 to S25",
    needs="loss, confidence",
)
class EstimatesDisplay(Display):
    """Mean, bias and errors of AURC estimators in random batches of n rows, against the value of all rows.

    Parameters
    ----------
    estimates : mapping of estimator to sequence of arrays
        For each size the estimates from that many rows.
    sizes : sequence of int
    population : float
        What is estimated.
    quantities : sequence of {"mean", "bias", "mae", "mse"}
        One panel each; all but the mean are relative to the population's value.

    Examples
    --------
    >>> import abstain
    >>> evaluation = abstain.evaluate(abstain.datasets.load("cifar10_vgg16"), "msp", "aurc")
    >>> display = abstain.plots.EstimatesDisplay.from_evaluation(evaluation, n_draws=100)
    """

    def __init__(
        self,
        estimates: Mapping[str, Sequence[ArrayLike]],
        sizes: Sequence[int],
        population: float,
        *,
        quantities: Sequence[Quantity] = ("mean", "bias", "mae", "mse"),
    ) -> None:
        for quantity in quantities:
            one_of(quantity, get_args(Quantity), "quantities")
        self.sizes, self.population, self.quantities = list(sizes), float(population), list(quantities)
        self.estimates = {name: [np.asarray(each, float) for each in draws] for name, draws in estimates.items()}
        if not self.population > 0.0:
            raise ValueError(f"population is {population}, and errors are relative to it: no row is wrong")
        wrong = next((name for name, draws in self.estimates.items() if len(draws) != len(self.sizes)), None)
        if wrong is not None or not self.estimates:
            raise ValueError(f"estimates[{wrong!r}] must have an array for each of the {len(self.sizes)} sizes")

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        score: str | None = None,
        sizes: Sequence[int] = (8, 16, 32, 64, 128, 256, 512),
        n_draws: int = 200,
        rng: int | np.random.Generator | None = 0,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> EstimatesDisplay:
        """Draw random batches of the rows of an evaluation, which are the population.

        Parameters
        ----------
        evaluation : Evaluation
            That keeps its rows: with intervals, or of a 0/1 loss.
        score : str, optional
            Default: the first.
        sizes : sequence of int
        n_draws : int
            Batches per size.
        rng : int, numpy.random.Generator or None
        ax : matplotlib axes, one per quantity, optional
        **kwargs
            Passed to the class.

        Returns
        -------
        EstimatesDisplay
        """
        name = evaluation.scores[0] if score is None else score
        loss, confidence = _rows(chosen(tables_of(evaluation), name)[name])
        draws = generator(rng)
        kept = [whole(n, "sizes", 2) for n in sizes if n <= loss.size] or [loss.size]
        found = [_drawn(loss, confidence, n, whole(n_draws, "n_draws"), draws) for n in kept]
        by_name = {each: [part[each] for part in found] for each in ESTIMATORS}
        return cls(by_name, kept, _population(loss, confidence), **kwargs).plot(ax)

    def _shape(self) -> Shape:
        count = len(self.quantities)
        return (3.1 * count, 3.3), count

    def _draw(self, axes: Any) -> None:
        for one, quantity in zip(axes, self.quantities, strict=True):
            self._panel(one, quantity)
        axes[0].legend(frameon=False)

    def _panel(self, ax: Axes, quantity: Quantity) -> None:
        size = np.array(self.sizes)
        for k, (name, draws) in enumerate(self.estimates.items()):
            value = np.array([_quantity(each, self.population, quantity) for each in draws])
            ax.plot(size, value, f"{mark(k)}-", color=colour(k), markersize=4, linewidth=1.0, label=entry(name))
            if quantity == "mean":
                sd = np.array([each.std() for each in draws])
                ax.fill_between(size, value - sd, value + sd, color=colour(k), alpha=0.12, linewidth=0.0)
        ax.set_xscale("log", base=2)
        ax.set(xlabel="Rows n", ylabel=LABELS[quantity])
        if quantity in ("mae", "mse"):
            ax.set_yscale("log")
        else:
            right, label = (self.population, "all rows") if quantity == "mean" else (0.0, None)
            ax.axhline(right, color="black", linewidth=0.8, linestyle="--", label=label)
        if quantity == "mean":
            ax.set_ylim(bottom=0.0)
        tidy(ax)


@declare(
    "estimates_by_score",
    family="metric",
    title="Estimates by score",
    source="Zhou et al. 2025, Figs. 6, S26 to S28",
    needs="loss, several scores",
)
class EstimatesByScoreDisplay(Display):
    """Mean and deviation of AURC estimators in batches of one size, score by score, relative to all rows.

    Parameters
    ----------
    estimates : mapping of score to mapping of estimator to array
    population : mapping of score to float
    n : int
        Rows of each sample, for the title.

    Examples
    --------
    >>> import abstain
    >>> names = ["msp", "neg_entropy", "neg_gini", "softmax_margin", "gen"]
    >>> evaluation = abstain.evaluate(abstain.datasets.load("cifar10_vgg16"), names, "aurc")
    >>> display = abstain.plots.EstimatesByScoreDisplay.from_evaluation(evaluation, n=128, n_draws=100)
    """

    def __init__(
        self, estimates: Mapping[str, Mapping[str, ArrayLike]], population: Mapping[str, float], *, n: int
    ) -> None:
        if not estimates or set(estimates) != set(population):
            raise ValueError("estimates and population must have the same scores, and at least one")
        if not all(value > 0.0 for value in population.values()):
            raise ValueError("population holds 0, and estimates are relative to it: no row is wrong")
        self.n, self.population = n, dict(population)
        self.estimates = {
            score: {name: np.asarray(each, float) for name, each in found.items()} for score, found in estimates.items()
        }

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Evaluation,
        *,
        score: str | Sequence[str] | None = None,
        n: int = 128,
        n_draws: int = 200,
        rng: int | np.random.Generator | None = 0,
        ax: Axes | None = None,
    ) -> EstimatesByScoreDisplay:
        """Draw random batches of the rows of an evaluation, the same for all scores.

        Parameters
        ----------
        evaluation : Evaluation
            That keeps its rows: with intervals, or of a 0/1 loss.
        score : str or sequence of str, optional
            Only these.
        n : int
            Rows of a batch.
        n_draws : int
            Batches.
        rng : int, numpy.random.Generator or None
        ax : matplotlib axes, optional

        Returns
        -------
        EstimatesByScoreDisplay
        """
        found, population = {}, {}
        seed = int(generator(rng).integers(2**63))
        for name, blocks in chosen(tables_of(evaluation), score).items():
            loss, confidence = _rows(blocks)
            draws = np.random.default_rng(seed)
            found[name] = _drawn(loss, confidence, whole(n, "n", 2), whole(n_draws, "n_draws"), draws)
            population[name] = _population(loss, confidence)
        return cls(found, population, n=n).plot(ax)

    def _shape(self) -> Shape:
        scores = list(self.estimates)
        return (1.8 + 0.95 * len(scores), 3.6), None

    def _draw(self, ax: Axes) -> None:
        scores = list(self.estimates)
        names = list(self.estimates[scores[0]])
        for k, name in enumerate(names):
            parts = [self.estimates[score][name] / self.population[score] for score in scores]
            at = np.arange(len(scores)) + 0.17 * (k - 0.5 * (len(names) - 1))
            style: Options = {"color": colour(k), "markersize": 4, "linewidth": 1.0, "capsize": 2}
            mean, deviation = [part.mean() for part in parts], [part.std() for part in parts]
            ax.errorbar(at, mean, deviation, fmt=mark(k), label=entry(name), **style)
        ax.axhline(1.0, color="black", linewidth=0.8, linestyle="--")
        labels = [f"{entry(score)}\n({self.population[score]:.3g})" for score in scores]
        ax.set_xticks(range(len(scores)), labels)
        ax.set(ylabel="Estimate / AURC of all rows", title=f"batches of {self.n} rows")
        ax.margins(y=0.25)
        tidy(ax)
        ax.legend(frameon=False, ncols=len(names), loc="upper center", columnspacing=1.2)


def _rows(blocks: TieBlocks) -> tuple[FloatArray, FloatArray]:
    rows = rows_of(blocks)
    if rows is None:
        raise ValueError("the rows are not known any more: evaluate with a level, without weights")
    return rows


def _population(loss: FloatArray, confidence: FloatArray) -> float:
    return float(ESTIMATORS["harmonic"](TieBlocks.from_samples(loss, confidence)))


def _drawn(
    loss: FloatArray, confidence: FloatArray, n: int, n_draws: int, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Return the estimates from random batches without repeated rows."""
    if n > loss.size:
        raise ValueError(f"n={n} rows cannot be drawn from {loss.size}; give a smaller n")
    found: dict[str, list[float]] = {name: [] for name in ESTIMATORS}
    for _ in range(n_draws):
        rows = rng.choice(loss.size, n, replace=False)
        blocks = TieBlocks.from_samples(loss[rows], confidence[rows])
        for name, estimator in ESTIMATORS.items():
            found[name].append(float(estimator(blocks)))
    return {name: np.array(values) for name, values in found.items()}


def _quantity(values: FloatArray, population: float, quantity: Quantity) -> float:
    error = values - population
    match quantity:
        case "mean":
            return float(values.mean())
        case "bias":
            return float(error.mean()) / population
        case "mae":
            return float(np.abs(error).mean()) / population
    return float((error**2).mean()) / population**2
