r"""``monitor``: do newly labelled rows still support the promise? A test that may be looked at after every row.

**Risk.** Against "the risk of what is accepted is at most r" somebody bets on more, anew from every row on, so that a
good past does not hide what comes after it (:mod:`abstain.thresholds._evidence`). While the promise holds the evidence
*ever* reaches :math:`1/\delta` with probability at most :math:`\delta`: looking every day costs nothing.

**Coverage and score.** The same bet on accepted or not, and on exceeding each decile of the calibration scores. The
calibration knows these shares only within exact intervals; the bets are against leaving them. Half of delta pays for
the intervals, half for the bets. Drift breaks no promise by itself, but it says that the population has moved.

**Groups.** Each group that has a threshold is watched by itself, with its share of delta.

Source: Shekhar & Ramdas (2023), for bets on a change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._checks import vector
from abstain._typing import ArrayLike
from abstain.outputs import refuse_without_frame
from abstain.policy import Policy
from abstain.thresholds._in_time import in_frame, in_time_order
from abstain.thresholds._monitoring import Monitoring
from abstain.thresholds._watch import Watch


def monitor(
    policy: Policy,
    loss: ArrayLike | str | None = None,
    confidence: ArrayLike | str | None = None,
    *,
    frame: Any = None,
    groups: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    time: ArrayLike | str | None = None,
    as_of: Any = None,
    accepted_only: bool = False,
    max_loss: float | None = None,
    delta: float | None = None,
    run_length: float = 10_000.0,
    since_first: bool = False,
    maturity: Any = None,
    period: float = 7.0,
    unlabelled: str = "refuse",
    **columns: Any,
) -> Monitoring:
    """Test whether newly labelled rows still support a policy's promise, at every row, with one error probability.

    Parameters
    ----------
    policy : Policy
    loss, confidence : array-like of shape (n_samples,)
        All labelled rows since the deployment, in the order in which their labels came; earlier ones may not be left
        out, nor later ones be put between them. (:class:`Watch` takes them in parts, and remembers.) The loss of a
        rejected row may be missing (NaN). The calibration rows themselves get a :class:`ReusedCalibrationWarning`,
        sorted rows a :class:`SortedRowsWarning`, runs of errors a :class:`DependentRowsWarning`, copies a
        :class:`CopiedRowsWarning`.
    frame : lazy frame, pattern or folder of Parquet files, optional
        The rows, counted by their engine; ``loss`` and ``time``, which is needed, then name columns, ``confidence``
        too, if the score is called otherwise than in the policy.
    groups : array-like of shape (n_samples,), optional
        Needed for a policy with one threshold per group; each of its promises is then tested.
    clusters : array-like of shape (n_samples,), optional
        What rows depend on each other, all rows of each; needed for a promise about clusters. Each cluster with an
        accepted row is then one observation, its mean accepted loss, in the order of their first rows. Give clusters
        when they are so old that all of their age are complete; who is given when may not depend on how long they last.
    time : array-like of shape (n_samples,), optional
        Dates or numbers: when each label came, and rows are watched in that order; with ``maturity`` when each row was
        predicted. Rows of equal time are judged together, after the last of them: their order in the file is nothing.
    as_of : date or number, optional
        The present, from which ages are counted; default the latest ``time``.
    accepted_only : bool
        Only accepted rows were labelled and given. Coverage cannot be told then, and score drift is judged among
        accepted rows.
    max_loss : float, optional
        Largest possible loss; default that of the promise.
    delta : float in (0, 1), optional
        False-alarm probability; default that of the promise, or 0.05.
    run_length : float
        Accepted rows between false signals of the change detector, on average at least.
    since_first : bool
        Test the mean risk since the first row instead of the risk at every row.
    maturity : float or timedelta, optional
        Age in days, or the unit of ``time``, at which all labels of rows of that age are in. Rows are then watched at
        that age, in the order of prediction; younger ones wait.
    period : float
        Length of the periods of the table, in days or the unit of ``time``.
    unlabelled : {"refuse", "error"}
        What an accepted row without a label is where all should have one: refused, or counted with the largest loss.
    **columns
        With ``frame``: which other column is what, as in :func:`read_outputs` (``labels="y"``).

    Returns
    -------
    Monitoring

    Raises
    ------
    ValueError, TypeError
        Bad columns; a loss above ``max_loss``; an accepted row without a label; a promise about clusters without
        ``clusters``, or ``clusters`` with any other.

    Notes
    -----
    **What is tested.** That the risk is at most the limit *at every row*, whatever came before: a time in which it is
    above the limit breaks the promise, however good the time before was. A promise of 5 % that has become 10 % is
    noticed after 173 labelled accepted rows (median) if that was so from the first row on, and after 554 if 10,000 rows
    with a risk of 2 % came before (``benchmarks/watching.py``). With ``since_first`` it is that the *running mean* of
    the risk since the first row is at most the limit, for rows that are independent of each other: bad times that
    better ones before them make up for are no alarm, and a change after 10,000 good rows is noticed after about 8,000.
    No test has both.

    **What breaks it.** Rows that depend on each other, such as many of one customer, are each counted as new evidence:
    at the limit, two equal rows of each customer one after the other alarm in a third of the streams, twenty in all.
    Runs of errors and exact copies bring a warning; what spreads over the stream cannot be seen. Without ``time`` so
    does an order within days (errors first); with days as ``time`` it has no say.

    **Late labels.** Labelled rows must be a random part of all rows, or with ``accepted_only`` of the accepted ones:
    another choice tests another risk. If errors are known sooner than successes, every order of labels alarms: give
    ``maturity``.

    **Changes.** The detector (Shiryaev and Roberts, with bets) sees a change sooner, and signals falsely now and then;
    it starts again after each signal.

    Drift is judged over all rows together, and is seen later the longer there was none. It cannot be told if the
    calibration rows were weighted: they then come from another population than the rows to which the policy is applied.

    References
    ----------
    Ville (1939); Waudby-Smith & Ramdas (2024); Shin, Ramdas & Rinaldo (2024).

    Examples
    --------
    >>> import abstain
    >>> policy = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).policy(score="msp")
    >>> abstain.thresholds.monitor(policy, [0, 0], [0.95, 0.1]).promise_broken is None
    True
    """
    watch = Watch(
        policy, accepted_only=accepted_only, max_loss=max_loss, delta=delta, run_length=run_length,
        since_first=since_first, maturity=maturity, period=period, unlabelled=unlabelled,
    )  # fmt: skip
    if frame is not None:
        named: dict[str, Any] = {"loss": loss, "confidence": confidence, "clusters": clusters, **columns}
        when: Any = time
        for k, rows in enumerate(in_time_order(policy, frame, when, named, maturity is not None)):
            with in_frame(when, rows):
                watch.update(**rows, as_of=as_of, again=k > 0)
        return watch.result()
    refuse_without_frame("monitor", columns, loss=loss, confidence=confidence)
    vector(loss, "loss", np, None)  # an empty week is no error for Watch alone
    given: dict[str, Any] = {"groups": groups, "clusters": clusters, "time": time}
    return watch.update(loss, confidence, **given, as_of=as_of)
