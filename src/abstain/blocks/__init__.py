"""The tie-block table: what nearly every metric of a reject option is a function of.

The public spelling is ``abstain.TieBlocks``.
"""

from abstain.blocks._parts import Moments as Moments
from abstain.blocks._parts import Samples as Samples
from abstain.blocks._table import TieBlocks as TieBlocks
