"""``abstain train``: what it says before it starts, what it writes, and one line where it cannot."""

import re
import warnings
from pathlib import Path

import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("lightning.pytorch")

from abstain.nn import train
from abstain.study import read_study
from tests.disk import room

pytestmark = pytest.mark.filterwarnings("ignore")
SMALL = "--set network.name=small --set network.width=4"
DATA = "--data synthetic:n=64,size=12"
TRAIN = f"train ce {DATA} -o . --accelerator cpu"


def test_a_dry_run_writes_nothing(do):
    """Splits, network, steps, passes, time and disk, in 80 columns; all recipes are listed."""
    done = do("train sure_plus --data synthetic:n=256,size=32,classes=100 -o study --set network.width=4 --dry-run")
    assert max(map(len, done.out.splitlines())) <= 80
    for text in ("26 of 256, drawn from the test images", "resnet18, width 4, linear head", "a pass",
                 "200 epochs, 400 steps of 6 forward-backward passes", "of checkpoints"):  # fmt: skip
        assert text in done.text  # where lines break hangs on the time that it estimates
    number, unit = re.search(r"estimate: ([\d.]+) (\w+) per run", done.text).groups()
    assert float(number) >= 2.0 or unit == "seconds"
    assert "runs in all" not in done.text
    assert set(train.names()) <= set(do("train --list").out.split())
    assert list(Path().iterdir()) == []


def test_trains_seeds_and_shifts(do):
    """Two seeds, OOD data and corruptions: all in one manifest; the second time nothing is left to do."""
    shifts = "--corruptions fog,contrast --ood synthetic:n=20,seed=9:semantic"
    command = f"{TRAIN} {SMALL} --set epochs=1 --seeds 3,5 {shifts}"
    done = do(command)
    assert "; 2 runs in all" in done.text
    assert "wrote ce/seed5: validation, test, corruption-1" in done.out
    assert {each.name for each in Path().iterdir()} == {"ce", "study.json"}
    study = read_study(".")
    assert [each.folder for each in study.runs] == ["ce/seed3", "ce/seed5"]
    assert study.runs[0].sets[-2].shift == {"kind": "new-class", "statistics": "id", "semantic": True}
    assert study.outputs("ce", "seed3", study.runs[0].sets[-2].name).labels is None
    assert "ce/seed3: is finished already" in do(command).err
    do("evaluate ce/seed3/test.npz --scores msp,energy")


def test_a_grid_of_rewards(do):
    """A model per reward and dropout, named by both."""
    data = "--data synthetic:n=16,size=8 -o . --grid --accelerator cpu"
    do(f"train deep_gamblers {data} --set network.width=4 --set epochs=1 --set objective.warm_up=0")
    names = read_study(".").models()
    assert len(names) == 10
    assert "deep_gamblers-reward=2.2-dropout=true" in names
    assert "recipe 'ce' has no grid; leave --grid out" in do(f"train ce {data}", 2).err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "give a RECIPE, --data and -o"),
        (f"cee {DATA} -o x", "recipe 'cee' is not known; did you mean 'ce'?"),
        ("ce --data cifar10 -o x", "ABSTAIN_DATA is not set"),
        ("ce --data nowhere -o x", "nowhere: no such file or folder"),
        (f"ce {DATA} -o x --seeds a", "--seeds 'a' cannot be read"),
        (f"ce {DATA} -o x --hold-out cat", "has no named super-classes"),
        (f"ce {DATA} -o x --set network.name=small --set main.epochs=0", "must be at least 1, got 0"),
    ],
)
def test_one_line_where_it_cannot(options, message, do, monkeypatch):
    """Exit code 2, one line, nothing written."""
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    (line,) = do(f"train {options}", 2).err.strip().splitlines()
    assert message in line
    assert list(Path().iterdir()) == []


def test_a_disk_that_is_full(do):
    """No file may grow beyond 8 kB: one line and exit code 2, no entry in a manifest, no half-written output."""
    with room(8192):
        said = do(f"{TRAIN} {SMALL} --set epochs=1 --set network.width=16", 2).err
    assert "cannot be written (File too large)" in said.splitlines()[-1]
    assert said.count("Traceback") == 0
    assert not Path("study.json").exists()
    assert list(Path().rglob("*.npz")) == []


def test_an_interruption_is_no_success(do, monkeypatch):
    """Control-C in the middle: exit code 130 and one line; the same command then goes on."""
    step, calls = torch.optim.SGD.step, []

    def interrupted(self, closure=None):
        calls.append(1)
        if len(calls) > 1:  # a step per epoch: the second is in the second epoch
            raise KeyboardInterrupt
        return step(self, closure)

    command = f"{TRAIN} {SMALL} --set epochs=2"
    with monkeypatch.context() as patch:
        patch.setattr(torch.optim.SGD, "step", interrupted)
        assert do(command, 130).err.splitlines()[-1] == "abstain: interrupted"
    do(command)
