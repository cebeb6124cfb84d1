"""Notice scores and groups that are seldom meant: two scales in one column, codes for missing values, spellings."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from abstain._checks import listed
from abstain._result import Caveat
from abstain._typing import FloatArray

#: Part of the rows from which a second scale is reported.
PART = 0.05
#: Numbers with decimals that are as many groups as this are measured values.
MANY = 20


def warn_of_scores(score: FloatArray) -> None:
    """Warn the caller's caller of codes for missing scores, and of two scales in one column."""
    for kind, values in unusual(score):
        caveat = Caveat.of(kind, score="the score", **values)
        _warn(caveat.text.removesuffix("."))


def unusual(score: FloatArray) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield codes for missing scores, and two scales in one column, as the kind of a caveat and its values."""
    finite = score[np.isfinite(score)]
    for code in {float(finite.min()), float(finite.max())} if finite.size else ():
        rest = finite[finite != code]
        nines = set(f"{abs(code):g}") == {"9"} or code == -1.0
        if nines and rest.size and float(np.abs(rest - code).min()) > max(float(np.ptp(rest)), 0.5):
            yield "sentinel", {"count": finite.size - rest.size, "code": code}
            finite = rest
    if finite.size and finite.min() >= 0.0 and 10.0 < finite.max() <= 100.0:
        fractions, between, cents = np.histogram(finite, [0.0, 1.0 + 1e-9, 10.0, 100.0])[0]
        if min(fractions, cents) >= PART * finite.size and 3 * between < min(fractions, cents):
            yield "mixed_units", {"fractions": int(fractions), "cents": int(cents)}


def warn_of_groups(names: Iterable[str]) -> None:
    """Warn the caller's caller of groups that differ by case or blanks alone, and of measured values as groups."""
    alike: dict[str, list[str]] = {}
    every = list(names)
    for name in every:
        alike.setdefault("".join(name.split()).casefold(), []).append(name)
    for spellings in alike.values():
        if len(spellings) > 1 or spellings[0] != spellings[0].strip():
            what = "differ by case or blanks alone" if len(spellings) > 1 else "has blanks at its ends"
            _warn(f"groups {listed(spellings, 4)} {what}, and each gets its own threshold; write one spelling")
    measured = sum(_has_decimals(name) for name in every)
    if measured > MANY and 2 * measured > len(every):
        _warn(f"the groups are {len(every)} numbers with decimals: give intervals of a measured value as groups")


def _has_decimals(name: str) -> bool:
    try:
        return not float(name).is_integer()
    except (ValueError, OverflowError):
        return False


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=4)
