"""Bootstrap replicates of several metrics and columns, all under the same resampling counts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import numpy as np

from abstain._checks import Undefined, flag, generator, whole
from abstain._pace import Pace
from abstain._typing import ArrayLike, FloatArray
from abstain.blocks import TieBlocks
from abstain.inference._columns import as_metrics, check_scored, scored
from abstain.inference._resample import Counts, Sampling, Tally, resampling
from abstain.inference._scans import Backend, Column, choose, formula, scan, scan_lanes, tally
from abstain.metrics import Metric

__all__ = ["replicates"]


def replicates(
    metrics: Sequence[str | Metric],
    columns: Sequence[tuple[ArrayLike, ArrayLike]],
    *,
    sample_weight: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    n_resamples: int = 1000,
    rng: int | np.random.Generator | None = 0,
    backend: Backend = "auto",
    progress: bool = False,
) -> FloatArray:
    """Return bootstrap replicates of several metrics and several (loss, confidence) columns on the same samples.

    Parameters
    ----------
    metrics : sequence of str or Metric
    columns : sequence of (loss, confidence)
        Scores, models or training runs on the same samples in the same order.
    sample_weight, strata, clusters, n_resamples, rng, backend, progress
        As in :func:`bootstrap`.

    Returns
    -------
    ndarray of shape (n_resamples, n_columns, n_metrics)
        One resample serves all columns and metrics, so their differences are paired. NaN where undefined.

    Raises
    ------
    UnmetNeed, ValueError, TypeError, ImportError
        As in :func:`bootstrap`; columns of different lengths, or that are no pairs.

    Notes
    -----
    Each column is sorted once. Ties as in :func:`bootstrap`.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap.

    Examples
    --------
    >>> import abstain
    >>> loss, columns = [0, 1, 0, 0] * 25, (range(100), [k * 37 % 100 for k in range(100)])
    >>> abstain.inference.replicates(["aurc", "augrc"], [(loss, c) for c in columns], n_resamples=200).shape
    (200, 2, 2)
    """
    chosen = as_metrics(metrics, "metrics")
    listed = isinstance(columns, Sequence) and len(columns) > 0
    if not listed or any(not isinstance(each, Sequence | np.ndarray) or len(each) != 2 for each in columns):
        raise TypeError("columns must be a list of pairs; for a single one give [(loss, confidence)]")
    prepared = [prepare(loss, confidence, sample_weight, chosen) for loss, confidence in columns]
    lengths = [column.order.size for column in prepared]
    if len(set(lengths)) > 1:
        raise ValueError(f"the columns hold {lengths} samples; resamples are shared, so all need the same samples")
    how = resampling(lengths[0], Sampling.of(lengths[0], strata, clusters))
    n_resamples = whole(n_resamples, "n_resamples", 2, usual=1000)
    compiled = choose(backend, work_of(chosen, prepared, n_resamples))
    return run(chosen, prepared, how, n_resamples, rng, compiled, progress)


# ---------------------------------------------------------------------- columns and chunks


def prepare(
    loss: ArrayLike, confidence: ArrayLike, sample_weight: ArrayLike | None, metrics: Sequence[Metric]
) -> Column:
    """Sort a column and check that every metric can be evaluated on it."""
    for metric in metrics:
        check_scored(metric)
    oracle = any(not metric.needs.isdisjoint({"oracle", "unit_loss"}) for metric in metrics)
    column = Column.of(loss, scored(confidence), sample_weight, oracle)
    for metric in metrics:
        metric.require(column.blocks)
        metric.evaluate(column.blocks)  # refuses options that the input cannot serve before the work begins
    return column


def work_of(metrics: Sequence[Metric], columns: Sequence[Column], n_resamples: int) -> float:
    """Samples x replicates x columns of the scans that could be compiled."""
    scanned = [column for column in columns if any(formula(metric, column) for metric in metrics)]
    return float(n_resamples) * sum(column.order.size for column in scanned)


class Draws(Protocol):
    """What yields the number of the first replicate and the counts of one chunk after another."""

    def chunks(self, n: int, rng: np.random.Generator, tally: Tally | None, /) -> Iterator[tuple[int, Counts]]: ...


def run(
    metrics: Sequence[Metric],
    columns: Sequence[Column],
    how: Draws,
    n_resamples: int,
    rng: int | np.random.Generator | None,
    use_numba: bool,
    progress: bool,
) -> FloatArray:
    """Evaluate all metrics on all columns under the same counts, one chunk of counts after another."""
    n_resamples, progress = whole(n_resamples, "n_resamples", 2, usual=1000), flag(progress, "progress")
    out = np.empty((n_resamples, len(columns), len(metrics)))
    fast = [[formula(metric, column) for metric in metrics] for column in columns]
    selective = any(form.selective for forms in fast for form in forms if form is not None)
    pace = Pace("bootstrap of a metric", n_resamples)
    with _bar(n_resamples, progress) as advance:
        for first, counts in how.chunks(n_resamples, generator(rng), tally if use_numba else None):
            for q, column in enumerate(columns):
                part, formulas = out[first : first + len(counts), q], fast[q]
                if any(formulas):
                    sums = scan_lanes(column, counts) if use_numba else scan(column, counts, selective)
                    with np.errstate(divide="ignore", invalid="ignore"):
                        for j, closed in enumerate(formulas):
                            if closed is not None:
                                part[:, j] = closed.formula(sums)
                slow = [j for j, closed in enumerate(formulas) if closed is None]
                if slow:
                    for r, count in enumerate(counts):
                        table = column.table(count)
                        for j in slow:
                            part[r, j] = np.nan if table is None else value_of(metrics[j], table)
            advance(len(counts))
            pace.advance(len(counts))
    return out


def value_of(metric: Metric, table: TieBlocks) -> float:
    """Return the value on a replicate's table; what it needs was checked on the data."""
    try:
        return metric.unchecked(table)
    except Undefined:
        return np.nan if metric.unattained is None else metric.unattained


@contextmanager
def _bar(total: int, wanted: bool) -> Iterator[Callable[[int], object]]:
    """Yield a function that advances a progress bar on standard error; none without a terminal or without rich."""
    if not (wanted and sys.stderr.isatty()):
        yield lambda _: None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield lambda _: None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Resampling", total=total)
        yield lambda done: bar.advance(task, done)
