"""Every table on the pages of the studies of trainings is made from the committed numbers; verdicts of few seeds."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("lightning")

from experiments.cwsa_cnn._tables import shown as shown_thresholds
from experiments.estimators_table1._tables import shown as shown_objectives
from experiments.fd_shifts._claims import claims as claims_of_scores
from experiments.fd_shifts._tables import shown as shown_scores
from experiments.openood.pages import SCORED, shown
from experiments.openood.pages import shown_scores as shown_seventeen
from experiments.openood.undecided import CONTRASTS, MARGINS, verdict
from experiments.openood.undecided import table as undecided
from experiments.training._numbers import read as read_numbers
from tests.imports import ROOT


def results(name):
    """Return committed numbers."""
    return read_numbers(ROOT / "experiments" / name)


FASHION = results("fd_shifts/results/fashion_mnist.csv")
LADDER = {"fashion_small": "does-training-help", "cifar10": "cifar-10", "fashion_mnist": "wider-network"}
PARTS = [
    *((f"{name}.md", shown(setting)) for setting, name in LADDER.items()),
    *(("seventeen-scores.md", shown_seventeen(setting)) for setting in SCORED),
    ("does-training-help.md", [shown_thresholds(results("cwsa_cnn/results/cpu.csv"))]),
    ("fine-tuning.md", [shown_objectives(results("estimators_table1/results/cpu.csv"))]),
    ("thirteen-scores.md", [shown_scores(FASHION)]),
    ("thirteen-scores.md", [claims_of_scores(FASHION, "fashion_mnist")]),
    ("undecided-claims.md", [undecided()]),
]


@pytest.mark.parametrize(("name", "parts"), PARTS)
def test_tables_of_a_page_are_those_of_the_numbers(name, parts):
    """Each below its heading, in order, and whole."""
    text, after = (ROOT / "docs/nn" / name).read_text(encoding="utf-8"), 0
    for part in parts:
        after = text.index(f"\n\n{part}\n", after)


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


def test_every_contrast_has_a_margin_and_counts_a_training_once():
    """No quantity without a stated margin; three seeds of cutmix, whichever setting holds them."""
    assert {each.quantity for each in CONTRASTS} <= set(MARGINS)
    assert {each.claim for each in CONTRASTS} == {f"J{k}" for k in (23, 26, 27, 28, 29, 30, 34, 35, 37, 39, 40)}
    lines = [line for line in undecided().splitlines() if line.startswith("| J23 | small | cutmix less ce: AURC")]
    assert [line.split(" | ")[3].partition(", ")[0] for line in lines] == ["3"]
