"""Certificates that are kept in a file: take one up, and count rows in it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from abstain._files import digest_of, locked
from abstain._typing import ArrayLike, FloatArray, Options
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
    content = _state.STATE.read(os.fspath(path))
    found = LiveCertificate(**content["options"])
    _state.restore(found, content)
    found.on_file[os.path.realpath(path)] = digest_of(content)
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


#: Thresholds for scores in [0, 1]: finer where they may crowd near 1, and else in steps of about a hundredth.
USUAL = 1.0 - np.append(np.geomspace(1e-7, 0.01, 20), np.linspace(0.02, 1.0, 80))


def begin_live(confidence: FloatArray, others: FloatArray | None, options: Options) -> LiveCertificate:
    """Return a new certificate: on a grid from the scores of other rows, or for scores in [0, 1] a fixed one.

    The scores of the rows that are counted may not make the grid: it is fixed before.
    """
    if "risk" not in options:
        raise ValueError("there is no state yet, and a new certificate needs a limit; give risk=")
    if others is not None:
        return LiveCertificate(scores=others, **options)
    known = confidence[~np.isnan(confidence)]
    if known.size and not (known.min() >= 0.0 and known.max() <= 1.0):
        raise ValueError(
            f"scores span [{known.min():g}, {known.max():g}], and a grid is known for [0, 1] only; give other rows "
            "whose scores make it (grid=)"
        )
    return LiveCertificate(thresholds=USUAL, **options)


def same_options(live: LiveCertificate, given: Options) -> None:
    """Refuse options that differ from those that were fixed at the start."""
    fixed = live.options()
    for name, value in given.items():
        if fixed[name] != value:
            raise ValueError(
                f"{name}={value!r} differs from that of this certificate, {fixed[name]!r}, which was fixed at the "
                "start; leave it out, or begin another one"
            )
