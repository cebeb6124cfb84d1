"""The thresholds that a page slides over: what each accepts, measured here, and the policy that a page may export.

The script of a page adds nothing to these numbers: it shows them, multiplies by 1,000 and by costs, and fills the
policy's text in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from abstain._result import clean, percent, readable
from abstain._typing import FloatArray, IntArray
from abstain.curve import RiskCoverageCurve
from abstain.evaluation import rows_of
from abstain.inference import clopper_pearson, risk_band
from abstain.report._source import Source, today
from abstain.thresholds import Promise

#: Thresholds of one score to choose from: this many at even steps of coverage, and so many in geometric steps.
EVEN, GEOMETRIC = 400, 100
#: What an exported policy says of a threshold that was taken from the slider.
BY_EYE = "chosen by eye, no promise"
#: What an exported policy says of a threshold that is promised.
POINT = "a promised point of a report"
#: What is said of a stop that is not promised, and of a group that a policy rejects.
UNPROMISED = (
    "Chosen by eye, no promise: nothing was certified for this threshold. The interval is that of one threshold "
    "fixed before the data were seen."
)
REJECTED = "The policy rejects every case of this group. What is shown is measured on these rows: by eye, no promise."
_PLACES = {"threshold": "@T@", "n_accepted": "@K@", "coverage": "@C@", "objective": "@O@", "guarantee": "@G@"}


def rail(
    name: str, curve: RiskCoverageCurve, level: float, source: Source, *, exact: bool, dependent: bool = False,
    promises: tuple[Promise, ...] = (), extra: tuple[float, ...] = (), saved: bool = True, rejected: bool = False,
    but: Mapping[float, str] = MappingProxyType({}),
) -> dict[str, Any]:  # fmt: skip
    """Return one score to slide over: stops of falling threshold, those that are promised, and the policy's text.

    A stop is [threshold, accepted rows, their weight, their loss, lower end, upper end]; ends may be null. The slider
    begins at the first of ``extra``, else where the upper end is least, of none at all rows. ``saved``: whether one
    stop makes a policy; ``rejected``: whether the policy of all groups rejects every row of this one;
    ``but``: what else is to be said where a risk is promised.
    """
    kept = [each for each in promises if each.attained]
    places = places_of(curve, [*(each.threshold for each in kept), *extra])
    low, high = _ends(curve, places, level, exact, dependent)
    blocks = curve.blocks
    weight, loss = blocks.cumulative_weight[places], blocks.cumulative_loss[places]
    counts = curve.n_accepted[places]
    stops: list[list[Any]] = [
        [repr(float(curve.threshold[j])), int(k), _plain(w), _plain(total), _rounded(a), _rounded(b)]
        for j, k, w, total, a, b in zip(places, counts, weight, loss, low, high, strict=True)
    ]
    where = {value: int(np.searchsorted(places, _place(curve, value)))
             for value in (*(each.threshold for each in kept), *extra) if np.isfinite(value)}  # fmt: skip
    for each in kept:  # its threshold may lie below the least score that it accepts here
        stops[where[each.threshold]][0] = repr(each.threshold)
    promised: dict[int, dict[str, Any]] = {}
    for each in sorted(kept, key=lambda one: -one.risk):
        objective, guarantee = each.chosen()
        promised[where[each.threshold]] = {
            "risk": each.risk, "objective": _canonical(objective), "guarantee": _canonical(guarantee),
            "note": json.dumps(f"{POINT}. {but[each.risk]}" if each.risk in but else POINT),
            "said": " ".join([_said(each, guarantee), *([but[each.risk]] if each.risk in but else [])]),
        }  # fmt: skip
    begin = where.get(extra[0]) if extra else None
    if begin is None and stops:
        begin = len(stops) - 1 if not np.isfinite(high).any() else int(np.flatnonzero(high == np.nanmin(high))[-1])
    known = np.append(curve.threshold, -np.inf)
    return {
        "name": clean(name), "start": begin, "n": blocks.n, "total": _plain(blocks.total_weight), "exact": exact,
        "stops": stops,
        "readable": [readable(float(stop[0]), float(known[j + 1]), float(known[j]))
                     for stop, j in zip(stops, places, strict=True)],
        "promised": {str(k): entry for k, entry in sorted(promised.items())},
        "policy": _template(name, curve, source) if saved else None,
        "label": f"{clean(name)}: rejected" if rejected else clean(name),
        "said": REJECTED if rejected else UNPROMISED,
    }  # fmt: skip


def _said(each: Promise, guarantee: Mapping[str, Any] | None) -> str:
    """Return what is promised at a stop, and how sure it is."""
    sure = "" if guarantee is None else f", {percent(1.0 - guarantee['delta'])} sure"
    more = f" of all {each.tried} promises that were tried at once" * (each.tried > 1)
    return f"Promised: a risk of at most {percent(each.risk)}{sure}{more}."


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


def _ends(
    curve: RiskCoverageCurve, places: IntArray, level: float, exact: bool, dependent: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the interval of the risk at each stop: exact for counts, else from influence functions."""
    nothing = np.full(len(places), np.nan)
    if exact:
        errors, accepted = np.cumsum(curve.blocks.loss)[places], curve.n_accepted[places]
        ends = [clopper_pearson(round(float(k)), int(n), level) for k, n in zip(errors, accepted, strict=True)]
        found = np.array(ends, dtype=np.float64).reshape(-1, 2)
        return found[:, 0], found[:, 1]
    rows = rows_of(curve.blocks)
    if rows is None or dependent or len(rows[0]) < 2:
        return nothing, nothing
    loss, score, weight = rows
    band = risk_band(loss, score, level=level, sample_weight=weight)
    return band.low[places], band.high[places]


def _template(name: str, curve: RiskCoverageCurve, source: Source) -> str | None:
    """Return the canonical text of a policy with marks in the place of what the stop decides; None if there is none."""
    from abstain.thresholds import choose_threshold

    rows = rows_of(curve.blocks)
    if rows is None:
        return None
    loss, score, weight = rows
    how: dict[str, Any] = {"score": name or "confidence", **source.policies.get(name, {})}
    try:
        found = choose_threshold(loss, score, coverage=0.0, sample_weight=weight, nan_policy="reject")
        policy = found.policy(**how, note=BY_EYE)
    except (TypeError, ValueError):  # such as a score that only another column can hold
        return None
    calibration = dict(policy.calibration) | {name: _PLACES[name] for name in ("n_accepted", "coverage")}
    about = dict(policy.about) | {"created": today(), "note": "@N@"}
    content = replace(policy, calibration=calibration, about=about)._content()
    content |= {"thresholds": {"": _PLACES["threshold"]}, "objective": "@O@", "guarantee": "@G@"}
    return _canonical(content)


def _canonical(content: Mapping[str, Any] | None) -> str:
    """Return JSON as the digest of a policy reads it."""
    return json.dumps(content, sort_keys=True, allow_nan=False)


def _plain(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)


def _rounded(value: float) -> float | None:
    return float(f"{value:.6g}") if np.isfinite(value) else None
