"""Weights & Biases: log a result to a run."""

from __future__ import annotations

from typing import Any

from abstain._result import Result
from abstain.integrations._logged import files_of, logged
from abstain.policy import Policy

__all__ = ["log_result"]


def log_result(
    run: Any,
    result: Result,
    *,
    policy: Policy | None = None,
    name: str = "abstain",
    step: int | None = None,
    **page: Any,
) -> None:
    """Log a result to a run of Weights & Biases.

    Numbers are logged under the names that :func:`abstain.integrations.mlflow.log_result` has, with the table of the
    result as ``abstain/table``. The verdict is in the summary of the run (``abstain/headline``, ...). The page, the
    result as JSON, its table as CSV, a summary in Markdown and the policy are an artifact ``RUN-abstain`` of type
    ``evaluation``.

    Parameters
    ----------
    run : wandb.Run
    result : Result
    policy : Policy, optional
    name : str
        In place of ``abstain`` in all of these names.
    step : int, optional
        Of the training, as for ``run.log``.
    **page
        What the page should know, as for :meth:`abstain.Result.report`.
    """
    import wandb

    numbers, facts = logged(result, name)
    run.log({**numbers, f"{name}/table": wandb.Table(dataframe=result.to_pandas())}, step=step)
    run.summary.update(facts)
    artifact = wandb.Artifact(f"{run.id}-{name}", type="evaluation", metadata=facts)
    with files_of(result, policy, page) as files:
        artifact.add_dir(str(files))
        run.log_artifact(artifact)
