"""The command: fitted scores from a file, options in parentheses, the list of scores."""

import json

import numpy as np
import pytest

import abstain
from abstain import scores
from tests.scores.toy import TEST, TRAIN

pytest.importorskip("click")
pytest.importorskip("rich")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, outputs in (("train", TRAIN), ("test", TEST)):
        abstain.write_outputs(outputs, folder / f"{name}.npz")
    return folder


def test_evaluate_says_that_a_score_is_fitted(files, capsys):
    """Without --fit the message names it."""
    from abstain.cli import run

    assert run(["evaluate", str(files / "test.npz"), "--scores", "knn"]) == 2
    assert "knn is fitted: give fit data, the train split with features" in capsys.readouterr().err


def test_the_list_says_what_is_needed(capsys):
    """All scores with needs and source."""
    from abstain.cli import run

    assert run(["scores", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in listed] == scores.names()
    assert {row["name"]: row["needs"] for row in listed}["vim"] == "logits, features + fit: logits, features, head"
    assert np.all([row["source"] for row in listed])
