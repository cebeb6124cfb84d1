"""MC dropout and Deep Gamblers on a trained toy network: predictions and scores are those that FD-Shifts defines."""

import numpy as np
import pytest

import abstain
from tests.readers.layouts import softmax

torch = pytest.importorskip("torch")

K, RUNS = 3, 12


@pytest.fixture(scope="module")
def network():
    """Train a small network with dropout on the Deep Gamblers loss; return logits of K + 1 units, and of passes."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, 900)
    x = torch.tensor(rng.normal(size=(900, 4)) * 1.2 + 1.5 * np.eye(K, 4)[y], dtype=torch.float32)
    truth = torch.tensor(y)
    net = torch.nn.Sequential(
        torch.nn.Linear(4, 32), torch.nn.ReLU(), torch.nn.Dropout(0.4), torch.nn.Linear(32, K + 1)
    )
    optimiser = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(150):
        optimiser.zero_grad()
        abstain.nn.deep_gamblers_loss(net(x[:600]), truth[:600], reward=2.2).backward()
        optimiser.step()
    with torch.no_grad():
        net.eval()
        logits = net(x[600:]).double().numpy()
        net.train()
        passes = np.stack([net(x[600:]).double().numpy() for _ in range(RUNS)])
    return {"labels": y[600:], "logits": logits, "passes": passes}


def entropy(p, axis):
    """Return the entropy of probabilities."""
    return -(p * np.log(p)).sum(axis=axis)


def test_deep_gamblers(network, tmp_path):
    """Classes are the first K units, probabilities theirs alone; the reservation is a score of its own."""
    logits, labels = network["logits"], network["labels"]
    np.savez(tmp_path / "dg.npz", labels=labels, logits=logits)
    outputs = abstain.read_outputs(tmp_path / "dg.npz", abstain_class=K)
    p = softmax(logits[:, :K])
    wrong = (logits[:, :K].argmax(axis=1) != labels).astype(float)
    np.testing.assert_array_equal(outputs.loss_per_sample(), wrong)
    np.testing.assert_allclose(abstain.scores.compute("msp", outputs), p.max(axis=1), rtol=1e-12)
    np.testing.assert_allclose(abstain.scores.compute("neg_entropy", outputs), -entropy(p, 1), rtol=1e-9, atol=1e-12)
    reservation = softmax(logits)[:, K]
    found = abstain.evaluate(outputs, "neg_reservation", "augrc", level=None).value("augrc")
    assert found == pytest.approx(abstain.augrc(wrong, -reservation), rel=1e-12)


def test_a_folder_of_fd_shifts_is_judged_as_there(network, tmp_path):
    """Logits, passes and external scores as FD-Shifts saves them: each score has the accuracy that it has there."""
    logits, dist = network["logits"][:, :K], np.moveaxis(network["passes"][..., :K], 0, 2)
    n = len(logits)
    np.savez(tmp_path / "raw_logits.npz", np.column_stack([logits, network["labels"], np.zeros(n)]))
    np.savez(tmp_path / "raw_logits_dist.npz", dist)
    np.savez(tmp_path / "external_confids.npz", -softmax(network["logits"])[:, K])
    np.savez(tmp_path / "external_confids_dist.npz", -softmax(network["passes"], axis=2)[..., K].T)
    outputs = abstain.read_outputs(tmp_path / "raw_logits.npz")
    found = abstain.evaluate(outputs, ["msp", "pass_msp", "ext", "ext_mcd"], "accuracy", level=None)
    single = (logits.argmax(axis=1) == network["labels"]).mean()
    mean = (softmax(dist).mean(axis=2).argmax(axis=1) == network["labels"]).mean()
    assert single != mean
    values = [found.value("accuracy", score=name) for name in ("msp", "ext", "pass_msp", "ext_mcd")]
    np.testing.assert_allclose(values, [single, single, mean, mean])
