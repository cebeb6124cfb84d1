"""ConfidNet: a branch beside a finished network, then a copy of its body; what stands still and what drops units."""

import warnings

import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lightning = pytest.importorskip("lightning.pytorch")

from abstain.nn import train

pytestmark = pytest.mark.filterwarnings("ignore")
QUIET = {"enable_progress_bar": False, "accelerator": "cpu"}


def test_confidnet_leaves_the_classifier_and_trains_a_copy(task, tiny, tmp_path):
    """After stage one the network does not move; the copy of its body does, in the last stage only."""
    recipe = tiny("confidnet", "network.name=vgg13bn", "copy.rate=0.01")
    states = []

    class Keep(lightning.Callback):
        def on_train_end(self, trainer, pl_module):
            states.append({key: value.clone() for key, value in pl_module.learner.state_dict().items()})

    train.fit(recipe, task, tmp_path, callbacks=[Keep()], **QUIET)
    main, branch, last = states

    def moved(a, b, prefix):
        return any(not torch.equal(a[key], b[key]) for key in a if key.startswith(prefix))

    assert not moved(main, branch, "network.")
    assert not moved(main, last, "network.")
    assert moved(main, branch, "branch.")
    assert moved(branch, last, "body.")
    frozen = [key for key in last if key.startswith("body.") and "running" in key]
    assert all(torch.equal(last[key], last["network." + key]) for key in frozen)


@pytest.mark.parametrize("dropped", [True, False])
def test_dropout_of_the_frozen_network_while_the_branch_is_trained(dropped, task, tiny, tmp_path):
    """On in that stage where the recipe says so, as in FD-Shifts; never in the last stage; batch norm stands still."""
    change = [] if dropped else ["stage.confidence.body_dropout=false"]
    recipe = tiny("confidnet", "network.name=vgg13bn", "network.dropout=true", *change)
    assert {stage.clip for stage in recipe.stage.values()} == {1.0}
    seen = []

    class Look(lightning.Callback):
        def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
            parts = list(pl_module.learner.network.modules())
            kinds = (torch.nn.Dropout, torch.nn.BatchNorm2d)
            seen.append([{part.training for part in parts if isinstance(part, kind)} for kind in kinds])

    train.fit(recipe, task, tmp_path, callbacks=[Look()], **QUIET)
    stages = [seen[0], seen[len(seen) // 2], seen[-1]]
    assert stages == [[{True}, {True}], [{dropped}, {False}], [{False}, {False}]]
