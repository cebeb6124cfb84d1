"""``evaluate``: saved outputs in, a readable and traceable evaluation of their reject option out."""

from abstain.evaluation._evaluate import DEFAULT_METRICS, evaluate
from abstain.evaluation._result import Evaluation, Measurement, ScoreSummary

__all__ = ["DEFAULT_METRICS", "Evaluation", "Measurement", "ScoreSummary", "evaluate"]
