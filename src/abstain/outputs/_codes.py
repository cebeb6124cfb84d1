"""Codes in a CSV, which has no types: "01" is written like a number, and may be another group or class than "1"."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from abstain._classes import is_text
from abstain.outputs._cells import lacks_number
from abstain.outputs._names import Plan
from abstain.outputs._rows import listed


def category(column: Any, written: Any | None) -> Any:
    """Return a column of groups or identifiers as numbers only where these print as the file has them, else as text."""
    if (
        written is None or isinstance(column, np.ndarray) or (column.dtype.is_float() and column.is_nan().any())
    ):  # NaN is a missing name
        return column
    whole = column.cast(int, strict=False)
    return whole if whole.cast(str).eq_missing(written).all() else written


def are_codes(written: Collection[Any], names: Collection[Any] | None, *, indices: bool) -> bool:
    """Whether columns of classes, as the file has them, are read as text; as numbers otherwise.

    With class names: if all are such names, or one starts with a zero that no index has. Without them, and where class
    indices are not what is due: if two codes of one column would become one number.
    """
    columns = [set(listed(column)) - {None} for column in written]
    if names is not None:
        texts: set[str] = set().union(*columns)
        return texts <= set(map(str, names)) or any(
            len(text) > 1 and text.isdecimal() and text[0] == "0" for text in texts
        )
    digits = [[text for text in column if text.isdecimal()] for column in columns]
    return not indices and any(len(set(map(int, column))) < len(column) for column in digits)


def as_words(column: Any) -> Any:
    """Return class numbers as the words that name them: 7 for 7.0 and for "007"."""
    values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column, dtype=object)
    return np.array([_word(value) for value in values], dtype=object)


def _word(value: Any) -> Any:
    if value is None or value != value:
        return None
    if isinstance(value, str):
        return str(int(value)) if value.isdecimal() else value
    return f"{value:g}" if value % 1 else str(int(value))


def read_classes(fields: dict[str, Any], plan: Plan, written_as: Mapping[str, Any]) -> None:
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


def _no_numbers(fields: Mapping[str, Any], columns: Mapping[str, str]) -> None:
    """Refuse "NA" and the like among classes that are numbers: a missing label, or a class of that name."""
    for field, name in columns.items():
        if not is_text(fields[field]):
            continue
        values = [str(value).strip() for value in listed(fields[field])]
        odd = [row for row, value in enumerate(values) if lacks_number(value)]
        if (
            odd
            and len(odd) < len(values)
            and all(_is_number(value) for value in set(values) if not lacks_number(value))
        ):
            raise ValueError(
                f"column {name!r} holds numbers, and {values[odd[0]]!r} in data row {odd[0] + 1} ({len(odd)} such); if "
                "these are missing leave their cells empty, if it is a class write the names of all"
            )


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def by_place(fields: Mapping[str, Any], plan: Plan) -> bool:
    """Return whether labels are numbers that count the columns of the classes, which have names of their own."""
    named = fields.get("class_names") is not None and fields["class_names"] is plan.class_names
    return named and "labels" in plan.single and fields.get("labels") is not None and not is_text(fields["labels"])


def _read_numerals(fields: dict[str, Any], plan: Plan) -> None:
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
