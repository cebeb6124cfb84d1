"""Every field of every training of the full size next to what the source of its numbers says of it."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from abstain.nn import train
from abstain.nn.train._recipes import WORDING, flat
from experiments.training._jobs import Job, Study

FILE = Path(__file__).with_name("sources.toml")

#: Of how a training is called and run.
_WORDS = ("name", "data.workers", *WORDING)
#: Of the images that a network learns from.
_TRAINING = ("data.batch", "data.crop", "data.flip", "data.cutout", "data.cutout_chance")
#: End of a key -> the key next to it that decides whether it does anything, and the values with which it does.
_COUNTS: Mapping[str, tuple[str, tuple[object, ...]]] = {
    "objective.estimator": ("objective.name", ("aurc",)),
    "objective.unit_mean": ("objective.name", ("aurc", "sele", "augrc")),
    "objective.cross_entropy": ("objective.name", ("cwsa",)),
    "objective.threshold": ("objective.name", ("cwsa",)),
    "objective.reward": ("objective.name", ("deep_gamblers",)),
    "objective.warm_up": ("objective.name", ("deep_gamblers",)),
    "objective.budget": ("objective.name", ("devries",)),
    "objective.hint_share": ("objective.name", ("devries",)),
    **dict.fromkeys(
        ("sharpness.rho", "sharpness.freeze", "sharpness.same_batch"), ("sharpness.kind", ("sam", "friendly", "mixed"))
    ),
    "sharpness.sigma": ("sharpness.kind", ("friendly",)),
    "sharpness.lam": ("sharpness.kind", ("friendly",)),
    "sharpness.gamma": ("sharpness.kind", ("mixed",)),
    "average.tau": ("average.kind", ("ema",)),
    "average.warm_up": ("average.kind", ("ema",)),
    **dict.fromkeys(("average.start", "average.rate", "average.anneal"), ("average.kind", ("swa",))),
    "average.reestimate": ("average.kind", ("ema", "swa")),
    "momentum": ("optimizer", ("sgd",)),
    "nesterov": ("optimizer", ("sgd",)),
    "final_rate": ("schedule", ("cosine", "cosine_epochs")),
    "body_dropout": ("trains", ("confidence",)),
    "keep": ("trains", ("all",)),
    "extract.odin_temperature": ("extract.odin", (True,)),
    "extract.odin_epsilon": ("extract.odin", (True,)),
    "network.scale": ("network.head", ("cosine",)),
}


def fields(study: Study, job: Job, seeds: int) -> dict[str, Any]:
    """Return what a training is, field by field; options that do nothing in it are left out."""
    return _of_recipe(job.recipe, job.settings) | {
        "set.images": job.setting.n,
        "set.foreign": list(job.setting.foreign),
        "set.shifted": list(job.setting.shifted),
        "set.corruptions": list(job.setting.corruptions),
        "set.withheld_classes": len(job.setting.sub_classes),
        "set.statistics": job.setting.statistics,
        "set.side": job.setting.side or 0,
        "seeds": seeds,
        "scores": list(study.scores),
    }


@cache
def _of_recipe(name: str, settings: tuple[str, ...]) -> dict[str, Any]:
    whole = flat(train.recipe(name, settings))
    if not whole["data.cutout"]:
        del whole["data.cutout_chance"]
    if not any(key.startswith("stage.") for key in whole):  # nothing is trained
        whole = {key: whole[key] for key in whole if key not in _TRAINING}
    return {key: whole[key] for key in whole if key not in _WORDS and _counts(key, whole)}


def _counts(key: str, found: Mapping[str, Any]) -> bool:
    for end, (beside, values) in _COUNTS.items():
        if key == end or key.endswith(f".{end}"):
            decides = key.removesuffix(end) + beside
            if decides in found and found[decides] not in values:
                return False
    return True


@cache
def recorded() -> dict[str, Any]:
    """Return the recorded table: entries that hold for some trainings, and what is trained at all."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


@cache
def source(study: str, setting: str, model: str) -> dict[str, tuple[Any, str]]:
    """Return what a training must be: field -> (value here, why it is not the source's; empty where it is)."""
    found: dict[str, tuple[Any, str]] = {}
    for entry in recorded()["entry"]:
        if (
            entry["study"] == study
            and any(fnmatch(setting, each) for each in entry.get("settings", ["*"]))
            and any(fnmatch(model, each) for each in entry.get("models", ["*"]))
        ):
            found |= {key: (value, "") for key, value in entry.get("same", {}).items()}
            for key, each in entry.get("other", {}).items():
                found[key] = (each["here"], f"{each.get('there', 'not stated')}: {each['why']}")
    return found


def wrong(study: Study, jobs: Sequence[Job]) -> Iterator[str]:
    """Yield each field of a training that is not what the table says, and each that the table does not have."""
    seeds = Counter((job.setting.name, job.model) for job in jobs)
    first = {(job.setting.name, job.model): job for job in reversed(jobs)}
    for place, count in seeds.items():
        wanted = source(study.name, *place)
        for key, value in fields(study, first[place], count).items():
            if key not in wanted:
                yield f"{study.name} {'/'.join(place)}: {key} = {value!r} is not in the table"
            elif wanted[key][0] != value:
                yield f"{study.name} {'/'.join(place)}: {key} = {value!r}, the table has {wanted[key][0]!r}"
