"""Rows in groups: the groups as text, and a threshold for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain._checks import plain, same_length
from abstain._typing import ArrayLike, BoolArray, FloatArray
from abstain.policy._plain import group_name


def group_column(groups: ArrayLike) -> Any:
    """Return the groups as text; a missing group is an error."""
    if np.ma.is_masked(groups):
        raise ValueError(f"groups[{int(np.argmax(np.ma.getmaskarray(groups)))}] is masked; name a group for every row")
    column = plain(groups.to_numpy() if hasattr(groups, "to_numpy") else groups, "groups")
    if column.ndim != 1:
        raise ValueError(f"groups must be one-dimensional, one value per sample, got shape {column.shape}")
    for position, value in enumerate(column):
        if value is None or value != value:
            raise ValueError(f"groups[{position}] is missing; name a group for every row, for example 'unknown'")
    return np.array([group_name(value) for value in column])


def limits_of(thresholds: Mapping[str, float], groups: ArrayLike) -> FloatArray:
    """Return the threshold of each row; NaN for an unknown group, or none."""
    if hasattr(groups, "to_list"):
        values = groups.to_list()
    else:
        values = np.asarray(groups).tolist() if not isinstance(groups, list | tuple) else groups
    known: dict[Any, float] = {}
    for value in set(values):
        name = group_name(value)
        known[value] = np.nan if name is None else thresholds.get(name, np.nan)
    return np.array([known[value] for value in values], dtype=np.float64)


def accept_by_group(thresholds: Mapping[str, float], scores: FloatArray, groups: ArrayLike) -> BoolArray:
    """Return the accept mask of rows of groups; unknown groups, NaN scores and infinite thresholds reject."""
    column = group_column(groups)
    same_length(confidence=scores, groups=column)
    limits = {name: value if value < np.inf else np.nan for name, value in thresholds.items()}
    return np.asarray(scores >= np.array([limits.get(name, np.nan) for name in column]))
