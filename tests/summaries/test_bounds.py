"""Certified bounds of binned scores: never left by any order and ties inside the bins, and attained for 0/1 losses."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain
from abstain.summaries import Key, Summary


def weak_orders(losses):
    """All ways to rank the losses of one bin with ties, as lists of groups from the most confident down."""
    if not losses:
        return [[]]
    found = set()
    for order in set(itertools.permutations(losses)):
        for cuts in itertools.product([False, True], repeat=len(order) - 1):
            groups, start = [], 0
            for position, cut in enumerate(cuts, 1):
                if cut:
                    groups.append(tuple(sorted(order[start:position])))
                    start = position
            found.add((*groups, tuple(sorted(order[start:]))))
    return [list(each) for each in found]


def bins_of(parts):
    """The summary of bins with these losses, whose scores differ within each bin."""
    summary = Summary(bits=8)
    for rank, part in enumerate(parts):
        uncertain = 2.0 ** (rank - 20) * (1.0 + 0.2 * np.arange(len(part)) / len(part))
        summary.update(part, 1.0 - uncertain)
    assert summary.n_bins == len(parts)
    return summary


def ranked(parts):
    """Every possible ranking of bins with these losses, as a table."""
    for orders in itertools.product(*(weak_orders(tuple(part)) for part in parts)):
        groups = [group for order in orders for group in order]
        loss = [each for group in groups for each in group]
        score = [-float(rank) for rank, group in enumerate(groups) for _ in group]
        yield abstain.TieBlocks.from_samples(loss, score)


@given(
    parts=st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=4), min_size=1, max_size=2),
    binary=st.booleans(),
)
def test_bounds_are_never_left_and_of_0_1_losses_attained(parts, binary):
    """Smallest and largest value over all rankings are the bounds of 0/1 losses; of others they lie within."""
    if not binary:
        parts = [[3.0 * loss / (k + 1.0) + 0.25 * k for k, loss in enumerate(part)] for part in parts]
    tables, bins = list(ranked(parts)), bins_of(parts)
    for name in ("aurc", "augrc"):
        seen, bounds = [abstain.metrics.get(name)(table) for table in tables], bins.bounds(name)
        if binary:
            assert (bounds.low, bounds.high) == pytest.approx((min(seen), max(seen)), abs=1e-12)
        assert bounds.low - 1e-12 <= min(seen) <= max(seen) <= bounds.high + 1e-12
        assert bounds.low - 1e-12 <= bounds.value <= bounds.high + 1e-12


@pytest.mark.parametrize("parts", [
    [[1.0, 0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0, 0.0, 0.0]], [[1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
    [[0.0], [1.0, 0.0, 0.0], [1.0]], [[1.0, 1.0], [0.0, 1.0, 1.0]], [[0.0, 0.0, 0.0, 1.0], [0.0]],
])  # fmt: skip
def test_operating_points_are_attained(parts):
    """Risk at a coverage, per accepted row and per row of all, and the coverage within a risk: over all rankings."""
    bins, tables = bins_of(parts), list(ranked(parts))
    n, errors = sum(map(len, parts)), [sum(part) for part in parts]
    for coverage in (0.0, 0.1, 0.3, 0.5, 0.55, 0.8, 1.0):
        for name in ("selective_risk", "generalized_risk", "selective_accuracy"):
            spec = f"{name}(coverage={coverage})"
            metric, bounds = abstain.metrics.parse(spec), bins.bounds(spec)
            seen = np.array([metric(table) for table in tables])
            expected = (seen.min(), seen.max())
            assert (bounds.low, bounds.high) == pytest.approx(expected, abs=1e-12, nan_ok=True), spec
            if name == "selective_accuracy" or np.isnan(seen).any():
                continue
            least, before, wrong = max(1, int(np.ceil(coverage * n - 1e-9))) if coverage else 0, 0, 0.0
            for part, error in zip(parts, errors, strict=True):  # losses are spread evenly over a bin
                inside = min(max(least - before, 0), len(part)) if len(part) > 1 else len(part) * (least > before)
                wrong, before = wrong + error * inside / len(part), before + len(part)
            even = wrong / (n if name == "generalized_risk" else max(least, 1))
            assert bounds.value == pytest.approx(min(max(even, bounds.low), bounds.high), abs=1e-12), spec
    for limit in (0.0, 0.2, 0.25, 0.34, 0.5, 0.6, 1.0):
        spec = f"coverage_at_risk(risk={limit})"
        metric, bounds = abstain.metrics.parse(spec), bins.bounds(spec)
        seen = np.nan_to_num([metric.evaluate(table).value for table in tables])
        low, high = (bounds.low, bounds.high) if bounds.reason is None else (0.0, 0.0)
        assert (low, high) == pytest.approx((seen.min(), seen.max()), abs=1e-12), spec
        assert np.isnan(bounds.value) or low <= bounds.value <= high


@pytest.mark.parametrize("parts", [[[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0]], [[0.5, 0.0, 3.0], [1.0, 0.25]]])
def test_a_threshold_within_a_bin_accepts_some_of_its_rows(parts):
    """At least the highest and not the lowest: of any number between, any rows; losses that are not 0/1 leave room."""
    bins, before, wrong, n = bins_of(parts), 0, 0.0, sum(map(len, parts))
    columns = bins.columns()
    for part, low, high in zip(parts, columns["lowest"], columns["highest"], strict=True):
        for share in (0.0, 0.3, 0.5, 0.9, 1.0):
            threshold = float(high - share * (high - low))
            numbers = range(1, len(part)) if low < threshold < high else [len(part)] if share == 1.0 else [1]
            if low < high == threshold:
                numbers = range(1, len(part))
            some = [(j, sum(each)) for j in numbers for each in itertools.combinations(part, j)]
            for name, per in (("selective_risk", None), ("generalized_risk", n)):
                bounds = bins.bounds(f"{name}(coverage=None, threshold={threshold!r})")
                risks = [(wrong + loss) / (per or before + j) for j, loss in some]
                assert bounds.low - 1e-12 <= min(risks)
                assert bounds.high + 1e-12 >= max(risks)
                if set(itertools.chain(*parts)) <= {0.0, 1.0}:
                    assert (bounds.low, bounds.high) == pytest.approx((min(risks), max(risks)), abs=1e-12)
                at = np.clip(share * len(part), 1, len(part) - 1) if low < threshold else len(part)
                at = at if low < high else len(part)
                value = (wrong + sum(part) * at / len(part)) / (per or before + at)
                assert bounds.value == pytest.approx(np.clip(value, bounds.low, bounds.high), abs=1e-9)
        before, wrong = before + len(part), wrong + sum(part)
    assert np.isnan(bins.bounds("selective_risk(coverage=None, threshold=2.0)").value)
    assert bins.bounds("generalized_risk(coverage=None, threshold=2.0)") == (0.0, 0.0, 0.0, None)


@pytest.mark.parametrize(("scored", "most"), [(3, "0.75"), (0, "0")])
def test_a_coverage_that_is_not_reached_says_the_largest(scored, most):
    """Rows without a score are accepted at no threshold."""
    bins = Summary("real", 8).update(np.zeros(4), np.where(np.arange(4) < scored, 0.5, -np.inf))
    assert bins.bounds("selective_risk(coverage=0.9)").reason.endswith(f"at most {most} have scores")


@pytest.mark.parametrize("bits", [8, 12, 16, 20])
@pytest.mark.parametrize("scale", ["probability", "real"])
def test_bins_keep_the_order_and_fit(scale, bits):
    """A higher score never has a higher bin, whatever the precision; the last bin is for -inf."""
    rng = np.random.default_rng(1)
    score = np.concatenate([1.0 - 10.0 ** -rng.uniform(0, 17, 5000), rng.uniform(0, 1, 5000), [0.0, 1.0, 5e-324]])
    if scale == "real":
        score = np.concatenate([score * 1e30, -score, score, [np.inf, 1.7e308, -1.7e308, -0.0]])
    index = Key(scale, bits).of(np.append(np.sort(score)[::-1], -np.inf))
    assert (np.diff(index) >= 0).all()
    assert index[0] == 0
    assert index[-2] < index[-1] == 2**bits - 1


def test_a_bin_of_a_key_is_never_far_away():
    """Scores of one bin differ by less than 2^-steps of what the key looks at: 1 - p, or the score."""
    rng = np.random.default_rng(2)
    for scale, look in (("probability", lambda s: 1.0 - s), ("real", np.abs)):
        score = 10.0 ** -rng.uniform(0, 9, 20_000)
        score = 1.0 - score if scale == "probability" else score * rng.choice([-1.0, 1.0], len(score))
        key = Key(scale, 12)
        at = Summary(scale, 12).update(np.zeros(len(score)), score).columns()
        low, high = np.sort([look(at["lowest"]), look(at["highest"])], axis=0)
        assert (high - low < low * 2.0**-key.steps).all()
