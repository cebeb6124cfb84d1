"""Named shifts: sub-classes held out of their super-class, and data of new classes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files

import torch

from abstain._checks import closest
from abstain.nn.data._images import OOD, Images

_TABLE = tomllib.loads((files("abstain.nn.data") / "classes.toml").read_text(encoding="utf-8"))
#: Data set, super-class and classes; names as in the data sets.
SUPER_CLASSES: dict[str, dict[str, list[str]]] = {name: table["super_classes"] for name, table in _TABLE.items()}
#: Names of classes that files without names have, in the order of their indices.
CLASS_NAMES: dict[str, tuple[str, ...]] = {name: tuple(table["names"]) for name, table in _TABLE.items()}


def hold_out(
    train: Images, test: Images, groups: Mapping[str, Sequence[str]], held_out: Sequence[str]
) -> tuple[Images, Images, Images]:
    """Return training and test images whose labels are super-classes, and the images of sub-classes held out.

    The model learns the super-classes without ever seeing some of their sub-classes; these, from training and test
    images together, are the sub-class shift.

    Parameters
    ----------
    train, test : Images
        With class names.
    groups : mapping of str to sequence of str
        Super-classes and their classes, each class once; classes in none are left out.
    held_out : sequence of str
        Classes that are kept out of training; every super-class keeps at least one.

    Returns
    -------
    train, test, shifted : Images

    Raises
    ------
    ValueError
        An unknown class; a class in two groups; a super-class without a class left; no class held out.

    References
    ----------
    Jaeger et al. (2023), ICLR: sub-class shift of CIFAR-100, there with one held-out class per super-class.

    Examples
    --------
    >>> from abstain.nn import data
    >>> train, test = data.synthetic(n=40, classes=4)
    >>> groups = {"low": ["class0", "class1"], "high": ["class2", "class3"]}
    >>> data.hold_out(train, test, groups, ["class1"])[2].class_names
    ('low', 'high')
    """
    if train.class_names is None or test.class_names != train.class_names:
        raise ValueError("sub-classes are named, but the images come without class names; give Images(class_names=)")
    names = list(train.class_names)
    flat = [name for group in groups.values() for name in group]
    for name in [*flat, *held_out]:
        if name not in names:
            raise ValueError(f"class {name!r} is not in {train.name}; {closest(name, names)}")
    twice = sorted({name for name in flat if flat.count(name) > 1})
    if twice:
        raise ValueError(f"class {twice[0]!r} is in two super-classes; put it into one")
    outside = sorted(set(held_out) - set(flat))
    if outside or not held_out:
        raise ValueError(f"held_out={list(held_out)!r}; give at least one class, and only classes of a super-class")
    empty = [group for group, members in groups.items() if not set(members) - set(held_out)]
    if empty:
        raise ValueError(f"super-class {empty[0]!r} has no class left to learn from; hold out fewer")
    coarse = torch.full((len(names),), OOD)
    for number, members in enumerate(groups.values()):
        for name in members:
            coarse[names.index(name)] = number
    gone = torch.tensor([name in held_out for name in names])

    def part(images: Images, keep: torch.Tensor, name: str) -> Images:
        chosen = images.select(keep.nonzero().reshape(-1))
        return Images(chosen.pixels, coarse[chosen.labels], tuple(groups), name)

    learnt = [part(each, (coarse >= 0)[each.labels] & ~gone[each.labels], each.name) for each in (train, test)]
    unseen = [part(images, gone[images.labels], images.name) for images in (train, test)]
    pixels = torch.cat([each.take(torch.arange(len(each))) for each in unseen])
    labels = torch.cat([each.labels for each in unseen])
    return learnt[0], learnt[1], Images(pixels, labels, tuple(groups), f"{train.name} sub-class shift")


def ood(images: Images, like: Images, statistics: str = "id") -> Images:
    """Return images of other data in the form that a model takes, without labels.

    Parameters
    ----------
    images : Images
        Out-of-distribution images; resized to the model's size, channels averaged and repeated where they differ.
    like : Images
        The model's training images.
    statistics : {"id", "own"}
        What images are normalised by. ``"id"``: as every input of the model is. ``"own"``, as FD-Shifts does: by
        their own mean and deviation per channel, so that a part of the shift is normalised away.

    Returns
    -------
    Images
        With labels -1.

    Raises
    ------
    ValueError
        Unknown statistics.

    Examples
    --------
    >>> from abstain.nn import data
    >>> train, _ = data.synthetic(n=10)
    >>> data.ood(data.synthetic(n=6, size=20, channels=1)[1], train)
    Images(synthetic test: 6 x 3 x 16 x 16, OOD)
    """
    if statistics not in ("id", "own"):
        raise ValueError(f"statistics={statistics!r} is not known; known: id, own")
    x = images.take(torch.arange(len(images))).float()
    channels, size = like.shape[0], like.shape[1]
    if x.shape[1] != channels:
        x = x.mean(dim=1, keepdim=True).expand(-1, channels, -1, -1)
    if x.shape[2:] != like.shape[1:]:
        x = torch.nn.functional.interpolate(x, size=(size, like.shape[2]), mode="bilinear", antialias=True)
    if statistics == "own":
        (own_mean, own_std), (mean, std) = moments(x), statistics_of(like)
        x = (x - own_mean[:, None, None]) / own_std[:, None, None] * std[:, None, None] + mean[:, None, None]
    pixels = x.round().clamp(0, 255).to(torch.uint8)
    return Images(pixels, torch.full((len(images),), OOD), like.class_names, images.name)


def moments(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and deviation per channel; 1 for a constant channel."""
    mean, std = x.mean(dim=(0, 2, 3)), x.std(dim=(0, 2, 3))
    return mean, torch.where(std > 0.0, std, torch.ones_like(std))


def statistics_of(images: Images, most: int = 10_000) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and deviation of bytes per channel, of at most so many images spread over the set."""
    step = max(len(images) // most, 1)
    return moments(images.take(torch.arange(0, len(images), step)).float())


def named(images: Images, data: str) -> Images:
    """Return images with the usual class names of a data set, if they came without."""
    names = CLASS_NAMES.get(data)
    return images if images.class_names is not None or names is None else replace(images, class_names=names)
