"""One score on ID and OOD samples: against scikit-learn, against counting, in limits; the protocol and its tables."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from sklearn import metrics as sklearn_metrics

import abstain
from abstain import joint
from tests.joint.references import joint_problems, random_problem
from tests.refusal import refused
from tests.strategies import many

SCORES = many(200)


def stacked(columns):
    """Return is-ID and the confidence of all samples."""
    is_id = np.append(np.ones(columns.n_id), np.zeros(columns.n_ood))
    return is_id, np.append(columns.id_confidence, columns.ood_confidence)


def test_detection_agrees_with_scikit_learn():
    """AUROC, both AUPR by lines and by steps, on tied scores."""
    columns = random_problem(300, 200, decimals=1)
    is_id, score = stacked(columns)
    pair = columns.alone
    assert joint.auroc(**pair) == pytest.approx(sklearn_metrics.roc_auc_score(is_id, score), abs=1e-12)
    for found, positive, ranking in ((joint.aupr_in, is_id, score), (joint.aupr_out, 1 - is_id, -score)):
        precision, recall, _ = sklearn_metrics.precision_recall_curve(positive, ranking)
        assert found(**pair) == pytest.approx(sklearn_metrics.auc(recall, precision), abs=1e-12)
        step = sklearn_metrics.average_precision_score(positive, ranking)
        assert found(**pair, interpolation="step") == pytest.approx(step, abs=1e-12)


@SCORES
@given(joint_problems(min_ood=1))
def test_fpr_ccr_and_oscr_count(columns):
    """Trying every threshold, and every pair of an ID and an OOD sample."""
    loss, inside, _, outside, _ = columns
    pair = columns.alone
    thresholds = sorted({*inside.tolist(), *outside.tolist(), np.inf})
    rates = [(np.mean(inside >= t), np.mean(outside >= t), np.mean((inside >= t) & (loss == 0))) for t in thresholds]
    assert joint.fpr_at_id_recall(**pair) == min(fpr for recall, fpr, _ in rates if recall >= 0.95)
    rejected = [(np.mean(outside < t), np.mean(inside < t)) for t in thresholds]
    rejected.append((1.0, np.mean(inside <= outside.max())))
    assert joint.fpr_at_ood_recall(**pair) == pytest.approx(min(lost for caught, lost in rejected if caught >= 0.95))
    for fpr in (0.0, 0.3, 1.0):
        assert joint.ccr_at_fpr(loss, **pair, fpr=fpr) == max([0.0, *(ccr for _, f, ccr in rates if f <= fpr)])
    pairs = [(s > o) + 0.5 * (s == o) for s, wrong in zip(inside, loss, strict=True) if not wrong for o in outside]
    assert joint.oscr(loss, **pair) == pytest.approx(sum(pairs) / (columns.n_id * columns.n_ood))


@SCORES
@given(joint_problems())
def test_areas_over_all_samples_are_those_of_the_library(columns):
    """Coverage of all samples: OOD samples are failures like any others."""
    loss = np.append(columns.id_loss, np.ones(columns.n_ood))
    _, score = stacked(columns)
    arguments = {"id_loss": columns.id_loss, **columns.alone}
    found = joint.aurc(**arguments, coverage_of="all", operator="exact")
    assert found == pytest.approx(abstain.aurc(loss, score), abs=1e-13)
    assert joint.augrc(**arguments, coverage_of="all") == pytest.approx(abstain.augrc(loss, score), abs=1e-13)
    assert joint.scod_risk(**arguments) == pytest.approx(found / 2, abs=1e-13)
    assert joint.aurc(**arguments, coverage_of="all") <= found + 1e-15


def test_scod_risk_by_hand():
    """Four ID samples, one wrong, two OOD samples; half of the ID samples accepted."""
    arguments = {"id_loss": [0, 0, 1, 0], "id_score": [0.9, 0.8, 0.85, 0.5], "ood_score": [0.86, 0.2]}
    assert joint.scod_risk(**arguments, ood_cost=1.0, coverage=0.5) == pytest.approx(1 / 3)  # .9, .86, .85
    assert joint.scod_risk(**arguments, ood_cost=0.0, coverage=0.5) == pytest.approx(1 / 3)
    assert joint.scod_risk(**arguments, ood_cost=0.25, coverage=1.0) == pytest.approx((0.75 + 0.25) / 5)
    refused(ValueError, "accepts nothing, so that there is no risk", joint.scod_risk, **arguments, coverage=0.0)


def test_detection_needs_ood_samples():
    """An empty OOD set is an error that says so."""
    for function in (joint.auroc, joint.aupr_in, joint.fpr_at_id_recall):
        with pytest.raises(ValueError, match="ood_score is empty; detection needs at least one OOD sample"):
            function(id_score=[0.1], ood_score=[])


@pytest.mark.parametrize("kind", ["tensor", "tensor with a gradient", "series"])
def test_one_score_in_any_container(kind):
    """Tensors and columns of data frames give what arrays give."""
    if kind == "series":
        convert = pytest.importorskip("polars").Series
    else:
        convert = partial(pytest.importorskip("torch").tensor, requires_grad=kind != "tensor")
    columns = random_problem(20, 20)
    loss, three = columns.id_loss, columns.alone
    given = {name: convert(column) for name, column in three.items()}
    cases = [joint.f1, joint.aurc, joint.augrc, joint.scod_risk, joint.oscr, partial(joint.ccr_at_fpr, fpr=0.2)]
    for function in cases:
        assert float(function(convert(loss), **given)) == float(function(loss, **three))
    for function in (joint.auroc, joint.aupr_in, joint.aupr_out, joint.fpr_at_id_recall, joint.fpr_at_ood_recall):
        assert function(**given) == function(**three)
    assert joint.aurc_optimum(convert(loss)) == joint.aurc_optimum(loss)
    assert joint.aurc(loss, **{**given, "ood_score": convert(np.zeros(0))}) == joint.aurc(
        loss, **{**three, "ood_score": []}
    )


def test_bad_columns_of_one_score_have_its_names():
    """The message names the argument of this function, not that of a function of two scores."""
    with pytest.raises(ValueError, match=r"lengths differ \(id_loss: 2, id_score: 1\)"):
        joint.f1([0, 1], id_score=[0.5], ood_score=[0.1])
    for function in (partial(joint.aurc, [0, 1]), partial(joint.oscr, [0, 1]), joint.auroc):
        with pytest.raises(ValueError, match=r"id_score holds NaN: id_score\[1\] = nan"):
            function(id_score=[0.5, np.nan], ood_score=[0.1])
        with pytest.raises(ValueError, match=r"ood_score holds NaN: ood_score\[0\] = nan"):
            function(id_score=[0.5, 0.2], ood_score=[np.nan])


@pytest.mark.parametrize("name", ["f1", "aurc", "augrc", "scod_risk", "auroc", "oscr", "aupr_in", "fpr_at_id_recall"])
def test_the_columns_of_two_scores_are_not_those_of_one(name):
    """What the functions of two scores call the detector's is no argument of those of one, and none goes unnamed."""
    columns = random_problem(40, 40)
    function = partial(
        getattr(joint, name), *([] if name in ("auroc", "aupr_in", "fpr_at_id_recall") else [columns[0]])
    )
    assert float(function(**columns.alone)) >= 0.0
    with pytest.raises(TypeError, match="unexpected keyword argument 'ood_detector'"):
        function(id_score=columns.id_confidence, ood_detector=columns.ood_detector)
    refused(TypeError, "positional argument", function, columns.id_confidence, columns.ood_detector)


@pytest.mark.parametrize(
    "name", ["ds_f1", "ds_aurc", "ds_augrc", "evaluate", "confidence_intervals", "null_gain", "transfer"]
)
def test_the_scores_of_two_are_named(name):
    """Five columns in a row can be given in a wrong order without a word; four of them need their names."""
    columns = random_problem(40, 40)
    refused(TypeError, "positional argument", lambda: getattr(joint, name)(*columns))
    with pytest.raises(TypeError, match="unexpected keyword argument 'ood_score'"):
        getattr(joint, name)(**columns.named, ood_score=columns.ood_detector)


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
