"""Every table on the pages of the studies of trainings is made from the committed numbers."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("lightning")

from experiments.cwsa_cnn._tables import shown as shown_thresholds
from experiments.estimators_table1._tables import shown as shown_objectives
from experiments.fd_shifts._claims import claims as claims_of_scores
from experiments.fd_shifts._tables import shown as shown_scores
from experiments.openood._claims import claims
from experiments.openood._rows import STUDY as OPENOOD
from experiments.openood._tables import beside, by_seeds, labelled, read
from experiments.training._numbers import read as read_numbers
from tests.imports import ROOT

LABELLED = (labelled("test"), labelled("corruption"))
RESULTS = ROOT / "experiments/openood/results"


def page(name):
    """Return a page of the documentation."""
    return (ROOT / "docs/nn" / name).read_text(encoding="utf-8")


def models_of(setting):
    """Return the rows of a setting, in order."""
    return list(dict.fromkeys(job.model for job in OPENOOD.jobs("cpu") if job.setting.name == setting))


def test_the_ladder():
    """Fashion-MNIST: all rows, those at equal passes beside their own, and beside cross-entropy as long."""
    rows, text, models = read(RESULTS / "fashion_small.csv"), page("does-training-help.md"), models_of("fashion_small")
    for columns in (*LABELLED, beside("msp"), beside("knn"), beside("vim")):
        assert by_seeds(rows, models, columns) in text
    longer = [model for model in models if model.endswith("_equal_passes")]
    own = {model: model.removesuffix("_equal_passes") for model in longer}
    at_equal_time = [*longer[1:], "sure_plus"]
    for columns in (*LABELLED, beside("knn")):
        assert by_seeds(rows, longer, columns, own) in text
        assert by_seeds(rows, at_equal_time, columns, dict.fromkeys(at_equal_time, "ce_equal_passes")) in text
    assert claims(rows, "fashion_small") in text


def test_four_rows_on_cifar10():
    """Three seeds of four rows; at equal passes the first seed."""
    rows, text = read(RESULTS / "cifar10.csv"), page("cifar-10.md")
    models = [model for model in models_of("cifar10") if not model.endswith("_equal_passes")]
    for columns in (*LABELLED, beside("msp"), beside("knn"), beside("vim")):
        assert by_seeds(rows, models, columns) in text
    first = [row for row in rows if row["seed"] == "0"]
    longer = ["ce", "ce_equal_passes", "regmixup_equal_passes", "sure_equal_passes", "sure_plus"]
    for columns in (*LABELLED, beside("knn")):
        assert by_seeds(first, longer, columns) in text
    assert claims(rows, "cifar10") in text


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
