"""Logistic regression by Newton steps: what Platt scaling and combinations are fitted with."""

from __future__ import annotations

import numpy as np

from abstain._typing import FloatArray


def logistic(columns: FloatArray, target: FloatArray, ridge: float) -> tuple[FloatArray, float]:
    """Return weights a and intercept b of the least sum log-loss of sigmoid(x a + b) + ridge ||a||^2 / 2.

    ``columns`` (n, d) should be standardised; ``target`` (n,) lies in [0, 1]. Steps are halved until the loss falls.
    """
    design = np.column_stack([columns, np.ones(len(target))])
    penalty = np.full(design.shape[1], ridge)
    penalty[-1] = 0.0
    theta = np.zeros(design.shape[1])
    loss = _loss(design, target, penalty, theta)
    for _ in range(100):
        p = sigmoid(design @ theta)
        gradient = design.T @ (p - target) + penalty * theta
        hessian = (design.T * (p * (1.0 - p))) @ design + np.diag(penalty + 1e-12 * len(target))
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-10 and (new := _loss(design, target, penalty, theta - size * step)) > loss:
            size *= 0.5
        if size <= 1e-10 or np.max(np.abs(size * step)) <= 1e-12 * max(1.0, float(np.max(np.abs(theta)))):
            break
        theta, loss = theta - size * step, new
    return theta[:-1], float(theta[-1])


def sigmoid(x: FloatArray) -> FloatArray:
    """Return 1/(1 + exp(-x)) without overflow."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, small) / (1.0 + small))


def _loss(design: FloatArray, target: FloatArray, penalty: FloatArray, theta: FloatArray) -> float:
    x = design @ theta
    return float(np.sum(np.logaddexp(0.0, x) - target * x) + 0.5 * penalty @ theta**2)
