"""``evaluate`` on rows that Spark holds, in local mode: `make test-spark`, in an environment of its own, with Java."""

import os
import sys

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

pytest.importorskip("pyspark", reason="make test-spark runs this in an environment of its own")
pytestmark = pytest.mark.filterwarnings("ignore")
#: The session of this module.
session = {}


@pytest.fixture(scope="module", autouse=True)
def spark():
    """Start Spark with two threads on this machine."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # not another Python of the PATH
    builder = SparkSession.builder.master("local[2]").appName("abstain")
    for key, value in {
        "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3", "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1", "spark.sql.session.timeZone": "UTC",
    }.items():  # fmt: skip
        builder = builder.config(key, value)
    session["spark"] = builder.getOrCreate()
    yield session["spark"]
    session.pop("spark").stop()


def engine(pieces):
    """Return the parts as partitions of one Spark frame."""
    frames = [session["spark"].createDataFrame(each.rows(), schema=_schema(pieces[0])) for each in pieces]
    first, *others = frames
    for each in others:
        first = first.unionByName(each)
    return first


def _schema(frame):
    kinds = {pl.Float64: "double", pl.Int64: "bigint", pl.String: "string", pl.Boolean: "boolean", pl.Date: "date"}
    return ", ".join(f"{name} {kinds[dtype.base_type()]}" for name, dtype in frame.schema.items())


@pytest.mark.parametrize("number", [1, 3, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_spark_gives_the_evaluation_of_the_rows_in_memory(kind, number):
    """Values, intervals, words and counts are the same for any kind of rows in any parts."""
    check_engine(engine, kind, number)


@pytest.mark.parametrize("kind", ["ties", "graded", "missing scores"])
def test_spark_gives_the_threshold_of_the_rows_in_memory(kind):
    """Threshold, guarantee and all that a policy keeps of its rows, or the same refusal."""
    check_threshold(engine, kind, 3, ["certified"])


@pytest.mark.parametrize("kind", ["ties", "weighted"])
def test_spark_gives_the_comparison_of_the_rows_in_memory(kind):
    """Two scores, and two models, tested as in memory."""
    check_comparison(engine, kind, 3, ["augrc"])


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("time", ["day", "number"])
def test_spark_gives_the_monitor_of_the_rows_in_memory(time, groups):
    """Of a guarantee that is broken from half of the days on, in the order of the days."""
    check_watched(engine, time, groups, 0.5)


def test_loss_and_scores_come_from_probability_columns():
    """Largest probability, margin, entropy and Gini impurity are computed by Spark."""
    check_probabilities(engine)


def test_late_bad_rows_are_counted():
    """A null and a negative loss are found by the same scan."""
    frame = rows(1, n=10_500)
    for late, problem in ((None, "is null in 1 rows"), (-1.0, "is negative in 1 rows")):
        bad = frame.with_columns(loss=pl.when(pl.arange(len(frame)) == len(frame) - 1).then(late).otherwise("loss"))
        with pytest.raises(ValueError, match=f"column 'loss' {problem}"):
            evaluated(engine([bad]))
