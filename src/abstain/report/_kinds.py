"""Which leaf of this room knows a kind of result, and what its page is called."""

from __future__ import annotations

from abstain._result import Result

#: Class of a result: the leaf that has its sections, and the usual title.
KINDS = {
    "Evaluation": ("_evaluation", "Evaluation of a reject option"),
    "Comparison": ("_comparison", "Comparison of scores or models"),
    "Threshold": ("_threshold", "A threshold"),
    "GroupThresholds": ("_threshold", "Thresholds by group"),
    "Monitoring": ("_monitoring", "Watching a promise"),
    "ProtocolResult": ("_joint", "Failures and foreign inputs together"),
    "StudyResults": ("_study", "A study"),
    "GroupComparison": ("_groups", "Comparison of groups"),
    "NonInferiority": ("_margin", "Not worse by more than a margin"),
    "Result": ("_any", "A result"),
}


def leaf_of(result: Result) -> tuple[str, str]:
    """Return the leaf that has the sections of a result, and the usual title of its page."""
    return next(KINDS[base.__name__] for base in type(result).__mro__ if base.__name__ in KINDS)
