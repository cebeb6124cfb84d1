"""Checks of labels, text columns and class probabilities: what losses and saved outputs both need."""

from __future__ import annotations

import array_api_compat
import numpy as np

from abstain._checks import is_missing, matrix, refuse, same_length, vector
from abstain._typing import AnyArray, Array, ArrayLike, Device, FloatArray, Namespace

#: Probabilities may be off by this: sums of rows, their entries, and confidences that are some. Softmaxes saved
#: by real programs are off by 1.4e-5 (float32) to 5e-4 (float16); logits, percentages or a missing class by far more.
ROUNDING = 1e-3
#: What to do where a label is missing. Late labels come for errors first: the early ones are no sample.
UNLABELLED = "label it, or leave out rows by lot or age, not by whether a label came"


def host(column: ArrayLike) -> ArrayLike:
    """Return a bfloat16 tensor as float32, which NumPy can hold; anything else as it is."""
    return column.float() if str(getattr(column, "dtype", "")) == "torch.bfloat16" else column


def class_matrix(column: ArrayLike, name: str, xp: Namespace, device: Device) -> Array:
    """Return one finite score per sample and class as a float64 array of shape (n_samples, n_classes >= 2)."""
    column = host(column)
    if xp is np:
        scores: Array = matrix(column, name)
    else:
        tensor = not isinstance(column, np.ndarray) and array_api_compat.is_array_api_obj(column)
        scores = column if tensor else matrix(column, name)
        if array_api_compat.is_torch_array(scores):
            scores = scores.detach()
        if scores.ndim != 2 or scores.shape[0] == 0:
            matrix(np.empty(tuple(scores.shape)), name)
        try:
            scores = xp.astype(xp.asarray(scores, device=device), xp.float64, copy=False)
        except (TypeError, RuntimeError) as error:
            raise TypeError(
                f"{name} cannot be converted to float64 on device {device}: {error}; move it to the CPU first"
            ) from None
    if scores.shape[1] < 2:
        raise ValueError(
            f"{name} needs one column per class, got {scores.shape[1]} column; "
            "for two classes give both, e.g. [1 - p, p] for probabilities or [0, z] for logits"
        )
    if not bool(xp.all(xp.isfinite(scores))):
        _refuse_entry(~xp.isfinite(scores), scores, name, "is not finite", "repair or leave out these rows", xp)
    return scores


def probabilities(column: ArrayLike, name: str, xp: Namespace, device: Device) -> Array:
    """Return class probabilities: in [0, 1], rows summing to 1 within ``ROUNDING``; by as much entries are clipped."""
    values = class_matrix(column, name, xp, device)
    outside = (values < -ROUNDING) | (values > 1.0 + ROUNDING)
    remedy = "pass logits as logits, and fractions instead of per cent"
    if bool(xp.any(outside)):
        _refuse_entry(outside, values, name, "is outside [0, 1]", remedy, xp)
    total = xp.sum(values, axis=1)
    off = xp.abs(total - 1.0) > ROUNDING
    if bool(xp.any(off)):
        row = int(xp.argmax(xp.astype(off, xp.int8)))
        number = int(xp.sum(xp.astype(off, xp.int64)))
        raise ValueError(
            f"{name} must sum to 1 over the classes (within {ROUNDING:g}): "
            f"the sum of {name}[{row}] is {float(total[row]):.6g} ({number} such); {remedy}"
        )
    if bool(xp.any((values < 0.0) | (values > 1.0))):
        values = xp.clip(values, 0.0, 1.0)
    return values


def both(p: FloatArray) -> FloatArray:
    """Return the probabilities of two classes from that of the second.

    1 - .4141 is no .5859 in floating point, so that rows would not tie which do: the complement of what is written with
    up to 12 decimals is the number nearest to its decimals.
    """
    written = np.round(p, 12) == p
    return np.column_stack([np.where(written, np.round(1.0 - p, 12), 1.0 - p), p])


def class_labels(column: ArrayLike, name: str, xp: Namespace, device: Device, n_classes: int | None = None) -> Array:
    """Return class indices as int64: whole numbers in 0 .. n_classes - 1 (no upper end if it is None)."""
    values = vector(column, name, xp, device)
    if xp is not np:
        values = array_api_compat.to_device(values, device)
    refuse(xp.isnan(values), values, name, "is missing", UNLABELLED, xp)
    refuse(values != xp.floor(values), values, name, "is no whole number", "give class indices 0, 1, 2, …", xp)
    refuse(values == -1, values, name, "is missing (-1)", UNLABELLED, xp)
    last = 2**53 - 1 if n_classes is None else n_classes - 1  # float64 counts no further
    span = ">= 0 and < 2**53" if n_classes is None else f"in 0 .. {last}"
    remedy = f"class indices must be {span}"
    refuse((values < 0) | (values > last), values, name, "is out of range", remedy, xp)
    return xp.astype(values, xp.int64)


def chosen(matrix: Array, index: Array, xp: Namespace, device: Device) -> Array:
    """Return the entry of each row that ``index`` names, shape (n_samples,)."""
    n, width = matrix.shape
    rows = xp.arange(n, dtype=xp.int64) if xp is np else xp.arange(n, dtype=xp.int64, device=device)
    return xp.take(xp.reshape(matrix, (-1,)), rows * width + index)


def is_text(column: ArrayLike) -> bool:
    """Whether the column holds text: strings, possibly with missing entries."""
    if not isinstance(column, np.ndarray):
        if array_api_compat.is_array_api_obj(column):
            return False
        column = _as_array(column)
    if column is None or column.dtype.kind != "O":
        return column is not None and column.dtype.kind in "UT"
    return any(isinstance(value, str) for value in column.ravel())


def texts(column: ArrayLike, name: str) -> AnyArray:
    """Return a text column as a NumPy array of strings; missing entries and other types are errors."""
    array = _as_array(column)
    if array is None or array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, one value per sample")
    if array.dtype.kind == "T":  # NumPy's strings of variable length, which may be missing too
        array = array.astype(object)
    if array.dtype.kind == "O":
        for position, value in enumerate(array):
            if is_missing(value):
                remedy = UNLABELLED if name == "labels" else "fill it in or leave out this row"
                raise ValueError(f"{name} is missing: {name}[{position}] = {value!r}; {remedy}")
            if not isinstance(value, str):
                raise TypeError(f"{name} mixes text and numbers: {name}[{position}] = {value!r}; give one type")
    if not len(array):
        raise ValueError(f"{name} is empty; at least one sample is needed")
    return np.asarray(array.astype(str))


def same_text(labels: ArrayLike, predictions: ArrayLike, names: tuple[str, str]) -> Array | None:
    """Return where two text columns agree; None if neither is text; an error if only one is."""
    text = is_text(labels), is_text(predictions)
    if not any(text):
        return None
    if not all(text):
        raise TypeError(
            f"{names[text.index(True)]} holds text but {names[text.index(False)]} numbers; "
            "give both as class names or both as class indices"
        )
    columns = {name: texts(column, name) for name, column in zip(names, (labels, predictions), strict=True)}
    same_length(**columns)
    first, second = columns.values()
    return first == second


def _as_array(column: ArrayLike) -> AnyArray | None:
    if not isinstance(column, np.ndarray) and hasattr(column, "to_numpy"):
        column = column.to_numpy()
    try:
        array = np.asarray(column)
        # NumPy writes the numbers of a mixed list as text; keep them apart so that the mixture is seen
        return np.asarray(column, dtype=object) if array.dtype.kind == "U" and isinstance(column, list) else array
    except ValueError:
        return None


def _refuse_entry(bad: Array, values: Array, name: str, problem: str, remedy: str, xp: Namespace) -> None:
    entry = int(xp.argmax(xp.astype(xp.reshape(bad, (-1,)), xp.int8)))
    row, column = divmod(entry, values.shape[1])
    number = int(xp.sum(xp.astype(xp.any(bad, axis=1), xp.int64)))
    raise ValueError(
        f"{name} {problem}: {name}[{row}, {column}] = {float(values[row, column])!r} ({number} such rows); {remedy}"
    )
