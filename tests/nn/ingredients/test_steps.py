"""Optimizers, averages, batch-norm statistics, CRL and the cosine head against hand computations."""

import copy

import numpy as np
import pytest
import torch
from torch import nn as torch_nn

from abstain.nn import ingredients
from tests.refusal import refused

CURVES = np.array([1.0, 3.0])


def problem(start=(1.0, -2.0)):
    """Two parameters with the loss (w1^2 + 3 w2^2)/2, whose gradient is (w1, 3 w2)."""
    w = [torch_nn.Parameter(torch.tensor([value], dtype=torch.float64)) for value in start]

    def loss():
        return sum(0.5 * curve * each.square().sum() for curve, each in zip(CURVES, w, strict=True))

    return w, loss


def run(optimizer, loss, steps):
    """Take steps with a closure."""

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    return [optimizer.step(closure).item() for _ in range(steps)]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("SAM", {}), ("FriendlySAM", {"sigma": 1.0, "lam": 0.6}), ("FriendlySAM", {"sigma": 0.5, "lam": 0.9}),
        *(("MixedSAM", {"gamma": gamma}) for gamma in (0.0, 0.3, 1.0)),
    ],
)  # fmt: skip
def test_three_steps_by_hand(kind, options):
    """The gradient of the place disturbed by the gradient, or by what its moving average leaves of it."""
    w, loss = problem()
    run(getattr(ingredients, kind)(torch.optim.SGD(w, lr=0.1, weight_decay=0.01), rho=0.5, **options), loss, 3)
    sigma, lam, gamma = (options.get(name, 0.0) for name in ("sigma", "lam", "gamma"))
    at, memory = np.array([1.0, -2.0]), None
    for _ in range(3):
        g = CURVES * at
        d = g if memory is None else g - sigma * memory
        memory = g if memory is None else lam * memory + (1 - lam) * g
        disturbed = CURVES * (at + 0.5 * d / (np.linalg.norm(d) + 1e-12))
        at = at - 0.1 * (gamma * g + (1 - gamma) * disturbed + 0.01 * at)
    assert [each.item() for each in w] == pytest.approx(at, rel=1e-12)
    refused(TypeError, "step needs a closure", getattr(ingredients, kind)(torch.optim.SGD(w, lr=0.1)).step)


@pytest.mark.parametrize("freeze", [True, False])
def test_batch_norm_statistics_in_the_second_pass(freeze):
    """Frozen: running statistics are those of one pass. Not frozen, as SURE does: of two."""
    torch.manual_seed(0)
    model = torch_nn.Sequential(torch_nn.Linear(3, 2), torch_nn.BatchNorm1d(2))
    plain = copy.deepcopy(model)
    x = torch.randn(16, 3)
    plain(x)
    optimizer = ingredients.SAM(torch.optim.SGD(model.parameters(), lr=0.1), model if freeze else None, rho=0.1)
    run(optimizer, lambda: model(x).square().mean() + model[0].weight.sum(), 1)
    assert int(model[1].num_batches_tracked) == (1 if freeze else 2)
    assert torch.equal(model[1].running_mean, plain[1].running_mean) == freeze


@pytest.mark.parametrize("kind", ["swa", "ema", "warm"])
def test_averages_of_three_models(kind):
    """The mean; weights that fall by tau, or by (1 + t)/(10 + t) at first; a loaded state goes on."""
    layer, values = torch_nn.BatchNorm1d(1).double(), [2.0, -1.0, 5.0]
    make = {"swa": ingredients.SWA, "warm": lambda m: ingredients.EMA(m, tau=0.2)}
    make |= {"ema": lambda m: ingredients.EMA(m, tau=0.9, warm_up=False)}
    average, expected = make[kind](layer), 1.0
    for t, value in enumerate(values):
        torch_nn.init.constant_(layer.weight, value)
        layer.running_mean += 1.0
        average.update(layer)
        keep = {"swa": t / (t + 1), "ema": 0.9, "warm": min(0.2, (1 + t) / (10 + t))}[kind]
        expected = keep * expected + (1 - keep) * value
    other = make[kind](layer)
    other.load_state_dict(average.state_dict())
    assert other.model.weight.item() == pytest.approx(expected, rel=1e-12)
    assert (int(other.updates), other.model.running_mean.item()) == (3, 3.0)
    assert not any(each.requires_grad for each in average.parameters())


def test_reestimation_equals_full_data_statistics():
    """Mean and unbiased variance of all rows, from batches of different size."""
    x = (
        torch.randn(50, 3, 4, 4, generator=torch.Generator().manual_seed(0)).double()
        + torch.arange(50.0)[:, None, None, None]
    )
    layer = torch_nn.BatchNorm2d(3).double()
    ingredients.reestimate_batch_norm(layer, [(part,) for part in x.split(16)])
    columns = x.transpose(0, 1).reshape(3, -1)
    assert torch.allclose(layer.running_mean, columns.mean(dim=1), rtol=1e-10)
    assert torch.allclose(layer.running_var, columns.var(dim=1), rtol=1e-10)


def test_reestimation_keeps_modes_and_leaves_dropout_out():
    """In one batch the second layer sees what it would in training without dropout; modes and counters return."""
    torch.manual_seed(0)
    model = torch_nn.Sequential(
        torch_nn.BatchNorm1d(3), torch_nn.Dropout(0.5), torch_nn.Linear(3, 2), torch_nn.BatchNorm1d(2)
    ).eval()
    x = torch.randn(40, 3) * 3.0 + 1.0
    ingredients.reestimate_batch_norm(model, [(x,)])
    normal = (x - x.mean(dim=0)) / torch.sqrt(x.var(dim=0, unbiased=False) + 1e-5)
    assert torch.allclose(model[3].running_mean, model[2](normal).mean(dim=0), atol=1e-5)
    assert torch.allclose(model[3].running_var, model[2](normal).var(dim=0), rtol=1e-4)
    assert not any(module.training for module in model.modules())
    assert all(layer.track_running_stats for layer in (model[0], model[3]))
    refused(ValueError, "batches holds none", ingredients.reestimate_batch_norm, model, [])


@pytest.mark.parametrize("kind", [ingredients.SAM, ingredients.FriendlySAM, ingredients.MixedSAM])
def test_sharpness_survives_a_checkpoint(kind):
    """Four steps are two steps, a state dict into a new optimizer, and two steps; momentum and memory included."""
    ends = []
    for steps in ((4,), (2, 2)):
        (w, loss), state = problem(), None
        for count in steps:
            optimizer = kind(torch.optim.SGD(w, lr=0.1, momentum=0.9), rho=0.3)
            if state is not None:
                optimizer.load_state_dict(state)
                assert optimizer.param_groups is optimizer.base.param_groups  # of which schedules change the rate
            run(optimizer, loss, count)
            state = copy.deepcopy(optimizer.state_dict())
        ends.append([each.item() for each in w])
    assert ends[0] == ends[1]


def test_cosine_classifier_and_its_plain_form():
    """Logits are 8 cosines by NumPy; the plain form is the same function, and its head is linear in unit features."""
    torch.manual_seed(0)
    head, h = ingredients.CosineClassifier(5, 4), torch.randn(6, 5)
    w, features, plain = head.weight.detach().numpy(), h.numpy(), head.plain()
    cosines = features @ w.T / np.linalg.norm(w, axis=1) / np.linalg.norm(features, axis=1, keepdims=True)
    for each in (head, plain):
        assert each(h).detach().numpy() == pytest.approx(8 * cosines, abs=1e-5)
    assert plain[1].weight.norm(dim=1).tolist() == pytest.approx([8.0] * 4, rel=1e-5)
    assert plain(torch.zeros(1, 5)).tolist() == [[0.0] * 4]
    refused(ValueError, "scale", ingredients.CosineClassifier, 5, 4, scale=0.0)
    step = torch.optim.SGD(head.parameters(), lr=0.1)
    refused(ValueError, r"lam must lie in \[0, 1\), got 1.0", ingredients.FriendlySAM, step, lam=1.0)
