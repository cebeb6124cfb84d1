"""MLflow against a store of its own in a folder."""

import numpy as np
import pytest

import abstain
from tests.integrations.pages import run_page, tool

mlflow = tool("mlflow")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the variables that the page leaves."""
    with pytest.MonkeyPatch.context() as patch:
        yield run_page("integrations/mlflow.md", tmp_path_factory.mktemp("mlflow"), patch)


def test_a_run_holds_values_intervals_and_the_verdict(page):
    """What the store has is what the result says, to the last bit."""
    data = mlflow.get_run(page["run"].info.run_id).data
    for each in page["result"].measurements:
        name = {"coverage_at_risk(risk=0.02)": "coverage_at_risk_risk_0.02"}.get(each.metric, each.metric)
        assert data.metrics[f"evaluation/{name}/msp"] == each.value
        assert [data.metrics[f"evaluation/{name}/msp/{end}"] for end in ("low", "high")] == [each.low, each.high]
    verdict = page["found"].verdict
    assert data.tags["threshold.status"] == verdict.status == "certified"
    assert data.metrics["threshold/verdict/coverage"] == verdict.coverage
    assert data.tags["threshold.headline"] == verdict.headline


def test_artifacts_are_there_and_the_policy_decides(page):
    """Page, tables and policy are in the store; the policy that comes back is the one that was logged."""
    run = page["run"].info.run_id
    listed = {each.path for folder in ("evaluation", "threshold") for each in mlflow.artifacts.list_artifacts(
        run_id=run, artifact_path=folder)}  # fmt: skip
    names = ("report.html", "result.json", "table.csv", "table.json", "summary.md")
    assert {f"{folder}/{name}" for folder in ("evaluation", "threshold") for name in names} <= listed
    assert page["policy"] == page["found"].policy(**page["how"].arguments(), model="digits-1")
    assert len(mlflow.load_table("evaluation/table.json", run_ids=[run])) == 3
    with pytest.raises(ValueError, match=rf"run {run}, threshold/policy.json: .*digits-1"):
        page["load_policy"](run, name="threshold", model="another")
    with pytest.raises(ValueError, match="has no policy"):
        page["load_policy"](run, name="evaluation")


def test_a_threshold_that_is_not_certified(page):
    """There is no rule or coverage of another limit, and the policy rejects everything; two policies need a name."""
    outputs = page["outputs"]
    loss, sure = outputs.loss_per_sample(), page["how"].confidence(outputs)
    found = abstain.choose_threshold(loss, sure, risk=0.0005, delta=0.05)
    later = abstain.monitor(page["policy"], loss[::3], sure[::3])
    with mlflow.start_run() as run:
        page["log_result"](found, policy=found.policy(**page["how"].arguments()), name="one")
        page["log_result"](page["found"], policy=page["policy"], name="two")
        page["log_result"](later)
    data = mlflow.get_run(run.info.run_id).data
    assert data.tags["one.status"] == "not certified"
    assert "one.rule" not in data.tags
    assert data.metrics["one/verdict/limit"] == 0.0005
    assert {"one/verdict/coverage", "one/verdict/threshold"} & data.metrics.keys() == set()
    assert (data.tags["abstain.status"], data.metrics["abstain/evidence"]) == ("no violation found", later.evidence)
    with pytest.raises(ValueError, match="several policies: give name=, one of one, two"):
        page["load_policy"](run.info.run_id)
    loaded = page["load_policy"](run.info.run_id, name="one")
    assert not loaded.decide(page["model"].predict_proba(page["X_test"])).accepted.any()


def test_runs_are_found_by_their_verdict(page):
    """The search that the page shows finds the run."""
    assert list(page["best"]["run_id"]) == [page["run"].info.run_id]


def test_a_metric_of_mlflow_is_that_of_abstain(page):
    """``mlflow.models.evaluate`` gives the value and the interval of ``evaluate``."""
    rows, measured = page["rows"], page["evaluated"].metrics
    columns = {"labels": rows["label"], "predictions": rows["answer"], "confidence": rows["confidence"]}
    wanted = abstain.evaluate(**{k: np.asarray(v) for k, v in columns.items()}, metrics="augrc").measurements[0]
    assert [measured[f"augrc{end}"] for end in ("", "/low", "/high")] == [wanted.value, wanted.low, wanted.high]
    assert measured["coverage_at_risk_risk_0_02"] == page["result"].value("coverage_at_risk(risk=0.02)")


def test_a_column_of_another_name_and_missing_confidences(page):
    """``col_mapping`` names the column; a row without a confidence is rejected, as in ``evaluate``."""
    rows = page["rows"].rename(columns={"confidence": "msp"})
    rows.loc[::10, "msp"] = np.nan
    with mlflow.start_run():
        found = mlflow.models.evaluate(
            data=rows, targets="label", predictions="answer", model_type="classifier",
            extra_metrics=[page["metric"]("aurc", level=None)],
            evaluator_config={"col_mapping": {"confidence": "msp"}},
        )  # fmt: skip
    loss = (rows["label"] != rows["answer"]).to_numpy(dtype=float)
    assert found.metrics["aurc"] == pytest.approx(abstain.aurc(loss, rows["msp"].to_numpy(), nan_policy="reject"))
    assert "aurc/low" not in found.metrics
