"""Own quantile functions against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from abstain._quantiles import beta_cdf, beta_quantile, normal_quantile, t_quantile

SHAPES = st.floats(0.25, 5e4)


@given(st.floats(1e-6, 1 - 1e-6), SHAPES, SHAPES)
def test_beta_cdf_is_scipys(x, a, b):
    """The continued fraction agrees with scipy over shapes of all sizes."""
    assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-8, abs=1e-12)


@given(st.floats(0.001, 0.999), st.integers(0, 5000), st.integers(1, 5000))
def test_beta_quantile_is_scipys(p, errors, right):
    """Clopper-Pearson's quantiles agree with scipy for all counts."""
    assert beta_quantile(p, errors + 1, right) == pytest.approx(special.betaincinv(errors + 1, right, p), rel=1e-9)


@given(st.floats(0.5, 0.999), st.floats(0.5, 1e5))
def test_t_quantile_is_scipys(level, df):
    """Student's t agrees with scipy for small, fractional and large degrees of freedom."""
    assert t_quantile(level, df) == pytest.approx(stats.t.ppf(0.5 * (1 + level), df), rel=1e-8)


def test_extremes():
    """A million samples, no errors, and infinitely many degrees of freedom."""
    assert beta_quantile(0.975, 1, 10**6) == pytest.approx(special.betaincinv(1, 10**6, 0.975), rel=1e-9)
    assert beta_quantile(0.975, 5 * 10**5, 5 * 10**5) == pytest.approx(
        special.betaincinv(5 * 10**5, 5 * 10**5, 0.975), rel=1e-9
    )
    assert t_quantile(0.95, np.inf) == normal_quantile(0.975) == pytest.approx(stats.norm.ppf(0.975))
    assert (beta_cdf(0.0, 2, 3), beta_cdf(1.0, 2, 3)) == (0.0, 1.0)
