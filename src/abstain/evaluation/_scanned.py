"""``evaluate`` on rows that an engine holds: they are counted there, and measured as rows in memory are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from abstain import scores as scores_
from abstain._checks import UnmetNeed
from abstain._classes import ROUNDING
from abstain._typing import NanPolicy
from abstain.evaluation import _entry
from abstain.evaluation._chosen import choose
from abstain.evaluation._measure import MOST_GROUPS, Scored, measured_parts
from abstain.evaluation._provenance import provenance
from abstain.evaluation._result import Evaluation
from abstain.metrics import Metric
from abstain.outputs import REMEDY, Counted, Counts, Parts, count


def scanned(
    source: Parts,
    scores: str | Sequence[str] | None,
    metrics: str | Metric | Iterable[str | Metric],
    groups: Any,
    columns: Mapping[str, Any],
    nan_policy: NanPolicy,
    level: float | None,
) -> Evaluation:
    """Return the evaluation of rows in parts from the counts of equal ones."""
    if isinstance(groups, Mapping):
        raise TypeError("groups of a file or frame are names of its columns")
    names = [groups] if isinstance(groups, str) else list(dict.fromkeys(groups or []))
    wanted = None if scores is None else list(dict.fromkeys([scores] if isinstance(scores, str) else scores))
    found = count(
        source, wanted, names, columns, external=lambda head: _entry.external(head, wanted), default=scores_.default
    )
    everything = [_scored(name, each) for name, each in found.by_score.items()]
    chosen, forgiving = choose(metrics, max(float(each.loss.max()) for each in everything))
    parts = _parts(everything, list(found.by_score.values()), names)
    measurements, summaries = measured_parts(parts, chosen, forgiving, nan_policy, level, 0)
    facts = _facts(found, everything, chosen, nan_policy, level)
    return Evaluation(tuple(measurements), tuple(summaries), facts)


def refuse_rows(fit: Any, n_resamples: int) -> None:
    """Refuse what needs the rows themselves."""
    if n_resamples:
        raise UnmetNeed(
            f"a bootstrap draws rows, and a scan brings back counts alone; leave n_resamples=0, or {REMEDY}"
        )
    if fit is not None:
        raise UnmetNeed(f"fit= is for scores that a scan does not compute; write the score to a column, or {REMEDY}")


def _scored(name: str, rows: Counted) -> Scored:
    return Scored(name, rows.scores[name], rows.losses[name], None, None, rows.sample_weight, rows.clusters, rows.times)


def _parts(
    every: list[Scored], counted: list[Counted], names: list[str]
) -> Iterator[tuple[str | None, list[Scored], int]]:
    """Yield all rows, then each group, labelled as in memory, with the number of groups of its column."""
    yield None, every, 1
    seen: set[str] = set()
    for name in names:
        groups = [each.group(name, MOST_GROUPS) for each in counted]
        values = groups[0][0]
        for k, value in enumerate(values):
            label = f"{name} = {value}"
            if label in seen:  # column "a" with value "b = c" beside column "a = b" with value "c"
                label = f"{name!r} = {str(value)!r}"
            seen.add(label)
            yield label, [each.on(place == k) for each, (_, place) in zip(every, groups, strict=True)], len(values)


def _facts(
    found: Counts, every: list[Scored], metrics: list[Metric], nan_policy: NanPolicy, level: float | None
) -> dict[str, Any]:
    """Return what a reader must know, as of outputs in memory."""
    first = every[0]
    assert first.times is not None
    mass = first.times if first.sample_weight is None else first.times * first.sample_weight
    counts = first.loss[mass > 0.0]
    reads_unit = any("unit_score" in metric.needs for metric in metrics)
    beyond = {each.name: each.beyond for each in every if reads_unit}
    unscored = [float(each.times[np.isnan(each.column)].sum()) for each in every if each.times is not None]
    facts = provenance(
        fingerprint=found.fingerprint,
        n=int(first.times.sum()),
        mean_loss=float(np.average(first.loss, weights=mass)),
        binary_loss=bool(((counts == 0.0) | (counts == 1.0)).all()),
        weighted=first.sample_weight is not None,
        clustered=first.clusters is not None,
        nan_policy=nan_policy,
        level=level,
    )
    return facts | {
        "scanned": {"engine": found.engine, "different_rows": {each.name: len(each.loss) for each in every}},
        "understood": found.understood,
        "origin": list(found.notes),
        "clipped": {name: most for name, most in beyond.items() if 0.0 < most <= ROUNDING},
        # whether they are missing on the same rows, a scan of single scores cannot tell
        "same_samples": nan_policy != "drop" or len(every) == 1 or not any(unscored),
    }
