"""What a service loads: policies and their decisions, with NumPy alone.

Scores other than the common ones, frames and words of abstention load what they need when they are first used.
"""

from abstain.policy._decisions import Decisions
from abstain.policy._file import load_policy as load_policy
from abstain.policy._groups import accept_by_group as accept_by_group
from abstain.policy._groups import group_column as group_column
from abstain.policy._inputs import compute
from abstain.policy._inputs import inputs_of as inputs_of
from abstain.policy._plain import REASONS as REASONS
from abstain.policy._plain import TRUTH as TRUTH
from abstain.policy._plain import Decision
from abstain.policy._plain import group_name as group_name
from abstain.policy._plain import span as span
from abstain.policy._policy import Policy
from abstain.policy._reading import ScoreReading, score_reading
from abstain.policy._schema import schema

# What is imported under its own name is public at the top of the package, or serves the rooms above.
__all__ = ["Decision", "Decisions", "Policy", "ScoreReading", "compute", "schema", "score_reading"]
