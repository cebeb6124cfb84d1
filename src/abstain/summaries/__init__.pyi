"""Names of the package; each is loaded when it is first used."""

from abstain.summaries._bounds import Bins as Bins
from abstain.summaries._bounds import Bounds as Bounds
from abstain.summaries._bounds import bounds_of as bounds_of
from abstain.summaries._bounds import lacking as lacking
from abstain.summaries._file import is_summary as is_summary
from abstain.summaries._groups import GroupedSummary as GroupedSummary
from abstain.summaries._joint import JointSummary as JointSummary
from abstain.summaries._key import COLUMNS as COLUMNS
from abstain.summaries._key import Key as Key
from abstain.summaries._key import Scale as Scale
from abstain.summaries._key import sql as sql
from abstain.summaries._results import Bounded as Bounded
from abstain.summaries._results import GroupedResult as GroupedResult
from abstain.summaries._results import JointBounded as JointBounded
from abstain.summaries._results import JointResult as JointResult
from abstain.summaries._results import SummaryResult as SummaryResult
from abstain.summaries._scan import files_of as files_of
from abstain.summaries._scan import read_summary as read_summary
from abstain.summaries._scan import summarize as summarize
from abstain.summaries._scan import summarize_joint as summarize_joint
from abstain.summaries._summary import Summary as Summary
