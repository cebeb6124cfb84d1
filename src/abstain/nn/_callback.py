"""A Lightning callback: log selective metrics after every validation and keep the best checkpoint by one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import Tensor

from abstain._checks import closest
from abstain.metrics import Metric
from abstain.nn._confidence import Confidence
from abstain.nn._live import SelectiveMetrics
from abstain.nn._rank_losses import SampleLoss


def _default_batch(outputs: Any, batch: Any) -> tuple[Tensor, Tensor]:
    """Logits from what the validation step returned, labels from there or from the batch."""
    if isinstance(outputs, dict) and "logits" in outputs:
        labels = outputs["labels"] if "labels" in outputs else batch[1]
        return outputs["logits"], labels
    if isinstance(outputs, (tuple, list)) and len(outputs) == 2:
        return outputs[0], outputs[1]
    raise TypeError(
        f"validation_step returned {type(outputs).__name__}; return {{'logits': ..., 'labels': ...}} "
        "or a pair (logits, labels), or pass read= to SelectiveCheckpoint"
    )


class SelectiveCheckpoint(ModelCheckpoint):
    """Log selective metrics of every validation and keep the best checkpoint, by AUGRC unless stated otherwise.

    Parameters
    ----------
    metrics : sequence of str or abstain.metrics.Metric
        What to log; see :class:`SelectiveMetrics`.
    monitor : str
        The spec of the metric to keep the best checkpoint by.
    prefix : str
        Written before the names that are logged.
    read : callable, optional
        ``read(outputs, batch) -> (logits, labels)`` or ``(confidence, loss)``. Default: ``validation_step`` returns
        a dict with ``logits`` and ``labels`` (or the batch's second part has the labels), or the pair.
    bins, confidence, loss
        Of :class:`SelectiveMetrics`.
    **kwargs
        Of Lightning's ``ModelCheckpoint``: ``dirpath``, ``filename``, ``save_top_k``, ...

    Raises
    ------
    ValueError
        ``monitor`` is not among ``metrics``.
    TypeError
        ``validation_step`` returned something else.

    Notes
    -----
    Metrics cover the whole validation set, all loaders together, and under DDP all processes. The sanity check before
    training is neither logged nor kept.

    Examples
    --------
    >>> from abstain import nn
    >>> callback = nn.SelectiveCheckpoint(["augrc", "auroc_f"], monitor="auroc_f")
    >>> callback.monitor, callback.mode
    ('val/auroc_f', 'max')
    """

    def __init__(
        self,
        metrics: Sequence[str | Metric] = ("augrc", "aurc", "auroc_f"),
        *,
        monitor: str = "augrc",
        prefix: str = "val/",
        read: Callable[[Any, Any], tuple[Tensor, Tensor]] | None = None,
        bins: int | None = None,
        confidence: Confidence = "msp",
        loss: str | SampleLoss = "zero_one",
        **kwargs: Any,
    ) -> None:
        self.live = SelectiveMetrics(metrics, bins=bins, confidence=confidence, loss=loss)
        self.prefix, self.read = prefix, read or _default_batch
        by_spec = {each.spec: each for each in self.live.metrics}
        if monitor not in by_spec:
            raise ValueError(f"monitor={monitor!r} is not among the metrics; {closest(monitor, by_spec)}")
        kwargs.setdefault("mode", "min" if by_spec[monitor].direction == "lower" else "max")
        super().__init__(monitor=prefix + monitor, **kwargs)

    def on_validation_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start over."""
        self.live.reset()
        self.live.to("cpu" if pl_module.device.type == "mps" else pl_module.device)  # it needs float64

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Add a batch."""
        if not trainer.sanity_checking:
            self.live.update(*(part.to(self.live.device) for part in self.read(outputs, batch)))

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Log all metrics; ``ModelCheckpoint`` then finds the one that it monitors."""
        if not trainer.sanity_checking:
            values = {self.prefix + name: value.float() for name, value in self.live.compute().items()}
            pl_module.log_dict(values, sync_dist=False, rank_zero_only=False)
