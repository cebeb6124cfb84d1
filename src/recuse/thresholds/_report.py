"""``audit``: what a threshold does on other rows; it notices when they are the calibration rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from recuse._typing import ArrayLike, NanPolicy
from recuse.thresholds._intervals import coverage_interval, risk_interval
from recuse.thresholds._policy import Policy
from recuse.thresholds._results import CertifiedThreshold, EmpiricalThreshold
from recuse.thresholds._sample import read


class ReusedCalibrationWarning(UserWarning):
    """The rows of a report are the rows on which the threshold was chosen, so the report is optimistic.

    Examples
    --------
    >>> import warnings, recuse
    >>> found = recuse.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = recuse.thresholds.audit(found, [0, 1], [0.9, 0.2])
    >>> caught[0].category.__name__
    'ReusedCalibrationWarning'
    """


@dataclass(frozen=True)
class Audit:
    """Coverage and risk of a fixed threshold on new rows, with exact pointwise intervals.

    ``keeps_promise``: False if the lower end of the risk interval is above the promised risk, None without promise.

    Examples
    --------
    >>> import recuse
    >>> found = recuse.choose_threshold([0, 1, 0], [0.9, 0.2, 0.5], coverage=0.5)
    >>> recuse.thresholds.audit(found, [0, 0, 1, 1], [0.9, 0.8, 0.6, 0.1]).risk
    0.3333333333333333
    """

    n: int
    n_accepted: int
    coverage: float
    coverage_interval: tuple[float, float]
    risk: float
    risk_interval: tuple[float, float]
    level: float
    keeps_promise: bool | None


def audit(
    threshold: EmpiricalThreshold | CertifiedThreshold | Policy,
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    nan_policy: NanPolicy = "reject",
) -> Audit:
    """Return coverage and risk of a threshold or policy on new labelled rows.

    Parameters
    ----------
    threshold : EmpiricalThreshold, CertifiedThreshold or Policy
    loss, confidence : array-like of shape (n_samples,)
        Rows that were *not* used to choose it; else a :class:`ReusedCalibrationWarning`.
    groups : array-like of shape (n_samples,), optional
        For a policy with one threshold per group.
    level : float in (0, 1)
    nan_policy : {"raise", "reject", "drop"}

    Returns
    -------
    Audit

    Examples
    --------
    >>> import recuse
    >>> found = recuse.choose_threshold([0, 1, 0], [0.9, 0.2, 0.5], coverage=0.5)
    >>> recuse.thresholds.audit(found, [0, 0, 1, 1], [0.9, 0.8, 0.6, 0.1]).coverage
    0.75
    """
    sample = read(loss, confidence, None, nan_policy)
    if sample.fingerprint == threshold.calibration["fingerprint"]:
        warnings.warn(
            "these are the rows on which the threshold was chosen: coverage and risk are optimistic; "
            "report on rows that were held out",
            ReusedCalibrationWarning,
            stacklevel=2,
        )
    if isinstance(threshold, Policy) and threshold.group is not None:
        order = np.lexsort((np.asarray(loss, dtype=float), -np.nan_to_num(np.asarray(confidence, float), nan=-np.inf)))
        accepted = threshold.accept(confidence, groups)[order].astype(np.float64)
    else:
        accepted = threshold.accept(sample.score).astype(np.float64) * (sample.score > -np.inf)
    promise = threshold.guarantee if isinstance(threshold, Policy) else threshold.guarantee()
    count = int(accepted.sum())
    low, high = risk_interval(sample, accepted, level)
    return Audit(
        sample.n, count, count / sample.n, coverage_interval(sample, accepted, level),
        float(sample.loss @ accepted) / count if count else np.nan, (low, high), level,
        None if promise is None else not low > float(promise["risk"]),
    )  # fmt: skip
