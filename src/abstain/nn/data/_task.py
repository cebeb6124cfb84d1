"""What a model is trained and tested on: all splits, each declared."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath

import torch

from abstain._checks import closest
from abstain._typing import Document
from abstain.nn.data._corruptions import CORRUPTIONS, LEVELS, corrupted
from abstain.nn.data._images import Images
from abstain.nn.data._load import load
from abstain.nn.data._shifts import SUPER_CLASSES, hold_out, named, ood, statistics_of

#: The split is one for all runs, so that they can be compared: its seed is not theirs.
_SPLIT_SEED = 20


@dataclass(frozen=True)
class TestSet:
    """A set to extract outputs on; made when it is needed.

    Parameters
    ----------
    name : str
    role : str
        See :class:`abstain.study.SavedSet`.
    n : int
    make : callable
        Returns the images, and groups of them by name (the corruption of each).
    shift : dict
        See :class:`abstain.study.SavedSet`.

    Examples
    --------
    >>> from abstain.nn import data
    >>> [each.name for each in data.task("synthetic").sets]
    ['validation', 'test']
    """

    name: str
    role: str
    n: int
    make: Callable[[], tuple[Images, dict[str, list[str]]]]
    shift: Document = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """Training images, validation images and all sets to test on.

    Parameters
    ----------
    name : str
    train, validation : Images
    sets : tuple of TestSet
        Validation and test first.
    splits : dict
        How the data were divided, in words, for the manifest.

    Examples
    --------
    >>> from abstain.nn import data
    >>> data.task("synthetic", validation="train:0.25").train
    Images(synthetic train: 450 x 3 x 16 x 16, 4 classes)
    """

    name: str
    train: Images
    validation: Images
    sets: tuple[TestSet, ...]
    splits: Mapping[str, str]

    def statistics(self) -> tuple[list[float], list[float]]:
        """Mean and deviation per channel of the training images in [0, 1]."""
        mean, std = statistics_of(self.train)
        return (mean / 255.0).tolist(), (std / 255.0).tolist()


def task(
    data: str,
    *,
    validation: str = "test:0.1",
    corruptions: Sequence[str] = (),
    ood_data: Sequence[str] = (),
    sub_classes: Sequence[str] = (),
    shifted_data: Sequence[str] = (),
    statistics: str = "id",
    size: int | None = None,
    foreign_data: Sequence[str] = (),
) -> Task:
    """Load a data set and make its splits and shifts.

    Parameters
    ----------
    data : str
        See :func:`load`.
    validation : str
        Where the validation set is carved from. ``"test:0.1"``: a tenth of the test set, drawn, the same for every run;
        the rest is the test set. ``"first:1000"``: the first images of the test set, as FD-Shifts does.
        ``"train:0.1"``: of the training set, as SURE does. A share below 1, or a number.
    corruptions : sequence of str
        Of :func:`corrupt`; ``("all",)`` for the fifteen. Five sets, one per level; at most 1,000 images per
        corruption and level, the same ones everywhere.
    ood_data : sequence of str
        Data sets of other classes; their test images are used. ``"name:semantic"`` or ``"name:non-semantic"`` notes
        which kind of new-class shift it is.
    sub_classes : sequence of str
        Classes to hold out: the model learns the super-classes of the data set (CIFAR-10: animals and vehicles;
        CIFAR-100: its twenty; Fashion-MNIST: tops, shoes, other).
    shifted_data : sequence of str
        Data of the same classes from elsewhere: ``"camelyon17:shift"`` and the like, folders or lists;
        their test images are used. Classes go by their names; a list without names has the class indices.
    statistics : {"id", "own"}
        Of out-of-distribution data, see :func:`ood`.
    size : int, optional
        See :func:`load`.
    foreign_data : sequence of str
        The former name of ``ood_data``.

    Returns
    -------
    Task

    Raises
    ------
    ValueError
        Settings that cannot be read; data without a training part.
    FileNotFoundError
        See :func:`load`.

    Examples
    --------
    >>> from abstain.nn import data
    >>> shifted = data.task("synthetic", corruptions=["fog"], ood_data=["synthetic:n=50,seed=9"])
    >>> [(each.name, each.n) for each in shifted.sets][2:4]
    [('corruption-1', 540), ('corruption-2', 540)]
    """
    if foreign_data:
        warnings.warn("task(foreign_data=) is now task(ood_data=)", FutureWarning, stacklevel=2)
    train, test = load(data, size=size)
    if train is None:
        raise ValueError(f"data {data!r} has test images only; give data with a training part")
    train, test = named(train, data), named(test, data)
    splits = {"normalisation": "mean and deviation per channel of the training images, inside the network"}
    held: Images | None = None
    if sub_classes:
        if data not in SUPER_CLASSES:
            raise ValueError(f"data {data!r} has no named super-classes; known: {', '.join(SUPER_CLASSES)}")
        train, test, held = hold_out(train, test, SUPER_CLASSES[data], sub_classes)
        splits["sub-classes"] = f"held out of training: {', '.join(sub_classes)}; labels are super-classes"
    train, test, chosen, splits["validation"] = _carve(train, test, validation)
    sets = [_fixed("validation", "validation", chosen), _fixed("test", "test", test)]
    if held is not None:
        sets.append(_fixed("sub-class", "shift", held, {"kind": "sub-class", "held_out": list(sub_classes)}))
    if corruptions:
        sets += _corrupted_sets(test, corruptions)
        splits["corruptions"] = "made in code from the test images; one set per level, compute a metric per level first"
    sets += [_shifted_set(entry, train, size) for entry in shifted_data]
    for entry in (*ood_data, *foreign_data):
        sets.append(_ood_set(entry, train, statistics, size))
        splits["ood"] = f"test images of other data, normalised by their {statistics} statistics"
    return Task(data, train, chosen, tuple(sets), splits)


def _carve(train: Images, test: Images, how: str) -> tuple[Images, Images, Images, str]:
    source, _, size = how.partition(":")
    whole = train if source == "train" else test
    amount = float(size) if re.fullmatch(r"\d*\.?\d+", size) else 0.0
    if source not in ("test", "train", "first") or amount == 0.0:
        raise ValueError(f"validation={how!r} cannot be read; write test:0.1, first:1000 or train:0.1")
    n = round(amount * len(whole)) if amount < 1.0 else int(amount)
    if not 0 < n < len(whole):
        raise ValueError(f"validation={how!r} takes {n} of {len(whole)} images; leave some, and take at least one")
    order = torch.randperm(len(whole), generator=torch.Generator().manual_seed(_SPLIT_SEED))
    if source == "first":
        order = torch.arange(len(whole))
    words = {"test": "drawn from the test images", "train": "drawn from the training images"}
    about = f"{n} of {len(whole)}, {words.get(source, 'the first of the test images')}"
    chosen, rest = whole.select(order[:n].sort().values, "validation"), whole.select(order[n:].sort().values)
    return (rest, test, chosen, about) if source == "train" else (train, rest, chosen, about)


def _fixed(name: str, role: str, images: Images, shift: Document | None = None) -> TestSet:
    return TestSet(name, role, len(images), lambda: (images, {}), shift or {})


def _corrupted_sets(test: Images, names: Sequence[str]) -> list[TestSet]:
    chosen = list(CORRUPTIONS) if list(names) == ["all"] else list(names)
    for name in chosen:
        if name not in CORRUPTIONS:
            raise ValueError(f"corruption {name!r} is not known; known: all, {', '.join(CORRUPTIONS)}")
    per = min(len(test), 1000)

    def make(level: int) -> tuple[Images, dict[str, list[str]]]:
        images, which = corrupted(test, level, chosen, per=per)
        return images, {"corruption": which}

    return [
        TestSet(
            f"corruption-{level}",
            "shift",
            per * len(chosen),
            partial(make, level),
            {"kind": "corruption", "level": level},
        )
        for level in LEVELS
    ]


def _ood_set(entry: str, train: Images, statistics: str, size: int | None) -> TestSet:
    name = re.sub(r":(non-)?semantic$", "", entry)
    shift: Document = {"kind": "new-class", "statistics": statistics}
    if name != entry:
        shift["semantic"] = entry.endswith(":semantic")
    return _fixed(f"ood-{_label(name)}", "ood", ood(load(name, size=size)[1], train, statistics), shift)


def _shifted_set(entry: str, train: Images, size: int | None) -> TestSet:
    """Images of the same classes, labelled as the training images are."""
    images = load(entry, size=size or train.shape[1])[1]
    if images.shape != train.shape:
        raise ValueError(f"data {entry!r}: images are {images.shape}, those of {train.name} {train.shape}; give size=")
    if images.class_names is not None and train.class_names is not None:
        for name in images.class_names:
            if name not in train.class_names:
                near = closest(name, train.class_names)
                raise ValueError(f"data {entry!r}: class {name!r} is not in {train.name}; {near}")
        place = torch.tensor([train.class_names.index(name) for name in images.class_names])
        images = replace(images, labels=place[images.labels], class_names=train.class_names)
    return _fixed(f"shifted-{_label(entry)}", "shift", images, {"kind": "sub-class"})


def _label(name: str) -> str:
    return re.sub(r"[^\w.=-]", "-", PurePath(name).name)
