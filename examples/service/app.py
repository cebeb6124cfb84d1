"""A policy behind HTTP: decisions, audit draws, labels, a monitor, metrics for Prometheus.

Run it with ``uvicorn app:app``. Settings are variables of the environment: ``POLICY`` and ``MODEL``, the file of the
policy and the model that it was made for; ``DATA``, the folder of what the service keeps; ``AUDIT``, the share of the
answers that people label; ``SEED``, which must stay secret, because it decides which.
"""

import os
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from fastapi import FastAPI, HTTPException, Response
from pydantic import BaseModel

import abstain
from abstain.integrations.prometheus import metrics_text
from abstain.monitoring import Monitor, Monitoring, load_monitor

POLICY, DATA = Path(os.environ.get("POLICY", "policy.json")), Path(os.environ.get("DATA", "."))
AUDIT, SEED = float(os.environ.get("AUDIT", "0.1")), os.environ.get("SEED")
STATE = DATA / "monitor.json"
if not SEED:
    sys.exit("SEED is not set: give a secret text that stays the same, for example SEED=$(openssl rand -hex 16)")
DATA.mkdir(parents=True, exist_ok=True)

policy = abstain.load_policy(POLICY, model=os.environ.get("MODEL"))
app = FastAPI(title=f"Decisions by {POLICY.name}")

# Every row is stored before its decision is returned. The write-ahead log of SQLite survives the end of the process;
# against a power failure set synchronous to FULL, which is slower. Labels have a file of their own, because the monitor
# locks it while it counts, and no decision waits for that.
decisions = sqlite3.connect(DATA / "decisions.sqlite", isolation_level=None, timeout=30.0)
decisions.executescript("""
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS decisions (
        id TEXT PRIMARY KEY, score REAL, action TEXT, reason TEXT, label_wanted INTEGER, decided REAL
    ) WITHOUT ROWID;
""")
counts: Counter[tuple[str, str]] = Counter()


class Row(BaseModel):
    """One case: a name that no other case has, and what the policy reads, such as the logits."""

    id: str
    values: list[float | None]


class Label(BaseModel):
    """Whether the model was wrong about a case that was drawn."""

    id: str
    wrong: bool


@app.post("/decide")
async def decide(row: Row) -> dict:
    """Decide, draw whether people should label the case, and store both; a repeated request gets the same answer."""
    values = np.array([row.values], dtype=float)
    try:
        if policy.inputs is None and len(row.values) != 1:
            raise ValueError(f"this policy reads one number, {policy.score!r}, got {len(row.values)} values")
        found = policy.decide(values[0] if policy.inputs is None else values, ids=[row.id], audit=AUDIT, seed=SEED)
    except ValueError as error:
        raise HTTPException(422, str(error)) from None
    decision, wanted = found[0], bool(found.drawn[0])
    score = decision.score if np.isfinite(decision.score) else None
    stored = (row.id, score, decision.action, decision.reason, wanted)
    try:
        decisions.execute("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?)", (*stored, time.time()))
        counts[decision.action, decision.reason] += 1
    except sqlite3.IntegrityError:
        query = "SELECT id, score, action, reason, label_wanted FROM decisions WHERE id = ?"
        before = decisions.execute(query, (row.id,)).fetchone()
        if before[1] != score:
            raise HTTPException(409, f"another case has the id {row.id!r}") from None
        stored = (*before[:4], bool(before[4]))
    return dict(zip(("id", "score", "action", "reason", "label_wanted"), stored, strict=True))


@app.post("/labels")
def label(labels: list[Label]) -> dict:
    """Take labels of cases that were drawn. The monitor sees those of answers; those of rejected cases are kept.

    A repeated label changes nothing. One that contradicts an earlier one is not taken, but counted.
    """
    asked, contradicting = 0, 0
    with closing(sqlite3.connect(DATA / "decisions.sqlite", timeout=30.0)) as known, label_file() as file:
        for each in labels:
            query = "SELECT id, score, action FROM decisions WHERE id = ? AND label_wanted"
            if (row := known.execute(query, (each.id,)).fetchone()) is not None:
                file.execute(
                    "INSERT OR IGNORE INTO labels (id, score, action, wrong, labelled) VALUES (?, ?, ?, ?, ?)",
                    (*row, each.wrong, time.time()),
                )
                (kept,) = file.execute("SELECT wrong FROM labels WHERE id = ?", (each.id,)).fetchone()
                asked, contradicting = asked + 1, contradicting + (kept != each.wrong)
    counted = {"stored": asked - contradicting, "contradicting": contradicting, "not_drawn": len(labels) - asked}
    return {**counted, **monitor()}


@app.get("/monitor")
def monitor() -> dict:
    """Return whether the guarantee is violated."""
    verdict = monitored().verdict
    caveats = [each.text for each in verdict.caveats]
    return {"status": verdict.status.value, "headline": verdict.headline, "detail": verdict.detail, "caveats": caveats}


@app.get("/metrics")
def metrics() -> Response:
    """Return the metrics of the monitor, and how many cases this process has decided, for Prometheus."""
    lines = ["# HELP abstain_decisions_total Decisions by their reason.", "# TYPE abstain_decisions_total counter"]
    for (action, reason), count in counts.items():
        lines.append(f'abstain_decisions_total{{policy="{POLICY.name}",action="{action}",reason="{reason}"}} {count}')
    text = metrics_text(monitored(), POLICY.name) + "\n".join(lines) + "\n"
    return Response(text, media_type="text/plain; version=0.0.4")


@contextmanager
def label_file() -> Iterator[sqlite3.Connection]:
    """Open the file of labels for one writer at a time; what a block wrote counts if it comes to its end."""
    with closing(sqlite3.connect(DATA / "labels.sqlite", isolation_level=None, timeout=30.0)) as file:
        file.execute("BEGIN IMMEDIATE")
        file.execute("""CREATE TABLE IF NOT EXISTS labels (
            place INTEGER PRIMARY KEY, id TEXT UNIQUE, score REAL, action TEXT, wrong INTEGER, labelled REAL
        )""")
        yield file
        file.execute("COMMIT")


def monitored() -> Monitoring:
    """Give the monitor the labels of answers that it has not seen, in the order in which they came.

    The monitor counts its rows, so that after a restart each label is given exactly once.
    """
    query = "SELECT wrong, score FROM labels WHERE action = 'answer' ORDER BY place LIMIT -1 OFFSET ?"
    with label_file() as file:
        kept = load_monitor(STATE, policy) if STATE.exists() else Monitor(policy, accepted_only=True)
        new = np.array(file.execute(query, (kept.result().n,)).fetchall(), dtype=float).reshape(-1, 2)
        if len(new):
            kept.update(new[:, 0], new[:, 1], again=True)
            kept.save(STATE)
        return kept.result()


monitored()  # a state of another policy is refused now, and not at the first label
