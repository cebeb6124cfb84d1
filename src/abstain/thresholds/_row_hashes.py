"""Rows that were seen before: small sketches of the rows of a file, by which they are known again.

A row is its score with its loss, hashed. Of a set of rows the smallest hashes are kept: of another set those below the
largest that was kept are a random part of it, and the share of them that was kept says how much the two have in common.
Where scores tie, different rows look alike, and nothing can be said.
"""

from __future__ import annotations

import base64
import hashlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from abstain._typing import AnyArray, ArrayLike, BoolArray, FloatArray

Hashes = npt.NDArray[np.uint64]

#: Hashes that are kept of a set, and the fewest of another set that say anything.
KEPT, FEWEST = 256, 8
#: Rows that tie more often are not distinguished: with so many different ones of all, other rows on the same grid of
#: rounded scores share at most about a tenth, half of the part that a warning takes.
DISTINCT = 0.95
#: Rows are known again as a whole if other rows are the same with at most this probability, in every population.
ALIKE = 1e-9


def hashed(score: FloatArray, loss: FloatArray) -> Hashes:
    """Return a number for each row; hardly any two different rows share one."""
    columns = [np.ascontiguousarray(column, dtype=np.float64) + 0.0 for column in (score, loss)]
    scores, losses = (column.view(np.uint64) for column in columns)
    mixed = scores * np.uint64(0x9E3779B97F4A7C15) ^ (losses * np.uint64(0xC2B2AE3D27D4EB4F) >> np.uint64(7))
    mixed ^= mixed >> np.uint64(29)
    return np.asarray(mixed * np.uint64(0xBF58476D1CE4E5B9))


def packed(hashes: Hashes) -> str:
    """Return hashes as text."""
    return base64.b64encode(hashes.astype("<u8").tobytes()).decode("ascii")


def unpacked(text: str) -> Hashes:
    """Return the hashes of a text."""
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<u8")


def sketch(hashes: Hashes, kept: int = KEPT, rows: int | None = None) -> str:
    """Return the smallest different hashes of rows as text; empty where rows tie too often to be distinguished.

    ``rows``: how many there are, where equal ones are given once.
    """
    number = len(hashes) if rows is None else rows
    if number < FEWEST:
        return ""
    found = distinct(hashes)
    return packed(found[:kept]) if len(found) >= max(FEWEST, DISTINCT * number) else ""


def merged(texts: list[str]) -> str:
    """Return the sketch of all rows of several sets."""
    each = [unpacked(text) for text in texts if text]
    if not each:
        return ""
    known = np.unique(np.concatenate(each))
    whole = [one[-1] for one in each if len(one) >= KEPT]  # above the last one that was kept nothing is known
    return packed((known[known <= min(whole)] if whole else known)[:KEPT])


def in_common(text: str, hashes: Hashes) -> tuple[float, float]:
    """Return about which part of these rows was sketched, and which part of the sketched rows is here; 0 if unknown."""
    found = distinct(hashes)
    if len(found) < DISTINCT * len(hashes):
        return 0.0, 0.0
    known = unpacked(text)
    mine = found if len(known) < KEPT else found[found <= known[-1]]
    shared = float(np.isin(mine, known, assume_unique=True).sum())
    return (shared / len(mine) if len(mine) >= FEWEST else 0.0), shared / len(known)


def digest(hashes: Hashes, scores: FloatArray | None = None) -> str:
    """Return what rows are known by as a whole; nothing if other rows may well be the same.

    Of n independent rows with counts c of equal ones the probability is multinomial, and largest in a population in
    which their shares are c / n: 24 different rows are known again in any order. Fewer or coarser ones, of which the
    ``scores`` are given, are known by their order, if it is well mixed: calls that were sorted look alike.
    """
    n = len(hashes)
    counts = np.unique(hashes, return_counts=True)[1]
    one_order = float(counts @ np.log(counts / n))
    if one_order + math.lgamma(n + 1) - sum(map(math.lgamma, counts[counts > 1] + 1.0)) < math.log(ALIKE):
        hashes = np.sort(hashes)
    elif scores is None or one_order > math.log(ALIKE) or not _mixed(scores):
        return ""
    return hashlib.sha256(hashes.tobytes()).hexdigest()[:12]


def _mixed(scores: FloatArray) -> bool:
    """Return whether neighbours differ, up and down, at least half as often as in a random order."""
    counts = np.unique(scores, return_counts=True)[1]
    usual = (len(scores) - float(counts @ counts) / len(scores)) / 2.0
    change = np.diff(scores)
    return bool(min(np.count_nonzero(change > 0.0), np.count_nonzero(change < 0.0)) >= usual / 2.0)


def distinct(hashes: Hashes) -> Hashes:
    """Return different hashes, sorted; for a million of them a sort is faster than what np.unique does."""
    ordered = np.sort(hashes)
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(ordered)]
    return np.asarray(ordered[first], dtype=np.uint64)


def named(clusters: ArrayLike) -> tuple[list[Any], Hashes]:
    """Return the names of clusters in the order of their numbers, and hashes of these."""
    names = np.unique(_column(clusters)).tolist()
    each = (hashlib.sha256(str(name).encode("utf-8", "backslashreplace")).digest()[:8] for name in names)
    return names, np.array([int.from_bytes(one, "little") for one in each], dtype=np.uint64)


def new_clusters(clusters: ArrayLike, known: Hashes, remedy: str) -> Hashes:
    """Return the hashed names of clusters; refuse one of which rows were counted before."""
    names, hashes = named(clusters)
    old = np.isin(hashes, known)
    if old.any():
        first, number = names[int(np.argmax(old))], int(old.sum())
        raise ValueError(f"clusters: {first!r} has rows that were counted before ({number} such); {remedy}")
    return hashes


def _column(values: ArrayLike) -> AnyArray:
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)


def taken(values: ArrayLike, rows: BoolArray) -> AnyArray | None:
    return None if values is None else _column(values)[rows]
