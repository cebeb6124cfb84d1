"""Read what a file of bins holds: the format that stands in it says which kind of summary it is."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from abstain.summaries import _file
from abstain.summaries._groups import GroupedSummary
from abstain.summaries._joint import JointSummary
from abstain.summaries._key import FORMAT, OF_CELLS, OF_GROUPS
from abstain.summaries._summary import Summary

AnySummary = Summary | GroupedSummary | JointSummary

#: What makes a summary of a frame, by its format.
MAKERS: dict[str, Any] = {FORMAT: Summary.of_frame, OF_GROUPS: GroupedSummary.of_frame, OF_CELLS: JointSummary.of_frame}


def read_summary(path: str | os.PathLike[str]) -> AnySummary:
    """Read a summary that :meth:`Summary.save`, ``abstain summarize`` or its SQL have written.

    Parameters
    ----------
    path : str or path
        A Parquet file with the columns ``format``, ``key``, ``bin``, ``n``, ``loss_sum``, ``other_losses``,
        ``largest_loss``, ``lowest`` and ``highest``, as the result of ``abstain summarize --sql`` has them.

    Returns
    -------
    Summary, GroupedSummary or JointSummary
        What the file says that it is; a grouped one has the columns ``groups`` and ``group``, too, and one of two
        scores those of :meth:`JointSummary.columns`.

    Raises
    ------
    ValueError
        A file that is damaged, was edited, is no summary, has another format, or whose counts, losses and scores
        contradict each other.
    FileNotFoundError
        There is no such file.
    ImportError
        polars is missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from abstain.summaries import Summary, read_summary
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "monday.parquet"
    >>> Summary().update([0, 1], [0.9, 0.5]).save(file)
    >>> read_summary(file)
    Summary(probability/16, n=2, bins=2)
    """
    name = os.fspath(path)
    try:
        frame = _file.read(name)
        with np.errstate(invalid="ignore"):  # a damaged file may hold signalling NaN
            made: AnySummary = MAKERS[_file.format_of(frame, MAKERS)](frame)
        _file.check_digest(frame)
        return made
    except OSError:
        raise
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
