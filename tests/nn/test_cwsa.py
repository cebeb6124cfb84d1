"""The CWSA surrogate refuses what it cannot serve, at construction where it can."""

import pytest

from abstain import nn
from tests.refusal import refused

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"temperature": 0}, ValueError, "temperature must be a finite number > 0, got 0; 0 is abstain.cwsa"),
        ({"temperature": float("inf")}, ValueError, "temperature must be a finite number > 0, got inf"),
        ({"temperature": float("nan")}, ValueError, "temperature must be a finite number > 0, got nan"),
        ({"temperature": "a"}, TypeError, "temperature must be a number > 0, got 'a'"),
        ({"penalty": float("nan")}, ValueError, "penalty must be a finite number >= 0, got nan; 1 is CWSA"),
        ({"penalty": "a"}, TypeError, "penalty must be a number >= 0, got 'a'"),
    ],
)
def test_bad_options_are_refused_by_function_and_loss(options, error, message):
    """Not only at the first batch, nor as a NaN."""
    refused(error, message, nn.CWSALoss, **options)
    refused(error, message, lambda: nn.smooth_cwsa(torch.zeros(2), torch.ones(2), **options))


EMPTY, NONE = torch.zeros(0, 3), torch.zeros(0, dtype=torch.long)


# ---------------------------------------------------------------------- against the formula, written out


def written_out(logits, target, *, threshold=0.5, temperature=0.05, penalty=1.0, denominator="all", correctness="soft"):
    """CWSALoss, one operation after the other as the docstring of smooth_cwsa has them."""
    p = logits.softmax(dim=-1)
    confidence = p.amax(dim=-1)
    right = p[torch.arange(len(p)), target] if correctness == "soft" else (logits.argmax(dim=-1) == target).to(p)
    above = (confidence - threshold) / temperature
    trust = torch.nn.functional.softplus(above) * (temperature / (1.0 - threshold))
    gain = (trust * (1.0 - (1.0 + penalty) * (1.0 - right))).sum()
    return -gain / (len(p) if denominator == "all" else above.sigmoid().sum())


def batch(shape=(64, 10), tied=False, dtype=torch.float64):
    """Logits of which some rows have one largest, or half-integers among which most rows have several."""
    generator = torch.Generator().manual_seed(0)
    logits = 2.0 * torch.randn(shape, generator=generator, dtype=torch.float64)
    target = torch.randint(0, shape[1], shape[:1], generator=generator)
    return (logits.clamp(-1.0, 1.0).round() if tied else logits).to(dtype), target


OPTIONS = [
    {},
    {"denominator": "accepted", "penalty": 0.3},
    {"correctness": "hard", "threshold": 0.2, "temperature": 0.4, "penalty": 0.3},
    {"denominator": "accepted", "correctness": "hard", "penalty": 0.0},
]


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("shape", [(64, 10), (5, 1)])
@pytest.mark.parametrize("options", OPTIONS)
def test_value_and_gradient_are_those_of_the_formula(options, shape, tied):
    """Fewer operations, and on the CPU the place of the largest from NumPy; a tie is divided among its classes."""
    logits, target = batch(shape, tied)
    found, wanted = (
        torch.autograd.functional.vjp(loss, logits)
        for loss in (lambda z: nn.CWSALoss(**options)(z, target), lambda z: written_out(z, target, **options))
    )
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-15)
    traced = torch.func.grad(lambda z: nn.CWSALoss(**options)(z, target))(logits)  # no tensor has memory of its own
    torch.testing.assert_close(traced, wanted[1], rtol=1e-12, atol=1e-15)
    single = torch.autograd.functional.vjp(lambda z: nn.CWSALoss(**options)(z, target), logits.float())
    torch.testing.assert_close(tuple(each.double() for each in single), wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("options", OPTIONS)
def test_gradients_of_both_orders(options):
    """By finite differences, in double precision."""
    logits, target = batch((6, 4))
    logits.requires_grad_()
    assert torch.autograd.gradcheck(lambda z: nn.CWSALoss(**options)(z, target), (logits,))
    assert torch.autograd.gradgradcheck(lambda z: nn.CWSALoss(**options)(z, target), (logits,))


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.uint16, torch.uint64])
def test_labels_of_any_whole_numbers_and_none_of_fractions(dtype):
    """A class index in few bits is one; 0.5 is none, and not cut to 0."""
    logits, target = batch()
    assert nn.CWSALoss()(logits, target.to(dtype)) == nn.CWSALoss()(logits, target)
    refused(RuntimeError, "index", lambda: nn.CWSALoss()(logits, target + 0.5))


@pytest.mark.parametrize("options", OPTIONS[2:])
def test_compile_captures_one_graph(options):
    """The whole loss is one graph (fullgraph=True), and gives what it gives without; ties included."""
    torch.compiler.reset()
    criterion = nn.CWSALoss(**options)
    compiled = torch.compile(criterion, fullgraph=True, backend="aot_eager")
    for tied in (False, True):
        logits, target = batch(tied=tied, dtype=torch.float32)
        found, wanted = (
            torch.autograd.functional.vjp(lambda z, loss=loss, y=target: loss(z, y), logits)
            for loss in (compiled, criterion)
        )
        torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bool])
def test_losses_and_confidences_of_two_precisions(dtype):
    """The value has the wider precision, float32 at least."""
    loss, confidence = torch.tensor([0.0, 1.0, 0.0]), torch.tensor([0.9, 0.7, 0.6])
    value, wanted = nn.smooth_cwsa(loss.to(dtype), confidence), nn.smooth_cwsa(loss.double(), confidence.double())
    assert value.item() == pytest.approx(wanted.item(), rel=1e-6)
    assert value.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert nn.smooth_cwsa(loss.to(dtype), confidence.double()).dtype == torch.float64
