"""Which rows count: each once, of those that were drawn, from any frame, and in processes that are killed."""

import os
import random
import signal
import sys
import time

import duckdb
import numpy as np
import polars as pl
import pytest

from abstain.live import LiveCertificate, load_live, update_live
from tests.refusal import refused
from tests.tiers import repeated


def fresh(thresholds=(0.9, 0.7, 0.5, 0.3, 0.1)):
    """Return a certificate of 5 % on a small grid."""
    return LiveCertificate(risk=0.05, thresholds=thresholds)


def test_rows_count_once():
    """A file that was counted before is refused, also in part and in another order."""
    live = fresh()
    rng = np.random.default_rng(4)
    score, loss = rng.random(300), (rng.random(300) < 0.1).astype(float)
    live.update(score, loss)
    refused(ValueError, "before", live.update, score, loss)
    refused(ValueError, "before", live.update, score[::-1][:250], loss[::-1][:250])
    assert live.update(score, loss, again=True).groups[""].rows == 600


def test_rows_are_known_by_their_names():
    """A row that was sent before is refused; later rows need names, too, and scores that are ranks go on with them."""
    live = fresh()
    live.update([0.9, 0.8], [0, 1], ids=["a", 2])
    live.update([0.9, 0.8], [0, 1], ids=["c", "d"])
    for ids in (["e", "a"], [2.0, 7.0]):
        refused(ValueError, "1 of these rows were sent before, by their ids", live.update, [0.7, 0.6], [0, 0], ids=ids)
    refused(ValueError, "no two alike", live.update, [0.7, 0.6], [0, 0], ids=["e", "e"])
    refused(ValueError, "earlier rows came with ids=", live.update, [0.7, 0.6], [0, 0])
    for week in range(3):
        live.update(np.arange(200) / 200, np.zeros(200), ids=[f"{week}-{k}" for k in range(200)])
    assert live.result().groups[""].rows == 604


def test_old_rows_are_known_by_a_sample():
    """Of rows before the last 3,000 a part is known by names: 100 of 20,000 that come again are refused."""
    live = fresh()
    for part in range(4):
        live.update(np.full(5000, 0.9), np.zeros(5000), ids=np.arange(5000) + 5000 * part)
    with pytest.raises(ValueError, match=r"of these rows were sent before, by their ids"):
        live.update(np.full(100, 0.9), np.zeros(100), ids=np.arange(100))


@pytest.mark.parametrize("order", ["mixed", "sorted", "errors first"])
@pytest.mark.parametrize("levels", [2, 20, 100])
def test_calls_that_only_look_alike_count(levels, order):
    """Small calls of coarse scores are never taken for earlier ones, in whatever order their rows come."""
    rng, live = np.random.default_rng(levels), fresh()
    for k in range(100):
        n = (1, 3, 8, 20, 60)[k % 5]
        score = rng.integers(0, levels, n) / levels
        loss = (rng.random(n) < 0.1).astype(float)
        place = {"mixed": np.arange(n), "sorted": np.argsort(score), "errors first": np.lexsort((score, -loss))}[order]
        live.update(score[place], loss[place])
    assert live.result().groups[""].rows == 20 * (1 + 3 + 8 + 20 + 60)


def test_drawn_labels():
    """A label that was drawn may not be missing, and one that came without being drawn does not count."""
    live = fresh((0.5,))
    live.groups[""].smallest = 0.2
    given = {"confidence": [0.9, 0.8], "label_probability": 0.5, "drawn": [False, True]}
    message = r"loss\[1\] is missing, although its label was drawn"
    refused(ValueError, message, live.update, loss=[0, np.nan], **given)
    found = live.update(loss=[1, 0], **given)
    assert (found.groups[""].labels, live.groups[""].risk(0)) == (1, 0.0)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(("size", "most"), [(None, 281), (2, 319), (200, 1000)])
def test_more_labels_than_were_drawn(named, size, most):
    """Refused where 200 of 1,000 are expected, beyond six deviations and clusters: 6 (12.6 + 1), 6 (17.9 + 2)."""
    for count in {most, min(most + 1, 1000)}:
        live = LiveCertificate(risk=0.05, thresholds=[0.5], max_cluster=size)
        live.groups[""].smallest = 0.2
        drawn = np.arange(1000) < count
        options = {"drawn": drawn.astype(int)} if named else {}
        options |= {} if size is None else {"clusters": np.arange(1000) // size}
        given = (np.full(1000, 0.9), np.where(drawn, 0.0, np.nan))
        if count > most:
            with pytest.raises(ValueError, match=f"{count} labels where 200 are expected of these chances; name in dr"):
                live.update(*given, label_probability=0.2, **options)
        else:
            assert live.update(*given, label_probability=0.2, **options).groups[""].labels == count


def test_the_order_of_a_file_does_not_matter():
    """Sorted by loss, either way, or mixed: the same evidence and the same thresholds, however a call is cut off."""
    rng, found = np.random.default_rng(3), set()
    score = rng.random(3000)
    loss = (rng.random(3000) < 0.3 * (1.0 - score) ** 1.5) * 1.0
    for order in (np.arange(3000), np.argsort(loss), np.argsort(-loss), np.argsort(-score)):
        live, whole = fresh(), fresh()
        for part in np.split(order, [1000]):
            live.update(score[part], loss[part])
        whole.update(score[order], loss[order])
        np.testing.assert_allclose(whole.groups[""].sums, live.groups[""].sums, rtol=1e-9)
        found.add(whole.certified[""])
    assert (len(found), found != {()}) == (1, True)


def test_audited_rows_that_wait_at_a_restart_count_later():
    """Rows of the last policy that were too young in the first call after a restart come again with their chance."""
    live = LiveCertificate(risk=0.05, delta=0.05, thresholds=[0.9, 0.5], maturity=3, restarts=1, audit=0.2)
    live.update(np.linspace(0.5, 1, 4000), np.zeros(4000), time=np.zeros(4000), as_of=3)
    assert live.certified[""]
    live.restart()
    when, young = [6, 7, 8, 9], [np.nan] * 2
    live.update([0.9, 0.91, 0.92, 0.93], [0, 0, *young], time=when, as_of=10, label_probability=0.2)
    live.update([0.92, 0.93, 0.94], [0, 0, np.nan], time=[8, 9, 10], as_of=12, label_probability=[0.2, 0.2, 1.0])
    assert live.result().groups[""].rows == 4


# ---------------------------------------------------------------------- processes and frames


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


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "duckdb"])
def test_rows_of_frames(kind):
    """Names of columns stand for the rows of a frame, and give what arrays give."""
    rng = np.random.default_rng(1)
    score, chance, case, site = rng.random(4000), np.full(4000, 0.9), np.arange(4000), ["a", "b"] * 2000
    wrong = np.where(rng.random(4000) < 0.9, rng.random(4000) < 0.1 * (1 - score), np.nan)
    rows = pl.DataFrame({"conf": score, "err": wrong, "case": case, "site": site, "chance": chance})
    made = {"polars": lambda: rows, "lazy": rows.lazy, "pandas": rows.to_pandas}
    frame = duckdb.sql("select * from rows") if kind == "duckdb" else made[kind]()
    found, wanted = (LiveCertificate(risk=0.05, thresholds=GRID, groups=["a", "b"]) for _ in range(2))
    for live in (found, wanted):
        for one in live.groups.values():
            one.smallest = 0.9
    found.update("conf", "err", frame=frame, label_probability="chance", groups="site", ids="case")
    wanted.update(score, wrong, label_probability=chance, groups=site, ids=case)
    assert (found.certified, found.result().groups) == (wanted.certified, wanted.result().groups)
    assert found.certified["a"]
    refused(ValueError, "no column 'cong'", found.update, "cong", "err", frame=frame)
