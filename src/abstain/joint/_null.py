"""How much of a gain is noise: what a second score without information would show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abstain._checks import generator, one_of, whole
from abstain._pace import paced
from abstain._typing import ArrayLike, FloatArray
from abstain.joint._ds_aurc import AUGRC, AURC, areas
from abstain.joint._ds_f1 import F1
from abstain.joint._problem import Compared, Problem, problem

COMPARED = (F1, AURC, AUGRC)
METRICS = tuple(each.name for each in COMPARED)


@dataclass(frozen=True, eq=False)
class NullGain:
    """The gain of two scores over the confidence alone, next to the gains that a useless second score shows.

    Parameters
    ----------
    metric : str
        ``"ds_f1"``, ``"ds_aurc"`` or ``"ds_augrc"``.
    single, double : float
        The metric of the confidence alone and of both scores.
    gain : float
        How much better two scores are: positive, whatever the direction of the metric.
    null : array of shape (n_permutations,)
        Gains with a useless second score.
    scheme : str
        How the second score was made useless.

    Examples
    --------
    >>> import abstain
    >>> inside, outside = {"id_confidence": range(27)}, {"ood_confidence": [4.5] * 9}
    >>> detector = {"id_detector": range(27), "ood_detector": [-1.0] * 9}
    >>> result = abstain.joint.null_gain([0, 0, 1] * 9, **inside, **outside, **detector, rng=0)
    >>> result.excess < result.gain
    True
    """

    metric: str
    single: float
    double: float
    gain: float
    null: FloatArray
    scheme: str

    @property
    def null_mean(self) -> float:
        """Mean gain of a useless second score."""
        return float(self.null.mean())

    @property
    def null_sd(self) -> float:
        """Standard deviation of that gain; NaN for a single run."""
        return float(self.null.std(ddof=1)) if self.null.size > 1 else float("nan")

    @property
    def excess(self) -> float:
        """Gain beyond the null: what is left for the second score itself; can be negative."""
        return self.gain - self.null_mean

    @property
    def p_value(self) -> float:
        """Share of useless scores that gain at least as much, counting this one: at least 1/(n_permutations + 1)."""
        return float((1 + np.sum(self.null >= self.gain)) / (1 + self.null.size))


def null_gain(
    id_loss: ArrayLike,
    *,
    id_confidence: ArrayLike,
    id_detector: ArrayLike,
    ood_confidence: ArrayLike,
    ood_detector: ArrayLike,
    metric: str = "ds_aurc",
    scheme: str = "conditional",
    n_permutations: int = 20,
    prevalence: float | None = None,
    rng: int | np.random.Generator | None = 0,
) -> NullGain:
    """Compare the gain of a second score with the gains of useless ones.

    The best of many pairs of thresholds on the same data always looks better than the best of few. The same gain is
    therefore measured with the detector score permuted among samples of similar confidence.

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    id_confidence, id_detector : array-like of shape (n_id,)
        The two scores of these samples, higher = accept.
    ood_confidence, ood_detector : array-like of shape (n_ood,)
        The two scores of the out-of-distribution samples; may be empty.
    metric : {"ds_aurc", "ds_f1", "ds_augrc"}
        Whose gain; areas under "at least".
    scheme : {"conditional", "permuted"}
        Permute the detector score only among samples of similar confidence (100 groups): it keeps what it shares with
        the confidence and loses what it adds. Or over all samples: pure noise, which a second score that is a noisy
        copy of the confidence beats in 12 to 36 % of samples at a nominal 5 %.
    n_permutations : int
        Random permutations.
    prevalence : float in [0, 1), optional
        Share of OOD samples in the target population; default: as in the data.
    rng : int, numpy.random.Generator or None
        Seed of the permutations.

    Returns
    -------
    NullGain
        Read its ``excess``: gain minus mean null gain.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns or options.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> wrong, *noise = np.random.default_rng(1).normal(size=(5, 200))
    >>> columns = dict(zip(["id_confidence", "id_detector", "ood_confidence", "ood_detector"], noise))
    >>> result = abstain.joint.null_gain(wrong > 0.7, **columns, metric="ds_aurc")
    >>> result.gain > 0, abs(result.excess) < 4 * result.null_sd
    (True, True)
    """
    data = problem(id_loss, id_confidence, id_detector, ood_confidence, ood_detector, prevalence)
    drawn = generator(rng)
    one_of(metric, METRICS, "metric")
    one_of(scheme, ("permuted", "conditional"), "scheme")
    n_permutations = whole(n_permutations, "n_permutations", usual=20)
    chosen, data = next(each for each in COMPARED if each.name == metric), data.ranked()
    useless = []
    for _ in range(n_permutations):
        column = drawn.permutation(data.detector) if scheme == "permuted" else _conditional(data, drawn)
        useless.append(chosen.of_both(data.with_detector(column)))
    return _gain(chosen, data, chosen.of_both(data), np.array(useless), scheme)


def of_all(data: Problem, n_permutations: int, rng: np.random.Generator) -> dict[str, NullGain]:
    """Return the comparison of every metric from the same permutations among samples of similar confidence."""
    data = data.ranked()
    useless = np.array(
        [together(data.with_detector(_conditional(data, rng))) for _ in paced(range(n_permutations), "null gains")]
    )
    return {
        each.name: _gain(each, data, double, column, "conditional")
        for each, double, column in zip(COMPARED, together(data), useless.T, strict=True)
    }


def together(data: Problem) -> list[float]:
    """Return every metric of both scores; the areas come from one search."""
    return [F1.of_both(data), *(each.value for each in areas(data))]


def _gain(chosen: Compared, data: Problem, double: float, useless: FloatArray, scheme: str) -> NullGain:
    single = chosen.of_one(data)
    return NullGain(chosen.name, single, double, chosen.gain(double, single), chosen.gain(useless, single), scheme)


def _conditional(data: Problem, rng: np.random.Generator, groups: int = 100) -> FloatArray:
    """Permute within groups of neighbours in confidence, which is a rank; ties are in random order."""
    n = data.confidence.size
    order = np.argsort(data.confidence + rng.random(n))
    group = np.arange(n) * min(groups, max(1, n // 10)) // n
    shuffled = np.argsort(group + rng.random(n))
    result = np.empty_like(data.detector)
    result[order] = data.detector[order[shuffled]]
    return result
