"""Repeated passes in ``Outputs``: checked, selected, predicted with, written and read."""

import numpy as np
import pytest

from abstain import Outputs, read_outputs, write_outputs
from tests.refusal import refused

PASSES = np.array([[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], [[0.3, 0.7], [0.4, 0.6], [0.5, 0.5]]])
LABELS = [0, 1, 1]


def test_passes_count_samples_on_the_second_axis(tmp_path):
    """Two runs of three samples are three samples, predicted by the largest mean; an npz file keeps them."""
    outputs = Outputs(labels=LABELS, passes=PASSES)
    assert (outputs.n, outputs.n_classes, outputs.predicted().tolist()) == (3, 2, [0, 1, 0])
    part = outputs.select([2, 0])
    np.testing.assert_array_equal(part.passes, PASSES[:, [2, 0]])
    assert part.fingerprint != outputs.fingerprint
    write_outputs(outputs, tmp_path / "a.npz")
    assert read_outputs(tmp_path / "a.npz").fingerprint == outputs.fingerprint
    refused(ValueError, r"no place for passes; write \.npz", write_outputs, outputs, tmp_path / "a.parquet")


def test_precision_is_kept():
    """Passes and features are large: float32 stays float32; equal values have equal fingerprints."""
    single = Outputs(labels=LABELS, passes=PASSES.astype(np.float32), features=np.ones((3, 2), np.float16))
    assert (single.passes.dtype, single.features.dtype) == (np.float32, np.float16)
    double = Outputs(labels=LABELS, passes=single.passes.astype(float), features=np.ones((3, 2)))
    assert single.fingerprint == double.fingerprint
    assert Outputs(labels=[0], predictions=[0], features=[[1, 2]]).features.dtype == np.float64


@pytest.mark.parametrize(
    ("passes", "message"),
    [
        (PASSES[0], "passes must have 3 dimensions"),
        (PASSES * 2, r"passes\[0\] is outside"),
        (PASSES * 0.5, r"passes\[0\] must sum to 1"),
        (np.where(PASSES == 0.7, np.nan, PASSES), "passes is not finite"),
        (PASSES[:, :2], r"lengths differ \(passes: 2, labels: 3\)"),
    ],
)
def test_bad_passes_are_refused(passes, message):
    refused(ValueError, message, Outputs, labels=LABELS, passes=passes)
    wrong = {"passes": PASSES, "logits": np.zeros((3, 3))}
    refused(ValueError, "passes has 2 classes, logits or probabilities 3", Outputs, labels=LABELS, **wrong)
