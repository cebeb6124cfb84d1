"""First of five steps, columns -> table -> influence -> spread -> interval: a metric and its checked columns.

One score has a loss and a confidence; a ``Panel`` has several scores or models on the same samples.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from abstain._checks import UnmetNeed, check_weight, closest, flag, namespace, refuse, same_length, to_numpy, vector
from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks
from abstain.inference._resample import INDEPENDENT, Sampling
from abstain.metrics import Metric, Predictions, Value, check_predictions, mean_of_terms, parse


def as_metric(metric: str | Metric) -> Metric:
    """Return a metric given by name, with options in parentheses if wanted, or as it is."""
    if isinstance(metric, str):
        return parse(metric)
    if not isinstance(metric, Metric):
        raise TypeError(f'metric must be a name such as "augrc", or a Metric from abstain.metrics.get, got {metric!r}')
    return metric


def as_metrics(given: str | Metric | Iterable[str | Metric], name: str) -> list[Metric]:
    """Return at least one metric, from one or several."""
    if isinstance(given, str | Metric) or not isinstance(given, Iterable):
        given = [given]
    if isinstance(given, np.ndarray):
        raise TypeError(f'{name} must be a name such as "augrc" or a list of names, got an array')
    chosen = [as_metric(entry) for entry in given]
    if not chosen:
        raise ValueError(f'{name} is empty; name at least one, such as "augrc"')
    return chosen


def check_scored(metric: Metric) -> None:
    """Refuse a metric of probabilities, which no table of losses and scores gives."""
    if metric.input == "joint":
        raise UnmetNeed(f"{metric.name} takes scores of ID and OOD samples; use abstain.joint.evaluate")
    if metric.input == "probabilities":
        raise UnmetNeed(
            f"{metric.name} takes probabilities, not a loss with a score; for a mean over predictions "
            'give its terms as loss, such as losses.cross_entropy or losses.brier, with metric="risk"'
        )


def evaluated(metric: Metric, blocks: TieBlocks) -> Value:
    """Return the value and why there is none; what no threshold attains has the value that the metric gives it."""
    found = metric.evaluate(blocks)
    return found if found.reason is None or metric.unattained is None else Value(metric.unattained)


def scored(confidence: ArrayLike) -> ArrayLike:
    """Return the scores; NaN is refused: inference has no rule for a sample without a score."""
    xp, device = namespace(confidence)
    scores = vector(confidence, "confidence", xp, device)
    refuse(xp.isnan(scores), scores, "confidence", "holds NaN", "leave these samples out, or reject them by -inf", xp)
    return scores


def as_risk(metric: Metric, data: Predictions) -> tuple[Metric, FloatArray]:
    """Return a mean over predictions as a metric on tables, and the loss whose mean it is."""
    assert metric.terms is not None
    return mean_of_terms(metric), metric.terms(data, **metric.options)


def on_columns(metric: Metric, loss: ArrayLike, confidence: ArrayLike) -> tuple[Metric, ArrayLike, ArrayLike]:
    """Return a metric on tables with its columns; a mean over predictions is given labels and probabilities."""
    if metric.terms is None:
        check_scored(metric)
        return metric, loss, scored(confidence)
    if np.ndim(confidence) != 2:
        raise UnmetNeed(
            f"{metric.name} depends on no confidence score; in the places of loss and confidence give it the labels "
            "and the class probabilities, of shape (n_samples, n_classes)"
        )
    risk, terms = as_risk(metric, check_predictions(loss, confidence))
    return risk, terms, np.zeros_like(terms)


def tables(metric: Metric, loss: ArrayLike, confidence: ArrayLike, sample_weight: ArrayLike | None = None) -> TieBlocks:
    """Return the table with samples, and with the oracle's where the metric needs it."""
    return TieBlocks.from_samples(loss, confidence, sample_weight, keep_samples=True, oracle="oracle" in metric.needs)


def is_plain(blocks: TieBlocks) -> bool:
    """Whether the table counts 0/1 losses, each sample once; weights of ties can sum to their number and not be 1."""

    def counts() -> bool:
        weight = None if blocks.samples is None else blocks.samples.sample_weight
        ones = blocks.frequencies if weight is None else bool((weight == 1.0).all())
        return blocks.binary and ones and np.array_equal(blocks.weight, blocks.count)

    return blocks.once("plain", counts)


#: Opaque bytes that stay as they are, whatever the package is called: fingerprints in saved results rest on them.
_SALT = b"recuse.Panel/1"

#: One loss for all scores, or one per name; arrays of shape (n_samples,) or (n_runs, n_samples).
Losses = ArrayLike | Mapping[str, ArrayLike]
#: Scores by name, likewise.
Scores = Mapping[str, ArrayLike] | Iterable[tuple[str, ArrayLike]]


@dataclass(frozen=True, eq=False)
class Panel:
    """Checked columns: ``loss[k]`` and ``score[k]`` have shape (n_runs of k, n_samples).

    ``sampling``: strata and clusters; ``paired_runs``: whether run r of one score belongs to run r of another (None: if
    all scores share the losses). ``tables``: those of the scores, of one run each, where they are known. ``times``: how
    many equal rows each column of the matrices stands for, where an engine counted them (None: each is one); then each
    score has one run.
    """

    names: tuple[str, ...]
    loss: tuple[FloatArray, ...]
    score: tuple[FloatArray, ...]
    shared_loss: bool
    weight: FloatArray | None = None
    sampling: Sampling = INDEPENDENT
    paired_runs: bool | None = None
    tables: tuple[TieBlocks, ...] | None = None
    times: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.paired_runs and len(set(self.n_runs)) > 1:
            listed = ", ".join(f"{name}: {runs}" for name, runs in zip(self.names, self.n_runs, strict=True))
            raise ValueError(f"paired_runs=True needs equally many runs of each score ({listed}); pass False")

    def of(self, names: Sequence[str]) -> Panel:
        """Return some of the scores."""
        kept = [self.names.index(name) for name in names]
        loss, score = tuple(self.loss[k] for k in kept), tuple(self.score[k] for k in kept)
        tables = None if self.tables is None else tuple(self.tables[k] for k in kept)
        return replace(self, names=tuple(names), loss=loss, score=score, tables=tables)

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.score[0].shape[1] if self.times is None else self.times.sum())

    @property
    def n_runs(self) -> tuple[int, ...]:
        """Number of training runs per score."""
        return tuple(len(score) for score in self.score)

    @property
    def paired(self) -> bool:
        """Whether run r of one score belongs to run r of another; by default where all scores share the losses."""
        return len(set(self.n_runs)) == 1 and (self.shared_loss if self.paired_runs is None else self.paired_runs)

    @property
    def same_loss(self) -> bool:
        """Whether all scores are judged by equal losses, however these were given."""
        return self.shared_loss or all(np.array_equal(self.loss[0], each) for each in self.loss[1:])

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of names, losses, scores and weights."""
        digest = hashlib.sha256(_SALT)
        for name, loss, score in zip(self.names, self.loss, self.score, strict=True):
            digest.update(f"{name!r}{loss.shape}{score.shape}".encode())
            digest.update(np.ascontiguousarray(loss).data)
            digest.update(np.ascontiguousarray(score + 0.0).data)
        digest.update(b"" if self.weight is None else self.weight.tobytes())
        return digest.hexdigest()


def panel(
    loss: Losses,
    scores: Scores,
    sample_weight: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    paired_runs: bool | None = None,
    *,
    at_least: int = 2,
) -> Panel:
    """Check losses, scores and weights of a comparison; every message names the column, the value and the remedy."""
    named = _named(scores, "scores")
    if len(named) < at_least:
        found = f"got {len(named)}" + (f" ({next(iter(named))!r})" if named else "")
        single = "for a single one use abstain.confidence_interval"
        raise ValueError(f"scores must hold at least {at_least} scores by name, {found}; {single}")
    score = {name: _rows(column, f"scores[{name!r}]") for name, column in named.items()}
    shared = not isinstance(loss, Mapping)
    given = dict.fromkeys(named, loss) if shared else _named(loss, "loss")
    if given.keys() != named.keys():
        missing, spare = sorted(named.keys() - given.keys()), sorted(given.keys() - named.keys())
        what = [f"no loss for {', '.join(map(repr, missing))}"] if missing else []
        if spare:
            what.append(f"a loss without a score for {', '.join(map(repr, spare))} ({closest(spare[0], named)})")
        raise ValueError(f"the names in loss and scores differ: {' and '.join(what)}; give every model both")
    common = _rows(loss, "loss") if shared else None
    losses = {name: common if common is not None else _rows(given[name], f"loss[{name!r}]") for name in named}

    columns = {f"scores[{name!r}]": rows[0] for name, rows in score.items()}
    columns |= {"loss" if shared else f"loss[{name!r}]": rows[0] for name, rows in losses.items()}
    weight = None if sample_weight is None else vector(sample_weight, "sample_weight", np, None)
    n = same_length(**columns, sample_weight=weight)
    if weight is not None:
        check_weight(weight, np)
    _refuse_unscored(score)
    for name, rows in losses.items():
        label = "loss" if shared else f"loss[{name!r}]"
        for row in rows:
            refuse(~np.isfinite(row), row, label, "is not finite", "repair it, or remove the sample everywhere", np)
            refuse(row < 0.0, row, label, "is negative", "losses are >= 0: pass a loss instead of a gain", np)
        if len(rows) not in (1, len(score[name])):
            runs = f"{label} holds {len(rows)} runs but scores[{name!r}] holds {len(score[name])}"
            raise ValueError(f"{runs}; give one loss per run, or one for all runs")
    losses = {name: np.broadcast_to(rows, score[name].shape) for name, rows in losses.items()}
    together = None if paired_runs is None else flag(paired_runs, "paired_runs")
    return Panel(
        tuple(named),
        tuple(losses.values()),
        tuple(score.values()),
        shared,
        weight,
        Sampling.of(n, strata, clusters),
        together,
    )


def panel_of(tables: Mapping[str, TieBlocks]) -> Panel:
    """Return the panel of tables that kept their samples, without another sort: of the same rows and weights."""
    loss, score = [], []
    for table in tables.values():
        samples = table._kept
        loss.append(to_numpy(samples.loss)[None])
        score.append(table.score[to_numpy(samples.block)][None])
        weight = None if samples.sample_weight is None else to_numpy(samples.sample_weight)
    return Panel(tuple(tables), tuple(loss), tuple(score), False, weight, tables=tuple(tables.values()))


def _named(columns: Any, what: str) -> dict[str, Any]:
    """Return the columns by name as text; two equal names are an error."""
    if not isinstance(columns, Mapping) and hasattr(columns, "columns") and hasattr(columns, "__getitem__"):
        pairs = [(name, columns[name]) for name in columns.columns]  # a pandas or polars frame
    else:
        try:
            pairs = [(name, column) for name, column in (columns.items() if hasattr(columns, "items") else columns)]
        except (TypeError, ValueError):
            got = type(columns).__name__
            raise TypeError(f'{what} must be a dict of columns by name, {{"msp": s1, ...}}, got {got}') from None
    named = {str(name): column for name, column in pairs}
    for name, number in Counter(str(name) for name, _ in pairs).items():
        if number > 1:
            raise ValueError(f"{what} holds the name {name!r} {number} times; names must differ")
    return named


def _rows(column: Any, name: str) -> FloatArray:
    """Return a column of shape (n_samples,) or (n_runs, n_samples) as a matrix of runs."""
    if isinstance(column, list | tuple) and len(column) and np.ndim(column[0]) == 1:
        rows = list(column)
    elif getattr(column, "ndim", 1) == 2:
        rows = list(to_numpy(column))
    else:
        rows = [column]
    labels = [name] if len(rows) == 1 else [f"{name}[{run}]" for run in range(len(rows))]
    checked = {label: vector(row, label, np, None) for label, row in zip(labels, rows, strict=True)}
    if not checked:
        raise ValueError(f"{name} is empty; at least one sample is needed")
    same_length(**checked)
    return np.stack(list(checked.values()))


def _refuse_unscored(score: Mapping[str, FloatArray]) -> None:
    """Refuse NaN scores, and say whether the scores miss the same samples."""
    missing = {name: np.isnan(rows).any(axis=0) for name, rows in score.items()}
    counts = {name: int(column.sum()) for name, column in missing.items() if column.any()}
    if counts:
        name = max(counts, key=counts.__getitem__)
        listed = ", ".join(f"{name}: {count}" for name, count in counts.items())
        raise ValueError(
            f"scores[{name!r}] holds NaN, first at {int(np.argmax(missing[name]))} (without a score: {listed}); "
            "remove these samples from every column, or replace NaN by -inf to reject them"
        )
