"""lm-evaluation-harness: ``samples_<task>_<date>.jsonl``, as ``--log_samples`` writes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain._typing import AnyArray
from abstain.outputs._objects import column, text
from abstain.outputs.readers._reader import Peek, Reader, Table

_INVALID = "[invalid]"  # what lm-eval's filters put where they find no answer
_OWN = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash",
    "target_hash",
}  # fmt: skip
#: Metrics that say right or wrong, the usual one first.
_VERDICTS = ("acc", "exact_match", "pass@1", "acc_norm")


def _recognises(peek: Peek) -> bool:
    return peek.suffix in (".jsonl", ".ndjson") and {"doc_id", "filtered_resps", "target"} <= peek.first.keys()


def _read(peek: Peek) -> Table:
    rows = list(peek.lines())
    columns: dict[str, AnyArray] = {"id": text(row["doc_id"] for row in rows)}
    filters = [str(row.get("filter", "none")) for row in rows]
    several = len(set(filters)) > 1
    if several:
        columns["filter"] = text(filters)
    metrics = [name for name in rows[0] if name not in _OWN and isinstance(rows[0][name], int | float)]
    for name in metrics:
        columns[name] = column([row.get(name) for row in rows])
    verdict = next((name for name in (*_VERDICTS, *metrics) if name in metrics), None)
    if verdict is not None:
        columns["correct"] = columns.pop(verdict)
    notes = [] if verdict is None else [f"correct is lm-eval's {verdict}"]
    choices = [each for row in rows if (each := _choices(row["filtered_resps"])) is not None]
    if len(choices) == len(rows):
        shares = [np.exp(np.array(each) - np.logaddexp.reduce(each)) for each in choices]
        columns["confidence"] = np.array([each.max() for each in shares])
        columns["score_margin"] = np.array([np.diff(np.sort(each)[-2:])[0] for each in shares])
    else:
        invalid = np.array([_said(row["filtered_resps"]) == _INVALID for row in rows])
        if invalid.any():
            columns["invalid"] = invalid
            where = " (of all filters)" if several else ""
            notes.append(
                f"{int(invalid.sum())} of {len(rows)} answers{where} were not parsed by lm-eval's filter, which counts "
                "them as wrong; abstained='invalid' counts them as abstentions"
            )
        notes.append("lm-eval stores no probability of generated text: add a column of confidence")
    return Table(columns, tuple(notes), ("filter",) if several else ())


def _choices(said: Any) -> list[float] | None:
    """Return the log-likelihood of each choice; None for text."""
    if not isinstance(said, list) or len(said) < 2 or not all(isinstance(each, list) and each for each in said):
        return None
    try:
        return [float(each[0]) for each in said]
    except (TypeError, ValueError):
        return None


def _said(said: Any) -> Any:
    return said[0] if isinstance(said, list) and said else said


READER = Reader("lm-eval", _recognises, _read)
