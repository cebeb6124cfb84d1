"""Every tensor is made where the data are: nothing lands on the default device, and a GPU gives the CPU's numbers."""

import copy

import numpy as np
import pytest
import torch
from torch import nn as tnn

from abstain import nn
from abstain._checks import to_numpy
from abstain.nn import data, train
from tests.nn.references import OBJECTIVES

pytest.importorskip("torchmetrics")

MODEL = tnn.Sequential(
    tnn.Conv2d(2, 5, 3), tnn.BatchNorm2d(5), tnn.ReLU(), tnn.Dropout(0.5), tnn.Flatten(), tnn.Linear(180, 4)
)
X = torch.randn(24, 2, 8, 8, generator=torch.Generator().manual_seed(0))
Y = torch.arange(24) % 4
MEMORIES = nn.DeVriesLoss(hint_share=0.0), nn.CorrectnessRankingLoss(24)
METRICS = [nn.SelectiveMetrics(["augrc", "aurc"], bins=bins) for bins in (None, 4096)]
CPU = torch.device("cpu")


def workout(device, folder):
    """Whatever of ``abstain.nn`` uses tensors, on a device: numbers by name."""
    model, x, y = copy.deepcopy(MODEL).to(device), X.to(device), Y.to(device)
    found = {}
    for name, criterion in OBJECTIVES.items():
        logits = model.eval()(x).detach().requires_grad_()
        found[name] = criterion(logits, y % 3)
        (found[f"{name} gradient"],) = torch.autograd.grad(found[name], logits)
    devries, memory = (copy.deepcopy(module).to(device) for module in MEMORIES)
    found["DeVries"] = devries(logits, logits[:, 0], y)
    memory.update(logits, y, torch.arange(24, device=device))
    found["CRL memory"] = memory(logits, torch.arange(24, device=device))
    for metric in METRICS:
        metric.to(device).reset()
        metric.update(logits, y)
        found |= {f"{metric.bins} {name}": value for name, value in metric.compute().items()}
    found["passes"] = nn.passes_confidence(torch.stack([logits, logits * 2]), "neg_mutual_information")
    found["ODIN"] = nn.odin(model, x, std=torch.ones(2, 1, 1, device=device))
    found["GradNorm"] = nn.gradnorm(model, x)
    found["Gram"] = nn.gram_score(model, X, nn.fit_gram(model, [(X, Y)], [(X[:8], Y[:8])], n_classes=4))
    outputs = nn.extract(model, [(X[:12], Y[:12]), (X[12:], Y[12:])], folder / f"{device}.npz", passes=3, device=device)
    found |= {"logits": outputs.logits, "features": outputs.features, "head": outputs.head[0]}
    assert all(value.device == logits.device for value in found.values() if isinstance(value, torch.Tensor))
    return {name: to_numpy(value) for name, value in found.items()}


def assert_close(found, expected, **tolerance):
    assert found.keys() == expected.keys()
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], **tolerance, err_msg=name)


def test_nothing_is_made_on_the_default_device(tmp_path):
    """The default device is one that holds no data: whatever is made there by mistake cannot meet the rest."""
    (tmp_path / "plain").mkdir()
    expected = workout(CPU, tmp_path / "plain")
    with torch.device("meta"):
        found = workout(CPU, tmp_path)
    assert_close(found, expected, rtol=0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_gives_the_numbers_of_the_cpu(tmp_path):
    """Objectives with gradients, metrics, scores and the extractor; the objectives also in deterministic mode."""
    assert_close(workout(torch.device("cuda:0"), tmp_path), workout(CPU, tmp_path), rtol=1e-3, atol=1e-4)
    torch.use_deterministic_algorithms(True)
    try:
        logits = torch.randn(64, 4, device="cuda", requires_grad=True)
        for ties in ("order", "exact"):
            nn.AURCLoss(ties=ties)(logits, torch.arange(64, device="cuda") % 4).backward()
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_mixed_precision_on_a_gpu(dtype):
    """A step under autocast with a gradient scaler: finite loss in float32, finite gradient."""
    model = tnn.Linear(6, 4, device="cuda")
    x, y = torch.randn(32, 6, device="cuda"), torch.arange(32, device="cuda") % 4
    scaler = torch.amp.GradScaler("cuda", enabled=dtype == torch.float16)
    with torch.autocast("cuda", dtype=dtype):
        value = nn.AURCLoss()(model(x), y)
    scaler.scale(value).backward()
    assert value.dtype == torch.float32
    assert bool(model.weight.grad.isfinite().all())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.filterwarnings("ignore")
def test_outputs_are_computed_where_the_network_was_trained(tmp_path):
    """Lightning leaves a network on the processor, where outputs of many images would take long."""
    pytest.importorskip("lightning.pytorch")
    recipe = train.recipe("ce", ["network.name=small", "epochs=1", "average.kind=swa", "average.start=0"])
    task, places = data.task("synthetic:n=64,size=12"), set()

    def place(module, given, out):
        if isinstance(module, tnn.Conv2d):
            places.add(out.device.type)

    with tnn.modules.module.register_module_forward_hook(place):
        run = train.fit(recipe, task, tmp_path, enable_progress_bar=False, accelerator="gpu", devices=1)
    assert places == {"cuda"}
    assert not any(each.is_cuda for each in torch.load(tmp_path / run.folder / "weights.pt").values())
