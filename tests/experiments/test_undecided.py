"""Verdicts of few seeds, and how many would decide: against simulated trainings and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("lightning")

from experiments.openood.undecided import (
    CONTRASTS,
    GAINS,
    MARGINS,
    interval,
    seeds_to_decide,
    table,
    verdict,
)


@pytest.mark.parametrize(
    ("middle", "half", "way", "said"),
    [
        (-2.0, 1.0, -1, "as said"), (-2.0, 1.0, 1, "against"), (2.0, 1.0, 1, "as said"),
        (0.2, 0.3, 1, "equal within the margin"), (0.2, 0.9, 1, "undecided"), (-0.9, 0.95, -1, "undecided"),
        (-2.0, 1.0, 0, "differs"), (0.2, 0.3, 0, "equal within the margin"),
    ],
)  # fmt: skip
def test_verdicts(middle, half, way, said):
    """An interval beyond zero tells the side; one within the margin tells that there is none; another tells nothing."""
    assert verdict(middle, half, way, 1.0) == said


def test_every_contrast_has_a_margin():
    """No quantity without a stated margin."""
    assert {each.quantity for each in CONTRASTS} <= set(MARGINS)
    assert {each.claim for each in CONTRASTS} == {
        "J23", "J26", "J27", "J28", "J29", "J30", "J34", "J35", "J37", "J39", "J40",
    }  # fmt: skip


def test_a_single_seed_counts_with_the_scatter_of_its_base():
    """The interval of a difference covers zero in 95 % of draws, where both rows scatter alike."""
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4000, 4))
    hits = [
        abs(own - base.mean()) <= interval([own], list(base))[0] for own, *base in draws for base in [np.array(base)]
    ]
    assert np.mean(hits) == pytest.approx(0.95, abs=0.011)
    assert interval([0.3], [0.0, 2.0])[1] == pytest.approx(math.sqrt(2.0))


def test_gains_within_a_training():
    """A gain is that of one training: of DS-F1 over the better F1, over F1 of msp far less near, of msp over knn."""
    values = {"near ds_f1 knn": 0.8, "near f1 knn": 0.7, "near f1 msp": 0.75, "far ds_f1 knn": 0.9, "far f1 knn": 0.9,
              "far f1 msp": 0.7}  # fmt: skip
    found = {(gain.claim, group): gain.of(values, group) for gain in GAINS for group in gain.groups}
    expected = {
        ("J17", "near"): 0.05,
        ("J17", "far"): 0.0,
        ("J19", "far"): 0.15,
        ("J21", "near"): 0.05,
        ("J21", "far"): -0.2,
    }
    assert found == pytest.approx(expected)
    assert seeds_to_decide(0.8, 1.0, rows=1) < seeds_to_decide(0.8, 1.0)


def test_a_training_that_two_settings_have_is_counted_once():
    """The small network: three seeds of cutmix, whichever setting holds them."""
    lines = [line for line in table().splitlines() if line.startswith("| J23 | small | cutmix less ce: AURC")]
    assert [line.split(" | ")[3].partition(", ")[0] for line in lines] == ["3"]
