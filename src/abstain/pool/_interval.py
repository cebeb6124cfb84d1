"""Intervals of a difference estimate: gamma and beta ends with room for one error that was not seen.

The lower end is the quantile of a gamma distribution with the estimate as mean and its variance; the upper end that of
one with one more error at a random labelled row, which stands for as many rows as such a row does. Normal ends cover
52 to 90 % here: the decisive errors are few.

A random row will do only where no label stands for much more of the metric than another. AURC counts an error among
the most confident rows up to log N times as much as a usual one, and a few labels drawn alike hold none of these rows
with a chance that no interval around what they show can ignore. So there the error is put where it counts most
(``unseen="top"``), unless the plan gave these rows more labels; ``unseen="random"`` is the shorter interval that
assumes an unseen error to be as likely at one row as at another.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from abstain._checks import Undefined
from abstain._quantiles import t_quantile
from abstain._typing import FloatArray
from abstain.inference import OneMore, limited, worse_ends
from abstain.metrics import Metric, Relative, parse
from abstain.pool._estimate import Sample, per_row, plain_variance

#: Where an error that no label shows is taken to lie: where it counts most, or as likely at one row as at another.
Unseen = Literal["top", "random"]
#: What is said of the room at the top.
HEAVY = (
    "the rows that count most have no more labels than others, so it has room for an unseen error there: "
    'plan_labels(metric="aurc") draws more of them, unseen="random" takes an unseen error to be anywhere alike'
)
#: Fewer errors, right predictions, or rows against the judge than these are too few to tell much.
FEW = 5
#: So few rows without a label have no distribution: the interval is all that they could be.
FEW_LEFT = 3


class Found(NamedTuple):
    """One metric of a pool from its labelled rows.

    ``variance``: of the estimate for its target; ``plain``: of plain evaluation of one uniformly drawn row.
    """

    value: float
    low: float
    high: float
    variance: float
    plain: float
    reason: str | None = None
    method: str | None = None
    warning: str | None = None


def estimate(metric: Metric, sample: Sample, level: float | None, target: str, unseen: Unseen = "top") -> Found:
    """Return value and interval of a metric; NaN with a reason where the labels do not define it."""
    found = _estimate(metric, sample, level, target, unseen)
    if target == "population" and level is not None and found.low == found.low:
        for other in _beside(metric, sample, level, unseen):
            found = found._replace(low=min(found.low, other.low), high=max(found.high, other.high))
    return found


def _estimate(metric: Metric, sample: Sample, level: float | None, target: str, unseen: Unseen) -> Found:
    """Return the same where the coverage of the population is that of the pool."""
    table = sample.estimated
    metric.require(table)
    relative = isinstance(metric.said(metric.few_errors), Relative)
    if relative and not sample.complete and sample.errors in (0.0, float(sample.n)):
        kind = "error" if sample.errors == 0.0 else "right prediction"
        return _nothing(f"no {kind} is among the {sample.n} labelled rows; label more")
    try:
        value = float(metric.value(table, **metric.options))
        per_loss = per_row(metric, table, sample.pool)
    except Undefined as why:
        return _nothing(str(why))
    _covered(metric, sample, per_loss)
    plain = plain_variance(metric, sample.pool, sample.risk)
    variance = sample.variance(per_loss) + (plain / sample.pool.n if target == "population" else 0.0)
    value = _possible(metric, sample, per_loss, value)
    if level is None:
        return Found(value, math.nan, math.nan, variance, plain)
    if variance <= 1e-24 * value**2 and sample.complete:
        return Found(value, value, value, variance, plain, method="all rows are labelled")
    top = sample.at_top(per_loss, -math.log(0.5 - 0.5 * level)) if unseen == "top" else 0.0
    low, high, method = _ends(metric, sample, per_loss, value, variance, level, relative, top)
    for other in (*_extreme(metric, sample), *(_around(metric, sample, level) if relative else ())):
        low, high = min(low, other), max(high, other)
    if target == "pool":
        least, most = _bounds(metric, sample, per_loss)
        left = int(sample.frame.sum()) - sample.n
        low, high = (least, most) if left <= FEW_LEFT and _linear(metric) else (max(low, least), min(high, most))
    low, high = min(low, value), max(high, value)
    notes = [_light(sample), HEAVY if "at the top" in method else None]
    light = "; ".join(note for note in notes if note) or None
    return Found(value, low, high, variance, plain, method=method, warning=light)


def one_more(metric: Metric, sample: Sample) -> float | None:
    """Return the value if the most confident right row among the labelled ones that the metric counts had been wrong.

    None where enough errors were seen, where it is no sum over rows, and where no such row is left.
    """
    if sample.errors >= FEW or not _linear(metric) or sample.complete:
        return None
    per_loss = per_row(metric, sample.estimated, sample.pool)
    right = np.flatnonzero((per_loss[sample.rows] != 0.0) & (sample.loss == 0.0))
    if not right.size:
        return None
    loss = sample.loss.copy()
    loss[right[np.argmin(sample.pool.block[sample.rows[right]])]] = 1.0
    then = replace(sample, loss=loss)
    return _possible(metric, then, per_loss, float(metric.value(then.estimated, **metric.options)))


def _nothing(why: str) -> Found:
    return Found(math.nan, math.nan, math.nan, math.nan, math.nan, reason=why)


def _light(sample: Sample) -> str | None:
    """Say if so few errors, or rows against the judge, were seen that the interval mostly is room for unseen ones."""
    fewer = min(sample.errors, sample.n - sample.errors)
    against = int(np.count_nonzero(np.abs(sample.loss - sample.risk[sample.rows]) > 0.5))
    if fewer >= FEW and sample.pool.judge is not None and against < FEW:
        return f"only {against} of {sample.n} labelled rows contradict the judge: how right it is rests on them"
    if fewer >= FEW:
        return None
    kind = "errors" if sample.errors <= sample.n - sample.errors else "right predictions"
    return f"only {fewer:.0f} {kind} are among the {sample.n} labelled rows: it is wide, with room for one not seen"


def _covered(metric: Metric, sample: Sample, per_loss: FloatArray) -> None:
    """Refuse a metric that counts rows which the plan could not draw."""
    missed = np.abs(per_loss[~sample.frame])
    if missed.size and missed.max() > 0.0:
        raise ValueError(
            f"the plan draws no label from {np.count_nonzero(missed)} rows that {metric.label} counts (inclusion "
            "probability 0); plan labels for this metric, or evaluate one that these rows do not enter"
        )


def _linear(metric: Metric) -> bool:
    return metric.attribution is not None


def _bounds(metric: Metric, sample: Sample, per_loss: FloatArray) -> tuple[float, float]:
    """Return what a value can be, given what is known: no unlabelled row, or every one, is an error."""
    if not _linear(metric):
        return metric.range
    known = np.zeros(sample.pool.n, dtype=bool)
    known[sample.rows] = True
    seen = np.zeros(sample.pool.n)
    seen[sample.rows] = sample.loss
    ends = []
    for worse in (per_loss > 0.0, per_loss < 0.0):
        loss = np.where(known, seen, worse.astype(float))
        ends.append(float(metric.value(sample.pool.table(sample.pool.sums(loss)), **metric.options)))
    return min(ends), max(ends)


def _possible(metric: Metric, sample: Sample, per_loss: FloatArray, value: float) -> float:
    """Return an estimate that no labelling of the pool could give as the nearest one that some could."""
    least, most = _bounds(metric, sample, per_loss)
    return min(max(value, least), most)


def _beside(metric: Metric, sample: Sample, level: float, unseen: Unseen) -> list[Found]:
    """Return the metric at coverages that the population may have where the pool has this one, if it ends in a tie.

    The share of a tied score in the population is known up to the error of the pool; a tie has no derivative.
    """
    coverage, pool = metric.settings.get("coverage"), sample.pool
    if coverage is None or not 0.0 < coverage < 1.0:
        return []
    ends = pool.blocks.cumulative_weight / pool.n
    reach = NormalDist().inv_cdf(0.75 + 0.25 * level) * math.sqrt(coverage * (1.0 - coverage) / pool.n)
    near = np.abs(np.append(0.0, ends) - coverage) <= reach
    if not np.any(pool.blocks.weight[near[1:] | near[:-1]] > 1.0):
        return []
    found = []
    for other in (coverage - reach, coverage + reach):
        each = parse(f"{metric.name}(coverage={min(max(other, 1.0 / pool.n), 1.0)!r})")
        found.append(_estimate(each, sample, level, "population", unseen))
    return [each for each in found if not math.isnan(each.low)]


def _extreme(metric: Metric, sample: Sample) -> list[float]:
    """Return the value of a perfect or perfectly wrong ranking, if the labels look like one and the metric shows it.

    Then no labelled error lies above a right prediction, or none below; how nearly so in the pool is not seen.
    """
    block, wrong = sample.pool.block[sample.rows], sample.loss > 0.0
    if _linear(metric.base) or not wrong.any() or wrong.all():
        return []
    weight, errors = sample.pool.blocks.weight, max(round(float(sample.estimated.loss.sum())), 1)
    if block[wrong].min() > block[~wrong].max():
        before = np.cumsum(weight[::-1])[::-1] - weight
    elif block[wrong].max() < block[~wrong].min():
        before = np.cumsum(weight) - weight
    else:
        return []
    return _values(metric, sample, [np.clip(errors - before, 0.0, weight)])


def _around(metric: Metric, sample: Sample, level: float) -> list[float]:
    """Return what a ranking may be worth where one tie holds most rows and few labels lie above it, or below.

    Of what lies there none may be wrong, or as many as so many labels miss by chance; the tie itself ranks nothing.
    """
    weight, loss = sample.pool.blocks.weight, sample.estimated.loss
    tie = int(np.argmax(weight))
    if 2.0 * weight[tie] < sample.pool.n:
        return []
    place, most = sample.pool.block[sample.rows], -math.log(0.5 - 0.5 * level) * sample.pool.n / sample.n
    tables = [loss]
    for side, seen in ((slice(0, tie), place < tie), (slice(tie + 1, None), place > tie)):
        rows = float(weight[side].sum())
        if rows and np.count_nonzero(seen) < FEW:
            moved = []
            for table, errors in product(tables, (0.0, min(most, rows))):
                moved.append(table.copy())
                moved[-1][side] = weight[side] * (errors / rows)
            tables += moved
    return _values(metric, sample, tables[1:])


def _values(metric: Metric, sample: Sample, tables: list[FloatArray]) -> list[float]:
    """Return the values of a metric where blocks have these errors; none where it is not defined."""
    found = []
    for loss in tables:
        try:
            found.append(float(metric.value(sample.pool.table(loss), **metric.options)))
        except Undefined:
            continue
    return [value for value in found if value == value]


def _ends(
    metric: Metric, sample: Sample, per_loss: FloatArray, value: float, variance: float, level: float, relative: bool,
    top: float,
) -> tuple[float, float, str]:  # fmt: skip
    """Return the ends on the scale of the metric's base, or their images; ``top``: what an unseen error may add."""
    base = metric.base
    factor = 1.0
    if metric.image is not None:
        value, factor = metric.image.back(value), metric.image.factor
    per_loss, variance, top = per_loss / factor, variance / factor**2, top / abs(factor)
    unseen = _unseen(base, sample, per_loss, value, variance)
    tail = 0.5 + 0.5 * level
    if base.scale == "log" and value >= 0.0:
        found = _rare(base, sample, per_loss, value, variance, tail, top)
        if 2.0 * sample.errors > sample.n and not _linear(base):  # right predictions are rare: room at both ends
            found += [gamma_end(moved.estimate, moved.variance, t) for moved in unseen for t in (tail, 1.0 - tail)]
        found += worse_ends(base, unseen, level) if relative else []
        method = "gamma, one unseen error" + (" at the top" if top else "")
    elif base.scale != "logit" or not relative:
        reach = t_quantile(level, max(sample.n - 1.0 - sample.pool.features.shape[1], 1.0)) * math.sqrt(variance)
        moved = unseen[0]
        further = t_quantile(level, 1e9) * math.sqrt(moved.variance)
        found = [value - reach, value + reach]
        found += [moved.estimate + further] if moved.estimate > value else [moved.estimate - further]
        # at worst errors of 3.7 expected labels are missed (at 95 %); distances add as roots of squares
        missed = math.hypot(reach, -math.log(1.0 - tail) * top)
        found += [value + missed] if float(per_loss.sum()) > 0.0 else [value - missed]
        method = "t, one unseen error" + (" at the top" if top else "")
    else:
        df = max(min(sample.errors, sample.n - sample.errors), 1.0)
        found = [*_logit(base, value, t_quantile(level, df) * math.sqrt(variance)), *worse_ends(base, unseen, level)]
        method = "logit-t, one unseen error"
    ends = [limited(base, sample.estimated, end) for end in (min(found), max(found))]
    low, high = ends if metric.image is None else metric.image.ends(*ends)
    return low, high, method


def _rare(
    base: Metric, sample: Sample, per_loss: FloatArray, value: float, variance: float, tail: float, top: float
) -> list[float]:
    """Return gamma ends around a sum of rare events: of errors, or where most rows are wrong, of right predictions.

    The mean of an unseen event is that at a random labelled row. Without any event the sum may be 0. A judge makes rows
    look certain to be events, so one that is none may be unseen too; at a row that counts, where an error is seldom.
    """
    weight, seen, whole = per_loss[sample.rows], sample.loss, 0.0
    mirrored = _linear(base) and 2.0 * sample.errors > sample.n and bool(np.all(per_loss >= 0.0))
    if mirrored:
        seen, whole = 1.0 - seen, float(per_loss.sum())
        value = whole - value
    excess = (sample.expansion - 1.0) * weight
    more, square = float(np.mean(excess)), float(np.mean(sample.unseen * weight**2))
    low = gamma_end(value, variance, 1.0 - tail) if float(seen @ (weight != 0.0)) > 0.0 else 0.0
    high = max(gamma_end(value, variance, tail), gamma_end(value + more, variance + square, tail))
    high = max(high, gamma_end(value + top, variance + top**2, tail))
    if sample.pool.judge is not None:
        sure = sample.risk[sample.rows] if not mirrored else 1.0 - sample.risk[sample.rows]
        chance = np.abs(excess) * sure / max(float(np.abs(excess) @ sure), 1e-300)
        fewer, spread = float(chance @ excess), float(chance @ (sample.unseen * weight**2))
        vain = excess * sure * (1.0 - seen)
        room = gamma_end(float(vain.sum()) + fewer, float(vain @ vain) + spread, tail) - float(vain.sum())
        low = min(low, gamma_end(value - fewer, variance + spread, 1.0 - tail), max(value - room, 0.0))
    if not mirrored:
        return [low, high]
    alone = sample.expansion * weight * seen  # without the guess, which expects right predictions where they count most
    low = min(low, gamma_end(float(alone.sum()), float(np.sum(alone**2)), 1.0 - tail))
    return [whole - high, whole - low]


def gamma_end(mean: float, variance: float, tail: float) -> float:
    """Return a quantile of the gamma distribution of this mean and variance."""
    if mean <= 0.0 or variance <= 1e-24 * mean**2:
        return max(mean, 0.0)
    from scipy.special import gammaincinv

    return float(gammaincinv(mean**2 / variance, tail)) * variance / mean


def _logit(metric: Metric, value: float, reach: float) -> tuple[float, float]:
    least, most = metric.range
    if not least < value < most:
        return value - reach, value + reach
    odds = (value - least) / (most - value)
    width = min(reach * (1.0 / (value - least) + 1.0 / (most - value)), 700.0)
    shares = [1.0 / (1.0 + math.exp(shift) / odds) for shift in (width, -width)]
    return least + (most - least) * shares[0], least + (most - least) * shares[1]


def _unseen(
    metric: Metric, sample: Sample, per_loss: FloatArray, value: float, variance: float
) -> tuple[OneMore, OneMore]:
    """Return the estimate with one more labelled error at a random row, and with one fewer."""
    added = sample.pool.sums((sample.expansion - 1.0) / sample.n, sample.rows)
    table = sample.estimated
    factor = 1.0
    if isinstance(metric.said(metric.few_errors), Relative):
        number = max(min(sample.errors, sample.n - sample.errors), 1.0)
        factor = ((number + 1.0) / number) ** 2
    square = float(np.mean(sample.unseen * per_loss[sample.rows] ** 2))
    found = []
    for sign in (1.0, -1.0):
        moved = replace(table, loss=table.loss + sign * added)
        try:
            change = float(metric.value(moved, **metric.options)) - float(metric.value(table, **metric.options))
        except Undefined:
            change = 0.0
        if math.isnan(change):
            change = 0.0
        found.append(OneMore(value + change, factor * (variance + square)))
    return found[0], found[1]
