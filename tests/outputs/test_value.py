"""Outputs are a value: what the caller does to his arrays afterwards changes nothing."""

from dataclasses import replace

import numpy as np
import pytest

import abstain


@pytest.mark.parametrize("wrap", [lambda a: a, lambda a: a[:], lambda a: pytest.importorskip("torch").from_numpy(a)])
@pytest.mark.parametrize("field", ["logits", "features", "passes", "scores", "loss", "ids"])
def test_writing_to_an_array_afterwards_changes_nothing(wrap, field):
    """Values, fingerprints and scores stay; the arrays inside cannot be written to."""
    rng = np.random.default_rng(0)
    given = {"passes": rng.dirichlet(np.ones(3), (4, 30)), "scores": np.arange(30.0), "loss": rng.random(30)}
    given = {"ids": np.arange(30), **given}.get(field, rng.normal(size=(30, 3)))
    columns = {"labels": rng.integers(0, 3, 30), "predictions": rng.integers(0, 3, 30)}
    outputs = abstain.Outputs(**columns, **{field: {"s": wrap(given)} if field == "scores" else wrap(given)})
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
