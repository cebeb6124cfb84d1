"""Metrics of one's own in studies: every process knows them, their changes count, and they tell who computed what."""

import importlib
import subprocess
import sys

import numpy as np
import polars
import pytest

import abstain
from abstain import study
from tests.processes import beside

OWN = '''
from abstain.metrics import register

def value(blocks):
    return FACTOR * float(blocks.loss.sum() / blocks.weight.sum())

@register(title="Own risk", direction="lower", range=(0.0, 1.0), source="a test", value=value)
def own_risk(loss, confidence, *, sample_weight=None, nan_policy="raise"):
    """Return a share of the errors."""
'''


@pytest.fixture
def folder(tmp_path):
    """Return a study of six units, with the metric beside it."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        outputs = abstain.Outputs(loss=(rng.random(200) < 0.2).astype(float), scores={"one": rng.random(200)})
        study.add_outputs(tmp_path / "study", outputs, model="toy", run=f"seed{seed}", set="test")
    (tmp_path / "own_measure.py").write_text(OWN.replace("FACTOR", "0.5"))
    return tmp_path


def work(send, folder):
    """Evaluate the study with two processes, and send what is found and said."""
    sys.path.insert(0, str(folder))
    importlib.import_module("own_measure")
    said = []
    found = study.evaluate(folder / "study", "one", ["own_risk"], workers=2, progress=said.append)
    send(([row["value"] for row in found.rows()], found.failures, said))


def known(folder):
    """Return half of the risk of each set."""
    found = study.read_study(folder / "study")
    return [0.5 * float(found.outputs(run.model, run.name, "test").loss.mean()) for run in found.runs]


def test_processes_know_metrics_of_ones_own_and_their_changes(folder):
    """Two processes find the values; another text of the module is another metric; the command takes it, too."""
    for last in ("6 units, 0 done before; 6 to do", "6 units, all done before"):
        values, failures, said = beside(work, folder)()
        assert (values, failures) == (known(folder), ())
        assert any(last in line for line in said)
    (folder / "own_measure.py").write_text(OWN.replace("FACTOR", "0.25"))
    told = subprocess.run(
        [sys.executable, "-m", "abstain", "study", "evaluate", str(folder / "study"), "--scores", "one",
         "--metrics", "own_risk", "--workers", "2", "--plugin", str(folder / "own_measure.py")],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert "6 to do" in told.stderr
    assert "Own risk" in told.stdout
    table = polars.read_parquet(folder / "study" / "results.parquet")
    assert table["value"].to_list() == [0.5 * value for value in known(folder)]


def test_a_metric_of_a_script_keeps_the_work_in_its_process(folder):
    """A worker would have to run the script again: one process does it all, with the right values."""
    code = (
        "from abstain import study\n"
        "found = study.evaluate('study', 'one', ['own_risk'], workers=2)\n"
        "print([row['value'] for row in found.rows()], found.failures)"
    )
    (folder / "script.py").write_text(OWN.replace("FACTOR", "0.5") + code)
    command = [sys.executable, "script.py"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300, cwd=folder)
    assert ran.stdout.splitlines()[-1] == f"{known(folder)} ()"
