"""One stage of a recipe: its batches, its steps as a Lightning module, and the weights that it leaves."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch
from torch import Tensor

from abstain._typing import Document, IntArray
from abstain.nn._confidence import evaluation_mode
from abstain.nn._cwsa import CorrectnessRankingLoss
from abstain.nn.data import Images, Task
from abstain.nn.ingredients import (
    EMA,
    SAM,
    SWA,
    Clean,
    Draw,
    FriendlySAM,
    MixedSAM,
    PixMix,
    draw,
    reestimate_batch_norm,
)
from abstain.nn.ingredients._pixmix import windows
from abstain.nn.ingredients._terms import Term
from abstain.nn.train._learner import Criterion, Learner
from abstain.nn.train._recipes import DataSettings, Stage


class Pictures(torch.utils.data.Dataset[dict[str, Tensor]]):
    """A set of images that gives whole batches: bytes, labels and positions."""

    def __init__(self, images: Images) -> None:
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, rows: IntArray) -> dict[str, Tensor]:
        index = torch.as_tensor(rows)
        return {"pixels": self.images.take(index), "labels": self.images.labels[index], "index": index}


class Order(torch.utils.data.Sampler[IntArray]):
    """Batches of positions: a new order per epoch, and of every batch the share of one process."""

    def __init__(self, n: int, batch: int, key: tuple[int, ...], rank: int = 0, world: int = 1) -> None:
        if batch % world:
            raise ValueError(f"batch={batch} cannot be shared by {world} processes; give a multiple")
        self.n, self.batch, self.key, self.rank, self.world, self.epoch = n, min(batch, n), key, rank, world, 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins."""
        self.epoch = epoch

    def __len__(self) -> int:
        return self.n // self.batch

    def __iter__(self) -> Iterator[IntArray]:
        order = np.random.default_rng([*self.key, self.epoch]).permutation(self.n)
        for start in range(0, len(self) * self.batch, self.batch):
            yield order[start : start + self.batch][self.rank :: self.world]


def augmented(pixels: Tensor, settings: DataSettings, rng: np.random.Generator) -> Tensor:
    """Return images in [0, 1], cropped, flipped and cut as the settings say, one draw per image."""
    x = pixels.float() / 255.0
    n, _, height, width = x.shape
    if settings.crop or settings.flip:
        pad = settings.crop
        top, left = (torch.as_tensor(rng.integers(2 * pad + 1, size=n), device=x.device) for _ in range(2))
        flip = torch.as_tensor(rng.random(n) < (0.5 if settings.flip else 0.0), device=x.device)
        padded = torch.nn.functional.pad(x, (pad, pad, pad, pad))
        x = windows(padded, torch.arange(n, device=x.device), top, left, (height, width), flip)
    return _cut(x, settings, rng) if settings.cutout else x


def _cut(x: Tensor, settings: DataSettings, rng: np.random.Generator) -> Tensor:
    """Grey out a square around a random centre, clipped at the border, with a chance."""
    n, _, height, width = x.shape
    half = settings.cutout // 2
    row, column = (torch.as_tensor(rng.integers(size, size=n), device=x.device)[:, None] for size in (height, width))
    chosen = torch.as_tensor(rng.random(n) < settings.cutout_chance, device=x.device)[:, None, None]
    rows, columns = torch.arange(height, device=x.device), torch.arange(width, device=x.device)
    inside = (rows >= row - half) & (rows < row + half)
    across = (columns >= column - half) & (columns < column + half)
    hidden = (inside[:, :, None] & across[:, None, :] & chosen)[:, None]
    return torch.where(hidden, x.mean(dim=(0, 2, 3), keepdim=True), x)


def terms_of(stage: Stage, shape: tuple[int, int, int], cache: str | os.PathLike[str] | None = None) -> list[Term]:
    """Return the terms of a stage; PixMix gets its mixing set."""
    terms = list(stage.terms.values()) or [Clean()]
    return [each.with_images(shape, cache) if isinstance(each, PixMix) else each for each in terms]


class StageModule(pl.LightningModule):
    """Draws the terms of every batch, sums their losses, and keeps the average of the weights."""

    def __init__(
        self, learner: Learner, stage: Stage, task: Task, data: DataSettings, terms: list[Term], key: tuple[int, int]
    ) -> None:
        super().__init__()
        self.learner, self.stage, self.images, self.data = learner, stage, task.train, data
        self.validation = task.validation
        self.best: Document | None = None
        self.terms, self.key = terms, key
        self.criterion = Criterion(stage.objective)
        self.ranking = CorrectnessRankingLoss(len(task.train)) if stage.crl else None
        self.average: EMA | SWA | None = None
        learner.start(stage)
        if stage.average.kind == "ema":
            self.average = EMA(learner, stage.average.tau, warm_up=stage.average.warm_up)
        elif stage.average.kind == "swa":
            self.average = SWA(learner)
        self._held: tuple[tuple[int, int], Tensor, Draw] | None = None
        self._calls = 0
        self._first: tuple[Tensor, Tensor, Tensor] | None = None
        self._losses: list[Tensor] = []

    # ------------------------------------------------------------------ data

    def train_dataloader(self) -> torch.utils.data.DataLoader[dict[str, Tensor]]:
        """Return batches of this process."""
        order = Order(len(self.images), self.data.batch, self.key, self.trainer.global_rank, self.trainer.world_size)
        workers = self.data.workers
        return torch.utils.data.DataLoader(
            Pictures(self.images), sampler=order, batch_size=None, num_workers=workers, persistent_workers=workers > 0
        )

    def _rng(self, *more: int) -> np.random.Generator:
        """Draws that depend on seed, stage, epoch, step and process alone."""
        return np.random.default_rng([*self.key, self.current_epoch, self.global_rank, *more])

    def _drawn(self, batch: dict[str, Tensor], step: int) -> Draw:
        """Draw a batch once; the second pass of a sharpness-aware step sees the same, unless it shall not."""
        place = (self.current_epoch, step)
        if self._held is None or self._held[0] != place:
            x = augmented(batch["pixels"], self.data, self._rng(step, 0))
            self._held, self._calls = (place, x, draw(self.terms, x, batch["labels"], self._rng(step, 1))), 1
        else:
            self._calls += 1
            if not self.stage.sharpness.same_batch:
                x = self._held[1]
                return draw(self.terms, x, batch["labels"], self._rng(step, self._calls))
        return self._held[2]

    # ------------------------------------------------------------------ steps

    def training_step(self, batch: dict[str, Tensor], batch_idx: int) -> Tensor:
        """Return the weighted sum of the losses of all terms."""
        drawn = self._drawn(batch, batch_idx)
        torch.manual_seed(int(self._rng(batch_idx, 1000).integers(2**62)))  # dropout: the same masks in both passes
        losses = []
        for part in drawn.parts:
            features, seen = self.learner.features(part.inputs, self.stage)
            logits = self.learner.network.head(features)
            value = self._clean(seen, logits, batch) if part.clean else part.loss(logits)
            losses.append(part.weight * value)
        total = torch.stack(losses).sum()
        if self._calls == 1:
            self._losses.append(total.detach())
        return total

    def _clean(self, features: Tensor, logits: Tensor, batch: dict[str, Tensor]) -> Tensor:
        value: Tensor = self.criterion(self.learner, features, logits, batch["labels"])
        if self.ranking is not None:
            value = value + self.stage.crl * self.ranking(logits, batch["index"])
            if self._calls == 1:
                self._first = (logits.detach(), batch["labels"], batch["index"])
        return value

    def on_train_epoch_start(self) -> None:
        """Set modes and the epoch of the objective."""
        self.learner.mode(self.stage)
        self.criterion.set_epoch(self.current_epoch)
        self._losses = []

    def on_train_batch_end(self, outputs: object, batch: object, batch_idx: int) -> None:
        """Remember who was right; move the average."""
        if self.ranking is not None and self._first is not None:
            self.ranking.update(*self._first)
            self._first = None
        if isinstance(self.average, EMA):
            self.average.update(self.learner)

    def on_train_epoch_end(self) -> None:
        """Average once per epoch, from the first one that counts; log the mean loss; keep the best weights."""
        if isinstance(self.average, SWA) and self.current_epoch >= self.stage.average.start:
            self.average.update(self.learner)
        self.log("loss", torch.stack(self._losses).mean(), prog_bar=True, sync_dist=True)
        if self.stage.keep == "best":
            self._keep_best()

    def _keep_best(self) -> None:
        now = averaged(copy.deepcopy(self.learner), self)
        share = accuracy(now, self.validation)
        self.log("validation_accuracy", share, prog_bar=True)
        if self.best is None or share > self.best["accuracy"]:
            weights = {key: value.detach().cpu().clone() for key, value in now.state_dict().items()}
            self.best = {"accuracy": share, "epoch": self.current_epoch, "weights": weights}

    def on_save_checkpoint(self, checkpoint: Document) -> None:
        """Keep the best weights so far next to the latest."""
        checkpoint["best"] = self.best

    def on_load_checkpoint(self, checkpoint: Document) -> None:
        """Go on with them."""
        self.best = checkpoint.get("best")

    # ------------------------------------------------------------------ optimizer

    def configure_optimizers(self) -> Any:
        """Return base optimizer, wrapper and schedule."""
        stage, learning = self.stage, [each for each in self.learner.parameters() if each.requires_grad]
        base: torch.optim.Optimizer
        if stage.optimizer == "adam":
            base = torch.optim.Adam(learning, lr=stage.rate, weight_decay=stage.weight_decay)
        else:
            base = torch.optim.SGD(
                learning, stage.rate, stage.momentum, weight_decay=stage.weight_decay, nesterov=stage.nesterov
            )
        optimizer = _wrapped(base, self.learner, stage)
        per_epoch = len(Order(len(self.images), self.data.batch, self.key))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: rate_at(stage, step / per_epoch) / stage.rate
        )
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def _wrapped(base: torch.optim.Optimizer, model: torch.nn.Module, stage: Stage) -> torch.optim.Optimizer:
    sharp = stage.sharpness
    frozen = model if sharp.freeze else None
    if sharp.kind == "sam":
        return SAM(base, frozen, rho=sharp.rho)
    if sharp.kind == "friendly":
        return FriendlySAM(base, frozen, rho=sharp.rho, sigma=sharp.sigma, lam=sharp.lam)
    if sharp.kind == "mixed":
        return MixedSAM(base, frozen, rho=sharp.rho, gamma=sharp.gamma)
    return base


def rate_at(stage: Stage, epoch: float) -> float:
    """Return the learning rate at a (broken) number of epochs since the start of the stage."""
    average = stage.average
    if average.kind == "swa" and epoch >= average.start:
        done = min((math.floor(epoch) - average.start) / max(average.anneal, 1), 1.0)
        share = 0.5 * (1.0 - math.cos(math.pi * done))
        return (1.0 - share) * _cosine(stage, average.start) + share * average.rate
    return _cosine(stage, epoch)


def _cosine(stage: Stage, epoch: float) -> float:
    if stage.schedule == "constant":
        return stage.rate
    place = math.floor(epoch) if stage.schedule == "cosine_epochs" else epoch
    share = 0.5 * (1.0 + math.cos(math.pi * min(place / stage.epochs, 1.0)))
    return stage.final_rate + (stage.rate - stage.final_rate) * share


_REBN_BATCH = 128
_BATCH = 500


def settle(learner: Learner, module: StageModule) -> None:
    """Give a learner the weights that the stage leaves."""
    if module.best is None:
        averaged(learner, module)
    else:
        learner.load_state_dict(module.best["weights"])


def averaged(learner: Learner, module: StageModule) -> Learner:
    """Give a learner the average of the weights so far, where the stage has one; return it."""
    average = module.average
    if average is not None and (isinstance(average, EMA) or int(average.updates) > 0):
        learner.load_state_dict(average.model.state_dict())
        if module.stage.average.reestimate:
            _reestimate(learner, module)
    return learner


@torch.no_grad()
def accuracy(learner: Learner, images: Images) -> float:
    """Return the share of images that the network classifies right."""
    device, right = next(learner.parameters()).device, 0
    with evaluation_mode(learner):
        for x, labels in images.batches(_BATCH, device):
            right += int((learner.network(x).argmax(dim=1) == labels).sum())
    return right / len(images)


def _reestimate(learner: Learner, module: StageModule) -> None:
    """Batch norm of averaged weights, from one pass over the training set in clean images."""
    rng = np.random.default_rng([*module.key, 999])
    device, train = next(learner.parameters()).device, module.images

    def clean() -> Iterator[tuple[torch.Tensor]]:
        for rows in torch.split(torch.as_tensor(rng.permutation(len(train))), _REBN_BATCH):
            if len(rows) > 1:
                yield (augmented(train.take(rows).to(device), replace(module.data, cutout=0), rng),)

    reestimate_batch_norm(learner.network, clean())
