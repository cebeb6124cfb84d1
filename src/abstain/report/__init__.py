"""Results for people: plain text, rich tables, one self-contained HTML page, and plots.

A result becomes plain tables first (``_tables``); each renderer turns the same tables into its form.
"""

from abstain.report._display import RiskCoverageDisplay, quiet
from abstain.report._extras import need
from abstain.report._html import as_html_page, as_html_table
from abstain.report._tables import clean
from abstain.report._text import as_rich, as_text

__all__ = ["RiskCoverageDisplay", "as_html_page", "as_html_table", "as_rich", "as_text", "clean", "need", "quiet"]
