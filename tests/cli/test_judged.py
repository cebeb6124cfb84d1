"""Scores of repeated passes through the commands: each is judged by its own predictions."""

from collections.abc import Callable
from pathlib import Path

import pytest

import abstain
from tests.cli.conftest import Done
from tests.evaluation.test_judged import OUTPUTS


def test_compare_takes_a_loss_for_each(abstain_: Callable[..., Done], tmp_path: Path) -> None:
    """Two scores of one file, two losses: their values are those of an evaluation."""
    abstain.write_outputs(OUTPUTS, tmp_path / "dropout.npz")
    done = abstain_("compare", "dropout.npz", "--scores", "msp,pass_msp", "--metric", "augrc", "--json", "-")
    wanted = abstain.evaluate(OUTPUTS, ["msp", "pass_msp"], "augrc")
    for score in ("msp", "pass_msp"):
        value = wanted.value("augrc", score=score)
        assert next(row for row in done.json["table"] if row["name"] == score)["estimate"] == pytest.approx(value)


def test_joint_does_not_mix_predictions(abstain_: Callable[..., Done], tmp_path: Path) -> None:
    """Scores of other predictions are left out, and refused where they were asked for."""
    abstain.write_outputs(OUTPUTS, tmp_path / "a.npz")
    common = ("joint", "a.npz", "a.npz", "--permutations", 0)
    done = abstain_(*common)
    assert done.code == 0, done.err
    assert "left out: a.npz: msp and pass_msp are about different predictions" in done.err
    refused = abstain_(*common, "--scores", "msp,pass_msp")
    assert refused.code == 2
    assert "name scores of one kind" in refused.err
