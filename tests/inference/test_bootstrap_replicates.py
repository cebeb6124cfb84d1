"""Replicates equal the metric on explicitly resampled arrays, on every path; resampling is as documented."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain
from abstain._checks import Undefined
from abstain.inference import replicates
from abstain.inference._resample import Sampling, resampling
from abstain.inference._scans import Column, formula
from abstain.metrics import Metric, get
from abstain.metrics import names as metric_names
from tests.metrics._problems import FEWER, needs_counts, problems_for

TABLE_METRICS = [get(name) for name in metric_names() if get(name).input == "blocks"]
SCANNED = ("aurc", "augrc", "risk", "accuracy", "accuracy_rejection_area", "augrc_unbiased")
SCANNED_BINARY = ("e_aurc", "naurc", "e_augrc", "naugrc", "prediction_rejection_ratio", "auroc_f")


def counts(n: int, n_resamples: int, seed: int, strata: Any = None, clusters: Any = None) -> np.ndarray:
    """All counts of a plan, shape (n_resamples, n)."""
    chunks = resampling(n, Sampling.of(n, strata, clusters)).chunks(n_resamples, np.random.default_rng(seed))
    return np.concatenate([part.copy() for _, part in chunks])


def by_hand(metric: Metric, problem: Any, count: np.ndarray) -> float:
    """The metric on the arrays in which each sample is repeated as often as it was drawn."""
    rows = np.repeat(np.arange(count.size), count)
    drawn = problem.rows(rows)
    if drawn.weight is not None and drawn.weight.sum() == 0.0:
        return np.nan
    table = abstain.TieBlocks.from_samples(drawn.loss, drawn.confidence, drawn.weight, oracle=True)
    try:
        return float(metric.value(table, **metric.options))
    except Undefined:
        return 0.0 if metric.name == "coverage_at_risk" else np.nan


@pytest.mark.parametrize("metric", TABLE_METRICS, ids=lambda metric: metric.name)
@FEWER
@given(data=st.data())
def test_replicates_equal_the_metric_on_resampled_arrays(metric: Metric, data: st.DataObject) -> None:
    """Weights, ties, infinities, graded losses: a resample is the table under other counts."""
    problem = data.draw(problems_for(metric, min_size=2))
    loss = problem.loss if metric.name not in ("naurc", "naugrc") else np.round(problem.loss, 3)
    problem = problem._replace(loss=loss)
    found = replicates(
        [metric], [(problem.loss, problem.confidence)], sample_weight=problem.weight, n_resamples=5, rng=3
    )[:, 0, 0]
    wanted = [by_hand(metric, problem, count) for count in counts(problem.loss.size, 5, 3)]
    size = max(1.0, float(np.max(problem.loss)))
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11 * size)


def populations() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
    """Untied, tied and one-score columns; 0/1, graded and sparse losses; with and without weights."""
    rng = np.random.default_rng(5)
    n = 203
    score = rng.random(n)
    wrong = (rng.random(n) > score).astype(np.float64)
    weight = rng.gamma(1.0, size=n) * (rng.random(n) < 0.9)
    tied = np.round(score, 1)
    graded = rng.exponential(size=n)
    return {
        "untied 0/1": (wrong, score, None),
        "untied real": (graded, score, None),
        "untied sparse real": (graded * wrong, score, None),
        "tied 0/1": (wrong, tied, None),
        "tied real": (graded, tied, None),
        "one score": (wrong, np.zeros(n), None),
        "no error": (np.zeros(n), score, None),
        "every error": (np.ones(n), score, None),
        "weighted 0/1": (wrong, score, weight),
        "weighted tied real": (graded, tied, weight * 1e-9),
    }


@pytest.mark.parametrize("kind", populations())
def test_scans_equal_the_general_path_and_each_other(kind: str) -> None:
    """NumPy's scan, the compiled lanes and the table of each replicate agree to 1e-12."""
    loss, score, weight = populations()[kind]
    binary = bool(np.isin(loss, (0.0, 1.0)).all())
    names = [name for name in SCANNED + SCANNED_BINARY * binary if binary or name != "accuracy"]
    metrics = [get(name) for name in names]
    if weight is not None:
        metrics = [metric for metric in metrics if not needs_counts(metric)]
    if loss.max() > 1.0:
        metrics = [metric for metric in metrics if "unit_loss" not in metric.needs]
    column = Column.of(loss, score, weight, oracle=True)
    assert all(formula(metric, column) is not None for metric in metrics)
    numpy = replicates(metrics, [(loss, score)], sample_weight=weight, n_resamples=70, rng=1, backend="numpy")
    tables = [column.table(count) for count in counts(loss.size, 70, 1)]
    general = np.array([[metric(table) for metric in metrics] for table in tables])
    np.testing.assert_allclose(numpy[:, 0], general, rtol=1e-12, atol=1e-12)
    pytest.importorskip("numba")
    numba = replicates(metrics, [(loss, score)], sample_weight=weight, n_resamples=70, rng=1, backend="numba")
    np.testing.assert_allclose(numba, numpy, rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------------- counts


def test_chunks_are_one_stream() -> None:
    """The counts do not depend on where a chunk ends, and each row is a bincount of n integers."""
    rng = np.random.default_rng(8)
    wanted = [np.bincount(rng.integers(0, 11, 11), minlength=11) for _ in range(70)]
    np.testing.assert_array_equal(counts(11, 70, 8), wanted)


def test_clusters_within_strata() -> None:
    """The number of clusters per stratum is fixed, whatever their sizes."""
    clusters = np.array(["p", "p", "q", "r", "r", "r", "s", "t"])
    strata = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    drawn = counts(clusters.size, 60, 2, strata=strata, clusters=clusters)
    _, first = np.unique(clusters, return_index=True)
    assert (drawn[:, first[:2]].sum(axis=1) == 2).all()
    assert (drawn[:, first[2:]].sum(axis=1) == 3).all()
