"""Certificates that are kept in a file: take one up, and count rows in it."""

from __future__ import annotations

import os
from typing import Any

from abstain._files import locked
from abstain._typing import ArrayLike
from abstain.live import _state
from abstain.live._certificate import LiveCertificate
from abstain.live._result import LiveCertification


def load_live(path: str | os.PathLike[str]) -> LiveCertificate:
    """Take up a certificate that :meth:`LiveCertificate.save` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    LiveCertificate

    Raises
    ------
    FileNotFoundError
        No such file.
    ValueError
        No live certificate, or one that was edited or damaged.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "live.json"
    >>> abstain.LiveCertificate(risk=0.05, thresholds=[0.9, 0.8, 0.5]).save(file)
    >>> abstain.live.load_live(file).threshold
    inf
    """
    content = _state.read(os.fspath(path))
    found = LiveCertificate(**content["options"])
    _state.restore(found, content)
    return found


def update_live(path: str | os.PathLike[str], confidence: ArrayLike, loss: ArrayLike, **rows: Any) -> LiveCertification:
    """Count new rows in the certificate of a file, which several processes may do at the same time.

    Parameters
    ----------
    path : str or path
        The file is locked, read, updated and written at once: rows of every process count, and count once.
    confidence, loss, **rows
        As for :meth:`LiveCertificate.update`.

    Returns
    -------
    LiveCertification

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "live.json"
    >>> abstain.LiveCertificate(risk=0.05, thresholds=[0.9, 0.8, 0.5]).save(file)
    >>> abstain.live.update_live(file, [0.95, 0.4], [0, 1]).groups[""].rows
    2
    """
    name = os.fspath(path)
    with locked(name):
        live = load_live(name)
        found = live.update(confidence, loss, **rows)
        _state.write(name, live)
    return found
