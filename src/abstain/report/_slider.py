"""The thresholds that a page slides over: what each accepts, measured here, and the policy that a page may export.

The script of a page adds nothing to these numbers: it shows them, multiplies by 1,000 and by costs, and fills the
policy's text in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from abstain._result import clean, percent, readable
from abstain._typing import AnyArray, Document, FloatArray, IntArray
from abstain.curve import RiskCoverageCurve
from abstain.evaluation import rows_of
from abstain.inference import clopper_pearson, risk_band
from abstain.report._source import Source, today
from abstain.thresholds import RiskLevel

#: Thresholds of one score to choose from: this many at even steps of coverage, and so many in geometric steps.
EVEN, GEOMETRIC = 400, 100
#: What an exported policy says of a threshold that was taken from the slider, and of a certified one.
BY_EYE = "chosen by eye, not certified"
CERTIFIED = "a certified point of a report"
#: What is said of a threshold that is not certified, and of a group that a policy rejects.
UNCERTIFIED = "Chosen by eye, not certified. The interval is that of a threshold fixed in advance."
NO_USE = "Not certified: no threshold on this score is of use."
REJECTED = "The policy rejects this group: measured on these rows, not certified."
_PLACES = {"threshold": "@T@", "n_accepted": "@K@", "coverage": "@C@", "objective": "@O@", "guarantee": "@G@"}


@dataclass(frozen=True, eq=False)
class Measured:
    """A curve with what is known of its points: of a score on all rows, or of a group.

    ``exact``: whether intervals are those of counts; ``starts``: thresholds that the slider has, the first of them its
    beginning; ``rejected``: whether a policy answers nothing here; ``but``: what limits a certified risk; ``early``:
    limits that a group exceeds; ``status``: what is said of a threshold that is not certified.
    """

    curve: RiskCoverageCurve
    certified: tuple[RiskLevel, ...] = ()
    exact: bool = False
    independent: bool = True
    starts: tuple[float, ...] = ()
    rejected: bool = False
    but: Mapping[float, str] = field(default_factory=dict)
    early: frozenset[float] = frozenset()
    status: str = UNCERTIFIED

    @property
    def attained(self) -> list[RiskLevel]:
        """What was certified, the smallest risk first."""
        return sorted((each for each in self.certified if each.attained), key=lambda each: each.risk)


def slider_of(
    measured: Mapping[str, Measured], level: float, source: Source, *, of: str = "Score", refused: str = ""
) -> Document | None:
    """Return the slider over the thresholds of scores, or groups; None where no score has a threshold.

    ``refused``: why no policy can be saved here.
    """
    scores = [_score(name, each, level, source, saved=not refused) for name, each in measured.items()]
    scores = [each for each in scores if each["stops"]]
    if not scores:
        return None
    binary = all(each.curve.blocks.binary for each in measured.values())
    refused = refused or "No policy can be made of this score here."
    return {
        "level": level,
        "scores": scores,
        "cost": source.cost,
        "of": of,
        "binary": binary,
        "by_eye": json.dumps(BY_EYE),
        "refused": refused,
    }


def _score(name: str, measured: Measured, level: float, source: Source, *, saved: bool) -> Document:
    """Return one score to slide over: stops of falling threshold, those that are certified, and the policy's text.

    A stop is [threshold, accepted rows, their weight, their loss, lower end, upper end]; ends may be null. The slider
    begins where the upper end is least if nothing else is wanted, or at all rows.
    """
    curve, kept, extra = measured.curve, measured.attained, measured.starts
    places = places_of(curve, [*(each.threshold for each in kept), *extra])
    low, high = interval(measured, places, level)
    blocks = curve.blocks
    weight, loss = blocks.cumulative_weight[places], blocks.cumulative_loss[places]
    counts = curve.n_accepted[places]
    stops: list[list[Any]] = [
        [repr(float(curve.threshold[j])), int(k), _plain(w), _plain(total), _rounded(a), _rounded(b)]
        for j, k, w, total, a, b in zip(places, counts, weight, loss, low, high, strict=True)
    ]
    wanted = [value for value in (*(each.threshold for each in kept), *extra) if np.isfinite(value)]
    where = {value: int(np.searchsorted(places, _place(curve, value))) for value in wanted}
    for each in kept:  # its threshold may lie below the least score that it accepts here
        stops[where[each.threshold]][0] = repr(each.threshold)
    certified = {where[each.threshold]: _certified(each, measured) for each in reversed(kept)}
    begin = where.get(extra[0]) if extra else None
    if begin is None and stops:
        begin = int(np.flatnonzero(high == np.nanmin(high))[-1]) if np.isfinite(high).any() else len(stops) - 1
    known = np.append(curve.threshold, -np.inf)
    shown = [
        readable(float(stop[0]), float(known[j + 1]), float(known[j])) for stop, j in zip(stops, places, strict=True)
    ]
    title = clean(name)
    return {
        "name": title,
        "title": title if source.groups is None else "score",
        "label": f"{title}: rejected" if measured.rejected else title,
        "start": begin,
        "n": blocks.n,
        "total": _plain(blocks.total_weight),
        "exact": measured.exact,
        "stops": stops,
        "readable": shown,
        "certified": {str(k): entry for k, entry in sorted(certified.items())},
        "policy": _template(name, curve, source) if saved else None,
        "status": REJECTED if measured.rejected else measured.status,
    }


def _certified(each: RiskLevel, measured: Measured) -> dict[str, str]:
    """Return what a page says and saves of a certified threshold."""
    objective, guarantee = each.chosen()
    but = measured.but.get(each.risk, "")
    binary = measured.curve.blocks.binary
    limit = percent(each.risk) if binary else f"{each.risk:g}"
    early = ", not to go live yet" * (each.risk in measured.early)
    what = f"{'error rate' if binary else 'risk'} at most {limit}"
    delta = None if guarantee is None else guarantee.delta
    together = f" (which allows for the {each.tried} limits tested)" * (each.tried > 1)
    confidence = "" if delta is None else f", with {percent(1.0 - delta)} confidence"
    whole = " for all cases, without a threshold" * (each.coverage == 1.0)
    return {
        "label": what,
        "limit": f"{limit}{early}",
        "objective": _canonical(dict(objective)),
        "guarantee": _canonical(None if guarantee is None else dict(guarantee)),
        "note": json.dumps(f"{CERTIFIED}. {but}" if but else CERTIFIED),
        "status": f"Certified{whole}: {what}{confidence}{together}.",
    }


def places_of(curve: RiskCoverageCurve, wanted: list[float]) -> IntArray:
    """Return which points of the curve are stops: an even choice, and those that are wanted."""
    scored = len(curve) - int(curve.threshold[-1] == -np.inf)
    coverage = curve.coverage[:scored]
    if not scored:
        return np.zeros(0, dtype=np.intp)
    if scored <= EVEN + GEOMETRIC:
        return np.arange(scored)
    targets = np.concatenate([np.linspace(0.0, 1.0, EVEN + 1)[1:], np.geomspace(coverage[0], 1.0, GEOMETRIC)])
    even = np.minimum(np.searchsorted(coverage, targets), scored - 1)
    exact = [_place(curve, each) for each in wanted if np.isfinite(each)]
    return np.unique(np.concatenate([even, np.array(exact, dtype=np.intp)]))


def _place(curve: RiskCoverageCurve, threshold: float) -> int:
    """Return the point of the curve that a threshold accepts."""
    return max(0, int(np.searchsorted(-curve.threshold, -threshold, side="right")) - 1)


def interval(measured: Measured, places: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the interval of the risk at each stop: exact for counts, else from influence functions."""
    curve = measured.curve
    nothing = np.full(len(places), np.nan)
    if measured.exact:
        errors, accepted = np.cumsum(curve.blocks.loss)[places], curve.n_accepted[places]
        return clopper_pearsons(errors, accepted, level)
    rows = rows_of(curve.blocks)
    if rows is None or not measured.independent or len(rows[0]) < 2:
        return nothing, nothing
    loss, score, weight = rows
    band = risk_band(loss, score, level=level, sample_weight=weight)
    return band.low[places], band.high[places]


def clopper_pearsons(errors: AnyArray, counts: AnyArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the exact interval of each share."""
    ends = [clopper_pearson(round(float(k)), int(n), level) for k, n in zip(errors, counts, strict=True)]
    found = np.array(ends, dtype=np.float64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _template(name: str, curve: RiskCoverageCurve, source: Source) -> str | None:
    """Return the canonical text of a policy with marks in the place of what the stop decides; None if there is none."""
    from abstain.thresholds import choose_threshold

    rows = rows_of(curve.blocks)
    if rows is None:
        return None
    loss, score, weight = rows
    how: Document = {"score": name or "confidence", **source.policies.get(name, {})}
    try:
        found = choose_threshold(loss, score, coverage=0.0, sample_weight=weight, nan_policy="reject")
        policy = found.policy(**how, note=BY_EYE)
    except (TypeError, ValueError):  # such as a score that only another column can hold
        return None
    about = dict(policy.about) | {"created": today(), "note": "@N@"}
    content = replace(policy, about=about)._content()
    content["calibration"] |= {name: _PLACES[name] for name in ("n_accepted", "coverage")}
    content |= {"thresholds": {"": _PLACES["threshold"]}, "objective": "@O@", "guarantee": "@G@"}
    return _canonical(content)


def _canonical(content: Document | None) -> str:
    """Return JSON as the digest of a policy reads it."""
    return json.dumps(content, sort_keys=True, allow_nan=False)


def _plain(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)


def _rounded(value: float) -> float | None:
    return float(f"{value:.6g}") if np.isfinite(value) else None
