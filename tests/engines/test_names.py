"""Names and kinds of columns that engines read otherwise: refused by name where used, of no matter where not."""

from importlib.metadata import version

import duckdb
import numpy as np
import polars as pl
import pytest

import abstain
from abstain.summaries import summarize
from tests.engines.cases import rows
from tests.engines.test_here import ENGINES

PATTERNS = {"polars": ["*", "^lo.*$", "^loss$"], "duckdb": ["*"]}
CASES = [(engine, name) for engine, names in PATTERNS.items() for name in names]


@pytest.mark.parametrize("role", ["confidence", "loss", "site"])
@pytest.mark.parametrize(("engine", "name"), CASES)
def test_a_name_that_is_a_pattern_is_refused_where_it_is_read(engine, name, role):
    """A group called ``*`` was another column; a score called so ended in an error of the engine."""
    frame = rows(1).rename({role: name})
    told = {"confidence": "confidence", "loss": "loss", "groups": "site"}
    told["groups" if role == "site" else role] = name
    told["groups"] = told.pop("groups")
    message = r"is no name but a pattern in (polars|duckdb); rename the column"
    with pytest.raises(ValueError, match=message):
        abstain.evaluate(ENGINES[engine]([frame]), metrics="augrc", **told)
    if role != "site" and engine == "polars":
        for source in (frame, frame.lazy()):
            with pytest.raises(ValueError, match=message):
                abstain.TieBlocks.from_frame(source, loss=told["loss"], confidence=told["confidence"])
            with pytest.raises(ValueError, match=message):
                summarize(source, loss=told["loss"], confidence=told["confidence"])


@pytest.mark.parametrize("name", ["*", "^lo.*$", "^loss$"])
def test_a_name_that_is_a_pattern_is_read_in_memory(tmp_path, name):
    """Of rows in memory and of a file it is a name, and elsewhere an unused column is no matter."""
    frame = rows(2)
    expected = abstain.evaluate(frame, metrics="augrc", level=0).value("augrc")
    renamed, extra = frame.rename({"loss": name}), frame.with_columns(pl.lit(3.0).alias(name))
    renamed.write_parquet(tmp_path / "rows.parquet")
    for source in (renamed, renamed.to_pandas(), tmp_path / "rows.parquet"):
        assert abstain.evaluate(source, loss=name, metrics="augrc", level=0).value("augrc") == expected
    for kind, engine in ENGINES.items():
        if kind == "duckdb" and "." in name and version("narwhals").startswith("2.15."):
            continue  # it reads what stands before the dot as a table
        told = {"loss": "loss", "confidence": "confidence", "metrics": "augrc", "level": 0}
        assert abstain.evaluate(engine([extra]), **told).value("augrc") == expected


@pytest.mark.parametrize("role", ["groups", "clusters"])
@pytest.mark.parametrize("unit", ["DAY", "MONTH"])
def test_an_interval_of_sql_is_refused_for_what_it_is(role, unit):
    """It is three numbers; as text it is a group."""
    frame = rows(3).with_columns(k=pl.int_range(pl.len()) % 50)
    relation = duckdb.from_arrow(frame.to_arrow())
    made = relation.project(f"*, INTERVAL (k) {unit} AS span, CAST(INTERVAL (k) {unit} AS VARCHAR) AS said")
    told = {"confidence": "confidence", "loss": "loss", "metrics": "augrc"}
    with pytest.raises(TypeError, match=r"'span' is an INTERVAL .*cast it: CAST\(\"span\" AS VARCHAR\)"):
        abstain.evaluate(made, **told, **{role: "span"})
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
    day = frame["day"][best]
    with pytest.raises(ValueError, match=rf"^loss of a row with day = {day} is missing, an accepted row"):
        abstain.monitor(policy, frame=ENGINES[engine]([frame]), loss="loss", time="day")
    with pytest.raises(ValueError, match=rf"loss\[{best}\] is missing"):
        abstain.monitor(policy, frame["loss"], frame["confidence"], time=frame["day"])


def test_a_wrong_time_column_is_the_fault_of_its_option(policy, do):
    """A file and a pattern name the same option; a group column was asked for where there is none."""
    policy.save("policy.json")
    frame = rows(5).with_columns(day=pl.Series(np.arange(400) // 50))
    frame.write_parquet("new.parquet")
    with pytest.raises(ValueError, match="time='days': no column has this name; did you mean 'day'"):
        abstain.monitor(policy, frame=frame.lazy(), loss="loss", time="days")
    for file in ("new.parquet", "new*.parquet"):
        said = do(f"monitor policy.json {file} --loss loss --time days", 2).err
        assert f"{file}: --time 'days': no column has this name; did you mean 'day'" in said
        assert "--groups" not in said
