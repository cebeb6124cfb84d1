"""Which column of a file plays which part: by the caller's word, else by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from abstain._checks import closest

#: field of Outputs -> (option of read_outputs, names that are recognised, in lower case)
SINGLE: dict[str, tuple[str, tuple[str, ...]]] = {
    "labels": ("label", ("label", "labels", "y", "y_true", "target", "targets", "true_label")),
    "predictions": (
        "prediction",
        ("prediction", "predictions", "pred", "preds", "y_pred", "yhat", "y_hat", "pred_label"),
    ),
    "confidence": ("confidence", ("confidence", "conf", "score", "msp")),
    "loss": ("loss", ("loss", "error")),
    "sample_weight": ("sample_weight", ("weight", "weights", "sample_weight")),
    "ids": ("id", ("id", "ids", "sample_id")),
    "clusters": ("cluster", ("cluster", "clusters")),
}

#: field of Outputs -> (option, names of a whole matrix, prefixes of one column per class)
MATRIX: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "logits": ("logits", ("logits", "logit"), ("logit_", "logits_")),
    "probabilities": (
        "probs",
        ("probabilities", "probability", "probs", "prob", "proba", "softmax"),
        ("prob_", "probs_", "proba_", "probability_", "probabilities_", "p_"),
    ),
    "features": ("features", ("features",), ("feature_", "features_")),
}


@dataclass
class Plan:
    """The columns to load: one per field, several per matrix, and dicts of name -> column."""

    single: dict[str, str] = field(default_factory=dict)
    matrix: dict[str, list[str]] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    scores: dict[str, str] = field(default_factory=dict)
    class_names: list[str] | None = None

    def columns(self) -> list[str]:
        """All columns, each once."""
        inner = [name for names in self.matrix.values() for name in names]
        every = [*self.single.values(), *inner, *self.groups.values(), *self.scores.values()]
        return list(dict.fromkeys(every))


def plan(
    columns: dict[str, int],
    single: dict[str, str | None],
    matrix: dict[str, str | Sequence[str] | None],
    groups: str | Sequence[str],
    scores: str | Sequence[str],
) -> Plan:
    """Choose columns, given the number of dimensions of each; explicit choices are made first."""
    result = Plan()
    for name, column in single.items():
        if column is not None:
            result.single[name] = _exact(column, columns, SINGLE[name][0])
    for name, pattern in matrix.items():
        if pattern is not None:
            result.matrix[name] = _matches(pattern, columns, MATRIX[name][0])
    result.groups = _family(groups, columns, "group", "groups")
    result.scores = _family(scores, columns, "score", "scores")

    told = result.single.keys() & {"predictions", "loss"}
    taken = set(result.columns())
    free = {name: ndim for name, ndim in columns.items() if name not in taken}
    for name in SINGLE:
        if name not in result.single:
            _automatic_single(result, name, free)
    for name in MATRIX:
        if name not in result.matrix:
            _automatic_matrix(result, name, free, needed=not told)
    if not groups:
        result.groups = _automatic_family(free, "group")
    if not scores:
        result.scores = _automatic_family(free, "score", whole=False)
    _order_classes(result, columns)
    return result


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Return column names for a message, cut short."""
    names = [name if name == name.strip() else repr(name) for name in names]  # blanks would not be seen
    more = f", … ({len(names)} in all)" if len(names) > limit else ""
    return (", ".join(names[:limit]) or "none") + more


def _exact(name: str, columns: Iterable[str], option: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{option} must be the name of a column, got {name!r}")
    if name in columns:
        return name
    known = list(columns)
    hint = (
        closest(name, known) if len(known) <= 12 or "did you" in closest(name, known) else f"columns: {listed(known)}"
    )
    raise ValueError(f"column {name!r} is not in the file; {hint}; give {option}=<column>")


def _matches(pattern: str | Sequence[str], columns: dict[str, int], option: str) -> list[str]:
    if not isinstance(pattern, str | Sequence):
        raise TypeError(f"{option} must be a name, a pattern or a sequence of names, got {pattern!r}")
    found: list[str] = []
    for part in [pattern] if isinstance(pattern, str) else pattern:
        if part in columns:
            found.append(part)
        elif any(sign in part for sign in "*?["):
            fitting = [name for name in columns if fnmatchcase(name, part)]
            if not fitting:
                raise ValueError(f"no column matches {option}={part!r}; columns: {listed(columns)}")
            found += fitting
        else:
            _exact(part, columns, option)
    whole = [name for name in found if columns[name] > 1]
    if whole and len(found) > 1:
        raise ValueError(
            f"{option}={pattern!r} matches several matrices ({listed(found)}); give {option}=<one of them>"
        )
    return found


def _automatic_single(result: Plan, name: str, free: dict[str, int]) -> None:
    option, known = SINGLE[name]
    found = [column for column, ndim in free.items() if ndim == 1 and column.lower() in known]
    if len(found) > 1:
        raise ValueError(f"{name} could be {' or '.join(map(repr, found))}; give {option}=<one of them>")
    if found:
        result.single[name] = found[0]


def _automatic_matrix(result: Plan, name: str, free: dict[str, int], *, needed: bool) -> None:
    """Find the one matrix of this name; of several none, where predictions or a loss were named and stand alone."""
    option, known, prefixes = MATRIX[name]
    found = [
        [column]
        for column, ndim in free.items()
        if ndim > 1 and (column.lower() in known or column.lower().startswith(prefixes))
    ]
    if not found:
        families = (_per_class(free, prefix) for prefix in prefixes)
        found = [family for family in families if len(family) > 1]
    if len(found) > 1 and not needed:
        return
    if len(found) > 1:
        names = " or ".join(repr(family[0]) + (" …" if len(family) > 1 else "") for family in found)
        raise ValueError(f"{name} could be {names}; give {option}=<one of them>")
    if found:
        result.matrix[name] = found[0]


def _per_class(free: dict[str, int], prefix: str) -> list[str]:
    family = [column for column, ndim in free.items() if ndim == 1 and column.lower().startswith(prefix)]
    numbered = [column for column in family if column[len(prefix) :].isdecimal()]
    # p_value, p_adjusted, … are no classes: the short prefix counts only before a number
    return numbered or ([] if prefix == "p_" else family)


def _family(names: str | Sequence[str], columns: dict[str, int], prefix: str, option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in [names] if isinstance(names, str) else names:
        if name not in columns and f"{prefix}_{name}" in columns:
            found[name] = f"{prefix}_{name}"
        else:
            found |= {column: column for column in _matches(name, columns, option)}
    return found


def _automatic_family(free: dict[str, int], prefix: str, *, whole: bool = True) -> dict[str, str]:
    found = {}
    for column, ndim in free.items():
        if ndim == 1 and column.lower().startswith(f"{prefix}_"):
            found[column[len(prefix) + 1 :]] = column
        elif ndim == 1 and whole and column.lower() in (prefix, f"{prefix}s"):
            found[column] = column
    return found


def _order_classes(result: Plan, columns: dict[str, int]) -> None:
    """Put one-column-per-class matrices in the order of their numbers; take class names from the column names."""
    for name, family in result.matrix.items():
        if len(family) == 1 and columns[family[0]] > 1:
            continue
        suffixes = _suffixes(family, MATRIX[name][2])
        numbered = all(any(sign.isdecimal() for sign in suffix) for suffix in suffixes)
        if numbered:  # else the order of the file
            order = sorted(range(len(family)), key=lambda index: natural(suffixes[index]))
            family[:] = [family[index] for index in order]
            suffixes = [suffixes[index] for index in order]
        if all(suffix.isdecimal() for suffix in suffixes):
            suffixes = [str(int(suffix)) for suffix in suffixes]
        if name != "features" and suffixes != [str(index) for index in range(len(suffixes))]:
            result.class_names = suffixes


def natural(name: str) -> list[tuple[int, int, str]]:
    """Sort key in which ``logit_10`` comes after ``logit_9``."""
    parts = re.split(r"(\d+)", name)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts if part]


def _suffixes(family: list[str], prefixes: tuple[str, ...]) -> list[str]:
    for prefix in sorted(prefixes, key=len, reverse=True):
        if all(name.lower().startswith(prefix) and len(name) > len(prefix) for name in family):
            return [name[len(prefix) :] for name in family]
    numbers = [re.fullmatch(r"(.*?)(\d+)", name) for name in family]
    if all(numbers) and len({match[1] for match in numbers if match}) == 1:
        return [match[2] for match in numbers if match]
    return list(family)
