"""Readers of other formats: one module each, found by what the file holds."""

from __future__ import annotations

from abstain.outputs.readers import _fd_shifts, _inspect, _lm_eval, _openood
from abstain.outputs.readers._reader import Peek as Peek
from abstain.outputs.readers._reader import Reader
from abstain.outputs.readers._reader import Table as Table
from abstain.outputs.readers._verbal import levels_of as levels_of
from abstain.outputs.readers._verbal import spoken as spoken

#: Every reader, in the order in which they are asked.
READERS: tuple[Reader, ...] = tuple(module.READER for module in (_lm_eval, _inspect, _fd_shifts, _openood))


def recognised(peek: Peek) -> Reader | None:
    """Return the reader that recognises a file, without reading more than is necessary; None for our own kinds.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from abstain.outputs import readers
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "cifar10.npz"
    >>> np.savez(path, pred=[0, 1], conf=[0.9, 0.2], label=[0, -1])
    >>> peek = readers.Peek(str(path))
    >>> reader = readers.recognised(peek)
    >>> reader.name, reader.read(peek).columns["is_ood"]
    ('OpenOOD', array([False,  True]))
    """
    return next((each for each in READERS if each.recognises(peek)), None)
