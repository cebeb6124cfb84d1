"""Repeated passes in ``Outputs``: checked, selected, predicted with, written and read."""

import numpy as np
import pytest

from abstain import Outputs, read_outputs, write_outputs

PASSES = np.array([[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], [[0.3, 0.7], [0.4, 0.6], [0.5, 0.5]]])


def test_passes_count_samples_on_the_second_axis():
    """Two runs of three samples are three samples, predicted by the largest mean."""
    outputs = Outputs(labels=[0, 1, 1], passes=PASSES)
    assert (outputs.n, outputs.n_classes) == (3, 2)
    np.testing.assert_array_equal(outputs.predicted(), [0, 1, 0])
    np.testing.assert_array_equal(outputs.error, [0, 0, 1])
    assert repr(outputs) == "Outputs(n=3, n_classes=2, labels, passes)"
    part = outputs.select([2, 0])
    np.testing.assert_array_equal(part.passes, PASSES[:, [2, 0]])
    assert part.fingerprint != outputs.fingerprint


def test_precision_is_kept():
    """Passes and features are large: float32 stays float32; equal values have equal fingerprints."""
    single = Outputs(labels=[0, 1, 1], passes=PASSES.astype(np.float32), features=np.ones((3, 2), np.float16))
    assert single.passes.dtype == np.float32
    assert single.features.dtype == np.float16
    double = Outputs(labels=[0, 1, 1], passes=single.passes.astype(float), features=np.ones((3, 2)))
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
    """One line says what is wrong and where."""
    with pytest.raises(ValueError, match=message):
        Outputs(labels=[0, 1, 1], passes=passes)


def test_classes_must_agree_with_the_logits():
    """Passes of another number of classes are of another model."""
    with pytest.raises(ValueError, match="passes has 2 classes, logits or probabilities 3"):
        Outputs(labels=[0, 1, 1], passes=PASSES, logits=np.zeros((3, 3)))


def test_npz_keeps_passes_and_parquet_refuses_them(tmp_path):
    """An npz file gives back what was written, with no option needed; Parquet has no place."""
    outputs = Outputs(labels=[0, 1, 1], passes=PASSES)
    write_outputs(outputs, tmp_path / "a.npz")
    assert read_outputs(tmp_path / "a.npz").fingerprint == outputs.fingerprint
    with pytest.raises(ValueError, match=r"no place for passes; write \.npz"):
        write_outputs(outputs, tmp_path / "a.parquet")
