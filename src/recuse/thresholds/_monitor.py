r"""``monitor``: do newly labelled rows still support the promise? A test that may be looked at after every row.

**Risk.** Against "the risk of what is accepted is at most r" somebody bets on more:
:math:`K_t = \frac1J\sum_j \prod_{i \le t}\bigl(1 + \lambda_j (Y_i - m)\bigr)` with Y = l/B, m = r/B and stakes fixed in
advance, each the best one against some larger risk. While the promise holds this is a nonnegative supermartingale that
starts at 1, so it *ever* reaches :math:`1/\delta` with probability at most :math:`\delta` (Ville): looking every day
costs nothing.

**Coverage and score.** The same bet on accepted or not, and on exceeding each decile of the calibration scores. The
calibration knows these shares only within exact intervals; the bets are against leaving them. Half of delta pays for
the intervals, half for the bets. Drift breaks no promise by itself, but it says that the population has moved.

Sources: Ville (1939); Waudby-Smith & Ramdas (2024), Section 4; Shekhar & Ramdas (2023).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recuse._checks import check_loss, same_length, vector
from recuse._typing import ArrayLike, BoolArray, FloatArray
from recuse.inference import clopper_pearson
from recuse.thresholds._policy import Policy

#: Multiples of the limit against which the stakes are best: from slow drifts to collapses.
ALTERNATIVES = (1.15, 1.3, 1.6, 2.0, 3.0, 5.0)


@dataclass(frozen=True, eq=False)
class Monitoring:
    """What the newly labelled rows say, in the order in which they came.

    Parameters
    ----------
    promise_broken : bool or None
        Whether the evidence against the promise ever reached 1/delta; None without a promise or without accepted rows.
    broken_at : int or None
        Labelled, accepted rows until then.
    evidence : float
        Largest evidence so far; 1/delta raises the alarm.
    n, n_accepted : int
        Labelled rows, accepted ones.
    risk, coverage : float
        On these rows.
    coverage_drifted, score_drifted : bool or None
        Whether coverage or score left what the calibration rows had shown; None if the policy cannot tell.
    delta : float
        Probability of a false alarm, ever, of each of the three.

    Examples
    --------
    >>> import numpy as np, recuse
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random(4000)
    >>> wrong = rng.random(4000) > score ** 0.1
    >>> policy = recuse.choose_threshold(wrong, score, risk=0.1, delta=0.05).policy(score="msp")
    >>> later = recuse.thresholds.monitor(policy, rng.random(4000) < 0.2, rng.random(4000))
    >>> later.promise_broken, later.broken_at < 400
    (True, True)
    """

    promise_broken: bool | None
    broken_at: int | None
    evidence: float
    n: int
    n_accepted: int
    risk: float
    coverage: float
    coverage_drifted: bool | None
    score_drifted: bool | None
    delta: float


def evidence_above(values: FloatArray, limit: float) -> FloatArray:
    """Return the log of the evidence that the mean of these [0, 1] values is above the limit, after each of them."""
    if not 0.0 < limit < 1.0:
        return np.full(len(values), -np.inf) if limit >= 1.0 else np.where(np.cumsum(values) > 0.0, np.inf, 0.0)
    paths = []
    for multiple in ALTERNATIVES:
        against = min(limit * multiple, 0.5 * (1.0 + limit))
        stake = (against - limit) / (limit * (1.0 - limit))
        paths.append(np.cumsum(np.log1p(stake * (values - limit))))
    return np.asarray(np.logaddexp.reduce(paths, axis=0) - np.log(len(paths)))


def _leaves(inside: FloatArray, k: int, n: int, delta: float) -> FloatArray:
    """Return the log evidence, after each row, that a share left the interval that k of n calibration rows give."""
    low, high = clopper_pearson(k, n, 1.0 - delta)
    up, down = evidence_above(inside, high), evidence_above(1.0 - inside, 1.0 - low)
    return np.asarray(np.logaddexp(up, down) - np.log(2.0))


def monitor(
    policy: Policy,
    loss: ArrayLike,
    confidence: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    max_loss: float = 1.0,
    delta: float | None = None,
) -> Monitoring:
    """Test whether newly labelled rows still support a policy's promise, at every row, with one error probability.

    Parameters
    ----------
    policy : Policy
    loss, confidence : array-like of shape (n_samples,)
        All labelled rows since the deployment, in the order in which they came; earlier ones may not be left out.
    groups : array-like of shape (n_samples,), optional
        For a policy with one threshold per group; the test is then about all that is accepted.
    max_loss : float
        Largest possible loss.
    delta : float in (0, 1), optional
        False-alarm probability; default that of the promise, or 0.05.

    Returns
    -------
    Monitoring

    Raises
    ------
    ValueError, TypeError
        Bad columns; a loss above ``max_loss``.

    Notes
    -----
    Labelled rows must be a random part of the accepted ones (audits), or the risk that is tested is another one.
    A promise of 5 % that has become 10 % is noticed after about 140 labelled accepted rows (90 %: 380)
    (``benchmarks/thresholds_monitor.py``).

    References
    ----------
    Ville (1939); Waudby-Smith & Ramdas (2024).

    Examples
    --------
    >>> import recuse
    >>> policy = recuse.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).policy(score="msp")
    >>> recuse.thresholds.monitor(policy, [0, 0], [0.95, 0.1]).promise_broken is None
    True
    """
    losses, scores = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None)
    same_length(loss=losses, confidence=scores)
    check_loss(losses, np)
    if losses.max() > max_loss:
        raise ValueError(f"max_loss={max_loss:g} is below a loss that occurs, {losses.max():g}; give a true bound")
    accepted = policy.accept(scores, groups)
    promise = policy.guarantee
    alarm = float(delta if delta is not None else promise["delta"] if promise is not None else 0.05)
    if not 0.0 < alarm < 1.0:
        raise ValueError(f"delta must lie inside (0, 1), got {alarm!r}; 0.05 is usual")
    kept = losses[accepted]
    path = evidence_above(kept / max_loss, float(promise["risk"]) / max_loss) if promise is not None else np.zeros(0)
    over = np.flatnonzero(path >= -np.log(alarm))
    return Monitoring(
        promise_broken=bool(over.size) if path.size else None,
        broken_at=int(over[0]) + 1 if over.size else None,
        evidence=float(np.exp(min(700.0, max(0.0, path.max())))) if path.size else 1.0,
        n=len(losses),
        n_accepted=len(kept),
        risk=float(kept.mean()) if kept.size else np.nan,
        coverage=float(accepted.mean()),
        coverage_drifted=_coverage_drift(policy, accepted, alarm),
        score_drifted=_score_drift(policy, scores, alarm),
        delta=alarm,
    )


def _coverage_drift(policy: Policy, accepted: BoolArray, alarm: float) -> bool | None:
    known = policy.calibration
    if known.get("weighted") or "n_accepted" not in known:
        return None
    path = _leaves(accepted.astype(np.float64), int(known["n_accepted"]), int(known["n"]), alarm / 2.0)
    return bool(path.max() >= np.log(2.0 / alarm))


def _score_drift(policy: Policy, scores: FloatArray, alarm: float) -> bool | None:
    known = policy.calibration
    bins = known.get("bins") or []
    if not bins:
        return None
    each = alarm / (2.0 * len(bins))
    paths = [_leaves((scores >= edge).astype(np.float64), int(k), int(known["n"]), each) for edge, k in bins]
    mixed = np.logaddexp.reduce(paths, axis=0) - np.log(len(paths))
    return bool(mixed.max() >= np.log(2.0 / alarm))
