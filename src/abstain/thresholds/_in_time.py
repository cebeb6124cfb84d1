"""Labelled rows that an engine holds, in the order of their times: counted there, written out here some times at once.

Rows of one time have no order, so what is watched of them are their numbers; a watch may be given rows in parts of any
size, as long as no time lies in two. So memory holds the counts and the rows of some times, whatever the rows are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from abstain import scores
from abstain._checks import UnmetNeed, closest
from abstain.outputs import REMEDY, count_in_time, parts_of
from abstain.policy import Policy, group_column

#: Rows that are written out at once, if times allow, and the most.
AT_ONCE, MOST = 1_000_000, 20_000_000


def in_time_order(
    policy: Policy, frame: Any, time: str | None, columns: Mapping[str, Any], whole: bool
) -> Iterator[dict[str, Any]]:
    """Yield loss, confidence, groups and time of the rows of a frame; ``whole``: all at once."""
    source = parts_of(frame)
    if source is None:
        raise TypeError(
            f"frame must be a lazy frame, a pattern of Parquet files or a folder of them, got {type(frame).__name__}; "
            "of rows in memory give loss= and confidence= as columns"
        )
    if time is None:
        raise ValueError("the rows of a frame have no order but that of a column; give time=, when each label came")
    told = {name: value for name, value in columns.items() if value is not None}
    columns_there = source.first.columns()
    if isinstance(time, str) and not {time, f"group_{time}"} & set(columns_there):
        raise ValueError(f"time={time!r}: no column has this name; {closest(time, columns_there)}")
    other = next((name for name, value in (told | {"time": time}).items() if not isinstance(value, str | list)), None)
    if other is not None:
        raise TypeError(f"{other} must name a column of the frame, got {type(told.get(other, time)).__name__}")
    if "clusters" in told or "n_clusters" in policy.calibration:
        raise UnmetNeed(f"clusters are watched by their first rows, one by one, which counts do not hold; {REMEDY}")
    score, computed = _score(policy)
    if score is None and "confidence" not in told and "uncertainty" not in told:
        told["uncertainty" if "uncertainty" in policy.reading else "confidence"] = policy.score
    found = count_in_time(source, score, scores.default, time, policy.group, told | computed)
    group = None if found.group is None else group_column(found.group)
    when, by = (np.unique(np.zeros(len(found.times)) if each is None else each, return_inverse=True)[1]
                for each in (found.time, group))  # fmt: skip
    order = np.lexsort((found.score, found.loss, by, when))  # the same for every partition
    begins = np.flatnonzero(np.append(True, np.diff(when[order]) != 0))
    number = np.add.reduceat(found.times[order], begins).astype(np.int64)
    for first, last in _runs(number, whole):
        if (many := int(number[first:last].sum())) > MOST:
            raise UnmetNeed(
                f"time={time!r}: {many} rows are looked at together, more than {MOST}; give a finer time"
                + (", leave maturity= out," if whole else "")
                + f" or {REMEDY}"
            )
        end = begins[last] if last < len(begins) else len(order)
        some = np.repeat(order[begins[first] : end], found.times[order[begins[first] : end]].astype(np.intp))
        yield {
            "loss": found.loss[some], "confidence": found.score[some], "time": found.time[some],
            "groups": None if group is None else group[some],
        }  # fmt: skip


@contextmanager
def in_frame(time: str | None, rows: Mapping[str, Any]) -> Iterator[None]:
    """Say of a row its time in place of its number, which a row of a frame has not."""
    try:
        yield
    except ValueError as error:
        found = re.match(r"(\w+)\[(\d+)\]", str(error))
        if found is None:
            raise
        when = rows["time"][int(found[2])]
        raise ValueError(f"{found[1]} of a row with {time} = {when}{str(error)[found.end() :]}") from None


def _runs(number: Any, whole: bool) -> Iterator[tuple[int, int]]:
    """Yield runs of times with about so many rows as are written out at once."""
    if whole:
        yield 0, len(number)
        return
    run = (np.cumsum(number) - number) // AT_ONCE
    ends = [*(np.flatnonzero(np.diff(run)) + 1).tolist(), len(number)]
    yield from zip([0, *ends[:-1]], ends, strict=True)


def _score(policy: Policy) -> tuple[str | None, dict[str, Any]]:
    """Return the score that the engine computes, None for a column, and what from."""
    if policy.second is not None:
        raise UnmetNeed(f"a policy on two scores is watched row by row; {REMEDY}")
    if policy.inputs is None:
        return None, {}
    if "probabilities" not in policy.inputs or policy.temperature is not None or policy.score not in OWN:
        raise UnmetNeed(
            f"the policy computes {policy.score!r} in a way that a scan does not, which knows {' and '.join(OWN)} of "
            f"probabilities; {REMEDY}"
        )
    return policy.score, {"probabilities": list(policy.inputs["probabilities"])}


#: Scores that engines and policies compute to the same bit.
OWN = ("msp", "softmax_margin")
