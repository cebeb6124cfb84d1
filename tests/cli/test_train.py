"""``abstain train``: what it says before it starts, what it writes, and one line where it cannot."""

import warnings

import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("lightning.pytorch")

from abstain.cli import run
from abstain.nn import train
from abstain.study import read_study
from tests.disk import room

pytestmark = pytest.mark.filterwarnings("ignore")
SMALL = ["--set", "network.name=small", "--set", "network.width=4", "--set", "epochs=1"]
DATA = ["--data", "synthetic:n=64,size=12"]


def test_a_dry_run_writes_nothing(tmp_path, capsys, monkeypatch):
    """Splits, network, steps, passes, time and disk, in 80 columns."""
    monkeypatch.chdir(tmp_path)
    shape = ["--data", "synthetic:n=256,size=32,classes=100"]
    assert run(["train", "sure_plus", *shape, "-o", "study", "--set", "network.width=4", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    for text in ("26 of 256, drawn from the test images", "resnet18, width 4, linear head", "a pass",
                 "200 epochs, 400 steps of 6 forward-backward passes", "of checkpoints"):  # fmt: skip
        assert text in " ".join(said.split())  # where lines break hangs on the time that it estimates
    assert list(tmp_path.iterdir()) == []


def test_trains_seeds_and_shifts(tmp_path, capsys):
    """Two seeds, OOD data and corruptions: all in one manifest; the second time nothing is left to do."""
    command = ["train", "ce", *DATA, "-o", str(tmp_path), *SMALL, "--seeds", "3,5", "--corruptions", "fog,contrast",
               "--ood", "synthetic:n=20,seed=9:semantic", "--accelerator", "cpu"]  # fmt: skip
    assert run(command) == 0
    assert f"wrote {tmp_path / 'ce/seed5'}: validation, test, corruption-1" in capsys.readouterr().out
    study = read_study(tmp_path)
    assert [each.folder for each in study.runs] == ["ce/seed3", "ce/seed5"]
    assert study.runs[0].sets[-2].shift == {"kind": "new-class", "statistics": "id", "semantic": True}
    assert study.outputs("ce", "seed3", study.runs[0].sets[-2].name).labels is None
    assert run(command) == 0
    assert "ce/seed3: is finished already" in capsys.readouterr().err
    assert run(["evaluate", str(tmp_path / "ce/seed3/test.npz"), "--scores", "msp,energy"]) == 0


def test_a_grid_of_rewards(tmp_path, capsys):
    """A model per reward and dropout, named by both."""
    small = ["--set", "network.width=4", "--set", "epochs=1", "--set", "objective.warm_up=0"]
    data = ["--data", "synthetic:n=16,size=8"]
    assert run(["train", "deep_gamblers", *data, "-o", str(tmp_path), *small, "--grid", "--accelerator", "cpu"]) == 0
    names = read_study(tmp_path).models()
    assert len(names) == 10
    assert "deep_gamblers-reward=2.2-dropout=true" in names
    assert run(["train", "ce", *data, "-o", str(tmp_path), "--grid"]) == 2
    assert "recipe 'ce' has no grid; leave --grid out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give a RECIPE, --data and -o"),
        (["ce", "--data", "cifar10"], "give a RECIPE, --data and -o"),
        (["cee", *DATA, "-o", "x"], "recipe 'cee' is not known; did you mean 'ce'?"),
        (["ce", "--data", "cifar10", "-o", "x"], "ABSTAIN_DATA is not set"),
        (["ce", "--data", "nowhere", "-o", "x"], "nowhere: no such file or folder"),
        (["ce", *DATA, "-o", "x", "--seeds", "a"], "--seeds 'a' cannot be read"),
        (["ce", *DATA, "-o", "x", "--corruptions", "rain"], "corruption 'rain' is not known"),
        (["ce", *DATA, "-o", "x", "--hold-out", "cat"], "has no named super-classes"),
        (
            ["ce", *DATA, "-o", "x", "--set", "network.name=small", "--set", "main.epochs=0"],
            "must be at least 1, got 0",
        ),
    ],
)
def test_one_line_where_it_cannot(arguments, message, tmp_path, capsys, monkeypatch):
    """Exit code 2, one line, nothing written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    assert run(["train", *arguments]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert message in said[0]
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full(tmp_path, capsys):
    """No file may grow beyond 8 kB: one line and exit code 2, no entry in a manifest, no half-written output."""
    with room(8192):
        code = run(
            ["train", "ce", *DATA, "-o", str(tmp_path), *SMALL, "--set", "network.width=16", "--accelerator", "cpu"]
        )
    said = capsys.readouterr().err
    assert code == 2, said
    assert "cannot be written (File too large)" in said.splitlines()[-1]
    assert said.count("Traceback") == 0
    assert not (tmp_path / "study.json").exists()
    assert list(tmp_path.rglob("*.npz")) == []


def test_an_interruption_is_no_success(tmp_path, capsys, monkeypatch):
    """Control-C in the middle: exit code 130 and one line; the same command then goes on."""
    step, calls = torch.optim.SGD.step, []

    def interrupted(self, closure=None):
        calls.append(1)
        if len(calls) > 1:  # a step per epoch: the second is in the second epoch
            raise KeyboardInterrupt
        return step(self, closure)

    command = ["train", "ce", *DATA, "-o", str(tmp_path), *SMALL[:-1], "epochs=2", "--accelerator", "cpu"]
    with monkeypatch.context() as patch:
        patch.setattr(torch.optim.SGD, "step", interrupted)
        assert run(command) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "abstain: interrupted"
    assert run(command) == 0


def test_the_list(capsys):
    """All recipes with their passes."""
    assert run(["train", "--list"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in train.names())
