"""Rows that an engine holds: equal ones are counted there, and evaluated and compared as rows in memory are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from abstain import scores as scores_
from abstain._checks import UnmetNeed
from abstain._typing import ArrayLike, FloatArray, NanPolicy, Source
from abstain.evaluation._measure import MOST_GROUPS, Rows, Scored
from abstain.evaluation._provenance import Provenance
from abstain.evaluation._sources import Groups, external
from abstain.inference import Panel, Sampling, route_of
from abstain.metrics import Metric
from abstain.outputs import REMEDY, Parts, count, count_together, parts_of

#: So few rows are written out again: p-values may then be from swaps within rows. Clusters: so many.
FEW, MOST_ROWS = 5000, 20_000_000


def counted(
    source: Parts,
    scores: str | Sequence[str] | None,
    groups: Groups,
    columns: Mapping[str, ArrayLike],
    nan_policy: NanPolicy,
    level: float | None,
) -> Rows:
    """Return the rows of a source in parts, from the counts of equal ones."""
    if isinstance(groups, Mapping):
        raise TypeError("groups of a file or frame are names of its columns")
    names = [groups] if isinstance(groups, str) else list(dict.fromkeys(groups or []))
    wanted = None if scores is None else list(dict.fromkeys([scores] if isinstance(scores, str) else scores))
    found = count(source, wanted, names, columns, external=lambda head: external(head, wanted), default=scores_.default)
    every = []
    for name, rows in found.by_score.items():
        split = {group: rows.group(group, MOST_GROUPS) for group in names}
        every.append(
            Scored(name, rows.scores[name], rows.loss[name], rows.sample_weight, rows.clusters, split, rows.times)
        )
    first = every[0]
    unscored = any(each.times[np.isnan(each.column)].sum() for each in every if each.times is not None)
    facts = Provenance.of(
        found.fingerprint,
        first.loss,
        first.sample_weight,
        first.clusters,
        first.times,
        nan_policy=nan_policy,
        level=level,
        understood=found.understood,
        origin=list(found.notes),
        scanned={"engine": found.engine, "different_rows": {each.name: len(each.loss) for each in every}},
        # whether they are missing on the same rows, a scan of single scores does not show
        same_samples=nan_policy != "drop" or len(every) == 1 or not unscored,
    )
    return Rows(every, facts)


def refuse_rows(fit: object, n_resamples: int) -> None:
    """Refuse what needs the rows themselves."""
    if n_resamples:
        raise UnmetNeed(
            f"a bootstrap draws rows, and a scan brings back counts alone; leave n_resamples=0, or {REMEDY}"
        )
    if fit is not None:
        raise UnmetNeed(f"fit= is for scores that a scan does not compute; write the score to a column, or {REMEDY}")


def counted_panel(
    frame: Source, loss: ArrayLike, scores: ArrayLike, apart: Mapping[str, object], columns: Mapping[str, ArrayLike]
) -> tuple[Panel, str]:
    """Return the panel of what was counted, and a fingerprint of the rows; clusters and few rows are written out."""
    source = parts_of(frame)
    if source is None:
        raise TypeError(
            f"frame must be a lazy frame, a pattern of Parquet files or a folder of them, got {type(frame).__name__}; "
            "of rows in memory give loss= and scores= as columns"
        )
    for name, value in apart.items():
        if value is not None:
            raise UnmetNeed(f"{name}= is not read in a scan; leave it out, or {REMEDY}")
    named = _named(scores, "scores")
    if len(named) < 2:
        raise ValueError(f"scores must name at least two scores, got {', '.join(named) or 'none'}")
    losses = _named(loss, "loss") if isinstance(loss, Mapping) else {}
    if losses and losses.keys() != named.keys():
        raise ValueError(
            f"the names in loss ({', '.join(losses)}) and scores ({', '.join(named)}) differ; give every model both"
        )
    given = {name: value for name, value in columns.items() if value is not None}
    if loss is not None:
        given["loss"] = next(iter(losses.values()), loss)
    for name, value in given.items():
        if not isinstance(value, str | list | tuple | dict):
            raise TypeError(f"{name} must name a column of the frame, got {type(value).__name__}; give its name")
    wanted = list(dict.fromkeys(named.values()))
    own = {named[name]: column for name, column in losses.items()}
    if losses and len(own) < len(named):
        raise ValueError("two models have one column of scores; give each its own")
    found = count_together(source, lambda head: external(head, wanted), wanted, own, given)
    times: FloatArray | None = found.times
    number, which = int(found.times.sum()), np.arange(len(found.times))
    if number <= FEW or found.clusters is not None or (found.times == 1.0).all():
        if number > MOST_ROWS and found.clusters is not None:
            raise UnmetNeed(
                f"clusters= needs the rows one by one, and {number} are more than {MOST_ROWS}; draw whole clusters at "
                f"random, or {REMEDY}"
            )
        which, times = np.repeat(which, found.times.astype(np.intp)), None
    all_losses = tuple(found.loss[column][which][None] for column in named.values())
    shared = not losses and all(np.array_equal(all_losses[0], each) for each in all_losses[1:])
    all_scores = tuple(found.scores[column][which][None] for column in named.values())
    weight = None if found.sample_weight is None else found.sample_weight[which]
    sampling = Sampling(None, None if found.clusters is None else found.clusters[which])
    return Panel(tuple(named), all_losses, all_scores, shared, weight, sampling, times=times), found.fingerprint


def _named(given: str | Iterable[str] | Mapping[str, str] | None, what: str) -> dict[str, str]:
    """Return names with the columns that they are in."""
    if isinstance(given, str):
        given = scores_.parse_list(given)
    pairs = dict(given) if isinstance(given, Mapping) else {name: name for name in given or ()}
    for each in pairs.values():
        if not isinstance(each, str):
            raise TypeError(
                f"{what} must be names of columns of the frame, got {type(each).__name__}; give their names"
            )
    return {str(name): column for name, column in pairs.items()}


def refuse_draws(metric: Metric, method: str, panel: Panel) -> None:
    """Refuse what would draw rows."""
    how = method if method in ("bootstrap", "permutation") else route_of(metric, method, panel)
    if how != "influence":
        remedy = f"leave method={method!r} out" if how == method else "compare by augrc, which needs none"
        raise UnmetNeed(
            f"{metric.spec}: a {how} draws rows, and a scan brings back counts alone; {remedy}, or {REMEDY}"
        )
