"""Whatever form the rows come in, the decision is one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from abstain._checks import closest, plain, real, same_length, vector
from abstain._typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray
from abstain.policy import _plain
from abstain.policy._contents import Score
from abstain.policy._plain import ACCEPTED, REASONS, Decision
from abstain.policy._scores import compute, refuse_probabilities

#: A number, a dict by column, an array of numbers or of classes, a list of dicts, or a frame of any library.
Rows: TypeAlias = Any

if TYPE_CHECKING:
    from abstain.policy._policy import Policy


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """Decisions on many rows, as arrays.

    Parameters
    ----------
    codes : ndarray of int8
        Reasons by their place in ``REASONS``.
    score, threshold : ndarray of float
        As in :class:`Decision`, of every row.
    label_probability : ndarray of float, optional
        With audits, the chance with which each row was drawn for a label: 1 where it is not answered.
    drawn : ndarray of bool, optional
        Then also: which rows were drawn.

    Examples
    --------
    >>> import abstain
    >>> policy = abstain.choose_threshold([0, 1, 0], [0.9, 0.2, 0.6], coverage=0.5).policy(score="msp")
    >>> found = policy.decide([0.7, 0.5, float("nan")])
    >>> found.accepted.tolist(), found.reason.tolist()
    ([True, False, False], ['accepted', 'below_threshold', 'missing_score'])
    >>> found
    Decisions(n=3, accepted=1, below_threshold=1, missing_score=1)
    """

    codes: IntArray
    score: FloatArray
    threshold: FloatArray
    label_probability: FloatArray | None = None
    drawn: BoolArray | None = None

    @property
    def accepted(self) -> BoolArray:
        """Return which rows are answered."""
        return np.asarray(self.codes == ACCEPTED)

    @property
    def reason(self) -> AnyArray:
        """Return the reason of every row, as text."""
        return np.array(REASONS)[self.codes]

    @property
    def counts(self) -> dict[str, int]:
        """Return how many rows have each reason; they add up to the number of rows."""
        found = np.bincount(self.codes, minlength=len(REASONS))
        return {reason: int(count) for reason, count in zip(REASONS, found, strict=True)}

    def __len__(self) -> int:
        return len(self.codes)

    def __bool__(self) -> bool:
        if len(self) != 1:
            raise ValueError(f"the truth of {len(self)} decisions is ambiguous; take .accepted, or one of them")
        return bool(self[0])

    def __getitem__(self, row: int) -> Decision:
        reason = REASONS[self.codes[row]]
        return Decision(reason == "accepted", reason, float(self.score[row]), float(self.threshold[row]))

    def __iter__(self) -> Iterator[Decision]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        shown = "".join(f", {reason}={count}" for reason, count in self.counts.items() if count)
        return f"Decisions(n={len(self)}{shown})"


def decide(
    policy: Policy, rows: Rows, groups: ArrayLike | None, second: ArrayLike | None, declined: ArrayLike | None
) -> Decision | Decisions:
    """Return the decision on one row, or those on many."""
    names: Any = getattr(rows, "index", None)
    if not _is_frame(rows) and hasattr(names, "tolist") and set(policy.first.columns) <= set(names.tolist()):
        rows = rows.to_dict()  # one row of a frame of pandas
    if isinstance(rows, Mapping):
        return _row(policy, rows, groups, second, declined)
    if isinstance(rows, list | tuple) and rows and isinstance(rows[0], Mapping):
        found = [_row(policy, row, None, None, None) for row in rows]
        codes = np.array([REASONS.index(each.reason) for each in found])
        score, limit = (np.array([getattr(each, name) for each in found]) for name in ("score", "threshold"))
        return Decisions(codes, score, limit)
    if _is_frame(rows):
        return _frame(policy, rows, groups, second, declined)
    return _arrays(policy, rows, groups, second, declined)


def _row(
    policy: Policy,
    row: Mapping[str, object],
    groups: ArrayLike | None,
    second: ArrayLike | None,
    declined: ArrayLike | None,
) -> Decision:
    """Decide one row by column, with the very code that an exported policy has."""
    given, said = dict(row), policy.said_declined()
    if groups is not None and policy.group is not None:
        given[policy.group] = groups
    if declined is not None and said is not None:
        given[said[1]] = declined
    if second is not None and policy.second is not None:
        given[policy.second.score] = second
    exported = policy.row_policy
    if exported is not None:
        return _plain.decide_row(exported, given)
    found = []
    for part in policy.parts:
        if part.inputs is None:
            found.append(np.array([_plain.score_of(policy.exported(part), given)]))
            continue
        ((kind, columns),) = part.inputs.items()
        found.append(compute(part.score, kind, np.array([_plain.values_of(given, columns)]), part.temperature))
    refused = said_declined_by([given[said[1]]], *said) if said is not None and said[1] in given else None
    limit = limits_of(policy, None if policy.group is None else [given.get(policy.group)])
    return decisions(policy, found[0], limit, found[1] if len(found) > 1 else None, refused)[0]


def said_declined_by(values: ArrayLike, part: str, column: str) -> BoolArray:
    """Return on which rows the model itself abstained, by the column that says so."""
    from abstain.outputs import declined

    return np.asarray(declined(values, f"column {column!r}", part, strict=False))


def _is_frame(rows: Rows) -> bool:
    return hasattr(rows, "columns") and not isinstance(rows, np.ndarray)


def _frame(
    policy: Policy, rows: Rows, groups: ArrayLike | None, second: ArrayLike | None, declined: ArrayLike | None
) -> Decisions:
    """Decide the rows of a data frame, by the columns that the policy names."""
    import narwhals as nw

    frame = nw.from_native(rows, eager_only=True)

    def column(name: str) -> ArrayLike:
        if name not in frame.columns:
            free = [
                each for each in frame.columns if each not in policy.first.columns
            ]  # no other of the policy is meant
            raise ValueError(f"column {name!r} of the policy is missing; {closest(name, free) if free else 'add it'}")
        return frame[name]

    def score_of(part: Score) -> FloatArray:
        if part.inputs is None:
            return policy.read_column(part, column(part.score), part.score)
        ((kind, names),) = part.inputs.items()
        each = [column(name).to_numpy() for name in names]
        if len(each) == 1 and each[0].dtype == object:
            matrix = _of_lists(each[0])
        else:
            matrix = np.column_stack([_numbers(values, name) for values, name in zip(each, names, strict=True)])
        if kind == "logits":
            refuse_probabilities(matrix)
        return compute(part.score, kind, matrix, part.temperature)

    other, said = _second(policy, second), policy.said_declined()
    if policy.second is not None and other is None:
        other = score_of(policy.second)
    if policy.group is not None and groups is None:
        groups = column(policy.group).to_list()
    if said is not None and declined is None:
        declined = said_declined_by(column(said[1]).to_list(), *said)
    return decisions(policy, score_of(policy.first), limits_of(policy, groups), other, declined)


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    """Return a column as numbers; an error names it."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        bad = next((each for each in values if not isinstance(each, int | float)), values)
        raise ValueError(f"column {name!r} of the policy holds {bad!r:.99}, which is no number; give numbers") from None


def _of_lists(values: ArrayLike) -> FloatArray:
    """Return lists of one length as a matrix; a missing list is a row of NaN."""
    width = max((len(value) for value in values if value is not None), default=1)
    return np.array([[nan] * width if value is None else list(value) for value in values], dtype=np.float64)


def _second(policy: Policy, values: ArrayLike) -> FloatArray | None:
    """Return the second score from the values of its column, if they are given."""
    if policy.second is None or values is None:
        return None
    found: FloatArray = vector(np.atleast_1d(values) if np.ndim(values) == 0 else values, "second", np, None)
    return -found if policy.second.uncertainty else found


def _arrays(
    policy: Policy, rows: Rows, groups: ArrayLike | None, second: ArrayLike | None, declined: ArrayLike | None
) -> Decision | Decisions:
    """Decide a number, a column of numbers, one row of classes or a matrix of them."""
    first, other = policy.first, policy.second
    if policy.levels is not None:
        exported = policy.exported(first)
        rows = policy.heard(rows, first.score) if np.ndim(rows) else _plain.score_of(exported, {first.score: rows})
    if rows is None or isinstance(rows, str | bool | np.bool_ | int | float):
        rows = _plain.number(rows, first.score)
    array = rows.detach().cpu().numpy() if hasattr(rows, "detach") else rows
    array = array if isinstance(array, np.ndarray) else np.asarray(array, dtype=np.float64)
    many, two = array.ndim > 0, _second(policy, second)
    if first.inputs is None:
        score = vector(np.atleast_1d(array), first.score, np, None)
        score = -score if first.uncertainty else score
    else:
        matrix, many = _matrix(policy, array, first.columns)
        if "logits" in first.inputs:
            refuse_probabilities(np.asarray(matrix, dtype=np.float64))
        score = policy.confidence(matrix)
        if other is not None and two is None and other.inputs == first.inputs:
            two = policy.of_second().confidence(matrix)
    if other is not None and two is None:
        raise TypeError(f"this policy has a second score, {other.score!r}; give second=, or rows by column")
    if policy.group is not None and groups is None:
        raise TypeError(f"this policy has one threshold per {policy.group}; give groups=")
    single = isinstance(groups, str | bool | int | float)
    found = decisions(policy, score, limits_of(policy, [groups] if single else groups), two, declined)
    return found if many else found[0]


def _matrix(policy: Policy, array: AnyArray, names: list[str]) -> tuple[AnyArray, bool]:
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


def decisions(
    policy: Policy, score: FloatArray, limit: float | FloatArray, second: FloatArray | None, declined: ArrayLike | None
) -> Decisions:
    """Decide rows by their scores and thresholds (NaN: unknown group), second scores, and where the model abstained."""
    if declined is not None:
        declined = np.atleast_1d(np.asarray(declined))
        if declined.dtype != bool:
            raise TypeError(f"declined must hold truth values, got {declined.dtype}")
    columns = {"scores": score, "groups": limit if np.ndim(limit) else None, "declined": declined}
    same_length(**columns, second=second)
    codes = np.where(score >= limit, ACCEPTED, _plain.BELOW).astype(np.int8)
    missing = np.isnan(score)
    if policy.second is not None and second is not None:
        codes[(codes == ACCEPTED) & ~(second >= policy.second.threshold)] = _plain.BELOW_SECOND
        missing |= np.isnan(second)
    codes[missing] = _plain.MISSING
    codes[np.equal(limit, np.inf)] = _plain.CLOSED
    codes[np.isnan(limit)] = _plain.UNKNOWN
    if declined is not None:
        codes[declined] = _plain.DECLINED
    return Decisions(codes, score, np.broadcast_to(np.asarray(limit, dtype=np.float64), score.shape))  # type: ignore[arg-type]


# ---------------------------------------------------------------------- audits


def with_audits(found: Decision | Decisions, ids: ArrayLike | None, audit: float, seed: int | str | None) -> Decisions:
    """Return the decisions with the rows that are drawn for a label, each by its identifier and the seed alone."""
    chance, ids, key = audit_options(audit, ids, seed)
    if isinstance(found, Decision):
        code = REASONS.index(found.reason)
        found = Decisions(np.array([code], dtype=np.int8), np.array([found.score]), np.array([found.threshold]))
    names = row_names([ids] if np.ndim(ids) == 0 else ids)
    if len(names) != len(found):
        raise ValueError(f"ids has {len(names)} names for {len(found)} rows; give one name for each")
    if len(set(names)) < len(names):
        raise ValueError("ids must name each row, and no two alike: rows of one name would be drawn together")
    probability = np.where(found.accepted, chance, 1.0)
    drawn = drawn_rows(names, probability, key)
    return Decisions(found.codes, found.score, found.threshold, probability, drawn)


def audit_options(audit: float, ids: ArrayLike | None, seed: int | str | None) -> tuple[float, Any, int | str]:
    """Return the share of answers to be labelled, names and seed; refuse draws that could not be repeated."""
    chance = real(audit, "audit", "in (0, 1]")
    if not 0.0 < chance <= 1.0:
        raise ValueError(f"audit must be in (0, 1], got {audit!r}; give the share of answers to be labelled")
    if ids is None or seed is None:
        raise TypeError("audit= needs ids=, a name of each row, and seed=, kept secret, so that draws can be repeated")
    return chance, ids, seed


def row_names(ids: ArrayLike) -> list[str]:
    """Return identifiers of rows as text, whole numbers alike whatever their type; none may be missing."""
    column = plain(ids.to_numpy() if hasattr(ids, "to_numpy") else ids, "ids")
    if column.ndim != 1:
        raise ValueError(f"ids has shape {column.shape}; give one name for each row")
    values = column.tolist()
    missing = [row for row, value in enumerate(values) if value is None or value != value]
    if missing:
        raise ValueError(f"ids[{missing[0]}] is missing; ids must name each row")
    return [str(int(each)) if isinstance(each, float) and each.is_integer() else str(each) for each in values]


def drawn_rows(names: list[str], probability: FloatArray, seed: int | str) -> BoolArray:
    """Return which rows are drawn: a draw depends on the name and the seed alone, and is the same everywhere."""
    start = hashlib.sha256(f"{seed}\x1f".encode())
    digests = []
    for name in names:
        one = start.copy()
        one.update(name.encode("utf-8", "backslashreplace"))
        digests.append(one.digest()[:8])
    return np.asarray(np.frombuffer(b"".join(digests), dtype="<u8") / 2.0**64 < probability)


# ---------------------------------------------------------------------- groups


def group_column(groups: ArrayLike) -> AnyArray:
    """Return the groups as text; a missing group is an error."""
    if np.ma.is_masked(groups):
        raise ValueError(f"groups[{int(np.argmax(np.ma.getmaskarray(groups)))}] is masked; name a group for every row")
    column = plain(groups.to_numpy() if hasattr(groups, "to_numpy") else groups, "groups")
    if column.ndim != 1:
        raise ValueError(f"groups must be one-dimensional, one value per sample, got shape {column.shape}")
    for position, value in enumerate(column):
        if value is None or value != value:
            raise ValueError(f"groups[{position}] is missing; name a group for every row, for example 'unknown'")
    return np.array([_plain.group_name(value) for value in column])


def limits_of(policy: Policy, groups: ArrayLike | None) -> float | FloatArray:
    """Return the threshold, or that of each row by its group."""
    return policy.thresholds[""] if policy.group is None else limits_by_group(policy.thresholds, groups)


def limits_by_group(thresholds: Mapping[str, float], groups: ArrayLike) -> FloatArray:
    """Return the threshold of each row; NaN for an unknown group, or none."""
    if hasattr(groups, "to_list"):
        groups = groups.to_list()
    values = groups if isinstance(groups, list | tuple) else np.asarray(groups).tolist()
    if len(set(map(type, values))) > 1:  # True, 1 and 1.0 are equal, but name different groups
        values = [_plain.group_name(value) for value in values]
    known: dict[object, float] = {}
    for value in set(values):
        name = _plain.group_name(value)
        known[value] = np.nan if name is None else thresholds.get(name, np.nan)
    return np.array([known[value] for value in values], dtype=np.float64)


def accept_by_group(thresholds: Mapping[str, float], scores: FloatArray, groups: ArrayLike) -> BoolArray:
    """Return the accept mask of rows of groups; unknown groups, NaN scores and infinite thresholds reject."""
    column = group_column(groups)
    same_length(confidence=scores, groups=column)
    limits = limits_by_group(thresholds, column)
    return np.asarray((scores >= limits) & (limits < np.inf))
