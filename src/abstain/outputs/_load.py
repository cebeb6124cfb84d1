"""From planned columns to the fields of ``Outputs``: loaded, and cut to the rows that count."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from abstain._checks import listed
from abstain._typing import Array, ArrayLike, BoolArray, IntArray
from abstain.outputs import _names, _states, _values
from abstain.outputs._answers import Answers
from abstain.outputs._losses import Task
from abstain.outputs._objects import taken, values_of
from abstain.outputs._reading import quoted
from abstain.outputs.readers import Table

#: Which rows of a file with ``is_ood`` are read.
Part = Literal["id", "ood"]

#: Columns without a part that are named next to those whose names say something.
_MOST = 6
#: Columns whose values may be words.
_WORDS = ("labels", "predictions", "ids", "clusters", "correct", "abstained", "should_abstain", "is_ood")


class LoadedColumns:
    """The columns that are planned, loaded, with the rows that count."""

    def __init__(
        self, opened: Table, plan: _names.Plan, where: Mapping[str, object], part: Part, drop: bool = False
    ) -> None:
        self.source, self.plan, self.part, self.drop = opened.columns, plan, part, drop
        self.notes, self.said = list(opened.notes), ""
        words = {plan.single.get(name) for name in _WORDS} | set(plan.groups.values())
        extra = [*(_names.exact(name, self.source.columns, "where") for name in where), *opened.one_of]
        names = list(dict.fromkeys([*plan.columns(), *extra]))
        texts = words | set(extra)
        if (sure := plan.single.get("confidence")) is not None and self.source.is_words(sure):
            texts.add(sure)
        self.loaded = self.source.load(names, set(names) - texts)
        self.written = dict(self.source.written)
        self.kept: IntArray | None = None  # places in the file of the rows that count
        self.rows = chosen(self.loaded, where, self.source.columns)
        one_value(self.loaded, opened.one_of, self.rows, opened.hint)
        self.rest = tuple(name for name, ndim in self.source.columns.items() if ndim == 1 and name not in names)
        truths = self.source.truths(self.rest)
        self.numbers = tuple(name for name in self.rest if name not in truths)  # what may be a confidence
        self.unused = _names.unused(self.source.columns, [*names, "class_names", "passes", *plan.scores])
        self.unused_notes = self._of_unused()
        if self.rows is not None:
            listed = " and ".join(f"{name} = {value}" for name, value in where.items())
            self.said = f"{int(self.rows.sum())} of {len(self.rows)} rows, {listed}"
            self._keep(self.rows)

    def _of_unused(self) -> list[str]:
        """Return what to say of columns that are not used but mean something: kinds of rows, and units of several."""
        notes, plain = [], []
        scores: list[str] = []
        units = "clusters" in self.plan.single
        for name in self.unused[:6]:
            n, first, total = self._distinct(name)
            if re.fullmatch(_names.KINDS, _names.plain(name)):
                if n > 1:
                    notes.append(
                        f"`{name}` takes {n} values, whose rows are judged together; where={{{name!r}: {first!r}}} "
                        "reads those of one"
                    )
            elif re.fullmatch(_names.UNITS, _names.plain(name)):
                if not units and 1 < n < total:
                    notes.append(
                        f"`{name}` names {n} units of {total} rows: if rows of one depend on each other, give "
                        f"clusters={name!r}"
                    )
            else:
                plain.append(f"`{name}`")
                word = _names.plain(name)
                called = (*_names.SINGLE["confidence"], *_names.SINGLE["uncertainty"], *_names.EXTERNAL)
                if "confidence" not in self.plan.told and (re.fullmatch(_names.SCORES, word) or word in called):
                    scores.append(name)
        notes += [note for name in self.rest if (note := self._of_answers(name))]
        said = " ".join([*notes, *plain])
        others = [f"`{name}`" for name in self.rest if plain and f"`{name}`" not in said]
        more = f" and {len(others) - _MOST} more columns" if len(others) > _MOST else ""
        how = f"; confidence={scores[0]!r} takes that one as the confidence" if scores else ""
        return [*notes, *([f"not used: {', '.join(plain + others[:_MOST])}{more}{how}"] if plain else [])]

    def _of_answers(self, name: str) -> str:
        """Return the note on answers in words, some of them missing, where nothing says where the model abstained."""
        if "abstained" in self.plan.single or not re.fullmatch(_names.TEXTS, _names.plain(name)):
            return ""
        values = values_of(self.source.load([name], set())[name])
        n = sum(isinstance(value, str) and _states.abstains(value) for value in values)
        return f"{n} of `{name}` say that the model did not answer; give abstained={name!r} if so" if n else ""

    def _distinct(self, name: str) -> tuple[int, str, int]:
        """Return how many values a column takes, its first one, and its number of rows."""
        column = self.source.load([name], set())[name]
        values = values_of(column if self.rows is None else taken(column, self.rows))
        return len(set(values)), str(values[0]), len(values)

    def in_file(self, message: str) -> str:
        """Return a message about rows that count with their places in the file."""
        kept = self.kept
        if kept is None:
            return message
        return re.sub(r"(?<=data row )\d+", lambda row: str(kept[min(int(row[0]), kept.size) - 1] + 1), message)

    def _keep(self, rows: BoolArray) -> None:
        places = np.arange(len(rows)) if self.kept is None else self.kept
        self.kept = places[np.asarray(rows)]
        self.loaded = {name: taken(column, rows) for name, column in self.loaded.items()}
        self.written = {name: taken(column, rows) for name, column in self.written.items()}

    def answers(self, class_names: Sequence[str] | None, ood_label: int | str | None, task: Task | None) -> Answers:
        """Return the fields, for the rows of the part."""
        inside = self._inside(ood_label)
        if inside is not None:
            self._keep(inside)
        complete = self._complete() if self.drop else None
        if complete is not None:
            self._keep(complete)
        passes = self.source.passes()
        if passes is not None and self.kept is not None:
            passes = taken(passes, self.kept, axis=1)
        return Answers(_fields(self, passes, class_names, task), self.plan, self.notes)

    def _inside(self, ood_label: int | str | None) -> Array:
        """Return the rows of the part that is read; None for all."""
        plan, word = self.plan, {"id": "out of distribution", "ood": "in distribution"}[self.part]
        if "is_ood" in plan.single:
            name = plan.single.pop("is_ood")
            column, name = self.loaded[name], f"`{name}`"
        elif ood_label is not None and "labels" in plan.single:
            values = values_of(self.loaded[plan.single["labels"]])
            column, name = np.array([same(value, ood_label) for value in values]), f"label {ood_label}"
        else:
            return self._minus_one()
        rows, others = inside(column, name, self.part)
        if others:
            self.notes.append(f"{others} rows are {word} ({name}) and left out here")
        if self.part == "ood":
            plan.single.pop("labels", None)
        return rows if others else None

    def _complete(self) -> Array:
        """Return the rows in which no number of a class or feature is missing, and say how many others there are."""
        several = {field: names for field, names in self.plan.matrix.items() if field in _names.MATRIX}
        one = self.plan.single.get("positive_probability")
        missing: Array = False
        for field, names in (several | ({} if one is None else {"positive_probability": [one]})).items():
            values = np.asarray(self.source.stack(self.loaded, names))
            if values.dtype.kind != "f":
                continue
            lacks = np.isnan(values).reshape(len(values), -1).any(axis=1)
            if lacks.any():
                n, which = int(lacks.sum()), f"`{one}`" if field == "positive_probability" else quoted(names)
                self.notes.append(self.in_file(
                    f"{n} {'row lacks a number' if n == 1 else 'rows lack numbers'} in {which} (first: data row "
                    f"{int(np.argmax(lacks)) + 1}) and {'is' if n == 1 else 'are'} left out"
                ))  # fmt: skip
            missing = missing | lacks
        if np.all(missing):
            raise ValueError(f"every row lacks a number ({self.notes[-1]}); repair the column")
        return ~missing if np.any(missing) else None

    def _minus_one(self) -> None:
        """Refuse a label of -1 that nothing explains."""
        name = self.plan.single.get("labels")
        if name is None:
            return
        numbers = [_number(value) for value in values_of(self.loaded[name])]
        hit = np.array([number == -1.0 for number in numbers])
        if hit.any() and set(numbers) - {None} != {-1.0, 1.0}:  # next to +1 alone it is a class
            raise ValueError(
                f"column {name!r} holds -1 in {int(hit.sum())} of {len(hit)} rows: if these are out of distribution "
                "give ood_label=-1 (or a column is_ood); if their label is missing, leave these rows out"
            )


def _fields(
    read: LoadedColumns, passes: ArrayLike, class_names: Sequence[str] | None, task: Task | None
) -> dict[str, ArrayLike]:
    source, plan, loaded = read.source, read.plan, read.loaded
    fields: dict[str, ArrayLike] = {field: loaded[name] for field, name in plan.single.items()}
    fields |= {field: source.stack(loaded, columns) for field, columns in plan.matrix.items()}
    fields["groups"] = {name: _category(read, column) for name, column in plan.groups.items()}
    fields["scores"] = {name: loaded[column] for name, column in plan.scores.items()}
    fields["score_predictions"] = {name: loaded[column] for name, column in plan.score_predictions.items()}
    fields["head"], fields["passes"] = source.head(), passes
    found = source.class_names(loaded) or plan.class_names
    fields["class_names"] = found if class_names is None else class_names
    for field in fields.keys() & {"ids", "clusters"}:
        fields[field] = _category(read, plan.single[field])
    _values.settle(fields, plan, read.notes, multilabel=task is not None and task.multilabel)
    if task is None:
        _values.real_labels(fields, plan)
        _values.texts_as_classes(fields, plan)
        _values.read_classes(fields, plan, read.written)
    return fields


def _category(read: LoadedColumns, name: str) -> ArrayLike:
    return _values.category(read.loaded[name], read.written.get(name))


def chosen(
    loaded: Mapping[str, ArrayLike], where: Mapping[str, object], columns: Mapping[str, int]
) -> BoolArray | None:
    """Return the rows in which each named column has its value; None for all."""
    mask: BoolArray | None = None
    for name, wanted in where.items():
        values = np.asarray(values_of(loaded[_names.exact(name, columns, "where")]), dtype=object)
        known = {value: same(value, wanted) for value in set(values.tolist())}
        hit = np.array([known[value] for value in values.tolist()])
        if not hit.any():
            seen = list(dict.fromkeys(map(str, values)))
            raise ValueError(f"no row has {name} = {wanted!r}; it takes {listed(seen, 8)}")
        mask = hit if mask is None else mask & hit
        if not mask.any():
            raise ValueError(f"no row has {' and '.join(f'{key} = {value!r}' for key, value in where.items())}")
    return mask


def one_value(loaded: Mapping[str, ArrayLike], names: tuple[str, ...], mask: BoolArray | None, hint: str = "") -> None:
    """Refuse to read samples of several kinds as one: each of the columns must have a single value left."""
    for name in names:
        values = [str(value) for value in values_of(loaded[name])]
        kept = values if mask is None else [value for value, keep in zip(values, mask, strict=True) if keep]
        counts = {value: kept.count(value) for value in dict.fromkeys(kept)}
        if len(counts) > 1:
            seen = ", ".join(f"{value} ({count} rows)" for value, count in list(counts.items())[:8])
            first = next(iter(counts))
            raise ValueError(
                f"column {name!r} takes {len(counts)} values, which are not samples of one evaluation: {seen}; choose "
                f"one with where={{{name!r}: {first!r}}}{hint and f' ({hint})'}"
            )


def inside(column: ArrayLike, name: str, part: Part) -> tuple[BoolArray, int]:
    """Return the rows of the part that is asked for, and how many are in the other."""
    outside = _states.truth(column, name)
    rows = outside if part == "ood" else ~outside
    if not rows.any():
        raise ValueError(
            f"all rows are out of distribution ({name}): there is nothing to be right about; judge them together with "
            "the test set: abstain joint TEST_FILE OOD_FILE"
            if part == "id"
            else f"no row is out of distribution ({name})"
        )
    return rows, int(np.sum(~rows))


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if number != number else number


def same(value: Any, wanted: object) -> bool:
    """Whether a value is the one that was written, perhaps as text."""
    if value is None:
        return False
    if str(value) == str(wanted) or (isinstance(value, bool) and str(value).lower() == str(wanted).lower()):
        return True
    first, second = _number(value), _number(wanted)
    return first is not None and first == second and not isinstance(value, bool)
