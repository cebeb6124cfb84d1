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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

from abstain._files import write_file, write_text
from abstain._typing import Document, Options
from abstain._version import __version__
from abstain.nn.data import Task, TestSet
from abstain.nn.networks import Network, build
from abstain.nn.train._learner import Extractor, Learner
from abstain.nn.train._recipes import WORDING, Recipe, agrees
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
            settings.name,
            task.train.shape,
            task.train.n_classes,
            width=settings.width or None,
            dropout=settings.dropout,
            head=settings.head,
            scale=settings.scale,
            mean=mean,
            std=std,
            pretrained=settings.weights == "pretrained",
        )
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
        Folder; outputs are ``<model>/seed<seed>/<set>.npz``, the manifest is ``study.json``. Weights lie next to them.
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
    _check_stages(recipe, str(trainer.get("precision")))
    settings: Document = json.loads(json.dumps(asdict(recipe)))
    if start is not None and Path(start).is_file():
        settings["start"] = hashlib.sha256(Path(start).read_bytes()).hexdigest()
    if not overwrite and (done := _finished(Path(study), f"{model}/{name}", recipe, settings)) is not None:
        say(f"{done.folder}: is finished already")
        return done
    checkpoints = folder / "checkpoints"
    learner = learner_of(recipe, task, seed, network)
    if start is not None:
        _begin(learner, Path(start))
    _claim(checkpoints, _identity(settings, task, seed), overwrite)
    stages = list(enumerate(recipe.stage.items()))
    first, place = True, _device(trainer)
    for number, (stage_name, stage) in stages[int(start is not None and len(stages) > 1) :]:
        kept = checkpoints / f"{stage_name}.pt"
        if kept.exists():
            try:
                learner.load_state_dict(_state(kept))
            except RuntimeError as error:
                raise _broken(kept, error) from None
            continue
        say(f"{model}/{name}: stage {stage_name}, {stage.epochs} epochs")
        terms = terms_of(stage, task.train.shape, cache or os.environ.get("ABSTAIN_CACHE"))
        module = StageModule(learner, stage, task, recipe.data, terms, (seed, number))
        first = _fit_stage(module, checkpoints / stage_name, trainer)
        learner.to(place)
        if first:
            settle(learner, module)
            _save(learner, kept)
    if not first:  # another process of a distributed training: the first one finishes alone
        return Run(model, name, task.name, seed, ())
    learner.to(place)
    judged_on, sets = _write_outputs(learner, recipe, task, folder, seed, lambda line: say(f"{model}/{name}: {line}"))
    notes = [line for line in (recipe.found, _taken(recipe)) if line]
    versions = {"abstain": __version__, "python": sys.version.split()[0]}
    versions |= {each: version(each) for each in ("torch", "lightning", "numpy")}
    run = Run(
        model,
        name,
        task.name,
        seed,
        sets,
        recipe.name,
        settings,
        judged_on,
        dict(task.splits),
        versions,
        tuple(notes),
    )
    _save(learner, folder / "weights.pt")
    add_run(study, run)
    shutil.rmtree(checkpoints)
    return run


def _check_stages(recipe: Recipe, precision: str) -> None:
    for name, stage in recipe.stage.items():
        if stage.sharpness.kind != "none" and precision in ("16", "16-mixed"):
            raise ValueError(
                f"precision={precision!r} scales the loss, which stage.{name}.sharpness.kind={stage.sharpness.kind!r} "
                "with its two gradients per step cannot do; set precision='bf16-mixed'"
            )
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


def _identity(settings: Document, task: Task, seed: int) -> str:
    """Digest of all that a checkpoint must agree with."""
    own = {key: value for key, value in settings.items() if key not in WORDING}
    about = [own, task.name, dict(task.splits), len(task.train), task.train.shape, seed]
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _finished(study: Path, folder: str, recipe: Recipe, settings: Document) -> Run | None:
    """Return the run that lies there, if it is one of these settings."""
    runs = read_study(study).runs if (study / "study.json").exists() else ()
    found = next((run for run in runs if run.folder == folder), None)
    if found is None:
        return None
    saved = dict(found.settings)
    if saved.pop("start", None) != settings.get("start") or not agrees(recipe, saved):
        raise ValueError(
            f"{study / folder}: holds a run with other settings; give another name, or overwrite=True to train again"
        )
    return found


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


def _device(options: Options) -> torch.device:
    """Return the GPU on which Lightning trains: it leaves the network on the processor, where outputs take long."""
    chosen = {key: options[key] for key in ("accelerator", "devices", "strategy") if key in options}
    with _quiet():
        place = pl.Trainer(logger=False, enable_checkpointing=False, **chosen).strategy.root_device
    return place if place.type == "cuda" else torch.device("cpu")


def _save(learner: Learner, path: Path) -> None:
    stream = io.BytesIO()  # PyTorch hides the reason of a file that cannot be written
    torch.save({key: value.cpu() for key, value in learner.state_dict().items()}, stream)
    write_file(path, lambda file: file.write(stream.getbuffer()))


def _state(path: Path) -> Document:
    """Read a checkpoint."""
    try:
        found: Document = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise _broken(path, error) from None
    return found


def _broken(path: Path, error: Exception) -> ValueError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return ValueError(f"{path}: is no readable checkpoint ({reason}); remove it, and the training goes on before it")


def _fit_stage(module: StageModule, folder: Path, options: Options) -> bool:
    """Train one stage; return whether this is the process that goes on."""
    last = folder / "last.ckpt"
    checkpoint = ModelCheckpoint(
        folder, "last", save_top_k=1, every_n_epochs=1, save_on_train_epoch_end=True, enable_version_counter=False
    )
    given = {"logger": False, "enable_model_summary": False, **options}
    given["callbacks"] = [*given.get("callbacks", []), checkpoint]
    stage, resumed = module.stage, last if last.exists() else None
    if resumed is not None:
        _state(resumed)  # a broken one is refused before Lightning reads it
    with _quiet():
        trainer = pl.Trainer(
            max_epochs=stage.epochs,
            gradient_clip_val=stage.clip or None,
            use_distributed_sampler=False,
            num_sanity_val_steps=0,
            log_every_n_steps=1,
            **given,
        )
        try:
            trainer.fit(module, ckpt_path=resumed, weights_only=True if resumed else None)
        except SystemExit:  # Lightning's answer to an interruption; the command would take it for an end
            raise KeyboardInterrupt from None
        except OSError as error:
            if error.errno not in _FULL:
                raise
            remedy = "free some space and repeat: the training goes on from the last epoch"
            raise type(error)(f"{last}: cannot be written ({error.strerror}); {remedy}") from error
    if trainer.interrupted:
        raise KeyboardInterrupt
    return bool(trainer.is_global_zero)


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


def _write_outputs(
    learner: Learner, recipe: Recipe, task: Task, folder: Path, seed: int, say: Callable[[str], None]
) -> tuple[dict[str, dict[str, str]], tuple[SavedSet, ...]]:
    """Extract and write every set; return what each kind of score is judged on, and the sets."""
    extractor = Extractor(learner, recipe.extract, task.train, task.validation, seed)
    saved = []
    train = TestSet("train", "train", len(task.train), lambda: (task.train, {}))
    for each in (*task.sets, train) if recipe.extract.train else task.sets:
        say(f"outputs of {each.name}, {each.n} samples")
        outputs = extractor.outputs(*each.make())
        write_outputs(outputs, folder / f"{each.name}.npz")
        saved.append(SavedSet(each.name, each.role, outputs.n, dict(each.shift)))
    return extractor.judged_on(), tuple(saved)


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
