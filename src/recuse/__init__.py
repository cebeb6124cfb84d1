"""recuse: risk, coverage and abstention for classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recuse import datasets, losses, metrics, scores
from recuse._checks import UndefinedMetricWarning, UnmetNeed
from recuse.blocks import Moments, Samples, TieBlocks
from recuse.curve import OperatingPoint, RiskCoverageCurve, risk_coverage_curve
from recuse.evaluation import Evaluation, Measurement, ScoreSummary, evaluate
from recuse.metrics import *
from recuse.outputs import Outputs, read_outputs, write_outputs

if TYPE_CHECKING:
    from recuse.report import RiskCoverageDisplay

__version__ = "0.1.0"

__all__ = [
    "Evaluation",
    "Measurement",
    "Moments",
    "OperatingPoint",
    "Outputs",
    "RiskCoverageCurve",
    "RiskCoverageDisplay",
    "Samples",
    "ScoreSummary",
    "TieBlocks",
    "UndefinedMetricWarning",
    "UnmetNeed",
    "__version__",
    "datasets",
    "evaluate",
    "losses",
    "metrics",
    "read_outputs",
    "risk_coverage_curve",
    "scores",
    "write_outputs",
]
__all__ += metrics.FUNCTIONS


def __getattr__(name: str) -> Any:
    """Load what needs more than the core only when it is asked for."""
    if name == "RiskCoverageDisplay":
        from recuse.report import RiskCoverageDisplay

        return RiskCoverageDisplay
    raise AttributeError(f"module 'recuse' has no attribute {name!r}")
