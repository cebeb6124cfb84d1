"""``tune``: the whole table, the best fitted score, shared fits, criteria with and without OOD data."""

import dataclasses

import numpy as np
import pytest

import abstain
from abstain import Outputs, UnmetNeed, joint, scores, tune
from abstain.scores import _features
from tests.refusal import refused
from tests.scores.toy import TRAIN, outputs_of, split

VALIDATION = split(300, 2, 2.5)
NOISE = np.abs(np.random.default_rng(0).normal(size=(80, 10)))
OOD = dataclasses.replace(outputs_of(NOISE, np.zeros(80, int)), labels=None, unlabelled=True)


@pytest.mark.parametrize("metric", ["augrc", "aurc", "auroc_f", "coverage_at_risk(risk=0.3)"])
def test_the_best_candidate_is_the_best_of_a_loop(metric):
    """Every value is that of the metric on the score, by the rows' weights; the best is that in its direction."""
    weight = np.random.default_rng(0).uniform(0.1, 2.0, 300)
    weighted = dataclasses.replace(VALIDATION, sample_weight=weight)
    result = tune("knn", weighted, fit=TRAIN, metric=metric, grid={"neighbours": [1, 5, 50, 200]})
    m = abstain.metrics.parse(metric)
    fitted = [scores.get("knn", neighbours=k).fit(TRAIN) for k in (1, 5, 50, 200)]
    expected = [m.of(VALIDATION.error, each.score(VALIDATION), weight) for each in fitted]
    np.testing.assert_allclose([each.value for each in result.candidates], expected, rtol=1e-9)
    best = np.argmin(expected) if m.direction == "lower" else np.argmax(expected)
    assert result.index == best
    assert result.direction == m.direction
    again = scores.compute(result.best.entry.spec, VALIDATION, fit=TRAIN)
    np.testing.assert_array_equal(result.best.score(VALIDATION), again)


@pytest.mark.parametrize("metric", ["auroc", "ds_f1", "ds_augrc", "joint.oscr", "fpr_at_id_recall(recall=0.9)", "f1"])
def test_any_joint_metric_is_a_criterion(metric):
    """The score is the detector's beside the confidence; a name of ``abstain.metrics``, too, is that one."""
    result = tune("scale", VALIDATION, ood=OOD, metric=metric, grid={"percentile": [0.3, 0.9]})
    name = metric.removeprefix("joint.").partition("(")[0]
    more = {"recall": 0.9} if "recall" in name else {} if name == "auroc" else {"id_loss": VALIDATION.error}
    first, second = (scores.compute("neg_log_error", outputs) for outputs in (VALIDATION, OOD))
    for candidate in result.candidates:
        inside, outside = (scores.get("scale", **candidate.options)(each) for each in (VALIDATION, OOD))
        columns = {"id_score": inside, "ood_score": outside}
        if name.startswith("ds_"):
            columns = {"id_confidence": first, "ood_confidence": second, "id_detector": inside, "ood_detector": outside}
        assert candidate.value == pytest.approx(float(getattr(joint, name)(**columns, **more)), rel=1e-12)
    assert result.direction == abstain.metrics.get(f"joint.{name}").direction
    alone = tune("scale", VALIDATION, ood=OOD, metric="aurc", grid={"percentile": [0.3, 0.9]})
    assert alone.candidates[0].value == abstain.aurc(VALIDATION.error, scores.get("scale", percentile=0.3)(VALIDATION))
    refused(UnmetNeed, "needs out-of-distribution data; give ood=", tune, "scale", VALIDATION, metric="auroc")


def test_the_bank_is_built_once(monkeypatch):
    """Candidates that differ in how they score share what was fitted."""
    calls = []
    original = _features.bank_of
    monkeypatch.setattr(_features, "bank_of", lambda *args: calls.append(1) or original(*args))
    tune("knn", VALIDATION, fit=TRAIN, grid={"neighbours": [1, 2, 3], "dtype": ["float32", "float64"]})
    assert len(calls) == 2


def test_refused_candidates_stay_in_the_table():
    """More neighbours than rows: no value, a reason, and never the best; ties are won by the first."""
    result = tune("knn", VALIDATION, fit=TRAIN, grid={"neighbours": [1000, 50, 50]})
    assert "knn needs 1 <= neighbours <= 400" in result.candidates[0].reason
    assert np.isnan(result.candidates[0].value)
    assert [row["best"] for row in result.rows()] == [False, True, False]
    assert "—  knn needs" in str(result)
    assert len(tune("gen", VALIDATION).candidates) == 42  # without a grid, all combinations of the registry's
    fixed = tune("nnguide(dtype=float64)", VALIDATION, fit=TRAIN)
    assert (fixed.best.settings["dtype"], len(fixed.candidates)) == ("float64", 4)


@pytest.mark.parametrize(
    ("score", "options", "message"),
    [
        ("knn", {}, "knn is fitted: give fit=outputs, its train split"),
        (
            "knn",
            {"fit": TRAIN, "grid": {"neighbours": [1000]}},
            "no candidate of knn has a value; the first: knn needs",
        ),
        ("msp", {}, "msp has no grid to try"),
        ("gen", {"grid": {"g": [1]}}, "gen has no option 'g'"),
        ("gen", {"metric": "augr"}, "metric 'augr' is not known; did you mean 'augrc'"),
        ("scale", {"validation": Outputs(labels=[0], logits=[[1.0, 0.0]])}, "scale needs features"),
        ("gen", {"grid": [0.5]}, "grid must be a dict of option -> values, got list"),
        ("gen", {"grid": {"gamma": 0.5}}, r"grid\['gamma'\] must be a sequence of values, got 0.5; write \[0.5\]"),
        ("gen", {"metric": "nll"}, "nll does not depend on the score, so it cannot choose one"),
        ("gen", {"fit": "train.npz"}, "fit must be Outputs, got str"),
    ],
)
def test_arguments_of_a_wrong_kind(score, options, message):
    """The argument, what was found, and what to write instead."""
    refused((ValueError, TypeError, UnmetNeed), message, tune, score, **({"validation": VALIDATION} | options))
    with pytest.raises(ValueError, match=r"this is the fitted score knn, which cannot be knn\(dtype=float64\)"):
        scores.get("knn").fit(TRAIN).using(scores.get("knn", dtype="float64"))


def test_finished_scores_are_chosen_by_the_names_of_their_columns():
    """External scores, also those that a file has under the name of their method, are candidates like any other."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    logits = rng.normal(size=(300, 3)) + np.eye(3)[labels]
    columns = {"labels": labels, "logits": logits, "odin": rng.random(300), "score_mine": logits.max(1)}
    outputs = abstain.read_outputs(columns)
    result = abstain.tune("column", outputs, grid={"column": ["odin", "mine"]})
    assert result.options == {"column": "mine"}
    assert result.value == abstain.evaluate(outputs, "mine", "augrc", level=None).value("augrc")
    with pytest.raises(abstain.UnmetNeed, match="column='gram', which is no external score"):
        abstain.tune("column", outputs, grid={"column": ["gram", "mine"]})
