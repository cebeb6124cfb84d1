"""``compare`` on rows that an engine holds: rows that are equal in all scores are counted, and tested as in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain import scores as scores_
from abstain._checks import UnmetNeed
from abstain._typing import FloatArray
from abstain.evaluation import _entry
from abstain.inference import Panel, Sampling, route_of
from abstain.metrics import Metric
from abstain.outputs import REMEDY, Counted, count_together, parts_of

#: So few rows are written out again: p-values may then be from swaps within rows. Clusters: so many.
FEW, MOST_ROWS = 1000, 20_000_000


def together(
    frame: Any, loss: Any, scores: Any, apart: Mapping[str, Any], columns: Mapping[str, Any]
) -> tuple[Panel, str]:
    """Return the panel of what was counted, and a fingerprint of the rows."""
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
    told = {name: value for name, value in columns.items() if value is not None}
    told |= {"loss": next(iter(losses.values()), loss)} if loss is not None else {}
    other = next((name for name, value in told.items() if not isinstance(value, str | list | tuple | dict)), None)
    if other is not None:
        raise TypeError(f"{other} must name a column of the frame, got {type(told[other]).__name__}; give its name")
    wanted = list(dict.fromkeys(named.values()))
    own = {named[name]: column for name, column in losses.items()}
    if losses and len(own) < len(named):
        raise ValueError("two models have one column of scores; give each its own")
    found = count_together(source, lambda head: _entry.external(head, wanted), wanted, own, told)
    return _panel(found, named, bool(losses)), found.fingerprint


def _named(given: Any, what: str) -> dict[str, str]:
    """Return names with the columns that they are in."""
    if isinstance(given, str):
        given = scores_.parse_list(given)
    pairs = dict(given) if isinstance(given, Mapping) else {name: name for name in given or ()}
    other = next((each for each in pairs.values() if not isinstance(each, str)), None)
    if other is not None:
        raise TypeError(f"{what} must be names of columns of the frame, got {type(other).__name__}; give their names")
    return {str(name): column for name, column in pairs.items()}


def _panel(found: Counted, named: Mapping[str, str], apart: bool) -> Panel:
    """Return counts as a panel; clusters, and few rows, are written out again."""
    times: FloatArray | None = found.times
    number, which = int(found.times.sum()), np.arange(len(found.times))
    if number <= FEW or found.clusters is not None or (found.times == 1.0).all():
        if number > MOST_ROWS and found.clusters is not None:
            raise UnmetNeed(
                f"clusters= needs the rows one by one, and {number} are more than {MOST_ROWS}; draw whole clusters at "
                f"random, or {REMEDY}"
            )
        which, times = np.repeat(which, found.times.astype(np.intp)), None
    losses = tuple(found.losses[column][which][None] for column in named.values())
    shared = not apart and all(np.array_equal(losses[0], each) for each in losses[1:])
    columns = tuple(found.scores[column][which][None] for column in named.values())
    weight = None if found.sample_weight is None else found.sample_weight[which]
    sampling = Sampling(None, None if found.clusters is None else found.clusters[which])
    return Panel(tuple(named), losses, columns, shared, weight, sampling, times=times)


def refuse_draws(metric: Metric, method: str, counted: Panel) -> None:
    """Refuse what would draw rows."""
    how = method if method in ("bootstrap", "permutation") else route_of(metric, method, counted)
    if how != "influence":
        raise UnmetNeed(
            f"{metric.spec}: a {how} draws rows, and a scan brings back counts alone; "
            + (f"leave method={method!r} out" if how == method else "compare by augrc, which needs none")
            + f", or {REMEDY}"
        )
