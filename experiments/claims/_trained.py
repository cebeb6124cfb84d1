"""Checks of the CWSA paper that train small networks."""

from __future__ import annotations

from typing import Any

import numpy as np

import abstain
from experiments.claims._ledger import check
from experiments.claims._sources import holds


@check("C11", kind="slow")
def objective() -> str:
    rng = np.random.default_rng(0)
    loss, confidence = (rng.random(50) < 0.2).astype(float), rng.random(50)
    accepted, h, gap = confidence >= 0.5, 1e-6, 0.0
    for i in range(50):
        ends = [abstain.cwsa(loss, np.where(np.arange(50) == i, confidence + step, confidence)) for step in (-h, h)]
        by_hand = accepted[i] * (1 - 2 * loss[i]) / 0.5 / accepted.sum()
        gap = max(gap, abs((ends[1] - ends[0]) / (2 * h) - by_hand))
    holds(gap < 1e-7, gap)
    jump = abs(abstain.cwsa([0, 0], [0.9, 0.5]) - abstain.cwsa([0, 0], [0.9, 0.5 - 1e-12]))
    holds(jump > 0.3, jump)
    found = np.array([_tuned(seed) for seed in range(8)])
    gain = found[:, 1] - found[:, 0]
    error = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
    holds(gain[:, 0].mean() > 2 * error[0], (gain.mean(axis=0), error))
    return (
        f"derivative by hand, gap {gap:.0e}; a confidence that falls below the threshold moves CWSA by {jump:.2g}; digits, 8 "
        f"seeds: a smoothed CWSA instead of further cross-entropy raises CWSA by {gain[:, 0].mean():.3f} ± {error[0]:.3f}, "
        f"accuracy by {gain[:, 1].mean():.3f} ± {error[1]:.3f}"
    )


def _tuned(seed: int) -> list[list[float]]:
    """Return CWSA and accuracy on the other half of the digits: after further cross-entropy, and after CWSA."""
    import copy

    import torch
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    from abstain.nn import CWSALoss

    pixels, target = load_digits(return_X_y=True)
    train, test = train_test_split(np.arange(len(target)), test_size=0.5, random_state=0, stratify=target)
    x, y = torch.tensor(pixels / 16.0, dtype=torch.float32), torch.tensor(target)

    def fit(network: Any, criterion: Any, steps: int, draw: int) -> Any:
        rule = torch.optim.SGD(network.parameters(), 0.05, momentum=0.9)
        generator = torch.Generator().manual_seed(draw)
        for _ in range(steps):
            rows = torch.from_numpy(train)[torch.randint(len(train), (128,), generator=generator)]
            rule.zero_grad()
            criterion(network(x[rows]), y[rows]).backward()
            rule.step()
        return network

    torch.manual_seed(seed)
    layers = torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)
    before = fit(torch.nn.Sequential(*layers), torch.nn.functional.cross_entropy, 300, seed)
    found = []
    for criterion in (torch.nn.functional.cross_entropy, CWSALoss(denominator="all")):
        after = fit(copy.deepcopy(before), criterion, 100, 100 + seed)
        p = after(x[test]).detach().softmax(1).double().numpy()
        wrong = (p.argmax(1) != target[test]).astype(float)
        found.append([abstain.cwsa(wrong, p.max(1)), 1.0 - wrong.mean()])
    return found
