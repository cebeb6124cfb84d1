"""Rows and sizes of Table 1 of Zhou et al. (2025), and of what might make fine-tuning on a metric help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from experiments.estimators_table1._tables import tables
from experiments.training._jobs import Job, Setting, Study

#: Row -> recipe and its settings; "raw" are the weights as published, of mean 1/2. Those of AURC have mean 1 anyway.
ROWS: dict[str, tuple[str, tuple[str, ...]]] = {
    "ce": ("finetune_ce", ()),
    "aurc": ("finetune_aurc", ()),
    "aurc_log": ("finetune_aurc", ("tune.objective.estimator=log",)),
    "sele": ("finetune_sele", ()),
    "augrc": ("finetune_augrc", ()),
    "cwsa": ("finetune_cwsa", ()),
    "sele_raw": ("finetune_sele", ("tune.objective.unit_mean=false",)),
    "augrc_raw": ("finetune_augrc", ("tune.objective.unit_mean=false",)),
    "crl": ("finetune_ce", ("tune.crl=1.0",)),
}
PAPER = ("ce", "sele", "sele_raw", "aurc", "aurc_log", "augrc")
#: Branches that are added to the pre-trained model; they have no stage of pre-training of their own.
BRANCHES = {"deep_gamblers": "deep_gamblers", "devries": "devries", "confidnet": "confidnet"}

NEAR = Setting("near", "fashion_mnist", 60_000, "classes=10,size=28,channels=1")
CIFAR10 = Setting("cifar10", "cifar10", 50_000, "classes=10,size=32,channels=3")
CIFAR100 = Setting("cifar100", "cifar100", 50_000, "classes=100,size=32,channels=3")
SMOKE = Setting("smoke", "synthetic:n=160,classes=4,size=12", 160, "classes=4,size=12", validation="test:0.2")

_SMALL = ("network.name=small", "crop=0", "flip=false")
#: Networks of the paper's figures that its Table 1 does not fine-tune.
FIGURES = ("resnet20", "resnet56", "resnet110", "resnet164")
NETWORKS = ("resnet18", "resnet34", "resnet50", "vgg16bn", "vgg19bn", "wideresnet28x10")


def seeds_of(
    setting: Setting, names: Sequence[str], seeds: Sequence[int], *, epochs: int, rate: float, tune: int,
    tune_rate: float, batch: int = 128, network: Sequence[str] = _SMALL, prefix: str = "", branches: bool = False,
) -> list[Job]:  # fmt: skip
    """Return the jobs of one setting: per seed a pre-training, and copies of it that are fine-tuned."""
    found = []
    common = (*network, "extract.train=false", "validation=first:1000")
    tuned = (*common, f"data.batch={batch}", f"main.epochs={epochs}", f"tune.epochs={tune}", f"tune.rate={tune_rate}")
    start = f"{prefix}before"
    for seed in seeds:
        found.append(Job(setting, start, "ce", (*common, f"epochs={epochs}", f"main.rate={rate}"), seed))
        for name in names:
            recipe, own = ROWS[name]
            found.append(Job(setting, f"{prefix}{name}", recipe, (*tuned, *own), seed, start))
        for name in BRANCHES if branches else ():
            own = (*common, "data.cutout=0", f"epochs={tune}", f"main.rate={tune_rate}", "main.clip=0.0")
            own += ("objective.warm_up=0",) if name == "deep_gamblers" else ()
            # as measured; FD-Shifts clips the later stages, drops units in the second one and lowers its rate
            own += (
                ("confidence.rate=0.001", "confidence.clip=0.0", "copy.clip=0.0", "confidence.schedule=constant")
                if name == "confidnet"
                else ()
            )
            found.append(Job(setting, f"{prefix}{name}", BRANCHES[name], own, seed, start))
    return found


def jobs(size: str) -> list[Job]:
    """Return the trainings of a size, in order."""
    if size == "smoke":
        tiny = ("network.name=small", "network.width=4", "crop=0")
        return seeds_of(SMOKE, list(ROWS), [0, 1], epochs=2, rate=0.05, tune=1, tune_rate=0.01, batch=32, network=tiny,
                        branches=True)  # fmt: skip
    if size == "gpu":
        return [  # the authors' script keeps the rate of fine-tuning until the last epoch
            replace(job, settings=(*job.settings, "tune.schedule=constant")) if job.start else job
            for setting in (CIFAR100, CIFAR10)
            for name in (*NETWORKS, *FIGURES)
            for job in seeds_of(setting, PAPER if name in NETWORKS else (), range(5), epochs=200, rate=0.1, tune=30,
                                tune_rate=1e-3, network=(f"network.name={name}",), prefix=f"{name}-")
        ]  # fmt: skip
    return [*_when(), *_points(range(3)), *_points(range(3, 5))]


def _points(seeds: Sequence[int]) -> list[Job]:
    """Two points of a training: near its best, and while it still improves."""
    names = list(ROWS)
    near = seeds_of(NEAR, names, seeds, epochs=15, rate=0.05, tune=3, tune_rate=1e-3)
    young = seeds_of(replace(NEAR, name="young"), names, seeds, epochs=4, rate=0.05, tune=3, tune_rate=0.01,
                     branches=True)  # fmt: skip
    return near + young


def _when() -> list[Job]:
    """What might make it help: larger batches, longer training, noise in the labels, harder data."""
    names, few = ("ce", "aurc", "sele", "augrc"), range(3)
    usual = {"epochs": 15, "rate": 0.05, "tune": 3, "tune_rate": 1e-3}
    return [
        *seeds_of(replace(NEAR, name="large_batch"), names, few, **usual, batch=1024),  # type: ignore[arg-type]
        *seeds_of(replace(NEAR, name="fitted"), names, few, **{**usual, "epochs": 60}),  # type: ignore[arg-type]
        *seeds_of(replace(NEAR, name="noisy", noise=0.2), names, few, **usual),  # type: ignore[arg-type]
        *seeds_of(replace(CIFAR10, name="hard"), names, few, **usual),  # type: ignore[arg-type]
        *seeds_of(replace(NEAR, name="longer"), names, few, **{**usual, "tune": 15}),  # type: ignore[arg-type]
    ]


STUDY = Study("estimators_table1", __doc__ or "", jobs, tables, ("AURC", "AUGRC"))
