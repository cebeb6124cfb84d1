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
