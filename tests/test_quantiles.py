"""Critical values and p-values of Student's t."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from abstain._quantiles import t_quantile, t_tails


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
