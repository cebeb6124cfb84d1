"""What the values of columns say of their part: classes, codes, one-hot labels, probabilities."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from abstain._checks import listed
from abstain._classes import ROUNDING, is_text
from abstain._typing import AnyArray, ArrayLike, FloatArray
from abstain.outputs import _names
from abstain.outputs._names import Plan
from abstain.outputs._objects import is_number, lacks_number, values_of


def category(column: ArrayLike, written: ArrayLike | None) -> ArrayLike:
    """Return a column of groups or identifiers as numbers only where these print as the file has them, else as text."""
    if (
        written is None or isinstance(column, np.ndarray) or (column.dtype.is_float() and column.is_nan().any())
    ):  # NaN is a missing name
        return column
    whole = column.cast(int, strict=False)
    return whole if whole.cast(str).eq_missing(written).all() else written


def are_codes(written: Collection[ArrayLike], names: Collection[str] | None, *, indices: bool) -> bool:
    """Whether columns of classes, as the file has them, are read as text; as numbers otherwise.

    With class names: if all are such names, or one starts with a zero that no index has. Without them, and where class
    indices are not what is due: if two codes of one column would become one number.
    """
    columns = [set(values_of(column)) - {None} for column in written]
    if names is not None:
        texts: set[str] = set().union(*columns)
        return texts <= set(map(str, names)) or any(
            len(text) > 1 and text.isdecimal() and text[0] == "0" for text in texts
        )
    digits = [[text for text in column if text.isdecimal()] for column in columns]
    return not indices and any(len(set(map(int, column))) < len(column) for column in digits)


def as_words(column: ArrayLike) -> AnyArray:
    """Return class numbers as the words that name them: 7 for 7.0 and for "007"."""
    values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column, dtype=object)
    return np.array([_word(value) for value in values], dtype=object)


def _word(value: Any) -> str | None:
    if value is None or value != value:
        return None
    if isinstance(value, str):
        return str(int(value)) if value.isdecimal() else value
    return f"{value:g}" if value % 1 else str(int(value))


def read_classes(fields: dict[str, ArrayLike], plan: Plan, written_as: Mapping[str, ArrayLike]) -> None:
    """Decide whether labels and predictions are names of classes or indices, where the file leaves this open."""
    names = fields["class_names"]
    columns = {field: name for field, name in plan.single.items() if field in ("labels", "predictions")}
    if names is plan.class_names and names is not None and all(name.lstrip("-").isdecimal() for name in names):
        for field in columns:  # labels are these numbers, not positions
            fields[field] = as_words(fields[field])
        return
    written = {field: written_as[name] for field, name in columns.items() if name in written_as}
    if are_codes(written.values(), names, indices=bool(plan.matrix.keys() & {"logits", "probabilities"})):
        fields |= written
    _no_numbers(fields, columns)
    if names is None:
        _read_numerals(fields, plan)


def _no_numbers(fields: Mapping[str, ArrayLike], columns: Mapping[str, str]) -> None:
    """Refuse "NA" and the like among classes that are numbers: a missing label, or a class of that name."""
    for field, name in columns.items():
        if not is_text(fields[field]):
            continue
        values = [str(value).strip() for value in values_of(fields[field])]
        odd = [row for row, value in enumerate(values) if lacks_number(value)]
        if odd and len(odd) < len(values) and all(is_number(value) for value in set(values) if not lacks_number(value)):
            raise ValueError(
                f"column {name!r} holds numbers, and {values[odd[0]]!r} in data row {odd[0] + 1} ({len(odd)} such); if "
                "these are missing leave their cells empty, if it is a class write the names of all"
            )


def _read_numerals(fields: dict[str, ArrayLike], plan: Plan) -> None:
    """Where class indices are due, read quoted numbers; name the row of a word among them."""
    due = plan.matrix.keys() & {"logits", "probabilities"}
    columns = {field: fields[field] for field in ("labels", "predictions") if field in fields}
    text = {field: column for field, column in columns.items() if is_text(column)}
    if not text or not (due or len(text) < len(columns)):
        return
    for field, column in text.items():
        values = [str(value) for value in column]
        bad = [row for row, value in enumerate(values) if not re.fullmatch(r"\s*-?\d+(\.0*)?\s*", value)]
        if not bad:
            fields[field] = [float(value) for value in values]
        elif len(bad) < len(values):
            raise ValueError(
                f"column {plan.single[field]!r} must hold class indices, but data row {bad[0] + 1} holds "
                f"{values[bad[0]]!r} ({len(bad)} such); repair these rows"
            )


#: What columns of one class each are called, around the name of the class.
_AROUND = (
    r"(?P<stem>)(?P<name>\d+)",
    r"(?i)(?P<stem>.*?[a-z)_\-. ])(?P<name>\d+)",
    r"(?i)(?P<name>.+?)(?P<stem>[_\-. ](?:p|prob|proba|probability|score))",
    r"(?i)(?P<stem>(?:p|prob|proba|probability|score)[_\-. (\[]+)(?P<name>.+?)[)\]]?",
)
_PREDICTS = {"predictions", "positive_probability", "loss", "correct", "quality", "either"}


def find_probabilities(plan: _names.Plan, columns: Any) -> None:
    """Where nothing is known to predict, look for columns of numbers in [0, 1] that sum to 1 in every row."""
    if plan.single.keys() & _PREDICTS or plan.matrix.keys() & {"logits", "probabilities"}:
        return
    if "labels" not in plan.single or columns.passes() is not None:
        return
    used = {*plan.single.values(), *plan.groups.values()}
    free = {name: ndim for name, ndim in columns.columns.items() if name not in used and ndim <= 2}
    found = [[name] for name, ndim in free.items() if ndim == 2 and _sum_to_one(columns, [name]) is not None]
    found += [family for family in _families(plan, columns, free) if _sum_to_one(columns, family) is not None]
    if len(found) == 1:
        plan.matrix["probabilities"] = found[0]
        plan.scores = {name: column for name, column in plan.scores.items() if column not in found[0]}
        if len(found[0]) > 1:
            plan.class_names = _class_names(found[0])


def find_ids(plan: _names.Plan, columns: Any) -> None:
    """Where no column is called id, take the first that is called like one and has another value in every row."""
    if "ids" in plan.single:
        return
    used = set(plan.columns())
    for name, ndim in columns.columns.items():
        if ndim == 1 and name not in used and re.fullmatch(_names.ROW, _names.plain(name)) and _distinct(columns, name):
            plan.single["ids"] = name
            return


def _distinct(columns: Any, name: str) -> bool:
    """Whether every row has a value, and no two the same."""
    try:
        values = values_of(columns.load([name], set())[name])
        seen = set(values)
        return len(seen) == len(values) > 1 and None not in seen and all(each == each for each in seen)
    except (TypeError, ValueError):  # no column of names
        return False


def called_as_labels(plan: _names.Plan, columns: Any) -> list[str]:
    """Return the columns that are called as the labels are, if there is one for each."""
    try:
        labels = columns.load([plan.single["labels"]], set())[plan.single["labels"]]
        words = {word for word in as_words(labels).tolist() if word is not None}
    except (TypeError, ValueError):  # the reader says better what is wrong with them
        return []
    single = [name for name, ndim in columns.columns.items() if ndim == 1]
    return [name for name in single if name in words] if len(words) > 1 and words <= set(single) else []


def _families(plan: _names.Plan, columns: Any, free: dict[str, int]) -> Iterator[list[str]]:
    """Yield columns that may be one per class: called like the labels, or alike but for a part that differs."""
    single = [name for name, ndim in free.items() if ndim == 1]
    seen: list[set[str]] = []
    if named := [name for name in called_as_labels(plan, columns) if name in single]:
        seen.append(set(named))
        yield named
    for around in _AROUND:
        families: dict[str, list[str]] = {}
        for name in single:
            if match := re.fullmatch(around, name):
                families.setdefault(match["stem"].lower(), []).append(name)
        for family in families.values():
            if len(family) > 1 and set(family) not in seen:
                seen.append(set(family))
                numbered = all(any(sign.isdecimal() for sign in name) for name in family)
                yield sorted(family, key=_names.natural) if numbered else family


def _sum_to_one(columns: Any, family: list[str]) -> FloatArray | None:
    """Return columns as a matrix if they are numbers in [0, 1] that sum to 1 in every row; else None."""
    try:
        loaded = columns.load(family, set(family))
        matrix = np.asarray(columns.stack(loaded, family), dtype=float)
    except (TypeError, ValueError):
        return None
    if matrix.ndim != 2 or matrix.shape[1] < 2 or not matrix.size:
        return None
    return matrix if is_distribution(matrix) else None


def is_distribution(matrix: FloatArray) -> bool:
    """Whether every row holds probabilities that sum to 1."""
    inside = (matrix >= -ROUNDING) & (matrix <= 1.0 + ROUNDING)
    return bool(inside.all() and (np.abs(matrix.sum(axis=1) - 1.0) <= ROUNDING).all())


def _class_names(family: list[str]) -> list[str] | None:
    """Return what distinguishes the columns; None where that is 0, 1, 2 and so on."""
    for around in _AROUND:
        matches = [re.fullmatch(around, name) for name in family]
        if all(matches) and len({match["stem"].lower() for match in matches if match}) == 1:
            names = [match["name"] for match in matches if match]
            break
    else:
        names = family
    return None if names == [str(k) for k in range(len(names))] else names


def settle(fields: dict[str, ArrayLike], plan: _names.Plan, notes: list[str], *, multilabel: bool) -> None:
    """Turn matrices in the place of columns into what they are: one column, one-hot classes, probabilities."""
    for part in [each for each in fields if each in plan.single]:
        fields[part] = _flat(fields[part])
    if _ndim(fields.get("probabilities")) == 2 and np.shape(fields["probabilities"])[1] == 1:
        _move(fields, plan, "probabilities", "positive_probability", _flat(fields.pop("probabilities")))
    for part in ("labels", "predictions") if not multilabel else ():
        column = fields.get(part)
        if _ndim(column) == 2:
            _settle_matrix(fields, plan, notes, part, np.asarray(column, dtype=float))
    _fractional(fields, plan, notes)


def _settle_matrix(
    fields: dict[str, ArrayLike], plan: _names.Plan, notes: list[str], part: str, matrix: FloatArray
) -> None:
    name = plan.single[part]
    other = fields.get("predictions" if part == "labels" else "labels")
    n = 0 if other is None else len(other)
    if n and len(matrix) != n:  # one row per model, for example
        ours = "" if matrix.shape[1] != n else ": if each is one model, write its column to a file of its own"
        raise ValueError(f"{name!r} has {len(matrix)} rows of {matrix.shape[1]} for {n} samples{ours}")
    if ((matrix == 0.0) | (matrix == 1.0)).all() and (matrix.sum(axis=1) == 1.0).all():
        fields[part] = matrix.argmax(axis=1)
        notes.append(f"`{name}` is one-hot: the class is the place of the 1")
    elif part == "predictions" and is_distribution(matrix):
        fields.pop("predictions")
        _move(fields, plan, "predictions", "probabilities", matrix)
    elif ((matrix == 0.0) | (matrix == 1.0)).all():
        raise ValueError(
            f"column {name!r} holds several labels per row; give task='multilabel' (share of wrong labels) or "
            "task='multilabel-exact' (1 unless all are right)"
        )
    else:
        raise ValueError(
            f"{name!r} is a matrix whose rows do not sum to 1; give logits={name!r} if it holds logits, or name the "
            f"column of {part}: {part}=<column>"
        )


def _move(fields: dict[str, ArrayLike], plan: _names.Plan, old: str, new: str, column: ArrayLike) -> None:
    name = plan.single.pop(old, None) or plan.matrix.pop(old)[0]
    fields[new] = column
    if new == "probabilities":
        plan.matrix[new] = [name]
    else:
        plan.single[new] = name


def _fractional(fields: dict[str, ArrayLike], plan: _names.Plan, notes: list[str]) -> None:
    """Take "predictions" between 0 and 1 of two classes as what they must be: the probability of the second."""
    column, labels = fields.get("predictions"), fields.get("labels")
    if column is None or labels is None or is_text(column) or "predictions" in plan.told:
        return
    if any(fields.get(part) is not None for part in ("positive_probability", "either", "probabilities", "logits")):
        return
    values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if values.dtype.kind != "f" or np.isnan(values).any() or (values == np.floor(values)).all():
        return
    classes = {word for word in as_words(labels).tolist() if word is not None}
    if values.min() >= 0.0 and values.max() <= 1.0 and len(classes) == 2:
        notes.append(f"`{plan.single['predictions']}` holds fractions, which are no classes: probabilities")
        fields.pop("predictions")
        _move(fields, plan, "predictions", "positive_probability", values)


def real_labels(fields: dict[str, ArrayLike], plan: _names.Plan) -> None:
    """Refuse labels that are measured quantities, with the tasks that they belong to."""
    labels = fields.get("labels")
    if labels is None or is_text(labels) or _ndim(labels) != 1:
        return
    values = np.asarray(labels.to_numpy() if hasattr(labels, "to_numpy") else labels)
    if values.dtype.kind == "f" and np.isfinite(values).all() and np.mean(values != np.floor(values)) > 0.1:
        raise ValueError(
            f"column {plan.single['labels']!r} holds measured numbers, no classes; give task='regression' (squared "
            "error) or task='regression-absolute', or a column of losses: loss=<column>"
        )


def texts_as_classes(fields: dict[str, ArrayLike], plan: _names.Plan) -> None:
    """Leave out answers in free text where a verdict is there, else refuse them: comparing texts says nothing."""
    labels = fields.get("labels")
    if labels is None or not is_text(labels) or "labels" in plan.told or "predictions" not in plan.single:
        return
    words = values_of(labels)
    distinct = len(set(words))
    if len(words) >= 20 and distinct > 0.5 * len(words):
        name = plan.single["labels"]
        if plan.single.keys() & {"loss", "correct", "quality"}:
            for part in ("labels", "predictions"):
                fields.pop(part)
                plan.single.pop(part)
            return
        raise ValueError(
            f"column {name!r} holds {distinct} different texts in {len(words)} rows (such as {listed(words[:1])}): "
            "answers in words are no classes; give correct=<column> or quality=<column>, or to compare them letter by "
            f"letter labels={name!r}"
        )


def _flat(column: ArrayLike) -> ArrayLike:
    """Return a matrix of one column as a column."""
    return np.asarray(column)[:, 0] if _ndim(column) == 2 and np.shape(column)[1] == 1 else column


def _ndim(column: ArrayLike) -> int:
    return 0 if column is None else int(getattr(column, "ndim", 1))
