"""The table against a slow reference, what must not change it, and the order of any scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from abstain import TieBlocks
from abstain.blocks._parts import _by_one_sort, pack, unpack
from tests.blocks.reference import assert_same, assert_same_flags, slow_table
from tests.strategies import WEIGHTS, Problem, partitions, problems


@given(problems(weights=WEIGHTS))
def test_flags_tell_what_the_sums_cannot(problem):
    """``binary`` and ``frequencies`` are read off the samples, ``n`` off the blocks that are left."""
    table = problem.table()
    assert table.binary == bool(np.isin(problem.loss, [0.0, 1.0]).all())
    assert table.frequencies == (problem.weight is None or bool((problem.weight % 1.0 == 0.0).all()))
    assert table.n == sum(slow_table(*problem)["count"])
    assert len(table) == len(table.score)
    assert table.distinct_share == len(table) / table.n
    assert table.largest_tie == table.count.max()


@given(problems(weights=WEIGHTS), st.data())
def test_merging_any_parts_gives_the_whole(problem, data):
    """With any losses and weights the merged table agrees to rounding, and so does its optimum."""
    parts = _parts(problem, data)
    tables = [part.table(moments=True, oracle=True) for part in parts]
    merged, whole = tables[0].merge(*tables[1:]), _whole(parts).table(moments=True, oracle=True)
    assert_same(merged, whole)
    assert merged.binary == whole.binary
    assert merged.frequencies == whole.frequencies
    _assert_same_ranking(merged.oracle, whole.oracle)


def _parts(problem, data):
    """Divide a problem; a part that weighs nothing has no table, so it is left out."""
    parts = [problem.rows(index) for index in data.draw(partitions(len(problem.loss)))]
    return [part for part in parts if part.weight is None or part.weight.sum() > 0.0]


def _whole(parts):
    """Join the parts, without rows of a score that weighs nothing in a part (their count is not kept)."""
    kept = []
    for part in parts:
        if part.weight is not None:
            heavy = [part.weight[part.confidence == score].sum() > 0.0 for score in part.confidence]
            part = part.rows(np.array(heavy))
        kept.append(part)
    columns = [None if column[0] is None else np.concatenate(column) for column in zip(*kept, strict=True)]
    return Problem(*columns)


def _assert_same_ranking(table, expected):
    """The same blocks in the same order; the scores of an optimum only have to be in order."""
    np.testing.assert_allclose(table.weight, expected.weight, rtol=1e-13)
    np.testing.assert_allclose(table.loss, expected.loss, rtol=1e-13, atol=0.0)
    np.testing.assert_array_equal(np.diff(table.score) < 0.0, np.full(len(table) - 1, True))


def test_a_merge_of_unlike_parts():
    """A part with 0/1 losses needs no loss-ordered table to contribute to the merged one; half of the moments go."""
    graded = TieBlocks.from_samples([0.5, 0.0], [0.9, 0.1], oracle=True)
    merged = graded.merge(TieBlocks.from_samples([1, 0], [0.4, 0.2], oracle=True)).oracle
    assert (merged.loss.tolist(), merged.weight.tolist()) == ([0.0, 0.5, 1.0], [2.0, 1.0, 1.0])
    with_moments = TieBlocks.from_samples([1, 0], [0.4, 0.2], moments=True)
    assert with_moments.merge(TieBlocks.from_samples([1], [0.4])).moments is None
    assert with_moments.merge().moments is not None
    reject, drop = (TieBlocks.from_samples([1, 0], [0.5, np.nan], nan_policy=each) for each in ("reject", "drop"))
    whole = reject.merge(drop, reject)
    assert (whole.n, whole.n_rejected, whole.n_dropped) == (5, 2, 1)


@given(problems(losses=["binary"]), st.booleans())
def test_the_short_cut_for_failures_is_the_general_path(problem, moments):
    """Two plain sorts of 0/1 losses give the bits that sorting the samples gives, cumulative sums included."""
    short, general = problem.table(moments=moments), problem.table(moments=moments, keep_samples=True)
    assert_same(short, general, exact=True)
    assert_same_flags(short, general)
    for name in ("cumulative_weight", "cumulative_loss"):
        np.testing.assert_array_equal(getattr(short, name), getattr(general, name), strict=True)
        np.testing.assert_array_equal(getattr(short, name), np.cumsum(getattr(short, name[len("cumulative_") :])))


def test_small_losses_survive_beside_large_ones():
    """Block sums are added up block by block: a difference of cumulative sums would lose 1e-12 beside 1e12."""
    table = TieBlocks.from_samples([1e12, 1e12, 1e-12, 1e-12], [0.9, 0.9, 0.1, 0.1])
    np.testing.assert_array_equal(table.loss, [2e12, 2e-12])


@given(problems(weights=WEIGHTS))
def test_the_random_reference_holds_everything_in_one_block(problem):
    """``constant`` has the totals of the table, rows included."""
    table = problem.table()
    assert (table.constant.total_weight, table.constant.total_loss) == (table.total_weight, table.total_loss)
    assert (table.constant.n, table.constant.largest_tie) == (table.n, table.n)
    for other in (table.constant, *([table.oracle] if table.binary else [])):
        assert (other.binary, other.frequencies) == (table.binary, table.frequencies)


def test_what_is_given_back_is_computed_again_and_what_is_asked_for_once_is_kept():
    table = TieBlocks.from_samples([0, 1, 1], [0.9, 0.5, 0.5])
    names = ("selective_risk", "cumulative_weight", "cumulative_loss")
    before = [getattr(table, name).tolist() for name in names]
    table._let_go(sums=False)
    assert [name in table.__dict__ for name in names] == [False, True, True]
    assert (table.once("a", lambda: 1), table.once("a", lambda: 2), table.once("b", lambda: 3)) == (1, 1, 3)
    table._let_go()
    assert not any(name in table.__dict__ for name in names)
    assert [getattr(table, name).tolist() for name in names] == before


def test_a_table_is_never_changed():
    """Neither its columns nor its sums can be written to, however it was built; the caller's arrays still can."""
    loss, score = np.array([0.0, 1.0, 1.0]), np.array([0.9, 0.5, 0.5])
    plain = TieBlocks.from_samples(loss, score, keep_samples=True)
    own = TieBlocks(score[:2], score[:2], score[:2], score[:2], binary=False)
    for table in (plain, plain.merge(plain), plain.reweight([1, 2, 3]), plain.oracle, plain.constant, own):
        for name in ("score", "weight", "loss", "count", "cumulative_weight", "cumulative_loss", "selective_risk"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(table, name)[0] = 7.0
    score[0] = loss[0] = 0.5


# ---------------------------------------------------------------------- the order of scores


EDGES = [0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, np.finfo(float).max, np.finfo(float).min, 1.0, np.nextafter(1, 0)]
FLOATS = st.one_of(st.floats(allow_nan=False), st.sampled_from(EDGES), st.floats(0.999999999, 1.0))


def check(score):
    """The rows are those of the obvious stable sort, and the caller's scores are as they were."""
    before = score.tobytes()
    order, ranked = _by_one_sort(score)
    expected = np.argsort(-score, kind="stable")
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(ranked, score[expected])
    assert not np.signbit(ranked[ranked == 0.0]).any()
    assert score.tobytes() == before


@given(hnp.arrays(np.float64, st.integers(1, 60), elements=FLOATS))
def test_any_floats(score):
    """Infinities, zeros of both signs, subnormals and neighbours, in every company."""
    check(score)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 1023, 1024, 1025, 70_000])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.random(n),
        lambda rng, n: rng.normal(size=n),
        lambda rng, n: np.round(rng.normal(size=n), 1),
        lambda rng, n: rng.random(n).astype(np.float32).astype(np.float64),
        lambda rng, n: 10.0 ** rng.uniform(-300, 300, n) * rng.choice([-1.0, 1.0], n),
        lambda rng, n: -1.0 - rng.random(n),
        lambda rng, n: np.full(n, 0.5),
    ],
    ids=["uniform", "normal", "ties", "float32", "magnitudes", "negative", "constant"],
)
def test_sizes_around_powers_of_two(draw, n):
    """The row takes as many bits as there are rows."""
    check(draw(np.random.default_rng(n), n))


#: Of both signs, whose bits differ by less and by more than the keys can hold.
EXTREME = [sign * size for sign in (1.0, -1.0) for size in (0.0, 5e-324, 1e-300, 1e-155, 1e-3, 1.0, 2.0, 1e155, np.inf)]


def test_scores_too_close_for_the_bits_are_put_right():
    """One outlier stretches the scale so far that neighbours of 1 share a number; they still come in order."""
    score = 1.0 - np.random.default_rng(0).integers(0, 400, 5000) * 2.0**-53
    score[17], score[18] = -np.inf, 1e300
    check(score)


@pytest.mark.parametrize("high", EXTREME)
def test_packed_keys_hold_scores_of_any_size(high):
    """Two scores and their failures come back in order, or the keys are said not to fit."""
    for low in EXTREME:
        score, failed = np.array([low, high, low]), np.array([True, False, False])
        key, count, wrong = np.empty(3, np.int64), np.empty(3), np.empty(3)
        highest, fits = pack(score.view(np.int64), failed, key)
        assert fits or not {low, high} <= {1e-3, 1.0, 2.0}
        if fits:
            key.sort()
            n = unpack(key, highest, count, wrong)
            expected = sorted({low, high}, reverse=True)
            assert key[:n].view(np.float64).tolist() == expected
            assert count[:n].tolist() == [2.0 * (each == low) + (each == high) for each in expected]
            assert wrong[:n].tolist() == [float(each == low) for each in expected]
