"""Notice rows that are copies of other rows: one observation, counted more than once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from abstain._typing import BoolArray, FloatArray
from abstain.blocks import TieBlocks
from abstain.thresholds._sample import Sample, read
from abstain.thresholds._sketches import Hashes, distinct, hashed

#: Copies are said from this many on, if they are this part of the rows.
FEWEST, PART = 10, 0.05
#: Scores that are whole numbers of these parts, or this close to 1, tie without being copies.
GRID, TOP = 1e4, 2.0**-14
#: Nor are they copies unless this many times as many tie as rounding explains.
BEYOND = 2.0
_REMEDY = "a promise counts them as independent: leave copies out, or give clusters="


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


def warn_if_copied(loss: FloatArray, score: FloatArray) -> None:
    """As :func:`warn_of_copies`, of columns."""
    warn_of_copies(read(loss, score, None, "reject"))


def warn_of_copies(sample: Sample) -> None:
    """Warn the caller's callers if rows have both score and loss in common where scores are otherwise unique."""
    blocks = sample.blocks
    if blocks.largest_tie == 1:
        return
    entries = np.unique(sample.score, return_counts=True)[1][::-1]
    if len(entries) != len(blocks):  # rows of weight 0
        return
    last = np.cumsum(entries) - 1
    first = last - entries + 1
    copies = _suspected(blocks, sample.loss[first] == sample.loss[last])  # within a tie rows are sorted by loss
    if copies:
        said = f"{copies} of {sample.n} rows are exact copies of others in score and loss, although scores hardly tie "
        warnings.warn(f"{said}otherwise; {_REMEDY}", CopiedRowsWarning, stacklevel=4)


def copied_rows(tables: Iterable[TieBlocks], columns: Iterable[Any]) -> str | None:
    """Return what to say of copies among rows of which more is known than a score and a 0/1 loss; None: nothing.

    Ties of one of the ``tables`` are what raises the suspicion; ``columns`` hold all that is known of the rows, to
    compare them as a whole: rows that share a rounded score are no copies if anything else differs.
    """
    if not any(_suspected(each, (each.loss == 0.0) | (each.loss == each.count)) for each in tables):
        return None
    rows: Hashes = np.zeros(1, dtype=np.uint64)  # one number for each row, mixed with one column after the other
    for column in columns:
        matrix = np.asarray(column)
        matrix = matrix.reshape(len(matrix), -1)
        for part in range(matrix.shape[1]):
            values = matrix[:, part]
            if not np.issubdtype(values.dtype, np.number):
                values = np.unique(values.astype(str), return_inverse=True)[1]
            rows = rows * np.uint64(0x9E3779B97F4A7C15) ^ hashed(values, np.zeros(len(values)))
            rows ^= rows >> np.uint64(31)
    copies = len(rows) - len(distinct(rows))
    if copies < max(FEWEST, PART * len(rows)):
        return None
    return f"{copies} of {len(rows)} rows are exact copies of others in all that is known of them; {_REMEDY}"


def _suspected(blocks: TieBlocks, same: BoolArray) -> int:
    """Return how many rows look like copies: they tie, with the ``same`` loss, where scores do not by rounding."""
    if blocks.largest_tie == 1 or len(blocks) < 0.1 * blocks.n:
        return 0
    score, several = blocks.score, blocks.count > 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.round(score * GRID) / GRID == score
    tied = several & np.isfinite(score) & ~rounded & ~((score > 1.0 - TOP) & (score <= 1.0))
    alike = tied & same
    copies = int((blocks.count[alike] - 1.0).sum())
    if copies < max(FEWEST, PART * blocks.n) or alike.sum() < 0.9 * tied.sum():
        return 0
    return copies if copies > BEYOND * _by_rounding(score, tied) * blocks.n else 0


def _by_rounding(score: FloatArray, tied: BoolArray) -> float:
    """Return the part of the rows that rounding would have tie with others, where scores do.

    Of those that tie the part that has a neighbour one step of the rounding away says how many rows come on a step,
    d: of a Poisson number of rows on each step 1 - (1 - exp(-d))/d tie with one before. Copies tie anywhere.
    """
    known = np.isfinite(score)
    near = np.abs(np.diff(score[known])) <= 1.5 * _step(score[known])[1:]
    beside = np.concatenate([[False], near]) | np.concatenate([near, [False]])
    rows = -0.5 * np.log1p(-min(float(beside[tied[known]].mean()), 1.0 - 1e-9))
    return 1.0 - float(-np.expm1(-rows)) / rows if rows > 0.0 else 0.0


def _step(score: FloatArray) -> FloatArray:
    """Return the distance of neighbours on the coarsest grid that holds all scores: of digits, or of short floats.

    Twice that of single precision: a softmax is 1 over a sum from 1 to 2, whose steps are twice those below 1.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        for digits in range(1, 9):
            if np.array_equal(np.round(score, digits), score):
                return np.full(len(score), 10.0**-digits)
        for kind, steps in ((np.float16, 1.0), (np.float32, 2.0)):
            short = score.astype(kind)
            if np.array_equal(short, score):
                return np.asarray(steps * np.abs(np.spacing(short)), dtype=np.float64)
    return np.asarray(np.abs(np.spacing(score)), dtype=np.float64)
