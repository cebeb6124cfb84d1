"""Standard errors and intervals of the bootstrap: by simulation with known truth, and what it says of thin data."""

import sys

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

import abstain
from abstain.inference import bootstrap
from abstain.inference._bootstrap import _bca, _left_out, _share_below
from abstain.inference._influence import terms_of
from abstain.inference._resample import Sampling
from tests.inference.populations import POPULATIONS
from tests.refusal import refused


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("metric", ["augrc", "auroc_f"])
def test_a_difference_by_bootstrap_has_the_spread_of_its_replicates(metric, clustered):
    """Of clusters K/(K - 1) of their variance; k/(k - 1) of the error where k errors decide; percentiles as ends."""
    rng = np.random.default_rng(0)
    loss, unit = (rng.random(120) < 0.2) * 1.0, np.arange(120) // 4 if clustered else None
    scores = {name: rng.random(120) - 0.3 * loss for name in ("a", "b")}
    options = {"n_resamples": 400, "rng": 5, "clusters": unit}
    found = abstain.compare(loss, scores, metric, method="bootstrap", **options)
    one = found.difference("a", "b")
    drawn = {name: bootstrap(metric, loss, each, **options) for name, each in scores.items()}
    apart = loss - loss.mean()
    number = np.sum(apart**2) ** 2 / np.sum(apart**4)
    factor = np.sqrt(30 / 29) if clustered else 1.0
    df = 29.0 if clustered else 119.0
    if metric == "auroc_f":
        factor, df = factor * number / (number - 1.0), min(df, number - 1.0)
    gap = factor * np.std(drawn["a"].replicates - drawn["b"].replicates, ddof=1)
    assert one.standard_error == one.error_test == pytest.approx(gap, rel=1e-9)
    assert one.df == pytest.approx(df, rel=1e-9)
    assert one.p_value == pytest.approx(2.0 * stats.t.sf(abs(one.difference) / gap, df), rel=1e-6)
    reach = stats.t.ppf(0.975, df) * gap
    assert (one.low, one.high) == pytest.approx((one.difference - reach, one.difference + reach), rel=1e-6)
    for row in found.table:
        each = drawn[row["name"]]
        ends = np.quantile(each.replicates, (0.025, 0.975), method="weibull")
        assert (row["low"], row["high"]) == pytest.approx(tuple(ends), rel=1e-12)
        assert row["standard_error"] == pytest.approx(factor * np.std(each.replicates, ddof=1), rel=1e-9)


@pytest.mark.parametrize(("n", "said"), [(39, False), (38, True)])
def test_an_end_that_is_the_most_extreme_replicate_says_so(n, said):
    """A tail of 2.5 % is that of one of forty."""
    found = bootstrap("augrc", [0, 1, 0, 0] * 20, range(80), n_resamples=n).interval(0.95)
    assert ("the most extreme replicate" in str(found.warning)) == said


@pytest.mark.parametrize("clusters", [None, np.arange(90) // 3])
def test_bca_is_its_formula(clusters):
    """Efron's, from the influences of rows or the sums of clusters."""
    rng = np.random.default_rng(2)
    loss, score = (rng.random(90) < 0.2) * 1.0, rng.random(90)
    result = bootstrap("augrc", loss, score, clusters=clusters, n_resamples=500)
    terms = abstain.inference.influence("augrc", loss, score)
    terms = terms if clusters is None else np.bincount(clusters, terms)
    acceleration = np.sum(terms**3) / (6.0 * np.sum(terms**2) ** 1.5)
    drawn = result.replicates
    bias = ndtri(np.mean(drawn < result.estimate - 1e-12) + 0.5 * np.mean(np.abs(drawn - result.estimate) <= 1e-12))
    shifted = bias + ndtri([0.05, 0.95])
    tails = ndtr(bias + shifted / (1.0 - acceleration * shifted))
    found = result.interval(0.9, "bca")
    assert abs(acceleration) > 0.02
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, tails, method="weibull")), rel=1e-9)
    assert (found.method, found.standard_error) == ("BCa", pytest.approx(np.std(drawn, ddof=1), rel=1e-12))


def test_replicates_equal_to_the_estimate_count_half():
    """A replicate may miss the estimate by rounding only."""
    assert _bca(np.array([0.025, 0.975]), 1.0, 0.0) is None
    assert _share_below(np.array([0.1, 0.2, 0.2 + 1e-15, 0.3]), 0.2) == 0.5


def test_left_out_values_agree_with_the_influence():
    """The jackknife is near the influence function: the same acceleration, with clusters and strata as without."""
    rng = np.random.default_rng(6)
    loss, score = POPULATIONS[3].draw(300, rng)
    for options in ({}, {"clusters": rng.integers(0, 60, 300)}, {"strata": rng.integers(0, 3, 300)}):
        result = bootstrap("augrc", loss, score, n_resamples=100, **options)
        terms = terms_of(result.metric, result._column.blocks, Sampling.of(result._column.order.size, **options))
        left_out = _left_out(result.metric, result._column, result._plan)
        if not options:
            assert np.corrcoef(terms, left_out)[0, 1] > 0.9999
        skew = [np.sum(each**3) / np.sum(each**2) ** 1.5 for each in (terms, left_out)]
        np.testing.assert_allclose(*skew, rtol=0.1, atol=0.005)


def test_bca_of_a_metric_without_gradient():
    """Left out one by one on few samples; refused with a remedy on many."""
    few, many = (POPULATIONS[3].draw(n, np.random.default_rng(7)) for n in (150, 3000))
    interval = bootstrap("fpr95_error", *few, n_resamples=300).interval(0.9, "bca")
    assert interval.low <= interval.estimate <= interval.high
    said = 'leave out 3000 samples one by one; use method="percentile"'
    refused(abstain.UnmetNeed, said, bootstrap("fpr95_error", *many, n_resamples=100).interval, method="bca")


def test_no_error_gives_a_bound_and_no_score_a_reason():
    """Without spread: the binomial bound; undefined on the data: NaN with the reason."""
    for given in ({}, {"clusters": np.arange(50) // 2}):
        drawn = bootstrap("augrc", np.zeros(50), range(50), **given).interval()
        plain = abstain.confidence_interval("augrc", np.zeros(50), range(50), **given)
        assert (drawn.method, drawn.high) == ("binomial bound", pytest.approx(plain.high, rel=1e-9))
    undefined = bootstrap("auroc_f", np.zeros(50), range(50), n_resamples=100).interval()
    assert np.isnan(undefined.low)
    assert "no failure to detect" in undefined.warning


def test_few_resamples_and_few_clusters_are_said():
    """Below 100 resamples and below ten clusters a warning; of fewer than six no interval."""
    loss, score, n = *POPULATIONS[3].draw(90, np.random.default_rng(0)), np.arange(90)
    designs = [({}, 99, "only 99 resamples: use 1000"), ({"clusters": n % 9}, 100, "only 9 clusters")]
    designs += [
        ({"clusters": n % 2}, 100, "no interval and no p-value: it rests on about 2 clusters; give at least 6 of")
    ]
    designs += [({"strata": n == 0}, 100, "the smallest stratum holds 1 sample(s)"), ({"strata": n // 10}, 100, "")]
    for design, number, said in designs:
        found = bootstrap("aurc", loss, score, n_resamples=number, **design).interval()
        assert said in str(found.warning)
        assert np.isnan(found.low) == ("no interval" in said)
        assert said or "stratum" not in str(found.warning)


def test_numba_is_asked_for_by_name(monkeypatch):
    """NumPy under "auto" where the work is small or there is no numba; a remedy under "numba"."""
    assert bootstrap("aurc", [0, 1], [1, 2], n_resamples=4).backend == "numpy"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert bootstrap("aurc", [0, 1], [1, 2], n_resamples=4).backend == "numpy"
    with pytest.raises(ImportError, match=r'pip install "\.\[fast\]" in the checkout, or use backend="numpy"'):
        bootstrap("aurc", [0, 1], [1, 2], backend="numba")


def test_the_progress_bar_is_for_terminals(monkeypatch, capsys):
    """Nothing is written into a file or a pipe; a terminal gets a bar on standard error."""
    bootstrap("aurc", [0, 1], [1, 2], n_resamples=40, progress=True)
    assert capsys.readouterr() == ("", "")
    pytest.importorskip("rich")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bootstrap("aurc", [0, 1], [1, 2], n_resamples=40, progress=True)
    output, error = capsys.readouterr()
    assert output == ""
    assert "Resampling" in error
    assert error.endswith("\x1b[2K")  # the bar does not stay
