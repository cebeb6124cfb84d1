"""Which rows of a file count: those that were chosen by a value, and in- or out-of-distribution ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from abstain import _checks
from abstain._typing import BoolArray
from abstain.outputs import _names, _objects, _states

#: Which rows of a file with ``is_ood`` are read.
Part = Literal["id", "ood"]


def taken(column: Any, rows: BoolArray, axis: int = 0) -> Any:
    """Return some rows of a column of any kind."""
    # polars; the filter of pandas, which has iloc too, is one of labels
    if hasattr(column, "filter") and hasattr(column, "to_list") and not hasattr(column, "iloc"):
        return column.filter(rows)
    array = column.to_numpy() if hasattr(column, "to_numpy") else column
    if isinstance(array, list | tuple):
        array = _objects.column(array)
    return array[:, rows] if axis == 1 else array[rows]


def chosen(loaded: Mapping[str, Any], where: Mapping[str, Any], columns: Mapping[str, int]) -> BoolArray | None:
    """Return the rows in which each named column has its value; None for all."""
    mask: BoolArray | None = None
    for name, wanted in where.items():
        values = np.asarray(values_of(loaded[_names.exact(name, columns, "where")]), dtype=object)
        known = {value: same(value, wanted) for value in set(values.tolist())}
        hit = np.array([known[value] for value in values.tolist()])
        if not hit.any():
            seen = list(dict.fromkeys(map(str, values)))
            raise ValueError(f"no row has {name} = {wanted!r}; it takes {_checks.listed(seen, 8)}")
        mask = hit if mask is None else mask & hit
        if not mask.any():
            raise ValueError(f"no row has {' and '.join(f'{key} = {value!r}' for key, value in where.items())}")
    return mask


def one_value(loaded: Mapping[str, Any], names: tuple[str, ...], mask: BoolArray | None, hint: str = "") -> None:
    """Refuse to read samples of several kinds as one: each of the columns must have a single value left."""
    for name in names:
        values = [str(value) for value in values_of(loaded[name])]
        kept = values if mask is None else [value for value, keep in zip(values, mask, strict=True) if keep]
        counts = {value: kept.count(value) for value in dict.fromkeys(kept)}
        if len(counts) > 1:
            seen = ", ".join(f"{value} ({count} rows)" for value, count in list(counts.items())[:8])
            first = next(iter(counts))
            raise ValueError(
                f"column {name!r} takes {len(counts)} values, which are not samples of one evaluation: {seen}; choose "
                f"one with where={{{name!r}: {first!r}}}{hint and f' ({hint})'}"
            )


def inside(column: Any, name: str, part: Part) -> tuple[BoolArray, int]:
    """Return the rows of the part that is asked for, and how many are in the other."""
    outside = _states.truth(column, name)
    rows = outside if part == "ood" else ~outside
    if not rows.any():
        raise ValueError(
            f"all rows are out of distribution ({name}): there is nothing to be right about; judge them together with "
            "the test set: abstain joint TEST_FILE OOD_FILE"
            if part == "id"
            else f"no row is out of distribution ({name})"
        )
    return rows, int(np.sum(~rows))


def minus_one(labels: Any) -> BoolArray | None:
    """Return which labels are -1; None where none is, or where they are a class: beside +1 alone."""
    values = np.asarray(values_of(labels), dtype=object)
    numbers = [_number(value) for value in values]
    hit = np.array([number == -1.0 for number in numbers])
    given = {number for number in numbers if number is not None}
    return hit if hit.any() and given != {-1.0, 1.0} else None


def values_of(column: Any) -> list[Any]:
    """Return the values of a column of any kind."""
    return list(column.to_list()) if hasattr(column, "to_list") else list(np.asarray(column).tolist())


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if number != number else number


def same(value: Any, wanted: Any) -> bool:
    """Whether a value is the one that was written, perhaps as text."""
    if value is None:
        return False
    if str(value) == str(wanted) or (isinstance(value, bool) and str(value).lower() == str(wanted).lower()):
        return True
    first, second = _number(value), _number(wanted)
    return first is not None and first == second and not isinstance(value, bool)
