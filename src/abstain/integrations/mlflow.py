"""MLflow: log a result to a run, load the policy of a run, a metric for ``mlflow.models.evaluate``."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from abstain._result import Result
from abstain._typing import ArrayLike, Options
from abstain.evaluation import evaluate
from abstain.integrations._logged import files_of, logged, policy_in
from abstain.metrics import parse
from abstain.policy import Policy

__all__ = ["load_policy", "log_result", "metric"]

#: What MLflow allows in the name of a metric.
_NOT_ALLOWED = re.compile(r"[^\w\-. :/]+")


def _allowed(name: str) -> str:
    return re.sub("_(?=/|$)", "", _NOT_ALLOWED.sub("_", name))


def log_result(result: Result, *, policy: Policy | None = None, name: str = "abstain", **page: Any) -> None:
    """Log a result to the active run of MLflow, which is started if there is none.

    Metrics are the numbers of the result, such as ``abstain/augrc/msp``, with their intervals (``.../msp/low`` and
    ``.../msp/high``), and ``abstain/verdict/coverage``, ``risk``, ``limit``, ``threshold``. Tags are
    ``abstain.status``, ``abstain.headline``, ``abstain.rule``. Artifacts, in a folder ``abstain``, are the page, the
    result as JSON, its table as CSV and for MLflow's own view of tables, a summary in Markdown, and the policy.

    Parameters
    ----------
    result : Result
        What ``evaluate``, ``compare``, ``choose_threshold``, ``monitor``, ... return.
    policy : Policy, optional
        To be loaded from the run by :func:`load_policy`.
    name : str
        In place of ``abstain`` in all of these names: two results in one run need two names.
    **page
        What the page should know, as for :meth:`abstain.Result.report`: ``title``, ``outputs``, ...
    """
    import mlflow

    numbers, facts = logged(result, name)
    mlflow.log_metrics({_allowed(key): value for key, value in numbers.items()})
    mlflow.set_tags({key.replace("/", "."): text for key, text in facts.items()})
    mlflow.log_table(result.to_pandas(), artifact_file=f"{name}/table.json")
    with files_of(result, policy, page) as files:
        mlflow.log_artifacts(str(files), artifact_path=name)


def load_policy(run_id: str, *, name: str | None = None, model: str | None = None) -> Policy:
    """Return the policy that :func:`log_result` logged to a run.

    Parameters
    ----------
    run_id : str
        The run; ``mlflow.set_tracking_uri`` says in which store.
    name : str, optional
        As for :func:`log_result`; not needed where the run has one policy.
    model : str, optional
        As for :func:`abstain.load_policy`: refuse a policy that was made for another model.
    """
    import mlflow

    listed = mlflow.artifacts.list_artifacts
    folders = [each.path for each in listed(run_id=run_id) if each.is_dir] if name is None else [name]
    files = {each.path for folder in folders for each in listed(run_id=run_id, artifact_path=folder)}
    found = [folder for folder in folders if f"{folder}/policy.json" in files]
    if len(found) != 1:
        several = f"has several policies: give name=, one of {', '.join(found)}"
        none = "has no policy; log one: log_result(result, policy=found.policy(...))"
        raise ValueError(f"run {run_id} {several if found else none}")
    folder = mlflow.artifacts.download_artifacts(run_id=run_id, artifact_path=found[0])
    return policy_in(folder, f"run {run_id}, {found[0]}/policy.json", model)


def metric(metric: str = "aurc", *, level: float | None = 0.95) -> Any:
    """Return a metric for ``extra_metrics`` of ``mlflow.models.evaluate``: its value with its interval.

    It needs a column ``confidence`` in the data, or in what the model returns. For a column of another name give
    ``evaluator_config={"col_mapping": {"confidence": NAME}}``. A row without a confidence counts as rejected.

    Parameters
    ----------
    metric : str
        As for :func:`abstain.evaluate`, such as ``"coverage_at_risk(risk=0.05)"``.
    level : float, optional
        Of the interval, which is logged as ``aurc/low`` and ``aurc/high``; None: no interval.
    """
    from mlflow.metrics import MetricValue
    from mlflow.models import make_metric

    def measured(predictions: ArrayLike, targets: ArrayLike, metrics: object, confidence: ArrayLike) -> Any:
        if len(targets) == 1:  # MLflow first tries one row, with the whole column of what a model returned
            confidence = confidence[:1]
        labels, answers, scores = (np.asarray(column) for column in (targets, predictions, confidence))
        options: Options = {"metrics": metric, "level": level, "nan_policy": "reject"}
        found = evaluate(labels=labels, predictions=answers, confidence=scores, **options).measurements[0]
        values = {name: found.value, "low": found.low, "high": found.high}
        return MetricValue(aggregate_results={each: value for each, value in values.items() if value == value})

    name, higher = re.sub(r"\W+", "_", metric).strip("_"), parse(metric).direction == "higher"
    return make_metric(eval_fn=measured, greater_is_better=higher, name=name)
