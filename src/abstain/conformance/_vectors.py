"""The vectors: problems with columns, and the exact answers of every definition of a metric."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

import numpy as np

from abstain._checks import one_of
from abstain._typing import AnyArray, Document, FloatArray

#: Classes of the probabilities that stand for one confidence: the first is predicted.
_CLASSES = 16

#: Columns that a call may name, by the kind of the metric.
COLUMNS = {
    "samples": ("loss", "correct", "confidence", "uncertainty", "sample_weight", "probabilities", "labels"),
    "classes": ("labels", "probabilities", "logits"),
    "joint": (
        "id_loss", "id_confidence", "id_detector", "ood_confidence", "ood_detector", "id_score", "ood_score",
        "is_ood", "score", "id_labels", "id_predictions",
    ),
    "population": ("loss", "correct", "confidence", "uncertainty"),
}  # fmt: skip


@cache
def vectors() -> Document:
    """Return the vectors as the file has them: ``version``, ``problems``, ``populations`` and ``metrics``.

    Returns
    -------
    dict
        A number is an integer or ``"p/q"`` if it is rational, a decimal of 30 places if it holds a logarithm, and None
        where the definition gives none; ``fractions.Fraction`` reads all of them.

    Examples
    --------
    >>> from abstain.conformance import vectors
    >>> aurc = vectors()["metrics"]["aurc"]
    >>> aurc["cases"][0]["problem"], aurc["cases"][0]["values"]["plugin"]
    ('distinct', '233/1050')
    """
    found: Document = json.loads((files(__package__) / "vectors.json").read_text("utf-8"))
    return found


def metric_of(name: str) -> Document:
    """Return what the file has of one metric."""
    metrics = vectors()["metrics"]
    found: Document = metrics[one_of(name, tuple(metrics), "metric")]
    return found


def names_of(metric: str) -> tuple[str, ...]:
    """Return the names that a call of a metric may use: columns, and options of its cases."""
    found = metric_of(metric)
    return (*COLUMNS[found["kind"]], *found["cases"][0].get("options", {}))


@dataclass(frozen=True)
class Case:
    """One problem with its options and the answers of each definition; NaN where a definition gives none."""

    problem: str
    about: str
    options: dict[str, float]
    columns: dict[str, AnyArray]
    values: dict[str, float]
    values_without: dict[str, float]
    may_refuse: str
    order_of: str

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    @property
    def name(self) -> str:
        """The problem with its options."""
        options = ", ".join(f"{name}={value:g}" for name, value in self.options.items())
        return f"{self.problem} ({options})" if options else self.problem

    @property
    def tied(self) -> bool:
        """Whether two rows have the same score."""
        every = [*self.columns.get("confidence", ()), *self.columns.get("score", ())]
        return len({x for x in every if not math.isnan(x)}) < sum(not math.isnan(x) for x in every)


def cases_of(metric: str) -> list[Case]:
    """Return the cases of a metric, the smallest first."""
    found = metric_of(metric)
    problems = vectors()["problems"]
    cases = []
    for each in found["cases"]:
        problem = problems[each["problem"]]
        cases.append(
            Case(
                problem=each["problem"],
                about=problem["about"],
                options=each.get("options", {}),
                columns=_columns(found["kind"], problem),
                values={name: _number(value) for name, value in each["values"].items()},
                values_without={name: _number(value) for name, value in each.get("values_without", {}).items()},
                may_refuse=problem.get("may_refuse", ""),
                order_of=problem.get("order_of", ""),
            )
        )
    return sorted(cases, key=lambda case: case.n)


def _number(value: Any) -> float:
    return math.nan if value is None else float(Fraction(value))


def _floats(values: list[str | float | None]) -> FloatArray:
    return np.array([math.nan if value is None else float(value) for value in values], dtype=np.float64)


def _columns(kind: str, problem: Document) -> dict[str, AnyArray]:
    """Return the columns of a problem by the names that a call may use."""
    if kind == "classes":
        probabilities = np.array(problem["probabilities"], dtype=np.float64)
        return {
            "labels": np.array(problem["labels"]),
            "probabilities": probabilities,
            "logits": np.log(probabilities),
        }
    if kind == "joint":
        return _joint_columns(problem)
    loss, confidence = _floats(problem["loss"]), _floats(problem["confidence"])
    columns = {"loss": loss, "correct": 1.0 - loss, "confidence": confidence, "uncertainty": -confidence}
    columns["sample_weight"] = _floats(problem.get("sample_weight", [1] * len(loss)))
    if set(loss) <= {0.0, 1.0} and all(1.0 / _CLASSES < x <= 1.0 for x in confidence):
        others = (1.0 - confidence) / (_CLASSES - 1)
        columns["probabilities"] = np.column_stack([confidence, np.tile(others, (_CLASSES - 1, 1)).T])
        columns["labels"] = loss.astype(np.int64)
    return columns


def _joint_columns(problem: Document) -> dict[str, AnyArray]:
    names = ("id_loss", "id_confidence", "id_detector", "ood_confidence", "ood_detector")
    columns = {name: _floats(problem[name]) for name in names}
    columns |= {"id_score": columns["id_confidence"], "ood_score": columns["ood_confidence"]}
    inside, outside = len(columns["id_loss"]), len(columns["ood_score"])
    return columns | {
        "is_ood": np.repeat([0, 1], [inside, outside]),
        "score": np.concatenate([columns["id_score"], columns["ood_score"]]),
        "id_labels": np.zeros(inside, dtype=np.int64),
        "id_predictions": columns["id_loss"].astype(np.int64),
    }


# ---------------------------------------------------------------------- samples of a population


@dataclass(frozen=True)
class Population:
    """Cells (score, loss, probability), and how many rows are drawn."""

    name: str
    about: str
    order: str
    n: int
    risk: float
    delta: float
    cells: tuple[tuple[float, int, Fraction], ...]

    def samples(self) -> Iterator[tuple[dict[str, AnyArray], Fraction]]:
        """Yield every sample of n rows with its exact probability; the right rows of a score first, or the wrong."""
        for counts in product(range(self.n + 1), repeat=len(self.cells) - 1):
            if sum(counts) <= self.n:
                yield self._sample((*counts, self.n - sum(counts)))

    def _sample(self, counts: tuple[int, ...]) -> tuple[dict[str, AnyArray], Fraction]:
        chance = Fraction(math.factorial(self.n))
        for count, (_, _, probability) in zip(counts, self.cells, strict=True):
            chance *= probability**count / math.factorial(count)
        last = 1 if self.order == "right_first" else -1
        rows = [(score, loss) for count, (score, loss, _) in zip(counts, self.cells, strict=True) for _ in range(count)]
        rows.sort(key=lambda row: (-row[0], last * row[1]))
        confidence, loss = _floats([row[0] for row in rows]), _floats([row[1] for row in rows])
        return {"loss": loss, "correct": 1.0 - loss, "confidence": confidence, "uncertainty": -confidence}, chance

    def share_above(self, threshold: float) -> Fraction:
        """Return the probability of the scores at or above a threshold."""
        return sum((probability for score, _, probability in self.cells if score >= threshold), Fraction())

    def risk_above(self, threshold: float) -> Fraction:
        """Return the true risk of the scores at or above a threshold, 0 if there are none."""
        mass = self.share_above(threshold)
        lost = sum((loss * probability for score, loss, probability in self.cells if score >= threshold), Fraction())
        return lost / mass if mass else Fraction()


def populations() -> list[Population]:
    """Return the populations of the certificates."""
    found = []
    for case in metric_of("certificate")["cases"]:
        population = vectors()["populations"][case["problem"]]
        cells = tuple((float(Fraction(s)), loss, Fraction(p)) for s, loss, p in population["cells"])
        found.append(Population(case["problem"], population["about"], case["order"], **case["options"], cells=cells))
    return found
