"""Bounded summaries: what rows leave behind in constant memory, with bounds that no order of the rows can leave.

The names are listed in ``__init__.pyi``, and each is loaded when it is first used.
"""

from abstain._lazy import on_demand

__getattr__, __dir__ = on_demand(__name__)

__all__ = ["GroupedSummary", "JointSummary", "Key", "Summary", "read_summary", "sql", "summarize", "summarize_joint"]
