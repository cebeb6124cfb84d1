"""``Panel``: several scores or models on the same samples, one or more training runs each, checked once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from abstain._checks import check_weight, closest, flag, refuse, same_length, to_numpy, vector
from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks

#: Opaque bytes that stay as they are, whatever the package is called: fingerprints in saved results rest on them.
_SALT = b"recuse.Panel/1"

#: One loss for all scores, or one per name; arrays of shape (n_samples,) or (n_runs, n_samples).
Losses = ArrayLike | Mapping[str, ArrayLike]
#: Scores by name, likewise.
Scores = Mapping[str, ArrayLike] | Iterable[tuple[str, ArrayLike]]


@dataclass(frozen=True, eq=False)
class Panel:
    """Checked columns: ``loss[k]`` and ``score[k]`` have shape (n_runs of k, n_samples).

    ``tables``: those of the scores, of one run each, where they are known. ``times``: how many equal rows each column
    of the matrices stands for, where an engine counted them (None: each is one); then each score has one run.
    """

    names: tuple[str, ...]
    loss: tuple[FloatArray, ...]
    score: tuple[FloatArray, ...]
    shared_loss: bool
    weight: FloatArray | None
    tables: tuple[TieBlocks, ...] | None = None
    times: FloatArray | None = None

    def of(self, names: Sequence[str]) -> Panel:
        """Return some of the scores."""
        kept = [self.names.index(name) for name in names]
        tables = None if self.tables is None else tuple(self.tables[k] for k in kept)
        return replace(self, names=tuple(names), loss=tuple(self.loss[k] for k in kept),
                       score=tuple(self.score[k] for k in kept), tables=tables)  # fmt: skip

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.score[0].shape[1] if self.times is None else self.times.sum())

    @property
    def n_runs(self) -> tuple[int, ...]:
        """Number of training runs per score."""
        return tuple(len(score) for score in self.score)

    def runs_are_paired(self, paired_runs: bool | None) -> bool:
        """Whether run r of one score belongs to run r of another; by default where all scores share the losses."""
        paired_runs = None if paired_runs is None else flag(paired_runs, "paired_runs")
        equal = len(set(self.n_runs)) == 1
        if paired_runs and not equal:
            listed = ", ".join(f"{name}: {runs}" for name, runs in zip(self.names, self.n_runs, strict=True))
            raise ValueError(f"paired_runs=True needs equally many runs of each score ({listed}); pass False")
        return bool(equal and (self.shared_loss if paired_runs is None else paired_runs))

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


def panel(loss: Losses, scores: Scores, sample_weight: ArrayLike | None = None, *, at_least: int = 2) -> Panel:
    """Check losses, scores and weights of a comparison; every message names the column, the value and the remedy."""
    named = _named(scores, "scores")
    if len(named) < at_least:
        found = f"got {len(named)}" + (f" ({next(iter(named))!r})" if named else "")
        raise ValueError(
            f"scores must hold at least {at_least} scores by name, {found}; "
            "for a single one use abstain.confidence_interval"
        )
    score = {name: _rows(column, f"scores[{name!r}]") for name, column in named.items()}
    shared = not isinstance(loss, Mapping)
    given = dict.fromkeys(named, loss) if shared else _named(loss, "loss")
    if given.keys() != named.keys():
        missing, spare = sorted(named.keys() - given.keys()), sorted(given.keys() - named.keys())
        what = [f"no loss for {', '.join(map(repr, missing))}"] if missing else []
        what += (
            [f"a loss without a score for {', '.join(map(repr, spare))} ({closest(spare[0], named)})"] if spare else []
        )
        raise ValueError(f"the names in loss and scores differ: {' and '.join(what)}; give every model both")
    common = _rows(loss, "loss") if shared else None
    losses = {name: common if common is not None else _rows(given[name], f"loss[{name!r}]") for name in named}

    columns = {f"scores[{name!r}]": rows[0] for name, rows in score.items()}
    columns |= {"loss" if shared else f"loss[{name!r}]": rows[0] for name, rows in losses.items()}
    weight = None if sample_weight is None else vector(sample_weight, "sample_weight", np, None)
    same_length(**columns, sample_weight=weight)
    if weight is not None:
        check_weight(weight, np)
    _refuse_unscored(score)
    for name, rows in losses.items():
        label = "loss" if shared else f"loss[{name!r}]"
        for row in rows:
            refuse(~np.isfinite(row), row, label, "is not finite", "repair it, or remove the sample everywhere", np)
            refuse(row < 0.0, row, label, "is negative", "losses are >= 0: pass a loss instead of a gain", np)
        if len(rows) not in (1, len(score[name])):
            raise ValueError(
                f"{label} holds {len(rows)} runs but scores[{name!r}] holds {len(score[name])}; "
                "give one loss per run, or one for all runs"
            )
    losses = {name: np.broadcast_to(rows, score[name].shape) for name, rows in losses.items()}
    return Panel(tuple(named), tuple(losses.values()), tuple(score.values()), shared, weight)


def panel_of(tables: Mapping[str, TieBlocks]) -> Panel:
    """Return the panel of tables that kept their samples, without another sort: of the same rows and weights."""
    columns, score = [], []
    for table in tables.values():
        samples = table.samples
        assert samples is not None
        columns.append(to_numpy(samples.loss)[None])
        score.append(table.score[to_numpy(samples.block)][None])
        weight = None if samples.sample_weight is None else to_numpy(samples.sample_weight)
    return Panel(tuple(tables), tuple(columns), tuple(score), False, weight, tuple(tables.values()))


def _named(columns: Any, what: str) -> dict[str, Any]:
    """Return the columns by name as text; two equal names are an error."""
    if not isinstance(columns, Mapping) and hasattr(columns, "columns") and hasattr(columns, "__getitem__"):
        pairs = [(name, columns[name]) for name in columns.columns]  # a pandas or polars frame
    else:
        try:
            pairs = [(name, column) for name, column in (columns.items() if hasattr(columns, "items") else columns)]
        except (TypeError, ValueError):
            raise TypeError(
                f'{what} must be a dict of columns by name, such as {{"msp": s1, "energy": s2}}, '
                f"got {type(columns).__name__}"
            ) from None
    names = [str(name) for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{what} holds the name {name!r} {names.count(name)} times; names must differ")
    return dict(zip(names, (column for _, column in pairs), strict=True))


def _rows(column: Any, name: str) -> FloatArray:
    """Return a column of shape (n_samples,) or (n_runs, n_samples) as a matrix of runs."""
    if isinstance(column, list | tuple) and len(column) and np.ndim(column[0]) == 1:
        rows = list(column)
    elif getattr(column, "ndim", 1) == 2:
        rows = list(to_numpy(column))
    else:
        rows = [column]
    labels = [name] if len(rows) == 1 else [f"{name}[{run}]" for run in range(len(rows))]
    checked = {label: vector(to_numpy(row) if hasattr(row, "device") else row, label, np, None)
               for label, row in zip(labels, rows, strict=True)}  # fmt: skip
    if not checked:
        raise ValueError(f"{name} is empty; at least one sample is needed")
    same_length(**checked)
    return np.stack(list(checked.values()))


def _refuse_unscored(score: Mapping[str, FloatArray]) -> None:
    """Refuse NaN scores, and say whether the scores miss the same samples."""
    missing = {name: np.isnan(rows).any(axis=0) for name, rows in score.items()}
    counts = {name: int(column.sum()) for name, column in missing.items()}
    worst = max(counts, key=lambda name: counts[name])
    if counts[worst] == 0:
        return
    everywhere = all(np.array_equal(column, missing[worst]) for column in missing.values())
    others = "every score misses the same samples" if everywhere else (
        "the scores miss different samples (" + ", ".join(f"{name}: {count}" for name, count in counts.items()) + ")"
    )  # fmt: skip
    raise ValueError(
        f"scores[{worst!r}] holds NaN, first at {int(np.argmax(missing[worst]))}, and {others}; a paired comparison "
        "needs the same samples throughout: remove these from every column, or replace NaN by -inf to reject them"
    )
