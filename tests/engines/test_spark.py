"""``evaluate`` on rows that Spark holds, in local mode: `make test-spark`, in an environment of its own, with Java."""

import os
import sys

import polars as pl
import pytest

from tests.engines.cases import InProcesses

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


class TestSpark(InProcesses):
    engine = staticmethod(engine)
