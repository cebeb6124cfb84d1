"""The weights that are kept: last, or most accurate on the validation set."""

import warnings

import numpy as np
import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lightning = pytest.importorskip("lightning.pytorch")

from abstain.nn import train
from abstain.study import read_study
from tests.refusal import refused

pytestmark = pytest.mark.filterwarnings("ignore")
QUIET = {"enable_progress_bar": False, "accelerator": "cpu"}


def accuracy(folder, name):
    """Accuracy on the validation set, from the saved outputs."""
    return 1.0 - float(np.mean(read_study(folder).outputs(name, "seed0", "validation").error))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("ce", ["main.rate=0.3"]),
        ("ce", ["main.rate=0.3", "main.average.kind=ema", "main.average.tau=0.9"]),
        pytest.param(
            "sure_plus", ["main.rate=0.2", "network.name=resnet18", "network.width=2"], marks=pytest.mark.slow
        ),
        pytest.param("sure", ["main.rate=0.3", "main.average.anneal=1"], marks=pytest.mark.slow),
    ],
)
def test_the_best_epoch_is_the_best_of_trainings_of_each_length(name, changes, task, tiny, tmp_path):
    """At a constant rate, a training of k epochs is the beginning of a longer one; the first of equals is kept."""
    shared = [*changes, "main.schedule=constant"]
    lengths = (2, 3, 4) if name == "sure" else (1, 2, 3, 4)
    found = {}
    for epochs in lengths:
        train.fit(tiny(name, *shared, f"epochs={epochs}"), task, tmp_path / str(epochs), **QUIET)
        found[epochs] = accuracy(tmp_path / str(epochs), name)
    train.fit(tiny(name, *shared, "epochs=4", "keep=best"), task, tmp_path / "best", **QUIET)
    best = min(found, key=lambda epochs: (-found[epochs], epochs))
    if name == "sure" and accuracy(tmp_path / "best", name) > found[best]:
        return  # the first epoch, before anything is averaged, was better still
    one, two = (torch.load(tmp_path / str(which) / name / "seed0/weights.pt", weights_only=True)
                for which in (best, "best"))  # fmt: skip
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert "most accurate on the validation set" in read_study(tmp_path / "best").runs[0].notes[-1]


def test_the_best_epoch_survives_an_end(task, tiny, tmp_path):
    """Killed in the last epoch: the best weights so far are in the checkpoint."""
    recipe = tiny("ce", "main.rate=0.3", "keep=best", "epochs=4")

    class Stop(lightning.Callback):
        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
            if trainer.current_epoch == 3:
                raise RuntimeError("killed")

    train.fit(recipe, task, tmp_path / "whole", **QUIET)
    refused(RuntimeError, "killed", lambda: train.fit(recipe, task, tmp_path / "ended", callbacks=[Stop()], **QUIET))
    train.fit(recipe, task, tmp_path / "ended", **QUIET)
    one, two = (torch.load(tmp_path / which / "ce/seed0/weights.pt", weights_only=True) for which in ("whole", "ended"))
    assert all(torch.equal(one[key], two[key]) for key in one)


def test_what_accuracy_cannot_choose_is_refused():
    """A stage that leaves the classifier alone has the same accuracy in every epoch."""
    refused(ValueError, "does not change; keep last", train.recipe, "confidnet", ["stage.confidence.keep=best"])


def test_a_later_setting_leaves_finished_runs_finished(task, tiny, tmp_path):
    """A manifest without a setting of today counts as its default; with another value it is another training."""
    import json

    recipe, said = tiny("ce", "epochs=1"), []
    train.fit(recipe, task, tmp_path, **QUIET)
    manifest = tmp_path / "study.json"
    table = json.loads(manifest.read_text(encoding="utf-8"))
    assert table["runs"][0]["settings"]["stage"]["main"].pop("keep") == "last"
    manifest.write_text(json.dumps(table), encoding="utf-8")
    train.fit(recipe, task, tmp_path, say=said.append, **QUIET)
    assert said == ["ce/seed0: is finished already"]
    with pytest.raises(ValueError, match="other settings"):
        train.fit(tiny("ce", "epochs=1", "keep=best"), task, tmp_path, **QUIET)
