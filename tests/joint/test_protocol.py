"""The protocol and its tables."""

import re
from dataclasses import replace

import numpy as np
import pytest

from abstain import joint
from tests.joint.references import random_problem
from tests.refusal import refused

GROUPS = {"near": ["a", "b"], "far": ["c"]}


def run(seed, sizes=(80, 40, 60)):
    """One network with two scores on three OOD sets."""
    first = random_problem(120, max(sizes), seed)
    outside = {}
    for number, (name, size) in enumerate(zip("abc", sizes, strict=True)):
        rng = np.random.default_rng([seed, number])
        outside[name] = {"msp": rng.normal(0.3, 1, size), "knn": rng.normal(-number, 1, size)}
    return joint.ScoredRun(first.id_loss, {"msp": first.id_confidence, "knn": first.id_detector}, outside)


@pytest.fixture(scope="module")
def result():
    """Two strategies with two runs each."""
    return joint.protocol({"basic": [run(0), run(1)], "mixup": [run(2), run(3)]}, GROUPS, confidence="msp")


@pytest.mark.parametrize(
    ("layout", "options", "header"),
    [
        ("single-double", {}, [f"{name} {group} {arrow}" for name, arrow in
                               (("F1", "↑"), ("AURC", "↓"), ("DS-F1", "↑"), ("DS-AURC", "↓"))
                               for group in ("near", "far")]),
        ("strategies", {"metric": "ds_aurc", "group": "far"}, ["msp ↓", "knn ↓", "Acc. ↑"]),
        ("tasks", {}, ["AUROC near ↑", "AUROC far ↑", "FPR@95 % ID recall near ↓", "FPR@95 % ID recall far ↓",
                       "ID-only AURC ↓", "Acc. ↑"]),
        ("sets", {"metric": "auroc"}, ["a ↑", "b ↑", "c ↑"]),
    ],
)  # fmt: skip
def test_layouts(result, layout, options, header):
    """Every layout has its columns, one per group, and says the sizes and the share of OOD samples."""
    table = result.table(layout, **options)
    assert table.headings() == ["Training strategy" if layout in ("strategies", "tasks") else "Score", *header]
    text = str(table)
    for part in ("n: ID 120, a 80, b 40, c 60", "as in the data; confidence: msp", "runs: 2"):
        assert part in text
    assert len(table.rows) == 2


def test_ranks_follow_what_is_printed():
    """Values that differ in the last printed digit differ in rank, others do not."""
    outside = {"a": {name: [0.0] for name in ("x", "y", "z")}}
    result = joint.protocol(
        joint.ScoredRun([0], {name: [1.0] for name in "xyz"}, outside), {"far": ["a"]}, confidence="x"
    )
    changed = {"x": 0.1001, "y": 0.1002, "z": 0.10021}
    records = tuple(replace(r, value=changed[r.score]) if r.metric == "aurc" else r for r in result.records)
    table = replace(result, records=records).table("single-double")
    assert [(row[2].value, row[2].rank) for row in table.shown()] == [("0.1001", 1), ("0.1002", 2), ("0.1002", 2)]


def test_names_that_do_not_occur_are_refused(result):
    """Nearest names are given."""
    cases = {
        "confidence='mps' is not known; did you mean 'msp'": lambda: joint.protocol(run(0), GROUPS, confidence="mps"),
        "OOD set='d' is not known": lambda: joint.protocol(run(0), {"far": ["d"]}, confidence="msp"),
        "each only once": lambda: joint.protocol(run(0), {"near": ["a"], "far": ["a"]}, confidence="msp"),
        "'ds-f1' is not known": lambda: result.mean("ds-f1"),
        "group='fra' is not known": lambda: result.mean("f1", group="fra"),
        "layout='table1' is not known": lambda: result.table("table1"),
    }
    for message, call in cases.items():
        refused(ValueError, re.escape(message), call)


@pytest.mark.parametrize(
    ("runs", "groups", "message"),
    [
        ([], GROUPS, "runs holds no run; give at least one ScoredRun"),
        (run(0), {"far": "a"}, "groups must map names to lists of OOD sets"),
        (run(0), ["a"], "groups must map names to lists of OOD sets"),
        ([run(0), run(1, (80, 41, 60))], GROUPS, "run 2 has (ID, OOD) samples (120, 41) with OOD set 'b'"),
        ({"basic": run(0), "mixup": replace(run(1), id_loss=[0, 1])}, GROUPS, "lengths differ (id_loss: 2"),
    ],
)
def test_runs_and_groups_that_make_no_table_are_refused(runs, groups, message):
    """No run, a name in place of names, or runs of other data, whose sizes one table cannot print."""
    refused((ValueError, TypeError), re.escape(message), joint.protocol, runs, groups, confidence="msp")


def test_options_of_another_layout_are_refused(result):
    """The message lists those of this one."""
    with pytest.raises(TypeError, match=r"layout 'sets' has no option 'group'; its options: metric='ds_f1', strategy"):
        result.table("sets", group="near")
