"""Fifth step: the interval of an estimate with its spread, on the metric's own scale, or from the binomial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from abstain._checks import Undefined, to_numpy
from abstain._quantiles import t_quantile
from abstain.blocks import TieBlocks
from abstain.curve import RiskCoverageCurve
from abstain.inference._binomial import clopper_pearson
from abstain.inference._columns import is_plain
from abstain.inference._influence import counted_terms, gradient
from abstain.inference._resample import INDEPENDENT, Sampling
from abstain.inference._rests_on import FEWEST, RestsOn, Units, joined
from abstain.inference._spread import (
    SINGLE,
    Powers,
    Spread,
    both_sides,
    counted_powers,
    coverage_of,
    limit_of,
    powers_of,
    spread_of,
)
from abstain.inference._unseen import MOST_KEPT, OneMore, one_more, worse_ends
from abstain.metrics import Metric

__all__ = ["Interval"]

#: What is said of an interval whose worse end has this room.
WHOLE = "a few clusters hold most rows: room for large ones that are wrong as a whole"


class Interval(NamedTuple):
    """A confidence interval and how it came about.

    ``low``, ``high``: its ends (NaN, with a warning text, where there is none); ``estimate``: the metric;
    ``standard_error``: the one behind the ends; ``level``; ``method``: such as ``"log-t"``; ``df``: degrees of freedom
    of the standard error; ``warning``: None, or what the reader must know; ``rests_on``: the effective number of
    independent units behind it, with what they are, where known.

    Examples
    --------
    >>> import abstain
    >>> loss, confidence = [0, 1, 0, 0, 1, 0] * 20, range(120)
    >>> low, high, *_ = abstain.confidence_interval("augrc", loss, confidence)
    >>> round(low, 3), round(high, 3)
    (0.124, 0.224)
    """

    low: float
    high: float
    estimate: float
    standard_error: float
    level: float
    method: str
    df: float
    warning: str | None = None
    rests_on: RestsOn | None = None


def no_interval(estimate: float, error: float, level: float, why: str) -> Interval:
    """Return that there is no interval, and why."""
    return Interval(np.nan, np.nan, estimate, error, level, "none", 0.0, why)


def of_spread(spread: Spread, level: float, unseen: tuple[OneMore, ...] = ()) -> Interval:
    """Return the interval of an estimate with its spread; ``unseen``: what one more error would make of them."""
    binomial = exact(spread.metric, spread.blocks, level) if spread.independent else None
    return _of_error(spread, level, unseen) if binomial is None else binomial


def _of_error(spread: Spread, level: float, unseen: tuple[OneMore, ...]) -> Interval:
    if spread.df < 1.0 and not spread.vanishes and not spread.flawless:
        found = one_sided(spread.metric, spread.blocks, spread.estimate, level, unseen, SINGLE)
        return found._replace(rests_on=spread.rests)
    return around(spread, level, unseen)


def around(spread: Spread, level: float, unseen: tuple[OneMore, ...] = ()) -> Interval:
    """Return the interval by Student's t, whatever the degrees of freedom, and further where the unseen decides."""
    metric, blocks, estimate, error, df, _, note, rests, units, flawless = spread
    if rests is not None and rests.refusal is not None:
        return no_interval(estimate, error, level, rests.refusal)._replace(rests_on=rests)
    further = whole_clusters(spread, level)
    note = joined(note, WHOLE if further else None)
    if spread.vanishes or flawless:
        found = without_spread(metric, blocks, estimate, level, unseen, rests, units, flawless)
        note = joined(found.warning, WHOLE if further else None)
        return found._replace(low=min([found.low, *further]), high=max([found.high, *further]), warning=note)
    low, high, method = ends(metric, blocks, estimate, t_quantile(level, df) * error)
    further += [limited(metric, blocks, end) for end in worse_ends(metric, unseen, level)]
    low = max(low - grain(metric, blocks, estimate), 0.0) if low > 0.0 else low
    low, high = min([low, *further]), max([high, *further])
    if spread.independent and is_plain(blocks):
        low, high = not_beyond(metric, blocks, low, high, level)
    return Interval(low, high, estimate, error, level, method, df, note, rests)


def not_beyond(metric: Metric, blocks: TieBlocks, low: float, high: float, level: float) -> tuple[float, float]:
    """Return ends of which the worse is no worse than the worst ranking at the largest error rate of the binomial.

    No ranking of a population is worse than that with all errors on top; of one error Student's t knows less.
    """
    base = metric.base
    if base.worst is None:
        return low, high
    worst = base.worst(clopper_pearson(round(blocks.total_loss), blocks.n, level)[1], **base.settings)
    if metric.image is None:
        return low, min(high, worst)
    least, most = metric.image.ends(0.0, worst)
    return max(low, least), min(high, most)


def whole_clusters(spread: Spread, level: float) -> list[float]:
    """Return the end with room for large clusters that are wrong as a whole, of a mean of losses of at most 1.

    No limit that rests on the other clusters alone allows for these. Their share is the largest of which a sample may
    hold none; their scores are like those of the others.
    """
    metric, blocks, base = spread.metric, spread.blocks, spread.metric.base
    linear = base.worst is not None or base.said(base.accepted_loss) is not None
    if spread.units.unlike >= FEWEST * (1.0 - 1e-9) or not linear or "oracle" in base.needs:
        return []
    if not blocks.binary and float(np.max(to_numpy(blocks._kept.loss))) > 1.0:
        return []
    worst, _ = base.evaluate(replace(blocks, loss=blocks.weight, moments=None))
    value = spread.estimate if metric.image is None else metric.image.back(spread.estimate)
    end = value + spread.units.most_wrong(0.5 - 0.5 * level) * (worst - value)
    return [end if metric.image is None else metric.image(end)]


def grain(metric: Metric, blocks: TieBlocks, estimate: float) -> float:
    """Return how far above 0 the excess of a perfect ranking of these samples lies: a sum over ranks ends a rank late.

    On the log scale no interval would hold the 0 of a population whose ranking is perfect. What is below a thousandth
    of the estimate is not worth another sort.
    """
    samples = blocks.samples
    small = estimate * blocks.n > 1000.0 * max(1.0, blocks.mean_loss)
    if metric.scale != "log" or "oracle" not in metric.needs or samples is None or small:
        return 0.0
    perfect = blocks.once("perfect ranking", lambda: _perfect(blocks)) if blocks.n <= MOST_KEPT else _perfect(blocks)
    value, reason = metric.evaluate(perfect)
    return value if reason is None else 0.0


def _perfect(blocks: TieBlocks) -> TieBlocks:
    """Return the table of a perfect ranking without ties."""
    samples = blocks._kept
    if blocks.binary and samples.sample_weight is None:  # what is right may tie: it costs nothing
        wrong = round(blocks.total_loss)
        count = np.concatenate(([blocks.n - wrong][: blocks.n > wrong], np.ones(wrong)))
        failed = np.arange(count.size) >= count.size - wrong
        return TieBlocks(-np.arange(float(count.size)), count, failed.astype(np.float64), count, binary=True)
    loss, weight = to_numpy(samples.loss), None if samples.sample_weight is None else to_numpy(samples.sample_weight)
    order = np.lexsort((loss,) if weight is None else (weight, loss))
    if samples.times is not None:
        order = np.repeat(order, samples.times[order].astype(np.intp))
    return TieBlocks.from_samples(
        loss[order], -np.arange(float(order.size)), None if weight is None else weight[order], oracle=not blocks.binary
    )


def one_sided(
    metric: Metric, blocks: TieBlocks, estimate: float, level: float, unseen: tuple[OneMore, ...], why: str
) -> Interval:
    """Return how bad the value may be where no spread says more; how good, only its range says."""
    found = [limited(metric, blocks, end) for end in worse_ends(metric, unseen, level)]
    if not found:
        return no_interval(estimate, np.nan, level, why)
    found += [limited(metric, blocks, estimate), best_of(metric)]
    why += "; the interval reserves room for one unseen error, and its better end is that of the metric"
    return Interval(min(found), max(found), estimate, np.nan, level, "one unseen error", 0.0, why)


def of_samples(
    metric: Metric,
    blocks: TieBlocks,
    level: float,
    sampling: Sampling = INDEPENDENT,
    estimate: float | None = None,
    top: bool = False,
) -> Interval:
    """Return the interval of a table that kept its samples; ``estimate``: the metric's value on it, where known."""
    if estimate is None:
        estimate, reason = metric.evaluate(blocks)
        if reason is not None:
            return no_interval(estimate, np.nan, level, reason)
    begun = begin(metric, blocks, level, estimate, sampling)
    return finish([begun], blocks, level, sampling, top)[0] if isinstance(begun, Spread) else begun


def begin(
    metric: Metric, blocks: TieBlocks, level: float, estimate: float, sampling: Sampling = INDEPENDENT
) -> Spread | Interval:
    """Return the spread of an estimate, or the interval at once where it rests on none."""
    binomial = exact(metric, blocks, level) if sampling.independent else None
    if binomial is not None:
        return across(metric, blocks, binomial, level, sampling)
    limit = limit_of(metric, blocks)
    if len(blocks) > MOST_KEPT:
        blocks._let_go(sums=False)
    try:
        derivative = gradient(metric.base, blocks)
        samples = blocks._kept
        if blocks.binary and samples.sample_weight is None and sampling.independent:  # the table will do
            number, square, fourth = counted_powers(derivative, blocks)
        else:
            number, square, fourth = powers_of(*counted_terms(derivative, blocks, sampling))
    except Undefined as why:
        return no_interval(estimate, np.nan, level, str(why))
    factor = limit.factor if metric.image is None else limit.factor * metric.image.factor
    powers = Powers(number, factor**2 * square, factor**4 * fourth)
    return spread_of(metric, blocks, estimate, powers, limit.df, sampling)


def finish(
    spreads: Sequence[Spread], blocks: TieBlocks, level: float, sampling: Sampling = INDEPENDENT, top: bool = False
) -> list[Interval]:
    """Return the intervals of several metrics of one table, with room for an error that was not seen.

    ``top``: that error may lie among the most confident samples.
    """
    units = -math.log(0.5 - 0.5 * level) if top else 0.0
    more = one_more([(each.metric, each.estimate) for each in spreads], blocks, sampling, units)
    return [
        across(each.metric, blocks, _of_error(each, level, unseen), level, sampling)
        for each, unseen in zip(spreads, more, strict=True)
    ]


def across(metric: Metric, blocks: TieBlocks, found: Interval, level: float, sampling: Sampling) -> Interval:
    """Return the interval with those of the fixed thresholds on both sides of the wide tie that the coverage may split.

    The threshold of the population is one of them, and the sample does not show which. Where what the coverage accepts
    is too little for an interval, the other side gives none either.
    """
    coverage = None if np.isnan(found.low) and np.isnan(found.high) else coverage_of(metric)
    near = [] if coverage is None else np.flatnonzero(both_sides(coverage, blocks)).tolist()
    if not near:
        return found
    risks = (blocks.cumulative_loss / blocks.cumulative_weight)[near]
    chosen = {near[int(np.argmin(risks))], near[int(np.argmax(risks))]}
    fixed = [metric.using(coverage=None, threshold=float(blocks.score[k])) for k in chosen]
    sides = [found, *(of_samples(each, blocks, level, sampling) for each in fixed)]
    low, high = np.nanmin([each.low for each in sides]), np.nanmax([each.high for each in sides])
    return found._replace(low=float(low), high=float(high), method=f"{found.method}, both sides of a tie")


def ends(metric: Metric, blocks: TieBlocks, estimate: float, reach: float) -> tuple[float, float, str]:
    """Return the ends that lie ``reach`` around the estimate on the metric's scale, and the scale that could be used.

    They stay inside the metric's range, which is stated for 0/1 losses. An image has the image of its metric's ends.
    """
    if metric.image is not None:
        image = metric.image
        low, high, scale = ends(metric.base, blocks, image.back(estimate), reach / abs(image.factor))
        return *image.ends(low, high), scale
    least, most = metric.range
    low, high, scale = estimate - reach, estimate + reach, "t"
    if metric.scale == "log" and estimate > 0.0:
        width = math.exp(min(reach / estimate, 700.0))
        low, high, scale = estimate / width, estimate * width, "log-t"
    elif metric.scale == "logit" and least < estimate < most:
        odds = (estimate - least) / (most - estimate)
        width = reach * (1.0 / (estimate - least) + 1.0 / (most - estimate))
        shares = [1.0 / (1.0 + math.exp(shift) / odds) for shift in (min(width, 700.0), max(-width, -700.0))]
        low, high, scale = least + (most - least) * shares[0], least + (most - least) * shares[1], "logit-t"
    return limited(metric, blocks, low), limited(metric, blocks, high), scale


def limited(metric: Metric, blocks: TieBlocks, end: float) -> float:
    """Return an end inside the metric's range, which is stated for 0/1 losses."""
    return min(max(end, metric.range[0]), metric.range[1]) if blocks.binary else end


def best_of(metric: Metric) -> float:
    """Return the best value: the better end of the range, and 0 on the log scale."""
    base = metric.base
    best = 0.0 if base.scale == "log" else base.range[base.direction == "higher"]
    return best if metric.image is None else float(metric.image(best))


def without_spread(
    metric: Metric,
    blocks: TieBlocks,
    estimate: float,
    level: float,
    unseen: tuple[OneMore, ...] = (),
    rests: RestsOn | None = None,
    units: Units | None = None,
    flawless: bool = False,
) -> Interval:
    """Return what can be said where the standard error is 0: a bound from the binomial, or one end, or a refusal.

    A cluster may be wrong as a whole, so where the value rests on clusters the bound counts these, not their rows.
    ``flawless``: nothing accepted is wrong, and ``rests`` and ``units`` count what is accepted.
    """
    base = metric.base
    if not flawless and (blocks.total_loss != 0.0 or not is_plain(blocks) or base.worst is None):
        why = "the standard error is 0: no sample moves the value, so no spread is seen"
        return one_sided(metric, blocks, estimate, level, unseen, why)._replace(standard_error=0.0)
    clusters = rests if rests is not None and (flawless or rests.unit.startswith("clusters")) else None
    if units is None:
        n = blocks.n if clusters is None else max(math.floor(clusters.number * (1.0 + 1e-9)), 1)
        units = Units(np.ones(n), np.ones(n), "clusters")
    low, high, bound, most = 0.0, units.most_wrong(0.5 - 0.5 * level), units.most_wrong(1.0 - level), "most"
    if base.worst is not None:
        high, bound = (base.worst(end, **base.settings) for end in (high, bound))
    elif not blocks.binary:  # a loss may be as large as the largest that was seen
        high, bound = (max(float(np.max(to_numpy(blocks._kept.loss))), 1.0) * end for end in (high, bound))
    if metric.image is not None:
        low, high = metric.image.ends(low, high)
        bound, most = metric.image(bound), "most" if metric.image.factor > 0.0 else "least"
    seen, how = ("", ", under the worst ranking") if base.worst is not None else (" among what is accepted", "")
    text = f"no error occurred{seen}: at {most} {bound:.4g} at level {level:g} (one-sided bound{how})"
    note = joined(None if clusters is None else clusters.note, text)
    return Interval(low, high, estimate, 0.0, level, "binomial bound", 0.0, note, clusters)


def exact(metric: Metric, blocks: TieBlocks, level: float) -> Interval | None:
    """Return the exact binomial interval of a 0/1 risk at a fixed threshold, or None where it does not apply.

    Two-sided also without errors: a side that is chosen by the data would cover less than the level. A fixed coverage
    chooses the threshold by scores alone, so where nothing accepted is wrong, and no spread can be seen, it serves too.
    """
    fact = metric.said(metric.accepted_loss)
    if fact is None or not is_plain(blocks):
        return None
    curve = RiskCoverageCurve(blocks)
    point = curve.at(coverage=fact.coverage) if fact.threshold is None else curve.at(threshold=fact.threshold)
    if point.n_accepted == 0:
        return None
    errors = round(point.selective_risk * point.n_accepted)
    if errors > 0 and fact.threshold is None:
        return None
    n = blocks.n if fact.per == "all" else point.n_accepted
    low, high = clopper_pearson(errors, n, level)
    risk, note = errors / n, None
    if errors == 0:
        bound = clopper_pearson(0, n, level, side="upper")[1]
        zero = f"no error among {point.n_accepted} accepted"
        note = f"{zero}: the risk is at most {bound:.4g} at level {level:g} (one-sided bound)"
    error, rests = math.sqrt(risk * (1.0 - risk) / n), RestsOn(float(n), "rows")
    note = joined(rests.note, note)
    if metric.image is not None:
        (low, high), risk, error = metric.image.ends(low, high), metric.image(risk), abs(metric.image.factor) * error
    return Interval(low, high, risk, error, level, "Clopper-Pearson", float(n), note, rests)
