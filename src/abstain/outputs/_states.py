"""The four states of an answer, and the verdicts by which people and graders say them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from abstain._checks import closest
from abstain._typing import ArrayLike, BoolArray, FloatArray, IntArray
from abstain.outputs._objects import column as as_column
from abstain.outputs._objects import values_of

#: The four states of an answer, by their number.
STATES = ("correct", "wrong", "abstained", "unscored")
CORRECT, WRONG, ABSTAINED, UNSCORED = range(4)

#: Words that graders use, in lower case with blanks for signs, and what they say: a state, and the loss of an answer.
WORDS: dict[str, tuple[int, float]] = {
    **dict.fromkeys(("correct", "right", "true", "yes", "pass", "passed", "1", "1.0"), (CORRECT, 0.0)),
    **dict.fromkeys(("wrong", "incorrect", "false", "no", "fail", "failed", "0", "0.0"), (WRONG, 1.0)),
    **dict.fromkeys(("partial", "partially correct", "partly correct"), (WRONG, 0.5)),
    **dict.fromkeys(
        ("abstained", "abstain", "abstention", "refused", "refusal", "declined", "no answer", "noanswer",
         "not attempted", "idk", "i don t know", "i do not know"),
        (ABSTAINED, np.nan),
    ),
    **dict.fromkeys(
        ("unscored", "unparseable", "unparsable", "invalid", "error", "not graded", "ungraded"), (UNSCORED, np.nan)
    ),
}  # fmt: skip
#: Letters of Inspect, which mean this only where no other value occurs.
LETTERS = {"c": "correct", "i": "incorrect", "p": "partial", "n": "abstained"}


def graded(column: ArrayLike, name: str) -> tuple[IntArray, FloatArray, BoolArray]:
    """Return state and loss of each answer, and where the column says nothing at all.

    Parameters
    ----------
    column : array-like
        Truth values, 0 and 1, or words of graders.
    name : str
        What messages call it.

    Returns
    -------
    state : ndarray of int
        Index into ``STATES``; a missing verdict is unscored.
    loss : ndarray of float
        0 right, 1 wrong, 0.5 in part, NaN where there is none.
    missing : ndarray of bool
        No verdict, not even that there is none.
    """
    values = as_column(values_of(column))
    if values.dtype.kind in "biuf":
        return _numbers(values.astype(float), name)
    said = [None if value is None else _plain(str(value)) for value in values]
    given = {word for word in said if word}
    letters = given <= LETTERS.keys()
    state, loss = np.full(len(said), UNSCORED), np.full(len(said), np.nan)
    for at, word in enumerate(said):
        if word:
            known = LETTERS[word] if letters else word
            if known not in WORDS:
                raise ValueError(
                    f"{name}[{at}] = {values[at]!r} is no verdict that is known; {closest(known, WORDS)}, "
                    "or give 1 for right and 0 for wrong"
                )
            state[at], loss[at] = WORDS[known]
    return state, loss, np.array([not word for word in said])


def abstains(word: str) -> bool:
    """Whether a word in the place of an answer says that there is none."""
    return WORDS.get(_plain(word).strip(". "), (CORRECT,))[0] == ABSTAINED


def truth(column: ArrayLike, name: str) -> BoolArray:
    """Return a column of yes and no, in any of the usual spellings; a missing value is no."""
    values = as_column(values_of(column))
    if values.dtype.kind in "biuf":
        numbers = values.astype(float)
        odd = ~np.isnan(numbers) & (numbers != 0) & (numbers != 1)
        if odd.any():
            row = int(np.argmax(odd))
            raise ValueError(f"{name}[{row}] = {numbers[row]:g} is neither yes nor no; give truth values, or 1 and 0")
        return np.asarray(numbers == 1.0)
    yes, no = {"true", "yes", "1", "1 0", "y", "t"}, {"false", "no", "0", "0 0", "n", "f", ""}
    said = ["" if value is None else _plain(str(value)) for value in values]
    bad = next((at for at, word in enumerate(said) if word not in yes | no), None)
    if bad is not None:
        raise ValueError(f"{name}[{bad}] = {values[bad]!r} is neither yes nor no; give truth values, or 1 and 0")
    return np.array([word in yes for word in said])


def declined(column: ArrayLike, name: str, part: str = "abstained", *, strict: bool = True) -> BoolArray:
    """Return which rows the model itself did not answer, by a column of yes and no, of verdicts or of answers.

    A column of yes and no may be one of answers too, if some of them say that they are none; without ``strict`` even if
    none does, as in a part of a file.
    """
    if part == "correct":
        return np.asarray(graded(column, name)[0] == ABSTAINED)
    values = values_of(column)
    said = np.array([isinstance(value, str) and abstains(value) for value in values], dtype=bool)
    if part == "predictions" or said.any():
        return said
    try:
        return truth(column, name)
    except ValueError:
        if strict or not any(isinstance(value, str) for value in values):
            raise
        return said


def _plain(word: str) -> str:
    return " ".join("".join(sign if sign.isalnum() or sign == "." else " " for sign in word.lower()).split())


def _numbers(values: FloatArray, name: str) -> tuple[IntArray, FloatArray, BoolArray]:
    missing = np.isnan(values)
    odd = ~missing & (values != 0.0) & (values != 1.0)
    if odd.any():
        row = int(np.argmax(odd))
        raise ValueError(
            f"{name}[{row}] = {values[row]:g} is neither right (1) nor wrong (0); shares of a perfect answer are a "
            "quality: give quality= instead"
        )
    state = np.where(missing, UNSCORED, np.where(values == 1.0, CORRECT, WRONG))
    return state, 1.0 - values, missing


#: What the first two states are called where losses are graded: a quality below 1 is not wrong.
GRADED = {"correct": "perfect", "wrong": "not perfect"}


@dataclass(frozen=True, eq=False)
class States:
    """The outcome of every question, those without an answer included.

    ``Outputs`` holds the rows that have a loss; this is what stands next to them.

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
    clusters: ArrayLike = None
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
        """Return these states with the losses of the kept rows, which labels and predictions showed."""
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
