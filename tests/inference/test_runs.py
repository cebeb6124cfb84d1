"""Several training runs, and clusters of unequal size: which variance counts, and its degrees of freedom."""

import numpy as np
import pytest
from scipy import integrate, stats

import abstain
from abstain.inference import non_inferiority, paired, panel
from abstain.inference._clusters import _zero
from abstain.inference._spread import components, of_pair, satterthwaite
from tests.inference.populations import allowance
from tests.tiers import repeated

AUGRC = abstain.metrics.get("augrc")


def models(n, runs, seed_sd, rng, k=2):
    """Return losses and scores of k equally good models; each run draws its own error rate and noise."""
    difficulty = rng.standard_normal(n)
    losses, scores = {}, {}
    for name in "abcdef"[:k]:
        own = seed_sd * rng.standard_normal(runs)
        common = rng.random(n)
        chance = np.minimum(0.2 * np.exp(difficulty - 0.5 + own[:, None]), 1.0)
        drawn = np.where(rng.random((runs, n)) < 0.5, common, rng.random((runs, n)))
        losses[name] = (drawn < chance).astype(float)
        scores[name] = -difficulty + rng.standard_normal((runs, n))
    return losses, scores


@pytest.mark.parametrize(("runs", "seed_sd"), [(2, 0.4), (3, 0.15), (5, 0.4)])
@repeated(60, 400)
def test_two_equal_models_rarely_differ(runs, seed_sd, repetitions):
    """R = 2 has one degree of freedom per model: 1 % more is granted to Satterthwaite's approximation."""
    rng = np.random.default_rng(runs)
    n = 200
    tests = (paired(AUGRC, panel(*models(n, runs, seed_sd, rng)), rng=rng) for _ in range(repetitions))
    wrong = sum(each.differences[0].significant for each in tests)
    assert wrong / repetitions <= (0.07 if runs == 2 else 0.06) + allowance(0.06, repetitions)


def test_components_by_hand():
    values = np.array([1.0, 2.0, 4.0])
    terms = np.array([[0.1, -0.1], [0.2, -0.2], [0.3, -0.3]])
    parts = components(values, terms, np.inf)
    inside = 2 * (0.01 + 0 + 0.01) / 2
    assert parts.test == pytest.approx(2 * 0.2**2)
    assert parts.seed == pytest.approx((np.var(values, ddof=1) - inside) / 3)
    shared, between = parts.test - inside / 3, np.var(values, ddof=1) / 3
    assert parts.df == pytest.approx((shared + between) ** 2 / (between**2 / 2))
    two = components(values[:2], terms[:2], np.inf)  # nothing is subtracted
    assert (two.test, two.seed) == (pytest.approx(2 * 0.15**2), pytest.approx(0.25))
    one = components(values[:1], terms[:1], 7.0)
    assert np.isnan(one.seed)
    assert (one.total, one.df) == (pytest.approx(0.02), 7.0)
    flat = components(np.ones(3), terms, 9.0)
    assert (flat.seed, flat.df) == (0.0, 9.0)


def test_welch_and_satterthwaite_as_in_scipy():
    """Without test-set noise the unpaired difference is Welch's t-test, the paired one Student's."""
    rng = np.random.default_rng(0)
    a, b, none = rng.standard_normal(5), 3 * rng.standard_normal(8), np.zeros((1, 4))
    parts = of_pair((a, b), (none.repeat(5, 0), none.repeat(8, 0)), np.inf, False)
    welch = stats.ttest_ind(a, b, equal_var=False)
    assert parts.df == pytest.approx(welch.df)
    assert (a.mean() - b.mean()) / np.sqrt(parts.total) == pytest.approx(welch.statistic)
    parts = of_pair((a, b[:5]), (none.repeat(5, 0),) * 2, np.inf, True)
    assert parts.df == pytest.approx(4)
    assert np.sqrt(parts.total) == pytest.approx(stats.sem(a - b[:5]))
    assert satterthwaite((1.0, np.inf), (0.0, 3.0)) == np.inf


def test_pairing_of_runs_is_an_argument_with_a_sensible_default():
    rng = np.random.default_rng(1)
    losses, scores = models(300, 5, 0.5, rng, k=1)
    both = {"a": scores["a"], "b": scores["a"] + 0.1 * rng.standard_normal((5, 300))}
    together, apart = abstain.compare(losses["a"], both), abstain.compare(losses["a"], both, paired_runs=False)
    assert together.paired_runs
    assert not abstain.compare({"a": losses["a"], "b": losses["a"]}, both).paired_runs
    assert apart.differences[0].error_runs > 3 * together.differences[0].error_runs
    assert apart.differences[0].error_test == pytest.approx(together.differences[0].error_test)
    assert "subtracted run by run" in str(together)
    assert "independent" in str(apart)


# ---------------------------------------------------------------------- clusters of unequal size


SIZES = np.r_[np.full(3, 100), np.full(57, 5)]


def _models(sizes, together, seed):
    """Return two exchangeable models with normal losses, of which rows of a cluster share a part, and clusters."""
    rng = np.random.default_rng([seed, 3])
    rows = np.repeat(np.arange(len(sizes)), sizes)
    losses = {}
    for name in ("a", "b"):
        losses[name] = 20.0 + rng.normal(size=len(rows)) + together * rng.normal(size=len(sizes))[rows]
    return losses, {name: rng.random(len(rows)) for name in losses}, rows


@pytest.mark.parametrize(
    ("sizes", "together", "level"),
    [(SIZES, 0.0, 0.95), (SIZES, 1.0, 0.95), (SIZES, 0.4, 0.8), (np.r_[60, 40, 20, np.full(19, 4)], 0.7, 0.99)],
)
def test_the_critical_value_is_exact_for_normal_sums(sizes, together, level):
    """At the correlation that was found: from the eigenvalues of the form, by Craig's integral of the normal tail."""
    losses, scores, rows = _models(sizes, together, 1)
    each = abstain.compare(losses, scores, "risk", clusters=rows, level=level).difference("a", "b")
    share, variance, sums = _variances(losses, rows, sizes, each.difference)
    factor = 1.0 / (1.0 - 2.0 * share + share**2 * variance.sum() / variance)
    assert each.standard_error == pytest.approx(float(np.sqrt(factor @ sums**2)) / len(rows), rel=1e-6)
    less = (np.eye(len(sizes)) - share[:, None]) * np.sqrt(variance)
    spread = less.T @ np.diag(factor) @ less
    form = np.sqrt(np.outer(variance, variance)) - stats.t.ppf(0.5 + 0.5 * level, each.df) ** 2 * spread
    *rest, positive = np.linalg.eigvalsh(form)

    def inside(angle):
        return float(np.prod(1.0 + np.abs(rest) / (positive * np.sin(angle) ** 2)) ** -0.5)

    assert 1.0 < each.df < len(sizes) - 1.0
    assert integrate.quad(inside, 0.0, np.pi / 2)[0] * 2.0 / np.pi == pytest.approx(1.0 - level, rel=1e-4)


def _variances(losses, rows, sizes, difference):
    """Return shares of clusters, variances at the correlation that the rows of a cluster show, and their sums."""
    share, size = sizes / sizes.sum(), sizes.astype(float)
    gap = losses["a"] - losses["b"] - difference
    sums = np.bincount(rows, gap)
    lacking = [float(np.sum(v * (1 - 2 * share)) + v.sum() * share @ share) for v in (size, size**2 - size)]
    rho = min(max((sums @ sums / (gap @ gap) * size.sum() - lacking[0]) / lacking[1], 0.0), 1.0)
    return share, size + rho * (size**2 - size), sums


def test_of_many_clusters_the_degrees_of_freedom_are_satterthwaites():
    """The squared mean of the form by its variance, where they are more than 200; at most clusters less one."""
    sizes = np.r_[np.full(60, 7), np.full(300, 4)]
    losses, scores, rows = _models(sizes, 1.0, 1)
    each = abstain.compare(losses, scores, "risk", clusters=rows).difference("a", "b")
    share, variance, _ = _variances(losses, rows, sizes, each.difference)
    less = (np.eye(360) - share[:, None]) * np.sqrt(variance)
    form = less.T @ np.diag(1.0 / (1.0 - 2.0 * share + share**2 * variance.sum() / variance)) @ less
    satterthwaite = np.trace(form) ** 2 / np.trace(form @ form)
    assert 200.0 < satterthwaite < 359.0
    assert each.df == pytest.approx(satterthwaite, rel=1e-6)


def test_runs_in_clusters_are_as_their_mean():
    """The mean loss of two runs is that of the mean of their losses, and has its spread due to the test set."""
    (losses, scores, rows), (others, *_) = _models(SIZES, 1.0, 1), _models(SIZES, 0.5, 2)
    runs = {name: np.stack([loss, others[name]]) for name, loss in losses.items()}
    both = abstain.compare(runs, {name: np.stack([each] * 2) for name, each in scores.items()}, "risk", clusters=rows)
    mean = abstain.compare({name: each.mean(axis=0) for name, each in runs.items()}, scores, "risk", clusters=rows)
    assert both.differences[0].error_test == pytest.approx(mean.differences[0].error_test, rel=1e-9)


def test_equal_clusters_are_as_they_were():
    """Whatever they are called, and where rows of weight 0 alone make them unequal: K - 1 degrees of freedom."""
    losses, scores, rows = _models(np.full(20, 10), 1.0, 0)
    each = abstain.compare(losses, scores, "risk", clusters=[f"c{k}" for k in rows]).difference("a", "b")
    sums = np.bincount(rows, losses["a"] - losses["b"] - each.difference) / 200
    assert each.df == 19
    assert each.standard_error == pytest.approx(float(np.sqrt(20 / 19 * sums @ sums)), rel=1e-12)
    more = {name: np.r_[column, 20.0] for name, column in losses.items()}
    padded = abstain.compare(
        more, {name: np.r_[column, 0.5] for name, column in scores.items()}, "risk",
        sample_weight=np.r_[np.ones(200), 0.0], clusters=np.r_[rows, 3],
    ).difference("a", "b")  # fmt: skip
    assert (padded.df, padded.standard_error) == pytest.approx((19, each.standard_error))


def test_a_few_large_clusters_are_named():
    """Two clusters that hold most rows leave few degrees of freedom; a difference and a claim both say why."""
    losses, scores, rows = _models(np.r_[50, 50, np.full(18, 5)], 1.0, 0)
    each = abstain.compare(losses, scores, "risk", clusters=rows).differences[0]
    claim = non_inferiority(losses, scores, "risk", margin=0.1, clusters=rows)
    assert max(each.df, claim.df) < 5.0
    assert all("a few clusters hold most of the rows" in found.warning for found in (each, claim))


@pytest.mark.parametrize("metric", ["risk", "augrc", "aurc", "selective_risk(coverage=0.8)"])
def test_few_clusters_leave_room_for_some_that_are_wrong_as_a_whole(metric):
    """If few hold most rows, six may lack a share s with (1 - s)^6 = .025; one more error lowers no limit."""
    rows = np.repeat(np.arange(60), np.r_[np.full(6, 25), np.ones(54, dtype=int)])  # 10.9 effective clusters
    score, share, before = np.random.default_rng(0).random(204), 150.0 / 204.0 * (1.0 - 0.025 ** (1.0 / 6.0)), 0.0
    for wrong in range(0 if metric == "risk" else 5, 30):
        loss = ((rows >= 6) & (rows < 6 + wrong)) * 1.0
        found = abstain.confidence_interval(metric, loss, score, clusters=rows)
        assert found.high >= before - 1e-9
        before, room = found.high, found.estimate * (1.0 - share) + share * (0.5 if metric == "augrc" else 1.0)
        if "selective" not in metric:  # of which only what is accepted counts
            assert found.high >= room - 1e-9
            assert wrong > 10 or found.high == pytest.approx(room, rel=1e-3)
        if metric == "risk":
            accuracy = abstain.confidence_interval("accuracy", loss, score, clusters=rows)
            assert (accuracy.low, accuracy.high) == pytest.approx((1.0 - found.high, 1.0 - found.low))
    even = np.arange(200)
    for loss, unit in (
        ((even % 9 == 0) * 1.0, even % 10),
        (1.1 * (rows >= 55), rows),
    ):  # clusters of one size; losses above 1
        found = abstain.confidence_interval("risk", loss, score[: loss.size], clusters=unit)
        assert found.high < 1.0 - 0.025**0.05
        assert "large ones" not in found.warning


def test_a_root_is_where_the_sign_changes_or_the_nearer_end():
    for at, expected in ((0.25, 0.25), (1.0, 1.0), (0.0, 0.0), (2.0, 1.0), (-1.0, 0.0)):
        assert _zero(lambda x, at=at: x - at, 0.0, 1.0) == pytest.approx(expected, abs=1e-6)
