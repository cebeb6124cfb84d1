"""Names and kinds of columns that engines read otherwise: refused by name where used, of no matter where not."""

from importlib.metadata import version
from itertools import product

import duckdb
import numpy as np
import polars as pl
import pytest

import abstain
from abstain.summaries import summarize
from tests.engines.cases import rows
from tests.engines.test_here import ENGINES
from tests.refusal import refused

PATTERNS = {"polars": ["*", "^lo.*$", "^loss$"], "duckdb": ["*"]}
CASES = [(engine, name) for engine, names in PATTERNS.items() for name in names]


@pytest.mark.parametrize("role", ["confidence", "loss", "groups"])
@pytest.mark.parametrize(("engine", "name"), CASES)
def test_a_name_that_is_a_pattern_is_refused_where_it_is_read(engine, name, role):
    """A group called ``*`` was another column; a score called so ended in an error of the engine."""
    told = {"confidence": "confidence", "loss": "loss", "groups": "site"}
    frame = rows(1).rename({told[role]: name})
    told[role] = name
    message = r"is no name but a pattern in (polars|duckdb); rename the column"
    refused(ValueError, message, abstain.evaluate, ENGINES[engine]([frame]), metrics="augrc", **told)
    del told["groups"]
    if role != "groups" and engine == "polars":
        for source, call in product((frame, frame.lazy()), (abstain.TieBlocks.from_frame, summarize)):
            refused(ValueError, message, call, source, **told)


@pytest.mark.parametrize("name", ["*", "^lo.*$", "^loss$"])
def test_a_name_that_is_a_pattern_is_read_in_memory(name):
    """Of rows in memory it is a name, and elsewhere an unused column is no matter."""
    frame, told = rows(2), {"metrics": "augrc", "level": 0}
    expected = abstain.evaluate(frame, **told).value("augrc")
    assert abstain.evaluate(frame.rename({"loss": name}), loss=name, **told).value("augrc") == expected
    extra = frame.with_columns(pl.lit(3.0).alias(name))
    for kind, engine in ENGINES.items():
        if kind == "polars" or "." not in name or not version("narwhals").startswith("2.15."):  # reads tables there
            found = abstain.evaluate(engine([extra]), loss="loss", confidence="confidence", **told)
            assert found.value("augrc") == expected


@pytest.mark.parametrize("role", ["groups", "clusters"])
def test_an_interval_of_sql_is_refused_for_what_it_is(role):
    """It is three numbers; as text it is a group."""
    relation = duckdb.from_arrow(rows(3).with_columns(k=pl.int_range(pl.len()) % 50).to_arrow())
    made = relation.project("*, INTERVAL (k) MONTH AS span, CAST(INTERVAL (k) MONTH AS VARCHAR) AS said")
    told = {"confidence": "confidence", "loss": "loss", "metrics": "augrc"}
    message = r"'span' is an INTERVAL .*cast it: CAST\(\"span\" AS VARCHAR\)"
    refused(TypeError, message, abstain.evaluate, made, **told, **{role: "span"})
    found = abstain.evaluate(made, **told, **{role: "said"}).measurements
    assert len(found) == (51 if role == "groups" else 1)


@pytest.fixture
def policy():
    """A guarantee about these rows."""
    frame = rows(4)
    return abstain.choose_threshold(frame["loss"], frame["confidence"], risk=0.6, delta=0.1).policy(score="confidence")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_of_a_frame_is_named_by_its_time(engine, policy):
    """An engine's rows have no numbers: the row that counts had was named, and it was another one."""
    frame = rows(4).with_columns(day=pl.int_range(400) // 50)
    best = int(frame["confidence"].arg_max() or 0)
    frame = frame.with_columns(loss=pl.when(pl.int_range(400) == best).then(None).otherwise("loss"))
    message = rf"^loss of a row with day = {frame['day'][best]} is missing, an accepted row"
    refused(ValueError, message, abstain.monitor, policy, frame=ENGINES[engine]([frame]), loss="loss", time="day")
    given = {"time": frame["day"]}
    refused(
        ValueError, rf"loss\[{best}\] is missing", abstain.monitor, policy, frame["loss"], frame["confidence"], **given
    )


def test_a_wrong_time_column_is_the_fault_of_its_option(policy, do):
    """A file and a pattern name the same option; a group column was asked for where there is none."""
    policy.save("policy.json")
    rows(5).with_columns(day=pl.Series(np.arange(400) // 50)).write_parquet("new.parquet")
    for file in ("new.parquet", "new*.parquet"):
        said = do(f"monitor policy.json {file} --loss loss --time days", 2).err
        assert f"{file}: --time 'days': no column has this name; did you mean 'day'" in said
        assert "--groups" not in said
