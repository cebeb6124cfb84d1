"""A study of trainings as data: which recipes, on which data and shifts, with which seeds, in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import torch

from abstain.nn import data as data_
from abstain.nn import train


@dataclass(frozen=True)
class Setting:
    """A data set with its shifts; all that is trained on it is one study, in a folder of this name.

    ``generated`` has the shape of the data in words (``classes=100,size=32``): with it a dry run needs no files.
    """

    name: str
    data: str
    n: int
    generated: str
    foreign: tuple[str, ...] = ()
    corruptions: tuple[str, ...] = ()
    sub_classes: tuple[str, ...] = ()
    validation: str = "first:1000"
    statistics: str = "id"
    shifted: tuple[str, ...] = ()
    side: int | None = None  # height and width of images from files
    noise: float = 0.0  # share of the training labels that are drawn anew

    def task(self) -> data_.Task:
        """Return the images: training, validation, and all sets to test on."""
        made = data_.task(
            self.data, validation=self.validation, corruptions=self.corruptions, ood_data=self.foreign,
            sub_classes=self.sub_classes, shifted_data=self.shifted, statistics=self.statistics, size=self.side,
        )  # fmt: skip
        return made if not self.noise else replace(made, name=self.name, train=_noisy(made.train, self.noise))

    def made_up(self, n: int = 40) -> Setting:
        """Return the same with generated data: few images of the same shape, foreign ones too."""
        shape = f"n={n},{self.generated}"
        kinds = [f":{entry.rsplit(':', 1)[1]}" if entry.endswith("semantic") else "" for entry in self.foreign]
        foreign = tuple(f"synthetic:{shape},seed={number}{kind}" for number, kind in enumerate(kinds, 1))
        shifted = tuple(f"synthetic:{shape},seed={100 + number}" for number in range(len(self.shifted)))
        return replace(
            self, data=f"synthetic:{shape}", foreign=foreign, shifted=shifted, sub_classes=(), validation="test:0.1"
        )


def _noisy(images: data_.Images, share: float) -> data_.Images:
    """Return images with a share of the labels drawn anew, the same ones for every run."""
    generator = torch.Generator().manual_seed(0)
    chosen = torch.rand(len(images), generator=generator) < share
    drawn = torch.randint(images.n_classes, (len(images),), generator=generator)
    return replace(images, labels=torch.where(chosen, drawn, images.labels))


#: Seeds share their recipe.
_recipe = cache(train.recipe)


@dataclass(frozen=True)
class Job:
    """One training: a recipe with some settings, a seed, and the model of the same seed that it begins with."""

    setting: Setting
    model: str
    recipe: str
    settings: tuple[str, ...] = ()
    seed: int = 0
    start: str | None = None

    @property
    def folder(self) -> str:
        """Where its outputs lie below the output folder."""
        return f"{self.setting.name}/{self.model}/seed{self.seed}"

    def made(self) -> train.Recipe:
        """Return the recipe."""
        return _recipe(self.recipe, self.settings)

    def begins(self, output: Path) -> Path | None:
        """Return the file of weights that it begins with."""
        if self.start is None:
            return None
        return output / self.setting.name / self.start / f"seed{self.seed}" / "weights.pt"


@dataclass(frozen=True)
class Study:
    """An experiment: its jobs in three sizes and its tables."""

    name: str
    about: str
    jobs: Callable[[str], Sequence[Job]]
    tables: Callable[[Path, Sequence[Job]], str]
    scores: tuple[str, ...] = ()  # that the tables of the full size show, by the names of the paper


SIZES = ("smoke", "cpu", "gpu")


def rows(
    setting: Setting, models: dict[str, tuple[str, tuple[str, ...]]], seeds: Sequence[int], *settings: str
) -> list[Job]:
    """Return jobs seed by seed: ``models`` is name -> (recipe, its settings), ``settings`` hold for all."""
    return [
        Job(setting, model, recipe, (*settings, *own), seed)
        for seed in seeds
        for model, (recipe, own) in models.items()
    ]
