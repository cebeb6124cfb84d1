"""What a policy says of many rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from abstain._typing import BoolArray, FloatArray, IntArray
from abstain.policy._plain import ACCEPTED, REASONS, Decision


class Decisions:
    """Decisions on many rows, as arrays.

    Parameters
    ----------
    codes : ndarray of int8
        Reasons by their place in ``REASONS``.
    score, threshold : ndarray of float
        As in :class:`Decision`, of every row.

    Examples
    --------
    >>> import abstain
    >>> policy = abstain.choose_threshold([0, 1, 0], [0.9, 0.2, 0.6], coverage=0.5).policy(score="msp")
    >>> found = policy.decide([0.7, 0.5, float("nan")])
    >>> found.accepted.tolist(), found.reason.tolist()
    ([True, False, False], ['accepted', 'below_threshold', 'missing_score'])
    >>> found
    Decisions(n=3, accepted=1, below_threshold=1, missing_score=1)
    """

    __slots__ = ("codes", "score", "threshold")

    def __init__(self, codes: IntArray, score: FloatArray, threshold: FloatArray) -> None:
        self.codes, self.score, self.threshold = codes, score, threshold

    @property
    def accepted(self) -> BoolArray:
        """Return which rows are answered."""
        return np.asarray(self.codes == ACCEPTED)

    @property
    def reason(self) -> Any:
        """Return the reason of every row, as text."""
        return np.array(REASONS)[self.codes]

    @property
    def counts(self) -> dict[str, int]:
        """Return how many rows have each reason; they add up to the number of rows."""
        found = np.bincount(self.codes, minlength=len(REASONS))
        return {reason: int(count) for reason, count in zip(REASONS, found, strict=True)}

    def __len__(self) -> int:
        return len(self.codes)

    def __bool__(self) -> bool:
        if len(self) != 1:
            raise ValueError(f"the truth of {len(self)} decisions is ambiguous; take .accepted, or one of them")
        return bool(self[0])

    def __getitem__(self, row: int) -> Decision:
        reason = REASONS[self.codes[row]]
        return Decision(reason == "accepted", reason, float(self.score[row]), float(self.threshold[row]))

    def __iter__(self) -> Iterator[Decision]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        shown = "".join(f", {reason}={count}" for reason, count in self.counts.items() if count)
        return f"Decisions(n={len(self)}{shown})"
