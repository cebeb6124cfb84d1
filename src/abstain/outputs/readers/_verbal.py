"""Confidence in words or per cent, as people and language models say it: ordered, with many ties."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from abstain._typing import FloatArray
from abstain.outputs._objects import DECIMAL_COMMA, NO_NUMBER, POINTS

#: Words, the lowest confidence first; words of one entry mean the same. The third is the scale of estimative words
#: that Tian et al. ("Just ask for calibration", EMNLP 2023) let models choose from.
SCALES: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("very low",), ("low",), ("medium", "moderate"), ("high",), ("very high",)),
    (
        ("not at all confident",), ("not confident",), ("slightly confident",), ("somewhat confident",),
        ("moderately confident", "fairly confident"), ("confident",), ("very confident",), ("extremely confident",),
    ),
    (
        ("almost no chance",), ("highly unlikely",), ("chances are slight",), ("little chance",), ("unlikely",),
        ("probably not",), ("about even",), ("better than even",), ("likely",), ("probably", "probable"),
        ("very good chance",), ("highly likely",), ("almost certain",),
    ),
)  # fmt: skip

#: Levels of what is said in per cent or as shares.
FRACTIONS = ["%"]
_PER_CENT = re.compile(r"(\d+(?:\.\d+)?)\s*(?:%|per ?cent)")
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:/|out of)\s*(\d+)")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")


def spoken(values: Sequence[object], name: str = "confidence", levels: Sequence[str] | None = None) -> FloatArray:
    """Return confidence that was said in words, per cent or shares as numbers that keep the order and the ties.

    Parameters
    ----------
    values : sequence of str or None
        ``"90 %"``, ``"9/10"``, ``"0.9"`` or words of one scale; case and blanks around do not matter.
    name : str
        What messages call the column.
    levels : sequence of str, optional
        Words of a scale of one's own, the lowest first; ``"medium|moderate"`` are two words for one
        place. ``["%"]``: per cent and shares, as fractions.

    Returns
    -------
    ndarray of float64
        Per cent and shares as fractions; words as their place in the scale, 1, 2, …, which is an order and no
        probability. Missing or empty, and among numbers ``"NA"``, ``"nan"``, ``"none"`` and ``"null"``: NaN.

    Raises
    ------
    ValueError
        A word of no scale, words of several, per cent next to plain numbers, per cent above 100.

    Examples
    --------
    >>> from abstain.outputs.readers import spoken
    >>> spoken(["90 %", "55%", None]), spoken(["high", "Low", "medium"])
    (array([0.9 , 0.55,  nan]), array([4., 2., 3.]))
    """
    said = _said(values)
    rows = [row for row, word in enumerate(said) if word]
    found = np.full(len(said), np.nan)
    fractions = levels is not None and list(levels) == FRACTIONS
    if levels is not None and not fractions:
        scale = tuple(tuple(" ".join(word.lower().split()) for word in place.split("|")) for place in levels)
        return _ranked(found, said, rows, (scale,), name, listed=", ".join(levels))
    kinds: dict[str, int] = {}
    for row in rows:
        kind, found[row] = _measured(str(said[row]))
        kinds.setdefault(kind, row)
    if set(kinds) == {"words"}:
        if fractions:
            raise ValueError(f"{name} says {values[rows[0]]!r} in data row {rows[0] + 1}, which is no per cent")
        return _ranked(found, said, rows, SCALES, name)
    if len(kinds) > 1:
        (first, at), (second, there) = list(kinds.items())[:2]
        raise ValueError(
            f"{name} mixes {first} ({values[at]!r}, data row {at + 1}) and {second} ({values[there]!r}, data row "
            f"{there + 1}); write one of them throughout"
        )
    if "numbers with a decimal comma" in kinds:
        raise ValueError(
            f"{name} writes numbers with a decimal comma ({values[rows[0]]!r}, data row {rows[0] + 1}); {POINTS}"
        )
    above = found > 1.0
    if above.any() and (fractions or set(kinds) != {"numbers"}):
        row = int(np.argmax(above))
        raise ValueError(f"{name} says {values[row]!r} in data row {row + 1}, which is more than all; repair this row")
    return found


def levels_of(values: Sequence[object]) -> list[str] | None:
    """Return the ``levels`` by which these values, that :func:`spoken` reads, are read alike; None: plain numbers."""
    words = {word for word in _said(values) if word}
    kinds = {_measured(word)[0] for word in words}
    if "words" in kinds:
        scale = next(each for each in SCALES if words <= {word for place in each for word in place})
        return ["|".join(place) for place in scale]
    return list(FRACTIONS) if kinds & {"per cent", "shares"} else None


def _said(values: Sequence[object]) -> list[str | None]:
    """Return what was said, in lower case with single blanks; among numbers "NA" and the like are missing."""
    said = [None if value is None or value != value else " ".join(str(value).lower().split()) for value in values]
    words = {word for word in said if word and _measured(word)[0] == "words"}
    if words <= NO_NUMBER and len(words) < len(set(said) - {None, ""}):
        said = [None if word in words else word for word in said]
    return said


def _measured(word: str) -> tuple[str, float]:
    """Return how a confidence is said, and its value where that is a number."""
    if match := _PER_CENT.fullmatch(word):
        return "per cent", float(match[1]) / 100.0
    if match := _SHARE.fullmatch(word):
        return "shares", float(match[1]) / float(match[2]) if float(match[2]) else np.nan
    if _NUMBER.fullmatch(word):
        return "numbers", float(word)
    if DECIMAL_COMMA.fullmatch(word):
        return "numbers with a decimal comma", np.nan
    return "words", np.nan


def _ranked(
    found: FloatArray,
    said: list[str | None],
    rows: list[int],
    scales: Sequence[Sequence[Sequence[str]]],
    name: str,
    listed: str = "",
) -> FloatArray:
    """Return the places of words in the one scale that holds them all."""
    for scale in scales:
        place = {word: float(rank) for rank, words in enumerate(scale, start=1) for word in words}
        if all(said[row] in place for row in rows):
            for row in rows:
                found[row] = place[str(said[row])]
            return found
    known = {word for scale in scales for words in scale for word in words}
    row = next((row for row in rows if said[row] not in known), rows[0])
    words = list(dict.fromkeys(str(said[each]) for each in rows))
    ours = f"of {listed}"
    if not listed:
        ours = f"of a known scale; give the words, the lowest first, confidence_levels={words[:6]}, or other numbers"
    raise ValueError(f"{name} says {said[row]!r} in data row {row + 1}, which is no word {ours}")
