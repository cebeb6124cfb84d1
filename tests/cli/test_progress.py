"""Long work is announced on standard error, once, with what makes it shorter."""

import sys

import pytest

import abstain
from abstain import _pace
from abstain._pace import heard_by, paced
from abstain.cli import command, run


def test_steps_are_heard() -> None:
    """Every step is, with the share that is done; without a listener nothing happens."""
    heard: list[tuple[str, float]] = []
    with heard_by(lambda what, share, seconds: heard.append((what, share))):
        assert list(paced("abcd", "letters")) == list("abcd")
        abstain.inference.bootstrap("coverage_at_risk", [0, 1, 0, 0] * 25, range(100), n_resamples=20)
    assert heard[:4] == [("letters", 0.25), ("letters", 0.5), ("letters", 0.75), ("letters", 1.0)]
    assert heard[-1] == ("bootstrap of a metric", 1.0)
    assert list(paced("ab", "letters")) == ["a", "b"]


def test_what_takes_long_is_announced_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """From three seconds on, with the remedy and the extra that helps; what is soon done is not mentioned."""

    def work(**_: object) -> None:
        hear = _pace._listener.get()
        assert hear is not None
        hear("bootstrap of a metric", 0.5, 1.0)
        hear("gains and noise", 0.1, 1.0)
        hear("gains and noise", 0.2, 2.0)
        hear("joint metrics", 0.01, 2.0)

    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(command.commands["metrics"], "callback", work)
    assert run(["metrics"]) == 0
    first, second = capsys.readouterr().err.splitlines()
    assert first == (
        "gains and noise: will take about 9 s (--permutations 0 leaves these out; the extra fast makes it quicker: "
        'pip install ".[fast]" in the checkout)'
    )
    assert second == "joint metrics: will take about 3 minutes"
