"""A small set of predictions as a file of every kind, and the command in this process."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
polars = pytest.importorskip("polars")

RNG = np.random.default_rng(11)
N = 120
LABELS = RNG.integers(0, 3, N)
LOGITS = RNG.normal(size=(N, 3)) + 1.5 * np.eye(3)[LABELS]
PROBABILITIES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
COLUMNS: dict[str, Any] = {
    "y": LABELS,
    "yhat": PROBABILITIES.argmax(axis=1),
    "conf": PROBABILITIES.max(axis=1),
    "votes": RNG.integers(0, 6, N),
    "vague": RNG.random(N),
    "site": np.array(["north", "south"])[RNG.integers(0, 2, N)],
    "age": RNG.integers(30, 33, N),
    "w": RNG.integers(1, 4, N),
    "case": np.array([f"case {i}" for i in range(N)]),
    **{f"p_{k}": PROBABILITIES[:, k] for k in range(3)},
}


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """What was printed, in one line."""
        return " ".join(self.out.split())

    @property
    def said(self) -> str:
        """What standard error was told, in one line."""
        return " ".join(self.err.split())

    @property
    def json(self) -> Any:
        """What was printed, as strict JSON."""
        return json.loads(self.out, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))

    def value(self, metric: str, score: str | None = None, group: str | None = None) -> float:
        """Return a value of the printed JSON."""
        rows = [row for row in self.json["measurements"] if row["metric"] == metric and row["group"] == group]
        return float(next(row["value"] for row in rows if score in (None, row["score"])))


Run = Callable[..., Done]
Do = Callable[..., Done]


@pytest.fixture
def abstain_(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Return the command, run in a folder of its own."""
    from click.testing import CliRunner

    from abstain.cli import run

    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: object) -> Done:
        with CliRunner().isolation() as (out, err, _):
            code = run([str(argument) for argument in arguments])
            return Done(code, out.getvalue().decode(), err.getvalue().decode())

    return call


@pytest.fixture
def do(abstain_: Run) -> Do:
    """Return a function that runs a line as it is typed, which must end with the exit code that is given."""

    def call(line: str, code: int = 0) -> Done:
        done = abstain_(*shlex.split(line))
        assert done.code == code, done
        return done

    return call


def csv(path: str | Path, **columns: Any) -> Path:
    """Write columns as a CSV file."""
    polars.DataFrame(columns).write_csv(path)
    return Path(path)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Return the predictions as csv, parquet, jsonl, ndjson and npz."""
    frame = polars.DataFrame(COLUMNS)
    paths = {kind: tmp_path / f"preds.{kind}" for kind in ("csv", "parquet", "jsonl", "ndjson", "npz")}
    frame.write_csv(paths["csv"])
    frame.write_parquet(paths["parquet"])
    frame.write_ndjson(paths["jsonl"])
    frame.write_ndjson(paths["ndjson"])
    np.savez(paths["npz"], **COLUMNS, logits=LOGITS)
    return paths
