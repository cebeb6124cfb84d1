"""Mahalanobis distance to the nearest class mean, and relative to the distance to all data."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.outputs import Outputs
from abstain.scores import _moments
from abstain.scores._batch import Batch
from abstain.scores._score import Score


def mds(batch: Batch, state: dict[str, Any]) -> Any:
    """max_k -(h - mu_k)^T Sigma^+ (h - mu_k), mu_k the class means, Sigma the covariance within classes.

    Sigma = (1/n) sum_i (h_i - mu_{y_i})(h_i - mu_{y_i})^T with true labels. With A^T A = Sigma^+ the distances are
    ||A h - A mu_k||^2, one matrix product after another. Directions with less than 1e-10 of the largest variance
    (dead units, copies of units, n < d) are left out. A class that the fit data lack has no mean and cannot be near.
    """
    return _nearest(batch, state)


def rmds(batch: Batch, state: dict[str, Any]) -> Any:
    """max_k M_0(h) - M_k(h): Mahalanobis distance to the mean of all data minus that to the class mean.

    M_k as in ``mds``, M_0 with mean and covariance of all fit data.
    """
    centred = batch.features - state["centre"][None, :]
    white = centred @ state["whitening_all"].T
    return _nearest(batch, state) + batch.xp.sum(white * white, axis=1)


def _nearest(batch: Batch, state: dict[str, Any]) -> Any:
    """Return minus the squared distance to the nearest mean, both whitened and centred on the mean of all data."""
    xp, means = batch.xp, state["white_means"]
    white = (batch.features - state["centre"][None, :]) @ state["whitening"].T
    own = xp.sum(white * white, axis=1)
    value = xp.max(2.0 * (white @ means.T) - xp.sum(means * means, axis=1)[None, :], axis=1) - own
    return xp.where(value < 0.0, value, xp.zeros_like(value))


def fit(outputs: Outputs) -> dict[str, Any]:
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


def fit_relative(outputs: Outputs) -> dict[str, Any]:
    """Return what ``fit`` returns, and the whitening of all data."""
    state = fit(outputs)
    total = _moments.scatter(outputs.features, lambda _: state["centre"])
    return state | {"whitening_all": _moments.whitening(total, "rmds", "at all; fit on other samples")}


SCORES = (
    Score(
        "mds",
        "Mahalanobis distance (MDS)",
        mds,
        ("features",),
        "Lee et al., A simple unified framework for detecting out-of-distribution samples, NeurIPS 2018 (last layer)",
        "(-inf, 0]",
        fit,
        ("features", "labels"),
        "train",
        cost="d^2 + d K",
    ),
    Score(
        "rmds",
        "Relative Mahalanobis distance (RMDS)",
        rmds,
        ("features",),
        "Ren et al., A simple fix to Mahalanobis distance for improving near-OOD detection, 2021",
        "(-inf, inf)",
        fit_relative,
        ("features", "labels"),
        "train",
        cost="2 d^2 + d K",
    ),
)
