"""The operating point that can be had: thresholds chosen on one half of the data, judged on the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abstain._checks import fraction, generator, whole
from abstain._typing import ArrayLike, FloatArray
from abstain.joint._ds_f1 import exact, point
from abstain.joint._problem import Problem, problem


@dataclass(frozen=True, eq=False)
class Transfer:
    """F1 of transferred thresholds beside F1 of the best thresholds in hindsight, over random splits.

    Parameters
    ----------
    oracle, transferred : array of shape (n_splits,)
        F1 on the test part: with the best pair of that part, and with the pair of the calibration part.
    share : float
        Share of the calibration part.

    Examples
    --------
    >>> import abstain
    >>> inside = {"id_confidence": range(36), "id_detector": range(36)}
    >>> outside = {"ood_confidence": range(9), "ood_detector": range(9)}
    >>> result = abstain.joint.transfer([0, 0, 0, 1] * 9, **inside, **outside, n_splits=3)
    >>> bool((result.transferred <= result.oracle).all())
    True
    """

    oracle: FloatArray
    transferred: FloatArray
    share: float

    @property
    def loss(self) -> float:
        """Mean F1 that the transfer costs."""
        return float((self.oracle - self.transferred).mean())


def transfer(
    id_loss: ArrayLike,
    *,
    id_confidence: ArrayLike,
    id_detector: ArrayLike,
    ood_confidence: ArrayLike,
    ood_detector: ArrayLike,
    share: float = 0.5,
    n_splits: int = 20,
    prevalence: float | None = None,
    rng: int | np.random.Generator | None = 0,
) -> Transfer:
    """Choose both thresholds on a calibration part and judge them on the rest, over random splits.

    DS-F1 chooses its thresholds on the data that it is measured on; nobody can deploy that. ID and OOD samples are
    split separately, so that both parts have the same mix. To transfer between mixes, or from data of your own, pass
    ``ds_f1(...).thresholds`` to :func:`f1_at`.

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    id_confidence, id_detector : array-like of shape (n_id,)
        The two scores of these samples, higher = accept.
    ood_confidence, ood_detector : array-like of shape (n_ood,)
        The two scores of the out-of-distribution samples; may be empty.
    share : float in (0, 1)
        Share of the calibration part.
    n_splits : int
        Random splits.
    prevalence : float in [0, 1), optional
        Share of OOD samples in the target population; default: as in the data.
    rng : int, numpy.random.Generator or None
        Seed of the splits.

    Returns
    -------
    Transfer

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns or options; too few samples to split.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> wrong = rng.random(400) < 0.2
    >>> inside = {name: rng.normal(2.0 - wrong) for name in ("id_confidence", "id_detector")}
    >>> outside = {name: rng.normal(size=400) for name in ("ood_confidence", "ood_detector")}
    >>> result = abstain.joint.transfer(wrong, **inside, **outside)
    >>> 0.0 < result.loss < 0.05
    True
    """
    data = problem(id_loss, id_confidence, id_detector, ood_confidence, ood_detector, prevalence)
    return of_problem(data, share, n_splits, generator(rng))


def of_problem(data: Problem, share: float, n_splits: int, rng: np.random.Generator) -> Transfer:
    """Return the transfer for a checked problem."""
    fraction(share, "share")
    n_splits = whole(n_splits, "n_splits", usual=20)
    data = data.ranked()
    oracle, transferred = [], []
    for _ in range(n_splits):
        calibration, test = data.split(share, rng)
        oracle.append(exact(test).value)
        transferred.append(point(test, exact(calibration).thresholds, "").value)
    return Transfer(np.array(oracle), np.array(transferred), share)
