"""Outputs are a value: what the caller does to his arrays afterwards changes nothing."""

from dataclasses import replace

import numpy as np
import pytest

import abstain


@pytest.mark.parametrize("wrap", [lambda a: a, lambda a: a[:], lambda a: pytest.importorskip("torch").from_numpy(a)])
@pytest.mark.parametrize("field", ["logits", "passes", "scores", "ids"])
def test_writing_to_an_array_afterwards_changes_nothing(wrap, field):
    """Values and fingerprints stay; the arrays inside cannot be written to, so that replaced outputs share them."""
    rng = np.random.default_rng(0)
    given = {"passes": rng.dirichlet(np.ones(3), (4, 30)), "scores": np.arange(30.0), "ids": np.arange(30)}
    given = given.get(field, rng.normal(size=(30, 3)))
    columns = {"labels": rng.integers(0, 3, 30), "predictions": rng.integers(0, 3, 30)}
    outputs = abstain.Outputs(**columns, **{field: {"s": wrap(given)} if field == "scores" else wrap(given)})
    kept = outputs.scores["s"] if field == "scores" else getattr(outputs, field)
    before, copy = abstain.Outputs(**columns, **{field: getattr(outputs, field)}).fingerprint, kept.copy()
    given[...] = 1
    np.testing.assert_array_equal(kept, copy)
    assert outputs.fingerprint == before
    with pytest.raises(ValueError, match="read-only"):
        kept[...] = 0
    if field != "scores":
        assert np.shares_memory(getattr(replace(outputs, sample_weight=[1.0] * 30), field), kept)
