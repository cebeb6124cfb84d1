"""The columns of rows that are to be counted, checked against what was fixed when the certificate was made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from abstain._checks import check_loss, check_weight, closest, plain, same_length, vector
from abstain._typing import ArrayLike, BoolArray, FloatArray, Frame, IntArray
from abstain.inference import codes
from abstain.monitoring import Clock
from abstain.policy import group_column, row_names
from abstain.thresholds import Hashes, named, refuse_large


def of_frame(frame: Frame, *given: ArrayLike) -> list[ArrayLike]:
    """Return what is given, with the columns of a frame of any library in the place of their names."""
    import narwhals as nw

    rows: Any = nw.from_native(frame)
    wanted, known = sorted({each for each in given if isinstance(each, str)}), rows.collect_schema().names()
    for name in wanted:
        if name not in known:
            raise ValueError(f"frame has no column {name!r}; {closest(name, known)}")
    chosen = rows.select(*wanted)
    held = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
    return [held[each].to_numpy() if isinstance(each, str) else each for each in given]


def scores_and_losses(confidence: ArrayLike, loss: ArrayLike, largest: float) -> tuple[FloatArray, FloatArray]:
    """Return both columns; none has rows in a week without any."""
    score, losses = (
        np.zeros(0) if np.shape(column) == (0,) else vector(column, name, np, None)
        for column, name in ((confidence, "confidence"), (loss, "loss"))
    )
    same_length(confidence=score, loss=losses)
    if losses.size:
        check_loss(np.where(np.isnan(losses), 0.0, losses), np)
    if np.nanmax(losses, initial=0.0) > largest:
        raise ValueError(f"max_loss={largest:g} is below a loss that occurs, {np.nanmax(losses):g}; give a true bound")
    return score, losses


def chances(given: ArrayLike | float, n: int, smallest: FloatArray) -> FloatArray:
    """Return the chance of each label; none may be 0, or below the smallest one in force."""
    chance = np.full(n, float(given)) if np.ndim(given) == 0 else vector(given, "label_probability", np, None)
    same_length(confidence=np.empty(n), label_probability=chance)
    bad = ~((chance > 0.0) & (chance <= 1.0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"label_probability[{row}] is {chance[row]:g}, and must be in (0, 1]; rows that can never be labelled "
            "cannot be certified: label a part of them at random, or leave them out of what is answered"
        )
    low = chance < smallest * (1.0 - 1e-12)
    if low.any():
        row = int(np.argmax(low))
        raise ValueError(
            f"label_probability[{row}] is {chance[row]:g}, below the smallest chance in force, "
            f"{np.broadcast_to(smallest, n)[row]:g}; "
            "stakes are fixed before labels are drawn: before anything is certified all rows need a label, and then a "
            "share of audit=, which is given when the certificate is made"
        )
    return chance


def drawn_labels(
    given: ArrayLike | None, chance: FloatArray, losses: FloatArray, number: IntArray | None, answerable: BoolArray
) -> tuple[BoolArray, FloatArray]:
    """Return which rows need a label, and the losses without those of labels that were not drawn."""
    if given is None:
        _refuse_too_many(~np.isnan(losses), chance, number)
        return chance == 1.0, losses
    column = plain(given.to_numpy() if hasattr(given, "to_numpy") else given, "drawn")
    same_length(confidence=losses, drawn=column)
    if column.dtype != bool and not np.isin(column, (0, 1)).all():
        raise TypeError("drawn must hold truth values: whether the label of each row was drawn")
    drawn = column.astype(bool)
    certain = (chance == 1.0) & ~drawn & answerable
    if certain.any():
        row = int(np.argmax(certain))
        raise ValueError(
            f"drawn[{row}] is False, although the chance of its label is 1; give label_probability= with the chance "
            "of each label"
        )
    _refuse_too_many(drawn, chance, number)
    return drawn, np.where(drawn, losses, np.nan)


def _refuse_too_many(labelled: BoolArray, chance: FloatArray, number: IntArray | None) -> None:
    """Refuse far more labels than their chances say: some were not drawn. Clusters may be drawn as a whole."""
    some = chance < 1.0
    found, expected = int(labelled[some].sum()), float(chance[some].sum())
    apart = np.sqrt(chance[some] * (1.0 - chance[some]))
    apart = apart if number is None else np.bincount(number[some], weights=apart)
    spread, largest = (
        float(np.sqrt(apart @ apart)),
        1.0 if number is None else float(np.bincount(number).max(initial=1)),
    )
    if found - expected > 6.0 * (spread + largest):
        raise ValueError(
            f"label_probability: {found:,} labels where {expected:,.0f} are expected of these chances; name in drawn= "
            "those that were drawn"
        )


def weights(given: ArrayLike | None, n: int, largest: float) -> FloatArray:
    """Return the weight of each row; without weights each has the largest."""
    if given is None:
        return np.full(n, largest)
    weight: FloatArray = vector(given, "sample_weight", np, None)
    same_length(confidence=np.empty(n), sample_weight=weight)
    check_weight(weight, np)
    if weight.max(initial=0.0) > largest:
        raise ValueError(f"max_weight={largest:g} is below a weight that occurs, {weight.max():g}; give a true bound")
    return weight


def places_of(groups: ArrayLike | None, n: int, known: list[str] | None) -> IntArray:
    """Return the place of the group of each row among the known ones; 0 where the certificate has no groups."""
    if known is None and groups is not None:
        raise ValueError("this certificate has no groups; name them when it is made (groups=)")
    if known is None:
        return np.zeros(n, dtype=np.int64)
    if groups is None:
        raise ValueError("this certificate has groups; give groups=")
    names, number = np.unique(group_column(groups), return_inverse=True)
    same_length(confidence=np.empty(n), groups=number)
    new = [name for name in names.tolist() if name not in known]
    if new:
        raise ValueError(f"groups: {new[0]!r} is not known; add_group({new[0]!r}) gives it a part of the reserve")
    return np.array([known.index(name) for name in names.tolist()], dtype=np.int64)[number]


def hashes_of(ids: ArrayLike | None, n: int) -> Hashes | None:
    """Return a hash of the name of each row; refuse a name that is missing or comes twice."""
    if ids is None:
        return None
    names = np.array(row_names(ids))
    same_length(confidence=np.empty(n), ids=names)
    distinct, hashes = named(names)
    if len(distinct) < n:
        raise ValueError(f"ids must name each row, and no two alike: {n} rows have {len(distinct)} names")
    return hashes[np.searchsorted(distinct, names)]


def numbers_of(clusters: ArrayLike | None, n: int, largest: int | None) -> IntArray | None:
    """Return the number of the cluster of each row; None where rows have no clusters."""
    if largest is None and clusters is not None:
        raise ValueError("clusters= needs max_cluster, the largest size of a cluster, when the certificate is made")
    if largest is None:
        return None
    if clusters is None:
        raise ValueError("this certificate is about rows in clusters; give clusters=")
    number: IntArray = codes(clusters, "clusters", n)
    refuse_large(number, largest)
    return number


def group_names(groups: Sequence[str]) -> list[str]:
    """Return the names of the groups of a certificate."""
    names = list(groups)
    if isinstance(groups, str) or not all(isinstance(each, str) and each for each in names):
        raise TypeError(f"groups must be a list of names, got {groups!r}")
    if len(set(names)) < len(names) or not names:
        raise ValueError(f"groups must be different names, got {groups!r}; name each group once")
    return names


def due_rows(
    clock: Clock, time: ArrayLike, as_of: Any, losses: ArrayLike, needed: BoolArray, number: Any
) -> tuple[Any, Any]:
    """Return the rows that are due, and their times; refuse a missing label, and rows of a time that was counted."""
    until = "" if clock.last is None else clock.shown(clock.last)
    try:
        due, when, before = clock.order(time, as_of, losses, needed, number)
    except ValueError as error:
        if "is missing, an accepted row" not in str(error):
            raise
        row = str(error).partition(" ")[0]
        raise ValueError(
            f"{row} is missing, although its label was drawn; give label_probability= if only a part was drawn, hold "
            "rows back until their labels have come, or give maturity= and time="
        ) from None
    if before:
        raise ValueError(
            f"time: {before} rows are of a time that was counted before, or of before a restart: until "
            f"{until}; leave these out: a row counts once, at the age of maturity"
        )
    return due, when
