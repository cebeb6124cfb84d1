"""Bounds of everything that follows from a summary, in random trials of public functions: no value leaves them."""

import numpy as np
import pytest

import abstain
from abstain.summaries import Summary
from tests.refusal import refused


def probabilities(rng, n):
    """Probabilities that crowd at 1, tie, crowd anywhere, or stand at the edges of floating point."""
    shapes = [lambda: rng.random(n), lambda: 1.0 - 10.0 ** -rng.uniform(0, 18, n), lambda: np.round(rng.random(n), 1)]
    shapes += [lambda: 0.9 + 0.1 * rng.random(n) * 10.0 ** -rng.integers(1, 16)]
    shapes += [lambda: rng.choice([0.0, 1.0, 5e-324, 0.5, 1 - 2**-53, 0.5001, 0.5002], n)]
    return np.clip(shapes[rng.integers(len(shapes))](), 0.0, 1.0)


def reals(rng, n):
    """Scores of any size, ties, denormals, infinities, scores far from 0 beside their spread."""
    plain = rng.normal(0, 1, n) * 10.0 ** rng.integers(-3, 4)
    edges = [0.0, -0.0, 1e300, -1e300, 1.7e308, -1.7e308, np.inf, 5e-324, -5e-324, 1.0, 1.00001]
    shapes = [plain, np.round(plain, 1), 1000 + rng.normal(0, 0.1, n), np.float32(plain), rng.choice(edges, n)]
    return np.asarray(shapes[rng.integers(len(shapes))], dtype=float)


def losses(rng, n):
    """0/1 losses, mostly; else losses of any size, but for such as underflow, which are refused."""
    shapes = [
        lambda: (rng.random(n) < rng.random()).astype(float),
        lambda: (rng.random(n) < rng.random()).astype(float),
        lambda: rng.exponential(1.0, n) * 10.0 ** rng.integers(-3, 4) * (rng.random(n) < 0.8),
        lambda: rng.choice([0.0, 0.25, 0.5, 1.0, 3.0], n),
        lambda: rng.choice([0.0, 1e-270, 1e-279, 1e70, 0.3, 1 / 3], n),
    ]
    return shapes[rng.integers(len(shapes))]()


def specs(rng, score, table):
    """All that follows from this summary with default options, and points: at edges, between them and anywhere."""
    coverage = float(rng.choice([0.0, 1.0, rng.random(), rng.integers(0, table.n + 1) / table.n]))
    risk = float(min(1.0, rng.choice([0.0, rng.random(), 0.5, table.mean_loss])))
    threshold = float(rng.choice([rng.choice(score), rng.normal(), rng.random()]))
    found = [f"{name}(coverage={coverage!r})" for name in ("selective_risk", "generalized_risk")]
    if np.isfinite(threshold):
        found += [f"{name}(coverage=None, threshold={threshold!r})" for name in ("selective_risk", "generalized_risk")]
    if table.binary:
        found += [f"selective_accuracy(coverage={coverage!r})"]
    return [*found, f"coverage_at_risk(risk={risk!r})"]


@pytest.mark.parametrize(
    ("first", "repetitions"),
    [(0, 200), *(pytest.param(first, 1000, marks=pytest.mark.slow) for first in range(0, 10_000, 1000))],
)
def test_no_value_leaves_its_bounds(first, repetitions):
    """Each value of the exact table lies within the bounds, whatever the chunks and parts of the summary."""
    seen = {}
    for seed in range(first, first + repetitions):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40) if rng.random() < 0.8 else rng.integers(40, 400))
        scale = rng.choice(["probability", "real"])
        score = probabilities(rng, n) if scale == "probability" else reals(rng, n)
        if rng.random() < 0.2:
            score = np.where(rng.random(n) < 0.2, np.nan, score)  # rows without a score
        loss = losses(rng, n)
        table = abstain.TieBlocks.from_samples(loss, score, nan_policy="reject", oracle=True)
        key = {"scale": str(scale), "bits": int(rng.choice([8, 8, 8, 9, 12]))}
        one, *others = (
            Summary(**key).update(loss[rows], score[rows], nan_policy="reject")
            for rows in np.array_split(rng.permutation(n), rng.integers(1, 5))
        )
        summary = one.merge(*others)
        given = [each.metric for each in summary.result().measurements]
        for spec in [*given, *specs(rng, np.where(np.isnan(score), -np.inf, score), table)]:
            metric = abstain.metrics.parse(spec)
            exact, bounds = metric(table), summary.bounds(metric)
            slack = 1e-11 * max(abs(bounds.low), abs(bounds.high), float(table.binary)) + 1e-300
            where = f"{seed}: {spec}: {exact} {bounds}"
            if np.isnan(exact):
                assert np.isnan(bounds.value) or (metric.tolerated is not None and bounds.low == 0.0), where
                continue
            assert bounds.low - slack <= exact <= bounds.high + slack, where
            assert bounds.low - slack <= bounds.value <= bounds.high + slack, where
            seen[metric.name] = seen.get(metric.name, 0) + 1
        curve, exact_curve = summary.curve(), abstain.RiskCoverageCurve(table)
        bin_of = np.searchsorted(curve["coverage"], exact_curve.coverage - 1e-12)
        risk = exact_curve.selective_risk
        assert (risk >= curve["risk_low"][bin_of] * (1 - 1e-11) - 1e-300).all()
        assert (risk <= curve["risk_high"][bin_of] * (1 + 1e-11) + 1e-300).all()
    assert len(seen) >= 15
    assert min(seen.values()) >= repetitions // 20


@pytest.mark.parametrize(("scale", "most"), [("probability", 3e-3), ("real", 0.02)])
def test_bounds_with_16_bits_are_narrow(scale, most):
    """Half of the probabilities above .999, some exactly 1: areas to 3e-3 of their value, of logits to 2 %."""
    rng = np.random.default_rng(0)
    margin = np.float32(rng.normal(7.0, 5.0, 200_000)).astype(float)
    right = 1.0 / (1.0 + np.exp(-np.abs(margin)))
    loss = (rng.random(len(margin)) > right).astype(float)
    score = np.float32(right).astype(float) if scale == "probability" else np.abs(margin)
    summary = Summary(scale).update(loss, score)
    table = abstain.TieBlocks.from_samples(loss, score)
    for name in ("aurc", "augrc"):
        bounds = summary.bounds(name)
        assert bounds.low <= abstain.metrics.get(name)(table) <= bounds.high
        assert 0.0 < bounds.width < most


def test_losses_that_underflow_are_refused():
    """Sums of denormal losses are exact, their means are not: no bound is given that does not hold."""
    rng = np.random.default_rng(0)
    summary = Summary().update(rng.choice([0.0, 5e-324, 1e-310], 50), rng.random(50))
    refused(abstain.UnmetNeed, r"aurc of losses of at most 1e-310 underflows.* rescale them", summary.bounds, "aurc")
    assert not summary.result().measurements
