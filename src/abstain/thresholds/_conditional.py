"""``conditional_threshold``: guarantees about a part of the rows: false negatives, precision, errors of a class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from abstain._checks import failure_probability, plain, same_length, to_numpy, vector
from abstain._typing import ArrayLike, NanPolicy
from abstain.thresholds._choose import choose_threshold
from abstain.thresholds._intervals import LEVEL, coverage_interval
from abstain.thresholds._results import CertifiedThreshold
from abstain.thresholds._sample import read


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
    whole = read(losses, scores, None, nan_policy, clusters)
    mine = None if clusters is None else np.asarray(to_numpy(clusters))[kind]
    delta = failure_probability(delta)
    options: dict[str, Any] = {"risk": risk, "delta": delta, "max_loss": max_loss}
    found = choose_threshold(losses[kind], scores[kind], clusters=mine, nan_policy=nan_policy, **options)
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
