"""Train a cross-entropy model per seed, fine-tune copies of it with each objective, and evaluate on the test set."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from abstain._checks import to_numpy
from abstain.blocks import TieBlocks
from abstain.losses import cross_entropy
from abstain.metrics import get
from experiments.fine_tuning._data import Split, shifted_and_flipped
from experiments.fine_tuning._network import NETWORKS, Network
from experiments.fine_tuning._objectives import OBJECTIVES, Prepared


@dataclass(frozen=True)
class Settings:
    """How to train; ``table1`` is the setting of Table 1 of Zhou et al. (2025) where it is stated."""

    network: str = "small"
    epochs: int = 4
    rate: float = 0.05
    tuning_epochs: int = 3
    tuning_rate: float = 0.01
    batch: int = 128
    decay: float = 5e-4
    augment: bool = False
    device: str = "cpu"
    bfloat16: bool = False


#: Optimizer, schedule and augmentation are not stated in the paper: the usual ones.
TABLE_1 = Settings("resnet18", epochs=200, rate=0.1, tuning_epochs=30, tuning_rate=1e-3, augment=True, device="cuda",
                   bfloat16=True)  # fmt: skip


def _fit(
    network: Network, prepared: Prepared, data: Split, epochs: int, rate: float, settings: Settings, seed: int
) -> None:
    """SGD with momentum and a cosine schedule; the order of the batches depends on the seed alone."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.SGD(prepared.parameters, lr=rate, momentum=0.9, weight_decay=settings.decay)
    steps = epochs * -(-len(data.y) // settings.batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    device = network.head.weight.device
    network.train()
    for _ in range(epochs):
        for index in torch.split(torch.randperm(len(data.y), generator=generator), settings.batch):
            x, y = data.x[index].to(device), data.y[index].to(device)
            if settings.augment:
                x = shifted_and_flipped(x, generator)
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=settings.bfloat16):
                features = network.body(x)
                logits = network.head(features)
                loss = prepared.loss(features, logits, y, index.to(device))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            if prepared.after is not None:
                prepared.after(logits.detach(), y, index.to(device))


@torch.no_grad()
def evaluate(network: Network, prepared: Prepared, data: Split) -> dict[str, float]:
    """Return metrics of the test set: 0/1 and cross-entropy AURC and AUGRC, and the share of errors."""
    network.eval()
    device = network.head.weight.device
    parts: list[tuple[Tensor, Tensor]] = []
    for x in torch.split(data.x, 1000):
        features = network.body(x.to(device))
        logits = network.head(features)
        parts.append((logits.float().cpu(), prepared.confidence(features, logits).cpu().double()))
    logits, score = (torch.cat(column) for column in zip(*parts, strict=True))
    wrong = to_numpy(logits.argmax(dim=1) != data.y).astype(np.float64)
    errors = TieBlocks.from_samples(wrong, score)
    losses = TieBlocks.from_samples(cross_entropy(data.y, logits=logits.double()), score)
    return {
        "error": float(wrong.mean()),
        "aurc": get("aurc")(errors),
        "augrc": get("augrc")(errors),
        "auroc_f": get("auroc_f")(errors),
        "aurc_ce": get("aurc")(losses),
        "augrc_ce": get("augrc")(losses),
    }


def run(
    train: Split,
    test: Split,
    settings: Settings,
    *,
    seeds: int = 5,
    objectives: Sequence[str] | None = None,
) -> Iterator[dict[str, object]]:
    """Yield one record per seed and objective, as they come; each seed has its own cross-entropy model."""
    for seed in range(seeds):
        torch.manual_seed(seed)
        network = NETWORKS[settings.network](train.x[:1], int(train.y.max()) + 1).to(settings.device)
        plain = OBJECTIVES["CE"](network, len(train.y))
        _fit(network, plain, train, settings.epochs, settings.rate, settings, seed)
        yield {"seed": seed, "objective": "before", **evaluate(network, plain, test)}
        for name in objectives or OBJECTIVES:
            torch.manual_seed(1000 + seed)
            tuned = copy.deepcopy(network)
            prepared = OBJECTIVES[name](tuned, len(train.y))
            _fit(tuned, prepared, train, settings.tuning_epochs, settings.tuning_rate, settings, 1000 + seed)
            yield {"seed": seed, "objective": name, **evaluate(tuned, prepared, test)}


METRICS = ("error", "aurc", "augrc", "auroc_f", "aurc_ce", "augrc_ce")


def table(records: Sequence[dict[str, object]], level: float = 0.95) -> str:
    """Return a Markdown table: mean over seeds, and the paired difference from CE with its t interval."""
    from scipy.stats import t

    names = list(dict.fromkeys(str(each["objective"]) for each in records))

    def column(name: str, metric: str) -> np.ndarray:
        return np.array([each[metric] for each in records if each["objective"] == name], dtype=np.float64)

    lines = ["| objective | " + " | ".join(METRICS) + " |", "|---" * (len(METRICS) + 1) + "|"]
    for name in names:
        cells = []
        for metric in METRICS:
            values = column(name, metric)
            cell = f"{values.mean():.5f}"
            if name not in ("before", "CE") and len(values) > 1:
                difference = values - column("CE", metric)
                half = t.ppf(0.5 + level / 2, len(values) - 1) * difference.std(ddof=1) / len(values) ** 0.5
                cell += f" ({difference.mean():+.5f} ± {half:.5f})"
            cells.append(cell)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
