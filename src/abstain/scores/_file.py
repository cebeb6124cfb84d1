"""Read the file that a fitted score was saved to."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from abstain.scores._catalogue import SCORES, score_of
from abstain.scores._fitted import HEADER, FittedScore, digest, rebuilt

_FORMER = "recuse_score"  # refused, with the remedy: no file is read under two names


def load(path: str | os.PathLike[str]) -> FittedScore:
    """Read a fitted score from the file that :meth:`FittedScore.save` has written.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    FittedScore

    Raises
    ------
    FileNotFoundError
        No such file.
    ValueError
        No saved score or a damaged one; one whose contents differ from what was saved (a digest stands in its header);
        one of another version of the score's definition.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> outputs = abstain.datasets.load("cifar10_vgg16")
    >>> klm = abstain.scores.get("klm").fit(outputs)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "klm.npz"
    >>> klm.save(file)
    >>> bool((abstain.scores.load(file).score(outputs) == klm.score(outputs)).all())
    True
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file, np.load(file, allow_pickle=False) as archive:
            contents = {key: archive[key] for key in archive.files}
        former = "was saved when abstain was called recuse; fit the score again" if _FORMER in contents else None
        header = json.loads("{}" if former else str(contents.pop(HEADER)))
        stale = former or _stale(header)
        if stale is None:
            written = header.pop("digest", None)
            fitted = _unpack(header, contents, "")
            if written != digest(header, contents):
                raise ValueError("its arrays or its header were changed after it was saved, or it has no digest")
            return fitted
    except FileNotFoundError:
        raise FileNotFoundError(f"{name}: no such file; check the path") from None
    except Exception as error:  # whatever a damaged file leads to
        raise ValueError(f"{name}: is no saved score ({error}); write it with FittedScore.save") from None
    raise ValueError(f"{name}: {stale}")


def _stale(header: dict[str, Any]) -> str | None:
    """Return why a score cannot be had in this version of the library; None if it can."""
    name, version = header["name"], header["version"]
    if name not in SCORES:
        return f"holds the score {name!r}, which this version of abstain does not know"
    if version != score_of(name).version:
        return f"holds version {version} of {name}, this is version {score_of(name).version}; fit it again"
    return next(filter(None, map(_stale, header["parts"])), None)


def _unpack(header: dict[str, Any], contents: dict[str, Any], prefix: str) -> FittedScore:
    arrays = {key: contents[f"{prefix}{key}"] for key in header["arrays"]}
    parts = tuple(_unpack(part, contents, f"{prefix}part{number}.") for number, part in enumerate(header["parts"]))
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in header["options"].items()}
    entry = score_of(header["name"]).using(**options)
    names = header.get("class_names")  # files of earlier versions have none
    return rebuilt(entry, arrays, header["fingerprint"], header["n_fit"], parts, names and tuple(names))
