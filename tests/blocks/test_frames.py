"""``from_frame``: every engine gives the table that ``from_samples`` gives, or refuses with a count."""

import functools
import itertools
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain import TieBlocks
from abstain.blocks._frame import WIDE, _worth_grouping
from tests.blocks.reference import assert_same, assert_same_flags, slow_table
from tests.refusal import refused
from tests.strategies import WEIGHTS, problems

NAN, INF = float("nan"), float("inf")
NAMES = {"confidence": "g", "loss": "l"}


CONNECTION = duckdb.connect()


def duck(frame):
    """Return the frame as a DuckDB relation."""
    return CONNECTION.from_arrow(frame.to_arrow())


def nullable(frame):
    """Return the frame with pandas' nullable types, which some versions find by a cast that warns of infinities."""
    with np.errstate(invalid="ignore"):
        return frame.to_pandas().convert_dtypes(convert_floating=False)


ENGINES = {
    "polars": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "pandas nullable": nullable,
    "pandas arrow": lambda frame: frame.to_arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "pyarrow": lambda frame: frame.to_arrow(),
    "duckdb": duck,
}


@pytest.fixture(params=["read", "grouped"])
def way(request, monkeypatch):
    """Take either way to the table, whatever the first rows say: small frames would always be read, and at once."""
    monkeypatch.setattr("abstain.blocks._frame.FIRST", 1)
    monkeypatch.setattr("abstain.blocks._frame._worth_grouping", lambda first, number: request.param == "grouped")
    return str(request.param)


@pytest.fixture(params=ENGINES)
def kind(request):
    """Return the conversion of a polars frame to one engine's frame, for what is the same on either way."""
    return ENGINES[request.param]


@pytest.fixture
def engine(kind, way):
    """Return the same conversion, on either way."""
    return kind


def test_every_engine_gives_the_table_of_the_samples(engine):
    """Random problems with infinities, both zeros, ties, weights, moments and the loss-ordered table."""

    @settings(max_examples=10)
    @given(problems(weights=WEIGHTS), st.booleans())
    def check(problem, extra):
        frame = pl.DataFrame({"g": problem.confidence, "l": problem.loss})
        names = dict(NAMES)
        if problem.weight is not None:
            frame = frame.with_columns(w=problem.weight)
            names["sample_weight"] = "w"
        options = {"moments": extra, "oracle": extra}
        table, expected = TieBlocks.from_frame(engine(frame), **names, **options), problem.table(**options)
        assert_same(table, expected)
        assert_same_flags(table, expected)
        if extra:
            for name in ("weight", "loss"):
                found, wanted = getattr(table.oracle, name), getattr(expected.oracle, name)
                np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=0.0)

    check()


DTYPES = {
    "float32": (pl.Float32, [0.1, 0.1, 0.3]),
    "float64": (pl.Float64, [0.1, 0.1, 0.3]),
    "uint8": (pl.UInt8, [0, 200, 7]),
    "int64": (pl.Int64, [-3, 200, 7]),
    "boolean": (pl.Boolean, [True, False, True]),
    "decimal": (pl.Decimal(10, 3), [Decimal("0.125"), Decimal("0.125"), Decimal("2.5")]),
}


@pytest.mark.parametrize("way", ["grouped"], indirect=True)
@pytest.mark.parametrize("dtype", DTYPES)
def test_column_types(dtype, engine):
    """Floats of both widths, integers, booleans and decimals are scores, and losses and weights if >= 0."""
    if dtype == "decimal" and engine in (ENGINES["pandas"], ENGINES["pandas nullable"]):
        frame = engine(pl.DataFrame({"g": [Decimal("1")], "l": [1.0]}))
        with pytest.raises(TypeError, match="column 'g' must be numeric, got Object; cast it to numbers first"):
            TieBlocks.from_frame(frame, **NAMES)  # in classic pandas a Decimal is an object like any other
        return
    series = pl.Series("g", DTYPES[dtype][1], dtype=DTYPES[dtype][0])
    values = [float(value) for value in series]
    frame = engine(pl.DataFrame({"g": series, "l": [0.0, 1.0, 1.0]}))
    assert_same(TieBlocks.from_frame(frame, **NAMES), slow_table([0, 1, 1], values), exact=True)
    if min(values) >= 0:
        table = TieBlocks.from_frame(frame, confidence="l", loss="g", sample_weight="g")
        assert_same(table, slow_table(values, [0, 1, 1], values), exact=False)


def test_minus_zero_ties_with_zero(engine):
    """No engine may keep the two zeros apart, nor hand out the negative one."""
    frame = pl.DataFrame({"g": [-0.0, 0.0, -0.0, 1.0], "l": [1.0, 0.5, 0.0, -0.0]})
    table = TieBlocks.from_frame(engine(frame), **NAMES, oracle=True)
    assert_same(table, slow_table([1, 0.5, 0, 0], [0.0, 0.0, 0.0, 1.0]), exact=True)
    np.testing.assert_array_equal(table.oracle.weight, [2.0, 1.0, 1.0])
    assert not np.signbit(table.oracle.score[0])


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Int64, pl.Boolean])
def test_rows_without_a_score(dtype, engine):
    """NaN and null scores are an error with a count, rejected (last block, still in N), or dropped and counted."""
    missing = [None, NAN] if dtype == pl.Float64 else [None, None]
    frame = pl.DataFrame({"g": pl.Series([1, *missing, 0], dtype=dtype, strict=False), "l": [0.0, 1.0, 0.5, 0.25]})
    if dtype == pl.Boolean and engine is ENGINES["pandas"]:
        with pytest.raises(TypeError, match="column 'g' must be numeric, got Object; cast it to numbers first"):
            TieBlocks.from_frame(engine(frame), **NAMES)  # classic pandas: objects
        return
    with pytest.raises(ValueError, match="column 'g' is null or NaN in 2 rows; pass nan_policy="):
        TieBlocks.from_frame(engine(frame), **NAMES)
    for policy, score, weight in (("reject", [1, 0, -INF], [1, 1, 2]), ("drop", [1, 0], [1, 1])):
        options = {"nan_policy": policy, "oracle": True, "moments": True}
        table = TieBlocks.from_frame(engine(frame), **NAMES, **options)
        np.testing.assert_array_equal(table.score, score)
        np.testing.assert_array_equal(table.weight, weight)
        numbers = frame["g"].cast(pl.Float64).fill_null(NAN).to_numpy()
        expected = TieBlocks.from_samples(frame["l"], numbers, **options)
        assert_same(table, expected)
        assert_same_flags(table, expected)
        assert_same(table.oracle, expected.oracle)


def frame_of(engine, **columns):
    return engine(pl.DataFrame(columns))


def test_rejected_rows_join_those_at_minus_infinity(engine):
    """A rejected row and a score of -inf are one block: no threshold tells them apart."""
    frame = frame_of(engine, g=[-INF, NAN, 1.0], l=[1.0, 1.0, 0.0])
    table = TieBlocks.from_frame(frame, **NAMES, nan_policy="reject")
    assert (table.score.tolist(), table.loss.tolist()) == ([1.0, -INF], [0.0, 2.0])
    assert (table.n, table.n_rejected) == (3, 1)


BAD = [
    (None, "null", "raise"), (NAN, "(nan|null)", "reject"), (INF, "infinite", "drop"), (-INF, "infinite", "raise"),
    (-0.5, "negative", "raise"), (None, "null", "reject"), (None, "null", "drop"), (2e75, "above 1e.75", "raise"),
]  # fmt: skip


def test_bad_losses_and_weights_are_refused_and_counted(engine):
    """An engine leaves a null loss out of the sum but not out of the count: the risk would silently be too low."""
    columns = {"good": [0.5, 0.5, 0.1, 0.4], "gap": [0.5, 0.5, NAN, 0.4], "l": [1.0] * 4}
    frame = frame_of(engine, **columns, **{f"bad {k}": [1.0, bad, bad, 0.0] for k, (bad, *_) in enumerate(BAD)})
    for k, (bad, word, policy) in enumerate(BAD):
        remedy = "rescale the {}" if bad == 2e75 else "a {} must be a finite number >= 0"
        given = {"confidence": "good" if policy == "raise" else "gap", "nan_policy": policy}
        for name, columns in (("loss", {"loss": f"bad {k}"}), ("weight", {"loss": "l", "sample_weight": f"bad {k}"})):
            said = f"column 'bad {k}' is {word}.* in 2 rows; {remedy.format(name)}"
            refused(ValueError, said, TieBlocks.from_frame, frame, **given, **columns)


FEW = {"g": [NAN, 0.5], "l": [0.0, 1.0], "none": [0.0, 0.0], "lost": [1.0, 0.0], "tiny": [0.0, 1e-300], "i": [None, 1]}
FEW |= {"nan": [NAN, NAN], "s": ["a", "b"]}
DROP = {"nan_policy": "drop"}


@functools.cache
def few(engine):
    return frame_of(engine, **FEW)


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("column 'i' is null in 1 rows; a loss must be", {"loss": "i"} | DROP),
        ("column 'g' is null or NaN in 1 rows; pass nan_policy=", {}),
        ("column 'none' sums to 0; at least one row needs a positive weight", {"sample_weight": "none"} | DROP),
        ("column 'lost' sums to 0; at least one row needs a positive weight", {"sample_weight": "lost"} | DROP),
        ("column 'tiny' sums to 1e-300, where squares underflow; rescale", {"sample_weight": "tiny"} | DROP),
        ("column 'nan' is null or NaN in every row; nan_policy=\"drop\" leaves", {"confidence": "nan"} | DROP),
    ],
)
def test_columns_that_give_no_table_are_refused(message, change, engine):
    refused(ValueError, message, TieBlocks.from_frame, few(engine), **(NAMES | change))


@pytest.mark.parametrize(
    ("message", "change"),
    [
        (r"column 'tin' is not in the frame; did you mean 'tiny'\?", {"confidence": "tin"}),
        ("column 'x' is not in the frame; known: g, i, l, lost", {"loss": "x"}),
        (r"column 'lst' is not in the frame; did you mean 'lost'\?", {"sample_weight": "lst"}),
        ("column 's' must be numeric, got String; cast it to numbers first", {"confidence": "s"}),
        ("column 0 is not in the frame; known: g, i", {"confidence": 0}),
    ],
)
def test_columns_that_are_not_there_or_no_numbers_are_refused(message, change, kind):
    refused((ValueError, TypeError), message, TieBlocks.from_frame, few(kind), **(NAMES | change))


def test_frames_without_rows_and_what_is_no_frame(kind):
    empty = kind(pl.DataFrame({"g": [], "l": []}, schema={"g": pl.Float64, "l": pl.Float64}))
    refused(ValueError, "frame has no rows; at least one sample is needed", TieBlocks.from_frame, empty, **NAMES)
    said = r"frame of type list is no data frame.*or use TieBlocks\.from_samples"
    refused(TypeError, said, TieBlocks.from_frame, [0.5, 0.4], **NAMES)


@pytest.mark.parametrize("policy", ["raise", "drop"])
def test_what_a_table_knows_is_of_rows_that_count(policy, engine):
    """Rows that are dropped, or weigh nothing, may have graded losses and fractions; those need no score."""
    score = [1.0, NAN if policy == "drop" else 0.5, 0.0, 0.25, NAN]
    columns = {"g": score, "l": [0.0, 0.5, 1.0, 0.5, 0.25], "w": [1.0, 0.5 * (policy == "drop"), 2.0, 0.0, 0.0]}
    table = TieBlocks.from_frame(frame_of(engine, **columns), **NAMES, sample_weight="w", nan_policy=policy)
    expected = TieBlocks.from_samples(*(columns[name] for name in "lgw"), nan_policy=policy)
    assert (table.binary, table.frequencies, table.n_dropped) == (True, True, 1.0 * (policy == "drop"))
    assert_same_flags(table, expected)
    assert (table.score.tolist(), table.loss.tolist()) == ([1.0, 0.0], [0.0, 2.0])


def test_the_largest_number_that_is_taken(engine):
    frame = frame_of(engine, g=[0.5, 0.4], l=[1e75, 0.0], more=[np.nextafter(1e75, np.inf), 0.0])
    assert TieBlocks.from_frame(frame, **NAMES, sample_weight="l").loss == pytest.approx(1e150)
    refused(ValueError, r"above 1e\+75", TieBlocks.from_frame, frame, confidence="g", loss="more")


def test_a_frame_is_grouped_by_the_number_of_scores_that_its_first_rows_show():
    """Chao's estimate: of four, two of them seen once and one twice, it is 4 + 2 / (2 x 2)."""
    first = np.array([1.0, 2.0, 3.0, 3.0, 4.0, 4.0, 4.0])
    assert [_worth_grouping(first, WIDE * 4.5 + more) for more in (0.0, 0.001)] == [False, True]


def test_one_column_may_play_every_part(way):
    """Names may repeat, and a frame may use the names that the library uses inside."""
    frame = pl.DataFrame({"abstain_loss": [1.0, 0.5], "abstain_score": [3.0, 4.0]})
    table = TieBlocks.from_frame(frame, confidence="abstain_loss", loss="abstain_loss", sample_weight="abstain_score")
    assert_same(table, slow_table([1.0, 0.5], [1.0, 0.5], [3.0, 4.0]))


@pytest.mark.parametrize("number", [2000, 1000])
def test_a_scan_whose_rows_change(number, way):
    """A relation that draws its rows anew each time may hold others than were counted, or none."""
    connection, seen = duckdb.connect(), itertools.count()
    connection.create_function(
        "drawn", lambda _: (next(seen) >= 1000) == (number == 2000), ["BIGINT"], "BOOLEAN", side_effects=True
    )
    scan = connection.sql(f"select g, 0 as l from range({number}) t(g) where drawn(g)")
    if number == 2000:
        assert TieBlocks.from_frame(scan, **NAMES).n == 2000
    else:
        refused(ValueError, "frame has no rows; at least one sample is needed", TieBlocks.from_frame, scan, **NAMES)


def test_what_an_engine_refuses_is_said_in_its_words(way):
    """An error in the middle of a scan has the class that the engine gives it, however the scan is read."""
    connection = duckdb.connect()
    scan = connection.sql("select case when g = 900 then error('boom') else g end as g, 0 as l from range(1000) t(g)")
    refused(duckdb.InvalidInputException, "boom", TieBlocks.from_frame, scan, **NAMES)
    assert connection.sql("select 1").fetchall() == [(1,)]


@pytest.mark.parametrize("distinct", [300, 10**9])
@pytest.mark.parametrize("make", [lambda frame: frame.lazy(), duck], ids=["polars", "duckdb"])
def test_large_frames_take_the_cheaper_way(distinct, make, monkeypatch):
    """Many rows of few scores are grouped by the engine, distinct ones are read; sorted rows are no exception."""
    rng = np.random.default_rng(0)
    score, loss = rng.integers(0, distinct, 200_000) / distinct, rng.exponential(1.0, 200_000)
    other = "_read" if distinct == 300 else "_group"
    monkeypatch.setattr(f"abstain.blocks._frame.{other}", None)
    for order in (np.arange(200_000), np.argsort(score)):
        frame = make(pl.DataFrame({"g": score[order], "l": loss[order]}))
        table = TieBlocks.from_frame(frame, **NAMES, oracle=True)
        assert_same_flags(table, TieBlocks.from_samples(loss, score, oracle=True))
        np.testing.assert_allclose(table.loss, TieBlocks.from_samples(loss, score).loss, rtol=1e-12)
