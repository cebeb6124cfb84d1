"""The tie-block table: what nearly every metric of a reject option is a function of."""

from abstain.blocks._table import Moments, Samples, TieBlocks

__all__ = ["Moments", "Samples", "TieBlocks"]
