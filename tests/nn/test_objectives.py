"""Deep Gamblers, ConfidNet, DeVries & Taylor, CRL, CWSA and the Bayesian AURC against written-out formulas."""

import numpy as np
import pytest
import torch

import abstain
from abstain import nn
from tests.nn import references
from tests.refusal import refused


def batch(n=12, classes=5, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    logits = 2.0 * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    return logits.to(dtype).requires_grad_(), torch.randint(classes - 1, (n,), generator=generator)


def check(function, reference, *points):
    """Value and gradient of a torch function against a NumPy one and its central differences."""
    tensors = [torch.tensor(point, dtype=torch.float64, requires_grad=True) for point in points]
    value = function(*tensors)
    value.backward()
    assert value.item() == pytest.approx(reference(*points), rel=1e-12)
    for position, tensor in enumerate(tensors):

        def moved(point, position=position):
            return reference(*points[:position], point, *points[position + 1 :])

        np.testing.assert_allclose(tensor.grad, references.numerical_gradient(moved, points[position]), atol=1e-8)


RNG = np.random.default_rng(0)
LOGITS, TARGET = 2.0 * RNG.normal(size=(9, 5)), RNG.integers(4, size=9)
BRANCH = RNG.normal(size=9)
LABELS = torch.tensor(TARGET)
ROWS = np.arange(9)


# ---------------------------------------------------------------------- Deep Gamblers


@pytest.mark.parametrize("reward", [1.5, 2.2, 4.0, 10.0])
def test_deep_gamblers(reward):
    """-mean ln(p_y + p_abstain / o), with its gradient."""

    def reference(z):
        p = np.exp(references.log_softmax(z))
        return -np.mean(np.log(p[ROWS, TARGET] + p[:, -1] / reward))

    check(lambda z: nn.deep_gamblers_loss(z, LABELS, reward), reference, LOGITS)


def test_nothing_underflows():
    """Probabilities of e^-200 have logarithms, one of 1 leaves e^-90, and where all is rejected the CWSA is 0."""
    p = np.exp(references.log_softmax(LOGITS))
    np.testing.assert_allclose(nn.reservation_confidence(torch.tensor(LOGITS)), np.log(1.0 - p[:, -1]), rtol=1e-12)
    assert nn.reservation_confidence(torch.tensor([0.0, 0.0, 90.0])).item() == pytest.approx(np.log(2) - 90, rel=1e-6)
    for loss, given, expected in (
        (lambda z: nn.deep_gamblers_loss(z, torch.tensor([1]), 2.0), [[200.0, 0.0, 0.0]], 200.0 - np.log(1.5)),
        (lambda c: nn.smooth_cwsa(torch.ones(3), c, threshold=0.9, temperature=1e-3), [0.1] * 3, 0.0),
    ):
        value, gradient = torch.autograd.functional.vjp(loss, torch.tensor(given))
        assert value.item() == pytest.approx(expected, rel=1e-6)
        assert bool(gradient.isfinite().all())


# ---------------------------------------------------------------------- ConfidNet, DeVries & Taylor


def test_confidnet():
    """Squared error against the true class probability; the classifier gets no gradient."""
    p = np.exp(references.log_softmax(LOGITS))[ROWS, TARGET]
    logits = torch.tensor(LOGITS, requires_grad=True)
    check(
        lambda c: nn.confidnet_loss(c, logits, LABELS), lambda c: np.mean((1.0 / (1.0 + np.exp(-c)) - p) ** 2), BRANCH
    )
    assert logits.grad is None


@pytest.mark.parametrize("hinted", [None, np.arange(9) % 2 == 0])
def test_devries_losses(hinted):
    """Both parts with their gradients, hints for all and for some."""
    mask = np.ones(9, bool) if hinted is None else hinted

    def task(z, c):
        p, sure = np.exp(references.log_softmax(z))[ROWS, TARGET], 1.0 / (1.0 + np.exp(-c))
        used = np.where(mask, sure, 1.0)
        return -np.mean(np.log(used * p + 1.0 - used))

    offered = None if hinted is None else torch.tensor(hinted)
    check(lambda z, c: nn.devries_losses(z, c, LABELS, offered)[0], task, LOGITS, BRANCH)
    check(
        lambda c: nn.devries_losses(torch.tensor(LOGITS), c, LABELS)[1], lambda c: np.mean(np.log1p(np.exp(-c))), BRANCH
    )


# ---------------------------------------------------------------------- correctness ranking


def test_crl_by_hand():
    """Pairs (0, 1), (1, 2), (2, 0); the middle pair has equal histories and does not count."""
    confidence, correctness = np.array([0.9, 0.5, 0.6]), np.array([1.0, 0.25, 0.25])
    check(
        lambda k: nn.crl_loss(k, torch.tensor(correctness)),
        lambda k: (max(0, -(k[0] - k[1]) + 0.75) + max(0, (k[2] - k[0]) + 0.75)) / 3,
        confidence,
    )


def test_crl_memory():
    """Counts of right answers over epochs, normalised by the epochs and the least count."""
    criterion = nn.CorrectnessRankingLoss(4)
    right = [[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0]]
    index = torch.arange(4)
    for epoch in right:
        logits = torch.tensor([[1.0, 0.0] if hit else [0.0, 1.0] for hit in epoch])
        criterion.update(logits, torch.zeros(4, dtype=torch.long), index)
    assert criterion.correctness(index).tolist() == pytest.approx([1.0, 2 / 3, 1 / 3, 0.0])
    assert criterion.correctness(torch.tensor([3, 1])).tolist() == pytest.approx([0.0, 2 / 3])


# ---------------------------------------------------------------------- CWSA


@pytest.mark.parametrize("penalty", [1.0, 0.0])
@pytest.mark.parametrize("denominator", ["accepted", "all"])
def test_smooth_cwsa_becomes_cwsa(denominator, penalty):
    """At a tiny temperature it is the core's metric; the gap shrinks with the temperature."""
    loss, confidence = (TARGET % 2).astype(float), np.random.default_rng(1).uniform(0.3, 1.0, 9)
    metric = abstain.cwsa if penalty else abstain.cwsa_plus
    expected = metric(loss, confidence, threshold=0.6, denominator=denominator)
    gaps = [
        abs(
            nn.smooth_cwsa(
                torch.tensor(loss), torch.tensor(confidence), threshold=0.6, temperature=t, penalty=penalty,
                denominator=denominator,
            ).item() - expected
        ) for t in (0.3, 0.03, 1e-5)
    ]  # fmt: skip
    assert gaps[2] < 1e-9
    assert gaps[2] < gaps[1] < gaps[0]


# ---------------------------------------------------------------------- Bayesian AURC


@pytest.mark.parametrize("estimator", ["harmonic", "log", "plugin", "sele", "augrc"])
def test_bayesian_is_the_mean_over_models(estimator):
    """E_f[AURC(f)]: the mean of the models' own values."""
    logits = torch.stack([batch(seed=seed)[0].detach() for seed in range(4)])
    target = batch()[1]
    value = nn.bayesian_aurc_loss(logits, target, estimator, ties="exact")
    expected = []
    for each in logits.numpy():
        log_p = references.log_softmax(each)
        loss = -log_p[np.arange(12), target.numpy()]
        expected.append(np.mean(references.weights(log_p.max(1), estimator) * loss))
    assert value.item() == pytest.approx(np.mean(expected), rel=1e-12)


def test_bayesian_with_the_ranking_of_the_mean():
    """All models are ranked by the maximum of the mean probabilities."""
    logits = torch.stack([batch(seed=seed)[0].detach() for seed in range(3)])
    target = batch()[1]
    log_p = references.log_softmax(logits.numpy())
    score = np.exp(log_p).mean(axis=0).max(axis=1)
    expected = np.mean([abstain.aurc(-each[np.arange(12), target.numpy()], score) for each in log_p])
    assert nn.bayesian_aurc_loss(logits, target, ranking="predictive").item() == pytest.approx(expected, rel=1e-12)


# ---------------------------------------------------------------------- half precision and errors


@pytest.mark.parametrize("name", references.OBJECTIVES)
def test_objectives_at_their_edges(name):
    """A finite gradient of bfloat16, in float32; a label that is no class and an empty batch are errors."""
    objective, (logits, target) = references.OBJECTIVES[name], batch(dtype=torch.bfloat16)
    value = objective(logits, target)
    value.backward()
    assert value.dtype == torch.float32
    assert bool(logits.grad.isfinite().all())
    refused(ValueError, "at least one sample is needed", objective, torch.zeros(0, 5), target[:0])
    for label in (5, -1, -100) if name != "CRL" else ():
        target[3] = label
        refused((IndexError, RuntimeError), "out of bounds", objective, batch()[0], target)
        memory = nn.CorrectnessRankingLoss(12)
        refused((IndexError, RuntimeError), "out of bounds", memory.update, batch()[0], target, torch.arange(12))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.deep_gamblers_loss(torch.zeros(2, 3), torch.tensor([0, 1]), 1.0), "reward must lie above 1"),
        (lambda: nn.DeepGamblersLoss(1.0), "abstaining is free"),
        (lambda: nn.confidnet_loss(torch.zeros(3), torch.zeros(2, 3), torch.tensor([0, 1])), "one value per sample"),
        (lambda: nn.DeVriesLoss(hint_share=50), "not per cent"),
        (lambda: nn.DeVriesLoss()(torch.zeros(0, 3), torch.zeros(0), torch.zeros(0).long()), "at least one sample"),
        (lambda: nn.CorrectnessRankingLoss(2)(torch.zeros(0, 3), torch.zeros(0).long()), "at least one sample"),
        (lambda: nn.smooth_cwsa(torch.zeros(0), torch.zeros(0)), "at least one sample"),
        (lambda: nn.DeVriesLoss(budget=0), "budget must be a finite number > 0"),
        (lambda: nn.CorrectnessRankingLoss(0), "size of the training set"),
        (lambda: nn.crl_loss(torch.zeros(3), torch.zeros(2)), "shapes differ"),
        (lambda: nn.smooth_cwsa(torch.zeros(3), torch.zeros(3), temperature=0), "abstain.cwsa"),
        (lambda: nn.smooth_cwsa(torch.zeros(3), torch.zeros(2)), "shapes differ"),
        (lambda: nn.CWSALoss(threshold=1.0), "threshold"),
        (lambda: nn.bayesian_aurc_loss(torch.zeros(3, 2), torch.zeros(3, dtype=torch.long)), "n_models"),
    ],
)
def test_errors(call, message):
    """Wrong arguments are named with the remedy."""
    refused(ValueError, message, call)
