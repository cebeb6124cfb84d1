"""What each field of ``Outputs`` must look like. Every function returns a checked, read-only NumPy array."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence

import array_api_compat
import numpy as np

from abstain._checks import closest, refuse, same_length, to_numpy, vector
from abstain._classes import ROUNDING, class_labels, class_matrix, host, is_text, probabilities, texts
from abstain._typing import AnyArray, Array, ArrayLike, FloatArray, IntArray

#: Names of two classes that are written as -1 and +1.
SIGNS = ("-1", "1")

#: Logits and probabilities of one model may differ by this much after a softmax (float16 files do).
AGREEMENT = 1e-2


def frozen(array: Array) -> Array:
    """Return a read-only view, so that neither we nor our caller's caller can write through it."""
    view = array.view()
    view.flags.writeable = False
    return view


def numbers(column: ArrayLike, name: str) -> FloatArray:
    """Return a float64 column; NaN and infinities pass."""
    return np.asarray(frozen(vector(_to_host(column), name, np, None)))


def loss(column: ArrayLike) -> FloatArray:
    """Return a column of finite losses >= 0."""
    values = numbers(column, "loss")
    refuse(~np.isfinite(values), values, "loss", "is not finite", "repair or leave out these rows", np)
    refuse(values < 0, values, "loss", "is negative", "losses are >= 0: pass a loss, not a gain", np)
    return values


def sample_weight(column: ArrayLike) -> FloatArray:
    """Return a column of finite weights >= 0 that are not all zero."""
    values = numbers(column, "sample_weight")
    bad = ~np.isfinite(values) | (values < 0)
    refuse(bad, values, "sample_weight", "must be finite and >= 0", "repair or leave out these rows", np)
    if not values.any():
        raise ValueError("sample_weight is 0 in every row; at least one row needs a positive weight")
    return values


def logits(matrix: ArrayLike) -> FloatArray:
    """Return finite logits of shape (n_samples, n_classes >= 2)."""
    return np.asarray(frozen(class_matrix(_to_host(matrix), "logits", np, None)))


def suspect_logits(values: FloatArray) -> None:
    """Warn of probabilities in the place of logits; votes, of which every row is one-hot, may well be logits."""
    if values.min() < 0.0 or values.max() > 1.0 or (np.abs(values.sum(axis=1) - 1.0) > ROUNDING).any():
        return
    if (values.max(axis=1) < 1.0).any():
        warnings.warn(
            "logits look like probabilities: every row lies in [0, 1] and sums to 1; if they are, give them as "
            "probabilities=, or their softmax is taken once more",
            UserWarning,
            stacklevel=4,  # whoever called Outputs(...)
        )


def probability_matrix(matrix: ArrayLike) -> FloatArray:
    """Return probabilities of shape (n_samples, n_classes >= 2)."""
    return np.asarray(frozen(probabilities(_to_host(matrix), "probabilities", np, None)))


def features(matrix: ArrayLike) -> FloatArray:
    """Return finite features of shape (n_samples, n_features), floating-point ones in their own precision."""
    return np.asarray(frozen(_finite(matrix, "features", 2, keep=True)))


def passes(array: ArrayLike) -> Array:
    """Return probabilities of shape (runs, n_samples, n_classes >= 2) in their own precision."""
    values = _finite(array, "passes", 3, keep=True)
    for run, matrix in enumerate(values):
        probabilities(matrix, f"passes[{run}]", np, None)
    return frozen(values)


def n_rows(name: str, column: AnyArray) -> int:
    """Return the number of samples of a column; passes have theirs on the second axis."""
    return int(column.shape[1 if name == "passes" else 0])


def same_rows(columns: Mapping[str, AnyArray]) -> None:
    """Raise a ValueError that lists the lengths unless all columns have one value per sample."""
    same_length(**{name: column[0] if name == "passes" else column for name, column in columns.items()})


def positions(rows: ArrayLike | slice, n: int) -> Array:
    """Return a selection of n rows, by a mask or positions, as positions."""
    if isinstance(rows, slice):
        rows = np.arange(n)[rows]
    index = np.asarray(rows.to_numpy() if hasattr(rows, "to_numpy") else rows)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "biu"):
        raise TypeError(f"rows must be a mask or positions, one-dimensional, got {index.dtype} {index.shape}")
    if index.dtype == bool:
        if len(index) != n:
            raise ValueError(f"the mask has {len(index)} entries for {n} samples; give one per sample")
        index = np.flatnonzero(index)
    if not index.size:
        raise ValueError("rows selects no sample; at least one is needed")
    outside = (index < -n) | (index >= n)
    if outside.any():
        at = int(np.argmax(outside))
        raise ValueError(f"rows[{at}] = {int(index[at])} is out of range for {n} samples")
    return index


def require_loss(found: Mapping[str, object], predictors: Sequence[str]) -> None:
    """Refuse columns from which no loss follows."""
    if found["loss"] is not None:
        return
    if found["labels"] is None:
        raise ValueError(
            "Outputs needs labels or a loss to distinguish right from wrong; "
            "give one of them, or unlabelled=True for rows that have none"
        )
    if all(found[name] is None for name in predictors):
        raise ValueError("labels alone give no loss; add logits, probabilities, predictions or a loss")


def head(
    pair: tuple[ArrayLike, ArrayLike], n_classes: int | None, n_features: int | None
) -> tuple[FloatArray, FloatArray]:
    """Return weights W and bias b of the last layer, logits = features @ W.T + b."""
    try:
        weight, bias = pair
    except (TypeError, ValueError):
        raise TypeError("head must be a pair (W, b): weights (n_classes, n_features), bias (n_classes,)") from None
    weight, bias = _finite(weight, "head W", 2), _finite(bias, "head b", 1)
    expected = (n_classes or weight.shape[0], n_features or weight.shape[1])
    if weight.shape != expected or bias.shape != expected[:1]:
        raise ValueError(
            f"head has shapes W {weight.shape} and b {bias.shape}, expected W {expected} and b {expected[:1]}; "
            "W has one row per class (transpose it?)"
        )
    return frozen(weight), frozen(bias)


def categories(column: ArrayLike, name: str) -> Array:
    """Return text or numbers that name something (ids, groups, clusters); nothing may be missing."""
    if is_text(column):
        return frozen(texts(column, name))
    column = _to_host(column)
    array = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if array.dtype.kind in "biu" and array.ndim == 1 and len(array):
        return frozen(array)
    values = numbers(array, name)
    refuse(np.isnan(values), values, name, "is missing", "fill it in or leave out these rows", np)
    whole = bool((values == np.floor(values)).all())
    return frozen(values.astype(np.int64)) if whole else values


def named(
    columns: Mapping[str, ArrayLike] | None, field: str, convert: Callable[[ArrayLike, str], Array]
) -> dict[str, Array]:
    """Return a dict of columns by name, each converted."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise TypeError(f"{field} must be a dict of name -> column, got {type(columns).__name__}")
    return {str(name): convert(column, f"{field}[{str(name)!r}]") for name, column in columns.items()}


def names_of(class_names: Sequence[str] | ArrayLike | None) -> tuple[str, ...] | None:
    """Return the class names as a tuple of distinct strings."""
    if class_names is None:
        return None
    if isinstance(class_names, str):
        raise TypeError(f"class_names must be a sequence of names, got the string {class_names!r}")
    names = tuple(str(name) for name in class_names)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"class_names holds {twice[0]!r} twice; every class needs its own name")
    return names


def classes(
    labels: ArrayLike | None, predictions: ArrayLike | None, names: tuple[str, ...] | None, width: int | None
) -> tuple[IntArray | None, IntArray | None, tuple[str, ...] | None]:
    """Return labels and predictions as class indices, and the class names that text has brought along."""
    if width is not None and names is not None and len(names) != width:
        raise ValueError(f"class_names has {len(names)} names for {width} classes; give one per column")
    labels, predictions = _signs(labels, predictions)
    columns = {"labels": _truth(labels, names), "predictions": _truth(predictions, names)}
    given = {name: column for name, column in columns.items() if column is not None}
    text = [name for name, column in given.items() if is_text(column)]
    if text and names is None:
        if width == 2 and all(set(texts(given[name], name)) <= set(SIGNS) for name in text):
            names = SIGNS
        elif width is not None:
            raise ValueError(
                f"{text[0]} holds text; give class_names=[...] in the order of the class columns "
                "(of scikit-learn: model.classes_)"
            )
        elif len(text) < len(given):
            other = next(name for name in given if name not in text)
            raise TypeError(f"{text[0]} holds text but {other} numbers; give class_names=[...]")
        else:
            names = tuple(np.unique(np.concatenate([texts(given[name], name) for name in text])).tolist())
    count = width if names is None else len(names)
    indices = {
        name: _indices(column, name, names or ())
        if name in text
        else class_labels(_to_host(column), name, np, None, count)
        for name, column in given.items()
    }
    found = [indices.get(name) for name in columns]
    return *[None if column is None else frozen(column) for column in found], names  # type: ignore[return-value]


def _signs(*columns: ArrayLike | None) -> tuple[ArrayLike | None, ...]:
    """Return columns of -1 and +1 as words: next to +1 alone, -1 is a class and no missing label."""
    values = [None if column is None or is_text(column) else _numbers_of(column) for column in columns]
    found = set().union(*(set(np.unique(each).tolist()) for each in values if each is not None))
    if found != {-1.0, 1.0} or any(
        each is None and column is not None for each, column in zip(values, columns, strict=True)
    ):
        return columns
    return tuple(None if each is None else np.where(each < 0, *SIGNS) for each in values)


def _numbers_of(column: ArrayLike) -> Array:
    """Return a column as floats, an empty one where it is none: the checks say what is wrong."""
    values = _to_host(column)
    try:
        array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.zeros(1)
    return array if array.ndim == 1 else np.zeros(1)


def places(column: ArrayLike, name: str) -> IntArray:
    """Return class indices."""
    return np.asarray(frozen(class_labels(_to_host(column), name, np, None)))


def _truth(column: ArrayLike | None, names: tuple[str, ...] | None) -> ArrayLike | None:
    """Return truth values by name where two classes are called true and false: these need not be at 1 and 0."""
    called = {name.lower(): name for name in names or ()}
    if column is None or not {"true", "false"} <= called.keys() or is_text(column):
        return column
    values = _to_host(column)
    values = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    return np.where(values, called["true"], called["false"]) if values.dtype == bool else column


def log_softmax(values: FloatArray) -> FloatArray:
    """Return log-probabilities that stay exact where the softmax is 1 to the last digit."""
    top = np.argmax(values, axis=1)[:, None]
    shifted = values - np.take_along_axis(values, top, axis=1)
    others = np.exp(shifted)
    np.put_along_axis(others, top, 0.0, axis=1)
    shifted -= np.log1p(others.sum(axis=1, keepdims=True))
    return shifted


def agree(scores: FloatArray, proba: FloatArray) -> None:
    """Refuse logits and probabilities of different models, or of one model before and after a change."""
    gap = np.abs(np.exp(log_softmax(scores)) - proba).max(axis=1)
    row = int(np.argmax(gap))
    if gap[row] > AGREEMENT:
        raise ValueError(
            f"probabilities are not the softmax of logits: row {row} differs by {gap[row]:.3g}; "
            "give one of the two (probabilities alone if they are averaged or temperature-scaled)"
        )


def _indices(column: ArrayLike, name: str, names: tuple[str, ...]) -> IntArray:
    values = texts(column, name)
    order = np.argsort(names)
    ranked = np.asarray(names)[order]
    place = np.minimum(np.searchsorted(ranked, values), len(names) - 1)
    unknown = ranked[place] != values
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"{name}[{row}] = {str(values[row])!r} is no class name ({int(unknown.sum())} such); "
            f"{closest(str(values[row]), names)}"
        )
    return np.asarray(order[place], dtype=np.int64)


def _finite(array: ArrayLike, name: str, ndim: int, *, keep: bool = False) -> FloatArray:
    array = _to_host(array)
    result = np.asarray(array.to_numpy() if hasattr(array, "to_numpy") else array)
    if result.ndim != ndim or 0 in result.shape:
        raise ValueError(f"{name} must have {ndim} dimensions and no empty one, got shape {result.shape}")
    if result.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numeric, got dtype {result.dtype}; convert it to numbers first")
    bad = ~np.isfinite(result)
    if bad.any():
        position = tuple(int(index[0]) for index in np.nonzero(bad))
        raise ValueError(f"{name} is not finite at {list(position)} ({int(bad.sum())} such); repair these rows")
    keep = keep and result.dtype.kind == "f" and result.dtype.itemsize <= 8
    return result if keep else result.astype(np.float64, copy=False)


def _to_host(column: ArrayLike) -> Array:
    """Return tensors as NumPy arrays; leave everything else to the checks."""
    if isinstance(column, np.ndarray) or not array_api_compat.is_array_api_obj(column):
        return column
    return to_numpy(host(column))


def owned(value: Array, given: ArrayLike) -> Array:
    """Return an array, or a dict or pair of them, that shares no memory with what the caller gave; read-only.

    Arrays of other outputs, which nobody can write to, are shared.
    """
    if isinstance(value, dict):
        named = {str(name): column for name, column in given.items()} if isinstance(given, Mapping) else {}
        return {name: owned(column, named.get(name)) for name, column in value.items()}
    if isinstance(value, tuple) and all(isinstance(part, np.ndarray) for part in value):
        return tuple(owned(part, other) for part, other in zip(value, given or value, strict=False))
    if not isinstance(value, np.ndarray):
        return value
    root = value
    while isinstance(root.base, np.ndarray):
        root = root.base
    ours = root.base is None and not root.flags.writeable
    if not ours and _shared(value, given):
        value = root = value.copy()
    root.flags.writeable = value.flags.writeable = False
    return value


def _shared(value: AnyArray, given: ArrayLike) -> bool:
    """Whether two columns may lie in the same memory; what is unknown may."""
    if given is None or isinstance(given, list | tuple):
        return False
    try:
        return bool(np.may_share_memory(value, np.asarray(given)))
    except (TypeError, ValueError, RuntimeError):
        return True


def without_unit(given: Mapping[str, Array]) -> dict[str, Array]:
    """Return checked matrices without their last column, and scores with minus the probability of that column.

    The probabilities of the classes are divided by their sum, which logits do of themselves.
    """
    changed: dict[str, Array] = {}
    scores: dict[str, FloatArray] = {}
    if given["logits"] is not None:
        changed["logits"] = given["logits"][:, :-1]
        scores["neg_reservation"] = -np.exp(log_softmax(given["logits"])[:, -1])
    if given["probabilities"] is not None:
        changed["probabilities"] = _renormalised(given["probabilities"])
        scores.setdefault("neg_reservation", -given["probabilities"][:, -1])
    if given["passes"] is not None:
        changed["passes"] = _renormalised(given["passes"])
        unit: FloatArray = np.mean(given["passes"][..., -1], axis=0, dtype=np.float64)
        scores["pass_neg_reservation"] = -unit
    if not changed:
        raise ValueError("abstention_unit=True needs logits, probabilities or passes, whose last column is the unit")
    return changed | {"scores": scores}


def _renormalised(p: AnyArray) -> Array:
    """Return the other columns divided by their sum; equal shares where nothing is left for them."""
    rest = p[..., :-1]
    total = rest.sum(axis=-1, keepdims=True)
    equal = np.full_like(rest, 1.0 / rest.shape[-1])
    return np.divide(rest, total, out=equal, where=total > 0.0)
