"""Signs that a column is another quantity than the one it was taken for, each with the remedy."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain._checks import SWAPPED, listed, swapped
from abstain._classes import ROUNDING
from abstain._typing import AnyArray, Array, ArrayLike, FloatArray
from abstain.outputs import _names
from abstain.outputs._columns import log_softmax

if TYPE_CHECKING:
    from abstain.outputs._outputs import Outputs

#: Fewer rows look like anything by chance.
LEAST = 50
#: Standard errors from chance that are no chance.
CERTAIN = 5.0
#: Rows that are looked at, spread over all of them.
MOST = 20_000


def doubts(found: dict[str, Array], wrong: FloatArray | None, names: Sequence[str] | None) -> Iterator[str]:
    """Yield what is doubtful about checked columns; ``wrong`` is the 0/1 loss that follows from them, if any does."""
    loss = found["loss"] if found["loss"] is not None else wrong
    scores = {"confidence": found["confidence"]} if found["confidence"] is not None else {}
    scores |= {f"scores[{name!r}]": column for name, column in found["scores"].items()}
    for name, column in scores.items():
        yield from _of_confidence(name, column, found, loss, names)
    if found["loss"] is not None:
        yield from _of_loss(found["loss"], scores)
    elif wrong is not None:
        yield from _of_accuracy(wrong, found)
        yield from _of_classes(found, names)
        yield from _of_columns(found)


def _of_confidence(
    name: str, column: FloatArray, found: dict[str, Array], loss: FloatArray | None, names: Sequence[str] | None
) -> Iterator[str]:
    named = step(column, found["predictions"], found["labels"], names)
    if named is not None:
        yield (
            f"{name} looks like the probability of class {named}, which is no confidence: every row predicted {named} "
            "lies above every other row; give the two class probabilities [1 - p, p] as probabilities (of a file: "
            "positive_probability=), or max(p, 1 - p) as confidence"
        )
    elif loss is not None and found["loss"] is None and backwards(loss, column):
        yield (
            f"{name} is higher where the prediction is wrong: a confidence is high where the model is confident; of an "
            "uncertainty give the negative (of a file: uncertainty=)"
        )


def _of_loss(loss: FloatArray, scores: dict[str, FloatArray]) -> Iterator[str]:
    if len(loss) < LEAST:
        return
    binary = bool(((loss == 0.0) | (loss == 1.0)).all())
    mean = float(loss.mean())
    if any(swapped(loss, column) for column in scores.values()):
        yield SWAPPED
    elif binary and (mean - 0.5) * np.sqrt(len(loss)) / 0.5 > CERTAIN:
        yield (
            f"{100.0 * mean:.3g} % of the losses are 1: if 1 stands for a right answer, it is no loss; give 1 - it "
            "(of a file: correct=)"
        )
    elif name := next((name for name, column in scores.items() if backwards(loss, column)), None):
        yield (
            f"{name} is higher where the loss is higher: if the loss is a correctness, give 1 - it; if the score is an "
            "uncertainty, give its negative"
        )


def _of_accuracy(wrong: FloatArray, found: dict[str, Array]) -> Iterator[str]:
    matrix = next((found[name] for name in ("logits", "probabilities", "passes") if found[name] is not None), None)
    if matrix is None or len(wrong) < LEAST:
        return
    chance = 1.0 / matrix.shape[-1]
    right = 1.0 - float(wrong.mean())
    if (chance - right) * np.sqrt(len(wrong) / (chance * (1.0 - chance))) > CERTAIN:
        yield (
            f"{100.0 * right:.3g} % of the predictions are right, below chance for {matrix.shape[-1]} classes: do the "
            "labels count the classes in the order of the columns? Give class_names in that order"
        )


def _of_classes(found: dict[str, Array], names: Sequence[str] | None) -> Iterator[str]:
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
    yield (
        f"class {last}, the last of {last + 1}, has the probability of {expected:.0f} samples but is the label of "
        "none, while all others are: if it is the unit by which the network abstains, give "
        "Outputs(..., abstention_unit=True)"
    )


def _of_columns(found: dict[str, Array]) -> Iterator[str]:
    """Logits in [0, 1] beyond the classes of the labels: probabilities of several models, side by side."""
    matrix = found["logits"]
    if matrix is None or len(matrix) < LEAST or matrix.min() < 0.0 or matrix.max() > 1.0:
        return
    used, width = int(found["labels"].max()) + 1, matrix.shape[1]
    votes = bool(((matrix == 0.0) | (matrix == 1.0)).all())
    if used == width or votes or bool((np.abs(matrix.sum(axis=1) - 1.0) <= ROUNDING).all()):  # said elsewhere
        return
    yield (
        f"logits lie in [0, 1], and the labels use the first {used} of {width} columns: if these are probabilities of "
        "several models or passes, give those of one as probabilities=, or all as passes= (runs, samples, classes)"
    )


def step(column: FloatArray, predictions: AnyArray, labels: AnyArray, names: Sequence[str] | None) -> str | None:
    """Return the one of two predicted classes whose rows all lie above those of the other in [0, 1]; None if neither.

    A confidence says nothing of the class. Both classes need enough rows for this to be no chance.
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
    loss, column = loss[known], column[known]
    if len(loss) < LEAST:
        return False
    (ranks, varied), (others, also) = _ranks(loss), _ranks(column)
    if min(varied, also) < LEAST // 5:
        return False
    return bool(np.corrcoef(others, ranks)[0, 1] * np.sqrt(len(loss) - 1) > CERTAIN)


def _ranks(values: FloatArray) -> tuple[FloatArray, int]:
    """Return ranks (the mean rank where values tie), and how many rows have another value than the most frequent."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - 0.5 * (counts - 1))[place], int(len(values) - counts.max())


#: Names that say that 1 is right.
_CORRECT = re.compile(r"(.*[_\W])?(correct(ness)?|right|accura(cy|te)|acc|hits?|success)")

#: A ranking is reversed beyond chance if its AUROC lies this many standard errors below one half.
SIGMAS = 3.0
#: Both classes must be predicted this often before a prediction is called a step function of its "confidence".
FEW = 5
#: Labels and predictions of so many rows have a class in common, however bad the model.
MOST_ALIKE = 20
#: Share of predictions that may differ from the largest probability before anything is said: ties, rounding.
OTHERWISE = 0.01
#: Names of classes that are none.
UNKNOWN = {"unknown", "ood", "oos", "out_of_scope", "other", "none", "n/a", "na", "background"}


def failure_auroc(loss: ArrayLike, confidence: ArrayLike) -> tuple[float, float]:
    """Return the AUROC with which confidence distinguishes losses of 0 from others, and its error if it does not."""
    loss, confidence = np.asarray(loss, dtype=float), np.asarray(confidence, dtype=float)
    scored = ~np.isnan(confidence)
    wrong, confidence = loss[scored] > 0.0, confidence[scored]
    n, m = int(wrong.sum()), int((~wrong).sum())
    if not n or not m:
        return float("nan"), float("nan")
    total = float(_ranks(confidence)[0][~wrong].sum())
    return (total - m * (m + 1) / 2.0) / (n * m), float(np.sqrt((n + m + 1) / (12.0 * n * m)))


def examine(outputs: Outputs, plan: _names.Plan) -> None:
    """Raise on what is surely misread, and warn of what probably is."""
    name = plan.single.get("loss", "")
    if _names.plain(name) in _names.SINGLE["correct"] or _CORRECT.fullmatch(name.lower()):
        raise ValueError(f"column {name!r} says what is right, a loss says what is wrong; give correct={name!r}")
    _step_function(outputs, plan)
    _uncertainty(outputs, plan)
    _disjoint(outputs)
    for texts in (_not_largest(outputs), _spelled(outputs), _outside(outputs), _order(outputs)):
        for text in texts:
            warnings.warn(text, UserWarning, stacklevel=2)


def _not_largest(outputs: Outputs) -> Iterator[str]:
    """Yield a warning where predictions often name another class than the largest of probabilities or logits."""
    matrix = outputs.probabilities if outputs.probabilities is not None else outputs.logits
    if outputs.predictions is None or matrix is None or outputs.confidence is not None:
        return
    values, predicted = np.asarray(matrix), np.asarray(outputs.predictions)
    if predicted.min() < 0 or predicted.max() >= values.shape[1]:
        return
    below = int(np.sum(values[np.arange(len(values)), predicted] < values.max(axis=1)))
    if below > max(FEW, OTHERWISE * len(values)):
        kind = "probabilities" if outputs.probabilities is not None else "logits"
        yield (
            f"{below} of {len(values)} predictions are not the class with the largest of {kind}, as after a threshold "
            "of their own; scores such as msp are the confidence in another class there: give confidence= with that in "
            "the class that was predicted, or leave the predictions out"
        )


def _disjoint(outputs: Outputs) -> None:
    """Refuse labels and predictions in words that have no class in common: they are written differently."""
    if outputs.labels is None or outputs.predictions is None or outputs.class_names is None or outputs.n < MOST_ALIKE:
        return
    names = np.array(outputs.class_names)
    true, said = (sorted(set(names[np.unique(each)].tolist())) for each in (outputs.labels, outputs.predictions))
    if set(true) & set(said) or outputs.loss is not None:
        return
    case = " (they differ by case alone)" if {word.lower() for word in true} & {word.lower() for word in said} else ""
    raise ValueError(
        f"labels ({listed(true, 4)}) and predictions ({listed(said, 4)}) have no class in common{case}; write both "
        "with the same names, or both as numbers"
    )


def _spelled(outputs: Outputs) -> Iterator[str]:
    """Yield a warning of each class that is only a label or a prediction, and nearly spelled like another."""
    if outputs.labels is None or outputs.predictions is None or outputs.class_names is None or outputs.loss is not None:
        return
    names = np.array(outputs.class_names)
    true, said = (set(names[np.unique(each)].tolist()) for each in (outputs.labels, outputs.predictions))
    alike = {"".join(name.split()).casefold(): name for name in (*sorted(said), *sorted(true & said))}
    for name in sorted(true ^ said):
        other = alike.get("".join(name.split()).casefold(), name)
        if other == name:
            continue
        what = "a label but never predicted" if name in true else "predicted but no label"
        yield (
            f"class {name!r} is {what}, and differs from {other!r} by case or blanks alone, so its rows count as "
            "wrong; write both with the same name"
        )


def _outside(outputs: Outputs) -> Iterator[str]:
    """Yield a warning of a class called unknown and never predicted: its rows may be out of distribution."""
    if outputs.labels is None or outputs.class_names is None or outputs.loss is not None:
        return
    for place, name in enumerate(outputs.class_names):
        rows = int(np.sum(np.asarray(outputs.labels) == place))
        if name.lower() in UNKNOWN and rows and not (outputs.predicted() == place).any():
            yield (
                f"class {name!r} is the label of {rows} row{'s' * (rows != 1)} and never predicted, so these count as "
                f"wrong; if they are out of distribution give ood_label={name!r}"
            )


def _step_function(outputs: Outputs, plan: _names.Plan) -> None:
    """Refuse a probability of class 1 that was taken for a confidence by its name alone."""
    if "confidence" in plan.told or outputs.confidence is None or outputs.labels is None:
        return
    if outputs.predictions is None or outputs.n_classes != 2 or "confidence" not in plan.single:
        return
    predicted, score = np.asarray(outputs.predictions), np.asarray(outputs.confidence)
    if min((predicted == 0).sum(), (predicted == 1).sum()) < FEW or np.isnan(score).any():
        return
    stepped = score[predicted == 1].min() > score[predicted == 0].max()
    fallen = score[predicted == 1].max() < score[predicted == 0].min()
    auroc, _ = failure_auroc(outputs.loss_per_sample(), score)
    sure = step(score, predicted, np.asarray(outputs.labels), outputs.class_names) is not None  # many rows, in [0, 1]
    if (stepped or fallen) and (auroc < 0.5 or sure):
        name = plan.single["confidence"]
        raise ValueError(
            f"column {name!r} was taken as the confidence, but the prediction follows from it alone "
            f"(failure AUROC {auroc:.3f}): it looks like the probability of one class; "
            f"give positive_probability={name!r}, or confidence={name!r} if it is a confidence all the same"
        )


def _uncertainty(outputs: Outputs, plan: _names.Plan) -> None:
    """Refuse a column that is called an uncertainty, and ranks like one, as a confidence."""
    name = plan.single.get("confidence", "")
    if _names.plain(name) not in _names.SINGLE["uncertainty"] or outputs.confidence is None:
        return
    auroc, error = failure_auroc(outputs.loss_per_sample(), outputs.confidence)
    if auroc < 0.5 - SIGMAS * error:
        raise ValueError(
            f"column {name!r} is an uncertainty by its name and by its values (failure AUROC {auroc:.3f} as a "
            f"confidence); give uncertainty={name!r}"
        )


def _order(outputs: Outputs) -> Iterator[str]:
    """Yield a warning where another order of the classes would make the predictions right."""
    if outputs.labels is None or outputs.loss is not None or not outputs.n_classes or outputs.n_classes > 1000:
        return
    labels, predicted, k = np.asarray(outputs.labels), outputs.predicted(), outputs.n_classes
    right = float(np.mean(labels == predicted))
    if right >= 0.5 or len(labels) < 10 * k:
        return
    table, enough = np.zeros((k, k)), max(0.5, 2.0 * right)
    np.add.at(table, (labels, predicted), 1)
    if table.max(axis=1).sum() <= enough * len(labels):  # no order is better; SciPy's optimizers take long to import
        return
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-table)
    best = float(table[rows, columns].sum() / len(labels))
    if best > enough:
        yield (
            f"accuracy is {right:.3f}, but {best:.3f} if the classes came in another order: are the class columns in "
            "the order of class_names, and labels and predictions numbered alike?"
        )
