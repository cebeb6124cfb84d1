"""Replicates equal the metric on resampled rows, on every path; the counts of a resample are multinomial."""

from itertools import product
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import abstain
from abstain._checks import Undefined
from abstain.inference import _resample, _scans, bootstrap, replicates
from abstain.inference._resample import LANES, Sampling, resampling
from abstain.inference._scans import TINY, Column, _tally, _tied, _untied, scan, tally
from abstain.metrics import get
from abstain.metrics import names as metric_names
from tests.metrics._problems import families, problems_for
from tests.strategies import problems

TABLE_METRICS = [get(name) for name in metric_names() if get(name).input == "blocks"]


def by_hand(metrics, problem, count):
    """The metrics on the arrays in which each sample is repeated as often as it was drawn."""
    drawn = problem.rows(np.repeat(np.arange(count.size), count))
    if drawn.weight is not None and drawn.weight.sum() == 0.0:
        return [np.nan for _ in metrics]
    table, found = abstain.TieBlocks.from_samples(drawn.loss, drawn.confidence, drawn.weight, oracle=True), []
    for metric in metrics:
        try:
            found.append(float(metric.value(table, **metric.options)))
        except Undefined:
            found.append(0.0 if metric.name == "coverage_at_risk" else np.nan)
    return found


@pytest.mark.parametrize("metrics", families(TABLE_METRICS))
@given(data=st.data())
def test_replicates_equal_the_metric_on_resampled_arrays(metrics, data):
    """Weights, ties, infinities, graded losses: a resample is the table under other counts."""
    problem = data.draw(problems_for(metrics[0], min_size=2))
    if any(metric.name in ("naurc", "naugrc") for metric in metrics):
        problem = problem._replace(loss=np.round(problem.loss, 3))
    given = {"sample_weight": problem.weight, "n_resamples": 5, "rng": 3}
    found = replicates(list(metrics), [(problem.loss, problem.confidence)], **given)[:, 0]
    wanted = [by_hand(metrics, problem, count) for count in counts(problem.loss.size, 5, 3)]
    size = max(1.0, float(np.max(problem.loss)))
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11 * size)


# ---------------------------------------------------------------------- counts


def test_chunks_are_one_stream():
    """The counts do not depend on where a chunk ends, and each row is a bincount of n integers."""
    rng = np.random.default_rng(8)
    wanted = [np.bincount(rng.integers(0, 11, 11), minlength=11) for _ in range(70)]
    np.testing.assert_array_equal(counts(11, 70, 8), wanted)


@pytest.mark.parametrize("n", [8, 13_000])
def test_clusters_within_strata(n):
    """The number of clusters per stratum is fixed, also where units are drawn in blocks; clusters stay together."""
    cluster = np.array([0, 0, 1, 2, 2, 2, 3, 4]) if n == 8 else np.arange(n) // 2
    strata = cluster * 2 // (cluster.max() + 1) if n > 8 else (cluster > 1) * 1
    drawn = counts(n, 60 if n == 8 else 3, 2, strata=strata, clusters=cluster).astype(int)
    _, first = np.unique(cluster, return_index=True)
    np.testing.assert_array_equal(drawn, drawn[:, first[cluster]])
    for each in (0, 1):
        chosen = first[strata[first] == each]
        assert (drawn[:, chosen].sum(axis=1) == chosen.size).all()


def in_python(inside, place, count):
    """The compiled kernel without a compiler."""
    _tally(inside, place, count, _resample.BLOCK)


def counts(n, n_resamples, seed=0, tally=None, **groups):
    """All counts of a plan, shape (n_resamples, n)."""
    chunks = resampling(n, Sampling.of(n, **groups)).chunks(n_resamples, np.random.default_rng(seed), tally)
    return np.concatenate([part.copy() for _, part in chunks])


@pytest.fixture
def small(monkeypatch):
    """Blocks of two rows, from the first row on."""
    monkeypatch.setattr(_resample, "BLOCK", 2)
    monkeypatch.setattr(_resample, "MANY", 1)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("n", [4, 5])
def test_counts_have_the_probabilities_of_the_multinomial(n):
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
def test_every_row_of_full_blocks_is_as_likely(n):
    """Blocks of 256: a chi-square test of all rows, and of the spread of counts."""
    drawn = counts(n, 640, seed=1).astype(float)
    assert (drawn.sum(axis=1) == n).all()
    assert 0.001 < chi2.sf(np.sum((drawn.sum(axis=0) - 640) ** 2 / 640), n - 1) < 0.999
    squares = np.mean(drawn**2, axis=1)  # sum of c^2: mean 2n - 1, variance 2n to first order
    assert np.mean(squares) == pytest.approx(2.0 - 1.0 / n, abs=5.0 * np.sqrt(2.0 / n / 640))


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_both_ways_of_counting_are_the_same_numbers(bits):
    """Full blocks, rows beside them, more than one chunk, any generator: counted by NumPy and by the kernel."""
    for n in (4096, 4099):
        chunks = [resampling(n).chunks(35, np.random.Generator(bits(2)), way) for way in (None, in_python)]
        one, other = (np.concatenate([part.copy() for _, part in each]) for each in chunks)
        assert one.shape == (35, n)
        np.testing.assert_array_equal(one, other)


def test_compiled_replicates_are_those_of_numpy():
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
        given = {"n_resamples": LANES + 2, "rng": 5, **columns}
        asked = ["aurc", "augrc"], [(loss, score)]
        one, other = (replicates(*asked, backend=backend, **given) for backend in ("numpy", "numba"))
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert bootstrap("aurc", [0, 1], [1, 2], n_resamples=4, backend="numba").backend == "numba"
    _, here = next(resampling(n).chunks(3, np.random.default_rng(1), tally))
    np.testing.assert_array_equal(here, counts(n, 3, seed=1))


# ---------------------------------------------------------------------- the scans


def sums_by_definition(column, count):
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
def test_kernels_in_python_equal_the_definition(problem):
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
@pytest.mark.parametrize("kind", ["binary", "real", "none wrong", "weighted"])
def test_replicates_scanned_together_are_those_scanned_alone(tied, kind, monkeypatch):
    """To the bit, also of the last ones, and where the first draws come late; so many values are held at once."""
    rng = np.random.default_rng(2)
    score, weight = rng.random(300), rng.exponential(size=300) if kind == "weighted" else None
    loss = (rng.random(300) < 0.2) * (rng.exponential(size=300) if kind == "real" else kind != "none wrong")
    column = Column.of(loss, np.round(score, 2) if tied else score, weight, oracle=False)
    _, counts = next(resampling(300).chunks(20, rng))
    counts[3, column.order[:50]] = 0
    found, sizes = [], []
    monkeypatch.setattr(_scans, "_scan", lambda *each, plain=_scans._scan: (sizes.append(len(each[1])), plain(*each)))
    for together in (1, 7 * 300, 1 << 14):
        monkeypatch.setattr(_scans, "TOGETHER", together)
        found.append([scan(column, counts, selective) for selective in (True, False)])
    assert sizes == 2 * [1] * 20 + 2 * [7, 7, 6] + 2 * [20]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
    assert np.isnan(found[0][1].selective).all()
