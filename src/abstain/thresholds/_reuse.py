"""Notice when the rows of a report are the calibration rows."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain._checks import same_length, vector
from abstain._typing import ArrayLike, FloatArray
from abstain.thresholds._sample import Sample, read
from abstain.thresholds._sketches import FEWEST, Hashes, distinct, hashed, in_common


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
    """The rows of a certificate are those on which a score or its options were selected, which voids the promise.

    Only what was selected in this process is known, and only by equal scores and losses.

    Examples
    --------
    >>> from abstain.thresholds import ReusedSelectionWarning
    >>> issubclass(ReusedSelectionWarning, UserWarning)
    True
    """


#: Hashed rows, score with loss, of what was selected in this process: the latest selections.
_SELECTED: deque[Hashes] = deque(maxlen=64)
#: Part of the rows of a certificate that must be known from a selection before anything is said.
_PART = 0.2


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

    Examples
    --------
    >>> import abstain
    >>> len(abstain.thresholds.remember_selection([0, 1, 0, 0], [0.9, 0.8, 0.7, 0.7]))
    3
    """
    columns = vector(loss, "loss", np, None), vector(confidence, "confidence", np, None)
    same_length(loss=columns[0], confidence=columns[1])
    hashes = distinct(hashed(columns[1], columns[0]))
    _SELECTED.append(hashes)
    return hashes


def warn_if_selected(sample: Sample) -> None:
    """Warn the caller's caller if many rows are known from a selection; scores that tie say nothing."""
    if not _SELECTED:
        return
    hashes = distinct(hashed(sample.score, sample.loss))
    if len(hashes) < 0.5 * sample.n:  # of rounded scores, other rows look the same
        return
    known = max(np.isin(hashes, each, assume_unique=True).mean() for each in _SELECTED)
    if known >= _PART:
        warnings.warn(
            f"{100.0 * known:.0f} % of these rows were used to select a score or its options; the promise does not "
            "hold for what was selected on the same rows: certify on others, or use thresholds.choose_among",
            ReusedSelectionWarning,
            stacklevel=3,
        )


def warn_if_reused(calibration: Mapping[str, Any], loss: FloatArray, score: FloatArray) -> None:
    """Warn the caller's caller if rows are those on which a threshold was chosen, or many of them are.

    By equal scores and losses; rows whose scores were rescaled, or tie often, cannot be recognised.
    """
    known = calibration.get("sketch", "") if len(loss) >= FEWEST else ""
    mine, theirs = in_common(known, hashed(np.where(np.isnan(score), -np.inf, score), loss)) if known else (0.0, 0.0)
    if max(mine, theirs) < _PART and not _same(calibration, loss, score):
        return
    much = "these are" if mine > 0.99 or mine < _PART else f"about {100.0 * mine:.0f} % of these are among"
    warnings.warn(
        f"{much} the rows on which the threshold was chosen: coverage and risk are optimistic; "
        "report on rows that were held out",
        ReusedCalibrationWarning,
        stacklevel=3,
    )


def _same(calibration: Mapping[str, Any], loss: FloatArray, score: FloatArray) -> bool:
    """Return whether these are exactly the calibration rows, in any order, also where scores tie."""
    if len(loss) == 0 or len(loss) != calibration.get("n"):
        return False
    return read(loss, score, None, "reject").fingerprint == calibration.get("fingerprint")
