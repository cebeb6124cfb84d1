"""A live certificate between processes that are killed, and its rows in frames of every library."""

import os
import random
import signal
import sys
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

from abstain.live import LiveCertificate, load_live, update_live
from tests.tiers import repeated

GRID = [0.9, 0.7, 0.5, 0.3, 0.1]
SIZE = 20


def _send(state, done):
    """Count one batch after the other, and write down each that was counted; one that was sent before is counted."""
    while True:
        k = os.stat(done).st_size
        rng = np.random.default_rng(k)
        names = np.arange(SIZE) + SIZE * k
        try:
            update_live(state, rng.random(SIZE).round(1), np.zeros(SIZE), ids=names)
        except ValueError as error:
            if "by their ids" not in str(error):
                raise
        os.write(done, b".")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork")
@repeated(12, 50)
def test_kills_lose_nothing_and_count_nothing_twice(repetitions, tmp_path):
    """A process that is killed at any moment, and goes on with the batch of which it does not know."""
    state, done = str(tmp_path / "live.json"), os.open(tmp_path / "done", os.O_CREAT | os.O_RDWR | os.O_APPEND)
    LiveCertificate(risk=0.05, thresholds=GRID).save(state)
    moments = random.Random(0)
    for _ in range(repetitions):
        child = os.fork()
        if not child:
            try:
                _send(state, done)
            finally:
                os._exit(1)
        time.sleep(moments.uniform(0.005, 0.1))
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL, "the process ended by itself"
    batches, rows = os.stat(done).st_size, load_live(state).result().groups[""].rows
    assert batches > 2
    assert rows in (SIZE * batches, SIZE * (batches + 1))


def frames():
    """Return the same rows as frames of several libraries, eager and lazy."""
    import duckdb

    rng = np.random.default_rng(1)
    score = rng.random(4000)
    wrong = np.where(rng.random(4000) < 0.9, (rng.random(4000) < 0.1 * (1 - score)).astype(float), np.nan)
    names = {"case": [f"r{k}" for k in range(4000)], "site": ["a", "b"] * 2000}
    rows = pl.DataFrame({"conf": score, "err": wrong, **names})
    rows = rows.with_columns(pl.col("err").fill_nan(None), chance=pl.lit(0.9))
    return [rows, rows.lazy(), pd.DataFrame(rows.to_dict(as_series=False)), duckdb.sql("select * from rows")]


@pytest.mark.parametrize("place", range(4), ids=["polars", "lazy", "pandas", "duckdb"])
def test_rows_of_frames(place):
    """Names of columns stand for the rows of a frame, and give what arrays give."""
    frame, plain = frames()[place], frames()[0]
    found, wanted = (LiveCertificate(risk=0.05, thresholds=GRID, groups=["a", "b"]) for _ in range(2))
    for live in (found, wanted):
        for one in live.groups.values():
            one.smallest = 0.9
    named = {"label_probability": "chance", "groups": "site", "ids": "case"}
    found.update("conf", "err", frame=frame, **named)
    arrays = {key: plain[name].to_numpy() for key, name in named.items()}
    wanted.update(plain["conf"].to_numpy(), plain["err"].to_numpy(), **arrays)
    assert found.certified == wanted.certified
    assert found.certified["a"]
    assert found.result().groups == wanted.result().groups
    with pytest.raises(ValueError, match="no column 'cong'"):
        found.update("cong", "err", frame=frame)
