"""Outputs evaluated, models compared, candidates selected, scores tuned: each a :class:`abstain.Result`."""

from abstain.evaluation._compare import compare
from abstain.evaluation._comparison import Comparison
from abstain.evaluation._evaluate import DEFAULT_METRICS, evaluate
from abstain.evaluation._result import Evaluation, Measurement, ScoreSummary
from abstain.evaluation._select import Choice, Selection, select
from abstain.evaluation._tune import Candidate, Tuning, tune

__all__ = [
    "DEFAULT_METRICS",
    "Candidate",
    "Choice",
    "Comparison",
    "Evaluation",
    "Measurement",
    "ScoreSummary",
    "Selection",
    "Tuning",
    "compare",
    "evaluate",
    "select",
    "tune",
]  # fmt: skip
