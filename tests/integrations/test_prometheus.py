"""Metrics of a monitor as Prometheus reads them; its own `promtool` judges them where it is installed."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain.integrations.prometheus import metrics_text
from tests.command import csv
from tests.imports import ROOT

RNG = np.random.default_rng(0)
SCORE = RNG.random(4000)
WRONG = RNG.random(4000) > SCORE**0.1
POLICY = abstain.choose_threshold(WRONG, SCORE, risk=0.1, delta=0.05).policy(score="msp")


def promtool(*arguments, given=""):
    """Run `promtool` and return what it says; skip where it is not installed, but not where it must be."""
    if shutil.which("promtool") is None and not os.environ.get("ABSTAIN_TOOL"):
        pytest.skip("promtool is not installed")
    done = subprocess.run(["promtool", *arguments], input=given, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def values(text):
    """Return the samples of a text by name and labels."""
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def test_values_are_those_of_the_monitor():
    """Each number is the field of the result; what is undecided is left out; labels are escaped."""
    result = abstain.monitor(POLICY, RNG.random(3000) < 0.3, RNG.random(3000))
    found = values(metrics_text(result, 'a "b"\n\\c'))
    of = 'policy="a \\"b\\"\\n\\\\c"'
    assert found[f"abstain_guarantee_violated{{{of}}}"] == result.violated == 1
    for name, value in (("risk", result.risk), ("evidence", result.evidence), ("evidence_alarm", 20.0)):
        assert found[f"abstain_{name}{{{of}}}"] == pytest.approx(value, rel=1e-14)
    assert found[f'abstain_drifted{{{of},of="coverage"}}'] == result.coverage_drifted
    only = abstain.monitor(POLICY, [0.0, 1.0], [0.99, 0.98], accepted_only=True)
    assert 'of="coverage"' not in metrics_text(only, "p")


def test_promtool_accepts_metrics_and_alerts():
    """No complaint about the text; three rules."""
    result = abstain.monitor(POLICY, RNG.random(500) < 0.05, RNG.random(500))
    assert promtool("check", "metrics", given=metrics_text(result, "policy.json")) == ""
    assert "3 rules found" in promtool("check", "rules", str(ROOT / "examples/service/alerts.yml"))


def test_alerts_fire_as_they_say(tmp_path):
    """A violation pages; no label for a week makes a ticket; a quiet monitor with labels makes none."""
    text = """
rule_files: [{rules}]
evaluation_interval: 1h
tests:
  - interval: 1h
    input_series:
      - {{series: 'abstain_guarantee_violated{{policy="p"}}', values: '0x200 1x50'}}
      - {{series: 'abstain_rows{{policy="p"}}', values: '0+5x80 400x400'}}
    alert_rule_test:
      - {{eval_time: 100h, alertname: GuaranteeViolated}}
      - {{eval_time: 100h, alertname: NoLabels}}
      - eval_time: 210h
        alertname: GuaranteeViolated
        exp_alerts:
          - exp_labels: {{severity: page, policy: p}}
            exp_annotations:
              summary: "p: the guarantee is violated. Stop answering by this policy and calibrate again."
      - eval_time: 300h
        alertname: NoLabels
        exp_alerts:
          - exp_labels: {{severity: ticket, policy: p}}
            exp_annotations:
              summary: "p: no label has come for a week, so a violation would not be noticed."
"""
    file = tmp_path / "test.yml"
    file.write_text(text.format(rules=ROOT / "examples/service/alerts.yml"))
    assert "SUCCESS" in promtool("test", "rules", str(file))


def test_the_command_writes_the_file(do):
    """`--metrics-file` has the metrics of the result, also when the exit code says that the guarantee is violated."""
    POLICY.save("policy.json")
    csv("week.csv", loss=(RNG.random(2000) < 0.3).astype(int), msp=RNG.random(2000))
    do("monitor policy.json week.csv --metrics-file abstain.prom", 1)
    assert values(Path("abstain.prom").read_text())['abstain_guarantee_violated{policy="policy.json"}'] == 1
    assert list(Path().glob(".*")) == []
    do("monitor policy.json week.csv --metrics-file week.csv", 2)
