r"""``monitor``: do newly labelled rows still support the guarantee? A test that may be evaluated after every row.

**Risk.** Against "the risk of what is accepted is at most r" somebody bets on more, anew from every row on, so that a
good past does not hide what comes after it (:mod:`abstain.monitoring._evidence`). While the guarantee holds the
evidence *ever* reaches :math:`1/\delta` with probability at most :math:`\delta`: an evaluation every day costs nothing.

**Coverage and score.** The same bet on accepted or not, and on exceeding each decile of the calibration scores. The
calibration knows these shares only within exact intervals; the bets are against leaving them. Half of delta pays for
the intervals, half for the bets. Drift is no violation by itself, but it says that the population has moved.

**Groups.** Each group that has a threshold is monitored by itself, with its share of delta.

Source: Shekhar & Ramdas (2023), for bets on a change.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Unpack

import numpy as np

from abstain import scores
from abstain._checks import UnmetNeed, closest, vector
from abstain._files import digest_of, locked
from abstain._typing import Age, ArrayLike, IntArray, Moment, Options, Source
from abstain.monitoring._monitor import Monitor
from abstain.monitoring._result import Monitoring
from abstain.monitoring._state import STATE
from abstain.outputs import REMEDY, FurtherColumns, count, refuse_without_frame
from abstain.policy import OWN, Policy, group_column
from abstain.thresholds import frame_source


def monitor(
    policy: Policy,
    loss: ArrayLike | str | None = None,
    confidence: ArrayLike | str | None = None,
    *,
    frame: Source = None,
    groups: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    time: ArrayLike | str | None = None,
    as_of: Moment = None,
    accepted_only: bool = False,
    max_loss: float | None = None,
    delta: float | None = None,
    run_length: float = 10_000.0,
    since_first: bool = False,
    window: float | None = None,
    maturity: Age = None,
    period: float = 7.0,
    unlabelled: str = "refuse",
    **columns: Unpack[FurtherColumns],
) -> Monitoring:
    """Test whether newly labelled rows still support a policy's guarantee, at every row, with one error probability.

    Parameters
    ----------
    policy : Policy
    loss, confidence : array-like of shape (n_samples,)
        All labelled rows since the deployment, in the order in which their labels came; earlier ones may not be left
        out, nor later ones be put between them. (:class:`Monitor` takes them in parts, and remembers.) The loss of a
        rejected row may be missing (NaN). The calibration rows themselves get a :class:`ReusedCalibrationWarning`,
        sorted rows a :class:`SortedRowsWarning`, runs of errors a :class:`DependentRowsWarning`, copies a
        :class:`CopiedRowsWarning`.
    frame : lazy frame, pattern or folder of Parquet files, optional
        The rows, counted by their engine; ``loss`` and ``time``, which is needed, then name columns, ``confidence``
        too, if the score is called otherwise than in the policy.
    groups : array-like of shape (n_samples,), optional
        Needed for a policy with one threshold per group; each of its guarantees is then tested.
    clusters : array-like of shape (n_samples,), optional
        What rows depend on each other, all rows of each; needed for a guarantee about clusters. Each cluster with an
        accepted row is then one observation, its mean accepted loss, in the order of their first rows. Give clusters
        when they are so old that all of their age are complete; who is given when may not depend on how long they last.
    time : array-like of shape (n_samples,), optional
        Dates or numbers: when each label came, and rows are tested in that order; with ``maturity`` when each row was
        predicted. Rows of equal time are judged together, after the last of them: their order in the file is nothing.
    as_of : date or number, optional
        The present, from which ages are counted; default the latest ``time``.
    accepted_only : bool
        Only accepted rows were labelled and given. Coverage is unknown then, and score drift is judged among
        accepted rows.
    max_loss : float, optional
        Largest possible loss; default that of the guarantee.
    delta : float in (0, 1), optional
        False-alarm probability; default that of the guarantee, or 0.05.
    run_length : float
        Accepted rows between false signals of the change detector, on average at least.
    since_first : bool
        Test the mean risk since the first row instead of the risk at every row.
    window : float, optional
        Test the mean risk in each window of so many days (or the unit of ``time``), from the first time on; without
        ``time`` of so many accepted rows. A window is judged once it is complete.
    maturity : float or timedelta, optional
        Age in days, or the unit of ``time``, at which all labels of rows of that age are in. Rows are then monitored at
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
        Bad columns; a loss above ``max_loss``; an accepted row without a label; a guarantee about clusters without
        ``clusters``, or ``clusters`` with any other.

    Notes
    -----
    **What is tested.** That the risk is at most the limit *at every row*, whatever came before: a time in which it is
    above the limit violates the guarantee, however good the time before was. A guarantee of 5 % that has become 10 % is
    noticed after 173 labelled accepted rows (median) if that was so from the first row on, and after 554 if 10,000 rows
    with a risk of 2 % came before (``benchmarks/monitoring.py``). With ``since_first`` it is that the *running mean* of
    the risk since the first row is at most the limit, for rows that are independent of each other: bad times that
    better ones before them make up for are no alarm, and a change after 10,000 good rows is noticed after about 8,000.
    With ``window`` it is that the mean risk *in each window* is at most the limit: bad days that better ones of the
    same window make up for are no alarm, and a change is noticed at the end of a window. The default is the strictest,
    since how long a bad time may last is not for a program to decide. No test has all three.

    **What breaks it.** Rows that depend on each other, such as many of one customer, are each counted as new evidence:
    at the limit, two equal rows of each customer one after the other alarm in a third of the streams, twenty in all.
    Runs of errors and exact copies bring a warning; what spreads over the stream cannot be seen. Without ``time`` so
    does an order within days (errors first); with days as ``time`` it has no say.

    **Late labels.** Labelled rows must be a random part of all rows, or with ``accepted_only`` of the accepted ones:
    another choice tests another risk. If errors are known sooner than successes, every order of labels alarms: give
    ``maturity``.

    **Changes.** The detector (Shiryaev and Roberts, with bets) sees a change sooner, and signals falsely now and then;
    it starts again after each signal.

    Drift is judged over all rows together, and is seen later the longer there was none. It is undecided if the
    calibration rows were weighted: they then come from another population than the rows to which the policy is applied.

    References
    ----------
    Ville (1939); Waudby-Smith & Ramdas (2024); Shin, Ramdas & Rinaldo (2024).

    Examples
    --------
    >>> import abstain
    >>> policy = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).policy(score="msp")
    >>> abstain.monitor(policy, [0, 0], [0.95, 0.1]).violated is None
    True
    """
    stream = Monitor(
        policy, accepted_only=accepted_only, max_loss=max_loss, delta=delta, run_length=run_length,
        since_first=since_first, window=window, maturity=maturity, period=period, unlabelled=unlabelled,
    )  # fmt: skip
    if frame is not None:
        named: dict[str, ArrayLike] = {"loss": loss, "confidence": confidence, "clusters": clusters, **columns}
        when: ArrayLike = time
        for k, rows in enumerate(in_time_order(policy, frame, when, named, maturity is not None)):
            with in_frame(when, rows):
                stream.update(**rows, as_of=as_of, again=k > 0)
        return stream.result()
    refuse_without_frame("monitor", columns, loss=loss, confidence=confidence)
    vector(loss, "loss", np, None)  # an empty week is no error for Monitor alone
    given: Options = {"groups": groups, "clusters": clusters, "time": time}
    return stream.update(loss, confidence, **given, as_of=as_of)


def load_monitor(path: str | os.PathLike[str], policy: Policy) -> Monitor:
    """Take up a monitor that :meth:`Monitor.save` wrote, with its options.

    Parameters
    ----------
    path : str or path
    policy : Policy
        The policy that is monitored.

    Returns
    -------
    Monitor

    Raises
    ------
    FileNotFoundError
        No such file.
    ValueError
        No state of a monitor, one that was damaged or edited, or that of another policy.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> policy = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).policy(score="msp")
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "state.json"
    >>> abstain.monitoring.Monitor(policy).save(file)
    >>> abstain.monitoring.load_monitor(file, policy).result().n
    0
    """
    name = os.fspath(path)
    found = STATE.read(name)
    options = dict(found["options"])
    options["max_loss"] = float(options["max_loss"])
    restored = Monitor(policy, **options)
    if not restored.fits(found):
        raise ValueError(f"{name}: is the state of another policy; give the one that was monitored, or another file")
    restored._restore(found)
    restored.on_file = digest_of(found)
    return restored


def update_monitor(
    path: str | os.PathLike[str], policy: Policy, loss: ArrayLike, confidence: ArrayLike, *,
    groups: ArrayLike | None = None, clusters: ArrayLike | None = None, time: ArrayLike | None = None,
    as_of: Moment = None, again: bool = False, **options: Any,
) -> Monitoring:  # fmt: skip
    """Take new rows into the monitor of a file, which several processes may do at the same time.

    The file is locked, read, updated and written at once, so rows of every process count, and count once: a process
    that finds it locked waits. One that is killed leaves the file as it was before or after the update.

    Parameters
    ----------
    path : str or path
        The state; it is made where there is none.
    policy : Policy
    loss, confidence, groups, clusters, time, as_of, again
        As for :meth:`Monitor.update`.
    **options
        As for :class:`Monitor`; those of a state that exists cannot be changed.

    Returns
    -------
    Monitoring

    Raises
    ------
    ValueError, TypeError
        As :meth:`Monitor.update` and :func:`load_monitor`; options that differ from those of the state.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> policy = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5).policy(score="msp")
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "state.json"
    >>> for k in range(3):
    ...     seen = abstain.monitoring.update_monitor(file, policy, [0, 1], [0.95 + k / 100, 0.1])
    >>> seen.n
    6
    """
    name = os.fspath(path)
    with locked(name):
        stream = begun_monitor(name, policy, **options)
        seen = stream.update(loss, confidence, groups=groups, clusters=clusters, time=time, as_of=as_of, again=again)
        stream._write(name)
    return seen


def begun_monitor(path: str | os.PathLike[str], policy: Policy, **options: Any) -> Monitor:
    """Return the monitor of a file, or a new one if there is none; refuse options that differ from those it has."""
    if not os.path.exists(path):
        return Monitor(policy, **options)
    found = load_monitor(path, policy)
    if options and Monitor(policy, **options)._identity() != found._identity():
        raise ValueError(f"{os.fspath(path)}: was begun with other options; leave {', '.join(options)} out")
    return found


# Rows that an engine holds are counted there, and written out here some times at once: rows of one time have no order,
# so what is monitored of them are their numbers, and no time lies in two parts.

#: Rows that are written out at once, if times allow, and the most.
AT_ONCE, MOST = 1_000_000, 20_000_000


def in_time_order(
    policy: Policy, frame: Source, time: str | None, columns: Mapping[str, ArrayLike], whole: bool
) -> Iterator[Options]:
    """Yield loss, confidence, groups and time of the rows of a frame; ``whole``: all at once."""
    source = frame_source(frame)
    if time is None:
        raise ValueError("the rows of a frame have no order but that of a column; give time=, when each label came")
    told = {name: value for name, value in columns.items() if value is not None}
    columns_there = source.first.columns()
    if isinstance(time, str) and not {time, f"group_{time}"} & set(columns_there):
        raise ValueError(f"time={time!r}: no column has this name; {closest(time, columns_there)}")
    other = next((name for name, value in (told | {"time": time}).items() if not isinstance(value, str | list)), None)
    if other is not None:
        raise TypeError(f"{other} must name a column of the frame, got {type(told.get(other, time)).__name__}")
    if "clusters" in told or policy.calibration.clustered:
        raise UnmetNeed(f"clusters are monitored by their first rows, one by one, which counts do not hold; {REMEDY}")
    score, computed = _score(policy)
    if score is None and "confidence" not in told and "uncertainty" not in told:
        told["uncertainty" if "uncertainty" in policy.reading else "confidence"] = policy.score
    by_column = [time, *([] if policy.group is None else [policy.group])]
    wanted = None if score is None else [score]
    counts = count(source, wanted, by_column, told | computed, default=scores.default, unlabelled=True)
    ((name, found),) = counts.by_score.items()
    confidence, loss, times, moment = found.scores[name], found.loss[name], found.times, found.groups[time].to_numpy()
    group = None if policy.group is None else group_column(found.groups[policy.group].to_numpy())
    when, by = (
        np.unique(np.zeros(len(times)) if each is None else each, return_inverse=True)[1] for each in (moment, group)
    )
    order = np.lexsort((confidence, loss, by, when))  # the same for every partition
    begins = np.flatnonzero(np.append(True, np.diff(when[order]) != 0))
    number = np.add.reduceat(times[order], begins).astype(np.int64)
    for first, last in _runs(number, whole):
        if (many := int(number[first:last].sum())) > MOST:
            raise UnmetNeed(
                f"time={time!r}: {many} rows are evaluated together, more than {MOST}; give a finer time"
                + (", leave maturity= out," if whole else "")
                + f" or {REMEDY}"
            )
        end = begins[last] if last < len(begins) else len(order)
        some = np.repeat(order[begins[first] : end], times[order[begins[first] : end]].astype(np.intp))
        yield {
            "loss": loss[some], "confidence": confidence[some], "time": moment[some],
            "groups": None if group is None else group[some],
        }  # fmt: skip


@contextmanager
def in_frame(time: str | None, rows: Options) -> Iterator[None]:
    """Say of a row its time in place of its number, which a row of a frame has not."""
    try:
        yield
    except ValueError as error:
        found = re.match(r"(\w+)\[(\d+)\]", str(error))
        if found is None:
            raise
        when = rows["time"][int(found[2])]
        raise ValueError(f"{found[1]} of a row with {time} = {when}{str(error)[found.end() :]}") from None


def _runs(number: IntArray, whole: bool) -> Iterator[tuple[int, int]]:
    """Yield runs of times with about so many rows as are written out at once."""
    run = (np.cumsum(number) - number) // (np.inf if whole else AT_ONCE)
    ends = [*(np.flatnonzero(np.diff(run)) + 1).tolist(), len(number)]
    yield from zip([0, *ends[:-1]], ends, strict=True)


def _score(policy: Policy) -> tuple[str | None, Options]:
    """Return the score that the engine computes, None for a column, and what from."""
    if policy.second is not None:
        raise UnmetNeed(f"a policy on two scores is monitored row by row; {REMEDY}")
    if policy.inputs is None:
        return None, {}
    own = OWN["probabilities"]  # which engines and policies compute to the same bit
    if "probabilities" not in policy.inputs or policy.temperature is not None or policy.score not in own:
        raise UnmetNeed(f"a scan computes {' and '.join(own)} of probabilities, not {policy.score!r}; {REMEDY}")
    return policy.score, {"probabilities": list(policy.inputs["probabilities"])}
