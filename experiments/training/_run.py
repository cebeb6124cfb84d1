"""Run jobs one after another; each writes a line about its time and memory."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from abstain.nn import train
from abstain.nn.data import Task
from abstain.nn.networks import parameters
from abstain.study import Run, read_study
from experiments.training._jobs import Job

Say = Callable[[str], None]
RECORDS = "records.jsonl"


def bf16_is_fast() -> bool:
    """Whether this machine multiplies in bfloat16: on a GPU, or on a processor with AVX512-BF16 or AMX."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    there = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return bool(there and torch.ops.mkldnn._is_mkldnn_bf16_supported())


def precision_of(wanted: str) -> str:
    """Return Lightning's precision; ``auto`` is bf16-mixed where that is fast."""
    if wanted != "auto":
        return wanted
    return "bf16-mixed" if bf16_is_fast() else "32-true"


def finished(job: Job, output: Path) -> Run | None:
    """Return the run of a job that is done."""
    folder = output / job.setting.name
    if not (folder / "study.json").exists():
        return None
    found = [run for run in read_study(folder).runs if run.folder == f"{job.model}/seed{job.seed}"]
    return found[0] if found else None


def run(jobs: Sequence[Job], output: Path, *, precision: str, say: Say, **trainer: Any) -> int:
    """Do what is not done yet, in order; return how many jobs that were."""
    todo = [job for job in jobs if finished(job, output) is None]
    say(f"{len(todo)} of {len(jobs)} trainings to do, {precision}, {torch.get_num_threads()} threads")
    task, setting = None, None
    for number, job in enumerate(todo, 1):
        if task is None or setting != job.setting:
            task, setting = job.setting.task(), job.setting
        recipe = job.made()
        resumed = (output / job.folder / "checkpoints").exists()
        say(f"{time.strftime('%H:%M:%S')} {number} of {len(todo)}: {job.folder}{', goes on' if resumed else ''}")
        wall, cpu = time.perf_counter(), time.process_time()
        train.fit(
            recipe, task, output / job.setting.name, seed=job.seed, model=job.model, start=job.begins(output), say=say,
            cache=output / "cache", precision=precision, enable_progress_bar=False, **trainer,
        )  # fmt: skip
        record = {
            "job": job.folder, "recipe": job.recipe, "settings": list(job.settings), "seed": job.seed,
            "passes": recipe.passes(), "epochs": {name: stage.epochs for name, stage in recipe.stage.items()},
            "pictures": len(task.train), "precision": precision, "threads": torch.get_num_threads(),
            "wall_seconds": round(time.perf_counter() - wall, 2), "cpu_seconds": round(time.process_time() - cpu, 2),
            "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3), "resumed": resumed,
        }  # fmt: skip
        with (output / RECORDS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    return len(todo)


def dry_run(jobs: Sequence[Job]) -> str:
    """Build every model on generated data of the right shape and count its passes; nothing is trained or written."""
    lines = [f"{'model':<34} {'seeds':>5} {'parameters':>11} {'passes':>12} {'picture passes':>15}"]
    groups: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        groups.setdefault((job.setting.name, job.model), []).append(job)
    total, tasks = 0.0, {}
    for (setting, model), same in groups.items():
        job = same[0]
        if setting not in tasks:
            tasks[setting] = job.setting.made_up().task()
        recipe = job.made()
        size = _parameters(replace(recipe, network=replace(recipe.network, weights="random")), tasks[setting])
        stages = list(recipe.stage.items())[1 if job.start and len(recipe.stage) > 1 else 0 :]
        counted = sum(stage.epochs * recipe.passes()[name] * job.setting.n for name, stage in stages)
        total += counted * len(same)
        passes = " + ".join(f"{stage.epochs} x {recipe.passes()[name]:g}" for name, stage in stages)
        lines.append(f"{f'{setting}/{model}':<34} {len(same):>5} {size:>11} {passes:>12} {counted / 1e6:>13,.1f} M")
    lines.append(f"{len(jobs)} trainings, {total / 1e6:,.0f} million forward and backward passes of a picture")
    return "\n".join(lines)


def _parameters(recipe: train.Recipe, task: Task) -> str:
    """Return the number of parameters that learn, or which library the network needs."""
    from abstain.nn.train._run import learner_of

    try:
        with torch.device("meta"):
            return f"{parameters(learner_of(recipe, task, 0)):,}"
    except ImportError as error:
        return f"needs {error.name}"
