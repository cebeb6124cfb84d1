"""Notice rows that are sorted: evidence that counts from every row on needs the order in which rows came."""

from __future__ import annotations

import math
import warnings

import numpy as np

from abstain._typing import FloatArray

#: A column is called sorted if at most one in so many random orders of its values is.
ORDERS = 1e9


class SortedRowsWarning(UserWarning):
    """Rows that are watched are sorted by loss or confidence, so they are not in the order in which they came.

    Examples
    --------
    >>> import warnings, numpy as np, abstain
    >>> score = np.random.default_rng(0).random(2000)
    >>> policy = abstain.choose_threshold(score < 0.1, score, risk=0.2, delta=0.05).policy(score="msp")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = abstain.thresholds.monitor(policy, np.zeros(100), np.linspace(0.0, 1.0, 100))
    >>> caught[0].category.__name__
    'SortedRowsWarning'
    """


def _sorted(column: FloatArray) -> bool:
    """Return whether a column rises or falls throughout, which hardly any random order of its values does."""
    steps = np.diff(column)
    if len(column) < 2 or not ((steps >= 0.0).all() or (steps <= 0.0).all()):
        return False
    ends = np.concatenate([[0], np.flatnonzero(steps != 0.0) + 1, [len(column)]])
    return math.lgamma(len(column) + 1) - sum(math.lgamma(int(n) + 1) for n in np.diff(ends)) > math.log(ORDERS)


def warn_if_sorted(**columns: FloatArray) -> None:
    """Warn the caller's caller if rows are sorted by one of these columns."""
    found = [name for name, column in columns.items() if _sorted(column)]
    if found:
        warnings.warn(
            f"what was accepted is sorted by {' and '.join(found)}; the evidence holds only for rows in the order in "
            "which their labels came: errors that a sort has put together look like a change",
            SortedRowsWarning,
            stacklevel=3,
        )
