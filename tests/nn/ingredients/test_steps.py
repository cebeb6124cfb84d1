"""Optimizers, averages, batch-norm statistics, CRL and the cosine head against hand computations."""

import copy
import math

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


def test_sam_three_steps_by_hand():
    """The gradient of the disturbed place, with the norm over both parameters, applied to the old place."""
    w, loss = problem()
    run(ingredients.SAM(torch.optim.SGD(w, lr=0.1), rho=0.5), loss, 3)
    at = np.array([1.0, -2.0])
    for _ in range(3):
        g = CURVES * at
        at = at - 0.1 * CURVES * (at + 0.5 * g / (np.linalg.norm(g) + 1e-12))
    assert [each.item() for each in w] == pytest.approx(at, rel=1e-12)


@pytest.mark.parametrize(("sigma", "lam"), [(1.0, 0.6), (0.5, 0.9)])
def test_friendly_sam_three_steps_by_hand(sigma, lam):
    """First step: the whole gradient. Then the gradient less its moving average of the steps before."""
    w, loss = problem()
    optimizer = ingredients.FriendlySAM(torch.optim.SGD(w, lr=0.1, weight_decay=0.01), rho=0.5, sigma=sigma, lam=lam)
    run(optimizer, loss, 3)
    at, memory = np.array([1.0, -2.0]), None
    for _ in range(3):
        g = CURVES * at
        d = g if memory is None else g - sigma * memory
        memory = g if memory is None else lam * memory + (1 - lam) * g
        disturbed = at + 0.5 * d / (np.linalg.norm(d) + 1e-12)
        at = at - 0.1 * (CURVES * disturbed + 0.01 * at)
    assert [each.item() for each in w] == pytest.approx(at, rel=1e-12)


def test_mixed_sam_is_the_literal_formula():
    """Gamma times the gradient here plus the rest times that of the disturbed place; 0 is SAM, 1 the base."""
    for gamma in (0.0, 0.3, 1.0):
        w, loss = problem()
        run(ingredients.MixedSAM(torch.optim.SGD(w, lr=0.1), rho=0.5, gamma=gamma), loss, 3)
        at = np.array([1.0, -2.0])
        for _ in range(3):
            g = CURVES * at
            there = CURVES * (at + 0.5 * g / np.linalg.norm(g))
            at = at - 0.1 * (gamma * g + (1 - gamma) * there)
        assert [each.item() for each in w] == pytest.approx(at, rel=1e-12)


@pytest.mark.parametrize("kind", [ingredients.SAM, ingredients.FriendlySAM, ingredients.MixedSAM])
def test_sharpness_survives_a_checkpoint(kind):
    """Four steps are two steps, a state dict into a new optimizer, and two steps; momentum and memory included."""

    def make(w):
        return kind(torch.optim.SGD(w, lr=0.1, momentum=0.9), rho=0.3)

    w, loss = problem()
    run(make(w), loss, 4)
    u, other = problem()
    first = make(u)
    run(first, other, 2)
    v, again = problem([each.item() for each in u])
    second = make(v)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    run(second, again, 2)
    assert [each.item() for each in v] == [each.item() for each in w]


def test_schedules_reach_the_base():
    """A scheduler on the wrapper changes the learning rate of the base: they share their groups."""
    w, loss = problem()
    optimizer = ingredients.SAM(torch.optim.SGD(w, lr=1.0), rho=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5**step)
    run(optimizer, loss, 1)
    schedule.step()
    assert optimizer.base.param_groups[0]["lr"] == 0.5


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


def test_sharpness_sends_the_same_mixed_batch_twice():
    """A draw is made once: both passes of a step see the same mixed images."""
    x, y = torch.rand(6, 3), torch.arange(6) % 3
    model, seen = torch_nn.Linear(3, 3), []
    model.register_forward_pre_hook(lambda _, given: seen.append(given[0].clone()))
    optimizer = ingredients.FriendlySAM(torch.optim.SGD(model.parameters(), lr=0.1), model)
    batch = ingredients.draw([ingredients.Clean(), ingredients.Mixup(alpha=1.0)], x, y, 0)
    run(optimizer, lambda: batch.loss(model), 1)
    assert len(seen) == 4
    assert torch.equal(seen[0], seen[2])
    assert torch.equal(seen[1], seen[3])


def test_step_without_a_closure_is_refused():
    """A loss scaler calls it so."""
    w, _ = problem()
    refused(TypeError, "step needs a closure", lambda: ingredients.SAM(torch.optim.SGD(w, lr=0.1)).step())


def test_ema_closed_form():
    """Without warm-up: tau^T of the start plus (1 - tau) sum of tau^(T - 1 - t) w_t; buffers are the latest."""
    layer = torch_nn.BatchNorm1d(1).double()
    average = ingredients.EMA(layer, tau=0.9, warm_up=False)
    values = [2.0, -1.0, 5.0]
    for value in values:
        torch_nn.init.constant_(layer.weight, value)
        layer.running_mean += 1.0
        average.update(layer)
    expected = 0.9**3 * 1.0 + sum(0.1 * 0.9 ** (2 - t) * value for t, value in enumerate(values))
    assert average.model.weight.item() == pytest.approx(expected, rel=1e-12)
    assert average.model.running_mean.item() == 3.0


def test_ema_warm_up_forgets_the_start():
    """Rates min(tau, (1 + t)/(10 + t)): .1, 2/11, 3/12, ..."""
    layer = torch_nn.Linear(1, 1, bias=False).double()
    torch_nn.init.zeros_(layer.weight)
    average, expected = ingredients.EMA(layer, tau=0.2), 0.0
    for step, value in enumerate([4.0, -2.0, 7.0]):
        torch_nn.init.constant_(layer.weight, value)
        average.update(layer)
        keep = min(0.2, (1 + step) / (10 + step))
        expected = keep * expected + (1 - keep) * value
    assert average.model.weight.item() == pytest.approx(expected, rel=1e-12)


def test_swa_is_the_mean_and_averages_are_in_the_state_dict():
    """The mean of three models; a copy that loads the state goes on counting."""
    layer = torch_nn.Linear(2, 1)
    average, seen = ingredients.SWA(layer), []
    for seed in range(3):
        torch.manual_seed(seed)
        layer.reset_parameters()
        seen.append(layer.weight.detach().clone())
        average.update(layer)
    assert torch.allclose(average.model.weight, torch.stack(seen).mean(dim=0))
    other = ingredients.SWA(layer)
    other.load_state_dict(average.state_dict())
    assert int(other.updates) == 3
    assert not any(parameter.requires_grad for parameter in average.parameters())


def test_reestimation_equals_full_data_statistics():
    """Mean and unbiased variance of all rows, from batches of different size; a cumulative mean would differ."""
    torch.manual_seed(0)
    x = (
        torch.randn(50, 3, 4, 4).double() * torch.tensor([1.0, 5.0, 0.1])[:, None, None]
        + torch.arange(50.0)[:, None, None, None]
    )
    layer = torch_nn.BatchNorm2d(3).double()
    batches = [(x[:16],), (x[16:32],), (x[32:48],), (x[48:],)]
    ingredients.reestimate_batch_norm(layer, batches)
    columns = x.transpose(0, 1).reshape(3, -1)
    assert torch.allclose(layer.running_mean, columns.mean(dim=1), rtol=1e-10)
    assert torch.allclose(layer.running_var, columns.var(dim=1), rtol=1e-10)
    cumulative = torch_nn.BatchNorm2d(3, momentum=None).double()
    for batch in batches:
        cumulative(batch[0])
    assert not torch.allclose(cumulative.running_var, columns.var(dim=1), rtol=0.01)


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


def test_cosine_classifier_and_its_plain_form():
    """Logits are 8 cosines by NumPy; the plain form is the same function, and its head is linear in unit features."""
    torch.manual_seed(0)
    head = ingredients.CosineClassifier(5, 4)
    h = torch.randn(6, 5)
    w, features = head.weight.detach().numpy(), h.numpy()
    cosines = features @ w.T / np.linalg.norm(w, axis=1) / np.linalg.norm(features, axis=1, keepdims=True)
    assert head(h).detach().numpy() == pytest.approx(8 * cosines, abs=1e-5)
    plain = head.plain()
    assert torch.allclose(plain(h), head(h), atol=1e-5)
    assert plain[1].weight.norm(dim=1).tolist() == pytest.approx([8.0] * 4, rel=1e-5)
    assert not plain[1].bias.any()
    assert plain(torch.zeros(1, 5)).tolist() == [[0.0] * 4]
    ceiling = 1 / (1 + 3 * math.exp(-16))
    assert head(h).softmax(dim=1).max().item() < ceiling
    refused(ValueError, "scale", ingredients.CosineClassifier, 5, 4, scale=0.0)
    with pytest.raises(ValueError, match=r"lam must lie in \[0, 1\), got 1.0"):
        ingredients.FriendlySAM(torch.optim.SGD(head.parameters(), lr=0.1), lam=1.0)
