"""Recover the last layer from logits and features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from abstain._checks import UnmetNeed, not_negative
from abstain.outputs import Outputs


def recover_head(outputs: Outputs, *, tolerance: float = 1e-3) -> Outputs:
    """Return the outputs with the last layer that turns their features into their logits.

    W and b are the least-squares solution of logits = features @ W.T + b, of least norm if there are several.

    Parameters
    ----------
    outputs : Outputs
        With logits and features. Best the training split: fewer rows than features leave W open.
    tolerance : float
        Largest residual, as a share of the standard deviation of the logits, that is put down to rounding.

    Returns
    -------
    Outputs

    Raises
    ------
    UnmetNeed
        No logits or no features.
    ValueError
        Fewer rows than features + 1, or a larger residual: these are not the features before the last layer.

    Examples
    --------
    >>> import numpy as np, abstain
    >>> rng = np.random.default_rng(0)
    >>> features, weight, bias = rng.random((50, 4)), rng.normal(size=(3, 4)), np.array([1.0, 0.0, -1.0])
    >>> logits = features @ weight.T + bias
    >>> outputs = abstain.scores.recover_head(abstain.Outputs(logits=logits, features=features, unlabelled=True))
    >>> bool(np.allclose(outputs.head[0], weight)), outputs.head[1].round(6)
    (True, array([ 1.,  0., -1.]))
    """
    if outputs.logits is None or outputs.features is None:
        raise UnmetNeed("recover_head needs logits and features; save both")
    features = np.asarray(outputs.features, dtype=np.float64)
    logits = np.asarray(outputs.logits)
    n, d = features.shape
    if n < d + 1:
        raise ValueError(f"{n} rows do not determine {d} weights and a bias per class; use the training split")
    design = np.column_stack([features, np.ones(n)])
    solution = np.linalg.lstsq(design, logits, rcond=None)[0]
    residual = float(np.abs(design @ solution - logits).max())
    if residual > not_negative(tolerance, "tolerance") * float(logits.std()):
        raise ValueError(
            f"the features do not give the logits: the residual is up to {residual:.3g}; "
            "save the input of the last linear layer, or raise tolerance"
        )
    return replace(outputs, head=(solution[:-1].T.copy(), solution[-1].copy()))
