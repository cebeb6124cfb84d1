"""The CWSA surrogate refuses what it cannot serve, at construction where it can."""

from __future__ import annotations

import pytest

from abstain import nn

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
    with pytest.raises(error, match=message):
        nn.CWSALoss(**options)
    with pytest.raises(error, match=message):
        nn.smooth_cwsa(torch.zeros(2), torch.ones(2), **options)


EMPTY, NONE = torch.zeros(0, 3), torch.zeros(0, dtype=torch.long)


@pytest.mark.parametrize(
    "call",
    [
        lambda: nn.smooth_cwsa(EMPTY[:, 0], EMPTY[:, 0], denominator="all"),
        lambda: nn.smooth_cwsa(EMPTY[:, 0], EMPTY[:, 0]),
        lambda: nn.CWSALoss()(EMPTY, NONE),
        lambda: nn.deep_gamblers_loss(EMPTY, NONE, 2.2),
        lambda: nn.DeepGamblersLoss(2.2, warm_up_epochs=1)(EMPTY, NONE),
        lambda: nn.confidnet_loss(EMPTY[:, 0], EMPTY, NONE),
        lambda: nn.devries_losses(EMPTY, EMPTY[:, 0], NONE),
        lambda: nn.DeVriesLoss()(EMPTY, EMPTY[:, 0], NONE),
        lambda: nn.crl_loss(EMPTY[:, 0], EMPTY[:, 0]),
        lambda: nn.CorrectnessRankingLoss(12)(EMPTY, NONE),
        lambda: nn.AURCLoss()(EMPTY, NONE),
        lambda: nn.bayesian_aurc_loss(EMPTY[None], NONE),
    ],
)
def test_an_empty_batch_is_refused_by_every_objective(call):
    """Its mean would be NaN, and one step later so would the network."""
    with pytest.raises(ValueError, match="at least one sample is needed"):
        call()


@pytest.mark.parametrize("bins", [None, 256])
def test_an_empty_batch_changes_no_metric(bins):
    """A process that ran out of samples may still update."""
    logits, target = torch.tensor([[2.0, 0.0, 1.0], [0.0, 1.0, 3.0]]), torch.tensor([0, 1])
    one, other = nn.SelectiveMetrics(bins=bins), nn.SelectiveMetrics(bins=bins)
    for metric in (one, other):
        metric.update(logits, target)
    other.update(EMPTY, NONE)
    assert one.compute() == other.compute()


@pytest.mark.parametrize(("shape", "tied"), [((64, 10), False), ((5, 1), False), ((64, 10), True)])
def test_the_short_way_to_the_largest_probability_has_the_same_gradient(shape, tied):
    """On the CPU the place of the largest comes from NumPy; a tie is divided among its classes as ever."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.zeros(shape) if tied else torch.randn(shape, generator=generator)
    target = torch.randint(0, shape[1], shape[:1], generator=generator)

    def plainly(z):
        p = z.softmax(dim=-1)
        right = p.gather(1, target[:, None])[:, 0]
        return -nn.smooth_cwsa(1.0 - right, p.amax(dim=-1), denominator="all")

    found, wanted = (
        torch.autograd.functional.vjp(loss, logits) for loss in (lambda z: nn.CWSALoss()(z, target), plainly)
    )
    torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-12)
    traced = torch.func.grad(lambda z: nn.CWSALoss()(z, target))(logits)  # where no tensor has memory of its own
    torch.testing.assert_close(traced, wanted[1], rtol=1e-6, atol=1e-12)
