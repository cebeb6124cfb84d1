"""The evaluation problem: ID and OOD rows with two scores, checked once, and the weight of the OOD rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from math import gcd
from typing import Any, NamedTuple

import array_api_compat
import numpy as np
import numpy.typing as npt

from abstain._checks import UnmetNeed, fraction, is_empty, refuse, same_length, to_numpy, vector
from abstain._typing import Array, ArrayLike, BoolArray, FloatArray, IntArray
from abstain.metrics import register

#: Declares a metric of ID and OOD samples.
joint_metric = partial(register, input="joint")
KindArray = npt.NDArray[np.int8]
#: What a row is: an ID sample that is classified right or wrong, or an OOD sample.
CORRECT, WRONG, OOD = 0, 1, 2
#: Integer arithmetic is exact as long as four times the squared weight sum stays below this.
LARGEST = 2**62


class Thresholds(NamedTuple):
    """A pair of thresholds: accept if and only if both scores reach theirs.

    ``confidence`` on the score of failures, ``detector`` on the score of OOD inputs; +inf
    rejects everything, -inf nothing.

    Examples
    --------
    >>> import abstain
    >>> inside = {"id_confidence": [0.9, 0.4], "id_detector": [2.0, 1.5]}
    >>> abstain.joint.ds_f1([0, 1], **inside, ood_confidence=[0.8], ood_detector=[0.5]).thresholds
    Thresholds(confidence=0.9, detector=2.0)
    """

    confidence: float
    detector: float


@dataclass(frozen=True, eq=False)
class Problem:
    """Checked columns, ID rows first; an ID row weighs ``id_weight``, an OOD row ``ood_weight``.

    Scores are floats, or integers from 0 on: ranks.
    """

    wrong: BoolArray
    confidence: FloatArray
    detector: FloatArray
    id_weight: float
    ood_weight: float
    prevalence: float | None

    @property
    def n_id(self) -> int:
        """Number of ID rows."""
        return int(self.wrong.size)

    @property
    def n_ood(self) -> int:
        """Number of OOD rows."""
        return int(self.confidence.size - self.wrong.size)

    @property
    def integer(self) -> bool:
        """Whether both weights are integers, so that comparisons are exact."""
        return isinstance(self.id_weight, int)

    @property
    def ratio(self) -> float:
        """Weight of an OOD row in units of an ID row."""
        return float(self.ood_weight / self.id_weight)

    @cached_property
    def kind(self) -> KindArray:
        """CORRECT, WRONG or OOD per row."""
        return np.concatenate([self.wrong.astype(np.int8), np.full(self.n_ood, OOD, dtype=np.int8)])

    def swapped(self) -> Problem:
        """Return the problem with the roles of the two scores exchanged."""
        return replace(self, confidence=self.detector, detector=self.confidence)

    def with_detector(self, column: FloatArray) -> Problem:
        """Return the problem with another detector score."""
        return replace(self, detector=column)

    def alone(self) -> Problem:
        """Return the problem of the confidence alone: a constant detector score."""
        return self.with_detector(np.zeros(self.confidence.size))

    def ranked(self) -> Problem:
        """Return the problem with ranks for scores: the same values, and far less sorting where many are calculated."""
        ranks: list[Any] = [np.unique(each, return_inverse=True)[1] for each in (self.confidence, self.detector)]
        return replace(self, confidence=ranks[0], detector=ranks[1])

    def rows(self, id_rows: IntArray, ood_rows: IntArray) -> Problem:
        """Return the problem on these rows; the OOD share of a stated prevalence stays as it is."""
        index = np.concatenate([id_rows, self.n_id + ood_rows])
        weights = _weights(id_rows.size, ood_rows.size, self.prevalence)
        return Problem(self.wrong[id_rows], self.confidence[index], self.detector[index], *weights, self.prevalence)

    def split(self, share: float, rng: np.random.Generator) -> tuple[Problem, Problem]:
        """Return a random share of the ID and of the OOD rows, and the rest; both keep the mix."""
        inside, outside = (_split(n, share, rng) for n in (self.n_id, self.n_ood))
        return self.rows(inside[0], outside[0]), self.rows(inside[1], outside[1])

    def at_prevalence(self, prevalence: float | None) -> Problem:
        """Return the same rows with another OOD share."""
        share, weights = _prevalence(self.n_id, self.n_ood, prevalence)
        return replace(self, id_weight=weights[0], ood_weight=weights[1], prevalence=share)


class Compared(NamedTuple):
    """A metric of both scores next to the same metric of the confidence alone: what a gain is the difference of.

    ``sign``: 1 if higher is better, else -1.
    """

    name: str
    name_of_one: str
    sign: int
    of_both: Callable[[Problem], float]
    of_one: Callable[[Problem], float]

    def gain(self, both: Any, one: Any) -> Any:
        """Return how much better both scores are: positive, whatever the direction."""
        return self.sign * (both - one)


def problem(
    id_loss: ArrayLike,
    id_confidence: ArrayLike,
    id_detector: ArrayLike,
    ood_confidence: ArrayLike,
    ood_detector: ArrayLike,
    prevalence: float | None = None,
) -> Problem:
    """Check the five columns and the prevalence; ID columns need a row, OOD columns may be empty."""
    wrong = errors(id_loss)
    first, second = score_column(id_confidence, "id_confidence"), score_column(id_detector, "id_detector")
    same_length(id_loss=wrong, id_confidence=first, id_detector=second)
    other = score_column(ood_confidence, "ood_confidence", empty=True)
    detector = score_column(ood_detector, "ood_detector", empty=True)
    same_length(ood_confidence=other, ood_detector=detector)
    return _assembled(wrong, np.concatenate([first, other]), np.concatenate([second, detector]), prevalence)


def single(id_loss: ArrayLike, id_score: ArrayLike, ood_score: ArrayLike, prevalence: float | None = None) -> Problem:
    """Check the columns of one score; the other is constant."""
    wrong = errors(id_loss)
    inside, outside = score_column(id_score, "id_score"), score_column(ood_score, "ood_score", empty=True)
    same_length(id_loss=wrong, id_score=inside)
    score = np.concatenate([inside, outside])
    return _assembled(wrong, score, np.zeros(score.size), prevalence)


def errors(id_loss: ArrayLike) -> BoolArray:
    """Return which ID samples are classified wrong."""
    loss = vector(_host(id_loss), "id_loss", np, None)
    bad = loss[(loss != 0.0) & (loss != 1.0)]
    if bad.size:
        raise UnmetNeed(f"id_loss must be 0 (right) or 1 (wrong), but {float(bad[0])!r} occurs; use losses.zero_one")
    return np.asarray(loss == 1.0)


def score_column(column: ArrayLike, name: str, *, empty: bool = False) -> FloatArray:
    """Return a column without NaN as float64; only ``empty`` ones may be so."""
    if empty and column is not None and is_empty(_host(column)):
        return np.zeros(0)
    array: FloatArray = vector(_host(column), name, np, None) + 0.0  # -0.0 is 0.0
    refuse(np.isnan(array), array, name, "holds NaN", "give every sample a score, e.g. -inf to accept it last", np)
    return array


def _host(column: ArrayLike) -> Array:
    return to_numpy(column) if array_api_compat.is_array_api_obj(column) else column


def _assembled(wrong: BoolArray, confidence: FloatArray, score: FloatArray, prevalence: float | None) -> Problem:
    share, weights = _prevalence(wrong.size, confidence.size - wrong.size, prevalence)
    return Problem(wrong, confidence, score, *weights, share)


def _split(n: int, share: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    size = round(share * n)
    if n and not 0 < size < n:
        raise ValueError(f"share={share!r} of {n} samples leaves a part empty; give more samples or another share")
    order = rng.permutation(n)
    return order[:size], order[size:]


def _prevalence(n_id: int, n_ood: int, prevalence: float | None) -> tuple[float | None, tuple[float, float]]:
    if prevalence is None:
        return None, (1, 1)
    share = fraction(prevalence, "prevalence", below_one=True)
    if share > 0.0 and n_ood == 0:
        raise ValueError(f"prevalence={share!r} needs OOD samples, but there are none; leave prevalence=None")
    return share, _weights(n_id, n_ood, share)


def _weights(n_id: int, n_ood: int, prevalence: float | None) -> tuple[float, float]:
    """Weights of an ID and an OOD row: small integers where the prevalence allows, else 1 and a ratio."""
    if prevalence is None:
        return 1, 1
    if n_ood == 0:
        return 1, 0
    share = Fraction(prevalence).limit_denominator(10**6)
    if float(share) == prevalence:
        inside, outside = (share.denominator - share.numerator) * n_ood, share.numerator * n_id
        common = gcd(inside, outside)
        inside, outside = inside // common, outside // common
        if 4 * (inside * n_id + outside * n_ood) ** 2 < LARGEST:
            return inside, outside
    return 1.0, n_id * prevalence / ((1.0 - prevalence) * n_ood)
