"""Labels against their plan: every planned row has one, no other is used, and the scores are those of the plan.

Rows are known by names: text that is the same however a list, a frame or a file holds them.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._checks import is_missing, plain, vector
from abstain._files import restored
from abstain._typing import AnyArray, ArrayLike, FloatArray, IntArray
from abstain.pool._estimate import Sample
from abstain.pool._pool import Pool

if TYPE_CHECKING:
    from abstain.pool._plan import LabelPlan


def column(loss: ArrayLike, n: int) -> FloatArray:
    """Return 0/1 losses with NaN where there is no label."""
    values: FloatArray = np.array(vector(loss, "loss", np, None), dtype=np.float64)
    if len(values) != n:
        raise ValueError(f"loss must hold one value per row, NaN without a label: {n} rows, but {len(values)} values")
    bad = ~np.isnan(values) & (values != 0.0) & (values != 1.0)
    if bad.any():
        first = int(np.argmax(bad))
        raise ValueError(
            f"a plan needs 0/1 losses, but loss[{first}] = {float(values[first])!r} ({int(bad.sum())} such); "
            "evaluate graded losses without a plan, on rows that are all labelled"
        )
    return values


def sample_of(plan: LabelPlan, loss: ArrayLike) -> Sample:
    """Return the labelled rows of a plan; labels outside it are left out, with a warning."""
    values = column(loss, plan.n)
    rows = plan.planned
    without = rows[np.isnan(values[rows])]
    if without.size:
        remedy = "label them: rows whose label does not come are seldom like the others"
        if without.size == rows.size:
            remedy = "label them, or name the column that holds what was found: loss= or labels="
        raise ValueError(
            f"{without.size} of {rows.size} planned rows have no label (first: {plan.name_of(int(without[0]))}); "
            f"{remedy}"
        )
    other = int(np.count_nonzero(~np.isnan(values) & (plan.stage == 0)))
    if other:
        warnings.warn(f"{other} labels outside the plan are not used: why they were chosen is not known", stacklevel=4)
    stage = plan.stage[rows] - 1
    ever = 1.0 - np.prod(1.0 - plan.probability, axis=0)
    return Sample(
        plan.pool, rows, values[rows], stage, plan.probability[stage, rows], plan.frame, plan.sizes, plan.leaning, ever
    )


def pair_of(plan: LabelPlan, losses: list[ArrayLike]) -> tuple[Sample, Sample]:
    """Return the labelled rows with the losses of either model."""
    first, second = (column(each, plan.n) for each in losses)
    half = int(np.count_nonzero(np.isnan(first) != np.isnan(second)))
    if half:
        raise ValueError(f"{half} rows have a loss of one model and none of the other; a label gives both")
    odd = int(np.count_nonzero((first != second) & ~plan.pair.differs & ~np.isnan(first)))
    if odd:
        raise ValueError(
            f"{odd} rows have different losses where the predictions were said to be equal; plan with the predictions "
            "of both: compare=(confidence, predictions, predictions)"
        )
    sample = sample_of(plan, first)
    return sample, replace(sample, pool=plan.pair.b, loss=second[sample.rows])


def at_random(confidence: FloatArray, loss: ArrayLike) -> Sample:
    """Return the labelled rows of a pool of which the caller says that chance alone chose them."""
    values = column(loss, len(confidence))
    rows: IntArray = np.flatnonzero(~np.isnan(values))
    if rows.size == 0:
        raise ValueError("no row has a label; abstain.plan_labels says which to label")
    n = len(confidence)
    stage, chance = np.zeros(rows.size, dtype=np.int64), np.full(rows.size, rows.size / n)
    return Sample(Pool.of(confidence), rows, values[rows], stage, chance, np.ones(n, dtype=bool), (rows.size,))


def places(plan: LabelPlan, confidence: FloatArray, ids: ArrayLike) -> IntArray:
    """Return where the pool has each row of the plan; refuse a pool that is not the one that was planned for."""
    if plan.ids is None:
        if len(confidence) != plan.n:
            raise ValueError(
                f"the plan is for {plan.n} rows, the pool has {len(confidence)}; give the pool that was planned for, "
                "or plan with ids"
            )
        order: IntArray = np.arange(plan.n)
    else:
        if ids is None:
            raise ValueError(
                f"the plan knows its rows by ids (such as {plan.ids[0]}), but the pool has none; give ids= with the "
                "names that were planned with, each once"
            )
        names = spelt(np.asarray(ids).astype(str), plan.ids)
        found, count = np.unique(names, return_counts=True)
        if count.max() > 1:
            raise ValueError(
                f"ids occur more than once in the pool (first: {found[count > 1][0]}); give each row its own"
            )
        place = {name: k for k, name in enumerate(names.tolist())}
        gone = [name for name in plan.ids.tolist() if name not in place]
        if gone or len(names) != plan.n:
            new = set(place) - set(plan.ids.tolist())
            first = f"first missing: {shown(gone[0])}" if gone else ""
            first += (", " if gone and new else "") + (f"first new: {shown(min(new))}" if new else "")
            raise ValueError(
                f"the ids are not those of the plan: {len(gone)} of its {plan.n} rows are missing and {len(new)} are "
                f"new ({first}); give the pool that was planned for, with ids spelt as there"
            )
        order = np.array([place[name] for name in plan.ids.tolist()])
    now = confidence[order]
    now = np.where(np.isnan(now), -np.inf, now) + 0.0
    changed = now != plan.confidence
    if changed.any():
        row = int(np.argmax(changed))
        value = "missing" if np.isnan(confidence[order][row]) else repr(float(now[row]))
        raise ValueError(
            f"the scores are not those of the plan: {int(changed.sum())} of {plan.n} changed (first: "
            f"{plan.name_of(row)} was {float(plan.confidence[row])!r} and is {value}); give the scores "
            "that were planned for, or plan again"
        )
    return order


# ---------------------------------------------------------------------- names of rows

#: A number as files and frames write it; whole ones may be longer than a float can tell.
_NUMBER = re.compile(r"([+-]?\d+)(\.\d*)?([eE][+-]?\d+)?")
#: A date and time as files and frames write it: T or a space, zeros behind the seconds, +0000 or +00:00 or Z.
_TIME = re.compile(r"(\d{4,}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?")


def row_names(ids: ArrayLike, n: int | None = None) -> AnyArray:
    """Return the ids of a pool as text, each once; what cannot be found again in a file is refused before any label."""
    names = [_name(each) for each in _listed(ids)]
    if n is not None and len(names) != n:
        raise ValueError(f"ids must hold one name per row: {n} rows, but {len(names)} ids")
    gone = [row for row, name in enumerate(names) if name is None]
    if gone:
        raise ValueError(
            f"ids are missing or blank in {len(gone)} of {len(names)} rows (first: row {gone[0] + 1}); a label could "
            "not be matched with its row: give each row a name of its own"
        )
    text = np.array(names)
    values, count = np.unique(text, return_counts=True)
    if count.max() > 1:
        raise ValueError(
            f"ids occur more than once ({int((count > 1).sum())} such, first: {values[count > 1][0]}); a label could "
            "not be matched with its row: give each row a name of its own"
        )
    return text


def shown(name: str) -> str:
    """Return an id as a message shows it: as it is, unless that could not be read."""
    return name if name.isprintable() else repr(name)


def spelt(names: AnyArray, planned: AnyArray) -> AnyArray:
    """Return ids as the plan spells them, if they are the same numbers, times or texts: files turn 0007 into 7."""
    if set(names.tolist()) == set(planned.tolist()):
        return names
    plain_names = [restored(name) for name in names.tolist()]  # a CSV of the plan marks what looks like a formula
    if set(plain_names) == set(planned.tolist()):
        return np.array(plain_names)
    for read in (_number, _time):
        ours, theirs = ([read(name) for name in each.tolist()] for each in (names, planned))
        if None in ours or None in theirs or set(ours) != set(theirs) or len(set(theirs)) < len(theirs):
            continue
        spelling = dict(zip(theirs, planned.tolist(), strict=True))
        return np.array([spelling[value] for value in ours])
    return names


def _listed(ids: ArrayLike) -> list[object]:
    """Return ids one by one, of their own types: NumPy would round whole numbers that are longer than 64 bits."""
    if isinstance(ids, list | tuple):
        return list(ids)
    column = plain(ids, "ids", "one name per row")
    if column.ndim != 1:
        raise ValueError(f"ids must hold one name per row, got shape {column.shape}")
    if column.dtype.kind == "M":  # Python's own dates know no nanoseconds
        return [None if each == "NaT" else each for each in np.datetime_as_string(column).tolist()]
    return list(column.tolist())


def _name(value: Any) -> str | None:
    """Return the text of one id; None where it is missing or blank. A whole number has no decimals."""
    if isinstance(value, bytes | list | tuple | dict | set | np.ndarray):
        raise ValueError(f"ids must hold one name per row, but one of them is {value!r}; give text or numbers")
    if is_missing(value):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        value = int(value)
    if isinstance(value, int | float) and abs(value) >= 2**63:
        raise ValueError(f"ids hold the number {value!r}, which frames and files round; give such ids as text")
    return str(value) if str(value).strip() else None


def _number(name: str) -> Any:
    found = _NUMBER.fullmatch(name)
    if found is None:
        return None
    if not (found[2] or "").strip(".0") and found[3] is None:
        return int(found[1])
    value = float(name)
    return int(value) if value.is_integer() else value


def _time(name: str) -> Any:
    found = _TIME.fullmatch(name)
    if found is None:
        return None
    day, minute, second, fraction, zone = found.groups()
    zone = None if zone is None else "+0000" if zone == "Z" else zone.replace(":", "").ljust(5, "0")
    return day, minute or "00:00", second or "00", (fraction or "").rstrip("0"), zone
