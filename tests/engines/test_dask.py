"""``evaluate`` on rows in the workers of a Dask cluster: `make test-dask`, in an environment of its own."""

import warnings

import polars as pl
import pytest

from tests.engines.cases import (
    KINDS,
    check_comparison,
    check_engine,
    check_probabilities,
    check_threshold,
    check_watched,
    evaluated,
    rows,
)

dask = pytest.importorskip("dask", reason="make test-dask runs this in an environment of its own")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the cluster, on its way up and down


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Start two workers on this machine."""
    from dask.distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as two, Client(two) as client:
            yield client


def engine(pieces):
    """Return the parts as the partitions of one Dask frame."""
    import dask.dataframe as dd

    return dd.from_delayed([dask.delayed(each.to_pandas()) for each in pieces], meta=pieces[0].to_pandas()[:0])


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_dask_gives_the_evaluation_of_the_rows_in_memory(kind, number):
    """Values, intervals, words and counts are the same for any kind of rows in any parts."""
    check_engine(engine, kind, number)


@pytest.mark.parametrize("kind", ["ties", "graded", "missing scores"])
def test_dask_gives_the_threshold_of_the_rows_in_memory(kind):
    """Threshold, guarantee and all that a policy keeps of its rows, or the same refusal."""
    check_threshold(engine, kind, 3, ["certified"])


@pytest.mark.parametrize("kind", ["ties", "weighted"])
def test_dask_gives_the_comparison_of_the_rows_in_memory(kind):
    """Two scores, and two models, tested as in memory."""
    check_comparison(engine, kind, 3, ["augrc"])


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("time", ["day", "number"])
def test_dask_gives_the_monitor_of_the_rows_in_memory(time, groups):
    """Of a guarantee that is broken from half of the days on, in the order of the days."""
    check_watched(engine, time, groups, 0.5)


def test_loss_and_scores_come_from_probability_columns():
    """Largest probability, margin, entropy and Gini impurity are computed by the workers."""
    check_probabilities(engine)


def test_late_bad_rows_are_counted():
    """A null and a negative loss are found by the same scan."""
    frame = rows(1, n=10_500)
    for late, problem in ((None, "is (null|NaN) in 1 rows"), (-1.0, "is negative in 1 rows")):
        bad = frame.with_columns(loss=pl.when(pl.arange(len(frame)) == len(frame) - 1).then(late).otherwise("loss"))
        with pytest.raises(ValueError, match=f"column 'loss' {problem}"):
            evaluated(engine([bad[:5000], bad[5000:]]))
