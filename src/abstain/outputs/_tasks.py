"""Tasks other than classification: how their answers are judged, and what a confidence follows from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain._checks import closest
from abstain._typing import FloatArray
from abstain.outputs._answers import Answers
from abstain.outputs._columns import numbers
from abstain.outputs._reading import quoted


@dataclass(frozen=True)
class Task:
    """A task by its loss.

    ``loss(labels, predictions)`` of each row; ``sure(p)``: a confidence from the probabilities of all labels, if there
    are several per row; ``most``: the largest loss.
    """

    title: str
    loss: Callable[[FloatArray, FloatArray], Any]
    sure: Callable[[FloatArray], Any] | None = None
    most: float | None = None

    @property
    def multilabel(self) -> bool:
        """Whether a row has several labels."""
        return self.sure is not None


def _surest(p: FloatArray) -> FloatArray:
    return np.maximum(p, 1.0 - p)


#: Losses of a regression are in squared units or units of the labels; both confidences are 1 minus the loss that the
#: probabilities expect, the second if labels are independent.
TASKS = {
    "regression": Task("squared error", lambda y, z: (y - z) ** 2),
    "regression-absolute": Task("absolute error", lambda y, z: np.abs(y - z)),
    "multilabel": Task(
        "share of wrong labels", lambda y, z: (y != z).mean(axis=1), lambda p: _surest(p).mean(axis=1), 1.0
    ),
    "multilabel-exact": Task(
        "1 unless all labels are right", lambda y, z: (y != z).any(axis=1) * 1.0, lambda p: _surest(p).prod(axis=1), 1.0
    ),
}


def task_of(name: str | None) -> Task | None:
    """Return a task by its name; None for classification."""
    if name is None or name in TASKS:
        return None if name is None else TASKS[name]
    raise ValueError(f"task={name!r} is not known; {closest(str(name), TASKS)}")


def judge(answers: Answers, task: Task) -> None:
    """Put the loss of the task, and a confidence where one follows, in the place of labels and predictions."""
    fields, plan = answers.fields, answers.plan
    if fields.get("labels") is None:
        raise ValueError("a task needs labels and predictions; give labels=<column> and predictions=<column>")
    labels = _values(fields.pop("labels"), "labels", task)
    part = next((part for part in ("probabilities", "predictions") if fields.get(part) is not None), None)
    if part is None:
        raise ValueError("a task needs predictions; give predictions=<column>")
    given = _values(fields.pop(part), "predictions", task)
    if labels.shape != given.shape:
        raise ValueError(f"labels have shape {labels.shape}, predictions {given.shape}; they need one")
    answered = plan.matrix.pop(part, None) or [plan.single.pop(part)]
    truth = plan.matrix.pop("labels", None) or [plan.single.pop("labels")]
    if len(truth) > 1 and len(answered) > 1:
        order = _paired(truth, answered)
        if order is None:
            pairs = ", ".join(f"`{a}` with `{b}`" for a, b in zip(truth, answered, strict=True))
            answers.notes.append(f"labels and predictions are paired in their order: {pairs}")
        else:
            given = given[:, order]
            answered = [answered[k] for k in order]
    if task.multilabel:
        given = _of_labels(answers, task, labels, given, quoted(answered))
    fields["loss"] = task.loss(labels, given)
    fields.pop("class_names", None)
    answers.how["loss"] = f"{task.title}, {quoted(answered)} against {quoted(truth)}"


def _paired(truth: list[str], answered: list[str]) -> list[int] | None:
    """Return in which order the predictions have the names of the labels; None if they are not called alike."""
    ours, theirs = _told_apart(truth), _told_apart(answered)
    return [theirs.index(name) for name in ours] if sorted(ours) == sorted(theirs) else None


def _told_apart(names: list[str]) -> list[str]:
    """Return names without what all begin and end with."""
    first = _alike(names)
    last = _alike([name[first:][::-1] for name in names])
    return [name[first : len(name) - last] for name in names]


def _alike(names: list[str]) -> int:
    """Return how many signs all names begin with."""
    return next((k for k, signs in enumerate(zip(*names, strict=False)) if len(set(signs)) > 1), min(map(len, names)))


def _of_labels(answers: Answers, task: Task, labels: FloatArray, given: FloatArray, name: str) -> FloatArray:
    """Return predicted labels of probabilities, which also give a confidence where there is none."""
    for part, matrix in (("labels", labels), ("predictions", given)):
        if ((matrix < 0.0) | (matrix > 1.0)).any():
            raise ValueError(f"{part} of several labels per row must lie in [0, 1]")
    if ((labels != 0.0) & (labels != 1.0)).any():
        raise ValueError("labels of several per row must be 0 or 1")
    fractions = bool(((given != 0.0) & (given != 1.0)).any())
    if fractions and answers.fields.get("confidence") is None and task.sure is not None:
        answers.fields["confidence"] = task.sure(given)
        answers.how["confidence"] = f"1 - the loss that {name} expects"
    return np.asarray(given >= 0.5, dtype=float)


def _values(column: Any, name: str, task: Task) -> FloatArray:
    if not task.multilabel:
        return numbers(column, name)
    values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column, dtype=float)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ValueError(f"{name} of several per row must be a matrix of numbers: one column per label")
    return values
