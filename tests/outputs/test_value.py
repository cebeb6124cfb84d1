"""Outputs are a value: what the caller does to his arrays afterwards changes nothing."""

from dataclasses import replace

import numpy as np
import pytest

import abstain


def kinds():
    """Return containers that may hand out their own memory."""
    import pandas as pd
    import torch

    return {"numpy": lambda a: a, "view": lambda a: a[:, :], "torch": torch.from_numpy, "pandas": pd.DataFrame}


@pytest.mark.parametrize("kind", ["numpy", "view", "torch"])
@pytest.mark.parametrize("field", ["logits", "features", "passes", "scores", "loss", "ids"])
def test_writing_to_an_array_afterwards_changes_nothing(kind, field):
    """Values, fingerprints and scores stay; the arrays inside cannot be written to."""
    rng = np.random.default_rng(0)
    given = rng.normal(size=(30, 3))
    wrapped = kinds()[kind](given)
    columns = {"labels": rng.integers(0, 3, 30), "predictions": rng.integers(0, 3, 30)}
    if field in ("scores", "loss", "ids"):
        given = (
            np.abs(rng.normal(size=30)) if field == "loss" else np.arange(30.0) if field == "scores" else np.arange(30)
        )
        wrapped = given if kind == "numpy" else given[:] if kind == "view" else kinds()["torch"](given)
    elif field == "passes":
        given = rng.dirichlet(np.ones(3), (4, 30))
        wrapped = given if kind != "torch" else kinds()["torch"](given)
    outputs = abstain.Outputs(**columns, **{field: {"s": wrapped} if field == "scores" else wrapped})
    kept = outputs.scores["s"] if field == "scores" else getattr(outputs, field)
    before, copy = abstain.Outputs(**columns, **{field: getattr(outputs, field)}).fingerprint, kept.copy()
    given[...] = 1
    np.testing.assert_array_equal(kept, copy)
    assert outputs.fingerprint == before
    with pytest.raises(ValueError, match="read-only"):
        kept[...] = 0


def test_outputs_share_what_nobody_can_write_to():
    """A replaced column costs no copy of the others; the caller's own array stays writeable."""
    given = np.random.default_rng(0).normal(size=(30, 3))
    outputs = abstain.Outputs(labels=[0] * 30, logits=given)
    assert given.flags.writeable
    assert np.shares_memory(replace(outputs, sample_weight=[1.0] * 30).logits, outputs.logits)
