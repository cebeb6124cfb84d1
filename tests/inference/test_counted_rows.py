"""Entries that stand for several equal rows are as these rows, one by one."""

from dataclasses import replace

import numpy as np
import pytest

import abstain
from abstain.inference import as_metric, paired
from abstain.inference._columns import Panel
from abstain.inference._confidence import of_coverage
from abstain.inference._interval import of_samples

N = 240
RNG = np.random.default_rng(12)
SCORES = {
    name: np.round(RNG.random(N) * 20.0 + shift * np.arange(N) / 40.0) for name, shift in (("a", 1.0), ("b", 2.0))
}
TIMES = RNG.integers(1, 5, N).astype(float)
WEIGHT = np.where(np.arange(N) % 9 == 4, 0.0, RNG.integers(1, 4, N) / 2.0)
LOSSES = {"0/1": (RNG.random(N) < 0.3) * 1.0, "few": (np.arange(N) % 60 == 7) * 1.0, "graded": RNG.random(N) ** 3}


def columns(loss, weight, other=None):
    """Return the panel of counted entries, and that of their rows."""
    other = loss if other is None else other
    one = Panel(("a", "b"), (loss[None], other[None]), tuple(each[None] for each in SCORES.values()), other is loss)
    one = replace(one, weight=weight, times=TIMES)
    which = np.repeat(np.arange(N), TIMES.astype(int))
    rows = replace(one, loss=tuple(each[:, which] for each in one.loss), score=tuple(s[:, which] for s in one.score))
    return one, replace(rows, weight=None if weight is None else weight[which], times=None)


@pytest.mark.parametrize("metric", ["augrc", "e_augrc", "aurc", "auroc_f", "accuracy", "selective_risk(coverage=0.6)"])
@pytest.mark.parametrize("kind", ["0/1", "few", "graded", "models"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_comparison_of_counted_entries_is_that_of_their_rows(metric, kind, weighted):
    if kind == "graded" and metric in ("auroc_f", "accuracy"):
        return
    loss = LOSSES["0/1" if kind == "models" else kind]
    other = np.where(np.arange(N) % 11 == 3, 1.0 - loss, loss) if kind == "models" else None
    found, expected = (
        paired(as_metric(metric), each, method="influence", rng=np.random.default_rng(0))
        for each in columns(loss, WEIGHT if weighted else None, other)
    )
    for one, two in zip(found.differences, expected.differences, strict=True):
        assert one[2:11] == pytest.approx(two[2:11], rel=1e-9, nan_ok=True)
        assert (one.warning, str(one.rests_on)) == (two.warning, str(two.rests_on))
    for one, two in zip(found.estimates.intervals, expected.estimates.intervals, strict=True):
        assert one[:4] == pytest.approx(two[:4], rel=1e-9, nan_ok=True)
        assert (one.df, one.warning) == (pytest.approx(two.df, rel=1e-9), two.warning)


@pytest.mark.parametrize("metric", ["augrc", "naurc", "auroc_f", "e_augrc", "coverage_at_risk(risk=0.2)"])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_interval_of_counted_entries_is_that_of_their_rows(metric, weighted):
    weight, which = WEIGHT if weighted else None, np.repeat(np.arange(N), TIMES.astype(int))
    loss, score, chosen = LOSSES["0/1"], SCORES["a"], as_metric(metric)
    counted = abstain.TieBlocks._of_counted(loss, score, weight, TIMES, "raise")
    rows = None if weight is None else weight[which]
    plain = abstain.TieBlocks.from_samples(loss[which], score[which], rows, keep_samples=True, oracle=True)
    interval = of_samples if chosen.tolerated is None else of_coverage
    found, expected = (interval(chosen, each, 0.9) for each in (counted, plain))
    assert found[:4] == pytest.approx(expected[:4], rel=1e-9, nan_ok=True)
    assert (found.method, found.df, found.warning) == (expected.method, pytest.approx(expected.df), expected.warning)
