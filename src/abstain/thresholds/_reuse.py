"""Notice when the rows of a report are the calibration rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from abstain.thresholds._sample import Sample


class ReusedCalibrationWarning(UserWarning):
    """The rows of a report are the rows on which the threshold was chosen, so the report is optimistic.

    Examples
    --------
    >>> import warnings, abstain
    >>> found = abstain.choose_threshold([0, 1], [0.9, 0.2], coverage=0.5)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = abstain.thresholds.audit(found, [0, 1], [0.9, 0.2])
    >>> caught[0].category.__name__
    'ReusedCalibrationWarning'
    """


def warn_if_reused(calibration: Mapping[str, Any], sample: Sample) -> None:
    """Warn the caller's caller if a sample is the one on which a threshold was chosen."""
    if sample.fingerprint == calibration.get("fingerprint"):
        warnings.warn(
            "these are the rows on which the threshold was chosen: coverage and risk are optimistic; "
            "report on rows that were held out",
            ReusedCalibrationWarning,
            stacklevel=3,
        )
