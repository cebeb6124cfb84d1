"""Bounded summaries: what rows leave behind in constant memory, with bounds that no order of the rows can leave."""

from abstain.summaries._bounds import Bins as Bins  # for the live metric
from abstain.summaries._bounds import Bounds as Bounds
from abstain.summaries._bounds import bounds_of as bounds_of  # likewise
from abstain.summaries._bounds import lacking as lacking  # likewise
from abstain.summaries._file import is_summary as is_summary  # likewise
from abstain.summaries._groups import GroupedSummary
from abstain.summaries._joint import JointSummary
from abstain.summaries._key import COLUMNS as COLUMNS  # likewise
from abstain.summaries._key import Key, sql
from abstain.summaries._key import Scale as Scale
from abstain.summaries._results import Bounded as Bounded
from abstain.summaries._results import GroupedResult as GroupedResult
from abstain.summaries._results import JointBounded as JointBounded
from abstain.summaries._results import JointResult as JointResult
from abstain.summaries._results import SummaryResult as SummaryResult
from abstain.summaries._scan import files_of as files_of  # for the command
from abstain.summaries._scan import read_summary, summarize, summarize_joint
from abstain.summaries._summary import Summary

__all__ = ["GroupedSummary", "JointSummary", "Key", "Summary", "read_summary", "sql", "summarize", "summarize_joint"]
