"""From a file and options to outputs: which names are scores to compute, and which are columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import abstain.outputs
from abstain.cli._columns import MODEL, shared

#: So many columns that were not read are looked at.
_LOOKED = 20


def read(
    file: Path,
    wanted: Sequence[str],
    by: Sequence[str],
    *,
    say: bool = True,
    score: str | None = None,
    beside: dict[str, Any] | None = None,
    late: str | None = "give only rows that are old enough to have all of theirs",
    **options: Any,
) -> tuple[abstain.Outputs, list[str], list[str]]:
    """Return the outputs, the scores and the groups to evaluate, with patterns expanded.

    A column of the file comes before a computed score of the same name: it is the file's own word. What was
    understood is said on standard error, unless the result says it itself; ``score`` is the computed one that decides.
    ``beside``: columns that a report shows, which are no groups; what they hold is filled in. ``late``: what to do
    where labels are still to come.
    """
    columns = column_names(file) if wanted else []
    external = []
    for name in wanted:
        is_column = name in columns or f"score_{name}" in columns
        if is_column or _is_pattern(name):
            external.append(name)
        elif columns and name.split("(")[0] not in abstain.scores.names():  # knn(neighbours=10) is knn
            raise ValueError(
                f"{file}: {name!r} is neither a score nor a column; {_nearest(name, columns)}; see 'abstain scores'"
            )
    shown = {} if beside is None else beside
    try:
        outputs = abstain.read_outputs(file, scores=external, groups=[*by, *shown], **options)
    except ValueError as error:
        raise error if late is None else _unlabelled(error, file, late, options) from None
    if shown:
        columns_of, chosen = outputs.groups or {}, _expanded(by, outputs.groups)
        shown.update((name, columns_of[name]) for name in shown)
        outputs = replace(outputs, groups={name: columns_of[name] for name in chosen} or None)
    if say:
        _say(file, outputs, score)
    return outputs, _expanded(wanted, outputs.scores), _expanded(by, outputs.groups)


def _unlabelled(error: ValueError, file: Path, late: str, options: Mapping[str, Any]) -> ValueError:
    """Return what to say where a file was refused because only some rows have a label."""
    found = abstain.outputs.missing(str(file), **options)
    if options.get("unlabelled") or found is None or not 0 < found[0] < found[1]:
        return error
    return ValueError(
        f"{error}; {found[0]} of {found[1]} rows have no label: if labels come late, rows count by their age, never by "
        f"whether a label came: {late}"
    )


#: What was understood of the files of this run; said on standard error once the work is done.
understood: list[str] = []


def _say(file: Path, outputs: abstain.Outputs, score: str | None = None) -> None:
    from abstain.outputs import sentence

    assert outputs.reading is not None
    states = [] if outputs.states is None else [str(outputs.states)]
    understood.append(
        f"{file}: {'; '.join([sentence(outputs.understood(score or '')), *states, *outputs.reading.notes])}"
    )


def read_fit(file: Path | None, options: Mapping[str, Any]) -> abstain.Outputs | None:
    """Return the outputs to fit scores on: columns of classes and features have the same names there."""
    if file is None:
        return None
    return abstain.read_outputs(file, **shared(options, "predictions", *MODEL))


def score_names(text: str | None) -> list[str]:
    """Return the scores of an option; commas inside parentheses separate their own options."""
    return abstain.scores.parse_list(text or "")


@contextmanager
def about(*files: Path) -> Iterator[None]:
    """Name the files in an error about what they hold."""
    try:
        yield
    except (ValueError, TypeError) as error:
        from abstain._checks import with_row

        named, message = f"{', '.join(map(str, files))}: ", with_row(str(error))
        raise ValueError(message if message.startswith(named) else named + message) from error


def column_names(file: Path) -> list[str]:
    """Return the names of the columns; none if the file cannot be read, which the reader will explain better."""
    from abstain.outputs._frame import csv_header
    from abstain.outputs._open import kind_of, open_source

    name = str(file)
    try:
        if abstain.outputs.readers.recognised(abstain.outputs.readers.Peek(name)) is None and kind_of(name) == "csv":
            return csv_header(name)  # the types of its columns are of no interest
        return list(open_source(name).columns.columns)
    except Exception:  # whatever is wrong with it
        return []


def _nearest(name: str, columns: list[str]) -> str:
    """The nearest scores and columns; else the columns, because there are many scores."""
    from abstain._checks import closest

    hint = closest(name, {*abstain.scores.names(), *columns})
    more = ", …" if len(columns) > 12 else ""
    return hint if hint.startswith("did you") else f"columns: {', '.join(columns[:12])}{more}"


def _is_pattern(name: str) -> bool:
    return any(sign in name for sign in "*?[")


def _expanded(names: Iterable[str], found: Any) -> list[str]:
    result: dict[str, None] = {}
    for name in names:
        matching = [column for column in found or {} if fnmatchcase(column, name)] if _is_pattern(name) else []
        result |= dict.fromkeys([name] if name in (found or {}) or not matching else matching)
    return list(result)


def unread_scores(files: Sequence[Path], outputs: abstain.Outputs) -> list[str]:
    """Return the columns that were not read and may be scores: numbers in all files, some of them fractions."""
    if outputs.reading is None:
        return []
    names: Iterable[str] = outputs.reading.unused[:_LOOKED]
    for file in files:
        names = [name for name, values in values_of(file, names) if fractions(set(values.tolist()))]
    return list(names)


def values_of(file: Path, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield columns with their values as arrays of text; without one that cannot be read, or holds more than one a row.

    The file is opened once, since the types of a CSV file rest on all of its rows.
    """
    import numpy as np

    from abstain.outputs._open import open_source

    columns = None
    for name in names:
        try:
            columns = columns or open_source(str(file)).columns
            values = np.asarray(columns.load([name], set())[name])
        except Exception:  # the rows are judged all the same
            continue
        if values.ndim == 1:
            yield name, values.astype(str)


def fractions(values: Iterable[str]) -> bool:
    """Whether all values are numbers, and some of them no whole ones."""
    try:
        numbers = [float(each) for each in values if each]
    except ValueError:
        return False
    return any(math.isfinite(each) and each != round(each) for each in numbers)
