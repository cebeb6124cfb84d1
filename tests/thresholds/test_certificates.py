"""Certificates against known truth: broken in at most delta of the repetitions, where naive rules break more."""

import math
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

import abstain
from abstain.thresholds import certified_band
from abstain.thresholds._certify import Search
from abstain.thresholds._evidence import STAKES, binomial, evidence, fewest, hoeffding_bentkus
from abstain.thresholds._fallback import schedule
from abstain.thresholds._procedures import bonferroni, fixed_sequence, sgr
from abstain.thresholds._sample import read
from tests.thresholds.populations import GRADED, POPULATIONS, Population
from tests.tiers import repeated

DELTA = 0.05


def worst(repetitions, delta=DELTA):
    """Return what a valid certificate exceeds in one of 10,000 simulations only."""
    return float(stats.binom.ppf(1.0 - 1e-4, repetitions, delta)) / repetitions


def default(loss, score, limit, delta):
    """Return the threshold of the default procedure."""
    return Search(read(loss, score), limit, delta).default().threshold


def violations(population, n, repetitions, rule):
    """Return the share of repetitions in which the guarantee is violated, by what the rule returns."""
    rng = np.random.default_rng(n)
    found = [rule(*population.draw(n, rng), population.limit, DELTA) for _ in range(repetitions)]
    return np.mean(population.violated(found), axis=0)


NAMED = {population.name: population for population in POPULATIONS}


@repeated(80, 2000)
@pytest.mark.parametrize("population", POPULATIONS, ids=lambda population: population.name)
def test_the_default_keeps_its_guarantee(population, repetitions):
    """At most delta, plus Monte Carlo error, at n = 100 and 1,000."""
    for n in (100, 1000):
        assert violations(population, n, repetitions, default) <= worst(repetitions), n


@pytest.mark.slow
@pytest.mark.parametrize("name", ["poor", "bad top", "ten levels"])
def test_the_default_keeps_its_guarantee_with_many_rows(name):
    """The same at n = 10,000, over 300 repetitions here and 2,000 in the benchmark."""
    assert violations(NAMED[name], 10000, 300, default) <= worst(300)


@repeated(300, 1000)
@pytest.mark.parametrize("name", ["just above the limit", "waves", "ten levels"])
def test_the_other_procedures_keep_theirs(name, repetitions):
    """The named procedures on the populations that are hardest for them."""

    def rule(loss, score, limit, delta):
        search = Search(read(loss, score), limit, delta)
        return [procedure(search).threshold for procedure in (fixed_sequence, bonferroni, sgr)]

    assert np.all(violations(NAMED[name], 1000, repetitions, rule) <= worst(repetitions))


@pytest.mark.slow
@pytest.mark.parametrize("population", GRADED, ids=lambda population: population.name)
@pytest.mark.parametrize("rule", [Search.default, partial(bonferroni, bound="hoeffding-bentkus")])
def test_real_losses_keep_theirs(population, rule):
    """Betting and Hoeffding-Bentkus on losses that are not 0/1."""

    def found(loss, score, limit, delta):
        return rule(Search(read(loss, score), limit, delta, max_loss=1.0)).threshold

    assert violations(population, 300, 1000, found) <= worst(1000)


@pytest.mark.usefixtures("threshold_alone")
@repeated(100, 300)
def test_weights_keep_the_guarantee_of_the_target_population(repetitions):
    """With known weights the risk of the shifted population is certified; without them it is broken."""
    rng, target = np.random.default_rng(5), NAMED["middling"]
    weighted = unweighted = 0
    for _ in range(repetitions):
        loss, score, weight = target.draw_shifted(2000, rng)
        given, known = {"risk": 0.05, "delta": 0.05}, {"sample_weight": weight, "max_weight": 2.0}
        weighted += target.violated(abstain.choose_threshold(loss, score, **given, **known).threshold)
        unweighted += target.violated(abstain.choose_threshold(loss, score, **given).threshold)
    assert weighted <= repetitions * worst(repetitions)
    assert unweighted > repetitions / 2


def test_conformal_risk_control_holds_on_average():
    """The mean generalized risk at its threshold is at most the limit, and not far below."""
    rng, population, found = np.random.default_rng(6), Population("middling", lambda u: 0.4 * u, 0.0), []
    for _ in range(1000):
        loss, score = population.draw(200, rng)
        coverage = population.coverage(abstain.thresholds.conformal_threshold(loss, score, 0.05).threshold)
        found.append(coverage * population.risk(coverage))
    assert 0.045 < np.mean(found) <= 0.05 + 3.0 * np.std(found) / 1000**0.5


@repeated(60, 300)
def test_the_band_holds_at_all_thresholds_together(repetitions):
    """Any threshold may be picked afterwards, also the one that looks best: broken in at most delta of repetitions."""
    rng = np.random.default_rng(7)
    grid = -np.linspace(0.02, 1.0, 200)
    for population in POPULATIONS[::3]:
        truth = population.risk(population.coverage(grid))
        failed = 0
        for _ in range(repetitions):
            band = certified_band(*population.draw(500, rng), delta=0.05)
            limits = np.where(population.coverage(grid) > 0.0, band.upper_at(grid), 1.0)
            failed += int(np.any(truth > limits + 1e-9))
        assert failed <= repetitions * worst(repetitions), population.name


# ---------------------------------------------------------------------- p-values


def test_p_values_are_valid_at_the_limit():
    """At a mean equal to the limit, a p-value is at most alpha with probability at most alpha."""
    rng = np.random.default_rng(8)
    for draw in (lambda: (rng.random(150) < 0.1).astype(float), lambda: rng.beta(0.2, 1.8, 150)):
        samples = [draw() for _ in range(2000)]
        totals = np.array([values.sum() for values in samples])
        p = {
            "hb": hoeffding_bentkus(np.full(2000, 150.0), totals, 0.1),
            "betting": np.exp([-evidence(values, np.array([150]), 0.1)[0] for values in samples]),
        }
        for (name, values), alpha in product(p.items(), (0.02, 0.05, 0.2)):
            assert np.mean(values <= alpha) <= worst(2000, alpha), (name, alpha)


def test_betting_is_its_formula():
    """The mean over stakes of the product over rows, at every set of first rows; the order within a set is nothing."""
    values = np.random.default_rng(3).beta(0.5, 4.5, 300)
    count = np.array([0, 1, 7, 300])
    for k, found in zip(count, np.exp(evidence(values, count, 0.1)), strict=True):
        wanted = np.mean([np.prod(1 + part / 0.9 * (0.1 - values[:k])) for part in STAKES])
        assert found == pytest.approx(wanted, rel=1e-9)
    assert evidence(values[::-1].copy(), np.array([300]), 0.1) == pytest.approx(evidence(values, np.array([300]), 0.1))
    assert evidence(values, count, 1.0).tolist() == [0.0] * 4


@given(
    limit=st.floats(1e-4, 0.999), surely=st.floats(1e-12, 0.5), more=st.floats(1.0, 10.0), seed=st.integers(0, 10**6)
)
def test_bounds_on_p_values_decide_as_they_do(limit, surely, more, seed):
    """No test is passed or failed for a bound that would not be by the p-value, at any level from ``surely`` on."""
    rng = np.random.default_rng(seed)
    count = np.floor(10.0 ** rng.uniform(0.0, 6.0, 200))
    errors = rng.binomial(count.astype(int), limit * rng.uniform(0.2, 1.1, 200).clip(max=1.0 / limit)).astype(float)
    exact, screened = binomial(count, errors, limit), binomial(count, errors, limit, surely)
    assert (screened >= exact * (1.0 - 1e-9)).all()
    np.testing.assert_array_equal(exact <= more * surely, screened <= more * surely)
    mean = np.minimum(errors / count, limit)  # Hoeffding's bound is what stands for a p-value that is surely below
    apart = special.rel_entr(mean, limit) + special.rel_entr(1.0 - mean, 1.0 - limit)
    bound = np.exp(-count * apart)
    wanted = np.where(bound <= surely * (1.0 - 1e-9), bound, exact)
    np.testing.assert_allclose(screened, wanted, rtol=1e-7, atol=1e-300)


def test_tails_are_those_of_exact_arithmetic():
    """Against exact sums of few terms, to 12 digits: far below the mean, at it, above it, and where all fail."""
    for n, limit in ((1, 0.5), (17, 0.3), (400, 0.05), (1500, 0.75), (20_000, 0.001)):
        wrong, all_ = limit.as_integer_ratio()  # whole numbers over all_**n: a fraction would be reduced at every step
        term = tail = (all_ - wrong) ** n
        tails = [tail]
        for k in range(min(n, 60)):
            term = term * (n - k) * wrong // ((k + 1) * (all_ - wrong))
            tail += term
            tails.append(tail)
        wanted = [each / all_**n for each in tails]
        found = binomial(np.full(len(wanted), float(n)), np.arange(float(len(wanted))), limit)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert binomial(np.array([5.0, 5.0]), np.array([5.0, 6.0]), 0.3).tolist() == [1.0, 1.0]


@given(limit=st.floats(1e-5, 0.9), level=st.floats(1e-6, 0.5), errors=st.integers(0, 4))
def test_fewest_trials_are_the_fewest(limit, level, errors):
    """With as many the tail is at most the level, with one less it is above."""
    least = fewest(limit, level, errors)
    assert stats.binom.cdf(errors, least, limit) <= level * (1.0 + 1e-8)
    assert least - 1 <= errors or stats.binom.cdf(errors, least - 1, limit) > level * (1.0 - 1e-8)


def broken_exactly(n, limit, delta, risk, scores):
    """Return how often a guarantee is broken whose population has a risk above the limit at every threshold.

    All rows have one score or two; errors first, so that a rule that looks at their order would see it.
    """
    one, total = int(np.sum(scores == scores.max())), 0.0
    for k, j in product(range(one + 1), range(n - one + 1)):
        share = stats.binom.pmf(k, one, risk) * stats.binom.pmf(j, n - one, risk)
        if share > 1e-12:
            loss = np.concatenate([np.arange(one) < k, np.arange(n - one) < j]).astype(float)
            total += share * (Search(read(loss, scores), limit, delta).default().threshold < np.inf)
    return total


@pytest.mark.parametrize(
    ("n", "limit", "delta"), [(66, 0.05, 0.1), (63, 0.1, 0.05), (252, 0.02, 0.05), (75, 0.05, 0.05)]
)
def test_one_score_for_all_rows_is_one_exact_test(n, limit, delta):
    """Enumerated, errors first: the cells in which pilots drawn from a fixed seed broke up to 35 %."""
    for score in (0.0, 1.0):
        broken = broken_exactly(n, limit, delta, 1.0005 * limit, np.full(n, score))
        assert broken <= delta
        assert broken > 0.2 * delta


def test_no_lot_is_drawn():
    """The order of the rows does not change a certificate or a band, of 0/1 losses, graded ones and weights."""
    rng = np.random.default_rng(9)
    score, order, weight = np.round(rng.random(800), 2), rng.permutation(800), 0.5 + rng.random(800)
    for loss, options in (
        ((rng.random(800) < 0.03).astype(float), {}),
        (rng.beta(0.2, 5.0, 800), {"max_loss": 1.0}),
        ((rng.random(800) < 0.02).astype(float), {"sample_weight": weight, "max_weight": 1.5}),
    ):
        mixed = options | ({"sample_weight": weight[order]} if "sample_weight" in options else {})
        found = abstain.choose_threshold(loss, score, risk=0.1, delta=0.05, **options)
        again = abstain.choose_threshold(loss[order], score[order], risk=0.1, delta=0.05, **mixed)
        assert found.attainable
        assert found.threshold == again.threshold
        one, two = (certified_band(loss[rows], score[rows], max_loss=1.0) for rows in (slice(None), order))
        np.testing.assert_array_equal(one.threshold, two.threshold)
        np.testing.assert_allclose(one.between, two.between, rtol=1e-12)


def test_the_band_of_one_score_is_one_exact_bound():
    """Enumerated at n = 125, errors first, where a pilot of a fixed seed failed in 12 % at delta 10 %."""
    n, risk, failed = 125, 0.05, 0.0
    for k in range(n + 1):
        band = certified_band(np.arange(n) < k, np.ones(n), delta=0.1)
        failed += stats.binom.pmf(k, n, risk) * (band.upper_at([1.0])[0] < risk)
    assert failed <= 0.1


def test_a_schedule_depends_on_n_limit_and_delta_only():
    """Ascending ranks within n, shares that add up to delta/(1 + delta), or delta for one; none below the fewest."""
    rank, share = schedule(30, 0.05, 0.5)  # with room for one error it would take 33: so it has none
    assert (rank.tolist(), share.tolist()) == ([14], [0.5])
    for n in (10, 58, 59, 80, 150, 300, 420, 777, 1000, 10_000, 10**6):
        for limit, delta in product((0.001, 0.02, 0.05, 0.2), (0.01, 0.05, 0.2)):
            rank, share = schedule(n, limit, delta)
            assert (len(rank) > 0) == (n >= fewest(limit, delta)), (n, limit, delta)
            if len(rank):
                assert np.all(np.diff(rank) >= 0)
                assert 1 <= rank[0] <= rank[-1] <= n
                assert share.sum() == pytest.approx(delta if len(rank) == 1 else delta / (1 + delta))
                assert all(fewest(limit, float(s)) <= m for m, s in zip(rank, share, strict=True))


@repeated(200, 1000)
def test_what_is_certified_where_the_limit_is_not(repetitions):
    """The smallest risk and the coverages beside it hold together, and tell how many rows would do."""
    rng, missed, population = np.random.default_rng(12), 0, NAMED["three levels"]
    for _ in range(repetitions):
        loss, score = population.draw(300, rng)
        found = abstain.choose_threshold(loss, score, risk=0.002, delta=DELTA)
        assert not found.attainable
        assert found.best is None
        coverage = population.coverage([one.threshold + 1e-7 for one in found.attained])  # without that level
        truth = np.where(coverage > 0.0, population.risk(coverage), 0.0)
        missed += bool(np.any(truth > np.array([one.risk for one in found.attained]) + 1e-9))
    assert missed / repetitions <= worst(repetitions)
    few, none = (abstain.choose_threshold(x * np.ones(40), np.arange(40.0), risk=0.05, delta=0.05) for x in (0, 1))
    assert (few.rows_needed, none.rows_needed) == ((59, None), None)


def test_the_rows_needed_are_a_range():
    """As many rows as its upper end, with the same errors, are certified; fewer than its lower end are not."""
    loss = np.zeros(400)
    loss[50::50] = 1.0  # 2 % at every coverage
    found = abstain.choose_threshold(loss, np.arange(400.0), risk=0.06, delta=1e-5)
    assert not found.attainable
    assert found.rows_needed[0] < found.rows_needed[1]
    times = -(-found.rows_needed[1] // 400)
    many = np.tile(loss, times)
    assert abstain.choose_threshold(many, np.arange(400.0 * times), risk=0.06, delta=1e-5).attainable
    loss[:200:10] = 1.0  # 10 % in the lower half: a ranking by chance would have no number
    assert abstain.choose_threshold(loss, np.arange(400.0), risk=0.021, delta=0.05).rows_needed[1] is None


@pytest.mark.parametrize("digits", [1, 6])
def test_a_plan_tells_the_sizes_at_which_growing_samples_are_certified(digits):
    """Of 100 populations, the pilot's rows and one more error in random shares; its rows tie again only if they did."""
    rng = np.random.default_rng(1)
    score, loss = np.sort(np.round(rng.random(20), digits))[::-1], np.isin(np.arange(20), [10, 13, 16, 17, 19])
    loss = loss[np.lexsort((loss, -score))]
    sizes, draws, least = [], np.random.default_rng(7), math.log(0.2) / math.log(0.6)
    for _ in range(100):
        share, place = np.cumsum(draws.dirichlet(np.ones(21))), draws.integers(20)
        pool, rows = (np.append(score, score[place]), np.append(loss, 1.0)), np.zeros((3, 0))
        for step in range(68):  # at most 60,000 rows
            more = math.ceil(math.ceil(least) * 1.15**step) - rows.shape[1]
            chosen = np.minimum(np.searchsorted(share, draws.random(more)), 20)
            rows = np.append(rows, [pool[0][chosen], pool[1][chosen], draws.random(more)], axis=1)
            order = np.lexsort((rows[2], -rows[0]))
            ranked = rows[0][order] if digits == 1 else -np.arange(len(order))
            if np.mean(ranked >= default(rows[1][order], ranked, 0.4, 0.2)) > 0.4:
                break
        sizes.append(len(order))
    found = abstain.thresholds.plan_certificate(loss, score, risk=0.4, delta=0.2, coverage=0.4, rng=7)
    assert (found.low, found.n, found.high) == tuple(np.quantile(sizes, (0.1, 0.8, 0.9), method="higher"))
