"""``Batch``: the rows that a score is computed on, in any array library, and functions of such rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from abstain._checks import namespace, same
from abstain._classes import chosen, class_labels, class_matrix, probabilities
from abstain._typing import Array, Device, Namespace
from abstain.outputs import Outputs

#: Queries and bank rows per block: their similarities take 64 MB in single precision.
QUERIES, BLOCK = 1 << 10, 1 << 14


def astype(values: Array, dtype: str, xp: Namespace) -> Array:
    """Return an array of another dtype, or the same array where it has that dtype."""
    return np.asarray(values, dtype=dtype) if xp is np else xp.astype(values, getattr(xp, dtype), copy=False)


def arange(n: int, xp: Namespace, device: Device) -> Array:
    """Return 0 .. n - 1 where the other arrays live."""
    return np.arange(n) if xp is np else xp.arange(n, dtype=xp.int64, device=device)


def columns_at(index: Array, width: int, xp: Namespace, device: Device) -> Array:
    """Return a mask of shape (n, width) that is true at one column per row."""
    return arange(width, xp, device)[None, :] == index[:, None]


def logsumexp(values: Array, xp: Namespace) -> Array:
    """Return log sum_k exp v_k of each row; -inf for a row of -inf."""
    top = xp.max(values, axis=1, keepdims=True)
    shift = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    with np.errstate(divide="ignore"):
        return shift[:, 0] + xp.log(xp.sum(xp.exp(values - shift), axis=1))


def log_softmax(values: Array, xp: Namespace, device: Device) -> Array:
    """Return log-probabilities that stay exact where the softmax is 1 to the last digit.

    The normaliser is log1p of the sum over all classes but the largest: a probability of 1 - 1e-26 has
    log-probability -1e-26.
    """
    top = xp.argmax(values, axis=1)
    shifted = values - chosen(values, top, xp, device)[:, None]
    others = xp.exp(shifted)
    if xp is np:
        np.put_along_axis(others, top[:, None], 0.0, axis=1)
    else:
        others = xp.where(columns_at(top, values.shape[1], xp, device), xp.zeros_like(others), others)
    return shifted - xp.log1p(xp.sum(others, axis=1))[:, None]


def ascending(values: Array, xp: Namespace) -> Array:
    """Return the entries of each row in ascending order, rows in one piece: the order of a sum depends on both."""
    if xp is not np:
        return xp.sort(values, axis=-1)
    found = np.array(values, order="C")
    found.sort(axis=-1)
    return found


def largest(values: Array, k: int, xp: Namespace) -> Array:
    """Return the k largest entries of each row, in no particular order."""
    width = values.shape[1]
    if k >= width:
        return values
    if xp is np:
        return np.partition(values, width - k, axis=1)[:, width - k :]
    if hasattr(xp, "topk"):
        return xp.topk(values, k, dim=1).values
    return xp.sort(values, axis=1)[:, width - k :]


def kth_largest(values: Array, k: int, xp: Namespace) -> Array:
    """Return the k-th largest entry of each row, counted from 1."""
    if xp is np:
        place = values.shape[1] - k
        return np.partition(values, place, axis=1)[:, place]
    return xp.min(largest(values, k, xp), axis=1)


def row_norms(values: Array, xp: Namespace) -> Array:
    """Return the Euclidean norm of each row; no row overflows that float32 can hold."""
    return xp.sqrt(xp.sum(values * values, axis=1))


def unit_rows(values: Array, xp: Namespace) -> Array:
    """Return each row divided by its Euclidean norm; a row of zeros stays zero."""
    norms = row_norms(values, xp)
    return values / xp.where(norms > 0, norms, xp.ones_like(norms))[:, None]


def rows_of(table: Array, classes: Array, xp: Namespace) -> Array:
    """Return the row of a fitted table that belongs to each predicted class."""
    if bool(xp.any((classes < 0) | (classes >= table.shape[0]))):
        raise ValueError(
            f"a predicted class is not in 0 .. {table.shape[0] - 1}, the classes of the fit data; "
            "use outputs of the same model"
        )
    return xp.take(table, classes, axis=0)


def x_log_y(x: Array, log_y: Array, xp: Namespace) -> Array:
    """Return x log y with 0 log 0 = 0."""
    return x * xp.where(xp.isfinite(log_y), log_y, xp.zeros_like(log_y))


def top_products(queries: Array, bank: Array, k: int, xp: Namespace) -> Array:
    """Return the k largest of <query, row of the bank> for each query, shape (n_queries, k), in no order.

    Products are computed in the bank's precision (a float16 bank: in float32) and returned as float64.
    """
    width = "float64" if bank.dtype == xp.float64 else "float32"
    queries = astype(queries, width, xp)
    starts = range(0, queries.shape[0], QUERIES)
    found = [_top(queries[start : min(start + QUERIES, queries.shape[0]), ...], bank, k, width, xp) for start in starts]
    return astype(xp.concat(found, axis=0), "float64", xp)


def _top(queries: Array, bank: Array, k: int, width: str, xp: Namespace) -> Array:
    """Return the same for a few queries, in their precision."""
    best = None
    for start in range(0, bank.shape[0], BLOCK):
        block = queries @ astype(bank[start : min(start + BLOCK, bank.shape[0]), ...], width, xp).T
        found = largest(block, k, xp)
        best = found if best is None else largest(xp.concat([best, found], axis=1), k, xp)
    return best


#: What a score has learnt from its fit data: arrays by name.
State: TypeAlias = dict[str, Array]

#: Rows are taken in chunks of about this many bytes of float64 input: small enough for the processor's cache.
CHUNK_BYTES = 1 << 22

_ROWS = ("logits", "probabilities", "features", "predictions", "confidence")
_NDIM = {"features": 2, "passes": 3}


@dataclass(frozen=True, eq=False)
class Batch:
    """Columns of the same rows as arrays of one library; only what was given is there."""

    xp: Namespace
    device: Device
    logits: Array = None
    probabilities: Array = None
    features: Array = None
    head: Array = None
    passes: Array = None
    predictions: Array = None
    confidence: Array = None
    scores: Mapping[str, Array] = field(default_factory=dict)
    #: Products with banks that were computed for these rows, by bank; never handed on to other rows.
    _products: dict[int, Array] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, outputs: Outputs) -> Batch:
        """Return the columns of outputs, as they are."""
        names = [*_ROWS, "head", "passes"]
        found = {name: getattr(outputs, name, None) for name in names}
        return cls(np, None, **found, scores=outputs.scores or {})

    @classmethod
    def from_arrays(cls, **columns: Array) -> Batch:
        """Return checked columns of any Array API library, brought to the library and the device of the first."""
        head = columns.get("head")
        if head is not None and (not isinstance(head, tuple | list) or len(head) != 2):
            raise TypeError(f"head must be a pair (W, b), got {type(head).__name__}; give the last layer")
        given = {name: column for name, column in columns.items() if column is not None and name != "head"}
        if not given:
            raise ValueError("no arrays were given; give logits=, probabilities=, features= or passes=")
        xp, device = namespace(*given.values(), *(head or ()))
        made = {name: _checked(column, name, xp, device) for name, column in given.items()}
        if head is not None:
            made["head"] = _head(head, made.get("features"), xp, device)
        batch = cls(xp, device, **made)
        lengths = {name: column.shape[0] for name, column in batch._row_columns().items()}
        if batch.passes is not None:
            lengths["passes"] = batch.passes.shape[1]
        same(lengths)
        return batch

    @property
    def n(self) -> int:
        """Number of rows."""
        if self.passes is not None:
            return int(self.passes.shape[1])
        return int(next(iter([*self._row_columns().values(), *self.scores.values()])).shape[0])

    def chunks(self) -> Iterator[Batch]:
        """Yield the rows in pieces, as float64."""
        widths = [column.shape[1] for column in self._row_columns().values() if column.ndim == 2]
        if self.passes is not None:
            widths.append(self.passes.shape[0] * self.passes.shape[2])
        rows = int(np.clip(CHUNK_BYTES // (8 * max(sum(widths), 1)), 64, 1 << 16))
        for start in range(0, self.n, rows):
            yield self._rows(slice(start, min(start + rows, self.n)))

    def _rows(self, rows: slice) -> Batch:
        changed = {name: self.double(column[rows, ...]) for name, column in self._row_columns().items()}
        if self.predictions is not None:
            changed["predictions"] = self.predictions[rows]
        if self.passes is not None:
            changed["passes"] = self.double(self.passes[:, rows, :])
        inner = {name: column[rows] for name, column in self.scores.items()}
        return replace(self, **changed, scores=inner)

    def _row_columns(self) -> dict[str, Array]:
        return {name: getattr(self, name) for name in _ROWS if getattr(self, name) is not None}

    def double(self, column: Array) -> Array:
        """Return a column as float64; one that is so already is not copied."""
        return astype(column, "float64", self.xp)

    # ------------------------------------------------------------------ what follows from the columns

    def top_products(self, bank: Array, k: int) -> Array:
        """Return the k largest <h/||h||, row of the bank> of each row (n, k), in no order.

        They are kept for the next who asks: another number of neighbours of the same bank costs a product only
        where it is larger.
        """
        kept = self._products.get(id(bank))
        if kept is None or kept.shape[1] < k:
            kept = self._products[id(bank)] = top_products(unit_rows(self.features, self.xp), bank, k, self.xp)
        return largest(kept, k, self.xp)

    @cached_property
    def log_p(self) -> Array:
        """Log-probabilities (n, K): from the logits where there are any, -inf where a probability is 0."""
        if self.logits is not None:
            return log_softmax(self.logits, self.xp, self.device)
        with np.errstate(divide="ignore"):
            return self.xp.log(self.probabilities)

    @property
    def by_size(self) -> Batch:
        """The same rows with the classes of each in ascending order: sums over them do not depend on theirs.

        Only for scores to which a class is as good as another: these columns belong to no class any more.
        """
        return self if "_ascending" in self.__dict__ else self._by_size

    @cached_property
    def _by_size(self) -> Batch:
        name = "probabilities" if self.logits is None else "logits"
        found = replace(self, **{name: ascending(getattr(self, name), self.xp)})
        found.__dict__["_ascending"] = True  # kept with itself, it would live on until the next search for cycles
        return found

    @cached_property
    def p(self) -> Array:
        """Probabilities (n, K)."""
        return self.xp.exp(self.log_p) if self.logits is not None else self.probabilities

    @cached_property
    def predicted(self) -> Array:
        """Predicted class (n,): as given, else of the largest logit or probability, the first if several."""
        if self.predictions is not None:
            return astype(self.predictions, "int64", self.xp)
        return self.xp.argmax(self.probabilities if self.logits is None else self.logits, axis=1)

    def array(self, values: Array) -> Array:
        """Return a fitted array where the rows live; a floating dtype is kept."""
        if self.xp is np:
            return values
        with warnings.catch_warnings():  # PyTorch warns of arrays that are read-only; nothing here writes
            warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
            return self.xp.asarray(values, device=self.device)

    def logits_of(self, features: Array, head: Array = None) -> Array:
        """Return W h + b of (changed) features."""
        weight, bias = self.head if head is None else head
        return features @ self.double(weight).T + self.double(bias)


def _checked(column: Array, name: str, xp: Namespace, device: Device) -> Array:
    """Return a column in the common library: of the right shape, finite, and probabilities that are such."""
    if name == "probabilities":
        return probabilities(column, name, xp, device)
    if name == "logits":
        return class_matrix(column, name, xp, device)
    if name == "predictions":
        return class_labels(column, name, xp, device)
    column, ndim = _as(column, xp, device), _NDIM[name]
    if xp is np and column.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numeric, got dtype {column.dtype}; convert it to numbers first")
    if column.ndim != ndim or 0 in column.shape:
        raise ValueError(
            f"{name} must have {ndim} dimensions, none of them empty, got shape {tuple(column.shape)}; see score_arrays"
        )
    if name == "passes":
        for run in range(column.shape[0]):
            probabilities(column[run, ...], f"passes[{run}]", xp, device)
    elif not bool(xp.all(xp.isfinite(column))):
        raise ValueError(f"{name} holds NaN or infinities; repair or leave out these rows")
    return column


def _head(head: Array, features: Array, xp: Namespace, device: Device) -> tuple[Array, Array]:
    """Return W and b in the common library; their shapes must fit each other and the features."""
    weight, bias = (_as(part, xp, device) for part in head)
    fits = weight.ndim == 2 and tuple(bias.shape) == (weight.shape[0],)
    if not fits or (features is not None and features.shape[1] != weight.shape[1]):
        width = "n_features" if features is None else features.shape[1]
        raise ValueError(
            f"head must be W of shape (n_classes, {width}) and b of shape (n_classes,), got {tuple(weight.shape)} and "
            f"{tuple(bias.shape)}; give the last layer, which reads these features"
        )
    return weight, bias


def _as(column: Array, xp: Namespace, device: Device) -> Array:
    """Return an array in the common library, without its history of gradients."""
    if xp is np:
        return np.asarray(column)
    if hasattr(column, "detach"):
        column = column.detach()
    return xp.asarray(np.array(column) if isinstance(column, np.ndarray) else column, device=device)
