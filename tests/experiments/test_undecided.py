"""Verdicts of few seeds, and how many would decide: against simulated trainings and by hand."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("lightning")

from experiments.openood.undecided import CONTRASTS, MARGINS, table, verdict


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


def test_a_training_that_two_settings_have_is_counted_once():
    """The small network: three seeds of cutmix, whichever setting holds them."""
    lines = [line for line in table().splitlines() if line.startswith("| J23 | small | cutmix less ce: AURC")]
    assert [line.split(" | ")[3].partition(", ")[0] for line in lines] == ["3"]
