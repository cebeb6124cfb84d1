"""The loop: what goes through the network, what is kept, and that a training that was ended goes on unharmed."""

import json
import os
import signal
import subprocess
import sys
import types
import warnings

import numpy as np
import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lightning = pytest.importorskip("lightning.pytorch")

from abstain.nn import data, mc_dropout, train
from abstain.nn.train import _stage as module
from abstain.nn.train._learner import Extractor
from abstain.nn.train._run import learner_of
from abstain.study import read_study
from tests.refusal import refused

pytestmark = pytest.mark.filterwarnings("ignore")
QUIET = {"enable_progress_bar": False, "accelerator": "cpu"}


class Stop(lightning.Callback):
    """Ends a training in the middle of an epoch of a stage: of any, or of that with an objective."""

    def __init__(self, epoch, objective=None):
        self.epoch, self.objective = epoch, objective

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        """Raise as a killed process would end."""
        here = self.objective in (None, pl_module.stage.objective.name)
        if here and trainer.current_epoch == self.epoch and batch_idx == 1:
            raise RuntimeError("killed")


def weights(folder):
    """What a run has learnt."""
    return torch.load(folder / "weights.pt", weights_only=True)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("finetune_aurc", []),
        ("sure_plus", []), ("ce", ["main.rate=0.3", "keep=best"]), ("deep_gamblers", ["dropout=true", "warm_up=1"]),
        pytest.param("sure", [], marks=pytest.mark.slow), pytest.param("devries", [], marks=pytest.mark.slow),
        ("ce", ["network.name=resnet18", "optimizer=adam", "main.rate=0.01"]),
    ],
)  # fmt: skip
def test_killed_and_restarted_equals_to_the_bit(name, changes, task, tiny, tmp_path):
    """Ended, in the last epoch or at the beginning of a later stage, and started again: the same to the bit."""
    changes = [change for change in changes if change != "warm_up=1"]
    if name == "deep_gamblers":
        changes.append("objective.warm_up=1")
    recipe, stop = tiny(name, *changes), Stop(0, "aurc") if name == "finetune_aurc" else Stop(2)
    train.fit(recipe, task, tmp_path / "whole", **QUIET)
    with pytest.raises(RuntimeError, match="killed"):
        train.fit(recipe, task, tmp_path / "ended", callbacks=[stop], **QUIET)
    assert not (tmp_path / "ended" / "study.json").exists()
    train.fit(recipe, task, tmp_path / "ended", **QUIET)
    one, other = (weights(tmp_path / which / name / "seed0") for which in ("whole", "ended"))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[key], other[key]) for key in one)
    outputs = [read_study(tmp_path / which).outputs(name, "seed0", "test") for which in ("whole", "ended")]
    assert outputs[0].fingerprint == outputs[1].fingerprint


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_process_that_is_killed_goes_on(task, tiny, tmp_path):
    """The same with SIGKILL, in a later stage: the stages before are not trained again."""
    script = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
import lightning.pytorch as pl
from abstain.nn import data, mc_dropout, train
class Kill(pl.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if module.stage.objective.name == "aurc" and trainer.current_epoch == 2:
            os.kill(os.getpid(), signal.SIGKILL)
recipe = train.recipe("finetune_aurc", ["network.name=small", "network.width=4", "data.batch=16", "epochs=3"])
train.fit(recipe, data.task("synthetic:n=64,size=12"), sys.argv[1], callbacks=[Kill()], enable_progress_bar=False,
          accelerator="cpu")
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "ended")], capture_output=True, check=False,
                          env=os.environ | {"OMP_NUM_THREADS": "1"}, timeout=120)  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    recipe, said = tiny("finetune_aurc"), []
    train.fit(recipe, task, tmp_path / "ended", say=said.append, **QUIET)
    assert [line for line in said if "stage" in line] == ["finetune_aurc/seed0: stage tune, 3 epochs"]
    train.fit(recipe, task, tmp_path / "whole", **QUIET)
    one, other = (weights(tmp_path / which / "finetune_aurc" / "seed0") for which in ("whole", "ended"))
    assert all(torch.equal(one[key], other[key]) for key in one)


@pytest.mark.parametrize("name", ["ce", "mixup", "regmixup", "augmix", "sure", "sure_plus"])
def test_passes_as_counted(name, task, tiny, tmp_path):
    """Rows that go forward with gradient, per step and batch, are as many as the recipe says."""
    recipe, rows = tiny(name, "epochs=2"), []

    class Count(lightning.Callback):
        def on_train_start(self, trainer, pl_module):
            pl_module.learner.network.body.register_forward_pre_hook(
                lambda _, given: rows.append(len(given[0])) if torch.is_grad_enabled() else None
            )

    train.fit(recipe, task, tmp_path, callbacks=[Count()], **QUIET)
    assert sum(rows) / 16 / (2 * 4) == recipe.passes()["main"]


@pytest.mark.parametrize(("name", "anew", "moved"), [("sure_plus", False, 3), ("sure", True, 4)])
def test_what_the_second_pass_sees_and_whether_it_moves_batch_norm(name, anew, moved, task, tiny, tmp_path):
    """F-SAM: the same batch, statistics of one pass of three terms. SURE: other mixed images, two passes of two."""
    recipe, seen, counts = tiny(name, "network.name=resnet18", f"epochs={1 + anew}"), [], []

    class Watch(lightning.Callback):
        def on_train_start(self, trainer, pl_module):
            pl_module.learner.network.body.register_forward_pre_hook(lambda _, given: seen.append(given[0].clone()))

        def on_train_batch_end(self, trainer, pl_module, *rest):
            counts.append(int(pl_module.learner.network.body[1].num_batches_tracked))

    train.fit(recipe, task, tmp_path, callbacks=[Watch()], **QUIET)
    terms = 2 if anew else 3
    for step in range(4):
        first, second = (seen[2 * terms * step + terms * k :][:terms] for k in (0, 1))
        assert [torch.equal(a, b) for a, b in zip(first, second, strict=True)] == [True, *[not anew] * (terms - 1)]
    assert counts[:4] == [moved, 2 * moved, 3 * moved, 4 * moved]


def test_the_average_is_extracted_with_its_own_batch_norm(task, tiny, tmp_path):
    """Outputs are those of the averaged weights, whose statistics are those of the whole training set."""
    recipe = tiny("sure_plus", "network.name=resnet18", "epochs=1", "crop=0", "flip=false")
    held = []

    class Keep(lightning.Callback):
        def on_train_end(self, trainer, pl_module):
            held.append({key: value.clone() for key, value in pl_module.average.model.state_dict().items()})
            held.append({key: value.clone() for key, value in pl_module.learner.state_dict().items()})

    train.fit(recipe, task, tmp_path, callbacks=[Keep()], **QUIET)
    kept = weights(tmp_path / "sure_plus" / "seed0")
    average, raw = held
    assert torch.equal(kept["network.head.weight"], average["network.head.weight"])
    assert not torch.equal(kept["network.head.weight"], raw["network.head.weight"])
    learner = train._run.learner_of(recipe, task, 0)
    learner.load_state_dict(kept)
    x = task.train.take(torch.arange(len(task.train))).float() / 255
    with torch.no_grad():
        first = learner.network.body[0](learner.network.before(x)).transpose(0, 1).flatten(1)
    assert torch.allclose(kept["network.body.1.running_mean"], first.mean(dim=1), atol=1e-5)
    assert torch.allclose(kept["network.body.1.running_var"], first.var(dim=1), rtol=1e-4)


def test_schedules_by_hand(tiny):
    """Cosine per step and per epoch; SWA's ramp to its constant rate by half a cosine over ten epochs."""
    stage = tiny("ce", "epochs=10").stage["main"]
    assert module.rate_at(stage, 2.5) == pytest.approx(0.1 * 0.5 * (1 + np.cos(np.pi * 0.25)))
    stage = tiny("ce", "epochs=10", "schedule=cosine_epochs").stage["main"]
    assert module.rate_at(stage, 2.9) == pytest.approx(0.1 * 0.5 * (1 + np.cos(np.pi * 0.2)))
    stage = tiny("ce", "epochs=10", "final_rate=0.02").stage["main"]
    rates = [module.rate_at(stage, epoch) for epoch in (0.0, 2.5, 10.0)]
    assert rates == pytest.approx([0.1, 0.02 + 0.08 * 0.5 * (1 + np.cos(np.pi * 0.25)), 0.02])
    stage = train.recipe("sure").stage["main"]
    start = 0.1 * 0.5 * (1 + np.cos(np.pi * 0.6))
    assert start == pytest.approx(0.0345, abs=1e-4)  # so the rate rises to .05, as the reference notes
    assert module.rate_at(stage, 120.0) == pytest.approx(start)
    assert module.rate_at(stage, 125.3) == pytest.approx((start + 0.05) / 2)
    assert module.rate_at(stage, 199.0) == pytest.approx(0.05)
    stage = train.recipe("sure", ("average.anneal=1",)).stage["main"]
    assert [module.rate_at(stage, epoch) for epoch in (120.9, 121.0)] == pytest.approx([start, 0.05])


@pytest.mark.parametrize("name", ["small", "svhn_net", "vgg13bn", "resnet18"])
def test_passes_begin_before_the_first_dropout(name):
    """What comes before it is computed once; the passes are those of the whole network, bit by bit."""
    pictures = data.task("synthetic:n=80,classes=4,size=12,channels=3", validation="test:0.2")
    recipe = train.recipe("mc_dropout", [f"network.name={name}", "network.width=4", "extract.passes=3"])
    learner = learner_of(recipe, pictures, 0)
    extractor = Extractor(learner, recipe.extract, pictures.train, pictures.validation, seed=5)
    found = extractor.outputs(pictures.validation).passes
    x = pictures.validation.take(torch.arange(len(pictures.validation))).float() / 255.0
    np.testing.assert_array_equal(found, mc_dropout(learner.network, x, 3, seed=5).softmax(dim=-1).numpy())
    seen = []
    extractor.early.register_forward_hook(lambda *_: seen.append(1))
    extractor.outputs(pictures.validation)
    assert len(list(extractor.early.children())) > 1
    assert len(seen) == 1


def test_fine_tuning_begins_with_weights_of_another_run(task, tiny, tmp_path):
    """Given weights take the place of the first stage: the same result as with a stage of its own, bit by bit."""
    train.fit(tiny("finetune_sele"), task, tmp_path / "own", **QUIET)
    train.fit(tiny("ce"), task, tmp_path / "given", **QUIET)
    start, said = tmp_path / "given" / "ce" / "seed0" / "weights.pt", []
    train.fit(tiny("finetune_sele"), task, tmp_path / "given", start=start, say=said.append, **QUIET)
    assert not any("stage main" in line for line in said)
    one, other = (weights(tmp_path / which / "finetune_sele" / "seed0") for which in ("own", "given"))
    assert all(torch.equal(one[key], other[key]) for key in one)
    with pytest.raises(ValueError, match="holds no weights of this network"):
        train.fit(tiny("ce", "network.width=8"), task, tmp_path / "x", start=start, **QUIET)
    with pytest.raises(FileNotFoundError, match=r"nothing.pt: no such file; give the weights.pt"):
        train.fit(tiny("ce"), task, tmp_path / "x", start=tmp_path / "nothing.pt", **QUIET)
    with pytest.raises(ValueError, match="holds a run with other settings"):
        train.fit(tiny("finetune_sele"), task, tmp_path / "given", **QUIET)


def test_models_of_others_are_extracted_without_training(monkeypatch, tmp_path):
    """The recipe of DeiT-B on a stand-in for timm: pretrained weights are asked for, nothing is trained."""
    asked = []

    def create_model(name, pretrained, num_classes):
        asked.append((name, pretrained, num_classes))
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 6), torch.nn.ReLU(),
                                   torch.nn.Linear(6, num_classes))  # fmt: skip

    monkeypatch.setitem(sys.modules, "timm", types.SimpleNamespace(create_model=create_model))
    task = data.task("synthetic:n=40,size=8")
    run = train.fit(train.recipe("deit_b"), task, tmp_path, **QUIET)
    assert asked == [("deit_base_patch16_224", True, 4)]
    assert [each.name for each in run.sets] == ["validation", "test"]
    assert "nothing was trained" in run.notes[0]
    outputs = read_study(tmp_path).outputs("deit_b", "seed0", "test")
    assert outputs.features @ outputs.head[0].T + outputs.head[1] == pytest.approx(outputs.logits, abs=1e-5)
    plan = train.plan(train.recipe("deit_b"), task)
    assert plan.steps == {}
    assert plan.checkpoint_bytes == 3 * 4 * plan.parameters  # weights and two moments, no average


# ---------------------------------------------------------------------- what goes wrong


def test_a_checkpoint_that_is_broken(task, tiny, tmp_path):
    """One line that names the file and the remedy; after it was removed the training goes on."""
    recipe = tiny("ce")
    refused(RuntimeError, "killed", lambda: train.fit(recipe, task, tmp_path, callbacks=[Stop(epoch=1)], **QUIET))
    last = tmp_path / "ce" / "seed0" / "checkpoints" / "main" / "last.ckpt"
    last.write_bytes(last.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"last.ckpt: is no readable checkpoint \(\w+ .+\); remove it"):
        train.fit(recipe, task, tmp_path, **QUIET)
    last.unlink()
    assert train.fit(recipe, task, tmp_path, **QUIET).sets


def test_another_training_lies_there(task, tiny, tmp_path):
    """Other settings are refused, finished or not; the same ones are found finished; overwrite trains again."""
    refused(RuntimeError, "killed", lambda: train.fit(tiny("ce"), task, tmp_path, callbacks=[Stop(epoch=1)], **QUIET))
    with pytest.raises(ValueError, match="an interrupted training with other settings"):
        train.fit(tiny("ce", "main.rate=0.2"), task, tmp_path, **QUIET)
    train.fit(tiny("ce"), task, tmp_path, **QUIET)
    said = []
    train.fit(tiny("ce"), task, tmp_path, say=said.append, **QUIET)
    assert said == ["ce/seed0: is finished already"]
    with pytest.raises(ValueError, match="holds a run with other settings"):
        train.fit(tiny("ce", "main.rate=0.2"), task, tmp_path, **QUIET)
    train.fit(tiny("ce", "main.rate=0.2"), task, tmp_path, overwrite=True, **QUIET)
    assert json.loads((tmp_path / "study.json").read_text())["runs"][0]["settings"]["stage"]["main"]["rate"] == 0.2


def test_sharpness_refuses_a_scaled_loss(tiny, task, tmp_path):
    """Two gradients per step cannot be scaled as float16 needs: said before anything is trained."""
    with pytest.raises(ValueError, match=r"precision='16-mixed' scales the loss, .* set precision='bf16-mixed'"):
        train.fit(tiny("sure"), task, tmp_path, precision="16-mixed", **QUIET)
    assert not list(tmp_path.iterdir())
