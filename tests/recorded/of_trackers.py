"""What tools that track experiments are given, and what they give back: stand-ins of MLflow and Weights & Biases."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np

import abstain
from abstain.integrations import mlflow, wandb
from tests.recorded import tried
from tests.recorded.populations import rows
from tests.recorded.sources import folder


class _Store:
    """Keeps what is logged, as MLflow does: files in folders of a run, and everything else as it comes."""

    def __init__(self):
        self.kept = []
        self.artifacts = self
        self.MetricValue, self.make_metric = SimpleNamespace, SimpleNamespace

    def log_metrics(self, found):
        self.kept.append(["metrics", found])

    def set_tags(self, found):
        self.kept.append(["tags", found])

    def log_table(self, frame, artifact_file):
        self.kept.append(["table", list(frame.columns), len(frame), artifact_file])

    def log_artifacts(self, files, artifact_path):
        shutil.copytree(files, Path("store") / artifact_path, dirs_exist_ok=True)
        names = sorted((each.name, each.stat().st_size > 9) for each in Path(files).iterdir())
        self.kept.append(["files", artifact_path, names])

    def list_artifacts(self, run_id, artifact_path=""):
        found = sorted((Path("store") / artifact_path).iterdir())
        return [SimpleNamespace(path=each.relative_to("store").as_posix(), is_dir=each.is_dir()) for each in found]

    def download_artifacts(self, run_id, artifact_path):
        return str(Path("store") / artifact_path)


def _results():
    p = rows(31, 300)
    given = {"loss": p["loss"], "confidence": p["confidence"]}
    found = {risk: abstain.choose_threshold(**given, risk=risk, delta=0.1) for risk in (0.3, 1e-6)}
    evaluated = abstain.evaluate(**given, metrics=["augrc", "coverage_at_risk(risk=0.1)", "f1_auc"])
    return evaluated, found[0.3], found[1e-6], p


def logged_to_mlflow():
    """Return what is logged, and the policies that runs have: one, two, of another model, or none."""
    evaluated, found, nothing, p = _results()
    store = _Store()
    modules = {"mlflow": store, "mlflow.metrics": store, "mlflow.models": store}
    with folder(), patch.dict(sys.modules, modules):
        Path("store").mkdir()
        seen = [tried(mlflow.load_policy, "r0")]
        mlflow.log_result(evaluated, title="page")
        seen += [tried(mlflow.load_policy, "r1")]
        mlflow.log_result(found, policy=found.policy(score="s", model="m1"), name="first")
        seen += [tried(mlflow.load_policy, "r2", **each) for each in ({}, {"name": "abstain"}, {"name": "first"})]
        seen += [tried(mlflow.load_policy, "r2", model=each) for each in ("m1", "m2")]
        mlflow.log_result(nothing, policy=found.policy(score="t"), name="second")
        seen += [tried(mlflow.load_policy, "r3", **each) for each in ({}, {"name": "second"})]
        measured = []
        for metric, level in (("aurc", 0.95), ("coverage_at_risk(risk=0.1)", None), ("auroc_f", 0.8)):
            made = mlflow.metric(metric, level=level)
            wrong, score = (p["loss"] > 0).astype(int), np.where(p["loss"] < 0, np.nan, p["confidence"])
            score[3] = np.nan
            zeros = np.zeros(len(wrong), dtype=int)
            measured += [made.name, made.greater_is_better]
            measured += [made.eval_fn(zeros[:n], wrong[:n], None, score).aggregate_results for n in (1, len(wrong))]
        return [store.kept, [each if isinstance(each, str) else each.thresholds for each in seen], measured]


def logged_to_wandb():
    """Return what a run of Weights & Biases is given."""
    evaluated, found, _, _ = _results()
    kept, summary = [], {}

    def artifact(name, **options):
        files = []
        add = lambda path: files.extend(sorted(each.name for each in Path(path).iterdir()))  # noqa: E731
        return SimpleNamespace(name=name, options=options, files=files, add_dir=add)

    module = SimpleNamespace(Table=lambda dataframe: list(dataframe.columns), Artifact=artifact)
    run = SimpleNamespace(id="r7", summary=summary, log=lambda numbers, step: kept.append([numbers, step]))
    run.log_artifact = lambda made: kept.append([made.name, made.options, made.files])
    with patch.dict(sys.modules, {"wandb": module}):
        wandb.log_result(run, evaluated, step=3)
        wandb.log_result(run, found, policy=found.policy(score="s"), name="chosen", title="page")
    return [kept, summary]
