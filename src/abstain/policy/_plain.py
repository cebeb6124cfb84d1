"""Decide one row with nothing but Python: what a service calls, and what an exported policy consists of.

The arithmetic uses sums, products and quotients in a fixed order, and an exponential made of these, so that every
machine and every form of a policy gives the same score to the last bit; ``_scores`` does the same for many rows.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

ACCEPTED, BELOW, BELOW_SECOND, MISSING, CLOSED, UNKNOWN, DECLINED = range(7)
#: Why a row is answered or rejected, by number; of several reasons the last one in this list is given.
REASONS = (
    "accepted", "below_threshold", "below_second_threshold", "missing_score", "no_threshold", "unknown_group",
    "declined",
)  # fmt: skip

#: Probabilities may be off by this.
ROUNDING = 1e-3
LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 0.693147180369123816490, 1.90821492927058770002e-10
#: 1/13!, 1/12!, ..., 1/1!, 1/0!
TAYLOR = tuple(1.0 / math.factorial(k) for k in range(13, -1, -1))
#: Below, an exponential is 0: added to 1 it changes no sum.
LEAST = -690.0
#: Spellings of truth values: NumPy's and pandas', and that of spreadsheets; polars and JSON use small letters.
TRUTH = ("True", "False", "TRUE", "FALSE")
YES, NO = ("true", "yes", "1", "1.0", "y", "t"), ("false", "no", "0", "0.0", "n", "f", "")


class Decision(NamedTuple):
    """Whether one row is answered, and why; true if it is.

    Parameters
    ----------
    accepted : bool
    reason : str
        ``accepted``; or the last in this list that holds of ``below_threshold``, ``below_second_threshold``,
        ``missing_score`` (missing, NaN, or a class that is missing or infinite), ``no_threshold`` (the objective was
        not attainable, here or in the group), ``unknown_group`` (not calibrated, or missing), ``declined`` (the model
        itself gave no answer).
    score : float
        NaN where it is missing.
    threshold : float
        What the score was compared with; NaN for an unknown group.

    Examples
    --------
    >>> import abstain
    >>> policy = abstain.choose_threshold([0, 1, 0], [0.9, 0.2, 0.6], coverage=0.5).policy(score="msp")
    >>> policy.decide(0.7)
    Decision(accepted=True, reason='accepted', score=0.7, threshold=0.6)
    >>> policy.decide(None).action
    'reject'
    """

    accepted: bool
    reason: str
    score: float
    threshold: float

    @property
    def action(self) -> str:
        """``"answer"`` or ``"reject"``."""
        return "answer" if self.accepted else "reject"

    def __bool__(self) -> bool:
        return self.accepted


def exponential(x: float) -> float:
    """Return e**x for x <= 0, within an ulp."""
    if x < LEAST:
        return 0.0
    k = round(x * LOG2_E)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    value = 0.0
    for coefficient in TAYLOR:
        value = value * r + coefficient
    return math.ldexp(value, k)


def complement(p: float) -> float:
    """Return 1 - p; of a p with up to 12 decimals the number nearest to its decimals."""
    return round(1.0 - p, 12) if round(p, 12) == p else 1.0 - p


def number(value: Any, column: str) -> float:
    """Return a number, NaN where it is missing; text that is a number will do."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    if type(value).__name__ in ("bool", "bool_"):
        raise TypeError(f"{column} = {value!r} is a truth value; give a number")
    try:
        return float(value)
    except (TypeError, ValueError):
        if type(value).__name__ in ("NAType", "NaTType"):
            return math.nan
        raise TypeError(f"{column} = {value!r} is no number; give one, or None where it is missing") from None


def span(levels: list[str]) -> tuple[float, float]:
    """Return the least and the largest value of a scale of confidence: places, or fractions where it is per cent."""
    return (0.0, 1.0) if levels == ["%"] else (1.0, float(len(levels)))


def heard(value: Any, column: str, levels: list[str]) -> float:
    """Return a confidence of a scale: a word by its place, per cent and shares as fractions, or a number within it."""
    word = " ".join(value.lower().split()) if isinstance(value, str) else ""
    low, high = span(levels)
    if levels == ["%"]:
        remedy = 'give "90%", "9/10" or 0.9'
        share = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:/|out of)\s*(\d+)", word)
        cent = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:%|per ?cent)", word)
        if cent:
            value = float(cent[1]) / 100.0
        elif share:
            value = float(share[1]) / float(share[2]) if float(share[2]) else math.nan
    else:
        places = {" ".join(each.lower().split()): k + 1.0 for k, text in enumerate(levels) for each in text.split("|")}
        remedy = f"give one of {', '.join(places)}, or its place"
        value = places.get(word, value)
    try:
        found = number(value, column)
    except TypeError:
        if word:
            raise ValueError(f"{column} = {value!r} is not on the scale of calibration; {remedy}") from None
        raise
    if found < low or found > high:
        raise ValueError(f"{column} = {value!r} lies outside [{low:g}, {high:g}], the scale of calibration; {remedy}")
    return found


def checked(values: list[float], kind: str) -> list[float]:
    """Return class probabilities clipped to [0, 1]; refuse what are none, and probabilities in the place of logits."""
    low, high, total = min(values), max(values), 0.0
    for value in values:
        total += value
    sums = abs(total - 1.0) <= ROUNDING
    if kind == "logits":
        if len(values) > 2 and low >= 0.0 and high < 1.0 and abs(total - 1.0) <= 1e-6:
            raise ValueError("these are probabilities, not logits: they lie in [0, 1] and sum to 1")
        return values
    if not sums or low < -ROUNDING or high > 1.0 + ROUNDING:
        raise ValueError(f"these are no probabilities: {values!r:.200}; pass logits as logits, fractions, not per cent")
    return [min(max(value, 0.0), 1.0) for value in values]


def formula(score: str, kind: str, temperature: float | None, values: list[float]) -> float:
    """Return the score of one row of classes; NaN where an entry is missing or infinite."""
    if len(values) == 1 and kind == "probabilities":
        values = [complement(values[0]), values[0]]
    if not all(map(math.isfinite, values)):
        return math.nan
    if len(values) < 2:
        raise ValueError(f"{kind} need a number per class, got {values!r}")
    values = checked(values, kind)
    if temperature is not None:
        values = [value / temperature for value in values]
    top = max(values)
    if score in ("max_logit", "msp") and (score == "max_logit" or kind == "probabilities"):
        return top
    place = values.index(top)
    second = max(value for k, value in enumerate(values) if k != place)
    if score == "logit_margin" or kind == "probabilities":
        return top - second
    total = 0.0
    for value in values:
        total += exponential(value - top)
    return 1.0 / total if score == "msp" else (1.0 - exponential(second - top)) / total


def group_name(value: Any) -> str | None:
    """Return a group as text, with truth values as files write them; None where it is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    text = str(value)
    return text.lower() if text in TRUTH else text


def says_declined(value: Any, column: str) -> bool:
    """Return whether a column of yes and no says that the model itself gave no answer; a missing value is no."""
    word = "" if group_name(value) is None else str(value).strip().lower()
    if word not in YES + NO:
        raise ValueError(f"{column} = {value!r} is neither yes nor no; give a truth value")
    return word in YES


def values_of(row: Any, columns: list[str]) -> list[float]:
    """Return the numbers of the classes of a row: of a column each, or of the one column that holds a list."""
    missing = [column for column in columns if column not in row]
    if missing:
        raise ValueError(f"the row has no {missing[0]!r}, from which the score is computed; give {', '.join(columns)}")
    whole = row[columns[0]] if len(columns) == 1 else None
    if whole is not None and hasattr(whole, "__len__") and not isinstance(whole, str):
        return [number(value, columns[0]) for value in whole]
    return [number(row[column], column) for column in columns]


def score_of(part: dict[str, Any], row: Any) -> float:
    """Return a score of a policy: a column, minus a column, or what is computed from the classes."""
    if part["inputs"] is not None:
        ((kind, columns),) = part["inputs"].items()
        return formula(part["score"], kind, part["temperature"], values_of(row, columns))
    if part["score"] not in row:
        raise ValueError(f"the row has no {part['score']!r}, the policy's score; give it, None where it is missing")
    levels = part.get("levels")
    given = row[part["score"]]
    value = number(given, part["score"]) if levels is None else heard(given, part["score"], levels)
    return -value if part.get("uncertainty") else value


def reason_of(score: float, threshold: float, second: float, second_threshold: float) -> int:
    """Return the reason for a row whose group has a threshold."""
    if threshold == math.inf:
        return CLOSED
    if score != score or second != second:
        return MISSING
    if score >= threshold:
        return ACCEPTED if second >= second_threshold else BELOW_SECOND
    return BELOW


def row_of(policy: dict[str, Any], row: Any) -> Any:
    """Return a row by column: a number is the value of the score's column, a list holds the numbers of the classes."""
    if hasattr(row, "keys"):
        return row
    listed = hasattr(row, "__len__") and not isinstance(row, (str, bytes))
    if policy["inputs"] is None:
        if listed:
            raise TypeError(f"a row is a dict by column, or the number {policy['score']!r}; give rows one by one")
        return {policy["score"]: row}
    ((kind, columns),) = policy["inputs"].items()
    if len(columns) == 1:
        return {columns[0]: row}
    if not listed or len(row) != len(columns):
        raise ValueError(f"the score is computed from {len(columns)} {kind}; give a list of them, or a dict by column")
    return dict(zip(columns, row))  # noqa: B905  (the file serves Python 3.9, too)


def decide_row(policy: dict[str, Any], row: Any) -> Decision:
    """Return whether a row is answered, why, its score, and the threshold that it was compared with."""
    row, other = row_of(policy, row), policy.get("second")
    score = score_of(policy, row)
    second = 0.0 if other is None else score_of(other, row)
    if policy["group"] is not None and policy["group"] not in row:
        raise ValueError(f"the row has no {policy['group']!r}, the group that its threshold depends on")
    name = "" if policy["group"] is None else group_name(row[policy["group"]])
    threshold = math.nan if name is None else policy["thresholds"].get(name, math.nan)
    column = policy.get("declined")
    if column is not None and column not in row:
        raise ValueError(f"the row has no {column!r}, which says whether the model itself abstained")
    if column is not None and says_declined(row[column], column):
        reason = DECLINED
    elif threshold != threshold:
        reason = UNKNOWN
    else:
        reason = reason_of(score, threshold, second, 0.0 if other is None else other["threshold"])
    return Decision(reason == ACCEPTED, REASONS[reason], score, threshold)
