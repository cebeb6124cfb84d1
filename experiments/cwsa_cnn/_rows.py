"""Rows and sizes: the authors' network of each data set, with their optimizer and epochs; seeds are ours."""

# jay-gatz/CWSA c55d6fb, mnist_cnn.py and cifar_cnn.py; no script sets a seed. The whole study fits a processor.

from __future__ import annotations

from dataclasses import replace

from experiments.cwsa_cnn._tables import tables
from experiments.training._jobs import Job, Setting, Study

MNIST = Setting("mnist", "mnist", 60_000, "classes=10,size=28,channels=1")
CIFAR10 = Setting("cifar10", "cifar10", 50_000, "classes=10,size=32,channels=3")
SMOKE = Setting("smoke", "synthetic:n=160,classes=4,size=12", 160, "classes=4,size=12", validation="test:0.2")


def _rows(setting: Setting, seeds: int, *settings: str) -> list[Job]:
    shared = ("validation=first:1000", "extract.train=false", *settings)
    return [Job(setting, "cwsa_cnn", "cwsa_cnn", shared, seed) for seed in range(seeds)]


def jobs(size: str) -> list[Job]:
    """Return the trainings of a size, in order."""
    if size == "smoke":
        return _rows(SMOKE, 2, "network.width=4", "data.batch=32", "epochs=2")
    cifar10 = ("network.name=cwsa_cifar10", "epochs=5")
    if size == "gpu":
        return _rows(MNIST, 5) + _rows(CIFAR10, 5, *cifar10)
    # nine epochs of 20,000 digits are as many batches as three of 60,000
    return _rows(replace(MNIST, n=20_000), 3, "epochs=9") + _rows(CIFAR10, 3, *cifar10)


STUDY = Study("cwsa_cnn", __doc__ or "", jobs, tables, ("MSP",))
