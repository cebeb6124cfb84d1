r"""Guarantees about other risks: of a part of the rows, and of all rows whether they are accepted or not.

``conditional_threshold`` certifies false negatives, precision or errors of a class. ``conformal_threshold`` controls
the expected accepted loss per sample of the whole population (conformal risk control):

:math:`l\,1[g \ge \tau]` falls as the threshold rises, for every sample, so that the lowest threshold with

.. math:: \frac{n\,\hat G(\tau) + B}{n + 1} \le \alpha

has :math:`E\{l\,1[g \ge \hat\tau]\} \le \alpha` for a new sample, whatever the distribution. The selective risk is not
monotone, and no such statement holds for it. The guarantee is about the average over calibration sets, without a delta.

Source: Angelopoulos, Bates, Fisch, Lei & Schuster (2024), *Conformal risk control*, Theorem 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from abstain._checks import FRACTION, failure_probability, plain, positive, same_length, to_numpy, vector
from abstain._typing import ArrayLike, NanPolicy
from abstain.curve import OperatingPoint
from abstain.thresholds._choose import choose_threshold
from abstain.thresholds._results import CertifiedThreshold
from abstain.thresholds._sample import LEVEL, coverage_interval, largest_loss, read


def conditional_threshold(
    loss: ArrayLike,
    confidence: ArrayLike,
    where: ArrayLike,
    *,
    what: str,
    risk: float,
    delta: float,
    max_loss: float | None = None,
    clusters: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> CertifiedThreshold:
    r"""Certify one threshold for all rows by a guarantee about the accepted rows of one kind.

    .. math:: P\{E[\ell \mid g \ge \hat\tau, \text{where}] > \text{risk}\} \le \delta

    ================================  =====================================  =========================
    guarantee about accepted rows     ``where``                              risk
    ================================  =====================================  =========================
    false negatives                   ``labels == 1``                        largest share missed
    false positives                   ``labels == 0``                        largest share of alarms
    precision                         ``predictions == 1``                   1 - precision
    negative predictive value         ``predictions == 0``                   1 - that value
    errors of a class                 ``labels == name``                     largest error
    ================================  =====================================  =========================

    Parameters
    ----------
    loss, confidence : array-like of shape (n_samples,)
        Calibration rows, as in :func:`abstain.choose_threshold`; the loss is 1 for an error.
    where : array-like of bool of shape (n_samples,)
        The rows of which the guarantee speaks. It may depend on label and prediction of a row, not on other rows.
    what : str
        These rows in words, for the statement: "rows with y = 1".
    risk, delta, max_loss, clusters, nan_policy
        As in :func:`abstain.choose_threshold`.

    Returns
    -------
    CertifiedThreshold
        Its risk is that of accepted rows of this kind; coverage is of all rows.

    Raises
    ------
    ValueError, TypeError
        No row of this kind; ``where`` is not of truth values; what :func:`abstain.choose_threshold` refuses.

    Notes
    -----
    Given how many calibration rows are of this kind, they are an independent sample of such rows, so the certificate of
    :func:`abstain.choose_threshold` holds on them. One threshold for each kind needs ``groups=`` there; a guarantee for
    several kinds at once needs delta shared among as many calls, and one threshold each.

    References
    ----------
    Angelopoulos et al. (2021), *Learn then Test*, for risks of this form.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> label, score = rng.random(3000) < 0.3, rng.random(3000)
    >>> missed = label & (rng.random(3000) > score**0.05)
    >>> found = abstain.thresholds.conditional_threshold(
    ...     missed, score, label, what="rows with y = 1", risk=0.05, delta=0.05
    ... )
    >>> found.attainable, "rows with y = 1" in found.statement
    (True, True)
    """
    if not isinstance(what, str) or not what:
        raise TypeError(f"what must say in words which rows the guarantee is about, got {what!r}")
    kind = plain(where, "where", "one truth value per row")
    if kind.ndim != 1 or kind.dtype != bool:
        raise TypeError(f"where must hold one truth value per row, got {kind.dtype} of shape {kind.shape}")
    losses, scores = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None)
    same_length(loss=losses, confidence=scores, where=kind)
    if not kind.any():
        raise ValueError(f"where holds no row: nothing can be guaranteed about {what}")
    whole, delta = read(losses, scores, None, nan_policy, clusters), failure_probability(delta)
    mine = None if clusters is None else np.asarray(to_numpy(clusters))[kind]
    found = choose_threshold(
        losses[kind], scores[kind], risk=risk, delta=delta, max_loss=max_loss, clusters=mine, nan_policy=nan_policy
    )
    assert isinstance(found, CertifiedThreshold)
    accepted = (whole.score >= found.threshold).astype(np.float64)
    coverage = float(accepted.mean())
    calibration = replace(
        found.calibration,
        n=whole.n,
        n_accepted=int(accepted.sum()),
        coverage=coverage,
        fingerprint=whole.fingerprint,
        sketch=whole.sketch,
        bins=(),
        of=what,
        n_of=int(kind.sum()),
    )
    return replace(
        found,
        coverage=coverage,
        coverage_interval=coverage_interval(whole, accepted, LEVEL),
        n=whole.n,
        n_accepted=int(accepted.sum()),
        calibration=calibration,
        statement=found.statement.replace(" is at most ", f" among {what} is at most "),
    )


def conformal_threshold(
    loss: ArrayLike,
    confidence: ArrayLike,
    risk: float,
    *,
    max_loss: float | None = None,
    nan_policy: NanPolicy = "raise",
) -> OperatingPoint:
    r"""Return the threshold of conformal risk control: the expected *generalized* risk is at most ``risk``.

    .. math:: \hat\tau = \min\{\tau: (n\,\hat G(\tau) + B)/(n + 1) \le \alpha\}

    Parameters
    ----------
    loss, confidence : array-like of shape (n_samples,)
        Calibration rows.
    risk : float
        Limit of the accepted loss per sample of the whole population, rejected ones included.
    max_loss : float, optional
        Largest possible loss B; needed if the loss is not 0/1.
    nan_policy : {"raise", "reject", "drop"}
        A NaN score: an error; never accepted, stays in n; left out.

    Returns
    -------
    OperatingPoint
        With threshold +inf and a reason if not even rejecting everything meets the bound: B/(n + 1) > risk.

    Raises
    ------
    ValueError, TypeError
        Bad columns; ``max_loss`` missing or below what occurs; a risk that is not positive.

    References
    ----------
    Angelopoulos et al. (2024), Theorem 1.

    Examples
    --------
    >>> import abstain
    >>> abstain.thresholds.conformal_threshold([0, 0, 0, 1, 0, 1, 1] * 10, range(70), 0.2).n_accepted
    29
    """
    sample = read(loss, confidence, None, nan_policy)
    risk = positive(risk, "risk", FRACTION)
    largest = largest_loss(sample, max_loss)
    curve = sample.curve
    bound = (sample.n * curve.generalized_risk + largest) / (sample.n + 1)
    met = np.flatnonzero((curve.threshold > -np.inf) & (bound <= risk * (1.0 + 1e-12)))
    if met.size:
        return curve.at(threshold=float(curve.threshold[met[-1]]))
    least = np.ceil(largest / risk - 1.0)
    why = f"{sample.n} rows cannot show a generalized risk of {risk:g}: at least {least:.15g} are needed"
    if largest / (sample.n + 1) <= risk:
        why = "already the most confident rows carry too much loss"
    return OperatingPoint(np.inf, 0.0, np.nan, 0.0, 0, sample.n, why)
