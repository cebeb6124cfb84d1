"""Public sets that come with a shift of their own: two of WILDS by their tables, BREEDS by the class hierarchy."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from abstain.nn.data._images import Images
from abstain.nn.data._readers import PICTURES, files_of, whole

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
