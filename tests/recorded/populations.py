"""Populations whose values are recorded: losses, scores, weights, groups and clusters, with and without ties."""

import numpy as np


def rows(seed, n, *, steps=0, graded=False):
    """Return columns of n rows; ``steps``: scores lie on so many values; ``graded``: losses are not only 0 and 1."""
    rng = np.random.default_rng([20261126, seed])
    ease = rng.random(n)
    loss = (rng.random(n) < 0.6 * (1.0 - ease) ** 2).astype(float)
    loss = np.where(loss > 0.0, rng.integers(1, 4, n) / 3.0, loss) if graded else loss
    noisy = np.clip(ease + rng.normal(0.0, 0.2, n), 0.0, 1.0)
    return {
        "loss": loss,
        "confidence": np.round(noisy * steps) / steps if steps else noisy,
        "other": np.clip(ease + rng.normal(0.0, 0.4, n), 0.0, 1.0),
        "sample_weight": rng.gamma(2.0, 1.0, n),
        "groups": np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
        "clusters": np.sort(rng.integers(0, max(1, n // 4), n)),
        "labels": rng.integers(0, 4, n),
        "probabilities": rng.dirichlet(np.ones(4), n),
    }


def scores_and_rows(seed, n, k=3, **options):
    """Return k scores of a population, the later the noisier, and its other columns."""
    p, rng = rows(seed, n, **options), np.random.default_rng(seed)
    return {name: p["confidence"] + 0.25 * j * rng.normal(size=n) for j, name in enumerate("abcdef"[:k])}, p


def models(seed, n, runs=0):
    """Return losses and scores of two models by name, of several runs."""
    rng = np.random.default_rng([7, seed])
    shape = (runs, n) if runs else (n,)
    ease = rng.normal(size=n)
    losses = {name: (rng.random(shape) < 1.0 / (1.0 + np.exp(1.5 - k + ease))) * 1.0 for k, name in enumerate("xy")}
    return losses, {name: -ease + (0.3 + 0.5 * k) * rng.normal(size=shape) for k, name in enumerate("xy")}


def kinds(seed, n, **options):
    """Yield the columns of populations: plain, weighted, in clusters, in strata and combinations."""
    p = rows(seed, n, **options)
    columns = {"loss": p["loss"], "confidence": p["confidence"]}
    weight, clusters, strata = p["sample_weight"], p["clusters"], p["groups"]
    yield "plain", columns
    yield "weights", columns | {"sample_weight": weight}
    yield "clusters", columns | {"clusters": clusters}
    yield "strata", columns | {"strata": strata}
    yield "weights, clusters", columns | {"sample_weight": weight, "clusters": clusters}
    yield "weights, strata", columns | {"sample_weight": weight, "strata": strata}
    within = np.char.add(strata.astype(str), clusters.astype(str))
    yield "all", columns | {"sample_weight": weight, "strata": strata, "clusters": within}
