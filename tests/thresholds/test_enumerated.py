"""Certificates against plain products and enumeration: nothing here is computed by the package but the answer."""

import math
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats

import abstain
from abstain import thresholds


@pytest.mark.parametrize("counted", [False, True])
def test_bets_are_products_over_rows(counted):
    """Certified if and only if the mean of five products reaches 1/delta, also where equal rows come as a count."""
    loss, limit = [0.0] * 9 + [0.3] + [1.0] * 2 + [0.1] * 5, 0.5
    rates = [stake / (1.0 - limit) for stake in (0.98, 0.6, 0.35, 0.2, 0.1)]
    evidence = sum(math.prod(1.0 + rate * (limit - value) for value in loss) for rate in rates) / 5.0
    columns = {"loss": loss, "confidence": [0.7] * len(loss)}
    rows = {"frame": pl.DataFrame(columns).lazy()} if counted else columns
    for delta, certified in ((1.0 / evidence * (1.0 + 1e-9), True), (1.0 / evidence * (1.0 - 1e-9), False)):
        found = abstain.choose_threshold(**rows, risk=limit, delta=delta, max_loss=1.0)
        assert found.attainable == certified


@pytest.mark.parametrize(("limit", "delta", "n"), [(0.5, 0.2, 7), (0.3, 0.3, 8)])
def test_bets_on_a_small_population_fail_as_seldom_as_stated(limit, delta, n):
    """Every sample of losses 0, 1/2 and 1 whose mean is the limit, enumerated with its probability; one score."""
    chance = {0.0: 1.0 - 1.5 * limit, 0.5: limit, 1.0: 0.5 * limit}
    failed = 0.0
    for zeros in range(n + 1):
        for halves in range(n - zeros + 1):
            ones = n - zeros - halves
            many = math.factorial(n) / (math.factorial(zeros) * math.factorial(halves) * math.factorial(ones))
            share = many * chance[0.0] ** zeros * chance[0.5] ** halves * chance[1.0] ** ones
            loss = [0.0] * zeros + [0.5] * halves + [1.0] * ones
            found = abstain.choose_threshold(loss, [0.7] * n, risk=limit, delta=delta, max_loss=1.0)
            failed += share * found.attainable
    assert 0.0 < failed <= delta


def test_two_levels_are_certified_as_enumeration_says():
    """Two scores, 40 rows each: the default answer against binomial tests written out, for every number of errors."""
    limit, delta = 0.1, 0.2

    def tail(errors, n):
        return sum(math.comb(n, k) * limit**k * (1.0 - limit) ** (n - k) for k in range(errors + 1))

    score = np.repeat([1.0, 0.0], 40)
    for high, low in product(range(8), range(8)):
        loss = np.r_[np.arange(40) < high, np.arange(40) < low]
        found = abstain.choose_threshold(loss, score, risk=limit, delta=delta).threshold
        alone, together = tail(high, 40), tail(high + low, 80)
        if found == 0.0:
            assert together <= delta
        elif found == 1.0:
            assert alone <= delta
        if max(alone, together) <= 0.5 * delta / (1.0 + delta):  # a share that every start has at least
            assert found == 0.0


def hoeffding_bentkus(total, n, limit):
    """Return the p-value of a mean above the limit, of n values in [0, 1] with this sum."""
    mean = min(total / n, limit)
    apart = (mean * math.log(mean / limit) if mean else 0.0) + (1.0 - mean) * math.log((1.0 - mean) / (1.0 - limit))
    return min(1.0, math.exp(-n * apart), math.e * float(stats.binom.cdf(math.ceil(total - 1e-9), n, limit)))


def p_value(kind, loss, limit):
    """Return the p-value of losses up to 2, or of 0/1 losses, whose mean is above the limit."""
    if not loss.size:
        return 1.0
    if kind == "graded":
        return hoeffding_bentkus(float(loss.sum()) / 2.0, loss.size, limit)
    return float(stats.binom.cdf(loss.sum(), loss.size, limit))


def walked(p, gain):
    """Return the last that passes: each start adds its share, which goes on from test to test until one fails."""
    level, best = 0.0, -1
    for k, (value, more) in enumerate(zip(p, gain, strict=True)):
        level += more
        best, level = (k, level) if level > 0.0 and value <= level else (best, 0.0)
    return best


@pytest.mark.parametrize("digits", [1, 6])
@pytest.mark.parametrize("graded", [False, True])
def test_each_procedure_is_its_algorithm(graded, digits):
    """Threshold by threshold: halving (SGR), equal shares at ranks or at given thresholds, one sequence, fallback."""
    seen = {}
    for seed in range(14):
        rng = np.random.default_rng(seed)
        n, limit, delta = int(rng.integers(20, 120)), float(rng.choice([0.1, 0.2])), float(rng.choice([0.05, 0.3]))
        score = np.round(rng.random(n), digits)
        wrong = rng.random(n) < rng.choice([0.05, 0.4]) * (1.0 - score)
        loss = wrong * (rng.choice([0.5, 2.0], n) if graded else 1.0)
        tested = np.unique(score)[::-1]
        count = [int(np.sum(score >= each)) for each in tested]
        fixed = np.sort(rng.random(5))[::-1]
        options = {"risk": limit * (2.0 if graded else 1.0), "delta": delta}
        options |= {"max_loss": 2.0, "bound": "hoeffding-bentkus"} if graded else {}
        kind = "graded" if graded else "binary"
        p, p_fixed = ([p_value(kind, loss[score >= each], limit) for each in some] for some in (tested, fixed))
        many = math.ceil(math.sqrt(n))
        shares = [0.0] * len(tested)
        for rank in (math.ceil(k * n / many) for k in range(1, many + 1)):
            shares[max(sum(each <= rank for each in count) - 1, 0)] += delta / many
        passed = [k for k, (value, share) in enumerate(zip(p, shares, strict=True)) if share and value <= share]
        passed_fixed = [k for k, value in enumerate(p_fixed) if value <= delta / 5]
        bonferroni, given = thresholds.bonferroni_threshold, {"thresholds": fixed[::-1], **options}
        chosen = thresholds.prespecified_threshold(loss, score, fixed, **options)
        wanted = [
            (bonferroni(loss, score, **options), tested, passed[-1] if passed else -1),
            (bonferroni(loss, score, **given), fixed, passed_fixed[-1] if passed_fixed else -1),
            (chosen, fixed, walked(p_fixed, [delta / 5] * 5)),
        ]
        if not graded:
            steps, low, high, found = max(1, math.ceil(math.log2(n))), 1, n, -1
            for _ in range(steps):  # Geifman & El-Yaniv's Algorithm 1, of rows by ascending score
                middle = math.ceil((low + high) / 2)
                k = int(np.flatnonzero(tested == np.sort(score)[middle - 1])[0])
                low, high, found = (low, middle, max(found, k)) if p[k] < delta / steps else (middle, high, found)
            wanted.append((thresholds.sgr_threshold(loss, score, **options), tested, found))
            sequence = thresholds.fixed_sequence_threshold(loss, score, **given)
            wanted.append((sequence, fixed, walked(p_fixed, [delta, 0.0, 0.0, 0.0, 0.0])))
        for result, of, position in wanted:
            assert result.threshold == (np.inf if position < 0 else of[position]), (seed, result.procedure)
            kept = score >= result.threshold
            assert (result.n_accepted, result.coverage) == (int(kept.sum()), pytest.approx(kept.mean()))
            assert (result.risk_limit, result.delta, result.attainable) == (options["risk"], delta, position >= 0)
            seen.setdefault(result.procedure, []).append(position)
    assert all(min(each) == -1 < max(each) for each in seen.values())


def test_a_certificate_says_what_its_rows_show():
    """The ranking with its interval; without a certificate how many rows it takes, and the least risk of as many."""
    for seed, rate, limit in ((0, 0.3, 0.1), (1, 0.3, 0.01), (2, 0.05, 0.01), (3, 0.5, 0.3), (4, 0.0, 0.001)):
        rng = np.random.default_rng(seed)
        score = np.round(rng.random(300), 2)
        loss = (rng.random(300) < 2.0 * rate * (1.0 - score)) * 1.0
        found = abstain.choose_threshold(loss, score, risk=limit, delta=0.05)
        least = math.ceil(math.log(0.05) / math.log(1.0 - limit))
        enough = [loss[score >= each].mean() for each in np.unique(score) if np.sum(score >= each) >= least]
        if found.attainable:
            assert found.least is None
            assert found.rows_needed is None
        else:
            assert found.least == ((least, pytest.approx(min(enough))) if enough else None)
        if (found.attainable and loss.mean() > limit) or not loss.any():
            assert found.ranking is None
        else:
            auroc = abstain.confidence_interval("auroc_f", loss, score)
            assert found.ranking == pytest.approx((auroc.estimate, auroc.low, auroc.high))
    n, delta = np.arange(200), {"risk": 0.1, "delta": 0.05}
    for wrong, score in ((n == 0, n), (n > -1, n), (n == 9, np.where(n == 4, -np.inf, n))):  # all accepted, all wrong
        assert abstain.choose_threshold(wrong, score, **delta).ranking is None
    for few, words in ((28, "28 calibration rows are too few: even without an error 29"), (29, "no threshold passed")):
        assert words in abstain.choose_threshold(n[:few] == 9, n[:few], **delta).reason
    wrong, score = np.r_[n[:30] < 3, n[:30] < 15], np.repeat([1.0, 0.0], 30)
    for risk, told in ((0.1, False), (0.101, True)):  # no number of rows of which a tenth is wrong has less
        notes = "\n".join(abstain.choose_threshold(wrong, score, risk=risk, delta=0.05).notes())
        assert ("if errors lie as in these; not certain even then" in notes) == told
    equal = abstain.choose_threshold(np.arange(50) % 2.0, np.ones(50), risk=0.1, delta=0.05)
    assert (equal.ranking, equal.least, equal.useless) == ((0.5, 0.5, 0.5), (29, 0.5), True)


@pytest.mark.parametrize("n", [1, 5, 9, 10, 11, 37])
def test_the_nine_bins_of_calibration_are_near_the_deciles(n):
    """Of rows with a score the one at each tenth, by descending score, once; with how many lie at or above it."""
    rng = np.random.default_rng(n)
    score = np.r_[np.round(rng.random(n), 1), np.nan]
    loss = rng.random(n + 1) < 0.2
    found = abstain.choose_threshold(loss, score, coverage=0.1, nan_policy="reject").calibration
    ranked = np.sort(score[:n])[::-1]
    edges = sorted({float(ranked[k * n // 10]) for k in range(1, 10)})
    assert found.bins == tuple((edge, int(np.sum(score >= edge))) for edge in edges)
    assert (found.n, found.n_unscored, found.n_dropped) == (n + 1, 1, 0)
    dropped = abstain.choose_threshold(loss, score, coverage=0.1, nan_policy="drop").calibration
    assert (dropped.n, dropped.n_unscored, dropped.n_dropped, dropped.bins) == (n, 0, 1, found.bins)


def upper_limit(loss, level, graded):
    """Return the largest mean of losses up to 2, or of 0/1 losses, that a test at this level does not reject."""
    count, total = loss.size, float(loss.sum())
    if not graded:
        return float(stats.beta.ppf(1.0 - level, total + 1.0, count - total)) if total < count else 1.0
    low, high = (total / 2.0 / count if count else 0.0), 1.0
    if low == 1.0:
        return 2.0
    for _ in range(45):
        middle = 0.5 * (low + high)
        rejected = count and hoeffding_bentkus(total / 2.0, count, middle) <= level
        low, high = (low, middle) if rejected else (middle, high)
    return 2.0 * high


@pytest.mark.parametrize("digits", [1, 6])
@pytest.mark.parametrize("graded", [False, True])
def test_a_band_is_pinned_at_ranks_and_bounded_between(graded, digits):
    """Above each fixed rank an exact limit; between two the lower one by the share that lies above; all together."""
    rng = np.random.default_rng(3)
    n, top, delta = 130, 2.0 if graded else 1.0, 0.1
    score = np.round(rng.random(n), digits)
    loss = (rng.random(n) < 0.4 * (1.0 - score)) * (rng.choice([0.5, 2.0], n) if graded else 1.0)
    options = {"max_loss": 2.0} if graded else {}
    first = np.argsort(-score)[
        :13
    ]  # all that the first rank accepts is wrong, and all but one of the second; or nothing
    loss[first] = top * (digits > 1) * (np.arange(13) != 9)
    band = thresholds.certified_band(loss, score, delta=delta, **options)
    shares = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
    rank = sorted({math.ceil(share * n) for share in shares} | {n})
    each, falling = delta / (2 * len(rank)), np.append(np.sort(score)[::-1], -np.inf)
    pins = {}
    for k, r in enumerate(rank):
        kept = score > falling[r]
        upper = upper_limit(loss[kept], each, graded) if kept.any() else top
        between = top if k == 0 else min(top, upper / stats.beta.ppf(each, rank[k - 1] + 1.0, r - rank[k - 1]))
        pins.setdefault(float(np.nextafter(falling[r], np.inf)), (kept.mean(), upper, between))
    found = dict(zip(band.threshold.tolist(), zip(band.coverage, band.upper, band.between, strict=True), strict=True))
    assert list(found) == list(pins)
    for at, expected in pins.items():
        assert found[at] == pytest.approx(expected, rel=1e-6)
    for at in (2.0, *np.linspace(0.95, 0.05, 10), *pins, -1e308):
        lower = [pin for pin in pins if pin <= at]
        wanted = top if not lower else pins[lower[0]][1 if lower[0] == at else 2]
        assert band.upper_at([at])[0] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("n", [200, 12])
def test_what_is_certified_instead_is_at_twelve_ranks(n, graded):
    """The least limit of all, and the largest coverage within one and a half, two and four times that."""
    rng = np.random.default_rng(5)
    score = np.round(rng.random(n), 2)
    loss = (rng.random(n) < 0.5 * (1.0 - score)) * (2.0 if graded else 1.0)
    found = abstain.choose_threshold(loss, score, risk=0.002, delta=0.05, **({"max_loss": 2.0} if graded else {}))
    rank = sorted({round(each) for each in np.geomspace(min(20, n), n, 12)})
    falling = np.append(np.sort(score)[::-1], -np.inf)
    kept = [score > falling[r] for r in rank]
    upper = [upper_limit(loss[rows], 0.05 / len(rank), graded) for rows in kept]
    wanted = dict.fromkeys(max(k for k, each in enumerate(upper) if each <= by * min(upper)) for by in (1, 1.5, 2, 4))
    assert [one.risk for one in found.attained] == pytest.approx([upper[k] for k in wanted], rel=1e-6)
    assert [one.coverage for one in found.attained] == pytest.approx([kept[k].mean() for k in wanted])
    assert [one.threshold for one in found.attained] == [np.nextafter(falling[rank[k]], np.inf) for k in wanted]
    assert [one.everything for one in found.attained] == [rank[k] == n for k in wanted]
    assert [one.printed == "all that have a score" for one in found.attained] == [rank[k] == n for k in wanted]
    assert abstain.choose_threshold(np.ones(n), score, risk=0.1, delta=0.05).attained == ()


@pytest.mark.parametrize("unscored", [False, True])
def test_answering_everything_may_satisfy_a_limit_that_no_threshold_passes(unscored):
    """It is said from the limit on that all rows keep, unless some have no score."""
    loss, score = np.arange(30) < 2, np.where((np.arange(30) == 29) & unscored, np.nan, -np.arange(30.0))

    def found(risk):
        return abstain.choose_threshold(loss, score, risk=risk, delta=0.05, nan_policy="reject")

    limit = next(one.risk for one in found(0.001).attained if one.everything)
    for risk, told in ((limit, not unscored), (0.999 * limit, False)):
        assert not found(risk).attainable
        assert ("answering everything satisfies the limit" in "\n".join(found(risk).notes())) == told


@pytest.mark.parametrize(
    ("errors", "size", "limit"),
    [((0, 4, 30), 40, 0.06), ((1, 6, 30), 40, 0.06), ((0, 0, 12), 40, 0.06), ((0, 4, 8), 4, 0.5), ((1, 3, 6), 6, 0.4)],
)
def test_so_many_rows_with_so_many_errors_are_certified_and_fewer_are_not(errors, size, limit):
    """Repeated rows of three levels, with as few, or as many errors as eight of ten populations have there."""
    score = np.repeat([3.0, 2.0, 1.0], size)
    loss = np.concatenate([np.arange(size) < each for each in np.diff((0, *errors))]) * 1.0
    found = abstain.choose_threshold(loss, score, risk=limit, delta=0.05)
    assert not found.attainable
    few = [stats.gamma.ppf(0.1, max(each, 1)) if each else 0.0 for each in errors]
    many = [stats.gamma.ppf(0.9, each + 1) for each in errors]

    def certified(rows, up_to):
        times, levels = rows / (3 * size), size * np.arange(1, 4)
        count, wrong = (np.floor(times * np.array(each) + 0.5).astype(int) for each in (levels, up_to))
        parts = zip(np.diff(np.r_[0, count]), np.diff(np.r_[0, wrong]), strict=True)
        made = np.concatenate([np.arange(n) < k for n, k in parts]) * 1.0
        return abstain.choose_threshold(
            made, np.repeat([3.0, 2.0, 1.0], np.diff(np.r_[0, count])), risk=limit, delta=0.05
        ).attainable

    for end, up_to in zip(found.rows_needed, (few, many), strict=True):
        if end is None:
            assert not any(certified(rows, up_to) for rows in (1000, 4000, 7000))
        else:
            assert certified(end, up_to)
            assert not any(certified(rows, up_to) for rows in (0.5 * end, 0.8 * end, 0.94 * end))
