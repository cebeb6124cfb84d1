"""Train a recipe on a task: its stages one after the other, resumed where they stopped; then all outputs."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import numpy as np
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

from abstain._files import write_file, write_text
from abstain._version import __version__
from abstain.nn.data import Task
from abstain.nn.networks import Network, build
from abstain.nn.train._extract import Extractor
from abstain.nn.train._learner import Learner
from abstain.nn.train._recipes import WORDING, agrees, as_table, essence
from abstain.nn.train._settings import Recipe, Stage
from abstain.nn.train._stage import StageModule, settle, terms_of
from abstain.outputs import write_outputs
from abstain.study import Run, SavedSet, add_run, read_study

#: Mean and deviation per channel by which ImageNet is usually normalised.
_IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
#: A file that could not be written for want of space.
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


def learner_of(recipe: Recipe, task: Task, seed: int, network: Network | None = None) -> Learner:
    """Return a network with random weights of a seed, and the branches of the recipe's objectives."""
    settings = recipe.network
    torch.manual_seed(seed)
    given = network is not None
    if network is None:
        mean, std = task.statistics() if settings.normalise == "data" else _IMAGENET
        network = build(
            settings.name, task.train.shape, task.train.n_classes, width=settings.width or None,
            dropout=settings.dropout, head=settings.head, scale=settings.scale, mean=mean, std=std,
            pretrained=settings.weights == "pretrained",
        )  # fmt: skip
    learner = Learner(network, recipe)
    if not given:
        learner.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # convolutions are faster so
    return learner


def fit(
    recipe: Recipe,
    task: Task,
    study: str | os.PathLike[str],
    *,
    seed: int = 0,
    model: str | None = None,
    network: Network | None = None,
    start: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    say: Callable[[str], None] | None = None,
    cache: str | os.PathLike[str] | None = None,
    **trainer: Any,
) -> Run:
    """Train a recipe and write the outputs of all sets into a study.

    Parameters
    ----------
    recipe : Recipe
    task : Task
    study : str or path
        Folder; outputs are ``<model>/seed<seed>/<set>.npz``, the manifest is ``study.json``. Weights lie beside them.
    seed : int
        Of weights, order, augmentation and dropout; not of the splits.
    model : str, optional
        Name in the study; default the recipe's.
    network : Network, optional
        In place of the one that the recipe names; see :func:`abstain.nn.networks.adapt`. It has to normalise.
    start : str or path, optional
        ``weights.pt`` of another run to begin with. Of a recipe with several stages the first, which would train such
        weights, is left out; one without any stage extracts outputs only.
    overwrite : bool
        Train again where a run with these settings is finished, or where one with other settings began.
    say : callable, optional
        Gets a line about each step.
    cache : str or path, optional
        Folder for generated mixing sets; default ``ABSTAIN_CACHE``, else none is kept.
    **trainer
        Of Lightning's ``Trainer``: ``accelerator``, ``devices``, ``strategy``, ``precision``, ``logger``, ...

    Returns
    -------
    Run

    Raises
    ------
    ValueError
        Settings that do not fit together; a checkpoint that cannot be read; an interrupted run with other settings.
    OSError
        A disk that is full.

    Notes
    -----
    After each epoch Lightning writes a checkpoint; a training that was ended goes on from the last one, with the same
    result to the bit where arithmetic repeats (one CPU process, float32). The average of the weights, with batch norm
    re-estimated, is what is extracted, where the recipe has one. The last epoch is taken, or with ``keep = "best"`` the
    one that was most accurate on the validation set (the earlier of equals).

    Examples
    --------
    >>> import tempfile
    >>> from abstain.nn import data, train
    >>> recipe = train.recipe("ce", ["network.name=small", "epochs=1"])
    >>> run = train.fit(recipe, data.task("synthetic:n=256"), tempfile.mkdtemp(), enable_progress_bar=False)
    >>> run.folder, [each.name for each in run.sets]
    ('ce/seed0', ['validation', 'test', 'train'])
    """
    say = say or (lambda line: None)
    model, name = model or recipe.name, f"seed{seed}"
    folder = Path(study) / model / name
    _check_epochs(recipe)
    identity = _identity(recipe, task, seed, start)
    if not overwrite and (done := _finished(Path(study), model, name, recipe, start)) is not None:
        say(f"{done.folder}: is finished already")
        return done
    checkpoints = folder / "checkpoints"
    learner = learner_of(recipe, task, seed, network)
    if start is not None:
        _begin(learner, Path(start))
    _claim(checkpoints, identity, overwrite)
    first, skipped = True, int(start is not None and len(recipe.stage) > 1)
    for number, (stage_name, stage) in enumerate(recipe.stage.items()):
        kept = checkpoints / f"{stage_name}.pt"
        if number < skipped:
            continue
        if kept.exists():
            _load(learner, kept)
            continue
        say(f"{model}/{name}: stage {stage_name}, {stage.epochs} epochs")
        main = _fit_stage(learner, recipe, stage, task, seed, number, checkpoints / stage_name, cache, trainer)
        if not main:  # another process of a distributed training: the first one finishes alone
            first = False
            continue
        _save(learner, kept)
    if not first:
        return Run(model, name, task.name, seed, ())
    run = _written(learner, recipe, task, folder, model, name, seed, _settings(recipe, start), say)
    _save(learner, folder / "weights.pt")
    add_run(study, run)
    shutil.rmtree(checkpoints)
    return run


def _check_epochs(recipe: Recipe) -> None:
    for name, stage in recipe.stage.items():
        if stage.epochs < 1:
            raise ValueError(f"stage.{name}.epochs must be at least 1, got {stage.epochs!r}")
        if stage.average.kind == "swa" and stage.average.start >= stage.epochs:
            raise ValueError(
                f"stage.{name}.average.start={stage.average.start} lies beyond its {stage.epochs} epochs, so nothing "
                f"would be averaged; set start={stage.epochs * 3 // 5}"
            )


def _begin(learner: Learner, path: Path) -> None:
    """Load the network of another run; branches that it had are of no use here."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; give the weights.pt of a finished run")
    try:
        state = torch.load(path, weights_only=True, map_location="cpu")
        own = {key.removeprefix("network."): value for key, value in state.items() if key.startswith("network.")}
        learner.network.load_state_dict(own)
    except Exception as error:
        reason = str(error).splitlines()[-1].strip() if str(error) else type(error).__name__
        raise ValueError(f"{path}: holds no weights of this network ({reason}); give those of the same one") from None


def _identity(recipe: Recipe, task: Task, seed: int, start: str | os.PathLike[str] | None) -> str:
    """Digest of all that a checkpoint must agree with."""
    settings = {key: value for key, value in essence(recipe).items() if key not in WORDING}
    about = [settings, _digest(start), task.name, dict(task.splits), len(task.train), list(task.train.shape), seed]
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _settings(recipe: Recipe, start: str | os.PathLike[str] | None) -> dict[str, Any]:
    """All settings as the manifest keeps them, and a digest of the weights that the training began with."""
    table: dict[str, Any] = json.loads(json.dumps(as_table(recipe)))
    return table if start is None else {**table, "start": _digest(start)}


def _digest(start: str | os.PathLike[str] | None) -> str | None:
    if start is None or not Path(start).is_file():
        return None
    return hashlib.sha256(Path(start).read_bytes()).hexdigest()


def _finished(study: Path, model: str, name: str, recipe: Recipe, start: str | os.PathLike[str] | None) -> Run | None:
    if not (study / "study.json").exists():
        return None
    runs = [run for run in read_study(study).runs if run.folder == f"{model}/{name}"]
    if not runs:
        return None
    saved = dict(runs[0].settings)
    if saved.pop("start", None) != _digest(start) or not agrees(recipe, saved):
        raise ValueError(
            f"{study / model / name}: holds a run with other settings; give another name, or "
            "overwrite=True to train again"
        )
    return runs[0]


def _claim(checkpoints: Path, identity: str, overwrite: bool) -> None:
    """Take the folder of checkpoints, empty or of the same training."""
    key = checkpoints / "training"
    if key.exists() and key.read_text(encoding="utf-8") != identity:
        if not overwrite:
            raise ValueError(
                f"{checkpoints}: an interrupted training with other settings, data or seed lies here; "
                "repeat it as it was, remove the folder, or pass overwrite=True"
            )
        shutil.rmtree(checkpoints)
    checkpoints.mkdir(parents=True, exist_ok=True)
    write_text(key, identity)


def _save(learner: Learner, path: Path) -> None:
    stream = io.BytesIO()  # PyTorch hides the reason of a file that cannot be written
    torch.save(learner.state_dict(), stream)
    write_file(path, lambda file: file.write(stream.getbuffer()))


def _load(learner: Learner, path: Path) -> None:
    try:
        learner.load_state_dict(torch.load(path, weights_only=True))
    except Exception as error:
        raise _broken(path, error) from None


def _broken(path: Path, error: Exception) -> ValueError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return ValueError(f"{path}: is no readable checkpoint ({reason}); remove it, and the training goes on before it")


def _fit_stage(
    learner: Learner, recipe: Recipe, stage: Stage, task: Task, seed: int, number: int, folder: Path,
    cache: str | os.PathLike[str] | None, options: Mapping[str, Any],
) -> bool:  # fmt: skip
    """Train one stage; return whether this is the process that goes on."""
    terms = terms_of(stage, task.train.shape, cache or os.environ.get("ABSTAIN_CACHE"))
    module = StageModule(learner, stage, task, recipe.data, seed=seed, number=number, terms=terms)
    last = folder / "last.ckpt"
    checkpoint = ModelCheckpoint(
        dirpath=folder, filename="last", save_top_k=1, every_n_epochs=1, save_on_train_epoch_end=True,
        enable_version_counter=False,
    )  # fmt: skip
    given = {"logger": False, "enable_model_summary": False, **options}
    given["callbacks"] = [*given.get("callbacks", []), checkpoint]
    with _quiet():
        trainer = pl.Trainer(
            max_epochs=stage.epochs, gradient_clip_val=stage.clip or None, use_distributed_sampler=False,
            num_sanity_val_steps=0, log_every_n_steps=1, **given,
        )  # fmt: skip
        resumed = last if last.exists() else None
        if resumed is not None:
            _check_readable(resumed)
        try:
            trainer.fit(module, ckpt_path=resumed, weights_only=True if resumed else None)
        except SystemExit:  # Lightning's answer to an interruption; the command would take it for an end
            raise KeyboardInterrupt from None
        except OSError as error:
            if error.errno not in _FULL:
                raise
            remedy = "make room and repeat: the training goes on from the last epoch"
            raise type(error)(f"{last}: cannot be written ({error.strerror}); {remedy}") from error
    if trainer.interrupted:
        raise KeyboardInterrupt
    main = bool(trainer.is_global_zero)
    if main:
        settle(learner, module)
    return main


def _check_readable(path: Path) -> None:
    try:
        torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise _broken(path, error) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Lightning's advice on loaders and devices is not for those who run a recipe."""
    import logging

    logger = logging.getLogger("lightning.pytorch")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"lightning|pytorch_lightning|torch")
            warnings.filterwarnings("ignore", message=".*(lr_scheduler|num_workers|LeafSpec|checkpoint directory).*")
            yield
    finally:
        logger.setLevel(level)


def _written(
    learner: Learner, recipe: Recipe, task: Task, folder: Path, model: str, name: str, seed: int,
    settings: dict[str, Any], say: Callable[[str], None],
) -> Run:  # fmt: skip
    """Extract and write every set."""
    extractor = Extractor(learner, recipe.extract, task.train, task.validation, seed)
    saved = []
    for each in task.sets:
        say(f"{model}/{name}: outputs of {each.name}, {each.n} samples")
        images, groups = each.make()
        outputs = extractor.outputs(images, groups)
        write_outputs(outputs, folder / f"{each.name}.npz")
        saved.append(SavedSet(each.name, each.role, outputs.n, dict(each.shift)))
    if recipe.extract.train:
        say(f"{model}/{name}: outputs of train, {len(task.train)} samples")
        write_outputs(extractor.outputs(task.train), folder / "train.npz")
        saved.append(SavedSet("train", "train", len(task.train)))
    versions = {"abstain": __version__, "torch": torch.__version__, "lightning": version("lightning"),
                "numpy": np.__version__, "python": sys.version.split()[0]}  # fmt: skip
    notes = [line for line in (recipe.found, _taken(recipe)) if line]
    return Run(model, name, task.name, seed, tuple(saved), recipe.name, settings, extractor.judged_on(),
               dict(task.splits), versions, tuple(notes))  # fmt: skip


def _taken(recipe: Recipe) -> str:
    if not recipe.stage:
        return "nothing was trained: outputs are those of the weights that were given"
    last = list(recipe.stage.values())[-1]
    epoch = "after the last epoch"
    if last.keep == "best":
        epoch = "after the epoch that was most accurate on the validation set, on which nothing is untouched now"
    if last.average.kind == "none":
        return f"outputs are those of the weights {epoch}"
    again = ", batch norm re-estimated" if last.average.reestimate else ""
    return f"outputs are those of the {last.average.kind.upper()} of the weights {epoch}{again}"
