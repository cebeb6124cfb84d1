"""The one file that a fitted score is saved to: named arrays and a header in JSON, without pickle."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from abstain._files import write_file
from abstain.scores._catalogue import LEAF_OF, score_of
from abstain.scores._fitted import FittedScore, rebuilt

_HEADER = "abstain_score"
_FORMER = "recuse_score"  # refused, with the remedy: no file is read under two names


def save(fitted: FittedScore, path: str | os.PathLike[str]) -> None:
    """Write a fitted score; an existing file is replaced, all of it or not at all."""
    header, arrays = _pack(fitted, "")
    arrays[_HEADER] = np.array(json.dumps(header))
    write_file(path, lambda file: np.savez(file, **arrays))


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
        No saved score or a damaged one; one of another version of the score's definition.

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
        header = json.loads("{}" if former else str(contents.pop(_HEADER)))
        stale = former or _stale(header)
        if stale is None:
            return _unpack(header, contents, "")
    except FileNotFoundError:
        raise FileNotFoundError(f"{name}: no such file; check the path") from None
    except Exception as error:  # whatever a damaged file leads to
        raise ValueError(f"{name}: is no saved score ({error}); write it with FittedScore.save") from None
    raise ValueError(f"{name}: {stale}")


def _pack(fitted: FittedScore, prefix: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays; the names of the parts' arrays have a prefix."""
    arrays = {f"{prefix}{key}": value for key, value in fitted.arrays.items()}
    parts = []
    for number, part in enumerate(fitted.parts):
        header, inner = _pack(part, f"{prefix}part{number}.")
        parts.append(header)
        arrays |= inner
    header = {
        "name": fitted.name,
        "version": fitted.entry.version,
        "options": {key: _plain(value) for key, value in fitted.entry.options.items()},
        "arrays": list(fitted.arrays),
        "fingerprint": fitted.fingerprint,
        "n_fit": fitted.n_fit,
        "parts": parts,
        "class_names": fitted.class_names,
    }
    return header, arrays


def _stale(header: dict[str, Any]) -> str | None:
    """Return why a score cannot be had in this version of the library; None if it can."""
    name, version = header["name"], header["version"]
    if name not in LEAF_OF:
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


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, FittedScore):
        return value.entry.spec
    return value.item() if isinstance(value, np.generic) else value
