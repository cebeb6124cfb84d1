"""lm-evaluation-harness, with a task of the documentation on a model that needs no download."""

import json
import re

import numpy as np
import pytest

import abstain
from tests.docs.examples import DOCS
from tests.integrations.pages import tool

lm_eval = tool("lm_eval")


def test_a_task_aggregates_what_the_samples_say(tmp_path, monkeypatch):
    """The task of the page gives the numbers that ``evaluate`` computes from its samples file."""
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.models.dummy import DummyLM
    from lm_eval.tasks import TaskManager

    class Model(DummyLM):
        """A model that mostly prefers the first of the choices, which is right."""

        def loglikelihood(self, requests, disable_tqdm=False):
            return [(-float(rng.exponential(0.2 if each.idx == 0 else 4.0)), False) for each in requests]

    monkeypatch.chdir(tmp_path)
    text = (DOCS / "integrations/language-models.md").read_text(encoding="utf-8")
    blocks = dict(reversed(re.findall(r"```(py|yaml)\n(.*?)```", text, re.DOTALL)))  # the first of each
    (tmp_path / "utils.py").write_text(blocks["py"])
    (tmp_path / "sums.yaml").write_text(blocks["yaml"])
    rng = np.random.default_rng(0)
    rows = [
        {"question": f"{a} + {b}", "choices": [str(a + b + k) for k in range(4)], "answer": 0}
        for a, b in rng.integers(2, 30, (60, 2)).tolist()
    ]
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tracker = EvaluationTracker(output_path=str(tmp_path))
    found = lm_eval.simple_evaluate(
        model=Model(), tasks=["sums"], task_manager=TaskManager(include_path="."), log_samples=True,
        bootstrap_iters=0, evaluation_tracker=tracker,
    )  # fmt: skip
    tracker.save_results_aggregated(results=found, samples=found["samples"])
    tracker.save_results_samples(task_name="sums", samples=found["samples"]["sums"])
    values = {name.partition(",")[0]: value for name, value in found["results"]["sums"].items()}
    samples = next(tmp_path.rglob("samples_sums_*.jsonl"))
    names = ["aurc", "augrc", "coverage_at_risk"]
    later = abstain.evaluate(samples, metrics=names, level=None)
    assert 0.0 < values["coverage_at_risk"] < 1.0
    assert [values[name] for name in names] == pytest.approx([later.value(name) for name in names], abs=1e-12)
    assert values["answered"] == 1.0
    assert values["acc"] == pytest.approx(1.0 - later.provenance.mean_loss, abs=1e-12)
