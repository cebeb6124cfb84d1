"""Every table on the pages of the studies of trainings is made from the committed numbers."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("lightning")

from experiments.cwsa_cnn._tables import shown as shown_thresholds
from experiments.estimators_table1._tables import shown as shown_objectives
from experiments.fd_shifts._claims import claims as claims_of_scores
from experiments.fd_shifts._tables import shown as shown_scores
from experiments.openood.pages import SCORED, shown
from experiments.openood.pages import shown_scores as shown_seventeen
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
