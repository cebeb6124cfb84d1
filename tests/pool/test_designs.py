"""Which rows a plan draws, and what it promises, against the formulas of the designs, row by row."""

from functools import lru_cache

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import gamma, norm

import abstain

N = 200
RNG = np.random.default_rng(8)
SCORE, JUDGE, OTHER = np.round(RNG.random(N), 2), (RNG.random(N) < 0.3) * 1.0, np.round(RNG.random(N), 2)
LOSS = (RNG.random(N) < 0.9 * (1.0 - SCORE)) * 1.0
DIFFERS = RNG.random(N) < 0.2


def ranks(score):
    """Return the normal score of each row's mid-rank."""
    return norm.ppf([(np.sum(score < one) + 0.5 * np.sum(score == one)) / N for one in score])


def by_score(function, score=SCORE):
    """Return the number of each row, which is the same for rows of one score."""
    _, first, place = np.unique(score, return_index=True, return_inverse=True)
    return np.array([function(k) for k in first])[place]


def adds(metric, risk, score=SCORE):
    """Return what one more error in each row adds to a metric where the risk is as guessed, from its definition."""
    return _adds(metric, risk.tobytes(), score.tobytes())


@lru_cache(maxsize=4)
def _adds(metric, *columns):
    chosen, (risk, score) = abstain.metrics.parse(metric), map(np.frombuffer, columns)
    value, size = chosen.of(risk, score), 1.0 if chosen.attribution else 1e-6
    return by_score(lambda k: (chosen.of(risk + size * (np.arange(N) == k), score) - value) / size, score)


def of_mean(log_odds, mean):
    """Return risks of this mean whose log odds are moved alike."""
    moved = lambda by: 1.0 / (1.0 + np.exp(-log_odds - by))  # noqa: E731
    return moved(brentq(lambda by: np.mean(moved(by)) - mean, -50, 50))


def chances(size, n):
    """Return probabilities in proportion to sizes, at most 1, that sum to n."""
    factor = brentq(lambda c: np.minimum(c * size, 1.0).sum() - n, 0.0, 1.0 / size.min() + 1.0, xtol=1e-15)
    return np.minimum(factor * size, 1.0)


def floored(size, n, floor=0.3):
    """Return the same of which a share is alike for all rows."""
    return chances(floor / size.size + (1.0 - floor) * size / size.sum(), n)


def heavy(metric, risk, rows=slice(None)):
    """Return sizes above 1 where an error counts above twice the mean of these rows."""
    weight = np.abs(adds(metric, risk))[rows]
    return np.maximum(weight / (2.0 * weight.mean()), 1.0)


def promised(metric, risk, chance, level=0.95):
    """Return half-width, labels of plain evaluation, errors that labels show, and the share kept for one unseen."""
    chosen, w = abstain.metrics.parse(metric), adds(metric, risk)
    square, tail = w**2 * risk * (1.0 - risk), 0.5 + 0.5 * level
    variance, n = float(np.sum(square * (1.0 / chance - 1.0))), chance.sum()
    value, room = float(chosen.of(risk, SCORE)), 0.0
    half = norm.ppf(tail) * np.sqrt(variance)
    if metric in ("augrc", "aurc", "risk"):
        unseen = float(np.sum(w * (1.0 - chance)) / n), float(np.sum(chance * (w * (1.0 / chance - 1.0)) ** 2) / n)

        def end(mean, spread, at):
            return float(gamma.ppf(at, mean**2 / spread, scale=spread / mean))

        high = end(value, variance, tail)
        more = max(end(value + unseen[0], variance + unseen[1], tail) - high, 0.0)
        half = 0.5 * (high + more - end(value, variance, 1.0 - tail))
        room = 0.5 * more / half

    def plain(loss):
        """Return what a row more does in plain evaluation, one that is right or wrong."""

        def one(k):
            more = np.append(risk, loss), np.append(SCORE, SCORE[k]), np.append(np.ones(N), 1e-6)
            return (chosen(abstain.TieBlocks.from_samples(*more)) - value) / 1e-6

        return by_score(one)

    right, wrong = plain(0.0), plain(1.0)
    one = N * float(np.sum((1.0 - risk) * right**2 + risk * wrong**2))
    return half, one / variance, float(chance @ risk), room


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("augrc", {}), ("augrc", {"error_rate": 0.1}), ("risk", {"design": "uniform"}), ("aurc", {"level": 0.8}),
        ("aurc", {"design": "adaptive", "error_rate": 0.15}), ("aurc", {"design": "adaptive", "error_rate": 0.14}),
        ("aurc", {"design": "planned", "judge": JUDGE}), ("aurc", {"design": "adaptive", "error_rate": 0.3}),
        ("augrc", {"design": "planned", "judge": JUDGE, "error_rate": 0.25}), ("risk", {"design": "adaptive"}),
    ],
)  # fmt: skip
def test_a_first_stage_is_its_formula(metric, options):
    """Chances of all rows, and what the plan promises of its labels."""
    plan = abstain.plan_labels(SCORE, n=60, metric=metric, seed=0, **options)
    design, rate = options.get("design", "levelled" if metric == "aurc" else "uniform"), options.get("error_rate")
    said = 0.1 + 0.4 * JUDGE
    if "judge" in options:
        risk = said if rate is None else of_mean(np.log(said / (1.0 - said)), rate)
    else:
        z = -0.8 * ranks(SCORE)
        risk = 1.0 / (1.0 + np.exp(2.0 - z)) if rate is None else of_mean(z, rate)
    assert plan.design == design
    first = 15 if design == "adaptive" else 60
    wanted = np.full(N, first / N)
    w = np.abs(adds(metric, risk))
    if design == "levelled":
        wanted = chances(heavy(metric, risk), 60)
    elif design == "planned":
        wanted = floored(np.sqrt(w * risk * (1.0 - risk)), 60)
    elif design == "adaptive" and rate is not None and rate >= 0.15:  # errors are expected to be frequent
        wanted = floored(w * np.sqrt(risk * (1.0 - risk)), first, 0.5)
    assert plan.inclusion == pytest.approx(wanted, rel=1e-5)
    found = plan.facts.expected
    hope = promised(metric, risk, np.minimum(wanted * 60 / first, 1.0), options.get("level", 0.95))
    assert (found.halfwidth, found.plain, found.errors, found.room) == pytest.approx(hope, rel=2e-3)


@pytest.mark.parametrize("kind", ["uniform aurc", "levelled aurc", "planned aurc", "adaptive aurc", "adaptive risk"])
def test_a_further_stage_is_its_formula(kind):
    """By the risk that the labels show; an adaptive one only where enough errors were seen, and it gains a tenth."""
    design, metric = kind.split()
    given = {"judge": JUDGE} if design == "planned" else {}
    for score, seed, errors in ((SCORE, 0, None), (SCORE, 1, None), *((SCORE, 0, k) for k in (4, 5, -5, -4))):
        plan = abstain.plan_labels(score, n=120, metric=metric, seed=seed, design=design, **given)
        known = np.where(plan.stage > 0, LOSS, np.nan)
        if errors is not None:  # so many errors, or so many right predictions, the most confident labelled rows
            place = plan.planned[np.argsort(-score[plan.planned])]
            known[place] = (np.arange(place.size) < abs(errors)) == (errors > 0)
        sample = abstain.pool.sample_of(plan, known)
        left, risk = np.flatnonzero(plan.stage == 0), sample.risk
        more = plan.extend(known, n=40, seed=3)
        enough = design != "adaptive" or min(sample.errors, sample.n - sample.errors) >= 5
        w = np.abs(adds(metric, risk, score)) if enough else None
        wanted = np.full(left.size, 40 / left.size)
        if design == "levelled":
            wanted = chances(np.maximum(w[left] / (2.0 * w[left].mean()), 1.0), 40)
        elif design == "planned":
            wanted = floored(np.sqrt(w * risk * (1.0 - risk))[left], 40)
        elif design == "adaptive" and enough:
            mean = risk[left].mean()
            eta = mean + (risk[left] - mean) * sample.errors / (sample.errors + 5.0)
            better = floored(w[left] * np.sqrt(eta * (1.0 - eta)), 40)
            square = w[left] ** 2 * eta * (1.0 - eta)
            if np.sum(square * (1 / better - 1)) <= 0.9 * np.sum(square * (1 / wanted - 1)):
                wanted = better
        assert more.probability[1][left] == pytest.approx(wanted, rel=1e-5)
        assert not more.probability[1][plan.stage > 0].any()
        assert (more.stage == 2).sum() == 40
        assert more.facts.held_back == max(plan.facts.held_back - 40, 0)
        if design == "uniform":
            together = np.where(plan.stage > 0, 1.0, more.probability[1])
            found, hope = more.facts.expected, promised(metric, risk, together)
            assert (found.halfwidth, found.plain, found.errors, found.room) == pytest.approx(hope, rel=2e-3)


@pytest.mark.parametrize("rate", [None, 0.2])
@pytest.mark.parametrize("models", [False, True])
def test_a_plan_for_two_is_its_formula(models, rate):
    """In proportion to the root of the squared difference that a row is expected to make."""
    guess = np.zeros(N, int), DIFFERS * 1
    plan = abstain.plan_labels(SCORE, n=60, compare=(OTHER, *guess) if models else OTHER, error_rate=rate, seed=0)
    a, b = (adds("augrc", np.zeros(N), score) for score in (SCORE, OTHER))
    z, known = -0.4 * (ranks(SCORE) + ranks(OTHER)), rate
    if rate is None and models:
        known = 0.5 * DIFFERS.mean()
    risk = 1.0 / (1.0 + np.exp(2.0 - z)) if known is None else of_mean(z, known)
    risk = 0.1 * risk.mean() + 0.9 * risk
    square = (a - b) ** 2 * risk * (1.0 - risk)
    if models:
        square = np.where(DIFFERS, 0.45 * (a**2 + b**2) + 0.1 * (a - b) ** 2, square)
    wanted = floored(np.sqrt(square), 60, 0.15)
    assert plan.inclusion == pytest.approx(wanted, rel=1e-6)
    more = plan.extend(np.where(plan.stage > 0, LOSS, np.nan), n=50, seed=1)
    left = plan.stage == 0
    assert more.inclusion[left] == pytest.approx(floored(np.sqrt(square)[left], 50, 0.15), rel=1e-6)
    half = norm.ppf(0.975) * np.sqrt(np.sum(square * (1.0 / wanted - 1.0)))
    assert plan.facts.expected.halfwidth == pytest.approx(half, rel=1e-6)


@pytest.mark.parametrize("metric", ["augrc", "aurc"])
def test_a_width_needs_the_fewest_labels_that_promise_it(metric):
    """One label fewer promises more."""
    plan = abstain.plan_labels(SCORE, halfwidth=0.04, metric=metric, seed=0)
    fewer = abstain.plan_labels(SCORE, n=plan.rows_to_label.size - 1, metric=metric, seed=0)
    assert plan.facts.expected.halfwidth <= 0.04 < fewer.facts.expected.halfwidth


@pytest.mark.parametrize(("n", "first"), [(1, 1), (4, 1), (7, 2), (60, 15)])
def test_an_adaptive_plan_labels_a_quarter_first(n, first):
    """One row at least; the rest is held back for what these show."""
    plan = abstain.plan_labels(SCORE, n=n, design="adaptive", seed=0)
    assert (plan.rows_to_label.size, plan.facts.held_back) == (first, n - first)
