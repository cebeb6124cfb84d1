"""Pages and plots of results: above all rooms, and called by them inside ``.plot()`` and ``.report()`` only."""

from abstain.report._display import RiskCoverageDisplay, quiet
from abstain.report._extras import need
from abstain.report._html import as_html_page

__all__ = ["RiskCoverageDisplay", "as_html_page", "need", "quiet"]
