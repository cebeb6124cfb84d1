"""Notice rows that are sorted or come in runs: evidence that counts from every row on needs rows as they came."""

from __future__ import annotations

import math
import warnings

import numpy as np

from abstain._typing import FloatArray, IntArray

#: A column is called sorted if at most one in so many random orders of its values is.
ORDERS = 1e9
#: Rows from which on runs of errors are looked for; how many more pairs than by chance are odd, in standard errors.
ROWS, ERRORS = 300, 5.0
#: Distances of rows that depend less on each other than neighbours, if they do; about as many as a day has, or copies.
LAGS = (20, 51)


class DependentRowsWarning(UserWarning):
    """Errors among rows that are monitored come in runs: rows depend on each other, or were sorted within days.

    What spreads over the stream, such as many rows of one customer here and there, is not seen.

    Examples
    --------
    >>> import warnings, numpy as np, abstain
    >>> score = np.random.default_rng(0).random(2000)
    >>> policy = abstain.choose_threshold(score < 0.1, score, risk=0.2, delta=0.05).policy(score="msp")
    >>> wrong = np.random.default_rng(1).random(200).repeat(5) < 0.1
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = abstain.monitor(policy, wrong, np.random.default_rng(2).random(1000))
    >>> caught[0].category.__name__
    'DependentRowsWarning'
    """


class SortedRowsWarning(UserWarning):
    """Rows that are monitored are sorted by loss or confidence, so they are not in the order in which they came.

    Examples
    --------
    >>> import warnings, numpy as np, abstain
    >>> score = np.random.default_rng(0).random(2000)
    >>> policy = abstain.choose_threshold(score < 0.1, score, risk=0.2, delta=0.05).policy(score="msp")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = abstain.monitor(policy, np.zeros(100), np.linspace(0.0, 1.0, 100))
    >>> caught[0].category.__name__
    'SortedRowsWarning'
    """


def shuffled(times: FloatArray) -> IntArray:
    """Return an order of rows sorted by time in which those of equal time are mixed: a file may have sorted them."""
    return np.lexsort((np.random.default_rng(0).random(len(times)), times))


def _sorted(column: FloatArray) -> bool:
    """Return whether a column rises or falls throughout, which hardly any random order of its values does."""
    steps = np.diff(column)
    if len(column) < 2 or not ((steps >= 0.0).all() or (steps <= 0.0).all()):
        return False
    ends = np.concatenate([[0], np.flatnonzero(steps != 0.0) + 1, [len(column)]])
    return math.lgamma(len(column) + 1) - sum(math.lgamma(int(n) + 1) for n in np.diff(ends)) > math.log(ORDERS)


def warn_if_sorted(**columns: FloatArray) -> bool:
    """Warn the caller's caller if rows are sorted by one of these columns, and return whether they are."""
    found = [name for name, column in columns.items() if _sorted(column)]
    if found:
        warnings.warn(
            f"what was accepted is sorted by {' and '.join(found)}; the evidence holds only for rows in the order in "
            "which their labels came: errors that a sort has put together look like a change",
            SortedRowsWarning,
            stacklevel=3,
        )
    return bool(found)


def warn_if_in_runs(loss: FloatArray) -> None:
    """Warn the caller's caller if large losses stand next to each other more often than some rows apart.

    A change of the risk puts errors together at both distances, and is no reason to warn.
    """
    if len(loss) < ROWS:
        return
    large = (loss > loss.mean()).astype(np.float64)
    next_to = float(large[1:] @ large[:-1])
    apart = float(np.mean([large[k:] @ large[:-k] for k in range(*LAGS)]))
    if next_to > apart + ERRORS * (math.sqrt(apart) + 1.0):
        warnings.warn(
            f"{next_to:.0f} times two accepted errors follow each other, where about {apart:.0f} would by chance: rows "
            "depend on each other (customers, copies), or were sorted within days, and each counts as new evidence: a "
            "guarantee that holds is then called violated too often; give one row of each, or clusters= where it "
            "is about them, and rows as they came",
            DependentRowsWarning,
            stacklevel=3,
        )
