"""Rows and sizes: one network per data set; epochs, seeds and architecture are ours."""

# The paper gives none of these; its repository does (jay-gatz/CWSA c55d6fb). mnist_cnn.py: a convolution of 16
# channels, a layer of 64 units, Adam at .001, batches of 64, three epochs. cifar_cnn.py: two of 32 and 64,
# a layer of 256 units, five epochs. No script sets a seed.

from __future__ import annotations

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
        return _rows(SMOKE, 2, "network.name=small", "network.width=4", "data.batch=32", "epochs=2")
    if size == "gpu":
        return _rows(MNIST, 5) + _rows(CIFAR10, 5, "flip=true")
    digits = ("network.name=small", "crop=0", "epochs=10")
    pictures = ("network.name=vgg11bn", "network.width=16", "epochs=10", "flip=true")
    return _rows(MNIST, 3, *digits) + _rows(CIFAR10, 3, *pictures)


STUDY = Study("cwsa_cnn", __doc__ or "", jobs, tables)
