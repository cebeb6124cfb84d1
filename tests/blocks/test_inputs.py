"""Kinds of columns: all give the same table; what is refused names argument, value, position and remedy."""

import re
from itertools import product

import array_api_compat
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given

from abstain import TieBlocks, UnmetNeed
from abstain._checks import matrix, to_numpy
from tests.blocks.reference import assert_same, assert_same_flags, slow_table
from tests.refusal import refused
from tests.strategies import WEIGHTS, problems

S = [0.1, 0.2, 0.3]
OPTIONS = {"keep_samples": True, "moments": True, "oracle": True}


def test_every_array_library_gives_the_table_of_numpy(xp):
    """Random problems of every kind: same blocks, same block ids, samples left in their library."""

    @given(problems(weights=WEIGHTS))
    def check(problem):
        columns = [None if column is None else xp.asarray(column) for column in problem]
        table, expected = TieBlocks.from_samples(*columns, **OPTIONS), problem.table(**OPTIONS)
        assert_same(table, expected)
        assert_same(table.oracle, expected.oracle)
        assert_same_flags(table, expected)
        assert_same(TieBlocks.from_samples(*columns), slow_table(*problem))
        assert array_api_compat.array_namespace(table.samples.loss) is array_api_compat.array_namespace(columns[0])
        np.testing.assert_array_equal(to_numpy(table.samples.block), expected.samples.block)
        new = xp.asarray(np.arange(len(problem.loss)) + 1.0)
        assert_same(table.reweight(new), expected.reweight(to_numpy(new)))

    check()


@pytest.mark.parametrize(
    ("policy", "count", "loss"), [("reject", [1.0, 3.0], [0.0, 2.0]), ("drop", [1.0, 1.0], [0.0, 1.0])]
)
def test_samples_without_a_score(policy, count, loss, xp):
    """``reject`` puts them last with the score -inf, ``drop`` leaves them out; both count them."""
    columns = xp.asarray([1.0, 0.0, 1.0, 0.0]), xp.asarray([float("nan"), 0.5, -float("inf"), float("nan")])
    for options in ({}, {"keep_samples": True}, {"sample_weight": xp.asarray([1.0, 1.0, 1.0, 1.0])}):
        table = TieBlocks.from_samples(*columns, nan_policy=policy, **options)
        assert [each.tolist() for each in (table.score, table.count, table.loss)] == [[0.5, -np.inf], count, loss]
        assert (table.n, table.n_rejected, table.n_dropped) == ((4, 2, 0) if policy == "reject" else (2, 0, 2))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "bool"])
def test_integer_scores_do_not_wrap(dtype, xp):
    """Unsigned scores are ordered as numbers: -0 would come before -255 if they were negated as they are."""
    scores, losses = ([1, 0, 1, 0], [1, 0, 0, 1]) if dtype == "bool" else ([0, 100, 7, 100], [1, 0, 1, 2])
    confidence, loss = (xp.asarray(column, dtype=getattr(xp, dtype)) for column in (scores, losses))
    table = TieBlocks.from_samples(loss, confidence, loss)
    assert_same(table, slow_table(losses, scores, losses), exact=True)


@pytest.mark.parametrize("dtype", ["float16", "float32", "longdouble", torch.float16, torch.bfloat16, torch.float32])
def test_floats_of_any_width_with_and_without_gradients(dtype):
    """Scores are compared as the values that they hold, not as what they were rounded from; tables are detached."""
    values = [[0.1, 1.0, 0.25], [0.1, 0.1, 0.3], [1.0, 2.0, 0.5]]
    if isinstance(dtype, str):
        columns = [np.array(column).astype(dtype) for column in values]
    else:
        columns = [torch.tensor(column, dtype=dtype, requires_grad=True) for column in values]
    table = TieBlocks.from_samples(*columns, **OPTIONS)
    assert_same(table, slow_table(*(column.tolist() for column in columns)))
    assert isinstance(dtype, str) or not table.samples.loss.requires_grad


def test_tensors_and_other_columns_mix():
    """One tensor decides where the work is done; lists, arrays and other libraries' arrays follow it."""
    import array_api_strict

    loss, confidence = [0.0, 1.0, 0.5], [0.75, 0.5, 0.5]
    expected = TieBlocks.from_samples(loss, confidence)
    kinds = [list, np.array, pl.Series, pd.Series, pa.array, torch.tensor, array_api_strict.asarray]
    for left, right in product(kinds, kinds):
        assert_same(TieBlocks.from_samples(left(loss), right(confidence)), expected, exact=True)


COLUMNS = {
    "list": lambda values: values,
    "tuple": tuple,
    "numpy": np.array,
    "numpy objects": lambda values: np.array(values, dtype=object),
    "non-contiguous": lambda values: np.repeat(np.array(values), 2)[::2],
    "pandas": pd.Series,
    "pandas, other index": lambda values: pd.Series(values, index=range(len(values), 0, -1)),
    "pandas nullable": lambda values: pd.Series(values).convert_dtypes(),
    "pandas arrow": lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    "pandas categorical": lambda values: pd.Series(values, dtype="category"),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow chunked": lambda values: pa.chunked_array([values[:1], values[1:]]),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("values", [[0.5, 1.0, 0.0], [2, 1, 0], [True, False, False]], ids=["float", "int", "bool"])
def test_lists_and_data_frame_columns(kind, values):
    """Any column of numbers or flags is a loss, a score or a weight, in the order of its rows."""
    column = COLUMNS[kind](values)
    table = TieBlocks.from_samples(column, [0.1, 0.2, 0.3])
    assert_same(table, slow_table(values, [0.1, 0.2, 0.3]), exact=True)
    assert_same(TieBlocks.from_samples([1, 0, 1], column, column), slow_table([1, 0, 1], values, values), exact=True)


WITH_NULL = {
    "list": [0.5, None, 0.25],
    "numpy masked": np.ma.array([0.5, 7.0, 0.25], mask=[False, True, False]),
    "pandas Float64": pd.Series([0.5, None, 0.25], dtype="Float64"),
    "pandas arrow": pd.Series([0.5, None, 0.25], dtype="double[pyarrow]"),
    "polars": pl.Series([0.5, None, 0.25]),
    "pyarrow": pa.array([0.5, None, 0.25]),
    "pandas Int64": pd.Series([1, None, 0], dtype="Int64"),
    "pandas boolean": pd.Series([True, None, False], dtype="boolean"),
    "polars boolean": pl.Series([True, None, False]),
    "pyarrow boolean": pa.array([True, None, False]),
    "pyarrow integer": pa.array([1, None, 0]),
    "masked integers": np.ma.array([1, 1, 0], mask=[False, True, False]),
}


@pytest.mark.parametrize("kind", WITH_NULL)
def test_nulls_are_missing_values(kind):
    """A null score is a NaN score; a null loss or weight is refused, never taken for 0 or for what lies below it."""
    column, made = WITH_NULL[kind], TieBlocks.from_samples
    assert made([0, 1, 1], column, nan_policy="drop").n_dropped == 1
    refused(ValueError, r"confidence holds NaN: confidence\[1\] = nan \(1 such\)", made, [0, 1, 1], column)
    refused(ValueError, r"loss holds NaN: loss\[1\] = nan \(1 such\)", made, column, S)
    refused(ValueError, r"sample_weight is not finite: sample_weight\[1\] = nan \(1", made, [0, 1, 1], S, column)


# ---------------------------------------------------------------------- what is refused


NAN, INF = float("nan"), float("inf")
SINGLE = "{} must be one-dimensional, one value per sample, got a single number; give a list of values"


@pytest.mark.parametrize(
    ("loss", "confidence", "weight", "message"),
    [
        ([0, 1], S, None, "lengths differ (loss: 2, confidence: 3); every column needs one value per sample"),
        ([0, 1, 1], S, [1], "lengths differ (loss: 3, confidence: 3, sample_weight: 1)"),
        ([], [], None, "loss is empty; at least one sample is needed"),
        ([0], [], None, "confidence is empty; at least one sample is needed"),
        ([0, 1, 0], [0.1, NAN, NAN], None, "confidence holds NaN: confidence[1] = nan (2 such); pass nan_policy="),
        ([0, NAN, 0], S, None, "loss holds NaN: loss[1] = nan (1 such); remove these samples or repair the labels"),
        ([0, 1, INF], S, None, "loss is not finite: loss[2] = inf (1 such); clip the loss"),
        ([-1, 0, -3], S, None, "loss is negative: loss[0] = -1.0 (2 such); losses are >= 0: shift it"),
        ([0, -INF, 0], S, None, "loss is not finite: loss[1] = -inf (1 such)"),
        ([0, 1, 1], S, [1, NAN, 1], "sample_weight is not finite: sample_weight[1] = nan (1 such); give finite"),
        ([0, 1, 1], S, [1, 1, INF], "sample_weight is not finite: sample_weight[2] = inf (1 such); give finite"),
        ([0, 1, 1], S, [1, 1, -2], "sample_weight is negative: sample_weight[2] = -2.0 (1 such); give finite"),
        ([0, 1, 1], S, [0, 0, 0], "sample_weight sums to 0; at least one sample needs a positive weight"),
    ],
)
def test_bad_values(loss, confidence, weight, message, xp):
    """Lengths, NaN, infinities, negative values and empty columns, in every array library."""
    columns = [None if each is None else xp.asarray(each, dtype=xp.float64) for each in (loss, confidence, weight)]
    for options in ({}, {"keep_samples": True, "oracle": True, "moments": True}):
        refused(ValueError, re.escape(message), TieBlocks.from_samples, *columns, **options)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([0.0, -1.0, 0.0], [NAN, 0.2, NAN]), r"loss is negative: loss\[1\] = -1.0 \(1 such\)"),
        (([0.0, 1.0, NAN], [NAN, 0.2, NAN]), r"loss holds NaN: loss\[2\] = nan \(1 such\)"),
        (([0.0, 1.0], [NAN, NAN]), 'confidence is NaN for every sample; nan_policy="drop" leaves nothing'),
        (([0.0, 1.0], [NAN, 0.5], [1.0, 0.0]), "sample_weight sums to 0"),
    ],
)
def test_what_is_left_of_samples_without_a_score_is_checked(columns, message, xp):
    """A bad loss is refused at the caller's position, whether or not its sample or one before it has a score."""
    columns = [xp.asarray(each) for each in columns]
    refused(ValueError, message, TieBlocks.from_samples, *columns, nan_policy="drop")
    if "loss" in message:
        refused(ValueError, message, TieBlocks.from_samples, *columns, nan_policy="reject")


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        (["a", "b"], TypeError, "{} must be numeric, got dtype <U1; convert it to numbers first"),
        (np.array(["0.1", "0.2"]), TypeError, "{} must be numeric, got dtype <U3"),
        ([0.5, "b"], TypeError, "{} must be numeric, got dtype <U32"),
        (np.array([0.5, "b"], dtype=object), TypeError, "{} must be numeric, but it holds 'b' of type str"),
        ([1j, 0], TypeError, "{} must be numeric, got dtype complex128"),
        (np.array(["2020-01-01"] * 2, dtype="M8[D]"), TypeError, "{} must be numeric, got dtype datetime64[D]"),
        ({0.1, 0.2}, TypeError, "{} must be numeric, but it holds {{0.1, 0.2}} of type set"),
        ([[1, 2], [3]], ValueError, "{} is ragged: its rows have different lengths; pass one number per sample"),
        (0.5, ValueError, SINGLE),
    ],
    ids=["strings", "digits", "mixed", "objects", "complex", "dates", "set", "ragged", "scalar"],
)
@pytest.mark.parametrize("name", ["loss", "confidence", "sample_weight"])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_columns_that_are_no_numbers(column, error, message, name, library):
    """Each argument refuses them under its own name, also beside tensors."""
    good = np.array([0.0, 1.0]) if library == "numpy" else torch.tensor([0.0, 1.0])
    columns = {"loss": good, "confidence": good, "sample_weight": good} | {name: column}
    refused(error, re.escape(message.format(name)), TieBlocks.from_samples, **columns)


def test_class_scores_that_are_none():
    refused(ValueError, "logits is ragged", matrix, [[1, 2], [3]], "logits")
    refused(TypeError, "logits is missing", matrix, None, "logits")
    refused(ValueError, r"logits must have shape \(n_samples, n_classes\), got \(2,\)", matrix, [0.1, 0.2], "logits")
    refused(ValueError, "logits is empty", matrix, np.empty((0, 3)), "logits")
    refused(TypeError, "holds 'x' of type str", matrix, pd.DataFrame({"a": [1], "b": ["x"]}), "logits")
    refused(TypeError, "got dtype complex64", matrix, torch.ones(2, 2, dtype=torch.complex64), "logits")


def test_tables_name_what_they_do_not_know():
    table = TieBlocks.from_samples([0], [1], keep_samples=True)
    bare = TieBlocks.from_samples([0.5, 1.0], [0.9, 0.5])
    refused(TypeError, r"dtype torch\.complex64", TieBlocks.from_samples, torch.tensor([0, 1]), torch.tensor([1j, 0]))
    refused(
        ValueError, r"'dropp' is not known; did you mean 'drop'\?", TieBlocks.from_samples, [0], [1], nan_policy="dropp"
    )
    refused(TypeError, r"merge takes tables, got list; unpack a list: first.merge\(\*others\)", table.merge, [table])
    refused(ValueError, r"lengths differ \(sample_weight: 2, loss: 1\)", table.reweight, [1, 1])
    refused(ValueError, "sample_weight sums to 0", table.reweight, [0])
    refused(ValueError, r"sample_weight is negative: sample_weight\[0\] = -1.0", table.reweight, [-1])
    refused(UnmetNeed, "needs the samples: build TieBlocks with keep_samples=True", bare.reweight, [1, 1])
    refused(UnmetNeed, "build TieBlocks with oracle=True", getattr, bare, "oracle")


def test_a_device_without_float64_names_the_remedy(monkeypatch):
    """Where float64 does not exist the message says to move the tensor."""
    import array_api_compat.torch

    def refuse(*_, **__):
        raise TypeError("Cannot convert a tensor to float64 as this framework doesn't support it")

    monkeypatch.setattr(array_api_compat.torch, "astype", refuse)
    said = r"loss cannot be converted to float64 on device cpu.*; move it to the CPU first"
    with pytest.raises(TypeError, match=said):
        TieBlocks.from_samples(torch.tensor([0.0, 1.0]), torch.tensor([0.1, 0.2]))
