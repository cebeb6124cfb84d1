"""Size and coverage of the paired comparison by simulation, with a known truth; the long version is a benchmark."""

from contextlib import suppress
from functools import partial

import numpy as np
import pytest

import abstain
from abstain.inference import paired, panel
from tests.inference.populations import allowance, exchangeable, rejected
from tests.tiers import repeated

METRICS = ("aurc", "augrc")
#: Swaps where few errors decide: their test is exact with any number, and many times as many would add power only.
SWAPS = 39


def columns(losses, scores):
    names = "abcdefgh"[: len(scores)]
    return panel(dict(zip(names, losses, strict=True)), dict(zip(names, scores, strict=True)))


def sizes(draw, repetitions, seed, specs=METRICS, n_resamples=1000):
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
    [(200, 80), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((200, 2000), (1000, 1200), (10000, 250)))],
)
@pytest.mark.parametrize(
    ("kind", "error"), [("plain", 0.05), ("plain", 0.2), ("ties", 0.2), ("models", 0.2), ("real", 0.2)]
)
def test_two_exchangeable_scores_differ_in_at_most_6_per_cent(kind, error, n, repetitions):
    repetitions = min(repetitions, 40) if n * error < 20 and repetitions == 80 else repetitions  # swaps take longer
    for metric, share in sizes(partial(exchangeable, n, kind=kind, error=error), repetitions, seed=n).items():
        assert share <= 0.06 + allowance(0.06, repetitions), (metric, share)


@repeated(40, 150)
@pytest.mark.parametrize("metric", ["augrc", "coverage_at_risk(risk=0.3)"])
def test_five_clusters_are_five_by_bootstrap_too(metric, repetitions):
    def draw(rng):
        loss = (rng.random(100) < 0.3).astype(float)
        signs = [np.repeat(rng.standard_normal(5), 20) for _ in range(2)]
        return [loss], [-loss * (1.0 + sign) + rng.standard_normal(100) for sign in signs]

    def test(losses, scores):
        options = {"method": "bootstrap", "clusters": np.repeat(np.arange(5), 20), "n_resamples": 100}
        named = dict(zip("ab", scores, strict=True))
        return abstain.compare(losses[0], named, metric, **options).differences[0].p_value <= 0.05

    assert rejected(test, draw, repetitions) <= 0.06 + allowance(0.06, repetitions)
