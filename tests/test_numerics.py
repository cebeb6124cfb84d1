"""Cumulative sums, Student's t, the examples that tests draw, and a numba that cannot be loaded."""

import importlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from abstain._quantiles import t_quantile, t_tails
from abstain._sums import cumulative, inner, mapped, ones

SIZES = [1, 7, 8, 4095, 4096, 4103, 4104, 10_001]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("step", [1, -1])
def test_sums_are_those_of_numpy(n, step):
    """Every size, with and without a rest, and a column that is a view."""
    values = np.random.default_rng(n).exponential(size=n)[::step]
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
    third = mapped(one, lambda each: each / 3.0)
    assert one.strides == third.strides == (0,)
    assert not one.flags.writeable
    for column in (values, values[::-1]):
        assert inner(one, column) == inner(np.ones(n), column)
        assert inner(third, column) == inner(np.ones(n) / 3.0, column)
    np.testing.assert_array_equal(third, np.ones(n) / 3.0)
    np.testing.assert_array_equal(mapped(values, np.exp), np.exp(values))


@given(st.floats(0.5, 0.999), st.floats(0.5, 1e5))
def test_t_quantile(level, df):
    """The share of a Student's t within the value is the level, for small, fractional and large degrees of freedom."""
    assert t_quantile(level, df) == pytest.approx(stats.t.ppf(0.5 * (1 + level), df), rel=1e-9)
    assert t_tails(t_quantile(level, df), df) == pytest.approx(1.0 - level, rel=1e-9)


def test_infinitely_many_degrees_of_freedom_are_the_normal_distribution():
    """The limit that the other values tend to, on either side of the number from which it is used."""
    assert t_quantile(0.95, np.inf) == pytest.approx(stats.norm.ppf(0.975), rel=1e-12)
    assert t_quantile(0.95, 9e11) == pytest.approx(t_quantile(0.95, np.inf), rel=1e-11)
    assert t_tails(-2.0, np.inf) == pytest.approx(2.0 * stats.norm.sf(2.0), rel=1e-12)
    assert t_tails(2.0, 9e11) == pytest.approx(t_tails(2.0, np.inf), rel=1e-10)


def drawn():
    """Return what one test draws."""
    found = []

    @settings(max_examples=200, derandomize=True, database=None)
    @given(st.integers(), st.floats(), st.text())
    def take(whole, real, text):
        found.append((whole, repr(real), text))

    take()
    return found


def test_draws_do_not_depend_on_the_modules_imported_before(tmp_path, monkeypatch):
    """A module full of constants, imported between two runs, changes no example."""
    before = drawn()
    constants = "\n".join(f"X{i} = ({1000 + i}, {i}.5, 'word {i}')" for i in range(300))
    (tmp_path / "constants_of_ours.py").write_text(constants)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("constants_of_ours")
    assert drawn() == before
    del sys.modules["constants_of_ours"]


def test_a_numba_that_cannot_be_loaded_is_not_tried_again(tmp_path):
    """It may take a second each time."""
    (tmp_path / "numba.py").write_text("print('tried')\nraise ImportError('for another NumPy')\n", encoding="utf-8")
    code = "from abstain import _fast\nassert [_fast.kernel(len, 10, (0, 0)) for _ in range(3)] == [None] * 3"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["tried"]
