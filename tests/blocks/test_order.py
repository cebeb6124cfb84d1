"""Scores in falling order by one sort of whole numbers: the order of a stable sort, for every float there is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from abstain.blocks import _parts
from abstain.blocks._parts import _by_one_sort

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
    rng = np.random.default_rng(0)
    score = 1.0 - rng.integers(0, 400, 5000) * 2.0**-53
    score[17], score[18] = -np.inf, 1e300
    check(score)


@pytest.mark.parametrize("high", EXTREME)
def test_packed_keys_hold_scores_of_any_size(high):
    """Two scores and their failures come back in order, or the keys are said not to fit."""
    for low in EXTREME:
        score, failed = np.array([low, high, low]), np.array([True, False, False])
        key, count, wrong = np.empty(3, np.int64), np.empty(3), np.empty(3)
        highest, fits = _parts.pack(score.view(np.int64), failed, key)
        assert fits or not {low, high} <= {1e-3, 1.0, 2.0}
        if fits:
            key.sort()
            n = _parts.unpack(key, highest, count, wrong)
            expected = sorted({low, high}, reverse=True)
            assert key[:n].view(np.float64).tolist() == expected
            assert count[:n].tolist() == [2.0 * (each == low) + (each == high) for each in expected]
            assert wrong[:n].tolist() == [float(each == low) for each in expected]
