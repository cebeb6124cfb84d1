"""Scores of the part of the features outside the principal subspace of the fit data: ViM, residual, SIRC."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from abstain._checks import whole
from abstain._typing import Array, FloatArray
from abstain.outputs import Outputs
from abstain.scores import _features
from abstain.scores._batch import Batch, State, astype, logsumexp, row_norms
from abstain.scores._softmax import log_error

#: Singular values of W below this share of the largest are rounding: of a head whose rows sum to 0, as of a multinomial
#: regression, one is, and dividing by it would move the origin at random.
_HEAD_FLOOR = 1e-5

#: Axes of fit data that are alive: four scores, and every ``dim`` of a grid, need the same.
_AXES: WeakKeyDictionary[Outputs, tuple[FloatArray, FloatArray, FloatArray]] = WeakKeyDictionary()


def vim(batch: Batch, state: State) -> Array:
    """LSE(z) - alpha v, with v as in ``residual`` and alpha = mean of max z / mean of v over the fit data.

    Meant for logits whose largest are positive on average: where that mean is negative, so is alpha, and v counts the
    wrong way round, as published.
    """
    return logsumexp(batch.by_size.logits, batch.xp) - state["alpha"] * residual_norm(batch, state)


def residual(batch: Batch, state: State) -> Array:
    """-v = -||R^T (h - u)||, the distance from the principal subspace around the origin u = -W^+ b.

    W^+ leaves out singular values below 1e-5 of the largest: where the rows of W sum to 0, one is rounding.
    R are the eigenvectors of (1/n) sum_i (h_i - u)(h_i - u)^T after the ``dim`` first. The default of ``dim`` is that
    of the authors: 1000 for 2048 or more features, 512 for 768 or more, else half of them. For a small ``dim`` v
    comes from v^2 = ||h - u||^2 - ||P^T (h - u)||^2 with the ``dim`` principal directions P.
    Fitted on features in float32, R^T (h - u) is a product in float32, which moves v by about 1e-7 of ||h - u||;
    axes, differences and sums are in float64.

    Raises ValueError if nothing is left outside the subspace: ``dim`` not below the number of features, or not below
    the rank of the fit data.
    """
    return 0.0 - residual_norm(batch, state)


def residual_norm(batch: Batch, state: State) -> Array:
    """Return v."""
    xp = batch.xp
    if "outside" in state:
        outside = state["outside"]
        width = "float64" if outside.dtype == xp.float64 else "float32"
        centred = astype(batch.features - state["origin"][None, :], width, xp)  # the difference itself is not kept
        return row_norms(batch.double(centred @ outside), xp)
    centred = batch.features - state["origin"][None, :]
    inside = centred @ state["principal"]  # in float64: the difference of squares loses digits
    squared = xp.sum(centred * centred, axis=1) - xp.sum(inside * inside, axis=1)
    return xp.sqrt(xp.where(squared > 0.0, squared, xp.zeros_like(squared)))


def fit_residual(outputs: Outputs, *, dim: int | None = None) -> State:
    """Return origin and subspace."""
    features = np.asarray(outputs.features)
    width = features.shape[1]
    if dim is None:
        dim = 1000 if width >= 2048 else 512 if width >= 768 else width // 2
    dim = whole(dim, "dim", 0)
    if dim >= width:
        raise ValueError(f"dim must lie in 0 .. {width - 1} for {width} features, got dim={dim}; lower it")
    origin, values, vectors = _axes(outputs)
    outside, total = float(np.sum(np.maximum(values[: width - dim], 0.0))), float(np.sum(np.maximum(values, 0.0)))
    if not outside > 1e-14 * total:
        rank = int(np.sum(values > _features.RELATIVE_FLOOR * values[-1]))
        raise ValueError(f"dim={dim} directions leave nothing of the fit data (rank {rank}); lower dim")
    state = {"origin": origin, "n_features": np.int64(width)}
    if dim >= width / 4:
        single = features.dtype in (np.float16, np.float32)
        return state | {"outside": vectors[:, : width - dim].astype(np.float32 if single else np.float64, order="C")}
    return state | {"principal": np.ascontiguousarray(vectors[:, width - dim :])}


def fit_vim(outputs: Outputs, *, dim: int | None = None) -> State:
    """Return origin, subspace and alpha."""
    state = fit_residual(outputs, dim=dim)
    batch = Batch.of(outputs)
    mean_v = np.mean(np.concatenate([residual_norm(chunk, state) for chunk in batch.chunks()]))
    return state | {"alpha": np.float64(np.max(np.asarray(outputs.logits), axis=1).mean() / mean_v)}


def _axes(outputs: Outputs) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the origin, and eigenvalues and eigenvectors of the scatter around it, ascending."""
    if outputs not in _AXES:
        w, b = (np.asarray(part, dtype=np.float64) for part in outputs.head)
        origin: FloatArray = np.asarray(np.linalg.lstsq(w, -b, rcond=_HEAD_FLOOR)[0], dtype=np.float64)
        _AXES[outputs] = (origin, *np.linalg.eigh(_features.scatter(outputs.features, lambda _: origin)))
    return _AXES[outputs]


def log_gap(batch: Batch, first: str) -> Array:
    """Return log(s1max - s1): log(1 - MSP), or the logarithm of the entropy; -inf where s1 is at its maximum."""
    xp = batch.xp
    if first == "msp":
        return log_error(batch)
    log_p = batch.by_size.log_p
    log_p = xp.where(xp.isfinite(log_p), log_p, xp.zeros_like(log_p))  # 0 log 0 = 0 = 1 log 1
    with np.errstate(divide="ignore"):
        return logsumexp(log_p + xp.log(0.0 - log_p), xp)


def statistic(batch: Batch, state: State, second: str) -> Array:
    """Return s2: the L1 norm of the features, or minus the residual norm of ViM."""
    if second == "l1":
        return batch.xp.sum(batch.xp.abs(batch.features), axis=1)
    return 0.0 - residual_norm(batch, state)


def value(batch: Batch, state: State, first: str, second: str) -> Array:
    """Return -log(s1max - s1) - log(1 + exp(-b (s2 - a))), which has the order of the published product."""
    xp = batch.xp
    x = state["b"] * (state["a"] - statistic(batch, state, second))
    softplus = xp.where(x > 0.0, x, xp.zeros_like(x)) + xp.log1p(xp.exp(-xp.abs(x)))
    return 0.0 - log_gap(batch, first) - softplus


def fit_statistic(outputs: Outputs, second: str, state: State) -> State:
    """Return a = mean - 3 std and b = 1/std of s2 over the fit data; b = 0 (s2 does not count) if it is constant."""
    s2 = np.concatenate([statistic(chunk, state, second) for chunk in Batch.of(outputs).chunks()])
    mean, std = float(s2.mean()), float(s2.std())
    b = 1.0 / std if std > 1e-12 * abs(mean) else 0.0
    width = np.int64(np.asarray(outputs.features).shape[1])
    return state | {"a": np.float64(mean - 3.0 * std), "b": np.float64(b), "n_features": width}


def sirc_msp_l1(batch: Batch, state: State) -> Array:
    """-log(1 - MSP) - log(1 + exp(-b (||h||_1 - a))), a = mean - 3 std and b = 1/std of ||h||_1 on the fit data."""
    return value(batch, state, "msp", "l1")


def sirc_msp_res(batch: Batch, state: State) -> Array:
    """-log(1 - MSP) - log(1 + exp(-b (-v - a))), v as in ``residual``, a = mean - 3 std and b = 1/std of -v."""
    return value(batch, state, "msp", "res")


def sirc_neg_entropy_l1(batch: Batch, state: State) -> Array:
    """-log H(p) - log(1 + exp(-b (||h||_1 - a))), H the entropy, a and b as in ``sirc_msp_l1``."""
    return value(batch, state, "neg_entropy", "l1")


def sirc_neg_entropy_res(batch: Batch, state: State) -> Array:
    """-log H(p) - log(1 + exp(-b (-v - a))), H the entropy, v, a and b as in ``sirc_msp_res``."""
    return value(batch, state, "neg_entropy", "res")


def fit_l1(outputs: Outputs) -> State:
    """Fit a and b for the L1 norm."""
    return fit_statistic(outputs, "l1", {})


def fit_res(outputs: Outputs, *, dim: int | None = None) -> State:
    """Fit the subspace, then a and b for the residual norm."""
    return fit_statistic(outputs, "res", fit_residual(outputs, dim=dim))
