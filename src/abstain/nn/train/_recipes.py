"""Recipes as frozen settings, each with its default and the reason for it; recipes by name or file, settings by key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from abstain._checks import closest, one_of
from abstain._typing import Document
from abstain.nn.ingredients import AugMix, Clean, CutMix, Mixup, PixMix, RegMixup
from abstain.nn.ingredients._terms import Term


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
TERMS: dict[str, type[Term]] = {
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
    cross_entropy: float = 1.0  # share of cross-entropy next to cwsa, which alone does not train
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
    """What is kept of every set, in addition to logits, labels, features and head."""

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
    grid: Document = field(default_factory=dict)

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


_FOLDER = files("abstain.nn.train") / "recipes"


def names() -> list[str]:
    """Return the names of the recipes.

    Examples
    --------
    >>> from abstain.nn import train
    >>> "sure_plus" in train.names()
    True
    """
    return sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml"))


def recipe(name: str, settings: Sequence[str] | Document = ()) -> Recipe:
    """Return a recipe by name or from a TOML file, with some settings changed.

    Parameters
    ----------
    name : str
        One of :func:`names`, or a path that ends in ``.toml``. A file may say ``base = "sure"`` and list only what
        differs.
    settings : sequence of str, or dict
        ``["network.width=16", "stage.main.epochs=5"]``. A key may leave out its beginning where one setting is meant;
        ``epochs=5`` then holds for every stage.

    Returns
    -------
    Recipe

    Raises
    ------
    ValueError
        An unknown recipe, key or value; the message lists what is known.

    Examples
    --------
    >>> from abstain.nn import train
    >>> train.recipe("mixup", ["network.width=16", "epochs=5"]).stage["main"].epochs
    5
    """
    built: Recipe = _build(Recipe, _table(name), Path(name).stem)
    given = settings.items() if isinstance(settings, Mapping) else (_pair(text) for text in settings)
    for key, value in given:
        built = change(built, key, value)
    return built


def _table(name: str) -> Document:
    """Read a recipe and what it is based on."""
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise FileNotFoundError(f"{name}: no such file; 'abstain train --list' shows the recipes by name")
        text = path.read_text(encoding="utf-8")
    elif name in names():
        text = (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    else:
        raise ValueError(f"recipe {name!r} is not known; {closest(name, names())}; or give a file that ends in .toml")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name}: is no TOML ({error})") from None
    base = table.pop("base", None)
    below = {} if base is None else _table(base)
    return {**_merged(below, table), "name": Path(name).stem}


def _merged(below: Document, above: Document) -> Document:
    """One table over another; ``terms.x = false`` takes a term away."""
    result = dict(below)
    for key, value in above.items():
        if value is False and isinstance(result.get(key), dict):
            del result[key]
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _merged(result[key], value)
        else:
            result[key] = value
    return result


def _build(kind: type[Any], table: Document, where: str) -> Any:
    """Make a dataclass from a table; an error about an unknown key or a wrong type names its place."""
    hints = get_type_hints(kind)
    values: Document = {}
    for key, value in table.items():
        place = f"{where}.{key}"
        if key not in hints:
            raise ValueError(f"{where}: setting {key!r} is not known; {closest(key, hints)}")
        if key in ("terms", "stage"):
            kinds = TERMS if key == "terms" else dict.fromkeys(value, Stage)
            unknown = next((name for name in value if name not in kinds), None)
            if unknown is not None:
                raise ValueError(f"{place}: term {unknown!r} is not known; {closest(unknown, TERMS)}")
            values[key] = {name: _build(kinds[name], inner, f"{place}.{name}") for name, inner in value.items()}
        elif is_dataclass(hints[key]):
            values[key] = _build(hints[key], value, place)
        else:
            values[key] = _typed(hints[key], value, place)
    try:
        return kind(**values)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where}: {error}") from None


def _typed(hint: Any, value: Any, where: str) -> Any:
    """Return a value if it has the type of the setting; whole numbers pass as numbers."""
    if hint is float and type(value) is int:
        return float(value)
    if get_origin(hint) is Literal:
        return one_of(value, get_args(hint), where)
    if hint in _WORDS and type(value) is not hint:
        raise ValueError(f"{where} must be {_WORDS[hint]}, got {value!r}")
    return value


_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def _pair(text: str) -> tuple[str, Any]:
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise ValueError(f"setting {text!r} cannot be read; write key=value, such as stage.main.epochs=5")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()  # words need no quotes


def flat(built: Recipe) -> Document:
    """Return all settings of a recipe by their full key."""
    found: Document = {}

    def add(table: Mapping[str, Any], prefix: str) -> None:
        for name, value in table.items():
            if isinstance(value, Mapping):
                add(value, f"{prefix}{name}.")
            else:
                found[prefix + name] = value

    add({name: value for name, value in asdict(built).items() if name != "grid"}, "")
    return found


def change(built: Recipe, key: str, value: Any) -> Recipe:
    """Return a recipe with one setting changed, wherever its key fits."""
    keys = [each for each in flat(built) if each not in ("name", *WORDING)]
    hits = [key] if key in keys else [each for each in keys if each.endswith(f".{key}")]
    if not hits:
        last = sorted({each.rpartition(".")[2] for each in keys})
        raise ValueError(f"recipe {built.name!r} has no setting {key!r}; {closest(key, [*keys, *last])}")
    if len({re.sub(r"^stage\.\w+\.", "", hit) for hit in hits}) > 1:
        raise ValueError(f"setting {key!r} could be {' or '.join(hits)}; write one of them in full")
    table = asdict(built)
    for hit in hits:
        *path, name = hit.split(".")
        inner = table
        for step in path:
            inner = inner[step]
        inner[name] = value
    changed: Recipe = _build(Recipe, table, built.name)
    return changed


def agrees(built: Recipe, saved: Document) -> bool:
    """Return whether a recipe trains what the saved table of a recipe does; what the table lacks is the default."""
    try:
        other: Recipe = _build(Recipe, saved, built.name)
    except ValueError:
        return False
    words = {name: getattr(built, name) for name in WORDING}
    return replace(other, **words) == built


#: What is said about a recipe; other words make no other training.
WORDING = ("about", "source", "found", "grid")
