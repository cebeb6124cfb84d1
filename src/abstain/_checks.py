"""Argument checks. Every message names the argument, the value that was found and the remedy."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from abstain._typing import AnyArray, Array, ArrayLike, Device, FloatArray, Namespace, Seed

if TYPE_CHECKING:
    import narwhals as nw

#: The remedy where per cent may have been meant.
FRACTION = "give a fraction, not per cent"
#: Losses and weights up to here can be squared, multiplied and summed.
LARGEST = 1e75
LARGEST_BITS = np.float64(LARGEST).view(np.uint64)


class UndefinedMetricWarning(UserWarning):
    """A metric is not defined for this input and was returned as NaN; the message says why.

    Examples
    --------
    >>> import warnings, abstain
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     value = abstain.auroc_f([0, 0, 0], [0.9, 0.8, 0.7])
    >>> value, caught[0].category.__name__
    (nan, 'UndefinedMetricWarning')
    """


class Undefined(Exception):
    """Raised inside a metric where its definition gives no number; becomes NaN with this reason."""


class UnmetNeed(ValueError):
    """A metric needs something that the given input does not hold; the message says what and the remedy.

    Examples
    --------
    >>> import abstain
    >>> abstain.auroc_f([0.2, 0.7], [0.9, 0.8])
    Traceback (most recent call last):
        ...
    abstain.UnmetNeed: auroc_f needs a 0/1 loss, but ...
    """


UnmetNeed.__module__ = UndefinedMetricWarning.__module__ = "abstain"  # where users find them


def closest(name: str, known: Iterable[str]) -> str:
    """Return the end of an "unknown name" message: the nearest known names, or all of them."""
    from difflib import get_close_matches

    known = sorted(known)
    near = get_close_matches(name, known, n=3)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"known: {', '.join(known)}"


def engine_of(frame: nw.LazyFrame[Any] | nw.DataFrame[Any]) -> str:
    """Return the name of the engine of a frame of Narwhals, as ``"polars"``."""
    return str(frame.implementation).removeprefix("Implementation.").lower()


def refuse_pattern(name: str, engine: str) -> None:
    """Refuse a name of a column that an engine reads as a pattern of names."""
    everything = name == "*" and engine not in ("pandas", "pyarrow", "dask", "modin", "cudf")
    if everything or (engine == "polars" and name[:1] == "^" and name[-1:] == "$"):
        raise ValueError(f"column {name!r} is no name but a pattern in {engine}; rename the column")


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Return names for a message, cut short."""
    names = [name if name == name.strip() else repr(name) for name in names]  # blanks would not be seen
    more = f", … ({len(names)} in all)" if len(names) > limit else ""
    return (", ".join(names[:limit]) or "none") + more


def with_row(message: str) -> str:
    """Add the row counted from 1, as an editor shows it, to a message that names a position."""
    position = re.search(r"[\w\]]\[(\d+)[\],]", message)
    return message if position is None or "python -c" in message else f"{message} [data row {int(position[1]) + 1}]"


def one_of(value: str, allowed: Iterable[str], name: str) -> str:
    """Return ``value`` if it is one of ``allowed``; else raise a ValueError that lists them."""
    allowed = list(allowed)
    if not any(value is each or (isinstance(value, str) and value == each) for each in allowed):
        shown = repr(value) if isinstance(value, str | int | float | None) else f"of type {type(value).__name__}"
        raise ValueError(f"{name}={shown} is not known; {closest(str(value)[:99], allowed)}")
    return value


def real(value: Any, name: str, where: str, remedy: str = "") -> float:
    """Return ``value`` as a float, or say ``where`` such a number has to lie; text is no number."""
    with suppress(TypeError, ValueError, OverflowError):
        if not isinstance(value, str | bytes) and np.ndim(value) == 0:
            return float(value)
    raise TypeError(f"{name} must be a number {where}, got {value!r}{remedy and '; ' + remedy}")


def positive(value: Any, name: str, remedy: str = "") -> float:
    """Return ``value`` as a finite float > 0."""
    number = not_negative(value, name, remedy, "> 0")
    if number == 0.0:
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}{remedy and '; ' + remedy}")
    return number


def not_negative(value: Any, name: str, remedy: str = "", where: str = ">= 0") -> float:
    """Return ``value`` as a finite float >= 0."""
    number = real(value, name, where, remedy)
    if not 0.0 <= number < np.inf:
        raise ValueError(f"{name} must be a finite number {where}, got {value!r}{remedy and '; ' + remedy}")
    return number


def whole(value: Any, name: str, least: int = 1, usual: int | None = None) -> int:
    """Return ``value`` as an int of at least ``least``, and not beyond 64 bits."""
    with suppress(TypeError, ValueError, OverflowError):
        if not isinstance(value, bool | str | bytes) and int(value) == value and least <= value < 2**63:
            return int(value)
    hint = "" if usual is None else f"; {usual} is usual"
    raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}{hint}")


def flag(value: object, name: str) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r:.99}")
    return bool(value)


def generator(rng: Seed, name: str = "rng") -> np.random.Generator:
    """Return the random generator of a seed, or the one that was given."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        remedy = "give a whole number >= 0, a numpy.random.Generator, or None for a new seed each time"
        raise TypeError(f"{name}={rng!r} is no seed; {remedy}") from None


def fraction(value: float, name: str, *, below_one: bool = False) -> float:
    """Return ``value`` as a float in [0, 1], or in [0, 1) if ``below_one``."""
    interval = "[0, 1)" if below_one else "[0, 1]"
    number = real(value, name, f"in {interval}")
    if not 0.0 <= number <= 1.0 or (below_one and number == 1.0):
        raise ValueError(f"{name} must lie in {interval}, got {number!r}; {FRACTION}")
    return number


def inside(value: float, name: str, usual: float) -> float:
    """Return ``value`` as a float in (0, 1)."""
    number = fraction(value, name)
    if number in (0.0, 1.0):
        raise ValueError(f"{name} must lie inside (0, 1), got {number!r}; {usual:g} is usual")
    return number


def failure_probability(value: float, name: str = "delta") -> float:
    """Return the probability that a guarantee may fail; above one half it is a level in the wrong place."""
    number = inside(value, name, 0.05)
    if number > 0.5:
        raise ValueError(
            f"{name} = {number:g} is the probability that the guarantee fails; for one that holds with probability "
            f"{number:g} give {name}={1.0 - number:.6g}"
        )
    return number


def namespace(*columns: ArrayLike) -> tuple[Namespace, Device]:
    """Return the Array API namespace and device that the columns live in (NumPy unless one is a tensor)."""
    for column in columns:
        if column is not None and not isinstance(column, np.ndarray) and array_api_compat.is_array_api_obj(column):
            return array_api_compat.array_namespace(column), array_api_compat.device(column)
    return np, None


def to_numpy(array: ArrayLike) -> Array:
    """Return an Array API array as a NumPy array (a copy only where it has to leave its device)."""
    if isinstance(array, np.ndarray):
        return array  # a masked one with its mask
    if isinstance(array, np.generic):
        return np.asarray(array)
    if array_api_compat.is_torch_array(array):
        array = array.detach().cpu()
        narrow = array.dtype.is_floating_point and array.dtype.itemsize < 4  # NumPy has no bfloat16 and no float8
        return (array.float() if narrow else array).numpy()
    if array_api_compat.is_array_api_obj(array):
        return np.from_dlpack(array)
    try:
        return np.asarray(array)
    except ValueError:  # ragged: whoever reads it knows its name
        return array


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN or one of the missing values of pandas."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def is_empty(column: ArrayLike) -> bool:
    """Whether a column holds nothing; a ragged one does."""
    try:
        return np.size(to_numpy(column)) == 0
    except ValueError:
        return False


def plain(column: ArrayLike, name: str, what: str = "one value per sample") -> AnyArray:
    """Return a column of any type as a NumPy array."""
    try:
        return np.asarray(to_numpy(column))
    except ValueError:
        raise ValueError(f"{name} is ragged: its rows have different lengths; give {what}") from None


def _host_array(column: ArrayLike, name: str) -> AnyArray:
    """Return a list or a data-frame column as a numeric NumPy array; nulls become NaN."""
    if column is None:
        raise TypeError(f"{name} is missing (None); pass one number per sample")
    if "numpy.ma" in sys.modules and isinstance(column, np.ma.MaskedArray):  # else a slow import for nothing
        column = np.ma.filled(column.astype(np.float64), np.nan)
    elif not isinstance(column, np.ndarray) and hasattr(column, "to_numpy"):
        with suppress(ValueError):  # pyarrow refuses to copy booleans and nulls unless asked as below
            column = column.to_numpy()
    try:
        array = np.asarray(column)
    except ValueError:
        raise ValueError(f"{name} is ragged: its rows have different lengths; pass one number per sample") from None
    if array.dtype == object:  # nullable columns arrive as objects
        values = [np.nan if value is None or type(value).__name__ == "NAType" else value for value in array.ravel()]
        for value in values:
            if not isinstance(value, (int, float, np.number, np.bool_)) and type(value).__name__ != "Decimal":
                raise TypeError(f"{name} must be numeric, but it holds {value!r} of type {type(value).__name__}")
        try:
            array = np.array(values, dtype=np.float64).reshape(array.shape)
        except OverflowError:
            raise ValueError(f"{name} holds a whole number beyond the range of float64; rescale it") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numeric, got dtype {array.dtype}; convert it to numbers first")
    return array


def vector(column: ArrayLike, name: str, xp: Namespace, device: Device) -> Array:
    """Return one column as a 1-d float64 array of namespace ``xp``; the caller's array is never changed."""
    array: Array
    known = array_api_compat.is_array_api_obj(column)
    if xp is not np and known and array_api_compat.array_namespace(column) is xp:
        array = column.detach() if array_api_compat.is_torch_array(column) else column
        array = array_api_compat.to_device(array, device)
    else:
        array = _host_array(to_numpy(column) if known else column, name)
    if array.ndim != 1:
        got = f"shape {tuple(array.shape)}; use .ravel()" if array.ndim else "a single number; give a list of values"
        raise ValueError(f"{name} must be one-dimensional, one value per sample, got {got}")
    if array.shape[0] == 0:
        raise ValueError(f"{name} is empty; at least one sample is needed")
    if xp is np:
        return np.asarray(array, dtype=np.float64)
    try:
        if isinstance(array, np.ndarray):
            return xp.asarray(array.astype(np.float64), device=device)
        if xp.isdtype(array.dtype, ("real floating", "integral", "bool")):
            return xp.astype(array, xp.float64, copy=False)
    except (TypeError, RuntimeError, ValueError) as error:
        raise TypeError(
            f"{name} cannot be converted to float64 on device {device}: {error}; move it to the CPU first"
        ) from None
    raise TypeError(f"{name} must be numeric, got dtype {array.dtype}; convert it to numbers first")


def same_length(**columns: Array) -> int:
    """Return the common length of the named columns, or raise a ValueError that lists their lengths."""
    return same({name: int(column.shape[0]) for name, column in columns.items() if column is not None})


def same(lengths: Mapping[str, int]) -> int:
    """Return the one length of all columns, or raise a ValueError that lists them."""
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ValueError(f"lengths differ ({listed}); every column needs one value per sample")
    return next(iter(lengths.values()))


def refuse(bad: Array, column: Array, name: str, problem: str, remedy: str, xp: Namespace) -> None:
    """Raise a ValueError that names the first position where ``bad`` is true, if there is one."""
    if bool(xp.any(bad)):
        position = int(xp.argmax(xp.astype(bad, xp.int8)))
        number = int(xp.sum(xp.astype(bad, xp.int64)))
        raise ValueError(
            f"{name} {problem}: {name}[{position}] = {float(column[position])!r} ({number} such); {remedy}"
        )


def check_loss(loss: Array, xp: Namespace) -> None:
    """Refuse NaN, infinite and negative losses."""
    if xp is np and loss.view(np.uint64).max() <= LARGEST_BITS:  # one pass: a sign, infinity and NaN are larger bits
        return
    for bad, problem, remedy in (
        (xp.isnan(loss), "holds NaN", "remove these samples or repair the labels"),
        (xp.isinf(loss), "is not finite", "clip the loss, e.g. with losses.cross_entropy(..., clip=)"),
        (loss < 0, "is negative", "losses are >= 0: shift it, or pass a loss instead of a gain"),
        (loss > LARGEST, f"is above {LARGEST:g}, where sums overflow", "rescale the losses"),
    ):
        refuse(bad, loss, "loss", problem, remedy, xp)


#: What to say where ``swapped`` holds.
SWAPPED = (
    "confidence holds only 0 and 1, and loss many values between: are the two swapped? The loss comes first, then the "
    "confidence"
)


def swapped(loss: FloatArray, confidence: FloatArray) -> bool:
    """Whether NumPy columns look like a confidence in the place of the loss, and a 0/1 loss in that of the confidence.

    Most columns show at their first number that they are neither.
    """
    if len(loss) < 20 or confidence[0] not in (0.0, 1.0) or loss.max() > 1.0 or len(np.unique(loss[:100])) < 10:
        return False
    ones = int((confidence == 1.0).sum())
    return 0 < ones < len(confidence) == ones + int((confidence == 0.0).sum())


def check_weight(weight: Array, xp: Namespace) -> None:
    """Refuse NaN, infinite and negative weights, and weights that sum to zero."""
    refuse(~xp.isfinite(weight), weight, "sample_weight", "is not finite", "give finite weights >= 0", xp)
    refuse(weight < 0, weight, "sample_weight", "is negative", "give finite weights >= 0", xp)
    remedy = "rescale them: only their ratios matter"
    refuse(weight > LARGEST, weight, "sample_weight", f"is above {LARGEST:g}, where sums overflow", remedy, xp)
    total = float(xp.sum(weight))
    if total == 0.0:
        raise ValueError("sample_weight sums to 0; at least one sample needs a positive weight")
    if total < 1.0 / LARGEST:
        raise ValueError(f"sample_weight sums to {total:g}, where squares underflow; {remedy}")


def matrix(array: ArrayLike, name: str, shape: str = "(n_samples, n_classes)") -> FloatArray:
    """Return numbers, mostly class scores, as a float64 NumPy matrix of a ``shape`` that messages name."""
    result = _host_array(to_numpy(array) if array_api_compat.is_array_api_obj(array) else array, name)
    if result.ndim != 2:
        raise ValueError(f"{name} must have shape {shape}, got {result.shape}")
    if result.shape[0] == 0:
        raise ValueError(f"{name} is empty; at least one sample is needed")
    return result.astype(np.float64, copy=False)
