"""The tie-block table: what nearly every metric of a reject option is a function of."""

from abstain.blocks._parts import Moments, Samples
from abstain.blocks._table import TieBlocks

__all__ = ["Moments", "Samples", "TieBlocks"]
