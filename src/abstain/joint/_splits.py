"""What random splits of the data show: thresholds that are chosen on one part and judged on the other, and intervals.

Halves show both the spread of a metric and its optimism.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from abstain._checks import fraction, generator, whole
from abstain._typing import ArrayLike, FloatArray
from abstain.inference import Interval
from abstain.joint._ds_f1 import exact, point
from abstain.joint._null import COMPARED, together
from abstain.joint._problem import Problem, problem


@dataclass(frozen=True, eq=False)
class Transfer:
    """F1 of transferred thresholds next to F1 of the best thresholds in hindsight, over random splits.

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
    return transfer_of(data, share, n_splits, generator(rng))


def transfer_of(data: Problem, share: float, n_splits: int, rng: np.random.Generator) -> Transfer:
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


#: The optimism of a threshold chosen on n samples falls like n^(-2/3), so that what halves add to it, times this, is
#: all of it.
OPTIMISM = 1.0 / (2.0 ** (2.0 / 3.0) - 1.0)
#: With fewer ID or OOD samples the halves are too small for that law.
FEW = 200
#: A standard error up to here is rounding: no interval of width 0 follows from, say, a separation without error.
NO_SPREAD = 1e-12


def confidence_intervals(
    id_loss: ArrayLike,
    *,
    id_confidence: ArrayLike,
    id_detector: ArrayLike,
    ood_confidence: ArrayLike,
    ood_detector: ArrayLike,
    level: float = 0.95,
    n_splits: int = 50,
    prevalence: float | None = None,
    rng: int | np.random.Generator | None = 0,
) -> dict[str, Interval]:
    r"""Intervals of the metrics of both scores, of the confidence alone, and of the gain between them.

    With :math:`\hat\theta` the metric of all samples, and :math:`\hat\theta_a, \hat\theta_b` those of the two halves
    of a random split, of ID and OOD samples each,

    .. math:: \hat\theta - \kappa d \pm z \sqrt{E(\hat\theta_a - \hat\theta_b)^2/4
        + \kappa^2 \operatorname{var}(\tfrac12(\hat\theta_a + \hat\theta_b)) + (\kappa d/2)^2},
        \quad d = E\,\tfrac12(\hat\theta_a + \hat\theta_b) - \hat\theta, \quad \kappa = 1/(2^{2/3} - 1),

    over the splits.

    Parameters
    ----------
    id_loss : array-like of shape (n_id,)
        0/1 loss of the in-distribution samples.
    id_confidence, id_detector : array-like of shape (n_id,)
        The two scores of these samples, higher = accept.
    ood_confidence, ood_detector : array-like of shape (n_ood,)
        The two scores of the out-of-distribution samples; may be empty.
    level : float in (0, 1)
        Nominal coverage of the intervals.
    n_splits : int
        Random splits into halves, at least 2.
    prevalence : float in [0, 1), optional
        Share of OOD samples in the target population; default: as in the data.
    rng : int, numpy.random.Generator or None
        Seed of the splits.

    Returns
    -------
    dict of str to Interval
        ``"ds_f1"``, ``"f1"``, ``"ds_f1 - f1"`` and so on; gains are positive where two scores are better. Samples below
        200 of one kind are a ``warning``; so are halves that all have the same value, and then the ends are NaN.

    Raises
    ------
    UnmetNeed
        A loss that is not 0/1.
    ValueError, TypeError
        Bad columns or options; a single ID or OOD sample, which has no halves.

    See Also
    --------
    null_gain : whether a gain is more than that of noise.
    transfer : what thresholds chosen on other data attain, without optimism.
    abstain.confidence_interval : analytic, for AUROC and for areas over the coverage of all samples.

    Notes
    -----
    The best of all thresholds on the same data is too good. On half of the data it is more so, by d. Where the curve
    has a peak, optimism falls like n^(-2/3) (cube-root asymptotics of a maximiser), which gives the factor. The three
    terms under the root are the sampling error, the noise of d, and that the rate is an assumption: the move is
    uncertain by half of itself. Areas are treated on the logarithmic scale, unless one of a half is 0.

    Simulated, nominal 95 % intervals hold the truth in 91 to 99 %, and nearly always for the gain of a useless second
    score, which is 0.

    References
    ----------
    Kim & Pollard (1990), Annals of Statistics 18, for the rate; Gray & Schucany (1972), The Generalized Jackknife
    Statistic, for extrapolation from a smaller sample at a known rate.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> wrong = rng.random(300) < 0.2
    >>> inside = {name: rng.normal(2.0 - wrong) for name in ("id_confidence", "id_detector")}
    >>> outside = {name: rng.normal(size=300) for name in ("ood_confidence", "ood_detector")}
    >>> found = abstain.joint.confidence_intervals(wrong, **inside, **outside, n_splits=20)
    >>> found["ds_f1 - f1"].low > 0.0
    True
    """
    data = problem(id_loss, id_confidence, id_detector, ood_confidence, ood_detector, prevalence)
    return intervals_of(data, level, n_splits, generator(rng))


def intervals_of(data: Problem, level: float, n_splits: int, rng: np.random.Generator) -> dict[str, Interval]:
    """Return the intervals for a checked problem."""
    from abstain.inference import check_level

    level = check_level(level)
    n_splits = whole(n_splits, "n_splits", 2, usual=50)
    smallest = min(data.n_id, data.n_ood or data.n_id)
    if smallest < 2:
        raise ValueError(f"one of the two kinds has {smallest} sample, which has no halves; give more samples")
    few = f"only {smallest} samples of one kind: read the interval as too short" if smallest < FEW else None
    data = data.ranked()
    halves = np.array([[_values(half) for half in data.split(0.5, rng)] for _ in range(n_splits)])
    entire = _values(data)
    return {name: _interval(name, float(entire[j]), halves[:, :, j], level, few) for j, name in enumerate(NAMES)}


def _interval(name: str, estimate: float, halves: FloatArray, level: float, few: str | None) -> Interval:
    """Return one interval from the value of all and those of halves, of shape (n_splits, 2)."""
    gain = " - " in name
    logarithmic = name.endswith("rc") and not gain and estimate > 0.0 and bool((halves > 0.0).all())
    if logarithmic:
        estimate, halves = float(np.log(estimate)), np.log(halves)
    pairs = halves.mean(axis=1)
    optimism = OPTIMISM * float(pairs.mean() - estimate)
    sampling = np.square(halves[:, 0] - halves[:, 1]).mean() / 4.0
    error = float(np.sqrt(sampling + OPTIMISM**2 * pairs.var(ddof=1) + optimism**2 / 4.0))
    width = NormalDist().inv_cdf(0.5 + level / 2.0) * error
    low, high = estimate - optimism - width, estimate - optimism + width
    if logarithmic:
        low, high, error, estimate = np.exp(low), np.exp(high), error * np.exp(estimate - optimism), np.exp(estimate)
    if not gain:
        low, high = max(low, 0.0), min(high, 1.0)
    if error <= NO_SPREAD:
        low = high = np.nan
        few = "all halves have the same value: that says nothing about the spread"
    method = f"{len(halves)} splits into halves, {'log' if logarithmic else 'plain'} scale"
    return Interval(float(low), float(high), float(estimate), float(error), level, method, np.inf, few)


#: The three metrics of both scores, then of one, then the three gains.
_PAIRS = [(each.name, each.name_of_one) for each in COMPARED]
NAMES = (*(both for both, _ in _PAIRS), *(one for _, one in _PAIRS), *(f"{both} - {one}" for both, one in _PAIRS))


def _values(data: Problem) -> FloatArray:
    """Return the metrics by name."""
    both, one = together(data), [each.of_one(data) for each in COMPARED]
    gains = [each.gain(*pair) for each, *pair in zip(COMPARED, both, one, strict=True)]
    return np.array([*both, *one, *gains])
