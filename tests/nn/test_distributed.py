"""Two processes (gloo) give what one process gives: live metrics and global ranks of the objectives."""

import os
import sys

import numpy as np
import pytest
import torch
import torch._dynamo  # what DistributedDataParallel loads, once for both processes
from torch import distributed as dist

from abstain import nn
from tests.processes import beside

pytest.importorskip("torchmetrics")
pytestmark = pytest.mark.skipif(not dist.is_available(), reason="needs torch.distributed")


def work(send, rank, store):
    """Send what one of two processes finds of its rows; with the rank -1 what one process finds of all."""
    torch.set_num_threads(1)
    if rank >= 0:
        dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(90, 4, generator=generator, dtype=torch.float64).round(decimals=1)
    labels = torch.randint(4, (90,), generator=generator)
    own = slice(0, 90) if rank < 0 else (slice(0, 50) if rank == 0 else slice(50, 90))
    found = {}
    for name, bins in [("exact", None), ("binned", 256)]:
        for loss in ("zero_one", "cross_entropy"):
            metric = nn.SelectiveMetrics(["augrc", "aurc", "aurc(estimator=log)"], bins=bins, loss=loss)
            for rows in torch.arange(90)[own].split(17):
                metric.update(logits[rows], labels[rows])
            found[f"{name} {loss}"] = {key: value.item() for key, value in metric.compute().items()}

    # a process without a single batch
    metric = nn.SelectiveMetrics(["augrc"])
    if rank != 1:
        metric.update(logits, labels)
    found["idle process"] = metric.compute()["augrc"].item()

    for criterion in (nn.AURCLoss(distributed=True), nn.AUGRCLoss(distributed=True, ties="exact", unit_mean=True)):
        model = torch.nn.Linear(4, 4, dtype=torch.float64)
        with torch.no_grad():
            model.weight.copy_(torch.eye(4))
            model.bias.zero_()
        wrapped = torch.nn.parallel.DistributedDataParallel(model) if rank >= 0 else model
        value = criterion(wrapped(logits[own]), labels[own])
        value.backward()
        total = value.detach().clone()
        if rank >= 0:
            dist.all_reduce(total)
            total /= 2
        found[f"{type(criterion).__name__} value"] = total.item()
        found[f"{type(criterion).__name__} gradient"] = model.weight.grad.tolist()

    # a process whose data have run out gives 0, not NaN
    confidence = (logits if rank != 1 else logits[:0]).amax(1)
    loss = confidence.exp()
    value = nn.rank_weighted_loss(loss, confidence, distributed=True)
    if rank >= 0:
        dist.all_reduce(value)
        value /= 2
    found["idle process, objective"] = value.item()
    send(found)
    if rank >= 0:
        dist.barrier()
        os._exit(0)  # all is said; threads of PyTorch's that outlive the group can hold up or abort a process


@pytest.mark.filterwarnings("ignore")
def test_two_processes_equal_one(tmp_path, monkeypatch):
    """Uneven shares, ties across processes: metrics to the last bit for 0/1 losses, objectives and gradients too."""
    if sys.platform == "linux":
        monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")  # the host's name need not resolve
    both, alone = [beside(work, rank, tmp_path / "store") for rank in (0, 1)], []
    work(alone.append, -1, None)
    for found in [received() for received in both]:
        assert found.keys() == alone[0].keys()
        for name, value in alone[0].items():
            if name == "exact zero_one":
                assert found[name] == value
            elif isinstance(value, dict):
                assert found[name] == pytest.approx(value, rel=1e-12)
            else:
                np.testing.assert_allclose(found[name], value, rtol=1e-12, atol=1e-15)
