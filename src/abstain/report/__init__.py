"""Pages and plots of results: above all rooms, and called by them inside ``.plot()`` and ``.report()`` only."""

from abstain.report._display import RiskCoverageDisplay as RiskCoverageDisplay
from abstain.report._figure import Display as Display
from abstain.report._figure import quiet as quiet
from abstain.report._html import as_html_page as as_html_page
from abstain.report._joint import plot_f1_surface as plot_f1_surface
from abstain.report._joint import plot_frontiers as plot_frontiers
