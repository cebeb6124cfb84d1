"""Figures: each a display object that is drawn from results; one list of them for all who ask."""

from abstain.plots._augrc import AUGRCGeometryDisplay, AUGRCSurfaceDisplay, ContributionsDisplay
from abstain.plots._columns import band_of as band_of  # for the report
from abstain.plots._comparisons import AgreementDisplay, ForestDisplay, GroupsDisplay
from abstain.plots._comparisons import GroupRow as GroupRow
from abstain.plots._confident_failures import ConfidentFailuresDisplay
from abstain.plots._confident_failures import Failures as Failures
from abstain.plots._display import Display
from abstain.plots._display import settings as settings  # for the report
from abstain.plots._estimates import EstimatesByScoreDisplay, EstimatesDisplay
from abstain.plots._joint import F1SurfaceDisplay, FrontierDisplay
from abstain.plots._models import Axis, MetricBarsDisplay, MetricPlaneDisplay
from abstain.plots._monitoring import MonitoringDisplay
from abstain.plots._rankings import RankFlowDisplay, RankingsDisplay, RankWeightsDisplay
from abstain.plots._registry import FAMILIES as FAMILIES  # for the gallery
from abstain.plots._registry import Plot as Plot
from abstain.plots._registry import get, names
from abstain.plots._risk_coverage import RiskCoverageDisplay as RiskCoverageDisplay  # public at the top of the package
from abstain.plots._scores import ReliabilityDisplay, ScoreHistogramDisplay
from abstain.plots._thresholds import CWSASweepDisplay, TradeOffDisplay

__all__ = ["AUGRCGeometryDisplay", "AUGRCSurfaceDisplay", "AgreementDisplay", "Axis", "CWSASweepDisplay"]
__all__ += ["ConfidentFailuresDisplay", "ContributionsDisplay", "Display", "EstimatesByScoreDisplay"]
__all__ += ["EstimatesDisplay", "F1SurfaceDisplay", "ForestDisplay", "FrontierDisplay", "GroupsDisplay"]
__all__ += ["MetricBarsDisplay", "MetricPlaneDisplay", "MonitoringDisplay", "RankFlowDisplay", "RankWeightsDisplay"]
__all__ += ["RankingsDisplay", "ReliabilityDisplay", "ScoreHistogramDisplay", "TradeOffDisplay", "get", "names"]
