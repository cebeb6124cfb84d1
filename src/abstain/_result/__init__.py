"""What every result is: tables and notes, and the forms that are made from them in one place.

A class gives ``tables()``, ``notes()`` and ``rows()``; :class:`Result` makes text, terminal, notebook, Markdown,
LaTeX, JSON, CSV, data frames and flat numbers of these. :class:`Table` holds values; digits and marks are the form's.
"""

from abstain._result._base import Result
from abstain._result._caveats import CAVEATS, Caveat, Severity, planned_rows
from abstain._result._glossary import WORDS, summary
from abstain._result._markup import prose
from abstain._result._plain import as_polars, json_text, plain
from abstain._result._said import SENTENCES, said
from abstain._result._sentence import ALL_READ, NO_FOREIGN, NO_GROUPS, NOTHING, QUESTIONS, SIGNS, USABLE
from abstain._result._spoken import Amount, Counted, about, among, limits, p_value, percent, readable
from abstain._result._table import Cell, Column, Estimate, Row, Table, arrow
from abstain._result._text import of_result, rich_lines
from abstain._result._verdict import Better, Level, Status, Verdict
from abstain._result._words import clean, decimals, fixed, number, short, width, wrapped

__all__ = [
    "ALL_READ",
    "CAVEATS",
    "NOTHING",
    "NO_FOREIGN",
    "NO_GROUPS",
    "QUESTIONS",
    "SENTENCES",
    "SIGNS",
    "USABLE",
    "WORDS",
    "Amount",
    "Better",
    "Caveat",
    "Cell",
    "Column",
    "Counted",
    "Estimate",
    "Level",
    "Result",
    "Row",
    "Severity",
    "Status",
    "Table",
    "Verdict",
    "about",
    "among",
    "arrow",
    "as_polars",
    "clean",
    "decimals",
    "fixed",
    "json_text",
    "limits",
    "number",
    "of_result",
    "p_value",
    "percent",
    "plain",
    "planned_rows",
    "prose",
    "readable",
    "rich_lines",
    "said",
    "short",
    "summary",
    "width",
    "wrapped",
]  # fmt: skip
