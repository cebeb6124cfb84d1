"""Numbers of a study as a small file, from which its tables can be made again without the trainings."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_WHOLE, _REAL = ("n", "seed"), ("value", "difference", "low", "high")


def as_csv(rows: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> str:
    """Return rows as the text of a file; other columns than these are left out."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fields, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def read(file: Path) -> list[dict[str, Any]]:
    """Return the rows of such a file, numbers as numbers."""
    with file.open(encoding="utf-8", newline="") as stream:
        return [{key: _read(key, text) for key, text in row.items()} for row in csv.DictReader(stream)]


def _read(key: str, text: str) -> Any:
    return int(text) if key in _WHOLE else float(text) if key in _REAL else text
