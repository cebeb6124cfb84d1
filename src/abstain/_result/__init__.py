"""What every result is: tables and notes, and the forms that are made from them in one place.

A class gives ``tables()``, ``notes()`` and ``rows()``; :class:`Result` makes text, terminal, notebook, Markdown,
LaTeX, JSON, CSV, data frames and flat numbers of these. :class:`Table` holds values; digits and marks are the form's.
"""

from abstain._result._base import Result
from abstain._result._caveats import CAVEATS, Caveat, Severity, out_of_reach
from abstain._result._glossary import WORDS, summary
from abstain._result._markup import prose
from abstain._result._plain import as_polars, json_text, plain
from abstain._result._spoken import SPOKEN, about, among, p_value, percent, readable
from abstain._result._table import Cell, Column, Estimate, Row, Table, arrow
from abstain._result._text import of_result, plain_text, rich_lines
from abstain._result._verdict import CAVEATS_SHOWN, CERTIFYING, NOTHING, Better, Level, Status, Verdict
from abstain._result._verdict_lines import lines_of
from abstain._result._words import clean, decimals, fixed, number, short, width, wrapped

__all__ = [
    "CAVEATS",
    "CAVEATS_SHOWN",
    "CERTIFYING",
    "NOTHING",
    "SPOKEN",
    "WORDS",
    "Better",
    "Caveat",
    "Cell",
    "Column",
    "Estimate",
]
__all__ += ["Level", "Result", "Row", "Severity", "Status", "Table", "Verdict", "about", "among"]
__all__ += ["arrow", "as_polars", "clean", "decimals", "fixed", "json_text", "lines_of", "number", "of_result"]
__all__ += ["out_of_reach", "p_value", "percent", "plain", "plain_text", "prose", "readable", "rich_lines", "short"]
__all__ += ["summary", "width", "wrapped"]
