"""What large tables do not keep: nothing is lost by it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import abstain
from abstain import inference, metrics
from abstain.inference._spread import counted_powers, powers_of
from tests.strategies import Problem, problems


@given(problems(weights=["none"], losses=["binary"]))
def test_power_sums_of_a_table_are_those_of_its_terms(problem: Problem) -> None:
    """Of 0/1 losses that count once each, squares and fourth powers follow from the table without its rows."""
    blocks = problem.table(keep_samples=True)
    for name in ("augrc", "aurc", "risk", "selective_risk(coverage=0.6)"):
        metric = metrics.parse(name)
        found = counted_powers(inference.gradient(metric, blocks), blocks)
        wanted = powers_of(inference.terms_of(metric, blocks))
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-25)


@pytest.mark.parametrize("digits", [None, 2])
def test_an_evaluation_that_gives_memory_back_has_the_same_numbers(monkeypatch: pytest.MonkeyPatch, digits) -> None:
    """Large tables keep neither gradients nor sums between metrics; a small one is made to do the same."""
    rng = np.random.default_rng(0)
    score = rng.random(3000)
    score = score if digits is None else np.round(score, digits)
    loss = rng.random(3000) > score

    def evaluated():
        found = abstain.evaluate(loss=loss, confidence=score, metrics="all").measurements
        return np.array([[each.value, each.low, each.high, each.standard_error] for each in found], dtype=float)

    before = evaluated()
    monkeypatch.setattr("abstain.inference._unseen.MOST_KEPT", 0)
    monkeypatch.setattr("abstain.inference._interval.MOST_KEPT", 0)
    monkeypatch.setattr("abstain.metrics._area.KEPT", 0)
    monkeypatch.setattr("abstain.metrics._augrc.KEPT", 0)
    monkeypatch.setattr("abstain._sums.ROOM", 1000)
    monkeypatch.setattr("abstain._sums.PART", 700)
    np.testing.assert_allclose(evaluated(), before, rtol=1e-11)
