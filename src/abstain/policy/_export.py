"""A policy outside of the library: a Python file that needs nothing else, and a SQL expression.

The expression is true where a row is answered, false where it is rejected. NaN is larger than every number in
PostgreSQL and DuckDB, so comparisons alone would accept it; GREATEST and LEAST leave out what is missing. Numbers are
cast from text, which gives the nearest double; a decimal would be compared otherwise.
"""

from __future__ import annotations

import inspect
import pprint
from math import inf
from typing import TYPE_CHECKING

from abstain._checks import one_of
from abstain._version import __version__
from abstain.policy import _plain
from abstain.policy._contents import Score
from abstain.policy._plain import ROUNDING, TRUTH, YES

if TYPE_CHECKING:
    from abstain.policy._policy import Policy

_HEAD = '''"""Decide rows by a policy of abstain {version}; this file needs Python 3.9 or later and nothing else.

{facts}

decide(row) takes one row: a dict by column; the number itself where a column of scores decides alone; a list of the
classes' numbers where the score is computed from them. Its decision is true if the row is answered, and has accepted,
reason, score and threshold. As a program it reads a JSON object per line and writes each with "decision" added.
"""
'''
_TAIL = '''

POLICY = {policy}


def decide(row: Any) -> Decision:
    """Return the decision on one row: true if it is answered."""
    return decide_row(POLICY, row)


if __name__ == "__main__":
    import json
    import sys

    for place, line in enumerate(sys.stdin, 1):
        if line.strip():
            try:
                given = json.loads(line)
                if not isinstance(given, dict):
                    raise TypeError("give a JSON object by column")
                accepted, reason, score, _ = decide(given)
            except (KeyError, TypeError, ValueError) as error:
                sys.exit(f"line {{place}}: {{error}}")
            decision = {{"accepted": accepted, "reason": reason, "score": score if math.isfinite(score) else None}}
            print(json.dumps({{**given, "decision": decision}}))
'''


def source(policy: Policy) -> str:
    """Return the file; refuse a policy whose score or refusals need the library."""
    plain = policy.row_policy
    if plain is None:
        said = policy.said_declined()
        words = said is not None and said[0] != "abstained"
        why = "where the model abstained is said in words" if words else f"its score {policy.score!r} needs the library"
        raise ValueError(f"this policy cannot leave the library: {why}; write the score, or yes and no, as a column")
    facts = [f"Score: {policy.score}; rows: {policy.calibration.n} of calibration."]
    facts += [] if policy.guarantee is None else [f"Guarantee: {policy.guarantee.statement}."]
    facts += [f"{name.capitalize()}: {text}" for name, text in policy.about.items()]
    head = _HEAD.format(version=__version__, facts="\n".join(facts).replace("\\", "\\\\").replace('"""', "'''"))
    code = inspect.getsource(_plain)
    code = code[code.index("from __future__") :]
    written = pprint.pformat(plain, width=110, sort_dicts=False).replace(": inf", ': float("inf")')
    return head + "\n" + code + _TAIL.format(policy=written.replace(": -inf", ': -float("inf")'))


DIALECTS = ("duckdb", "postgres", "sqlite")
_DOUBLE = "DOUBLE PRECISION"
#: The margin compares each class with each other one.
_MOST = 30


def case(policy: Policy, dialect: str) -> str:
    """Return the expression."""
    one_of(dialect, DIALECTS, "dialect")
    said = policy.said_declined()
    if said is not None and said[0] != "abstained":
        raise ValueError(f"{said[1]!r} says in words where the model abstained; write a column of yes and no for SQL")
    if "confidence_levels" in policy.reading:
        raise ValueError(
            f"the score {policy.score!r} is said in words or per cent, which SQL does not read; write it as numbers, "
            "and choose the threshold on them"
        )
    classes = None if policy.classes is None else len(policy.classes)
    parts = [_Part(each, dialect, classes) for each in policy.parts]
    lines = []
    if said is not None:
        words = ", ".join(f"'{word}'" for word in YES)
        lines.append(f"WHEN LOWER(CAST({_name(said[1])} AS VARCHAR)) IN ({words}) THEN FALSE")
    lines += [f"WHEN {test} THEN FALSE" for each in parts for test in each.missing()]
    lines += [f"WHEN {test} THEN NULL" for each in parts for test in each.wrong()]
    extra = "" if policy.second is None else f" AND ({parts[1].reaches(policy.second.threshold)})"
    for name, threshold in policy.thresholds.items():
        if threshold == inf:
            continue
        spellings = ", ".join(map(_text, [name, *(each for each in TRUTH if each.lower() == name)]))
        where = "" if policy.group is None else f"CAST({_name(policy.group)} AS VARCHAR) IN ({spellings}) AND "
        lines.append(f"WHEN {where}({parts[0].reaches(threshold)}){extra} THEN TRUE")
    return "CASE\n" + "".join(f"  {line}\n" for line in lines) + "  ELSE FALSE\nEND"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _number(value: float) -> str:
    text = {inf: "Infinity", -inf: "-Infinity"}.get(value, repr(float(value)))
    return f"CAST('{text}' AS {_DOUBLE})"


class _Part:
    """One score of a policy in SQL."""

    def __init__(self, part: Score, dialect: str, classes: int | None) -> None:
        self.part, self.dialect = part, dialect
        self.greatest, self.least = ("MAX", "MIN") if dialect == "sqlite" else ("GREATEST", "LEAST")
        inputs = part.inputs
        self.columns = part.columns
        self.raw = [f"CAST({_name(column)} AS {_DOUBLE})" for column in self.columns]
        if inputs is None:
            return
        if "logits" in inputs or part.temperature is not None or part.score not in ("msp", "softmax_margin"):
            raise ValueError(
                f"the score {part.score!r} of {', '.join(inputs)} has no SQL that gives the same to the last digit; "
                "SQL is for a column of scores, and for msp or softmax_margin of probabilities: write it as a column"
            )
        if len(self.columns) == 1 and dialect == "postgres":
            raise ValueError(
                "PostgreSQL rounds no doubles to decimals, as one probability of two classes needs; write both"
            )
        if len(self.columns) == 1 and classes not in (None, 2):
            raise ValueError(
                f"column {self.columns[0]!r} holds lists of {classes} numbers; write a column per class for SQL"
            )
        if part.score == "softmax_margin" and len(self.columns) > _MOST:
            raise ValueError(f"the margin of {len(self.columns)} classes is too long for SQL; write it as a column")

    def missing(self) -> list[str]:
        """Return the conditions that show that the score is missing."""
        found = [f"{' OR '.join(f'{_name(column)} IS NULL' for column in self.columns)}"]
        if self.part.inputs is not None:  # to these dialects NaN is larger than infinity
            ends = f">= {self.number(inf)}", f"<= {self.number(-inf)}"
            found.append(" OR ".join(f"{each} {end}" for each in self.raw for end in ends))
        elif self.dialect != "sqlite":  # which holds no NaN
            found.append(f"{self.raw[0]} > {self.number(inf)}")
        return found

    def number(self, value: float) -> str:
        """Return a number as the nearest double."""
        if self.dialect == "sqlite" and abs(value) == inf:
            return "9e999" if value > 0 else "-9e999"
        return _number(value)

    def wrong(self) -> list[str]:
        """Return the conditions that show that columns hold no probabilities, which ``decide`` refuses."""
        if self.part.inputs is None:
            return []
        outside = [f"{each} < {_number(-ROUNDING)} OR {each} > {_number(1.0 + ROUNDING)}" for each in self.raw]
        off = [] if len(self.raw) == 1 else [f"ABS({' + '.join(self.raw)} - 1) > {_number(ROUNDING)}"]
        return [" OR ".join([*outside, *off])]

    def reaches(self, threshold: float) -> str:
        """Return whether the score is at least the threshold."""
        limit = self.number(threshold)
        if self.part.inputs is None:
            return f"{'-' if self.part.uncertainty else ''}{self.raw[0]} >= {limit}"
        values = self.raw
        if len(values) == 1:
            p = self.raw[0]
            values = [f"CASE WHEN ROUND({p}, 12) = {p} THEN ROUND(1 - {p}, 12) ELSE 1 - {p} END", p]
        values = [f"{self.least}({self.greatest}({each}, 0), 1)" for each in values]
        if self.part.score == "msp":
            return " OR ".join(f"{value} >= {limit}" for value in values)
        leads = (
            " AND ".join(f"({value}) - ({other}) >= {limit}" for other in (*values[:k], *values[k + 1 :]))
            for k, value in enumerate(values)
        )
        return " OR ".join(f"({lead})" for lead in leads)
