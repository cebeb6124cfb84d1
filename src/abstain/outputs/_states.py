"""The four states of an answer: correct, wrong, abstained by the model itself, unscored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from abstain._typing import BoolArray, FloatArray, IntArray
from abstain.outputs._grades import ABSTAINED, CORRECT, STATES, UNSCORED, WRONG

#: What the first two states are called where losses are graded: a quality below 1 is not wrong.
GRADED = {"correct": "perfect", "wrong": "not perfect"}


@dataclass(frozen=True, eq=False)
class States:
    """What became of every question, those without an answer included.

    ``Outputs`` holds the rows that have a loss; this is what stands beside them.

    Parameters
    ----------
    state : ndarray of int of shape (n,)
        0 correct (loss 0), 1 wrong (loss above 0), 2 abstained by the model itself, 3 unscored.
    loss : ndarray of float of shape (n,)
        Loss of the answer; NaN where there is none.
    unscored : "wrong", "drop" or None
        Whether unscored answers count as wrong or are left out; None where there are none.
    should_abstain : ndarray of bool of shape (n,), optional
        Whether the model ought to have abstained: the question has no answer.
    clusters, sample_weight : ndarray of shape (n,), optional
        Of the rows.

    Examples
    --------
    >>> import abstain
    >>> verdicts = ["right", "wrong", "abstained", "right"]
    >>> outputs = abstain.read_outputs({"correct": verdicts, "confidence": [3, 1, 0, 2]})
    >>> outputs.n, outputs.states.counts
    (3, {'correct': 2, 'wrong': 1, 'abstained': 1, 'unscored': 0})
    """

    state: IntArray
    loss: FloatArray
    unscored: Literal["wrong", "drop"] | None = None
    should_abstain: BoolArray | None = None
    clusters: Any = None
    sample_weight: FloatArray | None = None

    @property
    def n(self) -> int:
        """Number of questions."""
        return len(self.state)

    @property
    def counts(self) -> dict[str, int]:
        """Number of questions in each state; they add up to ``n``."""
        return {name: int(np.sum(self.state == number)) for number, name in enumerate(STATES)}

    @property
    def graded(self) -> bool:
        """Whether answers are more than right or wrong: some loss is neither 0 nor 1."""
        given = self.loss[self.answered]
        return bool(((given != 0.0) & (given != 1.0)).any())

    @property
    def answered(self) -> BoolArray:
        """Which questions were answered and judged."""
        return np.asarray((self.state == CORRECT) | (self.state == WRONG))

    @property
    def kept(self) -> BoolArray:
        """Which rows an evaluation sees: the answers, and unscored ones where these count as wrong."""
        return np.asarray(self.answered | ((self.state == UNSCORED) & (self.unscored == "wrong")))

    def judged(self, loss: FloatArray) -> States:
        """Return these states with the losses of the kept rows, which labels and predictions have told."""
        kept, full = self.kept, np.array(self.loss)
        full[kept] = loss
        state = np.array(self.state)
        state[kept & self.answered] = np.where(full > 0.0, WRONG, CORRECT)[kept & self.answered]
        return replace(self, state=state, loss=full)

    def rates(self) -> dict[str, tuple[BoolArray, FloatArray | BoolArray]]:
        """Return the shares that are asked for: by name, the rows that count, and the values whose mean it is.

        Coverage counts answers among questions that were judged; accuracy is that of the answers alone (1 - loss).
        Over-refusal and missed abstention need ``should_abstain``.
        """
        judged = self.state != UNSCORED
        abstained = self.state == ABSTAINED
        found: dict[str, tuple[BoolArray, FloatArray | BoolArray]] = {
            "answered": (judged, ~abstained),
            "accuracy of answers": (self.answered, 1.0 - np.nan_to_num(self.loss)),
        }
        if self.should_abstain is not None:
            found["over-refusal"] = (judged & ~self.should_abstain, abstained)
            found["missed abstention"] = (judged & self.should_abstain, ~abstained)
        return found

    def __str__(self) -> str:
        called = GRADED if self.graded else {}
        text = " · ".join(f"{count} {called.get(name, name)}" for name, count in self.counts.items())
        return f"{self.n} questions: {text}" + (
            {"wrong": " (counted as wrong)", "drop": " (left out)"}.get(self.unscored or "", "")
        )
