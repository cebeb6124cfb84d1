"""From what the caller has to rows: ``Outputs``, a file, a data frame, arrays by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from abstain import scores as scores_
from abstain._checks import UnmetNeed, closest
from abstain._classes import is_text
from abstain._typing import AnyArray, ArrayLike, IntArray, NanPolicy, Options, Source
from abstain.evaluation._measure import MOST_GROUPS, Rows, Scored
from abstain.evaluation._provenance import Answers, Provenance
from abstain.inference import codes
from abstain.metrics import Metric
from abstain.outputs import OPTIONS, ColumnsOrArrays, Outputs, expect, missing, read_outputs, refuse_unknown

#: Columns to split by: their names in the source, or columns by name where arrays are given.
Groups: TypeAlias = str | Sequence[str] | Mapping[str, ArrayLike] | None

#: Arguments that are never arrays.
_OPTIONS = (*OPTIONS, "part")


def check_names(scores: object, groups: object, metrics: object) -> None:
    """Refuse what is neither a name nor a list of names; of metrics, any iterable will do, and is read later."""
    if isinstance(scores, Mapping):
        raise TypeError(f"scores must be names, got a dict; {_in_a_table(scores)}")
    if hasattr(scores, "shape"):
        raise TypeError("scores must be a name or a list of names, got an array; give the column as confidence=")
    for name, given in (("scores", scores), ("groups", groups)):
        several = given if isinstance(given, list | tuple | dict | set) else [given]
        if given is not None and (isinstance(given, bytes) or not all(isinstance(each, str) for each in several)):
            raise TypeError(f"{name} must be a name or a list of names, got {given!r:.99}")
    if isinstance(metrics, bytes) or not isinstance(metrics, str | Metric | Iterable):
        raise TypeError(f"metrics must be a name or a list of names, got {metrics!r:.99}")


def named_groups(source: Source, groups: Any) -> Any:
    """Return what a single column given as groups stands for: its name in a frame, or a column by its name."""
    if not hasattr(groups, "to_numpy") or hasattr(groups, "columns"):
        return groups
    name = getattr(groups, "name", None)
    if source is None:
        return {"group" if name is None else str(name): groups}
    if name in getattr(source, "columns", ()) and list(groups) == list(source[name]):
        return name
    raise TypeError(f"groups of a file, frame or Outputs are names of its columns, got a column called {name!r}")


def rows_of_outputs(
    source: Source,
    scores: str | Sequence[str] | None,
    groups: Groups,
    columns: Mapping[str, ArrayLike],
    *,
    fit: Outputs | None,
    nan_policy: NanPolicy,
    level: float | None,
    n_resamples: int,
    alone: bool,
) -> Rows:
    """Return rows that are all labelled; ``alone``: whether nothing was asked for, so that they may have no score."""
    try:
        outputs, split = _as_outputs(source, scores, groups, columns, nan_policy)
    except ValueError as error:
        raise explained(error, source, columns) from None
    if fit is not None:
        expect(fit, "fit")
    names, no_score = _score_names(scores, outputs, alone and split == [])
    loss = outputs.loss_per_sample()
    weight = None if outputs.sample_weight is None else np.asarray(outputs.sample_weight)
    clusters = None if outputs.clusters is None else codes(outputs.clusters, "clusters", outputs.n)
    places = _groups(outputs, split)
    every, by_passes = [], {}
    for name in dict.fromkeys(names):
        column, judged = scores_.compute(name, outputs, fit), scores_.judged(name, outputs)
        own = judged.loss_per_sample()
        every.append(Scored(name, column, own, weight, clusters, places, judged=judged))
        if judged is not outputs:
            by_passes[name] = int((own != loss).sum())
    unscored = [np.isnan(each.column) for each in every]
    facts = Provenance.of(
        outputs.fingerprint,
        loss,
        weight,
        clusters,
        nan_policy=nan_policy,
        level=level,
        n_resamples=n_resamples,
        fit=None if fit is None else fit.fingerprint,
        understood=outputs.understood(names[0] if scores is None and names else ""),
        origin=None if outputs.reading is None else list(outputs.reading.notes),
        answers=None if outputs.states is None else Answers.of(outputs.states, level),
        same_samples=nan_policy != "drop" or all(np.array_equal(unscored[0], each) for each in unscored),
        judged_by_passes=by_passes or None,
        no_score=no_score or None,
    )
    known: list[ArrayLike] = []
    if weight is None and clusters is None:  # identifiers do not count: who copies rows numbers them anew
        known += [column for each in every for column in (each.loss, each.column)]
        known += [outputs.labels, outputs.predictions, outputs.logits, outputs.probabilities, outputs.confidence]
        known += [*(outputs.scores or {}).values(), *(outputs.groups or {}).values(), outputs.features]
    return Rows(every, facts, [each for each in known if each is not None])


def _score_names(scores: str | Sequence[str] | None, outputs: Outputs, alone: bool) -> tuple[list[str], str]:
    """Return the names of the scores; none, and why, where the states of the answers can be reported all the same."""
    given = [scores] if isinstance(scores, str) else list(scores or [])
    if given:
        return given, ""
    try:
        return [scores_.default(outputs)], ""
    except UnmetNeed as need:
        if not alone or outputs.states is None:
            raise
        return [], str(need)


def _groups(outputs: Outputs, names: Sequence[str]) -> dict[str, tuple[AnyArray, IntArray]]:
    """Return of each group column its values, and of each row the place of its value."""
    found: dict[str, tuple[AnyArray, IntArray]] = {}
    for name in names:
        groups = outputs.groups or {}
        if name not in groups:
            remedy = closest(name, groups) if groups else "these outputs have no groups; give Outputs(groups={...})"
            raise ValueError(f"groups={name!r} is no group column; {remedy}")
        values, place = np.unique(np.asarray(groups[name]), return_inverse=True)
        if len(values) > MOST_GROUPS:
            raise ValueError(
                f"groups={name!r} has {len(values)} distinct values, more than {MOST_GROUPS}; "
                "give a column with fewer, for example intervals of a measured quantity"
            )
        found[name] = values, place
    return found


def _as_outputs(
    source: Source,
    scores: str | Sequence[str] | None,
    groups: Groups,
    columns: Mapping[str, ArrayLike],
    nan_policy: str,
) -> tuple[Outputs, list[str]]:
    """Return outputs and the names of the groups to split by."""
    lacking: Options = {"nan_policy": "drop"} if nan_policy == "drop" else {}
    refuse_unknown("evaluate", columns, [*ColumnsOrArrays.__annotations__, "part", "scores"])
    if isinstance(source, Outputs):
        if columns:
            raise TypeError(f"{next(iter(columns))}= is for a file, a frame or arrays; these are Outputs already")
        return source, _names(groups)
    if source is None:
        arrays, named = arrays_of(columns, groups)
        return read_outputs(arrays, **named, **lacking), list(groups or {})
    outputs = read_outputs(source, groups=_names(groups), scores=external(source, scores), **columns, **lacking)
    return outputs, _names(groups)


def explained(error: ValueError, source: Source, columns: Mapping[str, ArrayLike]) -> ValueError:
    """Return what to say where outputs were refused because only some rows have a label, and no plan says why."""
    try:
        arrays, named = arrays_of(columns, None) if source is None else (source, dict(columns))
    except (TypeError, ValueError):
        return error
    found = None if isinstance(source, Outputs) else missing(arrays, **named)
    if found is None or not 0 < found[0] < found[1]:
        return error
    return ValueError(
        f"{error}; {found[0]} of {found[1]} rows have no label: if they were never labelled, say how the others were "
        'chosen: plan= (of abstain.plan_labels), or labelled="at random" if every row had the same chance'
    )


def external(source: Source, scores: str | Sequence[str] | None) -> list[str]:
    """Return the scores that are columns of the source."""
    return [name for name in _names(scores) if name.split("(")[0] not in scores_.names() or _is_column(source, name)]


def arrays_of(columns: Mapping[str, ArrayLike], groups: Groups) -> tuple[dict[str, ArrayLike], Options]:
    """Return arrays by name as a source, and the arguments of ``read_outputs`` for it."""
    arrays = {name: value for name, value in columns.items() if name not in _OPTIONS and value is not None}
    if not arrays:
        raise TypeError(
            "evaluate takes Outputs, a file, a data frame or arrays by name: give abstain.read_outputs(path), or "
            "labels=..., probabilities=..., or loss=..., confidence=..."
        )
    text = next((name for name, value in arrays.items() if isinstance(value, str)), None)
    if text is not None:
        raise TypeError(f"{text}={arrays[text]!r} names a column, but no table is given; give the file or frame first")
    if groups is not None and not isinstance(groups, Mapping):
        raise TypeError("groups of arrays are a dict of name -> column")
    several = next((name for name, value in arrays.items() if isinstance(value, Mapping)), None)
    if several is not None:
        scored = several in ("confidence", "uncertainty")
        how = _in_a_table(arrays[several]) if scored else "give an array"
        raise TypeError(f"{several} must be one column, got a dict; {how}")
    head = arrays.pop("head", None)
    if head is not None:
        arrays["head_weight"], arrays["head_bias"] = head
    split = {f"group_{name}": column for name, column in (groups or {}).items()}
    named: Options = {name: name for name in arrays if name not in ("passes", "head_weight", "head_bias")}
    options = {name: columns[name] for name in _OPTIONS if name in columns}
    if options.get("class_names") is None and (names := _classes_of(arrays)):
        options["class_names"] = names
    return {**arrays, **split}, named | options


def _in_a_table(columns: Iterable[object]) -> str:
    """Return how to give several scores that are arrays."""
    names = [str(each) for each in columns][:2] or ["a", "b"]
    table = ", ".join(f"{name!r}: ..." for name in ("loss", *names))
    return f'for several scores give all columns as a table: evaluate({{{table}}}, loss="loss", scores={names!r})'


def _classes_of(arrays: Mapping[str, ArrayLike]) -> list[str]:
    """Return the classes that the columns of a frame of logits or probabilities are called by, if labels are such."""
    labels, matrix = arrays.get("labels"), arrays.get("logits", arrays.get("probabilities"))
    names = [str(each) for each in getattr(matrix, "columns", ())]
    if labels is None or not names or not is_text(labels):
        return []
    said = labels.to_list() if hasattr(labels, "to_list") else np.asarray(labels).tolist()
    return names if set(said) <= set(names) else []


def _is_column(source: Source, name: str) -> bool:
    if isinstance(source, Mapping):
        return name in source
    return name in [str(each) for each in getattr(source, "columns", ())]


def _names(names: Any) -> list[str]:
    if isinstance(names, Mapping):
        raise TypeError("groups of a file or frame are names of its columns")
    return [names] if isinstance(names, str) else list(names or [])
