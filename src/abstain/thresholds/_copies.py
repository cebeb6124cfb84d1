"""Notice rows that are copies of other rows: one observation, counted more than once."""

from __future__ import annotations

import warnings

import numpy as np

from abstain.thresholds._sample import Sample

#: Copies are said from this many on, if they are this part of the rows.
FEWEST, PART = 10, 0.05
#: Scores that are whole numbers of these parts, or this close to 1, tie without being copies.
GRID, TOP = 1e4, 2.0**-14


class CopiedRowsWarning(UserWarning):
    """Rows are exact copies of others, although scores rarely tie: a promise counts them as independent.

    Examples
    --------
    >>> import warnings, numpy as np, abstain
    >>> score = np.random.default_rng(0).random(200).repeat(2)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = abstain.choose_threshold(score < 0.01, score, risk=0.05, delta=0.05)
    >>> caught[0].category.__name__
    'CopiedRowsWarning'
    """


def warn_of_copies(sample: Sample) -> None:
    """Warn the caller's callers if rows have both score and loss in common where scores are otherwise unique."""
    blocks = sample.blocks
    if blocks.largest_tie == 1:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.round(blocks.score * GRID) / GRID == blocks.score
    finest = np.isfinite(blocks.score) & ~rounded & ~((blocks.score > 1.0 - TOP) & (blocks.score <= 1.0))
    tied = finest & (blocks.count > 1.0)
    first = np.concatenate([[0], np.cumsum(np.unique(sample.score, return_counts=True)[1][::-1])])[:-1]
    if len(first) != len(blocks) or not tied.any():  # rows of weight 0
        return
    last = first + blocks.count.astype(np.int64) - 1
    alike = tied & (sample.loss[first] == sample.loss[last])  # within a tie the rows are sorted by loss
    copies = int((blocks.count[alike] - 1.0).sum())
    if copies < max(FEWEST, PART * sample.n) or alike.sum() < 0.9 * tied.sum() or len(blocks) < 0.1 * sample.n:
        return
    warnings.warn(
        f"{copies} of {sample.n} rows are exact copies of others in score and loss, although scores hardly tie "
        "otherwise; a promise counts them as independent: leave copies out, or give clusters=",
        CopiedRowsWarning,
        stacklevel=4,
    )
