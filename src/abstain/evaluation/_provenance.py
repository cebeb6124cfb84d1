"""Where an evaluation came from: what every kind of it says of its rows, options and versions."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from abstain._version import __version__


def provenance(
    *, fingerprint: str, n: int, mean_loss: float, binary_loss: bool, weighted: bool, clustered: bool, nan_policy: str,
    level: float | None, n_resamples: int = 0, fit: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return hash and sizes of the rows, options and versions as plain values."""
    return {
        "fingerprint": fingerprint, "n": n, "mean_loss": mean_loss, "binary_loss": binary_loss, "weighted": weighted,
        "clustered": clustered, "nan_policy": nan_policy, "level": level, "n_resamples": n_resamples, "fit": fit,
        "abstain": __version__, "numpy": np.__version__, "python": platform.python_version(),
    }  # fmt: skip
