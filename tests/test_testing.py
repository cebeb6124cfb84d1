"""The assertion for test suites of models, as pytest runs and reports it."""

import os
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np

import abstain
from abstain.testing import assert_selective_risk
from tests.refusal import refused

MODEL = """
import abstain

def test_digits(assert_selective_risk):
    found = assert_selective_risk(abstain.datasets.load("digits_logreg"), risk=0.03, coverage=0.5)
    assert found.threshold < 1.0

def test_language_model(assert_selective_risk):
    assert_selective_risk(abstain.datasets.load("llama3_70b_mmlu"), risk=0.02)
"""


def test_the_message_is_the_verdict(tmp_path):
    """One test passes and one fails in a run of their own; the failure shows no code of ours."""
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["abstain.testing"]\n', "utf-8")
    (tmp_path / "test_model.py").write_text(MODEL, "utf-8")
    options = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", "report.xml", "--rootdir", ".")
    words = [sys.executable, *options]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    run = {"cwd": tmp_path, "env": environment, "capture_output": True, "encoding": "utf-8", "timeout": 120}
    done = subprocess.run(words, check=False, **run)
    assert "1 failed, 1 passed" in done.stdout
    assert "AssertionError: Not certified at 2 %. Answer 33.3 % of the cases: at most 3.92 %" in done.stdout
    assert "choose_threshold(" not in done.stdout
    kept = {each.get("name"): each.get("value") for each in ElementTree.parse(tmp_path / "report.xml").iter("property")}
    outputs = abstain.datasets.load("digits_logreg")
    found = abstain.choose_threshold(outputs.loss_per_sample(), outputs.confidence, risk=0.03, delta=0.05)
    assert kept == {f"abstain_{name}": str(getattr(found, name)) for name in ("threshold", "coverage", "risk")}


def test_what_is_read(tmp_path):
    """A file with columns of any names, clusters and qualities are certified as the functions do it."""
    rng = np.random.default_rng(0)
    confidence = rng.random(3000)
    wrong = (rng.random(3000) > 0.5 + confidence / 2).astype(float)
    site = np.arange(3000) // 3
    np.savez(tmp_path / "a.npz", error=wrong, sure=confidence, patient=site)
    found = assert_selective_risk(tmp_path / "a.npz", risk=0.3, loss="error", confidence="sure", clusters="patient")
    direct = abstain.choose_threshold(wrong, confidence, risk=0.3, delta=0.05, clusters=site)
    assert (found.threshold, found.coverage) == (direct.threshold, direct.coverage)
    graded = assert_selective_risk({"quality": 1.0 - wrong / 2, "confidence": confidence}, risk=0.2, quality="quality")
    direct = abstain.choose_threshold(wrong / 2, confidence, risk=0.2, delta=0.05, max_loss=1.0)
    assert graded.threshold == direct.threshold


def test_too_few_answers_fail():
    """A certified threshold that rejects nearly everything is no use to anybody who states a coverage."""
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    words = r"coverage 63\.7% is below 70\.0%\ncertified: at most 10 % of the answers"
    refused(AssertionError, words, assert_selective_risk, outputs, risk=0.1, coverage=0.7)
    refused(TypeError, "outputs are read already; labels belongs to a file", assert_selective_risk, outputs, labels="y")
    refused(ValueError, "coverage", assert_selective_risk, outputs, coverage=70)
