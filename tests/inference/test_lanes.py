"""The compiled kernels and NumPy's scan read the same formulas; run here as plain Python too."""

import numpy as np
import pytest
from hypothesis import given

from abstain.inference._resample import LANES, resampling
from abstain.inference._scans import TINY, Column, _tied, _untied, scan, scan_lanes, tally
from tests.strategies import Problem, problems


def sums_by_definition(column: Column, count: np.ndarray) -> np.ndarray:
    """Weight, loss sum, sum_k M_k S_k / N_k and sum_k M_k (S_k - s_k / 2) of one replicate."""
    table = column.table(count)
    if table is None:
        return np.zeros(4)
    scale = 1.0 if column.weight is None else column.weight.size / column.weight.sum()
    M, s = table.weight * scale, table.loss * scale
    N, S = np.cumsum(M), np.cumsum(s)
    return np.array([N[-1], S[-1], M @ (S / N), M @ (S - 0.5 * s)])


@given(
    problem=problems(losses=["binary", "graded", "repeated"], weights=["none", "positive", "with_zeros"], min_size=2)
)
def test_kernels_in_python_equal_the_definition(problem: Problem) -> None:
    """Ties, weights, zero counts first, remainders of four: without a compiler."""
    column = Column.of(problem.loss, problem.confidence, problem.weight, oracle=False)
    n = column.order.size
    _, counts = next(resampling(n).chunks(2, np.random.default_rng(0)))
    lanes = np.zeros((n, LANES), np.uint8)
    lanes[:, :2] = counts.T
    wanted = np.array([sums_by_definition(column, count) for count in counts]).T
    weight = np.ones(n) if column.even is None else column.even
    N, S, A, G = np.full(LANES, TINY), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    _tied(lanes, column.order, weight, column.loss, column.last, N, S, A, G)
    np.testing.assert_allclose(np.array([N, S, A, G])[:, :2], wanted, rtol=1e-12, atol=1e-12 * n)
    np.testing.assert_allclose(np.array(scan(column, counts, True)), wanted, rtol=1e-12, atol=1e-12 * n)
    if column.starts is None and column.even is None:
        N, S, A, G = np.full(LANES, TINY), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
        _untied(lanes, column.order, column.loss, N, S, A, G)
        np.testing.assert_allclose(np.array([N, S, A, G])[:, :2], wanted, rtol=1e-12, atol=1e-12 * n)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("kind", ["binary", "real"])
def test_compiled_equals_numpy_on_many_samples(tied: bool, kind: str) -> None:
    """20,000 samples: the sums stay within 1e-12, and lanes without a replicate stay out of the result."""
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    score = rng.random(20_000)
    loss = (rng.random(20_000) > score).astype(float) if kind == "binary" else rng.exponential(size=20_000)
    column = Column.of(loss, np.round(score, 2) if tied else score, None, oracle=False)
    _, counts = next(resampling(20_000).chunks(7, rng, tally))
    compiled, numpy = scan_lanes(column, counts), scan(column, counts, True)
    for one, other in zip(compiled, numpy, strict=True):
        assert one.shape == (7,)
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_what_is_summed_in_integers_is_exact() -> None:
    """Totals and AUGRC sums of 0/1 losses are integers and halves: equal bit for bit."""
    rng = np.random.default_rng(1)
    loss, score = (rng.random(3000) < 0.2).astype(float), rng.random(3000)
    column = Column.of(loss, score, None, oracle=False)
    _, counts = next(resampling(3000).chunks(20, rng))
    found = scan(column, counts, True)
    for r, count in enumerate(counts):
        weight, total, _, generalized = sums_by_definition(column, count)
        assert (found.weight[r], found.loss[r], found.generalized[r]) == (weight, total, generalized)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["binary", "real", "none wrong"])
def test_replicates_scanned_together_are_those_scanned_alone(
    tied: bool, weighted: bool, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit, also of the last ones, which do not fill the lanes, and where the first draws come late."""
    rng = np.random.default_rng(2)
    score, weight = rng.random(300), rng.exponential(size=300) if weighted else None
    loss = {"binary": rng.random(300) < 0.2, "real": rng.exponential(size=300), "none wrong": np.zeros(300)}[kind]
    column = Column.of(loss, np.round(score, 2) if tied else score, weight, oracle=False)
    _, counts = next(resampling(300).chunks(20, rng))
    counts[3, column.order[:50]] = 0
    found = []
    for together in (1, 7 * 300, 1 << 14):
        monkeypatch.setattr("abstain.inference._scans.TOGETHER", together)
        found.append([scan(column, counts, selective) for selective in (True, False)])
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
    assert np.isnan(found[0][1].selective).all()
    assert not np.isnan(found[0][0]).any()
