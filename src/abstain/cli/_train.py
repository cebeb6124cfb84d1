"""``abstain train``: train a recipe of a paper and write its outputs into a study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from abstain.cli._columns import words
from abstain.cli._group import Options, command


@command.command("train")
@click.argument("recipe", required=False)
@click.option(
    "--data", "data_name", help="A name, looked up below ABSTAIN_DATA; a file; or a folder with train and test."
)
@click.option("-o", "--output", type=Path, help="Folder of the study: <model>/seed<seed>/<set>.npz and study.json.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Change a setting of the recipe; repeatable."
)
@click.option("--seeds", default="0", show_default=True, help="Whole numbers, separated by commas; one run each.")
@click.option("--name", help="Name of the model in the study.  [default: the recipe's]")
@click.option(
    "--start", type=Path, help="Weights of another run (weights.pt) to begin with: its first stage is left out."
)
@click.option("--grid", is_flag=True, help="One model per value of the recipe's grid, to choose on the validation set.")
@click.option("--ood", multiple=True, help="Data of other classes; NAME:semantic notes the kind; repeatable.")
@click.option("--foreign", multiple=True, hidden=True, help="The former name of --ood.")
@click.option("--corruptions", help="Corruptions of the test images in five levels, separated by commas, or 'all'.")
@click.option("--hold-out", help="Classes to keep out of their super-class (CIFAR-10, CIFAR-100, Fashion-MNIST).")
@click.option("--shifted", multiple=True, help="Data of the same classes from elsewhere (breeds:shift); repeatable.")
@click.option("--size", type=click.IntRange(8), help="Height and width of images from folders.")
@click.option("--accelerator", default="auto", show_default=True, help="Of Lightning: auto, cpu, gpu, ...")
@click.option("--devices", default="1", show_default=True, help="Of Lightning: how many, or which.")
@click.option("--strategy", default="auto", show_default=True, help="Of Lightning: auto, ddp, ...")
@click.option("--precision", default="32-true", show_default=True, help="Of Lightning: 32-true, bf16-mixed, ...")
@click.option("--logger", type=click.Choice(["none", "csv", "tensorboard"]), default="none", show_default=True)
@click.option("--overwrite", is_flag=True, help="Train again what is finished, or was begun with other settings.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and what it would cost; write nothing.")
@click.option("--list", "as_list", is_flag=True, help="List the recipes.")
def train_command(
    recipe: str | None, data_name: str | None, output: Path | None, settings: tuple[str, ...], seeds: str,
    name: str | None, start: Path | None, grid: bool, ood: tuple[str, ...], foreign: tuple[str, ...],
    corruptions: str | None, hold_out: str | None, shifted: tuple[str, ...], size: int | None,
    overwrite: bool, dry_run: bool, as_list: bool, **lightning: Any,
) -> None:  # fmt: skip
    """Train RECIPE, a name or a .toml file, and write the outputs of every split.

    An interrupted training goes on where it stopped when the command is repeated.

    Examples
    --------
    abstain train --list
    abstain train sure_plus --data cifar100 -o study --dry-run
    abstain train ce --data cifar10 -o study --seeds 0,1,2 --set network.width=16 --set epochs=30
    abstain train mc_dropout --data folder -o study --ood textures --corruptions all
    """
    from abstain.nn import data, train

    if as_list:
        _list()
        return
    if recipe is None or data_name is None or (output is None and not dry_run):
        raise click.UsageError("give a RECIPE, --data and -o; 'abstain train --list' shows the recipes")
    numbers = _seeds(seeds)
    chosen = train.recipe(recipe, settings)
    task = data.task(
        data_name, validation=chosen.data.validation, statistics=chosen.data.statistics, size=size,
        corruptions=words(corruptions), ood_data=(*ood, *foreign), sub_classes=words(hold_out), shifted_data=shifted,
    )  # fmt: skip
    models = _grid(recipe, settings, data_name, name) if grid else {name or chosen.name: chosen}
    plan = train.plan(chosen, task, device=_device(lightning["accelerator"]))
    _announce(chosen, task, plan, len(models) * len(numbers))
    if dry_run or output is None:
        return
    plan.check_disk(output)
    logger = _logger(lightning.pop("logger"), output)
    devices = lightning.pop("devices")
    lightning["devices"] = int(devices) if devices.isdecimal() else devices
    for model, each in models.items():
        for seed in numbers:
            run = train.fit(
                each, task, output, seed=seed, model=model, start=start, overwrite=overwrite, say=_say, logger=logger,
                enable_progress_bar=_watched(), **lightning,
            )  # fmt: skip
            if run.sets:
                click.echo(f"wrote {output / run.folder}: {', '.join(saved.name for saved in run.sets)}")


def _say(line: str) -> None:
    click.echo(line, err=True)


def _watched() -> bool:
    import sys

    return sys.stderr.isatty()


def _seeds(text: str) -> list[int]:
    if not all(part.isdecimal() for part in words(text)) or not words(text):
        raise ValueError(f"--seeds {text!r} cannot be read; give whole numbers, such as 0,1,2")
    return [int(part) for part in dict.fromkeys(words(text))]


def _list() -> None:
    from abstain.cli._show import show_list
    from abstain.nn import train

    rows: list[tuple[str, ...]] = []
    for name in train.names():
        recipe = train.recipe(name)
        passes = " + ".join(f"{value:g}" for value in recipe.passes().values()) or "none"
        rows.append((name, passes, recipe.about))
    show_list(("name", "passes", "what it is"), rows, as_json=False)


def _grid(name: str, settings: tuple[str, ...], data_name: str, model: str | None) -> Options:
    """One recipe per combination of the grid's values for this data set."""
    from itertools import product

    from abstain.nn import train

    chosen = train.recipe(name, settings)
    if not chosen.grid:
        raise ValueError(f"recipe {chosen.name!r} has no grid; leave --grid out")
    values = {key: _values(table, data_name) for key, table in chosen.grid.items()}
    found = {}
    for combination in product(*values.values()):
        pairs = [f"{key}={str(value).lower()}" for key, value in zip(values, combination, strict=True)]
        found["-".join([model or chosen.name, *pairs])] = train.recipe(name, [*settings, *pairs])
    return found


def _values(table: Mapping[str, Any], data_name: str) -> list[object]:
    return list(table.get(data_name, table.get("other", [])))


def _device(accelerator: str) -> str:
    import torch

    return "cuda" if accelerator in ("auto", "gpu", "cuda") and torch.cuda.is_available() else "cpu"


def _logger(kind: str, folder: Path) -> Any:
    if kind == "none":
        return False
    from lightning.pytorch import loggers

    make = loggers.CSVLogger if kind == "csv" else loggers.TensorBoardLogger
    return make(folder / "logs")


def _announce(recipe: Any, task: Any, plan: Any, runs: int) -> None:
    """Say what was understood, what recipes are known to lose, and what it will cost."""
    from abstain._result import clean

    shape = " x ".join(map(str, task.train.shape))
    network = recipe.network
    width = f", width {network.width}" if network.width else ""
    lines = [
        f"{recipe.name}: {recipe.about}",
        f"source: {recipe.source}",
        *([f"note: {recipe.found}"] if recipe.found else []),
        f"data: {clean(task.name)}, {len(task.train):,} images of {shape}, {task.train.n_classes} classes",
        *(f"  {what}: {said}" for what, said in task.splits.items()),
        f"  sets: {', '.join(f'{each.name} ({each.n:,})' for each in task.sets)}",
        f"network: {network.name}{width}, {network.head} head, {plan.parameters:,} trained numbers",
    ]
    for name, steps in plan.steps.items():
        count, epochs = plan.passes[name], recipe.stage[name].epochs
        plural = "" if count == 1 else "es"
        lines.append(f"stage {name}: {epochs} epochs, {steps:,} steps of {count:g} forward-backward pass{plural}")
    lines.append(
        f"estimate: {_time(plan.seconds)} per run here ({plan.pass_seconds:.2g} s a pass), "
        f"{_size(plan.output_bytes)} of outputs, {_size(plan.checkpoint_bytes)} of checkpoints"
        + (f"; {runs} runs in all" if runs > 1 else "")
    )
    for line in lines:
        click.echo(fill(line, 80, subsequent_indent="    ", break_on_hyphens=False))


def _size(n: int) -> str:
    return f"{n / 1e6:,.0f} MB" if n >= 2e6 else f"{n / 1e3:,.0f} kB"


def _time(seconds: float) -> str:
    for size, unit in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} seconds" if seconds >= 2.0 else f"{seconds:.1g} seconds"
