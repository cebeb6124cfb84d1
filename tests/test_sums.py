"""Cumulative sums in rows of eight: those of NumPy, exact for whole numbers, never decreasing."""

import numpy as np
import pytest

from abstain._sums import cumulative, inner, mapped, ones

SIZES = [1, 7, 8, 4095, 4096, 4103, 4104, 10_001]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("backwards", [False, True])
def test_sums_are_those_of_numpy(n, backwards):
    """Every size, with and without a rest, and a column that is a view."""
    values = np.random.default_rng(n).exponential(size=n)
    values = values[::-1] if backwards else values
    given = values.copy()
    np.testing.assert_allclose(cumulative(values), np.cumsum(values), rtol=1e-13)
    np.testing.assert_array_equal(values, given)


def test_sums_never_decrease_and_stand_still_on_zeros():
    """A curve over coverage must not wiggle by rounding."""
    rng = np.random.default_rng(0)
    values = np.where(rng.random(50_000) < 0.5, 0.0, 10.0 ** rng.uniform(-12, 3, 50_000))
    steps = np.diff(cumulative(values))
    assert (steps >= 0.0).all()
    assert (steps[values[1:] == 0.0] == 0.0).all()


@pytest.mark.parametrize("n", SIZES)
def test_ones_are_those_of_numpy_and_take_no_memory(n):
    """A column of ones gives the same bits in products, keeps its form when mapped, and is nobody's to write to."""
    values, one = np.random.default_rng(n).normal(size=n), ones(n)
    assert one.strides == mapped(one, lambda each: each / 3.0).strides == (0,)
    assert inner(one, values) == inner(np.ones(n), values)
    assert inner(one, values[::-1]) == inner(np.ones(n), values[::-1])
    np.testing.assert_array_equal(mapped(one, lambda each: each / 3.0), np.ones(n) / 3.0)
    np.testing.assert_array_equal(mapped(values, np.exp), np.exp(values))
    with pytest.raises(ValueError, match="read-only"):
        one[0] = 2.0
