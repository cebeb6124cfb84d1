"""What a wrong answer costs, where that is not 0 or 1: a table of costs, or the loss of another task."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from abstain._checks import LARGEST, closest, listed
from abstain._typing import ArrayLike, FloatArray
from abstain.outputs._columns import numbers
from abstain.outputs._reading import quoted

if TYPE_CHECKING:
    from abstain.outputs._answers import Answers
    from abstain.outputs._outputs import Outputs

#: A class, or a label and a prediction, with what it costs; the pair as a text is "label:prediction".
Entry: TypeAlias = tuple[str | tuple[str, str], float]
#: A CSV file, texts such as "ill=50" and "ill:well=50", or a dict of costs.
CostMatrix: TypeAlias = str | os.PathLike[str] | Sequence[str] | Mapping[str, Any]
K = TypeVar("K")


def entries(given: CostMatrix) -> list[Entry]:
    """Return the costs as they are given: a CSV file, texts such as ``"ill=50"`` and ``"ill:well=50"``, or a dict."""
    if isinstance(given, Mapping):
        found = _of_dict(given)
    elif isinstance(given, os.PathLike) or (isinstance(given, str) and "=" not in given):
        found = _of_file(os.fspath(given))
    elif isinstance(given, str | Sequence) and all(isinstance(each, str) for each in given):
        texts = given.split(",") if isinstance(given, str) else given
        found = [_of_text(text) for text in texts if text.strip()]
    else:
        raise TypeError(f"cost_matrix must be a CSV file, texts such as 'ill=50', or a dict, got {given!r:.80}")
    if not found:
        raise ValueError("cost_matrix= holds no cost; give a CSV file, or texts such as 'ill=50,well=1'")
    return found


def cost_texts(given: CostMatrix) -> list[str]:
    """Return costs as texts, one each, which a policy keeps."""
    return [f"{key if isinstance(key, str) else ':'.join(key)}={cost!r}" for key, cost in entries(given)]


def priced(outputs: Outputs, given: CostMatrix) -> tuple[FloatArray, list[str]]:
    """Return what each row costs, and classes that have a cost but no row."""
    known = [str(name) for name in outputs.class_names or range(outputs.n_classes or 0)]
    labels, predicted = np.asarray(outputs.labels), outputs.predicted()
    columns = outputs.logits is not None or outputs.probabilities is not None or outputs.passes is not None
    matrix, strange = _filled(entries(given), known)
    if strange and columns:
        raise ValueError(f"cost_matrix= names {strange[0]!r}, which is no class; {closest(strange[0], known)}")
    due = np.ix_(np.unique(labels), np.arange(len(known)) if columns else np.unique([*labels, *predicted]))
    missing = np.argwhere(np.isnan(matrix[due]))
    if missing.size:
        row, column = (int(places.ravel()[k]) for places, k in zip(due, missing[0], strict=True))
        a, b = known[row], known[column]
        raise ValueError(
            f"cost_matrix= has no cost of predicting {b!r} where {a!r} is true ({len(missing)} such); give "
            f"'{a}:{b}=COST', or '{a}=COST' for every wrong prediction of {a!r}"
        )
    return matrix[labels, predicted], strange


def _filled(found: Iterable[Entry], known: list[str]) -> tuple[FloatArray, list[str]]:
    """Return the matrix, NaN where no cost is given, and names that are no class."""
    place = {name: k for k, name in enumerate(known)}
    matrix = np.full((len(known), len(known)), math.nan)
    strange: dict[str, None] = {}
    classes: dict[int, float] = {}
    pairs: dict[tuple[int, int], float] = {}
    for key, cost in found:
        if isinstance(key, str) and key in place:
            classes[_new(place[key], classes, key)] = cost
            continue
        pair = key if isinstance(key, tuple) else _parted(key, place)
        unknown = [name for name in pair if name not in place]
        strange |= dict.fromkeys(unknown)
        if not unknown:
            at = place[pair[0]], place[pair[1]] if len(pair) > 1 else place[pair[0]]
            pairs[_new(at, pairs, ":".join(pair))] = cost
    np.fill_diagonal(matrix, 0.0)
    for row, cost in classes.items():
        matrix[row, np.arange(len(known)) != row] = cost
    for at, cost in pairs.items():
        matrix[at] = cost
    return matrix, list(strange)


def _new(key: K, taken: Mapping[K, float], name: str) -> K:
    if key in taken:
        raise ValueError(f"cost_matrix= gives {name!r} twice; give one cost")
    return key


def _parted(key: str, place: Mapping[str, int]) -> tuple[str, ...]:
    """Return a label and a prediction, which may hold colons themselves."""
    splits = [(key[:k], key[k + 1 :]) for k, sign in enumerate(key) if sign == ":"]
    fitting = [pair for pair in splits if pair[0] in place and pair[1] in place]
    if len(fitting) > 1:
        raise ValueError(f"cost_matrix= {key!r} can be parted in {len(fitting)} ways; give a CSV file")
    return fitting[0] if fitting else splits[0] if splits else (key,)


def _of_text(text: str) -> Entry:
    name, sign, cost = text.rpartition("=")
    if not sign or not name.strip():
        raise ValueError(f"cost_matrix= {text.strip()!r} is no cost; write CLASS=COST, or LABEL:PREDICTION=COST")
    return name.strip(), _number(cost, repr(text.strip()))


def _of_dict(given: Mapping[str, Any]) -> list[Entry]:
    found: list[Entry] = []
    for name, cost in given.items():
        if isinstance(cost, Mapping):
            found += [((str(name), str(other)), _number(each, f"{name}:{other}")) for other, each in cost.items()]
        else:
            found.append((str(name), _number(cost, str(name))))
    return found


def _of_file(path: str) -> list[Entry]:
    """Return the costs of a table: a line for each label, a column for each prediction, names in front and on top."""
    from abstain.outputs._frame import separator_of

    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, delimiter=separator_of(path)) if any(map(str.strip, row))]
    except FileNotFoundError:
        raise ValueError(
            f"cost_matrix={path!r} is no file, and no cost; give a CSV file, or texts such as 'ill=50,well=1'"
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"cost_matrix={path!r}: cannot be read ({error}); write it as CSV") from None
    head = [name.strip() for name in rows[0]] if rows else []
    if len(head) < 3 or len(rows) < 3:
        raise ValueError(
            f"cost_matrix={path!r} is no table of costs: it needs a line for each label and a column for each "
            "prediction, their names in front and on top"
        )
    found: list[Entry] = []
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(head):
            raise ValueError(f"cost_matrix={path!r}: line {line} has {len(row)} fields, the first one {len(head)}")
        name = row[0].strip()
        found += [
            ((name, other), _number(cost, f"line {line}, column {other!r} of {path}"))
            for other, cost in zip(head[1:], row[1:], strict=True)
        ]
    twice = [key for k, (key, _) in enumerate(found) if key in [other for other, _ in found[:k]]]
    if twice:
        raise ValueError(f"cost_matrix={path!r} gives {':'.join(twice[0])} twice; names must differ: {listed(head)}")
    return found


def _number(cost: Any, where: str) -> float:
    try:
        value = float(cost)
    except (TypeError, ValueError):
        value = math.nan
    if not 0.0 <= value <= LARGEST:
        said = cost.strip() if isinstance(cost, str) else cost
        raise ValueError(f"cost_matrix= {where} has cost {said!r}; give a finite number >= 0")
    return value


@dataclass(frozen=True)
class Task:
    """A task by its loss.

    ``loss(labels, predictions)`` of each row; ``sure(p)``: a confidence from the probabilities of all labels, if there
    are several per row; ``most``: the largest loss.
    """

    title: str
    loss: Callable[[FloatArray, FloatArray], FloatArray]
    sure: Callable[[FloatArray], FloatArray] | None = None
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
    first = len(os.path.commonprefix(names))  # noqa: RUF071  (signs, no folders)
    last = len(os.path.commonprefix([name[first:][::-1] for name in names]))  # noqa: RUF071
    return [name[first : len(name) - last] for name in names]


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


def _values(column: ArrayLike, name: str, task: Task) -> FloatArray:
    if not task.multilabel:
        return numbers(column, name)
    values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column, dtype=float)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ValueError(f"{name} of several per row must be a matrix of numbers: one column per label")
    return values
