"""The command as tests call it, and what it leaves behind."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def text(self):
        """What was printed, in one line."""
        return " ".join(self.out.split())

    @property
    def said(self):
        """What standard error was told, in one line."""
        return " ".join(self.err.split())

    @property
    def all(self):
        """Both, in one line."""
        return f"{self.text} {self.said}"

    @property
    def json(self):
        """What was printed, as strict JSON."""
        return json.loads(self.out, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))

    def value(self, metric, score=None, group=None):
        """Return a value of the printed JSON."""
        rows = [row for row in self.json["measurements"] if row["metric"] == metric and row["group"] == group]
        return float(next(row["value"] for row in rows if score in (None, row["score"])))


#: The fixtures ``abstain_`` and ``do``.
Run = Callable[..., Done]
Do = Callable[..., Done]


def csv(path, **columns):
    """Write columns as a CSV file."""
    polars = pytest.importorskip("polars")
    polars.DataFrame(columns).write_csv(path)
    return Path(path)
