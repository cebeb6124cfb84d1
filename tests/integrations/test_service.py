"""The example service in a process of its own: decisions, labels, metrics, and a restart."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

import abstain
from abstain.monitoring import load_monitor
from tests.imports import ROOT
from tests.integrations.pages import tool

tool("fastapi")
tool("uvicorn")
httpx = tool("httpx")
SERVICE = ROOT / "examples/service"
SEED = "kept secret"


@pytest.fixture
def policy(tmp_path):
    """Write a certified policy into the folder, and return it."""
    outputs = abstain.datasets.load("digits_logreg")
    found = abstain.choose_threshold(outputs.loss_per_sample(), outputs.confidence, risk=0.02, delta=0.05)
    found.policy(score="confidence", model="digits-1").save(tmp_path / "policy.json")
    return abstain.load_policy(tmp_path / "policy.json")


@contextmanager
def running(folder, end=signal.SIGTERM):
    """Start the service, yield a client of it, and end it by a signal."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    names = {"POLICY": folder / "policy.json", "DATA": folder, "SEED": SEED, "MODEL": "digits-1", "AUDIT": "0.2"}
    command = [sys.executable, "-m", "uvicorn", "app:app", "--app-dir", str(SERVICE), "--port", str(port)]
    environment = os.environ | {name: str(value) for name, value in names.items()}
    with subprocess.Popen([*command, "--no-access-log"], env=environment, stderr=subprocess.PIPE) as process:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30.0, trust_env=False) as client:
                for _ in range(600):
                    assert process.poll() is None, (process.stderr or sys.stdin).read()
                    try:
                        client.get("/monitor")
                        break
                    except httpx.ConnectError:
                        time.sleep(0.1)
                yield client
        finally:
            process.send_signal(end)


def decided(client, names, scores):
    """Send cases, and return the decisions."""
    pairs = zip(names, scores.tolist(), strict=True)
    return [client.post("/decide", json={"id": name, "values": [score]}).json() for name, score in pairs]


def test_decisions_labels_and_a_kill(tmp_path, policy):
    """Decisions and draws are those of the policy; nothing that was confirmed is lost when the process is killed."""
    rng = np.random.default_rng(1)
    names, scores = [f"case-{k}" for k in range(300)], rng.random(300) ** 0.3
    wanted = policy.decide(scores, ids=names, audit=0.2, seed=SEED)
    with running(tmp_path, signal.SIGKILL) as client:
        found = decided(client, names, scores)
        assert [each["action"] == "answer" for each in found] == wanted.accepted.tolist()
        assert [each["label_wanted"] for each in found] == wanted.drawn.tolist()
        drawn = [each for each in found if each["label_wanted"]]
        labels = [{"id": each["id"], "wrong": bool(rng.random() < 0.01)} for each in drawn]
        first = client.post("/labels", json=[*labels[:20], {"id": "case-none", "wrong": True}]).json()
        assert (first["stored"], first["not_drawn"]) == (20, 1)
        assert client.post("/decide", json={"id": "case-0", "values": [0.123]}).status_code == 409
        assert client.post("/decide", json={"id": "many", "values": [0.1, 0.2]}).status_code == 422
        assert client.post("/decide", json={"id": "none", "values": [None]}).json()["reason"] == "missing_score"
    with running(tmp_path) as client:
        assert decided(client, names[:50], scores[:50]) == found[:50]
        second = client.post("/labels", json=labels).json()  # the first twenty again
        assert (second["stored"], second["contradicting"]) == (len(labels), 0)
        other = [labels[0] | {"wrong": not labels[0]["wrong"]}]
        assert client.post("/labels", json=other).json()["contradicting"] == 1
        assert second["status"] == "no violation found"
        text = client.get("/metrics").text
    answers = sum(each["action"] == "answer" for each in drawn)
    monitored = load_monitor(tmp_path / "monitor.json", policy).result()
    assert (monitored.n, monitored.n_accepted) == (answers, answers)
    assert f'abstain_answered_rows{{policy="policy.json"}} {answers}\n' in text


def test_a_violation_is_seen(tmp_path, policy):
    """Where a third of the answers is wrong, the monitor says so, and so does the metric."""
    names, scores = [f"case-{k}" for k in range(600)], np.linspace(0.7, 0.99, 600)
    with running(tmp_path) as client:
        found = decided(client, names, scores)
        drawn = [each["id"] for each in found if each["label_wanted"]]
        labels = [{"id": name, "wrong": k % 3 == 0} for k, name in enumerate(drawn)]
        assert client.post("/labels", json=labels).json()["status"] == "violated"
        assert 'abstain_guarantee_violated{policy="policy.json"} 1' in client.get("/metrics").text


def test_metrics_without_labels(tmp_path, policy):
    """Before the first label the service has metrics of its decisions, and none of the guarantee."""
    with running(tmp_path) as client:
        decided(client, ["a", "b"], np.array([0.99, 0.1]))
        text = client.get("/metrics").text
    assert 'abstain_decisions_total{policy="policy.json",action="answer",reason="accepted"} 1' in text
    assert 'abstain_decisions_total{policy="policy.json",action="reject",reason="below_threshold"} 1' in text
    assert "abstain_guarantee_violated{" not in text


def test_the_state_of_another_policy_is_refused_at_the_start(tmp_path, policy):
    """A new policy needs a folder of its own, and the service says so before it decides anything."""
    names, scores = [f"case-{k}" for k in range(50)], np.full(50, 0.99)
    with running(tmp_path) as client:
        drawn = [each["id"] for each in decided(client, names, scores) if each["label_wanted"]]
        client.post("/labels", json=[{"id": name, "wrong": False} for name in drawn])
    outputs = abstain.datasets.load("digits_logreg")
    other = abstain.choose_threshold(outputs.loss_per_sample(), outputs.confidence, risk=0.03, delta=0.05)
    other.policy(score="confidence", model="digits-1").save(tmp_path / "policy.json")
    with pytest.raises(AssertionError, match="another policy"), running(tmp_path):
        pass
