"""What looks like another quantity than the one it was given as: a probability of class 1 as a confidence, and so on.

Nothing here is certain, so ``Outputs`` warns; a file is refused where the doubtful column was taken by its name alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from abstain._checks import SWAPPED, swapped
from abstain._classes import ROUNDING
from abstain._typing import FloatArray
from abstain.outputs._columns import log_softmax

#: Fewer rows look like anything by chance.
LEAST = 50
#: Standard errors from chance that are no chance.
CERTAIN = 5.0
#: Rows that are looked at, spread over all of them.
MOST = 20_000


class Doubt(UserWarning):
    """One column, and what it looks like with the remedy; ``severe``: refused unless it was asked for by name."""

    def __init__(self, message: str, column: str = "", severe: bool = False) -> None:
        super().__init__(message)
        self.column, self.severe = column, severe


def doubts(found: dict[str, Any], wrong: FloatArray | None, names: Any) -> Iterator[Doubt]:
    """Yield what is doubtful about checked columns; ``wrong`` is the 0/1 loss that follows from them, if any does."""
    loss = found["loss"] if found["loss"] is not None else wrong
    scores = {"confidence": found["confidence"]} if found["confidence"] is not None else {}
    scores |= {f"scores[{name!r}]": column for name, column in found["scores"].items()}
    for name, column in scores.items():
        yield from _of_confidence(name, column, found, loss, names)
    if found["loss"] is not None:
        yield from _of_loss(found["loss"], scores)
    elif wrong is not None:
        yield from _of_accuracy(wrong, found, names)
        yield from _of_classes(found, names)
        yield from _of_columns(found)


def _of_confidence(
    name: str, column: FloatArray, found: dict[str, Any], loss: FloatArray | None, names: Any
) -> Iterator[Doubt]:
    named = step(column, found["predictions"], found["labels"], names)
    if named is not None:
        yield Doubt(
            f"{name} looks like the probability of class {named}, which is no confidence: every row predicted {named} "
            "lies above every other row; give the two class probabilities [1 - p, p] as probabilities (of a file: "
            "positive_probability=), or max(p, 1 - p) as confidence",
            name,
            severe=True,
        )
    elif loss is not None and found["loss"] is None and backwards(loss, column):
        yield Doubt(
            f"{name} is higher where the prediction is wrong: a confidence is high where the model is sure; of an "
            "uncertainty give the negative (of a file: uncertainty=)",
            name,
        )


def _of_loss(loss: FloatArray, scores: dict[str, FloatArray]) -> Iterator[Doubt]:
    if len(loss) < LEAST:
        return
    binary = bool(((loss == 0.0) | (loss == 1.0)).all())
    mean = float(loss.mean())
    if any(swapped(loss, column) for column in scores.values()):
        yield Doubt(SWAPPED, "loss")
    elif binary and (mean - 0.5) * np.sqrt(len(loss)) / 0.5 > CERTAIN:
        yield Doubt(
            f"{100.0 * mean:.3g} % of the losses are 1: if 1 stands for a right answer, it is no loss; give 1 - it "
            "(of a file: correct=)",
            "loss",
        )
    elif name := next((name for name, column in scores.items() if backwards(loss, column)), None):
        yield Doubt(
            f"{name} is higher where the loss is higher: if the loss is a correctness, give 1 - it; if the score is an "
            "uncertainty, give its negative",
            "loss",
        )


def _of_accuracy(wrong: FloatArray, found: dict[str, Any], names: Any) -> Iterator[Doubt]:
    matrix = next((found[name] for name in ("logits", "probabilities", "passes") if found[name] is not None), None)
    if matrix is None or len(wrong) < LEAST:
        return
    chance = 1.0 / matrix.shape[-1]
    right = 1.0 - float(wrong.mean())
    if (chance - right) * np.sqrt(len(wrong) / (chance * (1.0 - chance))) > CERTAIN:
        yield Doubt(
            f"{100.0 * right:.3g} % of the predictions are right, below chance for {matrix.shape[-1]} classes: do the "
            "labels count the classes in the order of the columns? Give class_names in that order",
            "labels",
        )


def _of_classes(found: dict[str, Any], names: Any) -> Iterator[Doubt]:
    """The last class is no label, though it has the probability of many: a unit by which a network abstains."""
    matrix = found["probabilities"] if found["logits"] is None else found["logits"]
    if matrix is None or names is not None or matrix.shape[1] < 3:
        return
    labels, last = found["labels"], matrix.shape[1] - 1
    seen = np.bincount(labels, minlength=last + 1)
    if seen[last] or not seen[:last].all():
        return
    expected = float((matrix if found["logits"] is None else np.exp(log_softmax(matrix)))[:, last].sum())
    if expected < CERTAIN**2:
        return
    yield Doubt(
        f"class {last}, the last of {last + 1}, has the probability of {expected:.0f} samples but is the label of "
        "none, while all others are: if it is the unit by which the network abstains, give "
        "Outputs(..., abstention_unit=True)",
        "labels",
    )


def _of_columns(found: dict[str, Any]) -> Iterator[Doubt]:
    """Logits in [0, 1] beyond the classes of the labels: probabilities of several models, side by side."""
    matrix = found["logits"]
    if matrix is None or len(matrix) < LEAST or matrix.min() < 0.0 or matrix.max() > 1.0:
        return
    used, width = int(found["labels"].max()) + 1, matrix.shape[1]
    votes = bool(((matrix == 0.0) | (matrix == 1.0)).all())
    if used == width or votes or bool((np.abs(matrix.sum(axis=1) - 1.0) <= ROUNDING).all()):  # said elsewhere
        return
    yield Doubt(
        f"logits lie in [0, 1], and the labels use the first {used} of {width} columns: if these are probabilities of "
        "several models or passes, give those of one as probabilities=, or all as passes= (runs, samples, classes)",
        "logits",
    )


def step(column: FloatArray, predictions: Any, labels: Any, names: Any) -> str | None:
    """Return the one of two predicted classes whose rows all lie above those of the other in [0, 1]; None if neither.

    A confidence tells nothing of the class. Both classes need enough rows for this to be no chance.
    """
    if predictions is None or column.min() < 0.0 or not column.max() <= 1.0:
        return None
    first, last = int(predictions.min()), int(predictions.max())
    if last != first + 1 or (labels is not None and (labels.min() < first or labels.max() > last)):
        return None
    upper = predictions == last
    k = int(upper.sum())
    if min(k, len(column) - k) < 3 or len(column) < LEAST:
        return None
    above = bool(column[upper].min() > column[~upper].max())
    if not above and not column[upper].max() < column[~upper].min():
        return None
    return str((last if above else first) if names is None else names[last if above else first])


def backwards(loss: FloatArray, column: FloatArray) -> bool:
    """Whether, beyond chance, the score is the higher the larger the loss (the correlation of their ranks)."""
    if len(loss) > MOST:
        rows = np.linspace(0, len(loss) - 1, MOST).astype(np.int64)
        loss, column = loss[rows], column[rows]
    known = ~np.isnan(column)
    if not known.all():
        loss, column = loss[known], column[known]
    if len(loss) < LEAST:
        return False
    ranks, varied = _ranks(loss)
    if varied < LEAST // 5:
        return False
    others, varied = _ranks(column)
    if varied < LEAST // 5:
        return False
    correlation = float(np.corrcoef(others, ranks)[0, 1])
    return bool(correlation * np.sqrt(len(loss) - 1) > CERTAIN)


def _ranks(values: FloatArray) -> tuple[FloatArray, int]:
    """Return ranks (the mean rank where values tie), and how many rows have another value than the most frequent one.

    Only what is linear in the ranks is wanted, so values that are 0 or 1 serve as they are.
    """
    high = values == 1.0
    if bool((high | (values == 0.0)).all()):
        number = int(np.count_nonzero(high))
        return values, min(number, len(values) - number)
    order = np.argsort(values)
    sorted_values = values[order]
    edges = np.flatnonzero(np.concatenate(([True], sorted_values[1:] != sorted_values[:-1], [True])))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(0.5 * (edges[1:] + edges[:-1]), np.diff(edges))
    return ranks, int(len(values) - np.diff(edges).max())
