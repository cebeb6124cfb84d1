"""Scores of the features relative to the classes of the fit data: MDS, RMDS, SHE, fDBD."""

from __future__ import annotations

import numpy as np

from abstain._checks import one_of
from abstain._classes import chosen
from abstain._typing import Array
from abstain.outputs import Outputs
from abstain.scores import _moments
from abstain.scores._batch import Batch, State, row_norms, rows_of


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
    means, position = _moments.by_class(outputs)
    centre = _moments.mean(outputs.features)
    within = _moments.scatter(outputs.features, lambda rows: means[position[rows]])
    remedy = "within the classes; fit on more than one sample per class"
    white = _moments.whitening(within, "mds", remedy)
    return {
        "centre": centre,
        "whitening": white,
        "white_means": (means - centre) @ white.T,
        "n_features": np.int64(centre.shape[0]),
    }


def fit_rmds(outputs: Outputs) -> State:
    """Return what ``fit_mds`` returns, and the whitening of all data."""
    state = fit_mds(outputs)
    total = _moments.scatter(outputs.features, lambda _: state["centre"])
    return state | {"whitening_all": _moments.whitening(total, "rmds", "at all; fit on other samples")}


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
    patterns = np.tile(_moments.mean(features), (width, 1))
    for k in np.unique(labels):
        own = labels == k
        rows = np.flatnonzero(own & correct)
        patterns[k] = _moments.mean(features[rows if len(rows) else np.flatnonzero(own)])
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
    floor = 1e-7 * np.sqrt(max(float(squares.max()), 1e-300))
    inverse = np.where(distances > floor, 1.0 / np.maximum(distances, floor), 0.0)
    return {
        "mean": _moments.mean(outputs.features),
        "inverse_distances": inverse,
        "n_features": np.int64(weight.shape[1]),
        "n_classes": np.int64(weight.shape[0]),
    }
