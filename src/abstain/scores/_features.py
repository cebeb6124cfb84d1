"""Scores of the features next to those of the fit data: class means (MDS, RMDS, SHE, fDBD) and neighbours (kNN)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from abstain import _checks
from abstain._checks import one_of
from abstain._classes import chosen
from abstain._typing import AnyArray, Array, FloatArray, IntArray
from abstain.outputs import Outputs
from abstain.scores._batch import Batch, State, logsumexp, row_norms, rows_of


def mds(batch: Batch, state: State) -> Array:
    """max_k -(h - mu_k)^T Sigma^+ (h - mu_k), mu_k the class means, Sigma the covariance within classes.

    Sigma = (1/n) sum_i (h_i - mu_{y_i})(h_i - mu_{y_i})^T with true labels. With A^T A = Sigma^+ the distances are
    ||A h - A mu_k||^2, one matrix product after another. Directions with less than 1e-10 of the largest variance
    (dead units, copies of units, n < d) are left out. A class that the fit data lack has no mean and cannot be near.
    """
    return _nearest(batch, state)


def rmds(batch: Batch, state: State) -> Array:
    """max_k M_0(h) - M_k(h): Mahalanobis distance to the mean of all data minus that to the class mean.

    M_k as in ``mds``, M_0 with mean and covariance of all fit data.
    """
    centred = batch.features - state["centre"][None, :]
    white = centred @ state["whitening_all"].T
    return _nearest(batch, state) + batch.xp.sum(white * white, axis=1)


def _nearest(batch: Batch, state: State) -> Array:
    """Return minus the squared distance to the nearest mean, both whitened and centred on the mean of all data."""
    xp, means = batch.xp, state["white_means"]
    white = (batch.features - state["centre"][None, :]) @ state["whitening"].T
    own = xp.sum(white * white, axis=1)
    value = xp.max(2.0 * (white @ means.T) - xp.sum(means * means, axis=1)[None, :], axis=1) - own
    return xp.where(value < 0.0, value, xp.zeros_like(value))


def fit_mds(outputs: Outputs) -> State:
    """Return centre, whitening and whitened class means."""
    means, position = by_class(outputs)
    centre = mean(outputs.features)
    within = scatter(outputs.features, lambda rows: means[position[rows]])
    remedy = "within the classes; fit on more than one sample per class"
    white = whitening(within, "mds", remedy)
    return {
        "centre": centre,
        "whitening": white,
        "white_means": (means - centre) @ white.T,
        "n_features": np.int64(centre.shape[0]),
    }


def fit_rmds(outputs: Outputs) -> State:
    """Return what ``fit_mds`` returns, and the whitening of all data."""
    state = fit_mds(outputs)
    total = scatter(outputs.features, lambda _: state["centre"])
    return state | {"whitening_all": whitening(total, "rmds", "at all; fit on other samples")}


def she(batch: Batch, state: State) -> Array:
    """<h, S_k> of the predicted class k, S_k the mean feature of the correct fit samples of that class.

    A class without a correct sample has the mean of all its samples; a class that the fit data lack, the mean of all
    fit data.
    """
    patterns = rows_of(state["patterns"], batch.predicted, batch.xp)
    return batch.xp.sum(batch.features * patterns, axis=1)


def fit_she(outputs: Outputs) -> State:
    """Return one pattern per class."""
    features, labels = outputs.features, np.asarray(outputs.labels)
    assert features is not None
    correct = outputs.predicted() == labels
    width = int(outputs.n_classes or labels.max() + 1)
    patterns = np.tile(mean(features), (width, 1))
    for k in np.unique(labels):
        own = labels == k
        rows = np.flatnonzero(own & correct)
        patterns[k] = mean(features[rows if len(rows) else np.flatnonzero(own)])
    return {"patterns": patterns, "n_features": np.int64(features.shape[1]), "n_classes": np.int64(width)}


def fdbd(batch: Batch, state: State, *, normaliser: str = "distance_to_mean") -> Array:
    """sum_{k != y} |z_y - z_k| / ||w_y - w_k||, y the predicted class, divided by ||h - mean(h)|| over the fit data.

    ``normaliser="norm"`` divides by ||h|| instead. Classes with identical weights have no boundary between them and
    do not count. A sample at the mean itself is divided by 1e-12 instead of 0.
    """
    xp = batch.xp
    one_of(normaliser, ("distance_to_mean", "norm"), "normaliser")
    inverse = rows_of(state["inverse_distances"], batch.predicted, xp)
    own = chosen(batch.logits, batch.predicted, xp, batch.device)[:, None]
    boundary = xp.sum(xp.abs(own - batch.logits) * inverse, axis=1)
    centred = batch.features if normaliser == "norm" else batch.features - state["mean"][None, :]
    norms = row_norms(centred, xp)
    return boundary / xp.where(norms > 1e-12, norms, xp.zeros_like(norms) + 1e-12)


def fit_fdbd(outputs: Outputs) -> State:
    """Return the mean of the features and 1/||w_y - w_k|| for all pairs of classes, 0 where the weights are equal."""
    weight = np.asarray(outputs.head[0])
    squares = np.sum(weight**2, axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2.0 * weight @ weight.T, 0.0))
    apart = distances > 1e-7 * np.sqrt(squares.max())
    inverse = np.divide(1.0, distances, out=np.zeros_like(distances), where=apart)
    return {
        "mean": mean(outputs.features),
        "inverse_distances": inverse,
        "n_features": np.int64(weight.shape[1]),
        "n_classes": np.int64(weight.shape[0]),
    }


#: Directions with less than this share of the largest eigenvalue carry rounding only (dead units, copies).
RELATIVE_FLOOR = 1e-10


def _slices(features: AnyArray) -> Iterator[slice]:
    """Yield pieces of about 16 MB in float64: fewer rows than 1,024 would add up more products than they are."""
    rows = int(np.clip((1 << 21) // max(features.shape[1], 1), 1 << 10, 1 << 13))
    for start in range(0, len(features), rows):
        yield slice(start, start + rows)


def pieces(features: AnyArray) -> Iterator[tuple[slice, FloatArray]]:
    """Yield the rows in float64 pieces."""
    for rows in _slices(features):
        yield rows, np.asarray(features[rows], dtype=np.float64)


def mean(features: AnyArray) -> FloatArray:
    """Return the mean of the rows."""
    total = np.zeros(features.shape[1])
    for _, piece in pieces(features):
        total += piece.sum(axis=0)
    return total / len(features)


def scatter(features: AnyArray, centres: Callable[[slice], FloatArray]) -> FloatArray:
    """Return the mean of (h - c)(h - c)^T; ``centres(rows)`` gives the centres of these rows."""
    total = np.zeros((features.shape[1],) * 2)
    for rows in _slices(features):
        piece = np.subtract(features[rows], centres(rows), dtype=np.float64)
        total += piece.T @ piece
    return total / len(features)


def by_class(outputs: Outputs) -> tuple[FloatArray, IntArray]:
    """Return the mean of each class that occurs, and the position of every sample's class among them."""
    features = outputs.features
    assert features is not None  # what the registry checks before a fit
    _, position = np.unique(np.asarray(outputs.labels), return_inverse=True)
    counts = np.bincount(position)
    total = np.zeros((len(counts), features.shape[1]))
    for rows, piece in pieces(features):
        np.add.at(total, position[rows], piece)
    return total / counts[:, None], position


def whitening(covariance: FloatArray, name: str, remedy: str) -> FloatArray:
    """Return A with A^T A = the pseudo-inverse of the covariance, shape (rank, n_features).

    Directions without variance are left out: a distance there would be 0/0.
    """
    values, vectors = np.linalg.eigh(covariance)
    kept = values > RELATIVE_FLOOR * values[-1]
    if values[-1] <= 0.0 or not kept.any():
        raise ValueError(f"{name}: the features of the fit data do not vary {remedy}")
    return np.ascontiguousarray((vectors[:, kept] / np.sqrt(values[kept])).T)


def bank_of(features: AnyArray, scale: FloatArray | None, dtype: str) -> AnyArray:
    """Return the rows at unit length, times ``scale``, in one array of the given precision; zero rows stay zero."""
    bank = np.empty(features.shape, dtype=_checks.one_of(dtype, ("float16", "float32", "float64"), "dtype"))
    largest_scale = 1.0 if scale is None else float(np.abs(scale).max())
    if largest_scale > float(np.finfo(bank.dtype).max):
        raise ValueError(f"dtype={dtype!r} cannot hold energies of up to {largest_scale:.3g}; use another")
    for rows, piece in pieces(features):
        norms = np.linalg.norm(piece, axis=1, keepdims=True)
        piece = piece / np.where(norms > 0, norms, 1.0)
        bank[rows] = piece if scale is None else piece * scale[rows, None]
    return bank


def subset(n: int, fraction: float, seed: int) -> IntArray | slice:
    """Return the rows of a random share of the fit data, in their order; all rows if the share is 1."""
    share = _checks.fraction(fraction, "fraction")
    if share == 0.0:
        raise ValueError("fraction=0.0 keeps no fit data; give a share in (0, 1]")
    if share == 1.0:
        return slice(None)
    size = max(1, round(share * n))
    return np.sort(_checks.generator(seed, "seed").choice(n, size=size, replace=False))


def check_k(neighbours: int, n: int, name: str) -> int:
    """Return the number of neighbours: at least one, and no more than the bank holds."""
    neighbours = _checks.whole(neighbours, "neighbours")
    if neighbours > n:
        raise ValueError(
            f"{name} needs 1 <= neighbours <= {n}, the rows of its bank, got neighbours={neighbours}; "
            "lower neighbours or fit on more rows"
        )
    return neighbours


def knn(batch: Batch, state: State, *, neighbours: int = 50) -> Array:
    """-||h' - h'_(k)||^2 = 2 cos_(k) - 2, the k-th nearest fit sample after scaling all features to length 1.

    Features of length 0 count as at right angles to all others (cos = 0).
    The bank is kept in ``dtype`` (float32; float16 halves it) and compared block by block: memory is that of the
    bank and a few hundred MB. ``fraction`` keeps a random share of the fit data, drawn with ``seed``. Products in
    float32 move a score by about 1e-7.
    """
    bank = state["bank"]
    neighbours = check_k(neighbours, bank.shape[0], "knn")
    value = 2.0 * batch.xp.min(batch.top_products(bank, neighbours), axis=1) - 2.0
    return batch.xp.where(value < 0.0, value, batch.xp.zeros_like(value))


def fit_knn(outputs: Outputs, *, dtype: str = "float32", fraction: float = 1.0, seed: int = 0) -> State:
    """Return the bank of unit vectors."""
    features: Array = outputs.features
    rows = subset(len(features), fraction, seed)
    return {"bank": bank_of(features[rows], None, dtype), "n_features": np.int64(features.shape[1])}


def nnguide(batch: Batch, state: State, *, neighbours: int = 10) -> Array:
    """LSE(z) times the mean of the k largest <g_i, h'>, with the bank g_i = LSE(z_i) h'_i and h' = h/||h||.

    ``fraction`` keeps a random share of the fit data (the authors: 1 % for ImageNet, all for CIFAR), drawn with
    ``seed``. Where LSE(z) < 0 the product turns around: the score is meant for logits of trained networks, whose
    energies are positive.
    """
    xp, bank = batch.xp, state["bank"]
    neighbours = check_k(neighbours, bank.shape[0], "nnguide")
    return logsumexp(batch.by_size.logits, xp) * xp.mean(batch.top_products(bank, neighbours), axis=1)


def fit_nnguide(outputs: Outputs, *, fraction: float = 1.0, seed: int = 0, dtype: str = "float32") -> State:
    """Return the bank of energy-weighted unit vectors."""
    features: Array = outputs.features
    rows = subset(len(features), fraction, seed)
    energy = logsumexp(np.asarray(outputs.logits)[rows], np)
    bank = bank_of(features[rows], energy, dtype)
    return {"bank": bank, "n_features": np.int64(features.shape[1])}
