"""A pool of which only some rows are labelled: all rows without what is right, and the losses of the labelled ones."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from abstain._checks import is_missing, listed
from abstain._typing import ArrayLike, BoolArray, FloatArray, Source
from abstain.outputs import _names, _values
from abstain.outputs._objects import taken, values_of
from abstain.outputs._open import damaged, name_of, open_source
from abstain.outputs._outputs import Outputs
from abstain.outputs._read import read_outputs
from abstain.outputs._reading import Reading

#: Fields that say what is right; a row that lacks one of them is not labelled.
TRUTH = ("loss", "correct", "quality", "labels")
#: What is understood of the labelled rows alone.
_JUDGED = ("labels", "prediction", "loss")
#: Arguments of ``read_outputs`` that would change which rows a pool has.
_CHANGES = ("where", "unscored", "is_ood", "ood_label", "abstained", "should_abstain")


def read_pool(source: Source, **options: Any) -> tuple[Outputs, FloatArray]:
    """Return all rows as unlabelled outputs, and one loss per row, NaN where a row has no label.

    ``options`` as for :func:`read_outputs`. A source without any column of labels gives losses that are all NaN.
    """
    changed = next((name for name in _CHANGES if options.get(name) is not None), None)
    if changed is not None:
        raise ValueError(
            f"{changed}= would change which rows the pool has; leave these rows out before labels are planned"
        )
    if options.get("task") is not None:
        raise ValueError(
            f"{name_of(source) or 'the pool'}: task={options['task']!r} cannot be estimated from few labels: losses "
            "must be 0 or 1; write such a loss of each labelled row as a column: loss=<column>, confidence=<column>"
        )
    options = {name: value for name, value in options.items() if value is not None and name not in _CHANGES}
    columns, truth = _opened(source, options)
    has = _labelled(columns, truth)
    n_rows = len(has)
    all_rows = {name: column for name, column in columns.items() if name not in truth}
    plain = {name: value for name, value in options.items() if name not in TRUTH}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is odd is said of the labelled rows
        outputs = read_outputs(all_rows, unlabelled=True, **plain)
    loss = np.full(n_rows, np.nan)
    if has.any():
        whole = {name for name, column in columns.items() if not np.ndim(column) or len(column) != n_rows}
        some = {name: column if name in whole else taken(column, has) for name, column in columns.items()}
        judged = read_outputs(some, **options)
        loss[has] = judged.loss_per_sample()
        read = {part: words for part, words in judged.understood().items() if part in _JUDGED}
        outputs = replace(outputs, reading=replace(outputs.reading or Reading(), labelled=read))
    return outputs, loss


def missing(source: Source, **options: Any) -> tuple[int, int] | None:
    """Return how many rows lack a label, and of how many; None if that is unknown."""
    try:
        columns, truth = _opened(source, {name: value for name, value in options.items() if value is not None})
        has = _labelled(columns, truth)
    except (ValueError, TypeError, OSError, KeyError, ImportError):
        return None
    return int(np.count_nonzero(~has)), len(has)


def _opened(source: Source, options: Mapping[str, Any]) -> tuple[dict[str, ArrayLike], list[str]]:
    """Return the columns by name, and which of them say what is right."""
    columns = open_source(source).columns
    known = columns.columns
    plan = _names.plan(known, options, options.get("groups", ()), options.get("scores", ()))
    with damaged(name_of(source)):
        loaded = dict(columns.load(list(known), set()))
        written = dict(columns.written)
        names = columns.class_names(loaded)
        _values.find_ids(plan, columns)
    if "ids" in plan.single:
        name = plan.single["ids"]
        loaded[name] = _values.category(loaded[name], written.get(name))
    if names is not None:
        loaded["class_names"] = names
    if not known:
        raise ValueError(f"{name_of(source)}: holds no column; columns: {listed(known)}")
    return loaded, [plan.single[name] for name in TRUTH if name in plan.single]


def _labelled(columns: Mapping[str, ArrayLike], truth: list[str]) -> BoolArray:
    if not truth:
        n = max((len(column) for name, column in columns.items() if name != "class_names"), default=0)
        return np.zeros(n, dtype=bool)
    found = np.ones(len(columns[truth[0]]), dtype=bool)
    for name in truth:
        found &= [not is_missing(value) and bool(str(value).strip()) for value in values_of(columns[name])]
    return found
