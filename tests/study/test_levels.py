"""Corruptions level by level."""

import math
from itertools import product

import numpy as np
import pytest

import abstain
from abstain import study


def filled(folder, levels, model="ce", runs=(0,)):
    """A study with a test set and corrupted sets, each with losses of its own."""
    for run, (name, level) in product(runs, (("test", None), *((f"fog-{level}", level) for level in levels))):
        rng = np.random.default_rng([run, level or 0])
        logits = rng.normal(size=(120, 3))
        labels = np.where(rng.random(120) < 0.1 * (level or 0), rng.integers(3, size=120), logits.argmax(axis=1))
        more = {} if level is None else {"role": "shift", "shift": {"kind": "corruption", "level": level}}
        study.add_outputs(folder, abstain.Outputs(labels=labels, logits=logits), model=model, run=f"seed{run}",
                          set=name, **more)  # fmt: skip


def test_mean_of_the_metric_at_each_level(tmp_path):
    """Levels in order of their number, runs averaged first; the mean is of the levels, and is the column 'cor'."""
    filled(tmp_path, (10, 2, 1), runs=(0, 1))
    results = study.evaluate(tmp_path, ["msp"], ["augrc", "accuracy"])
    grid = study.levels(results, "augrc")
    assert [head.title for head in grid.heads] == ["iid", "level 1", "level 2", "level 10", "mean"]
    row = grid.values["ce msp"]
    assert row[-1] == pytest.approx(np.mean(row[1:4]))
    cor = results.grid("augrc")
    assert row[-1] == pytest.approx(cor.values["msp"][[head.title for head in cor.heads].index("cor")])
    by_hand = [
        abstain.augrc(outputs.error, abstain.scores.compute("msp", outputs))
        for outputs in (study.read_study(tmp_path).outputs("ce", f"seed{run}", "fog-2") for run in (0, 1))
    ]
    assert row[2] == pytest.approx(np.mean(by_hand))
    assert study.levels(results, "accuracy").heads[0].direction == "higher"


def test_a_missing_level_leaves_no_mean(tmp_path):
    """One model lacks a level: its mean is not that of the others."""
    filled(tmp_path, (1, 2))
    filled(tmp_path, (1,), model="other")
    grid = study.levels(study.evaluate(tmp_path, ["msp"], ["augrc"]))
    assert math.isnan(grid.values["other msp"][-1])
    assert not math.isnan(grid.values["ce msp"][-1])


def test_without_corruption_the_remedy_is_named(tmp_path):
    """A study of a test set only."""
    filled(tmp_path, ())
    with pytest.raises(ValueError, match="abstain train --corruptions all"):
        study.levels(study.evaluate(tmp_path, ["msp"], ["augrc"]))
