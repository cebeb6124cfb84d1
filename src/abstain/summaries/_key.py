"""The key of a summary: which bin a score falls into, the same on every machine, in every engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from abstain._checks import one_of, refuse, whole
from abstain._typing import FloatArray, IntArray

Scale = Literal["probability", "real"]
#: What a file says it is; a change of the key or of the columns is another number.
FORMAT = "abstain.summary/1"
#: The same of a file of groups, each with bins of its own.
OF_GROUPS = "abstain.groups/1"
#: The same of a file of cells of two scores.
OF_CELLS = "abstain.cells/1"
#: Binary orders of magnitude below 1 that bins tell apart: all that 1 - p can have in float64, and those of a score.
ORDERS = {"probability": 53, "real": 32}
#: Least and most bits of a key.
FEWEST, MOST = 8, 20

#: Columns of the bins: type, what an empty bin holds, and how those of two parts combine.
COLUMNS: dict[str, tuple[Any, float, Any]] = {
    "n": (np.int64, 0, np.add),
    "loss_sum": (np.float64, 0.0, np.add),
    "other_losses": (np.int64, 0, np.add),
    "largest_loss": (np.float64, 0.0, np.maximum),
    "lowest": (np.float64, np.inf, np.minimum),
    "highest": (np.float64, -np.inf, np.maximum),
}


@dataclass(frozen=True)
class Key:
    r"""From a score to its bin; bins ascend as scores descend.

    ``"probability"``: the leading bits of 1 - p as float64, whose spacing is finest near p = 1, where the scores of a
    good classifier are (bits of p itself would be as coarse there as equal widths). ``"real"``: sign and leading bits
    of the score, in size from 2^-32 to 2^32; what is nearer to zero or further away shares the bins at the ends. The
    last bin holds -inf alone, which is a row without a score.

    Every step is exact in IEEE arithmetic, so that the bits can be had by comparing and multiplying with powers of two,
    too: see ``_sql.py``. A logarithm could not be used, as its last digit differs between libraries.

    Parameters
    ----------
    scale : {"probability", "real"}
    bits : int
        2**bits bins.

    Examples
    --------
    >>> from abstain.summaries import Key
    >>> Key("probability").of([1.0, 0.999, 0.5]).tolist(), Key("real").of([3.0, -1.0]).tolist()
    ([0, 44057, 53249], [15615, 49152])
    """

    scale: Scale = "probability"
    bits: int = 16

    def __post_init__(self) -> None:
        one_of(self.scale, ("probability", "real"), "scale")
        if whole(self.bits, "bits", usual=16) < FEWEST or self.bits > MOST:
            raise ValueError(f"bits must lie between {FEWEST} and {MOST}, got {self.bits!r}; 16 is usual")

    @property
    def bins(self) -> int:
        """Number of bins."""
        return 1 << self.bits

    @property
    def name(self) -> str:
        """The name in files, as ``"probability/16"``: summaries of one name add up."""
        return f"{self.scale}/{self.bits}"

    @classmethod
    def named(cls, name: str) -> Key:
        """Return the key of a name."""
        scale, _, bits = name.partition("/")
        if scale not in ORDERS or not bits.isdecimal():
            raise ValueError(f"the key {name!r} is not known; known: probability/BITS, real/BITS")
        return cls(scale, int(bits))  # type: ignore[arg-type]

    @property
    def orders(self) -> int:
        """Binary orders of magnitude below 1 that are told apart."""
        return ORDERS[self.scale]

    @property
    def steps(self) -> int:
        """Bits of a bin within one order of magnitude: 64 orders, and for scores two signs."""
        return self.bits - (6 if self.scale == "probability" else 7)

    def checked(self, score: FloatArray, name: str, nan_policy: Literal["raise", "reject"] | None) -> FloatArray:
        """Return scores for which there is a bin, -inf in the place of NaN where that is rejected; refuse others."""
        if score.min() >= 0.0 and score.max() <= 1.0:  # nearly always, and no NaN is
            return score
        if nan_policy == "reject":
            score = np.where(np.isnan(score), -np.inf, score)
        remedy = 'repair the scores, or pass nan_policy="reject" (ranked last, never accepted)'
        if nan_policy is None:
            remedy = "give every row a score; -inf is accepted last"
        refuse(np.isnan(score), score, name, "holds NaN", remedy, np)
        if self.scale == "probability":
            outside = ((score < 0.0) & (score > -np.inf)) | (score > 1.0)
            refuse(outside, score, name, "lies outside [0, 1]", 'make the summary with scale="real"', np)
        return score

    def of(self, confidence: FloatArray) -> IntArray:
        """Return the bins of scores, float64 and not NaN; those of probabilities lie in [0, 1] or are -inf."""
        score = np.asarray(confidence, dtype=np.float64)
        missing = np.flatnonzero(score == -np.inf)
        magnitude = 1.0 - score if self.scale == "probability" else np.abs(score)
        found = magnitude.view(np.int64)  # the magnitude is a new array
        found >>= 52 - self.steps
        found -= (1023 - self.orders) << self.steps
        if self.scale == "probability":
            found += 1  # bin 0: p = 1
            np.maximum(found, 0, out=found)
        else:
            half = self.bins >> 1
            np.clip(found, 0, half - 1, out=found)
            found = np.where(score > 0.0, half - 1 - found, np.minimum(half + found, self.bins - 2))
        found[missing] = self.bins - 1
        result: IntArray = found
        return result
