"""Signs that a column is not what it was taken for, each with the way out."""

from __future__ import annotations

import re
import warnings

import numpy as np

from abstain._checks import listed
from abstain._typing import ArrayLike
from abstain.outputs import _names
from abstain.outputs._doubts import step
from abstain.outputs._outputs import Outputs

#: Names that say that 1 is right.
_CORRECT = re.compile(r"(.*[_\W])?(correct(ness)?|right|accura(cy|te)|acc|hits?|success)")

#: A ranking is reversed beyond chance if its AUROC lies this many standard errors below one half.
SIGMAS = 3.0
#: Both classes must be predicted this often before a prediction is called a step function of its "confidence".
LEAST = 5
#: Labels and predictions of so many rows have a class in common, however bad the model.
MOST_ALIKE = 20
#: Share of predictions that may differ from the largest probability before anything is said: ties, rounding.
OTHERWISE = 0.01
#: Names of classes that are none.
UNKNOWN = {"unknown", "ood", "oos", "out_of_scope", "other", "none", "n/a", "na", "background"}


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


def examine(outputs: Outputs, plan: _names.Plan) -> None:
    """Raise on what is surely misread, and warn of what probably is."""
    _correctness_as_loss(plan)
    _step_function(outputs, plan)
    _uncertainty(outputs, plan)
    _not_largest(outputs, plan)
    _disjoint(outputs)
    _spelled(outputs)
    _outside(outputs)
    _order(outputs)


def _not_largest(outputs: Outputs, plan: _names.Plan) -> None:
    """Warn where predictions stand beside probabilities or logits and often name another class than the largest."""
    matrix = outputs.probabilities if outputs.probabilities is not None else outputs.logits
    if outputs.predictions is None or matrix is None or outputs.confidence is not None:
        return
    values, predicted = np.asarray(matrix), np.asarray(outputs.predictions)
    if predicted.min() < 0 or predicted.max() >= values.shape[1]:
        return
    below = int(np.sum(values[np.arange(len(values)), predicted] < values.max(axis=1)))
    if below > max(LEAST, OTHERWISE * len(values)):
        kind = "probabilities" if outputs.probabilities is not None else "logits"
        warnings.warn(
            f"{below} of {len(values)} predictions are not the class with the largest of {kind}, as after a threshold "
            "of their own; scores such as msp are the confidence in another class there: give confidence= with that in "
            "the class that was predicted, or leave the predictions out",
            UserWarning,
            stacklevel=3,
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


def _spelled(outputs: Outputs) -> None:
    """Warn of a class that is a label alone, or a prediction alone, and differs from another by case or blanks."""
    if outputs.labels is None or outputs.predictions is None or outputs.class_names is None or outputs.loss is not None:
        return
    names = np.array(outputs.class_names)
    true, said = (set(names[np.unique(each)].tolist()) for each in (outputs.labels, outputs.predictions))
    alike = {"".join(name.split()).casefold(): name for name in true & said or said}
    for name in sorted(true ^ said):
        other = alike.get("".join(name.split()).casefold(), name)
        if other == name:
            continue
        what = "a label but never predicted" if name in true else "predicted but no label"
        warnings.warn(
            f"class {name!r} is {what}, and differs from {other!r} by case or blanks alone, so its rows count as "
            "wrong; write both with the same name",
            UserWarning,
            stacklevel=3,
        )


def _outside(outputs: Outputs) -> None:
    """Warn of a class that is called unknown and never predicted: its rows may be out of distribution."""
    if outputs.labels is None or outputs.class_names is None or outputs.loss is not None:
        return
    for place, name in enumerate(outputs.class_names):
        rows = int(np.sum(np.asarray(outputs.labels) == place))
        if name.lower() in UNKNOWN and rows and not (outputs.predicted() == place).any():
            warnings.warn(
                f"class {name!r} is the label of {rows} row{'s' * (rows != 1)} and never predicted, so these count as "
                f"wrong; if they are out of distribution give ood_label={name!r}",
                UserWarning,
                stacklevel=3,
            )


def _correctness_as_loss(plan: _names.Plan) -> None:
    name = plan.single.get("loss", "")
    if _names.plain(name) in _names.SINGLE["correct"] or _CORRECT.fullmatch(name.lower()):
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


def _order(outputs: Outputs) -> None:
    """Warn where another order of the classes would make the predictions right."""
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
        warnings.warn(
            f"accuracy is {right:.3f}, but {best:.3f} if the classes came in another order: are the class columns in "
            "the order of class_names, and labels and predictions numbered alike?",
            UserWarning,
            stacklevel=3,
        )
