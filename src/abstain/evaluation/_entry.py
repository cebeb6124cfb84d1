"""From what the caller has to outputs: ``Outputs``, a file, a data frame, arrays by name, or several models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from abstain import scores as scores_
from abstain._checks import closest
from abstain._classes import is_text
from abstain.metrics import Metric
from abstain.outputs import Outputs, read_outputs

#: Arguments of ``read_outputs`` that are never arrays.
_OPTIONS = (
    "class_names", "where", "unscored", "ood_label", "abstain_class", "cost_matrix", "task", "part",
    "confidence_levels",
)  # fmt: skip
#: Fields of ``Outputs`` and arguments of ``read_outputs`` that are arrays where no table is given.
_COLUMNS = (
    "labels", "logits", "probabilities", "predictions", "confidence", "uncertainty", "positive_probability", "loss",
    "correct", "quality", "abstained", "should_abstain", "is_ood", "sample_weight", "ids", "clusters", "features",
    "passes", "head",
)  # fmt: skip


def check_names(scores: Any, groups: Any, metrics: Any) -> None:
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


def named_groups(source: Any, groups: Any) -> Any:
    """Return what a single column given as groups stands for: its name in a frame, or a column by its name."""
    if not hasattr(groups, "to_numpy") or hasattr(groups, "columns"):
        return groups
    name = getattr(groups, "name", None)
    if source is None:
        return {"group" if name is None else str(name): groups}
    if name in getattr(source, "columns", ()) and list(groups) == list(source[name]):
        return name
    raise TypeError(f"groups of a file, frame or Outputs are names of its columns, got a column called {name!r}")


def as_outputs(
    source: Any, scores: str | Sequence[str] | None, groups: Any, columns: Mapping[str, Any], nan_policy: str = "raise"
) -> tuple[Outputs, list[str]]:
    """Return outputs and the names of the groups to split by."""
    lacking: dict[str, Any] = {"nan_policy": "drop"} if nan_policy == "drop" else {}
    unknown = next((name for name in columns if name not in (*_COLUMNS, *_OPTIONS)), None)
    if unknown is not None:
        raise TypeError(f"evaluate has no argument {unknown!r}; {closest(unknown, [*_COLUMNS, *_OPTIONS, 'scores'])}")
    if isinstance(source, Outputs):
        if columns:
            raise TypeError(f"{next(iter(columns))}= is for a file, a frame or arrays; these are Outputs already")
        return source, _names(groups)
    if source is None:
        return _of_arrays(columns, groups, lacking)
    outputs = read_outputs(source, groups=_names(groups), scores=external(source, scores), **columns, **lacking)
    return outputs, _names(groups)


def external(source: Any, scores: str | Sequence[str] | None) -> list[str]:
    """Return the scores that are columns of the source."""
    return [name for name in _names(scores) if name.split("(")[0] not in scores_.names() or _is_column(source, name)]


def _of_arrays(columns: Mapping[str, Any], groups: Any, lacking: dict[str, Any]) -> tuple[Outputs, list[str]]:
    arrays, told = arrays_of(columns, groups)
    return read_outputs(arrays, **told, **lacking), list(groups or {})


def arrays_of(columns: Mapping[str, Any], groups: Any) -> tuple[dict[str, Any], dict[str, Any]]:
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
    told: dict[str, Any] = {name: name for name in arrays if name not in ("passes", "head_weight", "head_bias")}
    options = {name: columns[name] for name in _OPTIONS if name in columns}
    if options.get("class_names") is None and (names := _classes_of(arrays)):
        options["class_names"] = names
    return {**arrays, **split}, told | options


def _in_a_table(columns: Mapping[Any, Any]) -> str:
    """Return how to give several scores that are arrays."""
    names = [str(each) for each in columns][:2] or ["a", "b"]
    table = ", ".join(f"{name!r}: ..." for name in ("loss", *names))
    return f'for several scores give all columns as a table: evaluate({{{table}}}, loss="loss", scores={names!r})'


def _classes_of(arrays: Mapping[str, Any]) -> list[str]:
    """Return the classes that the columns of a frame of logits or probabilities are called by, if labels are such."""
    labels, matrix = arrays.get("labels"), arrays.get("logits", arrays.get("probabilities"))
    names = [str(each) for each in getattr(matrix, "columns", ())]
    if labels is None or not names or not is_text(labels):
        return []
    said = labels.to_list() if hasattr(labels, "to_list") else np.asarray(labels).tolist()
    return names if set(said) <= set(names) else []


def _is_column(source: Any, name: str) -> bool:
    if isinstance(source, Mapping):
        return name in source
    return name in [str(each) for each in getattr(source, "columns", ())]


def _names(names: Any) -> list[str]:
    if isinstance(names, Mapping):
        raise TypeError("groups of a file or frame are names of its columns")
    return [names] if isinstance(names, str) else list(names or [])


def same_samples(models: Mapping[str, Outputs]) -> bool:
    """Whether several models are judged on the same samples, as far as ids and labels tell."""
    first, *others = models.values()
    for each in others:
        if each.n != first.n:
            return False
        for field in ("ids", "labels"):
            one, two = getattr(first, field), getattr(each, field)
            if one is not None and two is not None and not np.array_equal(one, two):
                return False
    return True
