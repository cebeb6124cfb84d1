"""Pages and plots of results: above all rooms, and called by them inside ``.plot()`` and ``.report()`` only."""

from abstain.report._display import RiskCoverageDisplay
from abstain.report._extras import need
from abstain.report._figure import Display, quiet
from abstain.report._html import as_html_page
from abstain.report._joint import plot_f1_surface, plot_frontiers

__all__ = [
    "Display", "RiskCoverageDisplay", "as_html_page", "need", "plot_f1_surface", "plot_frontiers", "quiet",
]  # fmt: skip
