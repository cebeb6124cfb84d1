"""Pages of results: above all rooms, and called by them inside ``.report()`` only."""

from abstain.report._html import as_html_page as as_html_page
