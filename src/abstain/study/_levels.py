"""Corruptions level by level: the metric of each, then the mean over levels."""

from __future__ import annotations

import json
import math

import numpy as np

from abstain._result import arrow
from abstain.study._grid import Grid, Head
from abstain.study._results import Mean, StudyResults


def levels(results: StudyResults, metric: str = "augrc") -> Grid:
    r"""Return a metric at each level of corruption, and the mean over levels.

    .. math:: \bar m = \frac1L \sum_{\ell=1}^{L} m_\ell

    A mean of metrics, not the metric of all pictures together: pooled, a score would also be judged by how it ranks the
    levels among each other.

    Parameters
    ----------
    results : StudyResults
        Of sets whose shift is ``{"kind": "corruption", "level": ...}``.
    metric : str
        One of those evaluated.

    Returns
    -------
    Grid
        Rows are models and scores; columns are the undisturbed test set (``iid``), the levels and ``mean``. NaN where a
        level is missing: then the mean is NaN, too.

    Raises
    ------
    ValueError
        No corrupted set; a metric that was not evaluated.

    References
    ----------
    Hendrycks & Dietterich (2019), ICLR; Traub et al. (2024): the column "cor".

    Examples
    --------
    >>> import tempfile, abstain
    >>> from abstain import study
    >>> folder = tempfile.mkdtemp()
    >>> for level, kind in ((1, "calibrated"), (2, "random")):
    ...     made = study.add_outputs(folder, abstain.datasets.synthetic(kind, 200, 0), model="toy", set=f"fog-{level}",
    ...                              role="shift", shift={"kind": "corruption", "level": level})
    >>> found = study.levels(study.evaluate(folder, metrics="augrc"), "augrc")
    >>> [head.title for head in found.heads], [round(value, 3) for value in next(iter(found.values.values()))]
    (['level 1', 'level 2', 'mean'], [0.003, 0.364, 0.183])
    """
    means = results.means(metric)
    found: dict[tuple[str, ...], dict[str, list[Mean]]] = {}
    for each in means:
        shift = json.loads(each.shift or "{}")
        column = f"level {shift.get('level')}" if shift.get("kind") == "corruption" else ""
        column = "iid" if each.role == "test" else column
        if column:
            found.setdefault((each.data, each.model, each.score), {}).setdefault(column, []).append(each)
    names = sorted({column for row in found.values() for column in row} - {"iid"}, key=_number)
    if not names:
        raise ValueError("no set is corrupted; 'abstain train --corruptions all' makes them, level by level")
    several = len({data for data, _, _ in found}) > 1
    inside = ["iid"] if any("iid" in row for row in found.values()) else []
    values: dict[str, list[float]] = {}
    spreads: dict[str, list[float]] = {}
    for (data, model, score), row in found.items():
        title = " ".join([*([data] if several else []), model, score])
        at = {name: float(np.mean([each.value for each in row[name]])) if name in row else math.nan for name in names}
        first = [row["iid"][0].value if "iid" in row else math.nan] if inside else []
        values[title] = [*first, *at.values(), float(np.mean(list(at.values())))]
        error = {name: row[name][0].standard_error if len(row.get(name, ())) == 1 else math.nan for name in names}
        spreads[title] = [*([row["iid"][0].standard_error if "iid" in row else math.nan] if inside else []),
                          *error.values(), math.nan]  # fmt: skip
    direction = means[0].direction
    heads = [Head(name, direction) for name in (*inside, *names, "mean")]
    title = arrow(means[0].label, direction) if direction else means[0].label
    return Grid(heads, values, spreads, title, ["mean: of the metric at each level"])


def _number(column: str) -> float:
    """Levels in order; those without a number last."""
    try:
        return float(column.removeprefix("level "))
    except ValueError:
        return math.inf
