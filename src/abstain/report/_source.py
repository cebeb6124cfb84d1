"""What a caller knows beyond the result: the outputs, the files they came from, the command, costs, images."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from abstain._result import Row, Verdict, clean
from abstain._typing import ArrayLike
from abstain.outputs import Outputs

#: So many columns that were not read are named.
NAMED = 12


@dataclass(frozen=True, eq=False)
class Source:
    """What a page is given in addition to its result.

    Parameters
    ----------
    outputs : Outputs, optional
        The rows behind the result: names and duplicates are read from them.
    command : str, optional
        The command that made the page.
    files : sequence of paths
        Files that were read; the page names them with their SHA-256.
    cost : (float, float), optional
        Costs of an error and of a review, for the slider.
    images : array of shape (n, height, width[, 3]) of bytes or fractions, or a function of a row, optional
        Shown with the most confident errors; a function may give the bytes of a PNG, JPEG, GIF or WebP file.
    texts : sequence of str, or a function of a row, optional
        The same as text.
    policies : mapping of score to dict
        How new files hold each score, as arguments of ``Threshold.policy``; default: a column of its name.
    loss, confidence : array-like of shape (n,), optional
        Of a threshold: the rows that it was chosen on.
    groups : array-like of shape (n,), optional
        Of thresholds by group: the group of each of these rows.
    dependent : bool
        Whether these rows belong together in clusters, so that intervals of single rows do not hold.
    gains : sequence of dict
        Of a joint evaluation: gains of a second score next to those of noise, as the command computes them.
    words : function of str
        How a page says what the library calls by its arguments, such as options of the command.
    verdict : Verdict, optional
        That of the result, with what only the caller knows, such as columns that were not read and commands.
    next : str
        The command that goes on, of a result without a verdict.
    """

    outputs: Outputs | None = None
    command: str | None = None
    files: Sequence[str | os.PathLike[str]] = ()
    cost: tuple[float, float] | None = None
    images: ArrayLike = None
    texts: ArrayLike = None
    policies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    loss: ArrayLike = None
    confidence: ArrayLike = None
    groups: ArrayLike = None
    dependent: bool = False
    gains: Sequence[Mapping[str, Any]] = ()
    words: Callable[[str], str] | None = None
    verdict: Verdict | None = None
    next: str = ""

    def name(self, row: int) -> str:
        """Return the identifier of a row, or its number counted from one."""
        ids = None if self.outputs is None else self.outputs.ids
        return f"row {row + 1}" if ids is None else str(np.asarray(ids)[row])

    def checks(self, score: str = "") -> list[Row]:
        """Return how the columns were read, which were not, and how many identifiers occur more than once."""
        if self.outputs is None:
            return []
        rows: list[Row] = [(f"read as {part}", words) for part, words in self.outputs.understood(score).items()]
        if self.outputs.ids is not None:
            ids = np.asarray(self.outputs.ids)
            rows.append(("repeated identifiers", f"{len(ids) - len(np.unique(ids))} of {len(ids)}"))
        names = () if self.outputs.reading is None else self.outputs.reading.unused
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return [*rows, ("columns not read", ", ".join(map(clean, names[:NAMED])) + more)] if names else rows

    def of_row(self, kind: str, row: int) -> Any:
        """Return the image or text of a row, None where there is none."""
        given = getattr(self, kind)
        if given is None:
            return None
        return given(row) if callable(given) else given[row]


def today() -> str:
    """Return the date of the page: that of SOURCE_DATE_EPOCH if it is set, else today's, in UTC."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(given), UTC) if given.isdecimal() else datetime.now(UTC)
    return now.date().isoformat()


def digest_of(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file; of what is no file, why there is none."""
    file = Path(path)
    if not file.is_file():
        return "no file"
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
