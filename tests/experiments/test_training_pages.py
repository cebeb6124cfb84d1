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


def page(name):
    """Return a page of the documentation."""
    return (ROOT / "docs/nn" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("setting", "name"),
    [("fashion_small", "does-training-help.md"), ("cifar10", "cifar-10.md"), ("fashion_mnist", "wider-network.md")],
)
def test_the_ladder(setting, name):
    """Rows beside cross-entropy, those at equal passes, claims: each table below its heading, in order, and whole."""
    text, after = page(name), 0
    for part in shown(setting):
        after = text.index(f"\n\n{part}\n\n", after)


def test_the_networks_of_the_cwsa_paper():
    """Thresholds of both networks."""
    assert shown_thresholds(read_numbers(ROOT / "experiments/cwsa_cnn/results/cpu.csv")) in page(
        "does-training-help.md"
    )


def test_fine_tuning():
    """Objectives in each setting."""
    numbers = read_numbers(ROOT / "experiments/estimators_table1/results/cpu.csv")
    assert shown_objectives(numbers) in page("fine-tuning.md")


def test_thirteen_scores():
    """Scores by shift, and the claims of the AUGRC paper."""
    numbers = read_numbers(ROOT / "experiments/fd_shifts/results/fashion_mnist.csv")
    assert shown_scores(numbers) in page("thirteen-scores.md")
    assert claims_of_scores(numbers, "fashion_mnist") in page("thirteen-scores.md")


def test_what_is_undecided():
    """Claims, seeds, intervals and verdicts, all of them."""
    assert f"\n\n{undecided()}\n" in page("undecided-claims.md")


@pytest.mark.parametrize("setting", SCORED)
def test_seventeen_scores(setting):
    """Tables 1, 5, 2 and 3 in small, what is counted, and the claims, in order."""
    text, after = page("seventeen-scores.md"), 0
    for part in shown_seventeen(setting):
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


def test_every_contrast_has_a_margin():
    """No quantity without a stated margin."""
    assert {each.quantity for each in CONTRASTS} <= set(MARGINS)
    claims = "J23 J26 J27 J28 J29 J30 J34 J35 J37 J39 J40"
    assert {each.claim for each in CONTRASTS} == set(claims.split())


def test_a_training_that_two_settings_have_is_counted_once():
    """The small network: three seeds of cutmix, whichever setting holds them."""
    lines = [line for line in undecided().splitlines() if line.startswith("| J23 | small | cutmix less ce: AURC")]
    assert [line.split(" | ")[3].partition(", ")[0] for line in lines] == ["3"]
