"""``SelectiveMetrics``: all metrics of the core as one torchmetrics ``Metric``, exact or in constant memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torchmetrics import Metric as TorchMetric

import abstain.metrics as core
from abstain._checks import UnmetNeed, one_of
from abstain.blocks import TieBlocks
from abstain.metrics import Metric
from abstain.nn._confidence import NAMED, Confidence, check_batch, check_confidence, check_tensors, in_float64, nll
from abstain.nn._rank_losses import SampleLoss
from abstain.summaries import COLUMNS, Key, Scale, Summary, bounds_of, lacking

_COMPACT = 1 << 16
#: Batches of fewer rows are counted when so many of them have come.
_SEEN, _EVERY = 1 << 12, 16
_COLUMNS = 4  # score, weight, weighted loss, count; kept flat, as an idle process sends an empty vector
_UNIT = {"msp", "softmax_margin"}
_PROBLEMS = (
    "confidence holds NaN",
    "loss is negative or not finite, or a label is no class,",
    "sample_weight is negative or not finite",
)
#: Columns of a histogram: what an empty bin holds, and how those of two processes combine.
_REDUCTIONS = {np.add: "sum", np.minimum: "min", np.maximum: "max"}
_BINS = {name: (float(empty), _REDUCTIONS[combine]) for name, (_, empty, combine) in COLUMNS.items()}


class SelectiveMetrics(TorchMetric):
    r"""Metrics of a reject option over all batches seen, in one torchmetrics state.

    Parameters
    ----------
    metrics : sequence of str or abstain.metrics.Metric
        What to compute, as :func:`abstain.metrics.parse` reads it: ``"augrc"``, ``"aurc(estimator=log)"``, ...
    bins : int, optional
        None: exact. The state is the table of tie blocks, as large as the number of distinct scores. A number,
        2^8 to 2^20: constant memory. The state is the bins of a :class:`abstain.summaries.Summary`, as many as the
        largest power of two up to this, with 48 bytes each (3.1 MB for 65536), and ``compute`` also returns
        certified bounds.
    confidence : str or callable
        Confidence of logits: ``"msp"`` (maximum probability), ``"neg_entropy"``, ``"softmax_margin"``, ``"neg_gini"``,
        ``"max_logit"``, ``"energy"``, or a function of the logits.
    loss : "zero_one", "cross_entropy" or callable
        Loss of logits and labels per sample.
    scale : {"probability", "real"}, optional
        What the bins are made for: scores in [0, 1], finest near 1, or any scores. Default: as ``confidence`` says.
    **kwargs
        Of ``torchmetrics.Metric``, e.g. ``dist_sync_on_step``.

    Returns
    -------
    dict of str to Tensor
        From ``compute``: the value of each metric by its spec, float64; NaN where it is undefined (``reasons`` says
        why). In constant memory, ``<spec>_low`` and ``<spec>_high`` next to all that follows from a summary (``aurc``,
        ``augrc``, points; for 0/1 losses also ``e_aurc``, ``auroc_f``, ...): no data with this histogram can leave
        them. Other metrics are those of the bins taken as ties, without a certificate.

    Raises
    ------
    ValueError
        Unknown metrics or options; at ``compute``: NaN scores, losses that are negative or not finite, labels that
        are no class, scores outside [0, 1] on the scale "probability". Counting them costs no synchronisation in
        ``update``.
    UnmetNeed
        At ``compute``: a metric needs what is not there.

    Notes
    -----
    ``update(confidence, loss)`` takes two vectors of floating point, ``update(logits, labels)`` a matrix and labels.
    Ties across batches and processes are ties. States add up, so two processes give what one gives: to rounding in
    general, to the last bit for 0/1 losses. Everything is summed in float64, which Apple's GPUs lack: leave the metric
    on the CPU then, it takes batches from there. In exact mode ``forward`` keeps every row; only ``update`` joins
    equal scores.

    Examples
    --------
    >>> import torch
    >>> from abstain import nn
    >>> metric = nn.SelectiveMetrics(["augrc", "aurc"])
    >>> metric.update(torch.tensor([0.9, 0.8]), torch.tensor([0.0, 0.0]))
    >>> metric.update(torch.tensor([0.7, 0.6]), torch.tensor([1.0, 0.0]))
    >>> {name: round(value.item(), 4) for name, value in metric.compute().items()}
    {'augrc': 0.0938, 'aurc': 0.1458}
    >>> small = nn.SelectiveMetrics(["augrc"], bins=256)
    >>> small.update(torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 0]))
    >>> sorted(small.compute())
    ['augrc', 'augrc_high', 'augrc_low']
    """

    full_state_update = False
    rows: Any
    oracle_rows: Any
    flags: Tensor
    n: Tensor

    def __init__(
        self,
        metrics: Sequence[str | Metric] = ("augrc", "aurc"),
        *,
        bins: int | None = None,
        confidence: Confidence = "msp",
        loss: str | SampleLoss = "zero_one",
        scale: Scale | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        super().set_dtype(torch.float64)  # also of the empty state that an idle process sends
        check_confidence(confidence)
        if not callable(loss):
            one_of(loss, ("zero_one", "cross_entropy"), "loss")
        if bins is not None and not 1 << 8 <= bins <= 1 << 20:
            raise ValueError(f"bins must lie between 256 and 1048576, got {bins!r}; 65536 take 3.1 MB")
        self.metrics = [core.parse(each) if isinstance(each, str) else each for each in metrics]
        for each in self.metrics:
            if each.input != "blocks":
                raise ValueError(f"{each.name} needs class probabilities, not scores and losses; call it on Outputs")
        self.bins, self.confidence, self.loss = bins, confidence, loss
        unit = confidence in _UNIT if isinstance(confidence, str) else False
        self.scale: Scale = scale or ("probability" if unit else "real")
        one_of(self.scale, ("probability", "real"), "scale")
        #: Why a value is NaN, by spec, after ``compute``.
        self.reasons: dict[str, str] = {}
        #: Rows after the last compaction: the next one waits until they have doubled.
        self._compacted = 0
        self._oracle = any(not each.needs.isdisjoint({"oracle", "unit_loss"}) for each in self.metrics)
        # NaN scores, bad losses, bad weights, scores outside [0, 1], losses other than 0 and 1, fractional weights
        self.add_state("flags", torch.zeros(6, dtype=torch.float64), dist_reduce_fx="sum")
        if bins is None:
            self.add_state("rows", [], dist_reduce_fx="cat")
            self.add_state("oracle_rows", [], dist_reduce_fx="cat")
        else:
            self.key = Key(self.scale, bins.bit_length() - 1)
            for name, (value, reduction) in _BINS.items():
                self.add_state(name, torch.full((self.key.bins,), value, dtype=torch.float64), dist_reduce_fx=reduction)

    def set_dtype(self, dst_type: object) -> SelectiveMetrics:
        """Keep float64: a state in less loses samples from 2^24 on."""
        return self

    # ------------------------------------------------------------------ update

    @torch.no_grad()
    def update(self, preds: Tensor, target: Tensor, sample_weight: Tensor | None = None) -> None:
        """Add a batch: confidences (n,) with losses (n,), or logits (n, n_classes) with labels (n,).

        Parameters
        ----------
        preds, target : Tensor
            Of one logit z per row make two classes: ``torch.stack([torch.zeros_like(z), z], dim=1)``.
        sample_weight : Tensor of shape (n,), optional
            Weights >= 0; exact mode only.

        Raises
        ------
        TypeError
            Whole numbers or booleans next to one number per row: losses are floating point.
        ValueError
            Shapes that do not fit.
        """
        score, loss, graded = self._columns(preds, target)
        one = None if sample_weight is None else in_float64(sample_weight.detach())
        if self.bins is not None and sample_weight is not None:
            raise UnmetNeed("the certified bounds are defined on counts; use bins=None for sample_weight")
        if score.shape != loss.shape or (one is not None and score.shape != one.shape):
            shapes = f"{tuple(score.shape)}, {tuple(loss.shape)}, {tuple(loss.shape if one is None else one.shape)}"
            raise ValueError(f"shapes differ (confidence, loss, sample_weight: {shapes}); give one of each per sample")
        if len(score) == 0:
            return
        count = torch.ones_like(loss)
        if graded or sample_weight is not None or not _scored(score, self.scale == "probability"):
            self._count_problems(score, loss, count if one is None else one)
        if self.bins is None:
            self._append(score, loss, one, count)
            return
        score = score.nan_to_num(0.0, torch.inf, -torch.inf)  # counted above, and refused by compute
        columns = {name: getattr(self, name) for name in _BINS}
        _add(columns, _bin_of(score, self.key), score, loss)

    def _count_problems(self, score: Tensor, loss: Tensor, weight: Tensor) -> None:
        """Count what ``compute`` refuses or must know, without waiting for a device."""
        bad_score = score.isnan()
        bad_loss = ~(loss.isfinite() & (loss >= 0.0))
        bad_weight = ~(weight.isfinite() & (weight >= 0.0))
        outside = (score < 0.0) | (score > 1.0)
        graded = (loss != 0.0) & (loss != 1.0)
        problems = (bad_score, bad_loss, bad_weight, outside, graded, weight != weight.floor())
        self.flags += torch.stack([each.sum(dtype=torch.float64) for each in problems])

    def _columns(self, preds: Tensor, target: Tensor) -> tuple[Tensor, Tensor, bool]:
        """Return confidences and losses in float64, and whether one may be other than 0 and 1.

        A label that is no class has a loss of NaN.
        """
        check_tensors(preds=preds, target=target)
        logits = in_float64(preds.detach())
        target = target.detach().to(logits.device)
        if logits.ndim == 1:
            _refuse_labels(target)
            loss = target.double()
            return logits + 0.0, loss, _graded(loss)  # + 0.0: no -0.0
        check_batch(logits, target, least=0)
        log_p = logits.log_softmax(dim=-1)
        if callable(self.confidence):
            score = self.confidence(logits).to(torch.float64)
        else:
            score = NAMED[self.confidence](log_p, logits)
        score = score.exp() if self.confidence == "msp" else score + 0.0  # no -0.0
        graded = True
        if callable(self.loss):
            loss = self.loss(logits, target)
        elif self.loss == "zero_one":
            loss = (logits.argmax(dim=-1) != target).double()
            graded = not _classes(target, logits.shape[1])
            if graded:
                loss = loss.masked_fill((target < 0) | (target >= logits.shape[1]), torch.nan)
        else:
            loss = nll(log_p, target)
        return score, loss.to(torch.float64), graded

    # ------------------------------------------------------------------ exact state

    def _append(self, score: Tensor, loss: Tensor, weight: Tensor | None, count: Tensor) -> None:
        """Keep rows (score, weight, weighted loss, count); many rows become one per distinct score."""
        weight, lost = (count, loss) if weight is None else (weight, weight * loss)
        self.rows.append(torch.stack([score, weight, lost, count], dim=1).ravel())
        if self._oracle:
            self.oracle_rows.append(torch.stack([-loss + 0.0, weight, lost, count], dim=1).ravel())
        if len(score) < _SEEN and len(self.rows) % _EVERY:  # many small batches: looking at each costs more than they
            return
        waiting = sum(len(part) for part in self.rows) // _COLUMNS
        if waiting > max(_COMPACT, 2 * self._compacted):
            self.rows = [_grouped(_matrix(self.rows)).ravel()]
            if self._oracle:
                self.oracle_rows = [_grouped(_matrix(self.oracle_rows)).ravel()]
            self._compacted = len(self.rows[0]) // _COLUMNS

    def reset(self) -> None:
        """Forget all batches."""
        super().reset()
        self._compacted = 0

    def table(self) -> TieBlocks:
        """Return the table of tie blocks: of all samples, or of the bins."""
        self._refuse()
        if self.bins is not None:
            return self.summary().bins().table()
        binary, whole = (float(each) == 0.0 for each in self.flags[4:])
        own = _blocks(_matrix(self.rows), binary, whole)
        if not self._oracle or binary:
            return own
        oracle = _blocks(_matrix(self.oracle_rows), False, whole)
        return TieBlocks(own.score, own.weight, own.loss, own.count, binary=False, frequencies=whole, _oracle=oracle)

    def _refuse(self) -> None:
        for number, problem in zip(self.flags.tolist(), _PROBLEMS, strict=False):
            if number:
                remedy = "repair the batches before update, then reset()"
                raise ValueError(f"{problem} in {int(number)} samples; {remedy}")
        outside = int(self.flags[3])
        if outside and self.bins is not None and self.scale == "probability":
            raise ValueError(f'confidence lies outside [0, 1] in {outside} samples; pass scale="real"')
        empty = not float(self.n.sum()) if self.bins is not None else not len(self.rows)
        if empty:
            raise ValueError("no sample has been seen; call update before compute")

    # ------------------------------------------------------------------ compute

    def compute(self) -> dict[str, Tensor]:
        """Return the value of each metric by its spec."""
        table = self.table()
        bins = self.summary().bins() if self.bins is not None else None
        self.reasons = {}
        found: dict[str, float] = {}
        for each in self.metrics:
            spec = each.spec
            if bins is not None and lacking(each, bins) is None:
                found[spec], found[f"{spec}_low"], found[f"{spec}_high"], reason = bounds_of(each, bins)
            else:
                found[spec], reason = each.evaluate(table)
            if reason is not None:
                self.reasons[spec] = reason
        return {name: self.flags.new_tensor(value) for name, value in found.items()}

    def summary(self) -> Summary:
        """Return what was seen in constant memory as a summary, which can be saved and added to others.

        Raises
        ------
        UnmetNeed
            The metric is exact (``bins=None``) and keeps :meth:`table` instead.
        ValueError
            As ``compute``.
        """
        if self.bins is None:
            raise UnmetNeed("an exact metric keeps no summary; pass bins=65536, or use table()")
        self._refuse()
        kept = torch.nonzero(self.n.cpu()).ravel()
        columns = {name: getattr(self, name).cpu()[kept].numpy() for name in _BINS}
        return Summary.of_columns(self.key, {"bin": kept.numpy(), **columns})


def _bin_of(score: Tensor, key: Key) -> Tensor:
    """Return each score's bin, as :meth:`Key.of` does; a score that is no probability gets some bin of them."""
    missing = score == -torch.inf
    magnitude = 1.0 - score.clamp(0.0, 1.0) if key.scale == "probability" else score.abs()
    found = (magnitude.view(torch.int64) >> (52 - key.steps)) - ((1023 - key.orders) << key.steps)
    if key.scale == "probability":
        found = (found + 1).clamp(min=0)
    else:
        half = key.bins >> 1
        found = found.clamp(0, half - 1)
        found = torch.where(score > 0.0, half - 1 - found, (half + found).clamp(max=key.bins - 2))
    return found.masked_fill(missing, key.bins - 1)


def _add(columns: dict[str, Tensor], index: Tensor, score: Tensor, loss: Tensor) -> None:
    """Add samples to the columns, in place, without leaving the device."""
    columns["n"].index_add_(0, index, torch.ones_like(loss))
    columns["loss_sum"].index_add_(0, index, loss)
    columns["other_losses"].index_add_(0, index, ((loss != 0.0) & (loss != 1.0)).double())
    columns["lowest"].scatter_reduce_(0, index, score, "amin")
    columns["highest"].scatter_reduce_(0, index, score, "amax")
    columns["largest_loss"].scatter_reduce_(0, index, loss, "amax")


def _refuse_labels(target: Tensor) -> None:
    """Refuse whole numbers next to one number per row, which would be read as losses."""
    if not target.is_floating_point():
        raise TypeError(
            f"target of type {target.dtype} next to one number per row may be labels or losses; losses are floating "
            "point (wrong.float()), one logit z per row is two classes (torch.stack([torch.zeros_like(z), z], dim=1))"
        )


def _scored(score: Tensor, unit: bool) -> bool:
    """Whether no score is NaN, or outside [0, 1] if these are the ``unit``; not asked of a device, which would wait."""
    if score.device.type != "cpu":
        return False
    low, high = (each.item() for each in score.aminmax())  # NaN if there is one
    return low >= 0.0 and high <= 1.0 if unit else not isnan(low)


def _graded(loss: Tensor) -> bool:
    """Whether a loss may be other than 0 and 1; not asked of a device."""
    return loss.device.type != "cpu" or not bool(((loss == 0.0) | (loss == 1.0)).all())


def _classes(target: Tensor, number: int) -> bool:
    """Whether labels are classes; not asked of a device."""
    if target.device.type != "cpu" or not len(target):
        return False
    low, high = (each.item() for each in target.aminmax())
    return low >= 0 and high < number


def _matrix(rows: Tensor | list[Tensor]) -> Tensor:
    """Return a list state as one matrix; torchmetrics hands over a list, or one tensor after gathering."""
    flat: Tensor = torch.cat(list(rows)) if isinstance(rows, (list, tuple)) else rows
    return flat.reshape(-1, _COLUMNS)


def _grouped(rows: Tensor) -> Tensor:
    """Return one row per distinct score, ascending."""
    score, group = torch.unique(rows[:, 0], return_inverse=True)
    sums = rows.new_zeros(len(score), rows.shape[1] - 1).index_add_(0, group, rows[:, 1:])
    return torch.cat([score[:, None], sums], dim=1)


def _blocks(rows: Tensor, binary: bool, whole: bool) -> TieBlocks:
    """Return the table of rows; blocks without weight do not count."""
    grouped = _grouped(rows)
    kept = grouped[grouped[:, 1] > 0.0].flip(0).cpu().numpy()
    if not len(kept):
        raise ValueError("the weights sum to 0; at least one sample needs a positive weight")
    score, weight, loss, count = (np.ascontiguousarray(column) for column in kept.T)
    return TieBlocks(score, weight, loss, count, binary=binary, frequencies=whole)
