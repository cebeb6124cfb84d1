"""recuse: risk, coverage and abstention for classifiers.

``import recuse`` loads nothing but this page; every name below is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see
    from recuse import datasets as datasets
    from recuse import inference as inference
    from recuse import joint as joint
    from recuse import losses as losses
    from recuse import metrics as metrics
    from recuse import nn as nn
    from recuse import scores as scores
    from recuse import thresholds as thresholds
    from recuse._checks import UndefinedMetricWarning as UndefinedMetricWarning
    from recuse._checks import UnmetNeed as UnmetNeed
    from recuse.blocks import Moments as Moments
    from recuse.blocks import Samples as Samples
    from recuse.blocks import TieBlocks as TieBlocks
    from recuse.comparison import Comparison as Comparison
    from recuse.comparison import compare as compare
    from recuse.curve import OperatingPoint as OperatingPoint
    from recuse.curve import RiskCoverageCurve as RiskCoverageCurve
    from recuse.curve import risk_coverage_curve as risk_coverage_curve
    from recuse.evaluation import Evaluation as Evaluation
    from recuse.evaluation import Measurement as Measurement
    from recuse.evaluation import ScoreSummary as ScoreSummary
    from recuse.evaluation import evaluate as evaluate
    from recuse.inference import Interval as Interval
    from recuse.inference import RankingStudy as RankingStudy
    from recuse.inference import confidence_interval as confidence_interval
    from recuse.inference import ranking_study as ranking_study
    from recuse.inference import standard_error as standard_error
    from recuse.metrics import *
    from recuse.outputs import Outputs as Outputs
    from recuse.outputs import read_outputs as read_outputs
    from recuse.outputs import write_outputs as write_outputs
    from recuse.report import RiskCoverageDisplay as RiskCoverageDisplay
    from recuse.selection import Selection as Selection
    from recuse.selection import select as select
    from recuse.thresholds import CertifiedThreshold as CertifiedThreshold
    from recuse.thresholds import EmpiricalThreshold as EmpiricalThreshold
    from recuse.thresholds import choose_threshold as choose_threshold
    from recuse.thresholds import load_policy as load_policy
    from recuse.tuning import Candidate as Candidate
    from recuse.tuning import Tuning as Tuning
    from recuse.tuning import tune as tune

__version__ = "0.1.0"

_MODULES = ("datasets", "inference", "joint", "losses", "metrics", "scores", "thresholds")
_WINGS = ("nn",)  # need an optional library, so `from recuse import *` leaves them out
_HOMES = {
    "Candidate": "tuning",
    "CertifiedThreshold": "thresholds",
    "Comparison": "comparison",
    "EmpiricalThreshold": "thresholds",
    "Evaluation": "evaluation",
    "Interval": "inference",
    "Measurement": "evaluation",
    "Moments": "blocks",
    "OperatingPoint": "curve",
    "Outputs": "outputs",
    "RankingStudy": "inference",
    "RiskCoverageCurve": "curve",
    "RiskCoverageDisplay": "report",
    "Samples": "blocks",
    "ScoreSummary": "evaluation",
    "Selection": "selection",
    "TieBlocks": "blocks",
    "Tuning": "tuning",
    "UndefinedMetricWarning": "_checks",
    "UnmetNeed": "_checks",
    "choose_threshold": "thresholds",
    "compare": "comparison",
    "confidence_interval": "inference",
    "evaluate": "evaluation",
    "load_policy": "thresholds",
    "ranking_study": "inference",
    "read_outputs": "outputs",
    "risk_coverage_curve": "curve",
    "select": "selection",
    "standard_error": "inference",
    "tune": "tuning",
    "write_outputs": "outputs",
}


def __getattr__(name: str) -> Any:
    """Load a public name: from its home, or from ``recuse.metrics``, whose leaves list their own."""
    from importlib import import_module

    if name in _MODULES or name in _WINGS:
        return import_module(f"recuse.{name}")
    if name in _HOMES:
        value = getattr(import_module(f"recuse.{_HOMES[name]}"), name)
    elif name == "__all__":
        value = sorted([*_MODULES, *_HOMES, *import_module("recuse.metrics").FUNCTIONS, "__version__"])
    elif not name.startswith("_") and name in import_module("recuse.metrics").FUNCTIONS:
        value = getattr(import_module("recuse.metrics"), name)
    else:
        raise AttributeError(f"module 'recuse' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
