"""Shifts: sub-classes held out, data of new classes, and public sets that come with a shift of their own."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from abstain._checks import closest
from abstain.nn.data._images import OOD, Images
from abstain.nn.data._readers import PICTURES, files_of, whole

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


#: Parts of a set: training images, test images like them, and images of the same classes from elsewhere.
PARTS = ("train", "test", "shift")
HIERARCHY = ("class_hierarchy.txt", "dataset_class_info.json", "node_names.txt")


class Rule(NamedTuple):
    """How a table of WILDS names images and classes, and which of its splits the parts are."""

    columns: tuple[str, ...]
    path: str
    label: str
    splits: Mapping[str, str]
    classes: tuple[str, ...] | None = None


#: Where a hospital fixes the split: its number decides before the column does.
CENTRES = {"1": "val", "2": "test"}
CAMELYON = Rule(
    ("patient", "node", "x_coord", "y_coord", "tumor", "center", "split"),
    "patches/patient_{patient}_node_{node}/patch_patient_{patient}_node_{node}_x_{x_coord}_y_{y_coord}.png",
    "tumor", {"train": "0", "test": "1", "shift": "test"}, ("normal", "tumor"),
)  # fmt: skip
IWILDCAM = Rule(
    ("filename", "y", "split"), "train/{filename}", "y", {"train": "train", "test": "id_test", "shift": "test"}
)


def read_wilds(folder: Path, part: str, size: int | None = None) -> Images:
    """Read a part of CAMELYON17-WILDS or iWildCam-WILDS as ``wilds`` unpacks them: ``metadata.csv`` and images.

    CAMELYON17: ``test`` is the validation set of the training hospitals (its only other set of them), ``shift`` the
    test hospital; iWildCam: the test sets of known and of new camera traps.
    """
    with (folder / "metadata.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rule = _rule(folder, rows)
    chosen = [row for row in rows if _split(row) == rule.splits[part]]
    if not chosen:
        raise ValueError(f"{folder / 'metadata.csv'}: no row of split {rule.splits[part]!r}; restore the file")
    names = rule.classes or tuple(f"class{k}" for k in range(1 + max(int(row[rule.label]) for row in rows)))
    paths = [folder / rule.path.format(**row) for row in chosen]
    labels = whole([int(row[rule.label]) for row in chosen])
    return Images(files_of(_there(paths, folder), size), labels, names, f"{folder.name} {part}")


def _rule(folder: Path, rows: list[dict[str, str]]) -> Rule:
    head = set(rows[0]) if rows else set()
    for rule in (CAMELYON, IWILDCAM):
        if set(rule.columns) <= head:
            return rule
    wanted = "; or ".join(", ".join(rule.columns) for rule in (CAMELYON, IWILDCAM))
    raise ValueError(f"{folder / 'metadata.csv'}: has the columns {', '.join(sorted(head))}; known are {wanted}")


def _split(row: Mapping[str, str]) -> str:
    return CENTRES.get(row["center"], row["split"]) if "center" in row else row["split"]


def _there(paths: list[Path], folder: Path) -> list[Path]:
    """The paths, if the first and the last one exist: all of half a million are asked for when they are decoded."""
    for path in (paths[0], paths[-1]):
        if not path.is_file():
            raise FileNotFoundError(f"{path}: no such file, but the table in {folder} lists it; unpack the images")
    return paths


def read_breeds(folder: Path, part: str, size: int | None = None) -> Images:
    """Read a part of ENTITY-13 of BREEDS from ImageNet's ``train`` and ``val`` and the three files of the hierarchy.

    ``train`` and ``test`` hold the source sub-classes of ImageNet's two parts, ``shift`` the target ones of its
    training part, as FD-Shifts has them.
    """
    groups = entity13(folder)
    chosen = {wnid: name for name, pair in groups.items() for wnid in pair[part == "shift"]}
    names, paths, labels = list(groups), list[Path](), list[int]()
    where = folder / ("val" if part == "test" else "train")
    for wnid in sorted(chosen):
        if not (where / wnid).is_dir():
            raise FileNotFoundError(f"{where / wnid}: no such folder, but ENTITY-13 has the class; complete ImageNet")
        inside = sorted(path for path in (where / wnid).iterdir() if path.suffix.lower() in PICTURES)
        paths += inside
        labels += [names.index(chosen[wnid])] * len(inside)
    if not paths:
        raise ValueError(f"{where}: holds no image of the {len(chosen)} classes; complete ImageNet")
    return Images(files_of(paths, size), whole(labels), tuple(names), f"{folder.name} {part}")


def entity13(
    folder: Path, *, level: int = 3, members: int = 20, seed: int = 2
) -> dict[str, tuple[list[str], list[str]]]:
    """Return the super-classes of ENTITY-13 with their source and target classes, by WordNet number.

    Nodes at ``level`` (longest path from the root to them) with at least so many classes below are the super-classes,
    in the order of their numbers; of each, ``members`` classes are drawn and halved: Santurkar, Tsipras & Madry
    (2021), *BREEDS: benchmarks for subpopulation shift*, with the random split and the seed of their code.
    """
    leaves = {str(row[1]) for row in json.loads((folder / HIERARCHY[1]).read_text(encoding="utf-8"))}
    edges = [line.split() for line in (folder / HIERARCHY[0]).read_text(encoding="utf-8").splitlines() if line.strip()]
    names = (folder / HIERARCHY[2]).read_text(encoding="utf-8").splitlines()
    titles = dict(line.strip().split("\t")[:2] for line in names if "\t" in line)
    if any(len(edge) != 2 for edge in edges):
        raise ValueError(f"{folder / HIERARCHY[0]}: a line is no 'parent child'; restore the file")
    children: dict[str, list[str]] = {}
    for parent, child in edges:
        children.setdefault(parent, []).append(child)
    below = _classes_below(children, leaves)
    draws, found = np.random.RandomState(seed), dict[str, tuple[list[str], list[str]]]()
    for node, deep in sorted(_depths(children, below).items()):
        if deep == level and len(below[node]) >= members:
            drawn = draws.choice(sorted(below[node]), members, replace=False).tolist()
            found[titles.get(node, node)] = drawn[: members // 2], drawn[members // 2 :]
    if not found:
        raise ValueError(f"{folder}: no node at level {level} has {members} classes below; restore {HIERARCHY[0]}")
    return found


def _classes_below(children: Mapping[str, list[str]], leaves: set[str]) -> dict[str, set[str]]:
    """Of every node the classes below it, itself included."""
    found: dict[str, set[str]] = {}

    def of(node: str) -> set[str]:
        if node not in found:
            found[node] = {node} & leaves
            found[node] |= {leaf for child in children.get(node, ()) for leaf in of(child)}
        return found[node]

    for node in list(children):
        of(node)
    return found


def _depths(children: Mapping[str, list[str]], below: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Longest path from a root to every node that has a class below it."""
    depths: dict[str, int] = {}
    everyone = {child for nodes in children.values() for child in nodes}
    todo = [(node, 0) for node in children if node not in everyone]
    while todo:
        node, deep = todo.pop()
        if below.get(node) and depths.get(node, -1) < deep:
            depths[node] = deep
            todo += [(child, deep + 1) for child in children.get(node, ())]
    return depths
