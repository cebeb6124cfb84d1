"""Rank-weighted losses: values and gradients against double-precision references, ties, batches, precision."""

import functools

import numpy as np
import pytest
import torch
from hypothesis import given

import abstain
from abstain import nn
from abstain.nn import _rank_weights
from tests.nn import references
from tests.refusal import refused
from tests.strategies import problems

TIES = ["order", "exact"]
ESTIMATORS = ["harmonic", "log", "plugin", "sele", "augrc"]
METRICS = {"harmonic": functools.partial(abstain.aurc, estimator="harmonic")}
METRICS |= {"log": functools.partial(abstain.aurc, estimator="log")}
METRICS |= {"plugin": functools.partial(abstain.aurc, estimator="plugin"), "sele": abstain.sele, "augrc": abstain.augrc}
MODULES = {"harmonic": nn.AURCLoss, "log": functools.partial(nn.AURCLoss, "log")}
MODULES |= {"plugin": functools.partial(nn.AURCLoss, "plugin"), "sele": nn.SELELoss, "augrc": nn.AUGRCLoss}


def batch(n=24, classes=5, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    logits = 2.0 * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    return logits.to(dtype).requires_grad_(), torch.randint(classes, (n,), generator=generator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@given(problem=problems(losses=["binary", "graded", "repeated"]))
def test_tie_exact_weights_give_the_metric_of_the_core(estimator, problem):
    """Mean of weight times loss is the core's metric, whatever ties, and the weights are its pairwise definition."""
    confidence, loss = torch.tensor(problem.confidence), torch.tensor(problem.loss)
    weight = nn.loss_weights(confidence, estimator, ties="exact")
    np.testing.assert_allclose(weight.numpy(), references.weights(problem.confidence, estimator), rtol=1e-12)
    expected = METRICS[estimator](problem.loss, problem.confidence)
    assert float((weight * loss).mean()) == pytest.approx(expected, rel=1e-11, abs=1e-14)
    value = nn.rank_weighted_loss(loss, confidence, estimator, ties="exact")
    assert float(value) == pytest.approx(expected, rel=1e-11, abs=1e-14)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_value_and_gradient_equal_the_reference(estimator, ties):
    """Cross-entropy times weights, differentiated numerically with the weights held, equals backward()."""
    logits, target = batch()
    value = MODULES[estimator](ties=ties)(logits, target)
    value.backward()
    start, rows = logits.detach().numpy(), np.arange(24)
    weight = references.weights(references.log_softmax(start).max(axis=1), estimator)

    def reference(z):
        return float(np.mean(weight * -references.log_softmax(z)[rows, target.numpy()]))

    assert value.item() == pytest.approx(reference(start), rel=1e-13)
    np.testing.assert_allclose(logits.grad.numpy(), references.numerical_gradient(reference, start), atol=1e-9)


@pytest.mark.parametrize("name", ["msp", "neg_entropy", "softmax_margin", "neg_gini", "max_logit", "energy"])
def test_named_confidences_rank_like_the_scores_of_the_core(name):
    """The names mean what they mean in abstain.scores."""
    logits, target = batch()
    score = abstain.scores.compute(name, abstain.Outputs(labels=target.numpy(), logits=logits.detach().numpy()))
    loss = abstain.losses.cross_entropy(target.numpy(), logits=logits.detach().numpy())
    assert nn.AURCLoss(confidence=name)(logits, target).item() == pytest.approx(abstain.aurc(loss, score), rel=1e-12)


def test_certainty_does_not_tie():
    """Logit margins of 50 and 60 have one float32 MSP, 1.0, but are ranked: the log-softmax underflows later."""
    logits = torch.tensor([[20.0, 0.0], [30.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    assert nn.loss_weights(logits.log_softmax(1).amax(1), "sele").tolist() == pytest.approx([2 / 3, 1.0, 1 / 3])


# ---------------------------------------------------------------------- precision, autocast, compile


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_half_precision_logits_are_weighed_in_float32(estimator, dtype):
    """The loss of rounded logits is that of the same numbers in float64, and the gradient is finite."""
    logits, target = batch(64, 10, dtype)
    value = MODULES[estimator](ties="exact")(logits, target)
    exact = MODULES[estimator](ties="exact")(logits.detach().double(), target)
    assert value.dtype == torch.float32
    assert value.item() == pytest.approx(exact.item(), rel=1e-5)
    value.backward()
    assert logits.grad.dtype == dtype
    assert bool(logits.grad.isfinite().all())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("ties", TIES)
def test_weights_of_any_precision(dtype, ties):
    """Asked for by name, also where NumPy has no such numbers."""
    weight = nn.loss_weights(torch.tensor([0.9, 0.5, 0.7, 0.1]), "augrc", ties=ties, dtype=dtype)
    assert weight.dtype == dtype
    assert weight.tolist() == [0.875, 0.375, 0.625, 0.125]


@pytest.mark.parametrize(
    ("estimator", "ties", "backend"),
    [
        ("harmonic", "order", "aot_eager"), ("augrc", "exact", "aot_eager"),
        *(pytest.param(one, ties, "inductor", marks=pytest.mark.slow) for one in MODULES for ties in TIES),
    ],
)  # fmt: skip
def test_compile_captures_one_graph(estimator, ties, backend):
    """The whole objective is one graph (fullgraph=True) with the same value and gradient, at another size, too."""
    torch.compiler.reset()
    criterion = MODULES[estimator](ties=ties)
    compiled = torch.compile(criterion, fullgraph=True, backend=backend)
    for n in (16, 16, 12):
        logits, target = batch(n, dtype=torch.float32)
        expected, found = (
            torch.autograd.functional.vjp(lambda z, loss=loss, y=target: loss(z, y), logits)
            for loss in (criterion, compiled)
        )
        torch.testing.assert_close(found, expected)


def test_fake_tensors_leave_nothing_behind():
    """A dry run, which has no numbers, must not fill the memory of weights for real steps."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        nn.AURCLoss()(torch.randn(41, 3), torch.zeros(41, dtype=torch.long))
    assert nn.AURCLoss()(*batch(41)).item() > 0.0


def test_weights_of_many_batch_sizes_do_not_pile_up():
    for n in range(1, _rank_weights._MOST_TABLES + 9):
        assert len(nn.loss_weights(torch.arange(n).double(), "sele")) == n
    assert 1 <= len(_rank_weights._TABLES) <= _rank_weights._MOST_TABLES


def test_tables_made_in_inference_mode_serve_training():
    """A validation step before the first training step must not leave inference tensors behind."""
    with torch.inference_mode():
        nn.AURCLoss()(batch(37)[0].detach(), batch(37)[1])
    nn.AURCLoss()(*batch(37)).backward()


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool])
def test_losses_of_whole_numbers(dtype):
    """0/1 losses may be integers or booleans; weights of their type would all be 0."""
    wrong, confidence = torch.tensor([0, 1, 0, 1]), torch.tensor([0.9, 0.8, 0.7, 0.6])
    value = nn.rank_weighted_loss(wrong.to(dtype), confidence, "plugin")
    assert value.item() == pytest.approx(abstain.aurc(wrong, confidence))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.AURCLoss("sele"), "estimator='sele' is not known"),
        (lambda: nn.AURCLoss(confidence="mps"), "did you mean 'msp'"),
        (lambda: nn.AUGRCLoss(ties="mean"), "ties='mean' is not known"),
        (lambda: nn.loss_weights(torch.zeros(0)), "at least one sample"),
        (lambda: nn.AURCLoss()(torch.zeros(3, 2), torch.zeros(2, dtype=torch.long)), "shapes do not fit"),
        (lambda: nn.rank_weighted_loss(torch.zeros(3), torch.zeros(2)), "shapes differ"),
        (
            lambda: nn.rank_weighted_loss(torch.zeros(3), torch.zeros(3), reduction="sum"),
            "reduction='sum' is not known",
        ),
        (lambda: nn.loss_weights(torch.zeros(2, 2), distributed=True), "one dimension"),
    ],
)
def test_errors(call, message):
    """Wrong arguments are named with the remedy."""
    refused(ValueError, message, call)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_vmap_ranks_every_slice():
    """torch.func.vmap over an ensemble gives each member its own ranks."""
    logits = torch.stack([batch(seed=seed)[0].detach() for seed in range(3)])
    target = batch()[1]
    found = torch.func.vmap(lambda z: nn.AURCLoss()(z, target))(logits)
    torch.testing.assert_close(found, torch.stack([nn.AURCLoss()(z, target) for z in logits]))
