"""``FittedScore``: an immutable value that scores outputs, and the one file that it is saved to."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from recuse._checks import UnmetNeed
from recuse._files import write_file
from recuse._typing import FloatArray
from recuse.outputs import Outputs
from recuse.scores import _score
from recuse.scores._batch import Batch
from recuse.scores._score import SCORES, Score

_HEADER = "recuse_score"


@dataclass(frozen=True, eq=False, repr=False)
class FittedScore:
    """A confidence score with what it has learnt from its fit data; nothing about it changes any more.

    Made by ``Score.fit`` or read by :func:`recuse.scores.load`.

    Parameters
    ----------
    entry : Score
        The score and its hyper-parameters.
    arrays : dict of str to ndarray
        What was learnt, read-only.
    fingerprint : str or None
        ``Outputs.fingerprint`` of the fit data; None for a score that is not fitted.
    n_fit : int
        Number of rows of the fit data.
    parts : tuple of FittedScore
        The scores that a combination consists of.

    Examples
    --------
    >>> import recuse
    >>> validation = recuse.Outputs(labels=[0, 1, 1, 0], logits=[[4, 0], [0, 2], [1, 0], [3, 0]])
    >>> fitted = recuse.scores.get("temp_neg_log_error").fit(validation)
    >>> fitted
    FittedScore(temp_neg_log_error, fitted on 4 rows)
    >>> round(float(fitted.arrays["temperature"]), 3)
    1.211
    >>> fitted.score(recuse.Outputs(logits=[[60, 0], [0, 0]], unlabelled=True)).round(3)
    array([49.565,  0.693])
    """

    entry: Score
    arrays: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str | None = None
    n_fit: int = 0
    parts: tuple[FittedScore, ...] = ()

    @property
    def name(self) -> str:
        """Name of the score."""
        return self.entry.name

    @property
    def settings(self) -> dict[str, Any]:
        """All hyper-parameters."""
        return self.entry.settings

    def score(self, outputs: Outputs) -> FloatArray:
        """Return one float64 per sample, higher = surer.

        Parameters
        ----------
        outputs : Outputs

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        UnmetNeed
            The outputs do not hold what the score needs.
        ValueError
            Another number of features or classes than the fit data had.
        """
        self.require(outputs)
        return np.asarray(self._of(Batch.of(outputs)))

    __call__ = score

    def require(self, outputs: Outputs) -> None:
        """Raise ``UnmetNeed`` unless the outputs hold what the score and its parts need."""
        self.entry.require(outputs)
        for part in self.parts:
            part.require(outputs)

    def score_arrays(
        self,
        *,
        logits: Any = None,
        probabilities: Any = None,
        features: Any = None,
        head: Any = None,
        passes: Any = None,
        predictions: Any = None,
    ) -> Any:
        """Return the score of arrays of any Array API library, in that library and on their device.

        Parameters
        ----------
        logits, probabilities : array of shape (n_samples, n_classes), optional
        features : array of shape (n_samples, n_features), optional
        head : tuple of arrays (n_classes, n_features) and (n_classes,), optional
        passes : array of shape (runs, n_samples, n_classes), optional
        predictions : array of shape (n_samples,), optional
            Predicted classes; default those of the largest logit or probability.

        Returns
        -------
        array of shape (n_samples,)
            float64, without gradients.
        """
        batch = Batch.from_arrays(
            logits=logits, probabilities=probabilities, features=features, head=head, passes=passes,
            predictions=predictions,
        )  # fmt: skip
        for need in self.entry.requires:
            if not _score.holds(batch, need, self.entry.settings):
                raise UnmetNeed(f"{self.name} needs {need}, which was not given; give {need}=")
        return self._of(batch)

    def _of(self, batch: Batch) -> Any:
        self._check_widths(batch)
        options = _bound(self.entry.function, self.entry.settings)
        state = {name: batch.array(value) for name, value in self.arrays.items()}
        values = [self._chunk(chunk, state, options) for chunk in batch.chunks()]
        return batch.xp.concat(values) + 0.0  # -0.0 becomes 0.0

    def _chunk(self, chunk: Batch, state: dict[str, Any], options: dict[str, Any]) -> Any:
        if self.parts:
            columns = [part._of(chunk) for part in self.parts]
            return self.entry.function(chunk.xp.stack(columns, axis=0), state, chunk, **options)
        if self.entry.fit_function is None:
            return self.entry.function(chunk, **options)
        return self.entry.function(chunk, state, **options)

    def _check_widths(self, batch: Batch) -> None:
        for name, key in (("features", "n_features"), ("logits", "n_classes"), ("probabilities", "n_classes")):
            column = getattr(batch, name)
            if column is not None and key in self.arrays and column.shape[1] != int(self.arrays[key]):
                raise ValueError(
                    f"{name} has {column.shape[1]} columns, but {self.name} was fitted on "
                    f"{int(self.arrays[key])}; use outputs of the same model"
                )

    def using(self, entry: Score) -> FittedScore:
        """Return the same fit with other hyper-parameters of scoring; those of the fit must be the same."""
        if entry.name != self.name or entry.fit_settings != self.entry.fit_settings:
            raise ValueError(f"{entry.spec} is not fitted as {self.entry.spec}; fit it")
        return replace(self, entry=entry)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted score to one ``.npz`` file, without pickle; :func:`recuse.scores.load` reads it.

        Parameters
        ----------
        path : str or path
            An existing file is replaced, all of it or not at all.
        """
        contents = _pack(self, "")
        header = contents.pop(_HEADER)
        text = np.array(json.dumps(header, allow_nan=False))
        write_file(path, lambda file: np.savez(file, allow_pickle=False, **{_HEADER: text}, **contents))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy, for worker processes; files hold no pickle."""
        return _rebuilt, (self.entry, dict(self.arrays), self.fingerprint, self.n_fit, self.parts)

    def __repr__(self) -> str:
        fitted = f", fitted on {self.n_fit} rows" if self.fingerprint is not None else ""
        return f"FittedScore({self.entry.spec}{fitted})"


def _rebuilt(entry: Score, arrays: dict[str, Any], fingerprint: str | None, n_fit: int, parts: Any) -> FittedScore:
    return FittedScore(entry, _frozen(arrays), fingerprint, n_fit, parts)


def fit(score: Score, outputs: Outputs | None) -> FittedScore:
    """Return the fitted score."""
    problem = _score.unfit(score, outputs)
    if problem is not None:
        raise UnmetNeed(problem)
    if score.fit_function is None or outputs is None:
        return FittedScore(score)
    state = score.fit_function(outputs, **_bound(score.fit_function, score.settings))
    parts = state.pop("parts", ())
    return FittedScore(score, _frozen(state), outputs.fingerprint, outputs.n, parts)


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
    ValueError
        No such file of a score, or one of another version of the score's definition.

    Examples
    --------
    >>> import pathlib, tempfile, recuse
    >>> outputs = recuse.datasets.load("cifar10_vgg16")
    >>> klm = recuse.scores.get("klm").fit(outputs)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "klm.npz"
    >>> klm.save(file)
    >>> bool((recuse.scores.load(file).score(outputs) == klm.score(outputs)).all())
    True
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file, np.load(file, allow_pickle=False) as archive:
            contents = {key: archive[key] for key in archive.files}
        header = json.loads(str(contents.pop(_HEADER)))
    except FileNotFoundError:
        raise FileNotFoundError(f"{name}: no such file; check the path") from None
    except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile, TypeError) as error:
        raise ValueError(f"{name}: is no saved score ({error}); write it with FittedScore.save") from None
    return _unpack(name, header, contents, "")


def _pack(fitted: FittedScore, prefix: str) -> dict[str, Any]:
    """Return header and arrays; the parts' arrays have a prefix."""
    header: dict[str, Any] = {
        "name": fitted.name,
        "version": fitted.entry.version,
        "options": {key: _plain(value) for key, value in fitted.entry.options.items()},
        "fingerprint": fitted.fingerprint,
        "n_fit": fitted.n_fit,
        "parts": [],
    }
    contents: dict[str, Any] = {f"{prefix}{key}": value for key, value in fitted.arrays.items()}
    for number, part in enumerate(fitted.parts):
        inner = _pack(part, f"{prefix}part{number}.")
        header["parts"].append(inner.pop(_HEADER))
        contents |= inner
    return contents | {_HEADER: header}


def _unpack(path: str, header: dict[str, Any], contents: dict[str, Any], prefix: str) -> FittedScore:
    if header["name"] not in SCORES:
        raise ValueError(f"{path}: holds the score {header['name']!r}, which this version of recuse does not know")
    entry = SCORES[header["name"]]
    if header["version"] != entry.version:
        raise ValueError(
            f"{path}: holds version {header['version']} of {entry.name}, this is version {entry.version}; fit it again"
        )
    own = {key[len(prefix) :]: value for key, value in contents.items() if key.startswith(prefix)}
    arrays = {key: value for key, value in own.items() if "." not in key}
    parts = tuple(
        _unpack(path, part, contents, f"{prefix}part{number}.") for number, part in enumerate(header["parts"])
    )
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in header["options"].items()}
    return FittedScore(entry.using(**options), _frozen(arrays), header["fingerprint"], header["n_fit"], parts)


def _frozen(arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    result = {}
    for name, value in arrays.items():
        array = np.asarray(value)
        view = array.view()
        view.flags.writeable = False
        result[name] = view
    return MappingProxyType(result)


def _bound(function: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a function takes."""
    return {key: settings[key] for key in _score._keywords(function)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, FittedScore):
        return value.entry.spec
    return value.item() if isinstance(value, np.generic) else value
