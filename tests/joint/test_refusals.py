"""What the joint metrics refuse: the argument, the value and the remedy are named."""

import re
from dataclasses import replace

import numpy as np
import pytest

from abstain import joint
from tests.joint.references import random_problem
from tests.refusal import refused

NAN, GRID = np.nan, {"method": "grid"}
TWO = {
    "id_loss": [0, 1],
    "id_confidence": [1, 2],
    "id_detector": [1, 2],
    "ood_confidence": [1, 2],
    "ood_detector": [2, 3],
}
NONE = {"ood_confidence": [], "ood_detector": []}
ONE = {"id_score": [0.5, 0.2], "ood_score": [0.1]}
GROUPS = {"near": ["a", "b"], "far": ["c"]}
COLUMNS = random_problem(10, 10)


def run(seed, sizes=(8, 4, 6)):
    """One network with two scores on three OOD sets."""
    first, rng = random_problem(12, max(sizes), seed), np.random.default_rng(seed)
    outside = {
        name: {"msp": rng.normal(size=n), "knn": rng.normal(size=n)} for name, n in zip("abc", sizes, strict=True)
    }
    return joint.ScoredRun(first.id_loss, {"msp": first.id_confidence, "knn": first.id_detector}, outside)


RUN = run(0)
RESULT = joint.protocol(RUN, GROUPS, confidence="msp")


def two(**change):
    return joint.ds_f1(**{**TWO, **change})


def area(**options):
    return joint.ds_aurc(**COLUMNS.named, **options)


def at(thresholds):
    return joint.f1_at(thresholds=thresholds, **COLUMNS.named)


def guard(name, **options):
    return getattr(joint, name)(**COLUMNS.named, **options)


def one(name, *loss, **change):
    return getattr(joint, name)(*loss, **{**ONE, **change})


def made(runs=RUN, groups=GROUPS, confidence="msp"):
    return joint.protocol(runs, groups, confidence=confidence)


@pytest.mark.parametrize(
    ("message", "call", "values", "options"),
    [
        ("id_loss is empty", two, (), {"id_loss": []}),
        ("id_loss must be 0 (right) or 1 (wrong), but 0.5 occurs; use losses.zero_one", two, (), {"id_loss": [0.5, 0]}),
        ("id_loss must be 0 (right) or 1 (wrong), but nan occurs", two, (), {"id_loss": [0, NAN]}),
        ("id_loss must be 0 (right) or 1 (wrong), but -1.0 occurs", two, (), {"id_loss": [0, -1]}),
        ("id_confidence holds NaN: id_confidence[1] = nan", two, (), {"id_confidence": [1, NAN]}),
        ("lengths differ (id_loss: 2, id_confidence: 2, id_detector: 1)", two, (), {"id_detector": [1]}),
        ("lengths differ (ood_confidence: 2, ood_detector: 1)", two, (), {"ood_detector": [1]}),
        ("ood_confidence is missing", two, (), {"ood_confidence": None}),
        ("prevalence must lie in [0, 1)", two, (), {"prevalence": 1.0}),
        ("needs OOD samples, but there are none", two, (), {"prevalence": 0.5, **NONE}),
        ("T is missing; a grid has no natural size", two, (), GRID),
        ("method='best' is not known", two, (), {"method": "best"}),
        ('T=100 is an option of method="grid"', two, (), {"T": 100}),
        ("T must be a whole number >= 1", two, (), GRID | {"T": 0}),
        ('K=3 is an option of method="grid"', area, (), {"K": 3}),
        ('T=3 is an option of method="grid"', area, (), {"T": 3}),
        ("K is missing", area, (), GRID | {"T": 10}),
        ("operator='exactly' is not known", area, (), {"operator": "exactly"}),
        ("operator='exact' is an option of method=", area, (), GRID | {"T": 10, "K": 5, "operator": "exact"}),
        ("thresholds must be a pair (confidence, detector), got 0.5", at, (0.5,), {}),
        ("thresholds must be a pair (confidence, detector), got (1.0, 2.0, 3.0)", at, ((1.0, 2.0, 3.0),), {}),
        ("thresholds must be a number on the scale of each score, got 'a'", at, (("a", 1.0),), {}),
        ("thresholds=(nan, 1.0) hold NaN; -inf rejects nothing", at, ((NAN, 1.0),), {}),
        ("metric='f1' is not known", guard, ("null_gain",), {"metric": "f1"}),
        (
            "n_permutations must be a whole number >= 1, got 0; 20 is usual",
            guard,
            ("null_gain",),
            {"n_permutations": 0},
        ),
        ("leaves a part empty", guard, ("transfer",), {"share": 0.999}),
        ("n_splits must be a whole number >= 1", guard, ("transfer",), {"n_splits": 0}),
        ("n_splits must be a whole number >= 2", guard, ("confidence_intervals",), {"n_splits": 1}),
        ("level", guard, ("confidence_intervals",), {"level": 95}),
        ("n_permutations must be a whole number >= 1, got 0", guard, ("evaluate",), {"n_permutations": 0}),
        ("rng=-1 is no seed; give a whole number", guard, ("evaluate",), {"rng": -1}),
        ("unexpected keyword argument 'ood_score'", guard, ("ds_f1",), {"ood_score": [1]}),
        ("unexpected keyword argument 'ood_detector'", one, ("auroc",), {"ood_detector": [1]}),
        ("positional argument", joint.ds_aurc, COLUMNS, {}),
        ("positional argument", joint.evaluate, COLUMNS, {}),
        ("positional argument", joint.auroc, ([0.1], [0.2]), {}),
        ("positional argument", joint.f1, ([0], [0.1], [0.2]), {}),
        ("ood_score is empty; detection needs at least one OOD sample", one, ("auroc",), {"ood_score": []}),
        ("ood_score is empty; detection needs at least one OOD sample", one, ("aupr_in",), {"ood_score": []}),
        ("ood_score is empty; detection needs at least", one, ("fpr_at_id_recall",), {"ood_score": []}),
        ("lengths differ (id_loss: 2, id_score: 1)", one, ("f1", [0, 1]), {"id_score": [0.5]}),
        ("id_score holds NaN: id_score[1] = nan", one, ("aurc", [0, 1]), {"id_score": [0.5, NAN]}),
        ("id_score holds NaN: id_score[1] = nan", one, ("auroc",), {"id_score": [0.5, NAN]}),
        ("ood_score holds NaN: ood_score[0] = nan", one, ("oscr", [0, 1]), {"ood_score": [NAN]}),
        ("accepts nothing, so that there is no risk", one, ("scod_risk", [0, 1]), {"coverage": 0.0}),
        ("confidence='mps' is not known; did you mean 'msp'", made, (), {"confidence": "mps"}),
        ("OOD set='d' is not known", made, (RUN, {"far": ["d"]}), {}),
        ("each only once", made, (RUN, {"near": ["a"], "far": ["a"]}), {}),
        ("groups must map names to lists of OOD sets", made, (RUN, {"far": "a"}), {}),
        ("groups must map names to lists of OOD sets", made, (RUN, ["a"]), {}),
        ("runs holds no run; give at least one ScoredRun", made, ([],), {}),
        ("run 2 has (ID, OOD) samples (12, 5) with OOD set 'b'", made, ([RUN, run(1, (8, 5, 6))],), {}),
        ("lengths differ (id_loss: 2", made, ({"basic": RUN, "mixup": replace(RUN, id_loss=[0, 1])},), {}),
        ("'ds-f1' is not known", RESULT.mean, ("ds-f1",), {}),
        ("group='fra' is not known", RESULT.mean, ("f1",), {"group": "fra"}),
        ("layout='table1' is not known", RESULT.table, ("table1",), {}),
        ("layout 'sets' has no option 'group'; its options: metric=", RESULT.table, ("sets",), {"group": "near"}),
    ],
)
def test_bad_input_is_named(message, call, values, options):
    refused((ValueError, TypeError), re.escape(message), call, *values, **options)
