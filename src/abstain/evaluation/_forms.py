"""An evaluation as notes, plain Python values, columns and CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abstain.evaluation._result import Evaluation, Measurement

#: Why a metric of its kind has no interval; other reasons lie in the data.
BIASED = "no interval: its bias does not vanish beside its spread"
NEEDS_BOOTSTRAP = "no interval: needs a bootstrap: n_resamples"
#: More places than this are counted, not listed.
PLACES = 4
#: First characters that make a spreadsheet read a cell as a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def notes(evaluation: Evaluation) -> list[str]:
    """Return what a reader must know beside the numbers: ties, missing scores, undefined values."""
    lines = []
    for entry in evaluation.summaries:
        if entry.group is not None:  # a group is part of the whole, of which the same has been said
            continue
        if entry.saturated:
            lines.append(
                f"{entry.score}: {100.0 * entry.distinct_share:.1f} % of the scores are distinct, "
                f"the largest tie holds {entry.largest_tie} of {entry.n} samples"
            )
        for number, fate in ((entry.n_rejected, "rejected"), (entry.n_dropped, "dropped")):
            if number:
                lines.append(f"{entry.score}: {_counted(number)} without a score {_was(number)} {fate}")
    if not evaluation.provenance["same_samples"]:
        lines.append("each score was measured on other samples, so none is marked as best: keep the rows that have all")
    return lines + _undefined(evaluation) + _doubtful(evaluation)


def _doubtful(evaluation: Evaluation) -> list[str]:
    """One line per warning of an interval, or reason for its lack, on all samples; a group's stand with its numbers."""
    warned: dict[str, list[str]] = {}
    for entry in evaluation.measurements:
        if entry.group is None and entry.warning not in (None, BIASED, NEEDS_BOOTSTRAP):
            lacks = "no " if math.isnan(entry.low) else ""
            line = f"{lacks}interval of {{}}: {str(entry.warning).removeprefix('no interval: ')}"
            warned.setdefault(line, []).append(f"{entry.metric} of {entry.score}")
    return [line.replace("{}", _listed(places), 1) for line, places in warned.items()]


def _undefined(evaluation: Evaluation) -> list[str]:
    """One line per metric and reason for all samples; one per metric for the groups where only these lack it."""
    lacking = [entry for entry in evaluation.measurements if entry.reason is not None]
    whole: dict[tuple[str, str], list[str]] = {}
    for entry in lacking:
        if entry.group is None:
            whole.setdefault((entry.metric, str(entry.reason)), []).append(entry.score)
    everywhere = len(evaluation.scores)
    lines = []
    for (metric, reason), scores in whole.items():
        place = "" if len(scores) == everywhere else f" for {_listed(scores)}"
        lines.append(f"{metric} is not defined{place}: {reason}")

    known = {(entry.metric, entry.score) for entry in lacking if entry.group is None}
    parts: dict[str, dict[str, str]] = {}
    for entry in lacking:
        if entry.group is not None and (entry.metric, entry.score) not in known:
            parts.setdefault(entry.metric, {})[f"{entry.score} in {entry.group}"] = str(entry.reason)
    for metric, places in parts.items():
        reasons = list(dict.fromkeys(places.values()))
        why = reasons[0] if len(reasons) == 1 else "the measurements give the reason of each"
        lines.append(f"{metric} is not defined for {_listed(list(places))}: {why}")
    return lines


def _listed(places: list[str]) -> str:
    more = f" and {len(places) - PLACES} more" if len(places) > PLACES else ""
    return ", ".join(places[:PLACES]) + more


def _counted(number: int) -> str:
    return f"{number} sample{'s' if number > 1 else ''}"


def _was(number: int) -> str:
    return "were" if number > 1 else "was"


def as_dict(evaluation: Evaluation) -> dict[str, Any]:
    """Return plain Python values that strict JSON can hold."""
    return {
        "provenance": {key: _finite(value) for key, value in evaluation.provenance.items()},
        "scores": [
            {key: _finite(value) for key, value in vars(entry).items() if key != "curve"}
            for entry in evaluation.summaries
        ],
        "measurements": [_measurement(entry) for entry in evaluation.measurements],
        "notes": notes(evaluation),
    }


def _measurement(entry: Measurement) -> dict[str, Any]:
    row = {key: _finite(value) for key, value in asdict(entry).items()}
    if math.isinf(entry.value):
        row["reason"] = f"the value is {'+' if entry.value > 0 else '-'}infinity"
    return row


def _finite(value: Any) -> Any:
    """Return None for what JSON cannot hold."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def columns(evaluation: Evaluation) -> dict[str, list[Any]]:
    """Return the measurements by column."""
    rows = [asdict(entry) for entry in evaluation.measurements]
    return {name: [row[name] for row in rows] for name in rows[0]}


def as_csv(evaluation: Evaluation) -> str:
    """Return one line per measurement, safe to open in a spreadsheet."""
    table = columns(evaluation)
    return "".join(map(_line, [list(table), *zip(*table.values(), strict=True)]))


def _line(row: Iterable[Any]) -> str:
    import csv
    import io

    stream = io.StringIO(newline="")
    csv.writer(stream).writerow([_harmless(cell) for cell in row])  # ended by \r\n, so that it quotes both
    return stream.getvalue().removesuffix("\r\n") + "\n"


def _harmless(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
