"""Figures: one leaf each, a display object that is drawn from results; one list of them for all who ask."""

from abstain.plots._agreement import AgreementDisplay
from abstain.plots._augrc_geometry import AUGRCGeometryDisplay
from abstain.plots._augrc_surface import AUGRCSurfaceDisplay
from abstain.plots._columns import band_of as band_of  # for the room above
from abstain.plots._confident_failures import ConfidentFailuresDisplay, Failures
from abstain.plots._contributions import ContributionsDisplay
from abstain.plots._cwsa_sweep import CWSASweepDisplay
from abstain.plots._display import Display
from abstain.plots._estimates import EstimatesByScoreDisplay, EstimatesDisplay
from abstain.plots._f1_surface import F1SurfaceDisplay
from abstain.plots._forest import ForestDisplay
from abstain.plots._frontier import FrontierDisplay
from abstain.plots._groups import GroupRow, GroupsDisplay
from abstain.plots._metric_bars import MetricBarsDisplay
from abstain.plots._metric_plane import Axis, MetricPlaneDisplay
from abstain.plots._monitoring import MonitoringDisplay
from abstain.plots._rank_flow import RankFlowDisplay
from abstain.plots._rank_weights import RankWeightsDisplay
from abstain.plots._rankings import RankingsDisplay
from abstain.plots._registry import FAMILIES as FAMILIES  # for the gallery
from abstain.plots._registry import Plot, get, names
from abstain.plots._reliability import ReliabilityDisplay
from abstain.plots._risk_coverage import RiskCoverageDisplay as RiskCoverageDisplay  # public at the top of the package
from abstain.plots._score_histogram import ScoreHistogramDisplay
from abstain.plots._style import settings as settings  # for the room above
from abstain.plots._trade_off import TradeOffDisplay

__all__ = [
    "AUGRCGeometryDisplay",
    "AUGRCSurfaceDisplay",
    "AgreementDisplay",
    "Axis",
    "CWSASweepDisplay",
    "ConfidentFailuresDisplay",
    "ContributionsDisplay",
    "Display",
    "EstimatesByScoreDisplay",
    "EstimatesDisplay",
    "F1SurfaceDisplay",
    "Failures",
    "ForestDisplay",
    "FrontierDisplay",
    "GroupRow",
    "GroupsDisplay",
    "MetricBarsDisplay",
    "MetricPlaneDisplay",
    "MonitoringDisplay",
    "Plot",
    "RankFlowDisplay",
    "RankWeightsDisplay",
    "RankingsDisplay",
    "ReliabilityDisplay",
    "ScoreHistogramDisplay",
    "TradeOffDisplay",
    "get",
    "names",
]
