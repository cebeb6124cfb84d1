"""Recipes as frozen settings: each with its default, and beside it the reason for the default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from abstain.nn.ingredients import AugMix, Clean, CutMix, Mixup, PixMix, RegMixup


@dataclass(frozen=True)
class NetworkSettings:
    """Which network, and with which head."""

    name: str = "resnet18"  # CIFAR network of OpenOOD, SURE and the joint-reliability paper
    width: int = 0  # channels of the first stage; 0: the published number
    dropout: bool = False  # where FD-Shifts has it; its studies choose it on the validation set
    head: Literal["linear", "cosine"] = "linear"  # cosine: SURE
    scale: float = 8.0  # of the cosine head; SURE's repository
    weights: Literal["random", "pretrained"] = "random"  # pretrained: those that timm or torchvision offer
    # data: statistics of the training images; imagenet: those of pretrained weights
    normalise: Literal["data", "imagenet"] = "data"


@dataclass(frozen=True)
class DataSettings:
    """How images come to the network."""

    batch: int = 128  # all sources; over all processes together. The last, smaller batch of an epoch is left out
    crop: int = 4  # random crops after padding by this; CIFAR standard
    flip: bool = True  # random horizontal flips; CIFAR standard; no flips for digits
    cutout: int = 0  # side of a grey square; 16 in FD-Shifts and F-SAM, each with chance 1/2
    cutout_chance: float = 0.5  # FD-Shifts and F-SAM
    validation: str = "test:0.1"  # a tenth of the test set, as large as FD-Shifts' (first:1000); SURE: train:0.1
    statistics: str = "id"  # OOD data are normalised as all inputs are; own: as FD-Shifts does
    workers: int = 0  # processes that decode images; needed for folders of large images only


#: Terms of the loss by their name in a recipe.
TERMS: dict[str, type[Any]] = {
    "clean": Clean,
    "mixup": Mixup,
    "regmixup": RegMixup,
    "cutmix": CutMix,
    "augmix": AugMix,
    "pixmix": PixMix,
}


@dataclass(frozen=True)
class Objective:
    """The loss of the clean batch."""

    name: Literal["ce", "aurc", "sele", "augrc", "cwsa", "deep_gamblers", "devries", "confidnet"] = "ce"
    estimator: Literal["harmonic", "log", "plugin"] = "harmonic"  # weights of aurc; log: the paper's second
    unit_mean: bool = True  # rank weights of mean 1 keep the learning rate right; false: raw, as published
    cross_entropy: float = 1.0  # share of cross-entropy beside cwsa, which alone does not train
    threshold: float = 0.5  # of cwsa; the lower end of the paper's sweep
    reward: float = 2.2  # of deep_gamblers; chosen from a grid on the validation set
    warm_up: int = 0  # epochs of cross-entropy before deep_gamblers; 100 on CIFAR in FD-Shifts
    budget: float = 0.3  # of devries; its authors
    hint_share: float = 0.5  # of devries; its authors


@dataclass(frozen=True)
class Sharpness:
    """A sharpness-aware optimizer around the base."""

    kind: Literal["none", "sam", "friendly", "mixed"] = "none"  # friendly: F-SAM; mixed: the joint paper's formula
    rho: float = 0.05  # SURE and FMFP; .2 for friendly in its authors' CIFAR-100 runs
    sigma: float = 1.0  # of friendly; its paper
    lam: float = 0.6  # of friendly; its authors' CIFAR-100 script, .9 and .95 elsewhere in their code
    gamma: float = 0.5  # of mixed; not given in the paper
    freeze: bool = True  # batch norm stands still in the second pass, as in F-SAM; false: SURE and FMFP
    same_batch: bool = True  # one mixed batch for both passes; false: drawn anew, as in SURE's code


@dataclass(frozen=True)
class Average:
    """An average of weights; it is what is evaluated, with batch norm re-estimated."""

    kind: Literal["none", "ema", "swa"] = "none"  # ema: SURE+; swa: SURE
    tau: float = 0.999  # of ema, per step; not given in the paper
    warm_up: bool = True  # of ema: a shorter memory at first, so that the start is forgotten
    start: int = 0  # first epoch of swa, from 0; 120 of 200 in SURE and FMFP
    rate: float = 0.05  # learning rate of swa; SURE and FMFP
    anneal: int = 10  # epochs to reach that rate, by a cosine; FMFP
    reestimate: bool = True  # batch-norm statistics from one pass over the training set


@dataclass(frozen=True)
class Stage:
    """One training, from the weights that the stage before left."""

    epochs: int = 200  # SURE, F-SAM and the joint-reliability paper; OpenOOD: 100
    # confidence: the branch alone; copy: the branch and a copy of the body
    trains: Literal["all", "confidence", "copy"] = "all"
    body_dropout: bool = (
        False  # units of the frozen network are dropped, while the branch alone is trained; true in FD-Shifts
    )
    objective: Objective = field(default_factory=Objective)
    terms: Mapping[str, Any] = field(default_factory=dict)
    crl: float = 0.0  # weight of correctness ranking; 1 on CIFAR-100 and .5 on CIFAR-10 in SURE
    optimizer: Literal["sgd", "adam"] = "sgd"
    rate: float = 0.1  # all CIFAR sources but F-SAM, .05
    momentum: float = 0.9  # all sources
    nesterov: bool = False  # SURE, FMFP, F-SAM; true in OpenOOD
    weight_decay: float = 5e-4  # all repositories but F-SAM, 1e-3; the joint paper writes 5e-3, a typing error?
    # cosine: per step to final_rate; cosine_epochs: per epoch, SURE
    schedule: Literal["cosine", "cosine_epochs", "constant"] = "cosine"
    final_rate: float = 0.0  # of the cosine
    clip: float = 0.0  # largest norm of the gradient, 0: none; 1 in FD-Shifts
    sharpness: Sharpness = field(default_factory=Sharpness)
    average: Average = field(default_factory=Average)
    # last epoch, as FD-Shifts; best: most accurate on the validation set, as OpenOOD, SURE
    keep: Literal["last", "best"] = "last"

    def __post_init__(self) -> None:
        if self.keep == "best" and self.trains != "all":
            raise ValueError(
                f"keep='best' chooses by accuracy, which trains={self.trains!r} does not change; keep last"
            )
        clean = (
            not self.terms or "clean" in self.terms or ("regmixup" in self.terms and not self.terms["regmixup"].joined)
        )
        if not clean and (self.crl or self.objective.name != "ce"):
            raise ValueError(
                f"crl and objective {self.objective.name!r} need the clean batch as a pass of its own; add terms.clean"
            )


@dataclass(frozen=True)
class Extract:
    """What is kept of every set, beside logits, labels, features and head."""

    train: bool = True  # outputs of the training set, on which distance scores are fitted
    passes: int = 0  # Monte Carlo dropout passes; 50 in FD-Shifts
    odin: bool = False  # column odin: one pass with gradient more
    odin_temperature: float = 1000.0  # its authors
    odin_epsilon: float = 0.0014  # its authors, in units of images in [0, 1]
    gram: bool = False  # column gram: fitted on the training set


@dataclass(frozen=True)
class Recipe:
    """All settings of a training.

    Parameters
    ----------
    name : str
    about, source : str
        In words.
    found : str
        What our own study says against cross-entropy; printed by the command.
    network, data, extract
        Sections of settings.
    stage : dict of str to Stage
        In order.
    grid : dict
        Settings to choose on the validation set, with the values that were tried: ``{key: {data set: values}}``.

    Examples
    --------
    >>> from abstain.nn import train
    >>> recipe = train.recipe("sure_plus")
    >>> recipe.stage["main"].sharpness.kind, recipe.stage["main"].terms["mixup"].alpha
    ('friendly', 10.0)
    """

    name: str
    about: str = ""
    source: str = ""
    found: str = ""
    network: NetworkSettings = field(default_factory=NetworkSettings)
    data: DataSettings = field(default_factory=DataSettings)
    stage: Mapping[str, Stage] = field(default_factory=dict)
    extract: Extract = field(default_factory=Extract)
    grid: Mapping[str, Any] = field(default_factory=dict)

    def passes(self) -> dict[str, float]:
        """Return how often a batch goes forward and backward per step, by stage.

        Examples
        --------
        >>> from abstain.nn import train
        >>> {name: train.recipe(name).passes()["main"] for name in ("ce", "regmixup", "sure", "sure_plus")}
        {'ce': 1.0, 'regmixup': 2.0, 'sure': 4.0, 'sure_plus': 6.0}
        """
        return {name: stage_passes(stage) for name, stage in self.stage.items()}


def stage_passes(stage: Stage) -> float:
    """Forward and backward passes of one batch per step."""
    sizes = {"regmixup": 2.0, "augmix": 3.0 if "augmix" in stage.terms and stage.terms["augmix"].jsd else 1.0}
    once = sum(sizes.get(name, 1.0) for name in stage.terms) if stage.terms else 1.0
    return once * (1.0 if stage.sharpness.kind == "none" else 2.0)
