"""Kept samples, other weights, the loss-ordered table."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain import TieBlocks
from abstain._checks import to_numpy
from tests.blocks.reference import assert_same, assert_same_flags
from tests.paths import PATHS, taken
from tests.strategies import WEIGHTS, problems, weights


@given(problems(losses=["binary"], weights=["none"]))
def test_compiled_tables_have_the_same_bits(problem):
    """Ties, both zeros, infinities, and scores of both signs, whose distance takes more bits than a key has."""
    found = []
    for path in PATHS:
        with taken(path):
            table = problem.table()
        columns = (table.score, table.weight, table.loss, table.count)
        found.append([np.ascontiguousarray(column).tobytes() for column in columns])
    assert all(each == found[0] for each in found)


@given(problems(weights=["none", "positive"]))
def test_kept_samples_point_at_their_blocks(problem):
    """Block ids are in the caller's order, the sort order is descending, columns are as given."""
    table = problem.table(keep_samples=True)
    samples = table.samples
    np.testing.assert_array_equal(table.score[samples.block], problem.confidence)
    np.testing.assert_array_equal(np.sort(samples.order), np.arange(len(problem.loss)))
    np.testing.assert_array_equal(problem.confidence[samples.order], np.sort(problem.confidence)[::-1])
    np.testing.assert_array_equal(samples.loss, problem.loss)
    if problem.weight is None:
        assert samples.sample_weight is None
    else:
        np.testing.assert_array_equal(samples.sample_weight, problem.weight)


@pytest.mark.filterwarnings("ignore:confidence holds only 0 and 1")  # such problems are drawn, too
@given(problems(weights=WEIGHTS), st.data())
def test_reweighting_is_rebuilding(problem, data):
    """Other weights give the table that a new sort would give, again and again, whatever was dropped before."""
    options = {"keep_samples": True, "moments": True, "oracle": True}
    table = problem.table(**options)
    for _ in range(2):
        kind = data.draw(st.sampled_from(WEIGHTS[1:]))
        weight = np.array(data.draw(weights(kind, len(problem.loss))))
        table = table.reweight(weight)
        rebuilt = problem._replace(weight=weight).table(**options)
        assert_same(table, rebuilt)
        assert_same_flags(table, rebuilt)
        assert_same(table.oracle, rebuilt.oracle)
        np.testing.assert_array_equal(table.samples.block, rebuilt.samples.block)


def test_reweighting_keeps_the_counts_of_unscored_samples():
    """What a NaN policy did stays on record; dropped samples take no new weight."""
    rejected, dropped = (
        TieBlocks.from_samples([0, 1], [0.5, np.nan], nan_policy=each, keep_samples=True) for each in ("reject", "drop")
    )
    assert rejected.reweight([1, 2]).n_rejected == 1
    assert dropped.reweight([2]).n_dropped == 1


@pytest.mark.parametrize("options", [{}, {"keep_samples": True, "oracle": True, "moments": True}])
def test_the_callers_arrays_are_never_changed(options, xp):
    """Inputs keep their values (-0.0 and NaN included), even where the result shares their type."""
    columns = [[1.0, 0.0, 1.0, 0.0], [-0.0, 0.0, float("nan"), -1.0], [1.0, 2.0, 0.0, 1.0]]
    arrays = [xp.asarray(column, dtype=xp.float64) for column in columns]
    TieBlocks.from_samples(*arrays, nan_policy="reject", **options)
    for array, column in zip(arrays, columns, strict=True):
        np.testing.assert_array_equal(to_numpy(array), column)
        np.testing.assert_array_equal(np.signbit(to_numpy(array)), np.signbit(column))


def test_kept_samples_do_not_change_with_the_callers_arrays(xp):
    """The table is a value: writing to the inputs afterwards changes nothing in it."""
    loss, weight, fresh = (xp.asarray([1.0, 0.0], dtype=xp.float64) for _ in range(3))
    table = TieBlocks.from_samples(loss, xp.asarray([0.9, 0.5]), weight, keep_samples=True)
    again = table.reweight(fresh)
    for array in (loss, weight, fresh):
        array[0] = 7.0
    for samples in (table.samples, again.samples):
        np.testing.assert_array_equal(to_numpy(samples.loss), [1.0, 0.0])
        np.testing.assert_array_equal(to_numpy(samples.sample_weight), [1.0, 0.0])


# ---------------------------------------------------------------------- the loss-ordered table


@given(problems(weights=WEIGHTS), st.booleans())
def test_the_oracle_is_the_table_ordered_by_loss(problem, keep_samples):
    """The optimum ranks by the losses themselves: score = -loss."""
    oracle = problem.table(oracle=True, keep_samples=keep_samples).oracle
    expected = TieBlocks.from_samples(problem.loss, -problem.loss, problem.weight)
    for name in ("score", "weight", "loss"):
        np.testing.assert_allclose(getattr(oracle, name), getattr(expected, name), rtol=1e-13, atol=0.0)


@pytest.mark.parametrize("policy", ["raise", "reject", "drop"])
def test_an_order_that_is_found_later_is_the_one_that_is_found_at_once(policy):
    """Tables of 0/1 losses without weights may leave their order for later: nothing else about them differs."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 30, 5000):
        score = np.round(rng.normal(size=n), int(rng.integers(0, 4)) if n > 2 else 3)
        if policy != "raise" and n > 2:
            score[::7] = np.nan
        loss = (rng.random(n) < 0.3).astype(float)
        later = TieBlocks._of_rows(loss, score, None, policy)
        once = TieBlocks.from_samples(loss, score, nan_policy=policy, keep_samples=True, oracle=True)
        for name in ("score", "weight", "loss", "count", "cumulative_weight", "cumulative_loss"):
            np.testing.assert_array_equal(getattr(later, name), getattr(once, name))
        assert type(later.samples).__name__ == "Unsorted"
        np.testing.assert_array_equal(later.samples.loss, once.samples.loss)
        np.testing.assert_array_equal(later.samples.block, once.samples.block)
        np.testing.assert_array_equal(later.score[later.samples.block], later.samples.score + 0.0)
        weight = rng.random(once.n)
        np.testing.assert_array_equal(later.reweight(weight).loss, once.reweight(weight).loss)
        score[:], loss[:] = 7.0, 0.0  # the caller's
        np.testing.assert_array_equal(later.samples.loss, once.samples.loss)
        np.testing.assert_array_equal(later.score[later.samples.block], later.samples.score + 0.0)
        copied = pickle.loads(pickle.dumps(later))
        np.testing.assert_array_equal(copied.samples.block, once.samples.block)
