"""What a service loads: policies and their decisions, with NumPy alone.

Scores other than the common ones, frames and words of abstention load what they need when they are first used.
"""

from abstain.policy._contents import Calibration as Calibration
from abstain.policy._contents import Guarantee as Guarantee
from abstain.policy._contents import Objective as Objective
from abstain.policy._contents import Record as Record
from abstain.policy._contents import Score as Score
from abstain.policy._contents import SecondScore as SecondScore
from abstain.policy._contents import statement as statement
from abstain.policy._decide import Decisions as Decisions
from abstain.policy._decide import accept_by_group as accept_by_group
from abstain.policy._decide import decisions as decisions
from abstain.policy._decide import drawn_rows as drawn_rows
from abstain.policy._decide import group_column as group_column
from abstain.policy._decide import row_names as row_names
from abstain.policy._decide import said_declined_by as said_declined_by
from abstain.policy._file import load_policy as load_policy
from abstain.policy._file import schema
from abstain.policy._plain import ACCEPTED as ACCEPTED
from abstain.policy._plain import DECLINED as DECLINED
from abstain.policy._plain import MISSING as MISSING
from abstain.policy._plain import REASONS as REASONS
from abstain.policy._plain import TRUTH as TRUTH
from abstain.policy._plain import UNKNOWN as UNKNOWN
from abstain.policy._plain import Decision as Decision
from abstain.policy._plain import group_name as group_name
from abstain.policy._plain import span as span
from abstain.policy._policy import Policy
from abstain.policy._reading import KEPT as KEPT
from abstain.policy._reading import ScoreReading as ScoreReading
from abstain.policy._reading import score_reading
from abstain.policy._scores import compute
from abstain.policy._scores import inputs_of as inputs_of

# What is imported under its own name is public at the top of the package, or serves the packages above.
__all__ = ["Policy", "compute", "schema", "score_reading"]
