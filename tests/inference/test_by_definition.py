"""Intervals from the metric alone: its value where one row weighs a little more, and where one more loss was seen."""

import numpy as np
import pytest
from scipy import stats

import abstain
from abstain import inference

STEP = 1e-5


class Rows:
    """Rows of a sample, and how a metric moves where a row of some score and loss is added to them."""

    def __init__(self, metric, loss, score, weight):
        self.metric = abstain.metrics.parse(metric)
        self.loss, self.score, self.weight = loss, score, weight
        self.value = self.of([], [], [])

    def of(self, loss, score, weight):
        columns = (self.loss, loss), (self.score, score), (self.weight, weight)
        return float(self.metric.smooth(abstain.TieBlocks.from_samples(*(np.concatenate(each) for each in columns))))

    def moves(self, score, loss):
        """Return the derivative of the value by the weight of a row with each of these scores and losses."""
        pairs, rows = np.unique(np.column_stack([score, loss]), axis=0, return_inverse=True)
        return np.array([(self.of([one], [at], [STEP]) - self.value) / STEP for at, one in pairs])[rows]


def powers(terms, weight, clusters):
    """Return how many rows or clusters there are, and the sums of their terms to the second and fourth power."""
    if clusters is not None:
        terms = np.bincount(clusters, terms - weight * terms.sum() / weight.sum())
        terms = terms * np.sqrt(terms.size / (terms.size - 1.0))
    return float(terms.size), float(np.sum(terms**2)), float(np.sum(terms**4))


def quantile(scale, mean, variance, tail):
    """Return that of the gamma, or of the beta distribution, of these moments."""
    if scale == "log":
        return stats.gamma.ppf(tail, mean**2 / variance, scale=variance / mean)
    size = mean * (1.0 - mean) / variance - 1.0
    return stats.beta.ppf(tail, mean * size, (1.0 - mean) * size) if size > 0.0 else (tail > 0.5) * 1.0


#: A ranking of failures needs 0/1 losses, and a risk of such without weights has exact ends.
KINDS = {
    "plain": ("augrc", "sele", "auroc_f", "e_augrc", "aurc", "e_aurc"), "mostly wrong": ("augrc", "sele", "auroc_f"),
    "weights": ("augrc", "sele", "auroc_f", "risk"), "clusters": ("augrc", "sele", "auroc_f", "risk"),
    "graded": ("augrc", "sele", "risk"), "graded clusters": ("augrc", "sele", "risk"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "spec"), [(kind, spec) for kind, specs in KINDS.items() for spec in specs])
def test_an_interval_is_had_from_the_metric_alone(spec, kind):
    """Student's t on the metric's scale, and the end that one more loss at a random row would give."""
    rng = np.random.default_rng(3)
    n, clustered, graded = 60, "clusters" in kind, "graded" in kind
    relative = spec == "auroc_f"
    score, clusters = np.round(rng.random(n), 1), np.arange(n) // 3 if clustered else None
    loss = (rng.random(n) < (0.8 if kind == "mostly wrong" else 0.15)) * (rng.exponential(size=n) if graded else 1.0)
    weight = rng.uniform(0.5, 2.0, n) if kind == "weights" else np.ones(n)
    given = {"clusters": clusters} | ({"sample_weight": weight} if kind == "weights" else {})
    found, other = (abstain.confidence_interval(spec, loss, score, level=level, **given) for level in (0.8, 0.95))
    rows, total = Rows(spec, loss, score, weight), weight.sum()
    tail, factor, most_df, share = np.array([0.9, 0.975]), 1.0, np.inf, 1.0
    if relative:
        apart = weight * (loss - np.average(loss, weights=weight))
        number = np.sum(apart**2) ** 2 / np.sum(apart**4)
        factor, most_df = number / (number - 1.0), number - 1.0
        share = rows.metric.few_errors.share
    count, square, fourth = powers(factor * weight * rows.moves(score, loss), weight, clusters)
    kurtosis = count * fourth / square**2
    df = min(share * 2.0 * count / (kurtosis - 1.0) if kurtosis > 1.0 else np.inf, most_df, count - 1.0)
    error, value = np.sqrt(square), float(rows.metric(abstain.TieBlocks.from_samples(loss, score, weight)))
    offset = value - rows.value  # a sum over ranks from the smooth form that has derivatives
    assert found.estimate == pytest.approx(value, rel=1e-12)
    assert found.standard_error == pytest.approx(error, rel=1e-4)
    assert found.df == pytest.approx(df, rel=1e-3)
    reach = stats.t.ppf(tail, df) * error
    least, most = rows.metric.range
    perfect = abstain.TieBlocks.from_samples(loss, -loss * np.arange(1.0, n + 1.0))  # a sum over ranks is above 0
    best = float(rows.metric(perfect)) if spec.startswith("e_") else 0.0
    ends = [value * np.exp(reach / value), np.maximum(value * np.exp(-reach / value) - best, 0.0)]
    if relative:
        ends = [1.0 / (1.0 + (1.0 - value) / value * np.exp(way * reach / (value * (1.0 - value)))) for way in (1, -1)]
    sizes = [(False, 1.0)]
    if clustered:
        sums = np.bincount(clusters, weight * loss)
        sizes = [(False, max(1.0, np.sum(sums**2) / np.sum((weight * loss) ** 2)))]
    if not graded:
        sizes.append((True, 1.0))  # a success that was not seen
    for successes, number in sizes:
        drawn = weight * loss / np.sum(weight * loss)
        mean = float(drawn @ loss) if graded else 0.0 if successes else 1.0
        more = Rows(spec, np.r_[loss, np.full(n, mean)], np.tile(score, 2), np.r_[weight, weight**2 / total * number])
        seen = powers(weight * more.moves(score, loss), weight, clusters)[1]
        none, one = (weight * more.moves(score, np.full(n, each)) for each in (0.0, 1.0))
        pairs = [(1.0, 0.0)] if successes else list(zip(drawn, loss, strict=True))
        squares = [chance * (none + each * (one - none)) ** 2 for chance, each in pairs]
        variance = seen + number**2 * float(weight / total @ np.sum(squares, axis=0))
        if relative:
            k = most_df + 1.0
            variance *= ((k + 1.0) / k) ** 2
            ends += [1.0 - quantile("logit", 1.0 - more.value, variance, each) for each in (tail, 1.0 - tail)]
            continue
        ends.append(quantile("log", more.value + offset, variance, tail))
        if successes and np.average(loss, weights=weight) > 0.5 and most < np.inf:
            worst = rows.metric.worst(1.0, **rows.metric.settings) if rows.metric.worst is not None else most
            ends.append(worst - quantile("log", worst - more.value, variance, tail))
    low, high = np.min(ends, axis=0), np.max(ends, axis=0)
    if not graded:
        low, high = np.maximum(low, least), np.minimum(high, most)
    assert (found.low, other.low) == pytest.approx(low, rel=1e-3)
    assert (found.high, other.high) == pytest.approx(high, rel=1e-3)


def pilot(kind, spec, seed):
    """Return rows of a pilot, the same with one more loss spread over them, and the mean of that."""
    rng = np.random.default_rng(seed)
    loss = (np.random.default_rng(9).random(80) < 0.3) * (rng.uniform(0.5, 1.5, 80) if kind == "graded" else 1.0)
    loss = np.where(rng.random(80) < 0.2, 1.0 - loss, loss) if kind == "models" else loss
    score, mean = rng.random(80) - 0.2 * loss, float(loss @ loss / loss.sum()) if kind == "graded" else 1.0
    more = Rows(spec, np.r_[loss, np.full(80, mean)], np.tile(score, 2), np.r_[np.ones(80), np.full(80, 1 / 80)])
    return Rows(spec, loss, score, np.ones(80)), more, mean


def deviation(losses, terms, shown, *unseen):
    """Return the spread per row, what it may be in eight of ten cases, and its degrees of freedom."""
    number = min(np.sum((x - x.mean()) ** 2) ** 2 / np.sum((x - x.mean()) ** 4) for x in losses)
    square, fourth = (np.sum(shown**k) + sum(np.mean(each**k) for each in unseen) for k in (2, 4))
    df = min(number, 2.0 / max(fourth / square**2 - 1 / 80, 2 / 80))
    few, many = (np.sqrt(df / stats.chi2.ppf(at, df)) for at in (0.9, 0.1))
    value = np.sqrt(80 * np.sum(terms**2))
    return value, min(value, few * value), many * np.sqrt(80 * square), df


@pytest.mark.parametrize("kind", ["plain", "models", "graded"])
def test_a_plan_for_a_difference_is_its_formula(kind):
    """Normal quantiles by the spread of the pilot; its range with one error more, or one of either model."""
    (one, more_one, mean), (two, more_two, _) = (pilot(kind, "augrc", seed) for seed in (1, 2))
    if kind == "graded":  # one loss, two scores
        pairs = (one, two), (more_one, more_two)
        two, more_two = (Rows("augrc", of.loss, other.score, of.weight) for of, other in pairs)
    each = [rows.moves(rows.score, rows.loss) for rows in (one, two)]
    shown = [more.moves(rows.score, rows.loss) for rows, more in ((one, more_one), (two, more_two))]
    unseen = [more.moves(rows.score, np.full(80, mean)) for rows, more in ((one, more_one), (two, more_two))]
    unseen = unseen if kind == "models" else [unseen[0] - unseen[1]]
    value, low, high, df = deviation([one.loss, two.loss], each[0] - each[1], shown[0] - shown[1], *unseen)
    given = ((one.loss, two.loss) if kind == "models" else one.loss, one.score, two.score)
    quantiles = stats.norm.ppf(0.95) + stats.norm.ppf(0.7)
    found = inference.samples_for_difference(-0.02, pilot=given, power=0.7, level=0.9)
    assert found[:3] == pytest.approx([np.ceil((quantiles * sd / 0.02) ** 2) for sd in (value, low, high)], abs=1)
    assert found.df == pytest.approx(df, abs=0.06)
    back = inference.detectable_difference(500, pilot=given, power=0.7, level=0.9)
    assert back[:3] == pytest.approx([quantiles * sd / np.sqrt(500) for sd in (value, low, high)], rel=1e-3)
    assert inference.influence_sd(given) == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("kind", ["plain", "graded"])
@pytest.mark.parametrize("width", [0.3, 0.02])
def test_a_plan_for_a_width_has_the_fewest_rows_that_are_so_narrow(width, kind):
    """By Student's t on the log scale and the gamma's end, both with what the pilot would show at that size."""
    rows, more, mean = pilot(kind, "augrc", 1)
    unseen = more.moves(rows.score, np.full(80, mean))
    *spreads, df = deviation([rows.loss], rows.moves(rows.score, rows.loss), more.moves(rows.score, rows.loss), unseen)

    def at(n, spread):
        reach = np.exp(stats.t.ppf(0.975, min(df * n / 80, n - 1)) * spread / np.sqrt(n) / rows.value)
        variance = spread**2 / n + np.mean(unseen**2) * (80 / n) ** 2
        most = np.inf if kind == "graded" else rows.metric.range[1]
        room = quantile("log", rows.value + (more.value - rows.value) * 80 / n, variance, 0.975)
        ends = rows.value / reach, rows.value * reach, room
        return min(max(ends), most) - min(ends)

    found = inference.samples_for_width(width, (rows.loss, rows.score))
    for n, spread in zip(found[:3], spreads, strict=True):
        slack = 1.0 + 2e-3
        assert at(n, spread) <= width * slack
        assert n == 2 or at(n - 1, spread) > width / slack


@pytest.mark.parametrize("kind", ["weights auroc_f", "weights", "clusters", "graded", "models"])
def test_a_difference_is_had_from_the_metric_alone(kind):
    """Where many errors decide: the paired terms of rows or clusters, and Student's t with their degrees of freedom."""
    rng, spec = np.random.default_rng(4), "auroc_f" if "auroc_f" in kind else "augrc"
    loss = (rng.random(300) < 0.4) * (rng.uniform(0.5, 1.0, 300) if kind == "graded" else 1.0)
    losses = [loss, np.where(rng.random(300) < 0.3, 1.0 - loss, loss) if kind == "models" else loss]
    scores, weight = [rng.random(300) - 0.4 * loss, rng.random(300)], np.ones(300)
    clusters, given = np.arange(300) // 3 if kind == "clusters" else None, {}
    if "weights" in kind:
        weight = given["sample_weight"] = rng.uniform(0.5, 2.0, 300)
    found = abstain.compare(
        dict(zip("ab", losses, strict=True)) if kind == "models" else loss, dict(zip("ab", scores, strict=True)), spec,
        clusters=clusters, **given,
    ).difference("a", "b")  # fmt: skip
    each = [Rows(spec, *columns, weight) for columns in zip(losses, scores, strict=True)]
    factors, most = [1.0, 1.0], np.inf
    if spec == "auroc_f":
        apart = [weight * (one - np.average(one, weights=weight)) for one in losses]
        numbers = [np.sum(one**2) ** 2 / np.sum(one**4) for one in apart]
        factors, most = [number / (number - 1.0) for number in numbers], min(numbers) - 1.0
    terms = [factor * weight * rows.moves(rows.score, rows.loss) for factor, rows in zip(factors, each, strict=True)]
    count, square, _ = powers(terms[0] - terms[1], weight, clusters)
    df, error, gap = min(most, count - 1.0), np.sqrt(square), each[0].value - each[1].value
    assert (found.difference, found.standard_error) == pytest.approx((gap, error), rel=1e-4)
    assert found.df == pytest.approx(df, rel=1e-6)
    p = 2.0 * stats.t.sf(abs(gap) / error, df)
    assert found.p_value == found.p_adjusted
    assert kind == "clusters" or found.p_value == pytest.approx(p, rel=2e-3)  # few effective errors: by swaps
    reach = stats.t.ppf(0.975, df) * error
    assert (found.low, found.high) == pytest.approx((gap - reach, gap + reach), rel=1e-3)
    assert found.significant == (found.p_value <= 0.05)
