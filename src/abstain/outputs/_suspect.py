"""Signs that a column is not what it was taken for, each with the way out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from abstain._typing import ArrayLike, FloatArray
from abstain.outputs import _names
from abstain.outputs._outputs import Outputs

#: A ranking is reversed beyond chance if its AUROC lies this many standard errors below one half.
SIGMAS = 3.0
#: Both classes must be predicted this often before a prediction is called a step function of its "confidence".
LEAST = 5


def failure_auroc(loss: ArrayLike, confidence: ArrayLike) -> tuple[float, float]:
    """Return the AUROC with which confidence tells losses of 0 from others, and its error if it tells nothing."""
    loss, confidence = np.asarray(loss, dtype=float), np.asarray(confidence, dtype=float)
    scored = ~np.isnan(confidence)
    wrong, confidence = loss[scored] > 0.0, confidence[scored]
    n, m = int(wrong.sum()), int((~wrong).sum())
    if not n or not m:
        return float("nan"), float("nan")
    _, rank, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2.0
    total = float(middle[rank][~wrong].sum())
    return (total - m * (m + 1) / 2.0) / (n * m), float(np.sqrt((n + m + 1) / (12.0 * n * m)))


def reversed_ranking(loss: ArrayLike, confidence: ArrayLike) -> float | None:
    """Return the failure AUROC where it is below one half beyond chance; None elsewhere."""
    value, error = failure_auroc(loss, confidence)
    return value if value < 0.5 - SIGMAS * error else None


def examine(outputs: Outputs, plan: _names.Plan) -> None:
    """Raise on what is surely misread, and warn of what probably is."""
    _correctness_as_loss(plan)
    _step_function(outputs, plan)
    _swapped(outputs)
    _reversed(outputs, plan)
    _order(outputs)
    _abstain_column(outputs)


def _correctness_as_loss(plan: _names.Plan) -> None:
    name = plan.single.get("loss", "")
    if _names.plain(name) in _names.SINGLE["correct"]:
        raise ValueError(f"column {name!r} says what is right, a loss says what is wrong; give correct={name!r}")


def _step_function(outputs: Outputs, plan: _names.Plan) -> None:
    """Refuse a probability of class 1 that was taken for a confidence by its name alone."""
    if "confidence" in plan.told or outputs.confidence is None or outputs.labels is None:
        return
    if outputs.predictions is None or outputs.n_classes != 2 or "confidence" not in plan.single:
        return
    predicted, score = np.asarray(outputs.predictions), np.asarray(outputs.confidence)
    if min((predicted == 0).sum(), (predicted == 1).sum()) < LEAST or np.isnan(score).any():
        return
    stepped = score[predicted == 1].min() > score[predicted == 0].max()
    fallen = score[predicted == 1].max() < score[predicted == 0].min()
    auroc, _ = failure_auroc(outputs.loss_per_sample(), score)
    if (stepped or fallen) and auroc < 0.5:
        name = plan.single["confidence"]
        raise ValueError(
            f"column {name!r} was taken as the confidence, but the prediction follows from it alone and errors have "
            f"more of it than right answers (failure AUROC {auroc:.3f}): it looks like the probability of one class; "
            f"give positive_probability={name!r}, or confidence={name!r} if it is a confidence all the same"
        )


def _reversed(outputs: Outputs, plan: _names.Plan) -> None:
    if outputs.confidence is None or not (outputs.loss is not None or outputs.labels is not None):
        return
    auroc = reversed_ranking(outputs.loss_per_sample(), outputs.confidence)
    if auroc is None or "uncertainty" in plan.single:
        return
    name = plan.single.get("confidence", "confidence")
    if _names.plain(name) in _names.SINGLE["uncertainty"]:
        raise ValueError(
            f"column {name!r} is an uncertainty by its name and by its values (failure AUROC {auroc:.3f} as a "
            f"confidence); give uncertainty={name!r}"
        )
    warn_reversed(name, auroc, loss=plan.single.get("loss"))


def warn_reversed(name: str, auroc: float, loss: str | None = None) -> None:
    """Warn that errors are more confident than right answers."""
    instead = f", and correct={loss!r} if that column says what is right" if loss else ""
    warnings.warn(
        f"{name}: errors are more confident than right answers (failure AUROC {auroc:.3f}, below 0.5); if it is an "
        f"uncertainty give uncertainty=, if it is the probability of class 1 positive_probability={instead}",
        UserWarning,
        stacklevel=3,
    )


def _swapped(outputs: Outputs) -> None:
    if outputs.loss is None or outputs.confidence is None:
        return
    loss, confidence = np.asarray(outputs.loss), np.asarray(outputs.confidence)
    given = confidence[~np.isnan(confidence)]
    binary = np.all((given == 0.0) | (given == 1.0))
    if binary and len(np.unique(loss)) > 2 and len(np.unique(given)) == 2:
        warnings.warn(
            "the confidence is 0 or 1 only while the loss takes many values: are the two exchanged?",
            UserWarning,
            stacklevel=3,
        )


def _order(outputs: Outputs) -> None:
    """Warn where another order of the classes would make the predictions right."""
    if outputs.labels is None or outputs.loss is not None or not outputs.n_classes or outputs.n_classes > 1000:
        return
    labels, predicted, k = np.asarray(outputs.labels), outputs.predicted(), outputs.n_classes
    right = float(np.mean(labels == predicted))
    if right >= 0.5 or len(labels) < 10 * k:
        return
    from scipy.optimize import linear_sum_assignment

    table = np.zeros((k, k))
    np.add.at(table, (labels, predicted), 1)
    rows, columns = linear_sum_assignment(-table)
    best = float(table[rows, columns].sum() / len(labels))
    if best > max(0.5, 2.0 * right):
        warnings.warn(
            f"accuracy is {right:.3f}, but {best:.3f} if the classes came in another order: are the class columns in "
            "the order of class_names, and labels and predictions numbered alike?",
            UserWarning,
            stacklevel=3,
        )


def _abstain_column(outputs: Outputs) -> None:
    """Note a last class that the labels never have: it may mean "I abstain"."""
    matrix: Any = outputs.logits if outputs.logits is not None else outputs.probabilities
    if matrix is None or outputs.labels is None:
        return
    labels, k = np.asarray(outputs.labels), matrix.shape[1]
    others = np.unique(labels)
    if k > 2 and len(labels) >= 20 * k and len(others) == k - 1 and others[-1] == k - 2:
        warnings.warn(
            f'the last of {k} classes never occurs among {len(labels)} labels; if it means "I abstain" (Deep Gamblers) '
            f"give abstain_class={k - 1}",
            UserWarning,
            stacklevel=3,
        )


def ranked(loss: FloatArray, columns: dict[str, Any]) -> None:
    """Warn of every score that ranks errors first."""
    for name, column in columns.items():
        auroc = reversed_ranking(loss, column)
        if auroc is not None:
            warn_reversed(f"score {name!r}", auroc)
