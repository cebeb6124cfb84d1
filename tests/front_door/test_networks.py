"""Outputs of a network with a reservation and with passes: predictions and scores are those that FD-Shifts defines."""

import numpy as np
import pytest

import abstain
from tests.readers.layouts import softmax

K, N = 3, 300
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, K, N)
LOGITS = 2.0 * RNG.normal(size=(N, K + 1)) + 2.0 * np.eye(K, K + 1)[LABELS]
PASSES = LOGITS + 2.0 * RNG.normal(size=(12, N, K + 1))
RESERVATION = softmax(LOGITS)[:, K]


def test_deep_gamblers(tmp_path):
    """Classes are the first K units, probabilities theirs alone; the reservation is a score of its own."""
    np.savez(tmp_path / "dg.npz", labels=LABELS, logits=LOGITS)
    outputs = abstain.read_outputs(tmp_path / "dg.npz", abstain_class=K)
    p = softmax(LOGITS[:, :K])
    wrong = (p.argmax(axis=1) != LABELS).astype(float)
    np.testing.assert_array_equal(outputs.loss_per_sample(), wrong)
    np.testing.assert_allclose(abstain.scores.compute("msp", outputs), p.max(axis=1), rtol=1e-12)
    entropy = -(p * np.log(p)).sum(axis=1)
    np.testing.assert_allclose(abstain.scores.compute("neg_entropy", outputs), -entropy, rtol=1e-9, atol=1e-12)
    found = abstain.evaluate(outputs, "neg_reservation", "augrc", level=None).value("augrc")
    assert found == pytest.approx(abstain.augrc(wrong, -RESERVATION), rel=1e-12)


def test_a_folder_of_fd_shifts_is_judged_as_there(tmp_path):
    """Logits, passes and external scores as FD-Shifts saves them: each score has the accuracy that it has there."""
    logits, dist = LOGITS[:, :K], np.moveaxis(PASSES[..., :K], 0, 2)
    np.savez(tmp_path / "raw_logits.npz", np.column_stack([logits, LABELS, np.zeros(N)]))
    np.savez(tmp_path / "raw_logits_dist.npz", dist)
    np.savez(tmp_path / "external_confids.npz", -RESERVATION)
    np.savez(tmp_path / "external_confids_dist.npz", -softmax(PASSES, axis=2)[..., K].T)
    outputs = abstain.read_outputs(tmp_path / "raw_logits.npz")
    found = abstain.evaluate(outputs, ["msp", "pass_msp", "ext", "ext_mcd"], "accuracy", level=None)
    single = (logits.argmax(axis=1) == LABELS).mean()
    mean = (softmax(dist).mean(axis=2).argmax(axis=1) == LABELS).mean()
    assert single != mean
    values = [found.value("accuracy", score=name) for name in ("msp", "ext", "pass_msp", "ext_mcd")]
    np.testing.assert_allclose(values, [single, single, mean, mean])
