"""Tables of two papers from a study: corruptions level by level, and networks by what they were fine-tuned on."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain._result import arrow
from abstain._typing import Document
from abstain.study._grid import Grid, Head
from abstain.study._results import Mean, StudyResults


def levels(results: StudyResults, metric: str = "augrc") -> Grid:
    r"""Return a metric at each level of corruption, and the mean over levels.

    .. math:: \bar m = \frac1L \sum_{\ell=1}^{L} m_\ell

    A mean of metrics, not the metric of all images together: pooled, a score would also be judged by how it ranks the
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
        cell = found.setdefault((each.data, each.model, each.score), {}).setdefault(column, []) if column else []
        if column != "iid" or not cell:  # of several test sets the first
            cell.append(each)
    names = sorted({column for row in found.values() for column in row} - {"iid"}, key=_number)
    if not names:
        raise ValueError("no set is corrupted; 'abstain train --corruptions all' makes them, level by level")
    several = len({data for data, _, _ in found}) > 1
    inside = ["iid"] if any("iid" in row for row in found.values()) else []
    values: dict[str, list[float]] = {}
    spreads: dict[str, list[float]] = {}
    for (data, model, score), row in found.items():
        title = " ".join([*([data] if several else []), model, score])
        cells = [row.get(name, []) for name in (*inside, *names)]
        known = [float(np.mean([each.value for each in cell])) if cell else math.nan for cell in cells]
        values[title] = [*known, float(np.mean(known[len(inside) :]))]
        spreads[title] = [*(cell[0].standard_error if len(cell) == 1 else math.nan for cell in cells), math.nan]
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


#: Columns in the order of the paper, then what it does not have.
ORDER = ("cross-entropy", "SELE", "harmonic", "log")
TITLES = {"ce": "cross-entropy", "sele": "SELE", "augrc": "AUGRC", "cwsa": "CWSA"}


def by_objective(results: StudyResults, metric: str | None = None, *, score: str | None = None) -> Grid:
    """Return one metric on the test sets: networks by data set and objective of the last stage of training.

    Networks and objectives are what the manifest says: settings of ``abstain train``, or plain settings ``network`` and
    ``objective`` (``abstain study add --setting objective=sele``). Values are means over runs, spreads the standard
    deviations of the runs, as printed in the paper. Where there are fine-tuned models, others are left out: what they
    began with, and what was trained in one stage.

    Parameters
    ----------
    results : StudyResults
    metric : str, optional
        Default ``aurc``, else the first.
    score : str, optional
        Which confidence; default the first.

    Returns
    -------
    Grid
        ``table(across=True)`` marks the best objective of each network and data set.

    Raises
    ------
    ValueError
        No run says what it was trained on; two models differ in nothing that the table shows.

    References
    ----------
    Zhou et al. (2025), Table 1.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> from abstain import study
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for objective, kind in (("ce", "overconfident"), ("sele", "calibrated")):
    ...     outputs = abstain.datasets.synthetic(kind, 500)
    ...     settings = {"network": "resnet18", "objective": objective}
    ...     made = study.add_outputs(folder, outputs, model=objective, set="test", data="toy", settings=settings)
    >>> print(study.by_objective(study.evaluate(folder, metrics="aurc")).table(across=True))
    AURC ↓
              cross-entropy ↓     SELE ↓
    resnet18          0.08230  0.002294*
    <BLANKLINE>
    score: confidence; loss of the study; runs: 1
    * best of its row and group of columns
    """
    specs = results.values("metric")
    spec = metric if metric is not None else ("aurc" if "aurc" in specs else specs[0] if specs else "aurc")
    means = [each for each in results.means(spec) if each.role == "test"]
    chosen = score if score is not None else means[0].score if means else ""
    means = [each for each in means if each.score == chosen]
    known: dict[tuple[str, str], tuple[str, str, bool]] = {}
    for row in results.numbers:
        if (about := _trained(json.loads(row["settings"] or "{}"))) is not None:
            known.setdefault((row["data"], row["model"]), about)
    tuned = any(second for _, _, second in known.values())
    cells: dict[tuple[str, str, str], Mean] = {}
    left: dict[str, None] = {}
    for each in means:
        about = known.get((each.data, each.model))
        if about is None or (tuned and not about[2]):
            left[each.model] = None
            continue
        network, objective, _ = about
        place = network, each.data, objective
        if place in cells:
            both = f"{cells[place].model!r} and {each.model!r}"
            raise ValueError(f"{both} are both {network} on {objective}; choose one by models=")
        cells[place] = each
    if not cells:
        raise ValueError(f"no run of {chosen or 'this study'} has the settings network and objective; add them")
    return _grid(cells, list(left), chosen)


def _grid(cells: Mapping[tuple[str, str, str], Mean], left: list[str], score: str) -> Grid:
    networks, data = (list(dict.fromkeys(place[k] for place in cells)) for k in (0, 1))
    tried = {place[2] for place in cells}
    objectives = [*(each for each in ORDER if each in tried), *sorted(tried - {*ORDER})]
    columns = [(one, other) for one in data for other in objectives if any(p[1:] == (one, other) for p in cells)]
    values = {name: [math.nan] * len(columns) for name in networks}
    spreads = {name: [math.nan] * len(columns) for name in networks}
    for (name, one, other), mean in cells.items():
        j = columns.index((one, other))
        values[name][j], spreads[name][j] = mean.value, mean.deviation
    first = next(iter(cells.values()))
    runs = sorted({each.n_runs for each in cells.values()})
    said = [f"score: {score}; loss of the study; runs: {' to '.join(dict.fromkeys(map(str, (runs[0], runs[-1]))))}"]
    if runs[-1] > 1:
        said.append("±: standard deviation of the runs, as in the paper, not an error of the mean")
    if left:
        said.append(f"not fine-tuned, left out: {', '.join(left)}")
    title = arrow(first.label, first.direction) if first.direction else first.label
    heads = [Head(other, first.direction, one) for one, other in columns]
    return Grid(heads, values, spreads if not np.isnan(list(spreads.values())).all() else {}, title, said)


def _trained(settings: Document) -> tuple[str, str, bool] | None:
    """Return the network of a run, the objective of its last stage, and whether that was a second one."""
    network, stages = settings.get("network"), settings.get("stage")
    if isinstance(network, Mapping):
        width, head = network.get("width"), network.get("head")
        network = "".join((
            str(network.get("name")), f" width {width}" if width else "",
            f" {head}" if head not in (None, "linear") else "",
        ))  # fmt: skip
    if isinstance(stages, Mapping) and stages:
        last = list(stages.values())[-1]
        objective, crl, tuned = last.get("objective"), last.get("crl"), "tune" in stages
    else:
        objective, crl, tuned = settings.get("objective"), None, False
    if not network or not objective:
        return None
    return str(network), _title(objective) + (" + CRL" if crl else ""), tuned


def _title(objective: Any) -> str:
    if not isinstance(objective, Mapping):
        name, estimator, raw = str(objective), "", False
    else:
        name, estimator = str(objective.get("name")), str(objective.get("estimator") or "")
        raw = (
            name in ("sele", "augrc") and objective.get("unit_mean") is False
        )  # the weights of AURC have mean 1 anyway
    title = (estimator or name) if name == "aurc" else TITLES.get(name, name)
    return f"{title} (raw)" if raw else title
