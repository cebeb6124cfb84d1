"""Small models with known geometry: features around class corners, a linear head, repeated passes."""

import warnings

import numpy as np

from abstain import Outputs, scores

#: Options without which a score cannot be had on the toy case.
OPTIONS = {"column": {"column": "external"}, "dice": {"sparsity": 0.5}, "knn": {"neighbours": 5}}
OPTIONS |= {"nnguide": {"neighbours": 5}, "residual": {"dim": 4}, "vim": {"dim": 4}, "sirc_msp_res": {"dim": 4}}
OPTIONS |= {"sirc_neg_entropy_res": {"dim": 4}}

WEIGHT = np.kron(np.eye(4), np.ones((1, 2)))  # two features per class, and two more that no class uses
WEIGHT = np.hstack([WEIGHT, np.zeros((4, 2))])


def outputs_of(features, labels, rng=None, **changed):
    """Return outputs of the model that reads these features; passes are noisy copies of its logits."""
    features = np.asarray(features)
    logits = features @ WEIGHT.T - 1.0
    noise = np.zeros((3, *logits.shape)) if rng is None else rng.normal(size=(3, *logits.shape)) * 0.5
    e = np.exp(logits + noise - (logits + noise).max(axis=-1, keepdims=True))
    columns = {
        "labels": labels, "logits": logits, "features": features, "head": (WEIGHT, np.full(4, -1.0)),
        "passes": e / e.sum(axis=-1, keepdims=True), "confidence": logits.max(axis=1),
        "scores": {"external": logits.max(axis=1)},
    }  # fmt: skip
    return Outputs(**columns | changed)


def split(n=200, seed=0, noise=1.0, **changed):
    """Return n samples: class corners plus noise, after a ReLU."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n)
    features = np.maximum(3.0 * WEIGHT[labels] + noise * rng.normal(size=(n, 10)), 0.0)
    return outputs_of(features, labels, rng, **changed)


TRAIN, VALIDATION, TEST = split(400, 1), split(300, 2, 2.5), split(60, 3, 1.5)


def fitted(name, train=TRAIN, validation=VALIDATION, **options):
    """Return a score fitted on the split that its authors fit it on."""
    entry = scores.get(name, **OPTIONS.get(name, {}) | options)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="platt")
        return entry.fit(validation if entry.fit_split == "validation" else train)
