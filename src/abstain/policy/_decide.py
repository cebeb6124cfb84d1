"""Whatever form the rows come in, the decision is one."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain._checks import closest, same_length, vector
from abstain._typing import ArrayLike, BoolArray, FloatArray
from abstain.policy import _plain
from abstain.policy._arrays import no_probabilities, reasons
from abstain.policy._decisions import Decisions
from abstain.policy._groups import limits_of
from abstain.policy._inputs import compute
from abstain.policy._plain import Decision

if TYPE_CHECKING:
    from abstain.policy._policy import Policy


def decide(policy: Policy, rows: Any, groups: Any, second: Any, declined: Any) -> Decision | Decisions:
    """Return the decision on one row, or those on many."""
    names: Any = getattr(rows, "index", None)
    if not _is_frame(rows) and hasattr(names, "tolist") and _named(policy) <= set(names.tolist()):
        rows = rows.to_dict()  # one row of a frame of pandas
    if isinstance(rows, Mapping):
        return _row(policy, rows, groups, second, declined)
    if isinstance(rows, list | tuple) and rows and isinstance(rows[0], Mapping):
        found = [_row(policy, row, None, None, None) for row in rows]
        codes = np.array([_plain.REASONS.index(each.reason) for each in found], dtype=np.int8)
        score, limit = (np.array([getattr(each, name) for each in found]) for name in ("score", "threshold"))
        return Decisions(codes, score, limit)  # type: ignore[arg-type]
    if _is_frame(rows):
        return _frame(policy, rows, groups, second, declined)
    return _arrays(policy, rows, groups, second, declined)


def _row(policy: Policy, row: Mapping[str, Any], groups: Any, second: Any, declined: Any) -> Decision:
    """Decide one row by column, with the very code that an exported policy has."""
    given = dict(row)
    if groups is not None and policy.group is not None:
        given[policy.group] = groups
    said = policy.said_declined()
    if declined is not None and said is not None:
        given[said[1]] = declined
    if second is not None and policy.second is not None:
        given[policy.second["score"]] = second
    plain = policy.row_policy
    if plain is not None:
        return _plain.decide_row(plain, given)
    from abstain.outputs import declined as declined_rows

    wanted = [policy._part(), *([] if policy.second is None else [dict(policy.second)])]
    columns = [
        None if part["inputs"] is None else np.array([_plain.values_of(given, next(iter(part["inputs"].values())))])
        for part in wanted
    ]
    numbers = [
        _plain.score_of(part, given) if column is None else
        float(compute(part["score"], next(iter(part["inputs"])), column, part["temperature"])[0])
        for part, column in zip(wanted, columns, strict=True)
    ]  # fmt: skip
    refused = None
    if said is not None and said[1] in given:
        refused = np.asarray(declined_rows([given[said[1]]], f"column {said[1]!r}", said[0], strict=False))
    name = None if policy.group is None else [given.get(policy.group)]
    return _decisions(policy, np.array(numbers[:1]), name, np.array(numbers[1:]), refused)[0]


def _named(policy: Policy) -> set[str]:
    """Return the columns from which the score is computed, or the one that holds it."""
    return {policy.score} if policy.inputs is None else set(next(iter(policy.inputs.values())))


def _is_frame(rows: Any) -> bool:
    return hasattr(rows, "columns") and not isinstance(rows, np.ndarray)


def _frame(policy: Policy, rows: Any, groups: Any, second: Any, declined: Any) -> Decisions:
    """Decide the rows of a data frame, by the columns that the policy names."""
    import narwhals as nw

    frame = nw.from_native(rows, eager_only=True)

    def column(name: str) -> Any:
        if name not in frame.columns:
            free = [
                each for each in frame.columns if each not in _named(policy)
            ]  # another column of the policy is none
            raise ValueError(f"column {name!r} of the policy is missing; {closest(name, free) if free else 'add it'}")
        return frame[name]

    def scores(part: Mapping[str, Any]) -> FloatArray:
        if part["inputs"] is None:
            if part.get("levels") is not None:
                return policy.heard(column(part["score"]), part["score"])
            found: FloatArray = vector(column(part["score"]).to_numpy(), part["score"], np, None)
            return -found if part.get("uncertainty") else found
        ((kind, names),) = part["inputs"].items()
        each = [column(name).to_numpy() for name in names]
        lists = len(each) == 1 and each[0].dtype == object
        matrix = (
            _listed(each[0])
            if lists
            else np.column_stack([_numbers(values, name) for values, name in zip(each, names, strict=True)])
        )
        if kind == "logits":
            no_probabilities(np.asarray(matrix, dtype=np.float64))
        return compute(part["score"], kind, matrix, part["temperature"])

    score = scores(policy._part())
    other = None if policy.second is None else scores(policy.second) if second is None else _vector(second, "second")
    said, names = policy.said_declined(), groups
    if policy.group is not None and groups is None:
        names = column(policy.group).to_list()
    if said is not None and declined is None:
        from abstain.outputs import declined as declined_rows

        declined = declined_rows(column(said[1]).to_list(), f"column {said[1]!r}", said[0], strict=False)
    return _decisions(policy, score, names, other, declined)


def _numbers(values: Any, name: str) -> FloatArray:
    """Return a column as numbers; an error names it."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        bad = next((each for each in values if not isinstance(each, int | float)), values)
        raise ValueError(f"column {name!r} of the policy holds {bad!r:.99}, which is no number; give numbers") from None


def _listed(values: Any) -> FloatArray:
    """Return lists of one length as a matrix; a missing list is a row of NaN."""
    width = max((len(value) for value in values if value is not None), default=1)
    return np.array([[nan] * width if value is None else list(value) for value in values], dtype=np.float64)


def _vector(values: Any, name: str) -> FloatArray:
    found: FloatArray = vector(np.atleast_1d(values) if np.ndim(values) == 0 else values, name, np, None)
    return found


def _arrays(policy: Policy, rows: Any, groups: Any, second: Any, declined: Any) -> Decision | Decisions:
    """Decide a number, a column of numbers, one row of classes or a matrix of them."""
    if policy.reading.get("confidence_levels") is not None:
        rows = (
            policy.heard(rows, policy.score) if np.ndim(rows) else _plain.score_of(policy._part(), {policy.score: rows})
        )
    if rows is None or isinstance(rows, str | bool | np.bool_ | int | float):
        rows = _plain.number(rows, policy.score)
    array = rows.detach().cpu().numpy() if hasattr(rows, "detach") else rows
    array = array if isinstance(array, np.ndarray) else np.asarray(array, dtype=np.float64)
    inputs, part = policy.inputs, policy._part()
    many = array.ndim > 0
    if inputs is None:
        score = vector(np.atleast_1d(array), policy.score, np, None)
        score = -score if part["uncertainty"] else score
        other = second
    else:
        ((_, names),) = inputs.items()
        matrix, many = _matrix(policy, array, names)
        if "logits" in inputs:
            no_probabilities(np.asarray(matrix, dtype=np.float64))
        score = policy.confidence(matrix)
        other = second
        if policy.second is not None and second is None and policy.second["inputs"] == inputs:
            other = policy.of_second().confidence(matrix)
    if policy.second is not None and other is None:
        raise TypeError(f"this policy has a second score, {policy.second['score']!r}; give second=, or rows by column")
    other = None if policy.second is None else _vector(other, "second")
    if other is not None and policy.second is not None and second is not None and policy.second.get("uncertainty"):
        other = -other
    if policy.group is not None and groups is None:
        raise TypeError(f"this policy has one threshold per {policy.group}; give groups=")
    single = groups is None or isinstance(groups, str | bool | int | float)
    found = _decisions(policy, score, [groups] if single and policy.group else groups, other, declined)
    return found if many else found[0]


def _matrix(policy: Policy, array: Any, names: list[str]) -> tuple[Any, bool]:
    """Return rows of classes as a matrix, and whether they are many."""
    width = len(names) if len(names) > 1 else None if policy.classes is None else len(policy.classes)
    if array.ndim == 2:
        matrix, many = array, True
    elif array.ndim == 1 and len(names) == 1 and "probabilities" in (policy.inputs or {}) and width in (None, 2):
        if array.size > 1:  # whatever the number: else batches of two alone would fail
            raise ValueError(
                f"an array of shape {array.shape} may be one row of classes or many probabilities of the second class; "
                "give shape (1, K) or (n, 1)"
            )
        matrix, many = array[:, None], True
    elif array.ndim == 1:
        matrix, many = array[None, :], False
    else:
        matrix, many = array.reshape(1, 1), False
    usual = {width, 1} if width == 2 and len(names) == 1 else {width}
    if width is not None and matrix.shape[1] not in usual:
        raise ValueError(f"the policy computes its score from {width} classes, got {matrix.shape[1]} in a row")
    return matrix, many


def _decisions(
    policy: Policy, score: FloatArray, groups: ArrayLike | None, second: FloatArray | None, declined: Any
) -> Decisions:
    refused: BoolArray | None = None
    if declined is not None:
        refused = np.atleast_1d(np.asarray(declined))
        if refused.dtype != bool:
            raise TypeError(f"declined must hold truth values, got {refused.dtype}")
    limit: Any = policy.thresholds[""] if policy.group is None else limits_of(policy.thresholds, groups)
    columns = {"scores": score, "groups": limit if np.ndim(limit) else None, "declined": refused}
    two = policy.second is not None and second is not None
    same_length(**columns, second=second if two else None)
    codes = reasons(
        score, limit, second if two else None, policy.second["threshold"] if policy.second else 0.0, refused
    )
    return Decisions(codes, score, np.broadcast_to(np.asarray(limit, dtype=np.float64), score.shape))
