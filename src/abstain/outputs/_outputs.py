"""``Outputs``: what one model said about one split, checked once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from abstain._checks import UnmetNeed
from abstain._typing import Array, ArrayLike, FloatArray, IntArray
from abstain.outputs import _columns as check
from abstain.outputs._fingerprint import fingerprint
from abstain.outputs._losses import entries
from abstain.outputs._plausibility import doubts
from abstain.outputs._reading import Reading, understood
from abstain.outputs._states import States

#: Fields that are dicts of columns.
_NAMED = ("scores", "groups", "score_predictions")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Outputs:
    r"""One model's saved outputs on one split.

    Everything is optional, but what is given is checked together, once. There must be a ``loss``, or
    ``labels`` and something that predicts: ``logits``, ``probabilities`` or ``predictions``.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        True classes, as indices 0 .. n_classes - 1 or as names. Stored as indices.
    logits : array-like of shape (n_samples, n_classes)
        Finite logits. With ``probabilities`` next to them, their softmax has to agree within 0.01.
    probabilities : array-like of shape (n_samples, n_classes)
        Class probabilities; rows sum to 1 within 1e-3. They are not rescaled.
    predictions : array-like of shape (n_samples,)
        Predicted classes, if they are not the largest logit or probability; indices or names.
    confidence : array-like of shape (n_samples,)
        An external confidence score, higher = more confident, any scale. NaN and infinities pass: the metrics'
        ``nan_policy`` decides what a sample without a score means.
    scores : dict of str to array-like of shape (n_samples,)
        Further external confidence scores, by name.
    loss : array-like of shape (n_samples,)
        Loss per sample, finite and >= 0; takes the place of the 0/1 loss.
    sample_weight : array-like of shape (n_samples,)
        Weights, finite and >= 0, not all 0.
    groups : dict of str to array-like of shape (n_samples,)
        Columns to split results by (site, sex, …), by name; text or numbers, nothing missing.
    ids, clusters : array-like of shape (n_samples,)
        Name of each sample (to pair models), and of the unit it belongs to (patient, document, …).
    features : array-like of shape (n_samples, n_features)
        Penultimate-layer features, kept in the floating-point precision in which they are given.
    passes : array-like of shape (runs, n_samples, n_classes)
        Class probabilities of repeated passes (MC dropout, ensembles), checked like ``probabilities`` and kept in
        their precision. They predict only where nothing else does, by the largest mean.
    head : tuple of W (n_classes, n_features) and b (n_classes,)
        Last layer: logits = features @ W.T + b.
    class_names : sequence of str
        Names in the order of the class columns. Without class columns, text labels and predictions bring
        their own: all names that occur, sorted.
    score_predictions : dict of str to array-like of shape (n_samples,)
        Predictions that belong to a score, by its name, if they are not those of the model: class indices. The score
        is then judged on them. Scores of ``passes`` have theirs without being named.
    states : States, optional
        The outcome of all questions, where some have no answer or no verdict; :func:`read_outputs` fills it in.
    reading : Reading, optional
        How these were read, for :meth:`understood` and policies; :func:`read_outputs` fills it in.
    abstention_unit : bool
        The last column of logits, probabilities and passes is no class but the unit by which the network abstains (Deep
        Gamblers). It is taken off, probabilities are divided by the sum of the rest, and minus its probability becomes
        ``scores["neg_reservation"]``. The field is False afterwards; class names and head may have the unit or not.
    unlabelled : bool
        Allow rows that have neither a loss nor labels: out-of-distribution data, data to decide on.

    Raises
    ------
    ValueError
        Lengths or class counts that differ; labels missing (NaN, None, -1), out of range or unknown;
        probabilities that do not sum to 1; values that are not finite; nothing that gives a loss.
    TypeError
        A column of the wrong type.

    Warns
    -----
    UserWarning
        Logits that look like probabilities: all rows lie in [0, 1] and sum to 1, and not all are one-hot. Columns that
        look like another quantity: a confidence that is the probability of class 1, or rises with the loss; a loss
        that looks like correctness; predictions that are right less often than by chance; a class that is never a
        label but predicted, like the abstention unit of Deep Gamblers.

    Notes
    -----
    Tensors are brought to the host, numbers become float64. Arrays are copied
    where they would share memory with the caller's, and read-only.

    Examples
    --------
    >>> import abstain
    >>> outputs = abstain.Outputs(labels=[0, 1, 1], logits=[[2.0, 0.0], [0.0, 1.0], [3.0, 0.0]])
    >>> outputs
    Outputs(n=3, n_classes=2, labels, logits)
    >>> outputs.predicted(), outputs.loss_per_sample()
    (array([0, 1, 0]), array([0., 0., 1.]))
    """

    labels: ArrayLike = None
    logits: ArrayLike = None
    probabilities: ArrayLike = None
    predictions: ArrayLike = None
    confidence: ArrayLike = None
    scores: Any = None
    loss: ArrayLike = None
    sample_weight: ArrayLike = None
    groups: Any = None
    ids: ArrayLike = None
    clusters: ArrayLike = None
    features: ArrayLike = None
    passes: ArrayLike = None
    head: Any = None
    class_names: Any = None
    score_predictions: Any = None
    states: States | None = None
    reading: Reading | None = None
    unlabelled: bool = False
    abstention_unit: bool = False

    def __post_init__(self) -> None:
        found: dict[str, Array] = {}
        converters: dict[str, Callable[[ArrayLike], Array]] = {
            "logits": check.logits,
            "probabilities": check.probability_matrix,
            "features": check.features,
            "passes": check.passes,
            "confidence": lambda column: check.numbers(column, "confidence"),
            "loss": check.loss,
            "sample_weight": check.sample_weight,
            "ids": lambda column: check.categories(column, "ids"),
            "clusters": lambda column: check.categories(column, "clusters"),
        }
        for name, convert in converters.items():
            value = getattr(self, name)
            found[name] = None if value is None else convert(value)
        found["scores"] = check.named(self.scores, "scores", check.numbers)
        found["groups"] = check.named(self.groups, "groups", check.categories)
        found["score_predictions"] = check.named(self.score_predictions, "score_predictions", check.places)
        if self.abstention_unit:
            self._take_off_the_unit(found)

        logits, probabilities = found["logits"], found["probabilities"]
        if logits is not None and probabilities is not None:
            if logits.shape != probabilities.shape:
                shapes = f"logits: {logits.shape}, probabilities: {probabilities.shape}"
                raise ValueError(f"shapes differ ({shapes}); both need one row per sample and one column per class")
            check.agree(logits, probabilities)
        elif logits is not None:
            check.suspect_logits(logits)
        matrix = probabilities if logits is None else logits
        width = None if matrix is None else matrix.shape[1]
        if found["passes"] is not None:
            if width not in (None, found["passes"].shape[2]):
                raise ValueError(f"passes has {found['passes'].shape[2]} classes, logits or probabilities {width}")
            width = int(found["passes"].shape[2])
        names = check.names_of(self.class_names)
        found["labels"], found["predictions"], names = check.classes(self.labels, self.predictions, names, width)
        found["class_names"] = names
        if self.head is not None:
            n_features = None if found["features"] is None else found["features"].shape[1]
            found["head"] = check.head(self.head, width, n_features)

        columns = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
        for field in _NAMED:
            columns |= {f"{field}[{name!r}]": value for name, value in found[field].items()}
        if not columns:
            raise ValueError(
                "Outputs holds no column; give a loss, or labels with logits, probabilities or predictions"
            )
        check.same_rows(columns)
        if not self.unlabelled:
            check.require_loss(found, _PREDICTORS)
        for name, value in found.items():
            object.__setattr__(self, name, check.owned(value, getattr(self, name)))
        judged = self.loss is None and self.labels is not None
        wrong = self.error if judged and any(found[name] is not None for name in _PREDICTORS) else None
        for doubt in doubts({field.name: getattr(self, field.name) for field in fields(self)}, wrong, names):
            warnings.warn(doubt, UserWarning, stacklevel=3)  # whoever called Outputs(...)

    def _take_off_the_unit(self, found: dict[str, Array]) -> None:
        changed = check.without_unit(found)
        found |= changed | {"scores": changed["scores"] | found["scores"], "abstention_unit": False}
        width = next(matrix for name, matrix in changed.items() if name != "scores").shape[-1]
        if self.class_names is not None and len(self.class_names) == width + 1:
            object.__setattr__(self, "class_names", list(self.class_names)[:-1])
        if self.head is not None and len(self.head) == 2 and len(self.head[0]) == width + 1:
            object.__setattr__(self, "head", tuple(part[:-1] for part in self.head))

    # ------------------------------------------------------------------ sizes

    @cached_property
    def n(self) -> int:
        """Number of samples."""
        return check.n_rows(*self._arrays()[0])

    @cached_property
    def n_classes(self) -> int | None:
        """Number of classes: columns, else class names, else the largest index seen plus 1; None if unknown."""
        matrix = self.probabilities if self.logits is None else self.logits
        if matrix is not None:
            return int(matrix.shape[1])
        if self.passes is not None:
            return int(np.shape(self.passes)[2])
        if self.class_names is not None:
            return len(self.class_names)
        seen = [int(column.max()) for column in (self.labels, self.predictions) if column is not None]
        return max(seen) + 1 if seen else None

    # ------------------------------------------------------------------ what follows from the columns

    def predicted(self) -> IntArray:
        """Return the predicted class of each sample: ``predictions``, else the largest logit or probability.

        Of equal largest values the first counts.

        Examples
        --------
        >>> import abstain
        >>> abstain.Outputs(labels=[0], probabilities=[[0.3, 0.7]]).predicted()
        array([1])
        """
        if self.predictions is not None:
            return np.asarray(self.predictions)
        matrix = self.probabilities if self.logits is None else self.logits
        if matrix is None and self.passes is not None:
            matrix = np.mean(self.passes, axis=0, dtype=np.float64)
        if matrix is None:
            raise UnmetNeed("these outputs predict nothing; give logits, probabilities or predictions")
        return np.asarray(np.argmax(matrix, axis=1), dtype=np.int64)

    @cached_property
    def error(self) -> FloatArray:
        """0/1 loss: 1.0 where the predicted class is not the label."""
        if self.labels is None:
            raise UnmetNeed("these outputs have no labels, so no errors; give labels")
        return np.asarray(check.frozen((self.predicted() != self.labels).astype(np.float64)))

    def loss_per_sample(self) -> FloatArray:
        """Return the given ``loss``, else the 0/1 loss.

        Examples
        --------
        >>> import abstain
        >>> abstain.Outputs(labels=[0, 1], predictions=[0, 0]).loss_per_sample()
        array([0., 1.])
        >>> abstain.Outputs(loss=[0.25, 0.5], confidence=[0.9, 0.8]).loss_per_sample()
        array([0.25, 0.5 ])
        """
        return self.error if self.loss is None else np.asarray(self.loss)

    @property
    def largest_loss(self) -> float | None:
        """The largest possible loss: 1 of qualities and of partial verdicts, the largest cost; None if not known."""
        reading = self.reading or Reading()
        if (costs := reading.given.get("cost_matrix")) is not None:
            return max(cost for _, cost in entries(costs))
        partial = "correct" in reading.single and bool(set(self.loss_per_sample()) - {0.0, 1.0})
        return 1.0 if partial or "quality" in reading.single else None

    @property
    def declines(self) -> bool:
        """Whether the source says of some rows, or could, that the model itself did not answer them."""
        said = self.reading is not None and "abstained" in self.reading.single
        return said or (self.states is not None and self.states.counts["abstained"] > 0)

    def log_probabilities(self) -> FloatArray:
        """Return log-probabilities of shape (n_samples, n_classes), -inf where a probability is 0.

        From logits where there are any: a probability of 1 - 1e-26 then has log-probability -1e-26.

        Examples
        --------
        >>> import abstain
        >>> abstain.Outputs(labels=[0], logits=[[60.0, 0.0]]).log_probabilities()
        array([[-8.75651076e-27, -6.00000000e+01]])
        """
        return self._log_probabilities

    @cached_property
    def _log_probabilities(self) -> FloatArray:
        if self.logits is not None:
            return np.asarray(check.frozen(check.log_softmax(self.logits)))
        if self.probabilities is None:
            raise UnmetNeed("these outputs have no class probabilities; give logits or probabilities")
        with np.errstate(divide="ignore"):
            return np.asarray(check.frozen(np.log(self.probabilities)))

    def select(self, rows: ArrayLike | slice) -> Outputs:
        """Return the outputs of some samples.

        Parameters
        ----------
        rows : array-like of bool of shape (n_samples,), or of int, or slice
            A mask, or positions (in any order, repeats allowed).

        Returns
        -------
        Outputs

        Raises
        ------
        ValueError
            A mask of another length; a position out of range; nothing selected.
        TypeError
            Neither a mask nor whole numbers.

        Examples
        --------
        >>> import abstain
        >>> outputs = abstain.Outputs(labels=[0, 1, 1], predictions=[0, 0, 1])
        >>> outputs.select([False, True, True]).error
        array([1., 0.])
        >>> outputs.select([2, 0]).labels
        array([1, 0])
        """
        index = check.positions(rows, self.n)
        changed: dict[str, Array] = {}
        for name, value in self._arrays():
            if "[" not in name:
                changed[name] = value[:, index] if name == "passes" else value[index]
        for field in _NAMED:
            changed[field] = {name: column[index] for name, column in getattr(self, field).items()}
        changed["states"] = None  # counts of all questions, not of these
        with warnings.catch_warnings():  # what is odd about all samples has been said of them
            warnings.simplefilter("ignore")
            return replace(self, **changed)

    def understood(self, default: str = "") -> dict[str, str]:
        """Return which part each column plays, in words; ``default`` names the score where no confidence is given.

        Examples
        --------
        >>> import abstain
        >>> outputs = abstain.Outputs(labels=["yes", "no"], predictions=["yes", "yes"], confidence=[0.9, 0.6])
        >>> for part, words in outputs.understood().items():
        ...     print(part, words)
        labels as given (2 classes: no, yes)
        prediction as given
        confidence as given
        loss 0/1
        """
        return understood(self, default)

    # ------------------------------------------------------------------ identity

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the contents: equal columns give equal fingerprints, on every platform.

        Independent of the precision and container in which a column was given, as long as its values are equal.
        """
        return fingerprint(self._arrays(), self.head, self.class_names)

    def _arrays(self) -> list[tuple[str, Array]]:
        """All columns by name, those in dicts as ``scores['energy']``."""
        columns = [(field.name, getattr(self, field.name)) for field in fields(self)]
        plain = [(name, value) for name, value in columns if isinstance(value, np.ndarray)]
        inner = [(f"{field}[{name!r}]", value) for field in _NAMED for name, value in getattr(self, field).items()]
        return plain + inner

    def __repr__(self) -> str:
        names = [name for name, _ in self._arrays()]
        extra = [name for name in ("head", "class_names") if getattr(self, name) is not None]
        sizes = [f"n={self.n}"] + ([] if self.n_classes is None else [f"n_classes={self.n_classes}"])
        return f"Outputs({', '.join(sizes + names + extra)})"


#: Fields that predict a class.
_PREDICTORS = ("logits", "probabilities", "predictions", "passes")


def expect(given: object, name: str, *also: type) -> None:
    """Refuse what is neither outputs nor of another type that will do."""
    if not isinstance(given, (Outputs, *also)):
        raise TypeError(f"{name} must be Outputs, got {type(given).__name__}; use abstain.read_outputs(path)")
