"""Warnings about calibration rows: copies, rows that were used before, two scales in one column, odd groups."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np

from abstain._checks import listed, same_length, vector
from abstain._result import Caveat
from abstain._typing import ArrayLike, BoolArray, Document, FloatArray
from abstain.blocks import TieBlocks
from abstain.policy import Calibration
from abstain.thresholds._row_hashes import FEWEST, Hashes, distinct, hashed, in_common
from abstain.thresholds._sample import Sample, read

#: Part of the rows from which a second scale in one column is reported.
PART_OF_SCALE = 0.05
#: Numbers with decimals that are as many groups as this are measured values.
MANY_GROUPS = 20
#: Copies are reported from this many on, if they are this part of the rows.
FEWEST_COPIES, PART_OF_COPIES = 10, 0.05
#: Scores that are whole numbers of these parts, or this close to 1, tie without being copies.
GRID, TOP = 1e4, 2.0**-14
#: Nor are they copies unless this many times as many tie as rounding explains.
BEYOND = 2.0
#: Part of the rows that must be recognised before anything is reported.
PART_REUSED = 0.2
#: Hashed rows, score with loss, of what was selected in this process: the latest selections.
_SELECTED: deque[Hashes] = deque(maxlen=64)
_REMEDY = "a guarantee counts them as independent: leave copies out, or give clusters="


class CopiedRowsWarning(UserWarning):
    """Rows are exact copies of others, although scores rarely tie: a guarantee counts them as independent.

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


class ReusedCalibrationWarning(UserWarning):
    """The rows of a report are the rows on which the threshold was chosen, so the report is optimistic.

    Examples
    --------
    >>> import warnings, abstain
    >>> found = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = abstain.audit(found, [0, 1], [0.9, 0.2])
    >>> caught[0].category.__name__
    'ReusedCalibrationWarning'
    """


class ReusedSelectionWarning(UserWarning):
    """The rows of a certificate are those on which a score or its options were selected: the guarantee is void.

    Only what was selected in this process is known, and only by equal scores and losses.

    Examples
    --------
    >>> from abstain.thresholds import ReusedSelectionWarning
    >>> issubclass(ReusedSelectionWarning, UserWarning)
    True
    """


def warn_of_rows(sample: Sample, stacklevel: int = 3) -> None:
    """Warn of calibration rows on which a guarantee may not hold; ``stacklevel``: as for a warning of this function."""
    for kind, values in unusual(sample.score):
        text = Caveat.of(kind, score="the score", **values).text.removesuffix(".")
        warnings.warn(text, UserWarning, stacklevel=stacklevel)
    warn_if_selected(sample, stacklevel + 1)
    if sample.cluster is None:
        warn_of_copies(sample, stacklevel + 1)


def unusual(score: FloatArray) -> Iterator[tuple[str, Document]]:
    """Yield codes for missing scores, and two scales in one column, as the kind of a caveat and its values."""
    finite = score[np.isfinite(score)]
    for code in {float(finite.min()), float(finite.max())} if finite.size else ():
        rest = finite[finite != code]
        nines = set(f"{abs(code):g}") == {"9"} or code == -1.0
        if nines and rest.size and float(np.abs(rest - code).min()) > max(float(np.ptp(rest)), 0.5):
            yield "sentinel", {"count": finite.size - rest.size, "code": code}
            finite = rest
    if finite.size and finite.min() >= 0.0 and 10.0 < finite.max() <= 100.0:
        fractions, between, cents = np.histogram(finite, [0.0, 1.0 + 1e-9, 10.0, 100.0])[0]
        if min(fractions, cents) >= PART_OF_SCALE * finite.size and 3 * between < min(fractions, cents):
            yield "mixed_units", {"fractions": int(fractions), "cents": int(cents)}


def warn_of_groups(names: Iterable[str], stacklevel: int = 4) -> None:
    """Warn of groups that differ by case or blanks alone, and of measured values as groups."""
    alike: dict[str, list[str]] = {}
    every = list(names)
    for name in every:
        alike.setdefault("".join(name.split()).casefold(), []).append(name)
    for spellings in alike.values():
        if len(spellings) > 1 or spellings[0] != spellings[0].strip():
            what = "differ by case or blanks alone" if len(spellings) > 1 else "has blanks at its ends"
            text = f"groups {listed(spellings, 4)} {what}, and each gets its own threshold; write one spelling"
            warnings.warn(text, UserWarning, stacklevel=stacklevel)
    measured = sum(_has_decimals(name) for name in every)
    if measured > MANY_GROUPS and 2 * measured > len(every):
        text = f"the groups are {len(every)} numbers with decimals: give intervals of a measured value as groups"
        warnings.warn(text, UserWarning, stacklevel=stacklevel)


def _has_decimals(name: str) -> bool:
    try:
        return not float(name).is_integer()
    except (ValueError, OverflowError):
        return False


# ---------------------------------------------------------------------- rows that were used before


def remember_selection(loss: ArrayLike, confidence: ArrayLike) -> Hashes:
    """Remember that a score was selected on these rows; a certificate of this process on many of them warns.

    :func:`abstain.select` and :func:`abstain.tune` call it for what they choose.

    Parameters
    ----------
    loss, confidence : array-like of shape (n_samples,)
        The rows, with the score that was chosen.

    Returns
    -------
    ndarray of int
        One hash for each different row, sorted: which rows they were, without what they hold.
    """
    columns = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None)
    same_length(loss=columns[0], confidence=columns[1])
    hashes = distinct(hashed(columns[1], columns[0]))
    _SELECTED.append(hashes)
    return hashes


def warn_if_selected(sample: Sample, stacklevel: int = 3) -> None:
    """Warn if many rows are known from a selection; scores that tie say nothing."""
    if not _SELECTED:
        return
    hashes = distinct(hashed(sample.score, sample.loss))
    if len(hashes) < 0.5 * sample.n:  # of rounded scores, other rows look the same
        return
    known = max(np.isin(hashes, each, assume_unique=True).mean() for each in _SELECTED)
    if known >= PART_REUSED:
        text = (
            f"{100.0 * known:.0f} % of these rows were used to select a score or its options, and no guarantee holds "
            "for what was selected on the same rows: certify on others, or use choose_among"
        )
        warnings.warn(text, ReusedSelectionWarning, stacklevel=stacklevel)


def warn_if_reused(calibration: Calibration, loss: FloatArray, score: FloatArray) -> None:
    """Warn the caller's caller if rows are those on which a threshold was chosen, or many of them are.

    By equal scores and losses; rows whose scores were rescaled, or tie often, cannot be recognised.
    """
    known = calibration.sketch if len(loss) >= FEWEST else None
    mine, theirs = in_common(known, hashed(np.where(np.isnan(score), -np.inf, score), loss)) if known else (0.0, 0.0)
    whole = mine > 0.99
    if max(mine, theirs) < PART_REUSED:  # where scores tie only exactly the calibration rows are recognised
        if not len(loss) or len(loss) != calibration.n:
            return
        if read(loss, score, None, "reject").fingerprint != calibration.fingerprint:
            return
        whole = True
    much = "these are" if whole else f"about {100.0 * mine:.0f} % of these are among"
    text = f"{much} the rows on which the threshold was chosen, so coverage and risk are optimistic; take held-out rows"
    warnings.warn(text, ReusedCalibrationWarning, stacklevel=3)


# ---------------------------------------------------------------------- copies


def warn_of_copies(sample: Sample, stacklevel: int = 4) -> None:
    """Warn if rows have both score and loss in common where scores are otherwise unique."""
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
        warnings.warn(f"{said}otherwise; {_REMEDY}", CopiedRowsWarning, stacklevel=stacklevel)


def copied_rows(tables: Iterable[TieBlocks], columns: Iterable[ArrayLike]) -> str | None:
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
    if copies < max(FEWEST_COPIES, PART_OF_COPIES * len(rows)):
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
    if copies < max(FEWEST_COPIES, PART_OF_COPIES * blocks.n) or alike.sum() < 0.9 * tied.sum():
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
