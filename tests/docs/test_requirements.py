"""The generated requirements table says what is expected, and each check can fail."""

import sys

import numpy as np
import pytest

import abstain
from tests.docs.examples import ROOT

sys.path[:0] = [str(ROOT / "docs")]
import requirements  # noqa: E402

#: The requirements that each metric fails.
EXPECTED = {
    "augrc": set(),
    "aurc": {"R2", "R3"},
    "e_aurc": {"R2", "R3", "R5"},
    "e_augrc": {"R2", "R5"},
    "auroc_f": {"R1", "R2", "R5"},
    "naurc": {"R2", "R3", "R5"},
    "f1_auc": {"R2", "R3", "R5"},
    "brier_confidence": {"R2", "R3", "R4", "R5"},
    "nll_confidence": {"R2", "R3", "R4", "R5"},
    "accuracy_rejection_area": {"R2", "R3", "R5"},
    "sele": {"R2", "R3"},
    "naugrc": {"R1", "R2", "R5"},
    "prediction_rejection_ratio": {"R1", "R2", "R5"},
}


def test_table():
    """The metrics that the paper discusses, and our own, fail what they are expected to fail; all have a row."""
    table = requirements.table()
    failed = {name: {rule for rule, example in table[name].items() if example is not None} for name in EXPECTED}
    assert failed == EXPECTED
    every = map(abstain.metrics.get, abstain.metrics.names("blocks", "probabilities"))
    assert list(table) == [m.name for m in every if m.multi_threshold and m.input == "blocks"]


def test_a_counter_example_is_what_it_says():
    """The rankings and values of one printed counter-example, worked again."""
    assert requirements.table()["aurc"]["R2"] == (
        "accuracy 0.625, AUROC 0.6 → 0.667: ``00011100`` → ``10000011``: value 0.2442 → 0.3888"
    )
    for losses, auroc, aurc in (("00011100", 0.6, 0.2442), ("10000011", 2 / 3, 0.3888)):
        loss, confidence = [int(x) for x in losses], -np.arange(8)
        assert abstain.auroc_f(loss, confidence) == pytest.approx(auroc)
        assert abstain.aurc(loss, confidence) == pytest.approx(aurc, abs=5e-5)


def test_the_page_marks_and_explains():
    """Every failing cell has its counter-example below the table."""
    found = requirements.table()
    text = requirements.as_rst(found)
    failing = sum(example is not None for cells in found.values() for example in cells.values())
    assert text.count(":fails:`✗`") == failing == text.count("- :fails:`R")
