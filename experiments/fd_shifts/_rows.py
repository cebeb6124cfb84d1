"""Networks and sizes: ConfidNet (its body is plain cross-entropy), DeVries & Taylor, Deep Gamblers; dropout or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from experiments.fd_shifts._tables import SCORES, tables
from experiments.training._jobs import Job, Setting, Study

#: As published: foreign data by their own statistics, validation the first 1,000 images of the test set.
FASHION = Setting(
    "fashion_mnist", "fashion_mnist", 60_000, "classes=10,size=28,channels=1",
    foreign=("kmnist:semantic", "notmnist:semantic", "cifar10:non-semantic", "textures:non-semantic"),
    corruptions=("all",), statistics="own",
)  # fmt: skip
#: One class of each super-class is never seen in training.
FASHION_SUB = replace(FASHION, name="fashion_mnist_sub", n=42_000, generated="classes=3,size=28,channels=1", foreign=(),
                      corruptions=(), sub_classes=("Coat", "Sneaker", "Dress"))  # fmt: skip
SMOKE = Setting("smoke", "synthetic:n=160,classes=4,size=12", 160, "classes=4,size=12",
                foreign=("synthetic:n=60,classes=4,size=12,seed=5:semantic",), corruptions=("fog",),
                validation="test:0.3", statistics="own")  # fmt: skip


def _cifar(name: str, other: str, classes: int) -> Setting:
    foreign = (f"{other}:semantic", "svhn:non-semantic", "tiny_imagenet:semantic")
    return Setting(name, name, 50_000, f"classes={classes},size=32,channels=3", foreign, ("all",), statistics="own")


CIFAR10, CIFAR100 = _cifar("cifar10", "cifar100", 10), _cifar("cifar100", "cifar10", 100)
#: FD-Shifts drops one super-class next to; here all twenty are kept.
CIFAR100_SUB = replace(
    CIFAR100, name="cifar100_sub", n=40_000, generated="classes=20,size=32,channels=3", foreign=(), corruptions=(),
    sub_classes=("seal", "flatfish", "tulip", "bowl", "pear", "lamp", "couch", "beetle", "lion", "skyscraper", "sea",
                 "cattle", "fox", "snail", "man", "snake", "shrew", "pine_tree", "train", "streetcar"),
)  # fmt: skip
SVHN = Setting(
    "svhn", "svhn", 73_257, "classes=10,size=32,channels=3",
    foreign=("cifar10:non-semantic", "cifar100:non-semantic", "tiny_imagenet:non-semantic"), statistics="own",
)  # fmt: skip
#: Sets with a shift of their own. Validation: FD-Shifts permutes CAMELYON's test set first, so it is drawn here;
#: ENTITY-13 is tested on ImageNet's validation images, where FD-Shifts cuts 10,000 from the training ones.
IWILDCAM = Setting("iwildcam", "iwildcam", 129_809, "classes=182,size=448,channels=3", shifted=("iwildcam:shift",),
                   side=448)  # fmt: skip
CAMELYON = Setting("camelyon17", "camelyon17", 302_436, "classes=2,size=96,channels=3", shifted=("camelyon17:shift",),
                   validation="test:1000", side=96)  # fmt: skip
BREEDS = Setting("breeds", "breeds", 167_600, "classes=13,size=224,channels=3", shifted=("breeds:shift",),
                 validation="test:1000", side=224)  # fmt: skip


def seeds_of(
    setting: Setting, seeds: Sequence[int], rewards: Sequence[float], own: dict[str, tuple[str, ...]],
    common: Sequence[str], passes: int,
) -> list[Job]:  # fmt: skip
    """Return every candidate of every family for each seed; ``own`` holds the epochs of each family."""
    found = []
    for seed, dropout in product(seeds, ("false", "true")):
        shared = (*common, f"dropout={dropout}", f"validation={setting.validation}", "extract.train=false")
        shared += ("statistics=own",)
        if dropout == "true":
            shared += (f"extract.passes={passes}",)
        for family in ("confidnet", "devries"):
            found.append(Job(setting, f"{family}-dropout={dropout}", family, (*shared, *own[family]), seed))
        for reward in rewards:
            settings = (*shared, f"reward={reward}", *own["deep_gamblers"])
            name = f"deep_gamblers-reward={reward:g}-dropout={dropout}"
            found.append(Job(setting, name, "deep_gamblers", settings, seed))
    return found


def _epochs(
    classifier: int, confidence: int, copy: int, devries: int, gamblers: int, warm_up: int
) -> dict[str, tuple[str, ...]]:
    return {
        "confidnet": (f"main.epochs={classifier}", f"confidence.epochs={confidence}", f"copy.epochs={copy}"),
        "devries": (f"epochs={devries}",),
        "deep_gamblers": (f"epochs={gamblers}", f"objective.warm_up={warm_up}"),
    }


_PLAIN = ("crop=0", "cutout=0", "flip=false")
#: The rate falls after each epoch, not after each batch.
_BY_EPOCH = ("stage.main.schedule=cosine_epochs",)


def jobs(size: str) -> list[Job]:
    """Return the trainings of a size, in order."""
    if size == "smoke":
        tiny = ("network.name=small", "network.width=4", "data.batch=32", "data.cutout=4")
        return seeds_of(SMOKE, [0, 1], [2.2, 6.0], _epochs(2, 1, 1, 2, 3, 1), tiny, 3)
    if size == "gpu":
        usual, hundred = (2.2, 3.0, 6.0, 10.0), (2.2, 3.0, 6.0, 10.0, 12.0, 15.0, 20.0)
        long = _epochs(250, 200, 20, 250, 300, 100)
        # images of SVHN are normalised and nothing else
        svhn = ("network.name=svhn_net", "stage.main.rate=0.01", *_PLAIN, *_BY_EPOCH)
        return [
            *seeds_of(CIFAR100, range(5), hundred, long, _BY_EPOCH, 50),
            *seeds_of(CIFAR10, range(5), usual, long, _BY_EPOCH, 50),
            *seeds_of(CIFAR100_SUB, range(5), hundred, long, _BY_EPOCH, 50),
            *seeds_of(SVHN, range(5), usual, _epochs(100, 200, 20, 100, 150, 50), svhn, 50),
            *_with_a_shift(),
        ]
    small = ("network.name=small", "crop=0", "flip=false", "cutout=0", "stage.main.rate=0.05")
    # as measured; FD-Shifts clips the later stages, drops units in the second one and lowers its rate
    measured = ("confidence.clip=0.0", "copy.clip=0.0", "confidence.body_dropout=false", "confidence.schedule=constant")
    short = _epochs(10, 8, 2, 10, 12, 4)
    short["confidnet"] += measured
    return [
        *seeds_of(FASHION, range(3), (2.2, 6.0), short, small, 20),
        *seeds_of(FASHION_SUB, range(3), (2.2, 6.0), short, small, 20),
    ]


def _with_a_shift() -> list[Job]:
    """Return the trainings on sets that come with a shift, with their schedules, rates and numbers of runs."""
    large = ("network.name=resnet50", "network.normalise=imagenet", *_BY_EPOCH)
    usual, more = (2.2, 3.0, 6.0, 10.0), (2.2, 3.0, 6.0, 10.0, 15.0)

    def rate(value: float, decay: float) -> tuple[str, ...]:
        return f"stage.main.rate={value}", f"stage.main.weight_decay={decay}"

    traps, cells = (*large, *_PLAIN, *rate(0.001, 0.0)), (*large, *_PLAIN, *rate(0.01, 0.01))
    things = (*large, "crop=28", "cutout=0", *rate(0.1, 1e-4))  # there: crops of random size, and colours jittered
    return [
        *seeds_of(IWILDCAM, range(5), more, _epochs(12, 5, 3, 12, 18, 6), traps, 50),
        *seeds_of(CAMELYON, range(10), usual, _epochs(5, 3, 1, 5, 8, 3), cells, 50),
        *seeds_of(BREEDS, range(2), more, _epochs(300, 200, 20, 300, 350, 50), things, 50),
    ]


STUDY = Study("fd_shifts", __doc__ or "", jobs, tables, tuple(SCORES))
