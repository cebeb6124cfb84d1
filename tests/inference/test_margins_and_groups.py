"""Ranks as sets, claims of non-inferiority and equivalence, groups compared, swaps where errors are few."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

import abstain
from abstain.inference import as_metric, compare_groups, non_inferiority, paired, panel, rank_sets
from tests.tiers import repeated


def two_scores(n, share, seed):
    """Return errors and two scores that share much; the first is better."""
    rng = np.random.default_rng(seed)
    wrong, base = rng.random(n) < share, rng.normal(size=n)
    good, bad = (base + 0.8 * rng.normal(size=n) - at * wrong for at in (1.5, 1.2))
    return wrong * 1.0, good, bad


# ---------------------------------------------------------------------- rank sets


@pytest.mark.parametrize("metric", ["augrc", "accuracy_rejection_area"])
def test_sets_of_ranks_and_max_t_are_their_definition(metric):
    """All pairs by the largest standardised difference, with draws of our own; what is rejected leaves; again."""
    chosen, steps = as_metric(metric), 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        z, noise = rng.normal(size=400), [0.1, 0.4, 0.6, 0.9, 1.5]
        wrong = (rng.random(400) < 1.0 / (1.0 + np.exp(1.5 + 2.0 * z))) * 1.0
        scores = {f"s{k}": z + sd * rng.normal(size=400) for k, sd in enumerate(noise)}
        columns = panel(wrong, scores)
        ways = [{"adjust": how, "rng": np.random.default_rng(1)} for how in ("none", "max-t")]
        tests, adjusted = (paired(chosen, columns, level=0.9, **way) for way in ways)
        influences = np.stack([abstain.inference.influence(metric, wrong, each) for each in scores.values()]) / 400
        pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
        apart = np.stack([influences[i] - influences[j] for i, j in pairs])
        apart /= np.linalg.norm(apart, axis=1, keepdims=True)
        drawn = np.abs(rng.multivariate_normal(np.zeros(10), apart @ apart.T, 50_000, method="eigh"))
        p = np.array([each.p_value for each in tests.differences])
        size = stats.norm.isf(p / 2.0)
        together = np.array([np.mean(drawn.max(axis=1) >= each) for each in size])
        found = np.array([each.p_adjusted for each in adjusted.differences])
        assert found == pytest.approx(np.maximum(np.minimum(together, 10 * p), p), abs=0.012)
        single = 2.0 * stats.norm.sf(np.quantile(drawn.max(axis=1), 0.9))
        for each in adjusted.differences:
            reach = stats.t.ppf(1.0 - single / 2.0, each.df) * each.standard_error
            assert each.high - each.difference == pytest.approx(reach, rel=0.01)
        left, limits = np.ones(10, bool), []
        while left.any():
            limits.append(np.quantile(drawn[:, left].max(axis=1), 0.9))
            new = left & (size > limits[-1])
            if not new.any():
                break
            left &= ~new
            steps += 1
        if min(abs(np.subtract.outer(limits, size)).min(axis=1)) < 0.03:
            continue  # too close for draws
        better = np.zeros((5, 5), bool)
        for (i, j), each, kept in zip(pairs, tests.differences, left, strict=True):
            if not kept:
                first = (each.difference < 0.0) == (chosen.direction == "lower")
                better[(i, j) if first else (j, i)] = True
        low, high = rank_sets(tests, 0.9, together=True, rng=np.random.default_rng(2))
        assert low.tolist() == (1 + better.sum(axis=0)).tolist()
        assert high.tolist() == (5 - better.sum(axis=1)).tolist()
    assert steps > 4


# ---------------------------------------------------------------------- non-inferiority


def test_the_limits_are_those_of_the_test():
    """Not worse by just more than the upper limit is shown, by just less is not; so it is in the other direction."""
    wrong, good, bad = two_scores(1000, 0.1, 3)
    for metric in ("augrc", "auroc_f"):
        first = non_inferiority(wrong, {"new": bad, "old": good}, metric, margin=1.0)
        assert first.difference > 0.0
        for factor, shown in ((1.0001, True), (0.9999, False)):
            again = non_inferiority(wrong, {"new": bad, "old": good}, metric, margin=factor * first.high)
            assert (again.shown, again.high) == (shown, first.high)
        edge = max(first.high, -first.low)
        for factor, shown in ((1.0001, True), (0.9999, False)):
            claim = non_inferiority(wrong, {"new": bad, "old": good}, metric, margin=factor * edge, claim="equivalent")
            assert claim.shown == shown
    assert "not worse than old by 1 or more" in str(first)


@pytest.mark.parametrize("metric", ["augrc", "aurc"])
def test_without_a_row_that_differs_a_claim_needs_a_margin_that_its_rows_would_show(metric):
    """At a share of moved rows that makes the difference the margin, samples without any of them claim in 5 %."""
    wrong, good, _ = two_scores(400, 0.2, 5)
    same = {"new": 2.0 * good, "old": good}
    found = non_inferiority(wrong, same, metric, margin=0.1)
    assert (found.low, found.difference, str(found.rests_on)) == (-found.high, 0.0, "rests on about 0 rows that differ")
    for factor, claim in product((0.999, 1.001), ("non-inferior", "equivalent")):
        again = non_inferiority(wrong, same, metric, margin=factor * found.high, claim=claim)
        assert again.shown == (factor > 1.0)
        assert again.p_value == pytest.approx(0.05**factor)
    with pytest.raises(ValueError, match="of several runs it is not known what"):
        non_inferiority(wrong, {"new": [good] * 2, "old": [2.0 * good] * 2}, metric, margin=0.1)


def test_models_that_were_never_seen_to_differ_may_differ_in_errors():
    """Two models with equal errors in the sample; of two scores of one model the error rate is the same anyway."""
    wrong, good, _ = two_scores(400, 0.2, 5)
    scores, own = {"new": good, "old": good}, {"new": wrong, "old": wrong.copy()}
    found = non_inferiority(own, scores, "risk", margin=0.002)
    assert (found.shown, found.high) == (False, pytest.approx(-np.log(0.05) / 400))
    assert "the two are equal on every sample" in found.warning
    assert abstain.compare(own, scores, "risk").differences[0].high == pytest.approx(-np.log(0.025) / 400)
    assert abstain.compare(wrong, scores, "risk").differences[0].high == 0.0


@pytest.mark.parametrize("unit", [None, np.arange(400) // 4])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_noise_in_a_score_does_not_show_that_no_row_differs(unit, sign):
    """The room for rows or clusters that differ stays, until what is seen to differ does more than one row could."""
    wrong, good, _ = two_scores(400, 0.2, 5)
    noise, given = sign * np.random.default_rng(3).normal(size=400), {"margin": 0.004, "clusters": unit}
    row = non_inferiority(wrong, {"new": good, "old": good}, **given).high / -np.log(0.05)
    for size, roomy in ((1e-3, True), (1.0, False)):
        scores = {"new": good + size * noise, "old": good}
        found, each = (
            non_inferiority(wrong, scores, **given),
            abstain.compare(wrong, scores, clusters=unit).differences[0],
        )
        assert ["the two hardly differ" in str(one.warning) for one in (found, each)] == [roomy, roomy]
        if roomy:
            reach, least = -np.log(0.05) * row, 0.004 - np.array([found.difference, abs(found.difference)])
            assert (found.low, found.high) == pytest.approx(
                (found.difference - reach, found.difference + reach), rel=0.02
            )
            assert each.high - each.difference == pytest.approx(-np.log(0.025) * row, rel=0.02)
            both = non_inferiority(wrong, scores, claim="equivalent", **given)
            assert (found.p_value, both.p_value) == pytest.approx(tuple(np.exp(-least / row)), rel=0.1)


def test_many_small_moves_of_one_kind_are_found():
    """All 80 errors are ranked a little lower: significant, although the interval has room for rows not seen."""
    wrong, good, _ = two_scores(400, 0.2, 5)
    each = abstain.compare(wrong, {"new": good - 0.14 * wrong, "old": good}).differences[0]
    assert (each.p_value < 0.001, each.low < 0.0 < each.high) == (True, True)
    assert "the p-value has none" in each.warning


def test_few_rows_that_all_move_up_have_a_p_value_and_no_interval():
    """Fewer than ten, by their effective number; of clusters there is no claim either, and rows have its limits."""
    wrong, good, _ = two_scores(400, 0.2, 5)
    low = np.flatnonzero(wrong == 0.0)[np.argsort(good[wrong == 0.0])]
    for up, down, told in ((8, 0, False), (14, 0, True), (4, 4, True)):
        new = good.copy()
        new[low[:up]] += 100.0
        new[low[len(low) - down :]] -= 100.0
        scores, unit = {"new": new, "old": good}, np.arange(400)
        each = abstain.compare(wrong, scores).differences[0]
        assert (np.isfinite([each.low, each.high]).all(), np.isfinite(each.p_value)) == (told, True)
        assert ("ranks about 8 rows higher and hardly any lower" in str(each.warning)) != told
        assert np.isfinite(non_inferiority(wrong, scores, margin=0.1).high)
        if not told:
            with pytest.raises(ValueError, match="ranks about 8 clusters higher and hardly any lower"):
                non_inferiority(wrong, scores, margin=0.1, clusters=unit)


def test_fewer_than_six_clusters_say_nothing():
    """Swaps of five have no p-value below 0.06, and the range of five values holds their median in 94 %."""
    wrong, good, _ = two_scores(420, 0.2, 5)
    other = np.random.default_rng(1).random(420)
    for number in (5, 6):
        unit = np.arange(420) % number
        each = abstain.compare(wrong, {"a": good, "b": other}, clusters=unit).differences[0]
        one = abstain.confidence_interval("risk", wrong, good, clusters=unit)
        assert [np.isnan(end) for end in (each.p_value, each.low, one.low)] == [number == 5] * 3


def test_p_is_that_of_the_transformed_statistic():
    """Hall's transformation of Student's t, with the skewness that the result states; and limits solve it."""
    wrong, good, bad = two_scores(600, 0.1, 11)
    found = non_inferiority(wrong, {"new": bad, "old": good}, margin=0.02)

    def transformed(at):
        t, k = (found.difference - at) / found.standard_error, found.skewness
        return t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6

    assert abs(found.skewness) > 0.001
    assert found.p_value == pytest.approx(stats.t.cdf(transformed(0.02), found.df))
    assert transformed(found.high) == pytest.approx(stats.t.ppf(0.05, found.df))
    assert transformed(found.low) == pytest.approx(stats.t.ppf(0.95, found.df))


@repeated(200, 4000)
def test_a_claim_at_the_margin_is_rarely_false(repetitions):
    """AURC with 40 errors of 200, whose influences are few and skewed: at most 6.5 % on either side."""
    large = two_scores(500_000, 0.2, 5)
    good, bad = (as_metric("aurc")(abstain.TieBlocks.from_samples(large[0], column)) for column in large[1:])
    found, done = np.zeros(2), 0
    for seed in range(repetitions):
        wrong, one, other = two_scores(200, 0.2, [2, seed])
        if wrong.sum() >= 20:
            claim = non_inferiority(wrong, {"new": other, "old": one}, "aurc", margin=float(bad - good))
            found += claim.shown, claim.low > claim.margin
            done += 1
    assert (found / done <= 0.065 + 1.96 * np.sqrt(0.05 * 0.95 / done)).all()


def test_few_errors_are_warned_of():
    """Below 40 errors or successes."""
    _, good, bad = two_scores(400, 0.0, 4)
    for errors, said in ((39, True), (40, False), (360, False), (361, True)):
        found = non_inferiority((np.arange(400) < errors) * 1.0, {"new": bad, "old": good}, margin=0.1)
        assert ("39 errors are few" in str(found.warning)) == said


# ---------------------------------------------------------------------- groups


def _apart(a, b):
    below = np.hypot(a.estimate - a.low, b.high - b.estimate)
    above = np.hypot(a.high - a.estimate, b.estimate - b.low)
    return a.estimate - b.estimate - below, a.estimate - b.estimate + above


@pytest.mark.parametrize(
    ("metric", "undefined", "clustered"), [("risk", False, True), ("auroc_f", True, False), ("auroc_f", False, True)]
)
def test_groups_are_compared_as_their_intervals_say(metric, undefined, clustered):
    """Step by step: intervals at alpha/G, differences at alpha/pairs, Holm's rounds, the worst and who may be it."""
    rng = np.random.default_rng(6)
    site, unit = np.repeat(list("abcde"), 200), np.arange(1000) // 2
    wrong = np.repeat(rng.random(500) < np.repeat([0.1, 0.4, 0.25, 0.12, 0.2], 100), 2)
    if undefined:
        wrong[site == "d"] = False
    score = rng.normal(size=1000) - np.repeat([1.5, 0.3, 0.3, 0.5, 2.5], 200) * wrong
    clusters = unit if clustered else None
    found = compare_groups(wrong, score, site, metric, level=0.9, clusters=clusters)

    def at(error, name, of=metric):
        mine = site == name
        within = None if clusters is None else clusters[mine]
        return abstain.confidence_interval(of, wrong[mine], score[mine], level=1.0 - error, clusters=within)

    together = {name: at(0.1 / 5, name) for name in "abcde"}
    assert repr(found.intervals) == repr({name: together[name] for name in found.intervals})
    lower = metric == "risk"
    values = [each.estimate for each in found.intervals.values() if not np.isnan(each.estimate)]
    assert values == sorted(values, reverse=lower)
    assert len(values) == 4 + (lower or not undefined)
    assert list(found.intervals)[len(values) :] == ["d"] * (5 - len(values))
    pairs = [(a, b) for k, a in enumerate("abcde") for b in "abcde"[k + 1 :]]
    left, differ = list(pairs), []
    while left:
        ends = {pair: _apart(*(at(0.1 / len(left), name) for name in pair)) for pair in left}
        new = [pair for pair, (low, high) in ends.items() if low > 0.0 or high < 0.0]
        differ, left = differ + new, [pair for pair in left if pair not in new] if new else []
    significant = {frozenset((each.a, each.b)) for each in found.differences if each.significant}
    assert significant == set(map(frozenset, differ))
    rank = list(found.intervals).index
    assert [(each.a, each.b) for each in found.differences] == [tuple(sorted(pair, key=rank)) for pair in pairs]
    for each in found.differences:
        low, high = _apart(at(0.1 / 10, each.a), at(0.1 / 10, each.b))
        assert (each.low, each.high) == pytest.approx((low, high), rel=1e-12, nan_ok=True)
    known = [each for each in together.values() if not np.isnan(each.low)]
    limit = max(each.low for each in known) if lower else min(each.high for each in known)
    ruled_out = [name for name, each in together.items() if (each.high < limit if lower else each.low > limit)]
    assert sorted((*found.may_be_worst, *ruled_out)) == list("abcde")
    assert found.worst == found.may_be_worst[0] == next(iter(found.intervals))
    all_known = len(known) == 5
    least, most = min(each.low for each in known), max(each.high for each in known)
    assert found.worst_low == (limit if lower else least if all_known else -np.inf)
    assert found.worst_high == ((most if all_known else np.inf) if lower else limit)
    risks = {} if lower else {name: at(0.1 / 5, name, "risk") for name in found.intervals}
    assert repr(dict(sorted(found.risks.items()))) == repr(dict(sorted(risks.items())))
    assert dict(found.sizes) == dict.fromkeys("abcde", 200)
    assert f"{len(differ)} of 10 pairs differ" in str(found)


def test_a_group_without_an_interval_may_be_the_worst():
    """Five clusters have none: the risk of the worst group is open above."""
    site, row = np.repeat(["a", "b"], 200), np.arange(400)
    unit = np.where(site == "a", row, -1 - row % 5)
    found = compare_groups(row % 5 == 0, np.random.default_rng(0).random(400), site, "risk", clusters=unit)
    assert (found.worst_low, found.worst_high) == (found.intervals["a"].low, np.inf)


def test_equal_groups_rarely_differ():
    """Twenty groups of fifty: any false difference in at most one sample of twenty, and all intervals hold."""
    false = together = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        wrong = rng.random(1000) < 0.2
        found = compare_groups(wrong, rng.normal(size=1000) - wrong, np.repeat(np.arange(20), 50), "risk")
        false += any(each.significant for each in found.differences)
        together += all(each.low <= 0.2 <= each.high for each in found.intervals.values())
    assert false <= 5
    assert together >= 34


# ---------------------------------------------------------------------- few errors


def test_few_errors_are_compared_by_swaps():
    """Ten errors in 400: no p-value is below that of the permutation test; else, and of many rows, Student's t."""
    rng = np.random.default_rng(8)
    for rows, errors in ((400, 10), (400, 99), (400, 100), (400, 150), (6000, 10)):
        wrong = (np.arange(rows) < errors) * 1.0
        scores = {"good": rng.normal(size=rows) - 2.0 * wrong, "bad": rng.normal(size=rows)}
        found = abstain.compare(wrong, scores)
        assert found.method.startswith("permutation") == (rows == 400 and errors < 100)
        assert ('method="influence" allows for one' in " ".join(found.notes())) == (rows == 400 and errors < 100)
        if found.method != "influence":
            swapped = abstain.compare(wrong, scores, method="permutation", n_permutations=1999)
            assert found.differences[0].p_value >= swapped.differences[0].p_value
    assert abstain.compare({"good": wrong, "bad": np.roll(wrong, 3)}, scores).method == "influence"


@pytest.mark.parametrize("number", [6, 9, 10])
def test_fewer_than_ten_clusters_are_a_rough_guide(number):
    """Six of one size have five degrees of freedom, which are enough to say nothing of these."""
    loss, good, bad = two_scores(720, 0.3, 9)
    unit = np.arange(720) % number
    found = [
        abstain.confidence_interval("risk", loss, good, clusters=unit),
        abstain.inference.bootstrap("risk", loss, good, clusters=unit, n_resamples=100).interval(),
        abstain.compare(loss, {"a": good, "b": bad}, clusters=unit, method="influence").differences[0],
    ]
    for each in found:
        assert (f"only {number} clusters" in str(each.warning)) == (number < 10)
        assert "only 5.0 degrees" not in str(each.warning)


def test_few_clusters_that_differ_may_lack_a_kind():
    """With the probability 5 % fourteen clusters hold none of a kind that is a share 1 - 0.05^(1/14), 19 %, of all."""
    loss, good, bad = two_scores(700, 0.3, 9)
    found = non_inferiority(loss, {"a": good, "b": bad}, margin=0.2, clusters=np.arange(700) % 14)
    assert ("19 % of all may be missing among 14" in str(found.warning)) == (found.rests_on.number < 10.0)
    moved = np.where(np.arange(700) % 14 < 8, bad, good)
    found = non_inferiority(loss, {"a": good, "b": moved}, margin=0.2, clusters=np.arange(700) % 14)
    assert found.rests_on.number < 10.0
    assert "a kind of cluster that is 19 % of all may be missing among 14" in found.warning


@pytest.mark.parametrize(("rows", "swapped"), [(5000, True), (5001, False)])
def test_swaps_are_made_of_so_many_rows(rows, swapped):
    loss, rng = (np.arange(rows) % 500 == 0) * 1.0, np.random.default_rng(1)
    found = abstain.compare(loss, {"a": rng.random(rows), "b": rng.random(rows)})
    assert found.method.startswith("permutation") == swapped
