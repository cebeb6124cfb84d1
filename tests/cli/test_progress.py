"""Long work is announced on standard error, once, with what makes it shorter."""

import sys
from itertools import count

import numpy as np

import abstain
from abstain import _pace
from abstain._pace import heard_by, paced
from abstain.cli import command


def test_steps_are_heard():
    """Every step is, with the share that is done; without a listener nothing happens."""
    heard = []
    with heard_by(lambda what, share, seconds: heard.append((what, share))):
        assert list(paced("abcd", "letters")) == list("abcd")
        abstain.inference.bootstrap("coverage_at_risk", [0, 1, 0, 0] * 25, range(100), n_resamples=20)
    assert heard[:4] == [("letters", 0.25), ("letters", 0.5), ("letters", 0.75), ("letters", 1.0)]
    assert heard[-1] == ("bootstrap of a metric", 1.0)
    assert list(paced("ab", "letters")) == ["a", "b"]


def test_what_takes_long_is_announced_once(do, monkeypatch):
    """From three seconds on, with the remedy and the extra that helps; what is soon done is not mentioned."""

    def work(**_):
        hear = _pace._listener.get()
        hear("bootstrap of a metric", 0.0, 1.0)
        hear("bootstrap of a metric", 0.5, 1.0)
        hear("counting rows", 0.25, 1.0)
        hear("gains and noise", 0.0078125, 0.5)
        hear("gains and noise", 0.2, 2.0)
        hear("joint metrics", 0.2, 25.0)

    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(command.commands["metrics"], "callback", work)
    elsewhere, first, second = do("metrics").err.splitlines()
    assert elsewhere == "counting rows: will take about 3 s"
    assert first == (
        "gains and noise: will take about 64 s (--permutations 0 leaves these out; the extra fast makes it quicker: "
        'pip install ".[fast]" in the checkout)'
    )
    assert second == "joint metrics: will take about 2 minutes"


def test_a_terminal_shows_how_far_long_work_is(do, monkeypatch):
    """Twice a second until the line is wiped; of work that was not announced nothing is shown."""

    def work(**_):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        hear = _pace._listener.get()
        for what, share, seconds in (("short", 0.5, 1.0), ("long", 0.25, 2.0), ("long", 0.3, 2.5), ("long", 1.0, 2.25)):
            hear(what, share, seconds)

    monkeypatch.setattr(command.commands["metrics"], "callback", work)
    announced, *line = do("metrics").err.split("\n")
    assert announced.startswith("long: will take about 6 s")
    assert line == ["\rlong:  25%\r          \r"]


def test_the_command_listens(do, monkeypatch):
    """A bootstrap that would take long says so before it ends; where it is short nothing is said."""
    rows = np.arange(400)
    np.savez("a.npz", loss=(rows % 3 == 0) * 1.0, confidence=rows % 17, cluster=rows // 4)
    evaluate = "evaluate a.npz --resamples 2000 --metrics 'coverage_at_risk(risk=0.4)'"
    assert "will take" not in do(evaluate).err
    monkeypatch.setattr(_pace, "monotonic", count(step=2.0).__next__)  # a clock of a slow machine
    assert "bootstrap of a metric: will take about" in do(evaluate).err
