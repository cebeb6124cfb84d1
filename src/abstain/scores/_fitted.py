"""``FittedScore``: an immutable value that scores outputs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._files import write_file
from abstain._typing import AnyArray, Array, ArrayLike, Document, FloatArray
from abstain.outputs import Outputs
from abstain.scores._batch import Batch

if TYPE_CHECKING:
    from abstain.scores._score import Score

#: Name of the header in the file of a fitted score.
HEADER = "abstain_score"


@dataclass(frozen=True, eq=False, repr=False)
class FittedScore:
    """A confidence score with what it has learnt from its fit data; nothing about it changes any more.

    Made by ``Score.fit`` or read by :func:`abstain.scores.load`.

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
    class_names : tuple of str or None
        Names of the classes of the fit data, in their order; None if they have none.

    Examples
    --------
    >>> import abstain
    >>> validation = abstain.Outputs(labels=[0, 1, 1, 0], logits=[[4, 0], [0, 2], [1, 0], [3, 0]])
    >>> fitted = abstain.scores.get("temp_neg_log_error").fit(validation)
    >>> fitted
    FittedScore(temp_neg_log_error, fitted on 4 rows)
    >>> round(float(fitted.arrays["temperature"]), 3)
    1.211
    >>> fitted.score(abstain.Outputs(logits=[[60, 0], [0, 0]], unlabelled=True)).round(3)
    array([49.565,  0.693])
    """

    entry: Score
    arrays: Mapping[str, AnyArray] = field(default_factory=dict)
    fingerprint: str | None = None
    n_fit: int = 0
    parts: tuple[FittedScore, ...] = ()
    class_names: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """Name of the score."""
        return self.entry.name

    @property
    def settings(self) -> dict[str, object]:
        """All hyper-parameters."""
        return self.entry.settings

    def score(self, outputs: Outputs) -> FloatArray:
        """Return one float64 per sample, higher = more confident.

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
            Another number of features or classes than the fit data had, or other names of classes.
        """
        self.require(outputs)
        return np.asarray(self._over(Batch.of(outputs)))

    def require(self, outputs: Outputs | Batch) -> None:
        """Raise ``UnmetNeed`` unless the outputs hold what the score and its parts need, of the same classes."""
        self.entry.require(outputs)
        self._check_names(getattr(outputs, "class_names", None))
        for part in self.parts:
            part.require(outputs)

    def score_arrays(
        self,
        *,
        logits: ArrayLike = None,
        probabilities: ArrayLike = None,
        features: ArrayLike = None,
        head: tuple[ArrayLike, ArrayLike] | None = None,
        passes: ArrayLike = None,
        predictions: ArrayLike = None,
    ) -> Array:
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
            float64, without gradients, in the library and on the device of the first array that is of a library.

        Raises
        ------
        UnmetNeed
            An array that the score needs is not given.
        ValueError
            Shapes that are wrong or differ; NaN or infinities; probabilities that are none.
        """
        batch = Batch.from_arrays(
            logits=logits,
            probabilities=probabilities,
            features=features,
            head=head,
            passes=passes,
            predictions=predictions,
        )
        self.require(batch)
        return self._over(batch)

    def _over(self, batch: Batch) -> Array:
        score = self._on(batch)
        return batch.xp.concat([score(chunk) for chunk in batch.chunks()])

    def _on(self, batch: Batch) -> Callable[[Batch], Array]:
        """Return the score as a function of chunks of this batch, with what was learnt brought to where they live."""
        self._check_widths(batch)
        options = self.entry.bound(self.entry.function)
        state = {name: batch.array(value) for name, value in self.arrays.items()}
        parts = [part._on(batch) for part in self.parts]

        def score(chunk: Batch) -> Array:
            if parts:
                columns = chunk.xp.stack([part(chunk) for part in parts], axis=0)
                value = self.entry.function(columns, state, chunk, **options)
            elif self.entry.fit_function is None:
                value = self.entry.function(chunk, **options)
            else:
                value = self.entry.function(chunk, state, **options)
            return value + 0.0  # -0.0 becomes 0.0

        return score

    def _check_widths(self, batch: Batch) -> None:
        for name, key in (("features", "n_features"), ("logits", "n_classes"), ("probabilities", "n_classes")):
            column = getattr(batch, name)
            if column is not None and key in self.arrays and column.shape[1] != int(self.arrays[key]):
                raise ValueError(
                    f"{name} has {column.shape[1]} columns, but {self.name} was fitted on "
                    f"{int(self.arrays[key])}; use outputs of the same model"
                )

    def _check_names(self, names: Sequence[str] | None) -> None:
        """Refuse other classes where class k of the fit data has to be class k of the outputs."""
        if "n_classes" in self.arrays and names is not None and self.class_names not in (None, tuple(names)):
            raise ValueError(
                f"{self.name} was fitted on the classes {', '.join(self.class_names or ())}, but these outputs have "
                f"{', '.join(names)}; give both the same class_names="
            )

    def using(self, entry: Score) -> FittedScore:
        """Return the same fit with other hyper-parameters of scoring; those of the fit must be the same."""
        if entry.name != self.name or entry.fit_settings != self.entry.fit_settings:
            raise ValueError(f"this is the fitted score {self.entry.spec}, which cannot be {entry.spec}; fit that one")
        return replace(self, entry=entry)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted score to one ``.npz`` file, without pickle; :func:`abstain.scores.load` reads it.

        Parameters
        ----------
        path : str or path
            An existing file is replaced, all of it or not at all.
        """
        header, arrays = _pack(self, "")
        header["digest"] = digest(header, arrays)
        arrays[HEADER] = np.array(json.dumps(header))
        write_file(path, lambda file: np.savez(file, **arrays))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle and copy, for worker processes; files hold no pickle."""
        return rebuilt, (self.entry, dict(self.arrays), self.fingerprint, self.n_fit, self.parts, self.class_names)

    def __repr__(self) -> str:
        fitted = f", fitted on {self.n_fit} rows" if self.fingerprint is not None else ""
        return f"FittedScore({self.entry.spec}{fitted})"


def rebuilt(entry: Score, arrays: dict[str, Array], *others: Any) -> FittedScore:
    """Return a fitted score from its fields, as a file or another process gives them."""
    return FittedScore(entry, _frozen(arrays), *others)


def fit(score: Score, outputs: Outputs | None) -> FittedScore:
    """Return the score fitted on outputs that hold what it needs."""
    if score.fit_function is None or outputs is None:
        return FittedScore(score)
    state = score.fit_function(outputs, **score.bound(score.fit_function))
    parts = state.pop("parts", ())
    names = None if outputs.class_names is None else tuple(outputs.class_names)
    return FittedScore(score, _frozen(state), outputs.fingerprint, outputs.n, parts, names)


def score_each(fitted: Sequence[FittedScore | ValueError], outputs: Outputs) -> list[FloatArray | ValueError]:
    """Return the scores of several fits, which share what a chunk of rows keeps; or why one cannot be had."""
    batch = Batch.of(outputs)
    scores: dict[int, Callable[[Batch], Array]] = {}
    found: list[Any] = [[] if isinstance(each, FittedScore) else each for each in fitted]
    for i, each in enumerate(fitted):
        if isinstance(each, FittedScore):
            each.require(outputs)
            scores[i] = each._on(batch)
    for chunk in batch.chunks():
        for i in sorted(scores, reverse=True):  # grids ascend: what many neighbours need is enough for few
            try:
                found[i].append(scores[i](chunk))
            except ValueError as error:
                found[i] = error
                del scores[i]
    return [np.concatenate(each) if isinstance(each, list) else each for each in found]


def _frozen(arrays: Mapping[str, ArrayLike]) -> Mapping[str, AnyArray]:
    result = {}
    for name, value in arrays.items():
        array = np.asarray(value)
        view = array.view()
        view.flags.writeable = False
        result[name] = view
    return MappingProxyType(result)


def _pack(fitted: FittedScore, prefix: str) -> tuple[Document, dict[str, Array]]:
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


def _plain(value: Any) -> object:
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if hasattr(value, "entry"):  # a fitted score
        return value.entry.spec
    return value.item() if isinstance(value, np.generic) else value


def digest(header: Document, arrays: dict[str, Array]) -> str:
    """Return the SHA-256 (hex) of a header and of the types, shapes and bytes of all arrays."""
    found = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        found.update(json.dumps([name, array.dtype.str, list(array.shape)]).encode())
        found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()
