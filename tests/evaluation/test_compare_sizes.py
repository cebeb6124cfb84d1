"""Size and coverage of the paired comparison by simulation, with a known truth; the long version is a benchmark."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest

import abstain
from abstain.inference import paired, panel
from tests.inference.populations import allowance, exchangeable, rejected
from tests.tiers import repeated

METRICS = ("aurc", "augrc")
#: Swaps where few errors decide: their test is exact with any number, and ten times as many would add power only.
SWAPS = 199


def columns(losses: list[np.ndarray], scores: list[np.ndarray]) -> Any:
    names = "abcdefgh"[: len(scores)]
    return panel(dict(zip(names, losses, strict=True)), dict(zip(names, scores, strict=True)))


def test_the_harness_counts_what_it_is_told() -> None:
    """A fair coin rejects in half of the repetitions."""
    assert rejected(lambda loss, score: loss[0][0] > 0.5, lambda rng: ([rng.random(1)], []), 2000) == pytest.approx(
        0.5, abs=allowance(0.5, 2000)
    )


def sizes(
    draw: Any, repetitions: int, seed: int, specs: tuple[str, ...] = METRICS, n_resamples: int = 1000
) -> dict[str, float]:
    """Return the share of rejections at 5 % for several metrics on the same samples; an undefined one rejects none."""
    rng = np.random.default_rng(seed)
    counts, metrics = dict.fromkeys(specs, 0), {spec: abstain.metrics.parse(spec) for spec in specs}
    for _ in range(repetitions):
        checked = columns(*draw(rng))
        for spec, metric in metrics.items():
            with suppress(ValueError):
                found = paired(metric, checked, rng=rng, n_resamples=n_resamples, n_permutations=SWAPS)
                counts[spec] += found.differences[0].significant
    return {spec: count / repetitions for spec, count in counts.items()}


@pytest.mark.parametrize(
    ("n", "repetitions"),
    [(200, 200), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((200, 2000), (1000, 1200), (10000, 250)))],
)
@pytest.mark.parametrize(
    ("kind", "error"), [("plain", 0.05), ("plain", 0.2), ("ties", 0.2), ("models", 0.2), ("real", 0.2)]
)
def test_two_exchangeable_scores_differ_in_at_most_6_per_cent(kind, error, n, repetitions):
    repetitions = min(repetitions, 60) if n * error < 20 and repetitions == 200 else repetitions  # swaps take longer
    for metric, share in sizes(partial(exchangeable, n, kind=kind, error=error), repetitions, seed=n).items():
        assert share <= 0.06 + allowance(0.06, repetitions), (metric, share)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "error"), [("plain", 0.05), ("ties", 0.2), ("models", 0.2)])
def test_sizes_of_other_metrics(kind, error):
    """By influence functions, with the number of errors counted, at a coverage, and by bootstrap."""
    specs = ("auroc_f", "naurc", "selective_risk(coverage=0.8)", "coverage_at_risk(risk=0.1)", "fpr95_error")
    draw = partial(exchangeable, 200, kind=kind, error=error)
    for spec, share in sizes(draw, 150, seed=4, specs=specs, n_resamples=120).items():
        assert share <= 0.06 + allowance(0.06, 150), (spec, share)


@pytest.mark.parametrize("metric", ["brier_confidence", "cwsa(threshold=0.3)"])
@repeated(30, 400)
def test_fifteen_samples_have_fourteen_degrees_of_freedom(metric, repetitions):
    def test(losses, scores):
        named = dict(zip("ab", (1.0 / (1.0 + np.exp(-score)) for score in scores), strict=True))
        return abstain.compare(losses[0], named, metric, n_permutations=SWAPS).differences[0].p_value <= 0.05

    share = rejected(test, lambda rng: exchangeable(15, rng, error=0.3), repetitions)
    assert share <= 0.06 + allowance(0.06, repetitions)


@pytest.mark.parametrize("metric", ["augrc", "coverage_at_risk(risk=0.3)"])
def test_five_clusters_are_five_by_bootstrap_too(metric):
    def draw(rng):
        loss = (rng.random(100) < 0.3).astype(float)
        signs = [np.repeat(rng.standard_normal(5), 20) for _ in range(2)]
        return [loss], [-loss * (1.0 + sign) + rng.standard_normal(100) for sign in signs]

    def test(losses, scores):
        options = {"method": "bootstrap", "clusters": np.repeat(np.arange(5), 20), "n_resamples": 100}
        named = dict(zip("ab", scores, strict=True))
        return abstain.compare(losses[0], named, metric, **options).differences[0].p_value <= 0.05

    assert rejected(test, draw, 150) <= 0.06 + allowance(0.06, 150)


@repeated(250, 1500)
def test_the_interval_of_a_true_difference_covers(repetitions):
    """Two scores of unlike noise; the truth is the mean over many samples of the unbiased estimate."""
    rng = np.random.default_rng(11)

    def draw(n: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        difficulty = rng.standard_normal(n)
        loss = (rng.random(n) < np.minimum(0.2 * np.exp(difficulty - 0.5), 1.0)).astype(float)
        return loss, {name: -difficulty + sd * rng.standard_normal(n) for name, sd in (("good", 0.5), ("bad", 1.2))}

    large = [draw(300_000) for _ in range(repetitions // 125)]
    truth = np.mean([abstain.augrc(loss, s["good"]) - abstain.augrc(loss, s["bad"]) for loss, s in large])
    for n in (200, 1000):
        covered = 0
        for _ in range(repetitions):
            loss, scores = draw(n)
            found = paired(abstain.metrics.get("augrc"), panel(loss, scores), rng=rng).differences[0]
            covered += found.low <= truth <= found.high
        assert 0.935 - allowance(0.95, repetitions) <= covered / repetitions <= 0.97 + allowance(0.95, repetitions)


@pytest.mark.slow
def test_holm_and_max_t_keep_the_family_wise_error(monkeypatch):
    """Five exchangeable scores: ten pairs, any rejection is false; without adjustment it is far above 5 %."""
    monkeypatch.setattr("abstain.inference._multiple.DRAWS", 5000)
    repetitions = 600
    rng = np.random.default_rng(12)
    wrong = dict.fromkeys(("holm", "max-t", "none"), 0)
    for _ in range(repetitions):
        checked = columns(*exchangeable(500, rng, k=5))
        for adjust in wrong:
            found = paired(abstain.metrics.get("augrc"), checked, adjust=adjust, rng=rng).differences
            wrong[adjust] += any(each.significant for each in found)
    for adjust in ("holm", "max-t"):
        assert wrong[adjust] / repetitions <= 0.06 + allowance(0.06, repetitions)
    assert wrong["none"] / repetitions > 0.15


def test_wilcoxon_over_resamples_is_no_test():
    """The same harness: resamples of one test set differ "significantly" nearly always."""
    rng = np.random.default_rng(13)
    repetitions, resamples, n = 40, 200, 1000
    false = percentile = 0
    for _ in range(repetitions):
        losses, scores = exchangeable(n, rng)
        drawn = augrc_of_resamples(losses[0], scores, resamples, rng)
        p = abstain.inference.wilcoxon_over_resamples(drawn)
        false += min(p[0, 1], p[1, 0]) < 0.05
        low, high = np.quantile(drawn[:, 0] - drawn[:, 1], [0.025, 0.975])
        percentile += low > 0.0 or high < 0.0
    assert false / repetitions > 0.75
    assert percentile / repetitions <= 0.06 + allowance(0.06, repetitions)


def augrc_of_resamples(loss: np.ndarray, scores: list[np.ndarray], resamples: int, rng: Any) -> np.ndarray:
    """AUGRC of resamples, all scores on the same rows, by sums over sorted counts (no ties in the scores)."""
    n = loss.size
    counts = rng.multinomial(n, np.full(n, 1.0 / n), size=resamples).astype(float)
    result = []
    for score in scores:
        order = np.argsort(-score)
        weight, lost = counts[:, order], counts[:, order] * loss[order]
        result.append(np.sum(weight * (np.cumsum(lost, axis=1) - 0.5 * lost), axis=1) / n**2)
    return np.stack(result, axis=1)


def test_those_resamples_are_augrc():
    rng = np.random.default_rng(0)
    losses, scores = exchangeable(50, rng)
    seed = np.random.default_rng(7)
    drawn = augrc_of_resamples(losses[0], scores, 3, np.random.default_rng(7))
    counts = seed.multinomial(50, np.full(50, 0.02), size=3)
    expected = [[abstain.augrc(losses[0], score, sample_weight=row) for score in scores] for row in counts]
    assert drawn == pytest.approx(np.array(expected))
