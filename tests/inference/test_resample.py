"""Counts of many rows are drawn in blocks: the multinomial distribution, by NumPy and compiled the same numbers."""

from itertools import product
from math import factorial
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from abstain.inference import _resample, replicates
from abstain.inference._resample import LANES, Sampling, resampling
from abstain.inference._scans import _tally as kernel
from abstain.inference._scans import tally


def in_python(inside: Any, place: Any, count: Any) -> None:
    """The compiled kernel without a compiler."""
    kernel(inside, place, count, _resample.BLOCK)


def counts(n: int, n_resamples: int, seed: int = 0, tally: Any = None, **groups: Any) -> np.ndarray:
    """All counts of a plan, shape (n_resamples, n)."""
    chunks = resampling(n, Sampling.of(n, **groups)).chunks(n_resamples, np.random.default_rng(seed), tally)
    return np.concatenate([part.copy() for _, part in chunks])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of two rows, from the first row on."""
    monkeypatch.setattr(_resample, "BLOCK", 2)
    monkeypatch.setattr(_resample, "MANY", 1)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("n", [4, 5])
def test_counts_have_the_probabilities_of_the_multinomial(n: int) -> None:
    """Every outcome of n draws, enumerated: a chi-square test of two blocks, without and with a row beside them."""
    n_resamples = 20_000
    outcomes = [each for each in product(range(n + 1), repeat=n) if sum(each) == n]
    found = dict.fromkeys(outcomes, 0)
    for row in counts(n, n_resamples, seed=3).tolist():
        found[tuple(row)] += 1
    share = [factorial(n) / np.prod([factorial(c) for c in each]) / n**n for each in outcomes]
    assert sum(share) == pytest.approx(1.0)
    wanted = n_resamples * np.array(share)
    assert wanted.min() > 5.0
    statistic = float(np.sum((np.array(list(found.values())) - wanted) ** 2 / wanted))
    assert 0.001 < chi2.sf(statistic, len(outcomes) - 1) < 0.999


@pytest.mark.parametrize("n", [4096, 5000])
def test_every_row_of_full_blocks_is_as_likely(n: int) -> None:
    """Blocks of 256: a chi-square test of all rows, of rows by their place in a block, and of the spread of counts."""
    n_resamples = 640
    drawn = counts(n, n_resamples, seed=1)
    assert (drawn.sum(axis=1, dtype=int) == n).all()
    total = drawn.sum(axis=0, dtype=int)
    place = np.bincount(np.arange(n)[n % 256 :] % 256, total[n % 256 :])
    for found in (total, place[place > 0]):
        share = found.sum() / found.size
        assert 0.001 < chi2.sf(np.sum((found - share) ** 2) / share, found.size - 1) < 0.999
    squares = np.mean(drawn.astype(float) ** 2, axis=1)  # sum of c^2: mean 2n - 1, variance 2n to first order
    assert np.mean(squares) == pytest.approx(2.0 - 1.0 / n, abs=5.0 * np.sqrt(2.0 / n / n_resamples))
    assert np.var(squares) == pytest.approx(2.0 / n, rel=5.0 * np.sqrt(2.0 / n_resamples))


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_both_ways_of_counting_are_the_same_numbers(bits: Any) -> None:
    """Full blocks, rows beside them, more than one chunk, any generator: counted by NumPy and by the kernel."""
    for n in (4096, 4099):
        one, other = (
            np.concatenate([part.copy() for _, part in resampling(n).chunks(35, np.random.Generator(bits(2)), way)])
            for way in (None, in_python)
        )
        assert one.shape == (35, n)
        np.testing.assert_array_equal(one, other)


def test_strata_and_clusters_of_many_units() -> None:
    """Strata keep their sizes and clusters stay together where units are drawn in blocks."""
    n = 13_000
    stratum = np.arange(n) % 2
    drawn = counts(n, 3, strata=stratum)
    assert (drawn[:, stratum == 0].sum(axis=1, dtype=int) == n // 2).all()
    assert (drawn[:, stratum == 1].sum(axis=1, dtype=int) == n // 2).all()
    drawn = counts(n, 3, clusters=np.arange(n) // 2)
    np.testing.assert_array_equal(drawn[:, ::2], drawn[:, 1::2])
    assert (drawn[:, ::2].sum(axis=1, dtype=int) == n // 2).all()


def test_compiled_replicates_are_those_of_numpy() -> None:
    """The same seed on either backend, on enough rows for blocks, plain, in strata, in clusters and weighted."""
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    n = 10_100
    score = rng.random(n)
    loss = (rng.random(n) > score).astype(float)
    groups = [
        {},
        {"strata": rng.random(n) < 0.45},
        {"clusters": rng.integers(0, 5000, n)},
        {"sample_weight": rng.exponential(size=n)},
    ]
    for columns in groups:
        one, other = (
            replicates(["aurc", "augrc"], [(loss, score)], n_resamples=LANES + 2, rng=5, backend=backend, **columns)
            for backend in ("numpy", "numba")
        )
        np.testing.assert_allclose(one, other, rtol=1e-12)
    _, here = next(resampling(n).chunks(3, np.random.default_rng(1), tally))
    np.testing.assert_array_equal(here, counts(n, 3, seed=1))
