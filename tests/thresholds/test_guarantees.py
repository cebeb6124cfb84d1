"""Guarantees about clusters, a part of the rows, and the best of several scores; copies and reuse are noticed."""

import math
import warnings
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import abstain
from abstain.thresholds import (
    CopiedRowsWarning,
    ReusedSelectionWarning,
    choose_among,
    conditional_threshold,
    plan_certificate,
    prespecified_threshold,
    remember_selection,
)
from abstain.thresholds._row_hashes import digest, hashed, in_common, merged, sketch, unpacked
from tests.refusal import refused

DELTA = 0.05


def worst(repetitions):
    """Return what a valid certificate exceeds in one of 10,000 simulations only."""
    return float(stats.binom.ppf(1.0 - 1e-4, repetitions, DELTA)) / repetitions


def spiky(m, rng):
    """Return 20 rows for each of m clusters; the risk is .055 at every threshold, and all in a few clusters."""
    bad = rng.random((m, 1)) < 0.11
    return ((rng.random((m, 20)) < 0.5) & bad).ravel() * 1.0, rng.random(20 * m), np.repeat(np.arange(m), 20)


# ---------------------------------------------------------------------- clusters


@pytest.mark.usefixtures("threshold_alone")
@pytest.mark.parametrize(
    ("m", "repetitions"), [(80, 60), *(pytest.param(m, 300, marks=pytest.mark.slow) for m in (80, 200))]
)
def test_clusters_keep_the_guarantee_that_rows_break(m, repetitions):
    """A risk of 5.5 % at every threshold: rows as if independent certify 5 % far too often, clusters do not."""
    rng, rows, clusters = np.random.default_rng(m), 0, 0
    for _ in range(repetitions):
        loss, score, cluster = spiky(m, rng)
        rows += abstain.choose_threshold(loss, score, risk=0.05, delta=DELTA).attainable
        clusters += abstain.choose_threshold(loss, score, risk=0.05, delta=DELTA, clusters=cluster).attainable
    assert rows / repetitions > worst(repetitions) - 0.02
    assert clusters / repetitions <= worst(repetitions)


def test_the_guarantee_names_the_new_cluster():
    """Its risk is the mean of the clusters' mean accepted losses; names and order of clusters and rows say nothing."""
    rng = np.random.default_rng(1)
    cluster, score = rng.integers(0, 300, 3000), rng.random(3000)
    loss = (rng.random(3000) < 0.2 * (1 - score)) * 1.0
    found = abstain.choose_threshold(loss, score, risk=0.08, delta=DELTA, clusters=cluster.astype(str))
    order = rng.permutation(3000)
    renamed = (cluster[order] * 7) % 300
    again = abstain.choose_threshold(loss[order], score[order], risk=0.08, delta=DELTA, clusters=renamed)
    assert "over the draw of the calibration clusters, the mean loss of an accepted row of a new" in found.statement
    assert (found.calibration.n_clusters, found.threshold) == (300, again.threshold)
    accepted = score >= found.threshold
    means = [loss[accepted & (cluster == c)].mean() for c in range(300) if np.any(accepted & (cluster == c))]
    assert found.risk == pytest.approx(np.mean(means))


def test_a_declared_largest_cluster_certifies_rows():
    """Evidence as it is defined, at one threshold; a cluster counts for its rows, and too large a one is refused."""
    rng = np.random.default_rng(0)
    size = rng.integers(1, 6, 900)
    cluster = np.repeat(np.arange(900), size)
    loss, score = (rng.random(len(cluster)) < 0.03).astype(float), np.zeros(len(cluster))
    options = {"risk": 0.05, "clusters": cluster, "max_cluster": 8}
    sums = np.bincount(cluster, 0.05 - loss) / 8
    stakes = np.array([[0.98], [0.6], [0.35], [0.2], [0.1]]) / 0.95
    evidence = np.exp(np.log1p(stakes * sums).sum(axis=1) - np.log1p(stakes[:, 0] * 0.05)).mean()
    found, more = (abstain.choose_threshold(loss, score, delta=by / evidence, **options) for by in (1.001, 0.999))
    assert (found.attainable, more.attainable, found.risk) == (True, False, loss.mean())
    assert "none of which can have more than 8 rows" in found.statement
    policy = found.policy(score="s")
    later = rng.permutation(900)[cluster] + 1000  # other clusters, of which the large ones are wrong
    wrong = (size[cluster] == 5).astype(float)
    assert abstain.audit(policy, wrong, score, clusters=later).satisfied is False
    seen = abstain.monitor(policy, wrong, score, clusters=later)
    assert (seen.violated, seen.risk) == (True, pytest.approx(wrong.mean()))
    refused(ValueError, "above max_cluster=8", abstain.monitor, policy, wrong, score, clusters=later // 50)


@pytest.mark.parametrize("limit", [0.02, 0.2])
def test_walks_of_clusters_are_those_of_the_definition(limit):
    """Tied scores, unequal clusters, graded losses, unscored rows: from every start of every cluster, one by one."""
    rng = np.random.default_rng(8)
    cluster = np.sort(rng.integers(0, 150, 900))
    cluster = np.unique(cluster, return_inverse=True)[1]
    score, loss = rng.integers(0, 40, 900) / 40.0, limit * rng.choice([0.0, 0.4, 2.0], 900, p=[0.6, 0.3, 0.1])
    stakes, m = np.array([0.98, 0.6, 0.35, 0.2, 0.1]) / (1 - limit), cluster.max() + 1
    tested = np.unique(score)[::-1]

    def evidence(limit_at):
        means = [loss[(cluster == c) & (score >= limit_at)] for c in range(m)]
        factors = [1 + stakes * (limit - each.mean()) for each in means if each.size]
        return float((np.prod(factors, axis=0) / (1 + stakes * limit)).mean())

    paths = np.array([evidence(at) for at in tested])
    total = np.zeros(len(tested))
    for c in range(m):
        mine = -np.sort(-score[cluster == c])
        for part, share in ((0.1, 1 / 3), (0.25, 2 / 3)):
            start = int(np.flatnonzero(tested == mine[int(part * len(mine))])[0])
            total[start:] += share / m * np.minimum.accumulate(paths[start:])
    for delta in (0.05, 0.2, 0.45):
        passed = np.flatnonzero(total >= 1 / delta)
        found = abstain.choose_threshold(loss, score, risk=limit, delta=delta, max_loss=1.0, clusters=cluster)
        assert found.threshold == (tested[passed[-1]] if passed.size else np.inf)
    assert total.max() > 1 / 0.45


@pytest.mark.parametrize("test", [abstain.audit, abstain.monitor])
def test_a_guarantee_about_clusters_is_tested_with_clusters(test):
    """Rows as if independent are refused, in both directions; clusters in any order of their rows are judged."""
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(300), 10)
    loss, score = (rng.random(3000) < 0.03) * 1.0, rng.random(3000)
    found = abstain.choose_threshold(loss, score, risk=0.06, delta=DELTA, clusters=cluster)
    policy = found.policy(score="s")
    refused(ValueError, r"the guarantee is about clusters .* give clusters=", test, policy, loss[:50], score[:50])
    rows = abstain.choose_threshold(loss, score, risk=0.06, delta=DELTA).policy(score="s")
    refused(ValueError, "the guarantee is about rows", test, rows, loss, score + 2.0, clusters=cluster)
    wrong = test(policy, np.ones(400), np.full(400, 2.0), clusters=np.arange(400) % 40)
    assert not getattr(wrong, "satisfied", False)
    assert getattr(wrong, "violated", True)


def test_too_few_clusters_are_said():
    """However many rows they have."""

    def chosen(n, clusters, **options):
        return abstain.choose_threshold(np.zeros(n), np.arange(float(n)), clusters=np.arange(n) % clusters, **options)

    found, more = chosen(5000, 50, risk=0.05, delta=DELTA), chosen(372, 124, risk=0.05, delta=0.05)
    assert "clusters, besides one that fixes the starts, are too few: even without an error 59" in str(found.reason)
    assert more.reason == "124 clusters are too few, though no answer is wrong; add clusters"
    assert "5000 rows in 50 clusters" in str(chosen(5000, 50, coverage=0.5))


def test_clusters_at_fixed_thresholds_and_in_groups():
    """One of the thresholds is the answer, and groups have clusters of their own; weights are refused."""
    rng = np.random.default_rng(2)
    cluster, score = np.repeat(np.arange(400), 5), rng.random(2000)
    loss = (rng.random(2000) < 0.1 * (1 - score)) * 1.0
    options = {"risk": 0.1, "delta": DELTA, "clusters": cluster}
    fixed, message = [0.9, 0.5, 0.1], "not valid for clusters; leave it out"
    assert prespecified_threshold(loss, score, fixed, **options).threshold == 0.1
    refused(ValueError, message, prespecified_threshold, loss, score, fixed, bound="hoeffding-bentkus", **options)
    by = abstain.choose_threshold(loss, score, groups=cluster % 2, **options)
    assert [one.calibration.n_clusters for one in by.groups.values()] == [200, 200]
    assert "an accepted row of a new cluster" in by.guarantee().statement
    weights = {"sample_weight": np.ones(2000), "max_weight": 1.0}
    message = "with clusters= and sample_weight= is not offered"
    refused(ValueError, message, abstain.choose_threshold, loss, score, **options, **weights)
    refused(ValueError, "lengths differ|length", abstain.choose_threshold, loss, score, **options | {"clusters": [0]})


# ---------------------------------------------------------------------- copies and reuse


@pytest.mark.parametrize("times", [2, 5])
def test_copies_of_rows_are_noticed(times):
    """Exact copies, where scores are otherwise unique; rounded, tied and saturated scores are not taken for copies."""
    many = 1.0 - 0.05 * np.random.default_rng(7).random(4000) ** 4
    rng = np.random.default_rng(5)
    score, loss = rng.random(300), rng.random(300) < 0.05
    twice = {"loss": loss.repeat(times), "confidence": score.repeat(times), "risk": 0.2, "delta": DELTA}
    with pytest.warns(CopiedRowsWarning, match=f"{300 * (times - 1)} of {300 * times} rows are exact copies"):
        abstain.choose_threshold(**twice)
    abstain.choose_threshold(**twice, clusters=np.arange(300).repeat(times))
    coarse = score[:25].repeat(12)
    for other in (score, np.round(score, 2), np.float32(1 - score**30), np.ones(300), np.ceil(score * 7) / 7, coarse):
        abstain.choose_threshold(loss & (other is not coarse), other, risk=0.2, delta=DELTA)
    for other in (np.round(many, 5), np.round(many, 6), np.float16(many), 3.0 + np.float32(many)):
        abstain.choose_threshold(many > 0.99999, other, risk=0.2, delta=DELTA)
    real = abstain.datasets.load("cifar10_vgg16")  # a softmax of single precision: 5,648 scores of 10,000 rows
    abstain.choose_threshold(real.error, abstain.scores.compute("msp", real), risk=0.05, delta=DELTA)


@pytest.mark.usefixtures("threshold_alone")
def test_a_certificate_on_rows_of_a_selection_warns():
    """Whole or in part; other rows are silent, and the selection keeps hashes of its rows."""
    rng = np.random.default_rng(6)
    loss = rng.random(500) < 0.05
    scores = {str(k): rng.random(500) for k in range(4)}
    chosen = abstain.select({name: (loss, score) for name, score in scores.items()}, ["augrc"])
    score = scores[chosen.chosen]
    for rows in (slice(None), slice(100, 400)):
        with pytest.warns(ReusedSelectionWarning, match=r"^100 % of these .*certify on others, or use choose_among"):
            abstain.choose_threshold(loss[rows], score[rows], risk=0.2, delta=DELTA)
    for fresh, words in ((400, "20 % of these rows"), (405, None)):  # a fifth of these rows, not of those
        mixed = np.r_[loss[:100], rng.random(fresh) < 0.05], np.r_[score[:100], rng.random(fresh)]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            abstain.choose_threshold(*mixed, risk=0.2, delta=DELTA)
        assert [words in str(each.message) for each in caught] == ([] if words is None else [True])
    for times, known in ((2, True), (3, False)):  # different rows are half of all at least
        coarse = np.zeros(500), np.arange(500) // times + 0.0
        remember_selection(*coarse)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            abstain.choose_threshold(*coarse, risk=0.2, delta=DELTA)
        assert any(each.category is ReusedSelectionWarning for each in caught) == known
    abstain.choose_threshold(rng.random(500) < 0.05, rng.random(500), risk=0.2, delta=DELTA)
    remember_selection(rng.random(3000) < 0.2, np.round(rng.random(3000), 2))  # which look alike in any two samples
    abstain.choose_threshold(rng.random(3000) < 0.2, np.round(rng.random(3000), 2), risk=0.3, delta=DELTA)
    refused(ValueError, r"lengths differ \(loss: 2, confidence: 1\)", remember_selection, [0.0, 1.0], [0.5])


def test_rows_are_known_as_a_whole_where_others_are_hardly_the_same():
    """In any order if other rows hold the same values with at most 1e-9; else in their order, if that is mixed."""
    assert hashed(np.array([0.25, -0.0]), np.array([1.0, 0.0])).tolist() == [754978425892569088, 0]  # as in old files
    seen = Counter[str]()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(0, 45))
        names = rng.integers(0, max(1, int(n * rng.random() * 4)), n).astype(np.uint64)
        scores = names * 1.0 if rng.random() < 0.5 else np.sort(names)[:: rng.choice([1, -1])] * 1.0
        hashes, mixed = scores.astype(np.uint64), scores[rng.permutation(n)].astype(np.uint64)
        counts = [int((names == each).sum()) for each in set(names.tolist())]
        order = math.prod(Fraction(c, n) ** c for c in counts)
        whole = order * math.factorial(n) / math.prod(map(math.factorial, counts))
        ways = (n - sum(c * c for c in counts) / n) / 2.0 if n else 0.0
        steps = [sum(sign * (y - x) > 0.0 for x, y in pairwise(scores)) for sign in (1.0, -1.0)]
        one, other = digest(hashes, scores), digest(mixed, scores)
        kind = "any" if whole < 1e-9 else "order" if order <= 1e-9 and min(steps) >= ways / 2.0 else "none"
        assert (one != "", one == other or bool((hashes == mixed).all())) == {
            "any": (True, True), "order": (True, bool((hashes == mixed).all())), "none": (False, True),
        }[kind], seed  # fmt: skip
        assert digest(hashes) == (one if kind == "any" else "")
        seen[kind] += 1
    assert min(seen.values()) > 10


def test_sketches_are_the_smallest_different_hashes():
    """Alone, merged, and in common with other rows: by sets; with too many ties nothing is said."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([5, 8, 30, 255, 256, 700]))
        sets = [rng.choice(3 * n if rng.random() < 0.7 else n // 2 + 1, n).astype(np.uint64) for _ in "ab"]
        if rng.random() < 0.6:
            sets = [rng.permutation(40 * n)[:n].astype(np.uint64) for _ in "ab"]
            sets[1][: n // 3] = sets[0][: n // 3]
        texts, smallest = [sketch(each) for each in sets], [sorted(set(each.tolist())) for each in sets]
        for text, each, distinct in zip(texts, sets, smallest, strict=True):
            enough = len(each) >= 8 and len(distinct) >= max(8, 0.95 * len(each))
            assert unpacked(text).tolist() == (distinct[:256] if enough else [])
        kept = [each[:256] for text, each in zip(texts, smallest, strict=True) if text]
        limit = min((each[-1] for each in kept if len(each) == 256), default=10**9)
        both = sorted({value for each in kept for value in each if value <= limit})[:256]
        assert unpacked(merged(texts)).tolist() == both
        known, mine = kept[0] if texts[0] else [], smallest[1]
        if not known:
            continue
        if len(mine) < 0.95 * n:
            assert in_common(texts[0], sets[1]) == (0.0, 0.0)
            continue
        mine = [value for value in mine if len(known) < 256 or value <= known[-1]]
        shared = len(set(mine) & set(known))
        assert in_common(texts[0], sets[1]) == (shared / len(mine) if len(mine) >= 8 else 0.0, shared / len(known))


@pytest.mark.parametrize(
    ("rows", "known", "words"),
    [(100, 19, None), (100, 20, "about 20 % of these are among"), (200, 198, "about 99 % of these are among"),
     (200, 199, "these are the rows"), (400, 39, None), (400, 40, "about 10 % of these are among"),
     (800, 200, "about 25 % of these are among")],
)  # fmt: skip
def test_a_report_on_rows_of_which_some_chose_the_threshold_warns(rows, known, words):
    """From a fifth of these rows, or of those, on; and says how many of these are known."""
    rng = np.random.default_rng(1)
    score, loss = rng.random(1000), (rng.random(1000) < 0.1) * 1.0
    found = abstain.choose_threshold(loss[:200], score[:200], coverage=0.5)
    mine = slice(200 - known, 200 - known + rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        abstain.audit(found, loss[mine], score[mine])
    assert [words in str(each.message) for each in caught] == ([] if words is None else [True])


# ---------------------------------------------------------------------- among, conditional


def test_the_better_score_is_chosen():
    """With few candidates and with many; the order of the rows does not matter where nothing is split."""
    rng = np.random.default_rng(7)
    ease = rng.random(2000)
    loss = (rng.random(2000) > ease**0.1) * 1.0
    scores = {f"noise {k}": rng.random(2000) for k in range(3)} | {"good": ease}
    found = choose_among(loss, scores, risk=0.05, delta=DELTA)
    assert (found.name, found.rule, found.seed) == ("good", "shared", None)
    assert found.found.delta == DELTA / 4
    turned = choose_among(loss[::-1], {k: v[::-1] for k, v in scores.items()}, risk=0.05, delta=DELTA)
    assert found.found == turned.found
    many = choose_among(loss, scores | {f"more {k}": rng.random(2000) for k in range(3)}, risk=0.05, delta=DELTA, rng=1)
    assert (many.name, many.rule, many.found.n, many.found.delta) == ("good", "split", 1333, DELTA)
    refused(TypeError, "candidates must be a mapping", choose_among, loss, {}, risk=0.05, delta=DELTA)
    short = {"a": ease, "b": ease[1:]}
    refused(ValueError, r"\(loss: 2000, a: 2000, b: 1999\)", choose_among, loss, short, risk=0.05, delta=DELTA)


@pytest.mark.usefixtures("threshold_alone")
def test_a_guarantee_about_false_negatives():
    """Of the accepted positives at most the limit is missed; coverage is of all rows; violated as seldom as stated."""
    rng, broken = np.random.default_rng(8), 0
    for _ in range(200):
        label, score = rng.random(600) < 0.4, rng.random(600)
        missed = label & (rng.random(600) < 0.0502)
        found = conditional_threshold(missed, score, label, what="rows with y = 1", risk=0.05, delta=DELTA)
        broken += found.attainable
    assert broken / 200 <= worst(200)
    good = conditional_threshold(np.zeros(600), score, label, what="rows with y = 1", risk=0.05, delta=DELTA)
    assert good.coverage == pytest.approx(np.mean(score >= good.threshold))
    assert good.n == 600
    assert "what is accepted among rows with y = 1 is at most 0.05" in good.guarantee().statement
    for where, message in ((np.zeros(600, bool), "where holds no row"), (label * 1.0, "one truth value per row")):
        given = {"what": "some", "risk": 0.05, "delta": DELTA}
        refused((ValueError, TypeError), message, conditional_threshold, missed, score, where, **given)


def test_a_plan_has_a_range_and_refuses_an_empty_pilot():
    """More coverage takes more rows; a pilot with four errors says nothing; one that cannot be certified says so."""
    rng = np.random.default_rng(9)
    ease = rng.random(300)
    wrong = rng.random(300) > ease**0.1
    some, more = (plan_certificate(wrong, ease, risk=0.1, delta=DELTA, coverage=c) for c in (0.1, 0.9))
    assert some.low <= some.n <= some.high
    assert some.n < more.n
    assert (some.n_pilot, some.n_errors) == (300, int(wrong.sum()))
    message = r"holds 4 errors; below 5 it cannot say.*at least 149"
    refused(ValueError, message, plan_certificate, np.arange(300) < 4, ease, risk=0.02, delta=DELTA)
    refused(ValueError, "needs a 0/1 loss", plan_certificate, 0.5 * wrong, ease, risk=0.05, delta=DELTA)
