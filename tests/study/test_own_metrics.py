"""Metrics of one's own in studies: every process knows them, their changes count, and they tell who computed what."""

import json
import subprocess
import sys

import numpy as np
import pytest

import abstain
from abstain import study

OWN = '''
"""A metric of its own, which writes down for which table it was asked, by which process."""
import os
from abstain.metrics import register

def value(blocks):
    log = os.environ.get("OWN_LOG")
    if log:
        with open(log, "a") as file:
            file.write(f"{float(blocks.score[0])!r} {os.getpid()}\\n")
    return FACTOR * float(blocks.loss.sum() / blocks.weight.sum())

@register(title="Own risk", direction="lower", range=(0.0, 1.0), source="a test", value=value)
def own_risk(loss, confidence, *, sample_weight=None, nan_policy="raise"):
    """Return a share of the errors."""
'''


@pytest.fixture
def folder(tmp_path):
    """Return a study of twelve units, with the metric beside it."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        outputs = abstain.Outputs(loss=(rng.random(4000) < 0.2).astype(float), scores={"one": rng.random(4000)})
        study.add_outputs(tmp_path / "study", outputs, model="toy", run=f"seed{seed}", set="test")
    (tmp_path / "own_measure.py").write_text(OWN.replace("FACTOR", "0.5"))
    return tmp_path


def code(folder, workers):
    """Return a program that evaluates the study, and prints what it found."""
    return (
        f"import json, sys; sys.path.insert(0, {str(folder)!r}); import own_measure; from abstain import study\n"
        f"found = study.evaluate({str(folder / 'study')!r}, 'one', ['own_risk'], workers={workers}, "
        "progress=lambda line: print(line, file=sys.stderr))\n"
        "print(json.dumps([[row['value'] for row in found.rows()], [str(each) for each in found.failures]]))"
    )


def done(folder, workers):
    """Return the values, and what was said."""
    ran = subprocess.run(
        [sys.executable, "-c", code(folder, workers)], capture_output=True, text=True, check=True, timeout=300
    )
    values, failures = json.loads(ran.stdout.splitlines()[-1])
    assert failures == []
    return values, ran.stderr


def test_processes_know_metrics_of_ones_own_and_their_changes(folder):
    """Two processes give what one gives; another text of the module is another metric; the command takes it, too."""
    one, _ = done(folder, 1)
    for unit in (folder / "study" / "units").glob("*"):
        unit.unlink()
    assert done(folder, 2)[0] == one
    assert "all done before" in done(folder, 2)[1]
    (folder / "own_measure.py").write_text(OWN.replace("FACTOR", "0.25"))
    changed, said = done(folder, 2)
    assert "12 to do" in said
    assert changed == pytest.approx([0.5 * value for value in one])
    told = subprocess.run(
        [sys.executable, "-m", "abstain", "study", "evaluate", str(folder / "study"), "--scores", "one",
         "--metrics", "own_risk", "--workers", "2", "--plugin", str(folder / "own_measure.py")],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert "Own risk" in told.stdout


def test_a_metric_of_a_script_keeps_the_work_in_its_process(folder):
    """A worker would have to run the script again: one process does it all, with the right values."""
    script = folder / "script.py"
    script.write_text((folder / "own_measure.py").read_text() + code(folder, 2).replace("import own_measure; ", ""))
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=300)
    assert json.loads(ran.stdout.splitlines()[-1])[0] == done(folder, 1)[0]
