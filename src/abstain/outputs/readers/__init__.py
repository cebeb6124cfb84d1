"""Readers of other formats: one module each, found by what the file holds."""

from __future__ import annotations

from abstain.outputs.readers import _fd_shifts, _inspect, _lm_eval, _openood
from abstain.outputs.readers._reader import Peek, Reader, Table
from abstain.outputs.readers._verbal import levels_of as levels_of
from abstain.outputs.readers._verbal import spoken

__all__ = ["READERS", "Peek", "Reader", "Table", "find", "recognised", "spoken"]

#: Every reader, in the order in which they are asked.
READERS: tuple[Reader, ...] = tuple(module.READER for module in (_lm_eval, _inspect, _fd_shifts, _openood))


def find(path: str) -> tuple[Reader, Table] | None:
    """Return the reader that recognises a file and what it gives; None for a file of our own kind.

    Parameters
    ----------
    path : str

    Returns
    -------
    tuple of Reader and Table, or None

    Raises
    ------
    ValueError
        A file of a known format that is damaged, or that has to be converted first; the message says how.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from abstain.outputs.readers import find
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "cifar10.npz"
    >>> np.savez(path, pred=[0, 1], conf=[0.9, 0.2], label=[0, -1])
    >>> reader, table = find(str(path))
    >>> reader.name, table.columns["is_ood"]
    ('OpenOOD', array([False,  True]))
    """
    peek = Peek(path)
    reader = recognised(peek)
    return None if reader is None else (reader, reader.read(peek))


def recognised(peek: Peek) -> Reader | None:
    """Return the reader that recognises a file, without reading more than it takes to tell."""
    return next((each for each in READERS if each.recognises(peek)), None)
