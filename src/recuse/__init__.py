"""recuse: risk, coverage and abstention for classifiers."""

from recuse import metrics
from recuse._checks import UndefinedMetricWarning, UnmetNeed
from recuse.blocks import Moments, Samples, TieBlocks
from recuse.curve import OperatingPoint, RiskCoverageCurve, risk_coverage_curve
from recuse.metrics import *

__version__ = "0.1.0"

__all__ = [
    "Moments",
    "OperatingPoint",
    "RiskCoverageCurve",
    "Samples",
    "TieBlocks",
    "UndefinedMetricWarning",
    "UnmetNeed",
    "__version__",
    "metrics",
    "risk_coverage_curve",
]
__all__ += metrics.FUNCTIONS
