"""A small set of predictions as a file of every kind."""

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
polars = pytest.importorskip("polars")

RNG = np.random.default_rng(11)
N = 120
LABELS = RNG.integers(0, 3, N)
LOGITS = RNG.normal(size=(N, 3)) + 1.5 * np.eye(3)[LABELS]
PROBABILITIES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
COLUMNS = {
    "y": LABELS,
    "yhat": PROBABILITIES.argmax(axis=1),
    "conf": PROBABILITIES.max(axis=1),
    "votes": RNG.integers(0, 6, N),
    "vague": RNG.random(N),
    "site": np.array(["north", "south"])[RNG.integers(0, 2, N)],
    "age": RNG.integers(30, 33, N),
    "w": RNG.integers(1, 4, N),
    "case": np.array([f"case {i}" for i in range(N)]),
    **{f"p_{k}": PROBABILITIES[:, k] for k in range(3)},
}


@pytest.fixture
def files(tmp_path):
    """Return the predictions as csv, parquet and npz."""
    frame = polars.DataFrame(COLUMNS)
    paths = {kind: tmp_path / f"preds.{kind}" for kind in ("csv", "parquet", "npz")}
    frame.write_csv(paths["csv"])
    frame.write_parquet(paths["parquet"])
    np.savez(paths["npz"], **COLUMNS, logits=LOGITS)
    return paths
