"""Evaluate a study: plan the units, do what is not done yet, and gather all of it."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from abstain import metrics as metrics_
from abstain import scores as scores_
from abstain._checks import closest, one_of, whole
from abstain._typing import Document, FloatArray, NanPolicy
from abstain._version import __version__
from abstain.inference import check_level
from abstain.metrics import Metric
from abstain.study._manifest import Run, SavedSet, Study, read_study
from abstain.study._results import Failure, StudyResults
from abstain.study._sets import MODES, Sample, notes, stored_scores
from abstain.study._units import UNITS, Job, Unit, digest, expanded, files_of, own_modules, run_all

#: Seconds per unit of cost where no unit of the study has been timed: a row of a score, a byte of a file.
_USUAL = 1.2e-6
_PER_BYTE = 0.25
#: One process is enough for less than this many seconds.
_FEW = 2.0

Progress = Callable[[str], object]


def evaluate(
    study: Study | str | os.PathLike[str],
    scores: str | Sequence[str] | None = None,
    metrics: str | Metric | Iterable[str | Metric] = "default",
    *,
    models: Sequence[str] | None = None,
    sets: Sequence[str] | None = None,
    id_failures: str = "keep",
    level: float | None = 0.95,
    nan_policy: NanPolicy = "raise",
    workers: int | None = None,
    progress: Progress | None = None,
) -> StudyResults:
    """Evaluate every score on every set of every run by every metric; what was done before is not done again.

    Parameters
    ----------
    study : Study, or str or path
        Or the folder of one.
    scores : str or list of str, optional
        By name: columns of the files, or scores of the registry. Default: the columns of each file, with its
        confidence, else the maximum softmax probability. A score that is fitted takes the train or validation set
        of its run, whichever its authors took.
    metrics : "default", "all", or specs
        As in :func:`abstain.evaluate`; what a set does not allow is a row with its reason.
    models, sets : list of str, optional
        Default: all. Sets of role train are never evaluated.
    id_failures : {"keep", "drop", "both"}
        OOD sets come with the test set, and all their rows are failures; test rows that are classified wrong
        stay with them, or are left out, as published by FD-Shifts.
    level : float in (0, 1), optional
        Of the intervals; None: none, and no standard errors.
    nan_policy : {"raise", "reject", "drop"}
        What a NaN score means.
    workers : int, optional
        Processes; default: as many as there are processors, or one where that takes two seconds.
    progress : callable, optional
        Called with a line of text: what is to do and how long it takes, then how far it is.

    Returns
    -------
    StudyResults
        Files that cannot be evaluated are named in ``failures``; all others are there.

    Raises
    ------
    ValueError
        Unknown models, sets, metrics; a score that neither the registry nor any file has.

    Notes
    -----
    Each set of each run is a unit, kept in ``units/`` under a hash of the files that it rests on, the options and
    the version. A process that is killed loses the unit that it was at. Metrics of your own are imported by every
    process; those of a notebook or of the running script keep the work in one. A pool with a plan gives the planned
    estimates of the score that the plan was made for, with intervals about its rows (:func:`abstain.plan_labels`).

    Examples
    --------
    >>> import tempfile, abstain
    >>> from abstain import study
    >>> folder = tempfile.mkdtemp()
    >>> made = study.add_outputs(folder, abstain.datasets.synthetic("calibrated", 500, 0), model="toy", set="test")
    >>> results = study.evaluate(folder, metrics=["augrc", "accuracy"])
    >>> [(row["metric"], round(row["value"], 3), row["n"]) for row in results.rows()]
    [('augrc', 0.002, 500), ('accuracy', 0.934, 500)]
    """
    study = read_study(study)
    modes = MODES if id_failures == "both" else (one_of(id_failures, (*MODES, "both"), "id_failures"),)
    one_of(nan_policy, ("raise", "reject", "drop"), "nan_policy")
    if level is not None:
        level = check_level(level)
    names = None if scores is None else [scores] if isinstance(scores, str) else list(scores)
    if not study.runs:
        raise ValueError(f"{study.path} holds no run; add one with 'abstain study add'")
    pairs, specs = _chosen(study, models, sets), _specs(metrics)
    say = progress or (lambda _line: None)
    hashes = _digests(study, {run.folder: run for run, _ in pairs}.values())
    failures: list[Failure] = []
    modules = {name: digest(Path(path)) for name, path in own_modules(specs).items() if path}
    asked = _Asked(names, specs, level, nan_policy, hashes, modules)
    jobs, places = [], []
    for run, saved in pairs:
        for mode in modes if saved.role == "ood" else ("",):
            try:
                job = _job(study, run, saved, asked, mode)
            except (OSError, ValueError) as why:
                failures.append(Failure(f"{run.folder}/{saved.name}", str(why)))
                continue
            jobs.append(job)
            places.append((run, saved, mode))
    _some_score_exists(names, jobs)
    failures += _do(study, jobs, workers, say)
    units = [(*place, Unit.load(job.file)) for place, job in zip(places, jobs, strict=True)]
    return _gathered(units, failures, level)


class _Asked(NamedTuple):
    """What every set is evaluated by, with the hashes of files and of modules with metrics of one's own."""

    scores: list[str] | None
    metrics: tuple[str, ...]
    level: float | None
    nan_policy: NanPolicy
    hashes: dict[Path, str]
    modules: dict[str, str]


def _chosen(study: Study, models: Sequence[str] | None, sets: Sequence[str] | None) -> list[tuple[Run, SavedSet]]:
    """Return the runs and sets that are asked for; unknown names are an error."""
    known = {each.name: None for run in study.runs for each in run.sets}
    for name in sets or ():
        one_of(name, known, f"{study.path}: set")
    return [
        (run, saved)
        for run in study.runs_of(models)
        for saved in run.sets
        if saved.role != "train" and (sets is None or saved.name in sets)
    ]


def _specs(metrics: str | Metric | Iterable[str | Metric]) -> tuple[str, ...]:
    if isinstance(metrics, str) and (named := expanded(metrics)):
        return named
    given = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    found = [part for each in given for part in (metrics_.parse_list(each) if isinstance(each, str) else [each])]
    joint = next((each.name for each in found if each.input not in ("blocks", "probabilities")), None)
    if joint is not None:
        raise ValueError(f"{joint} needs two scores and OOD data; take abstain.study.protocol")
    if not found:
        raise ValueError("metrics is empty; give names, 'default' or 'all'")
    return tuple(dict.fromkeys(each.spec for each in found))


def _digests(study: Study, runs: Iterable[Run]) -> dict[Path, str]:
    """Return the hashes of all files that can be read."""
    files = {study.path / run.folder / name: run for run in runs for each in run.sets for name in each.files}

    def read(path: Path) -> str | None:
        with suppress(OSError):
            return digest(path)
        return None

    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as threads:
        found = zip(files, threads.map(read, files), strict=True)
        return {path: value for path, value in found if value is not None}


def _job(study: Study, run: Run, saved: SavedSet, asked: _Asked, mode: str) -> Job:
    folder = study.path / run.folder
    own = folder / f"{saved.name}.npz"
    if own not in asked.hashes:
        raise ValueError("is not there, or cannot be read")
    chosen = tuple(dict.fromkeys(asked.scores if asked.scores is not None else stored_scores(own)))
    files = [folder / name for name in files_of(run, saved, chosen)]
    missing = next((file for file in files if file not in asked.hashes), None)
    if missing is not None:
        raise ValueError(f"needs {missing.name}, which is not there, or cannot be read")
    about: Document = {"scores": list(chosen), "metrics": list(asked.metrics), "level": asked.level}
    about |= {"mode": mode, "nan_policy": asked.nan_policy, "role": saved.role, "n": saved.n, "own": asked.modules}
    hashes = {file.name.removesuffix(".npz"): asked.hashes[file] for file in files}
    text = json.dumps({"unit": UNITS, "abstain": __version__, "files": hashes, **about}, sort_keys=True)
    size = sum(file.stat().st_size for file in files)
    cost = saved.n * len(chosen) * len(asked.metrics) + _PER_BYTE * size
    return Job(
        study=str(study.path),
        model=run.model,
        run=run.name,
        set=saved.name,
        mode=mode,
        scores=chosen,
        metrics=asked.metrics,
        level=asked.level,
        nan_policy=asked.nan_policy,
        key=hashlib.sha256(text.encode()).hexdigest()[:32],
        cost=cost,
    )


def _some_score_exists(names: list[str] | None, jobs: list[Job]) -> None:
    """Refuse a score that is neither in the registry nor in any file, before hours of work."""
    for name in [each for each in names or () if each.split("(")[0] in scores_.names()]:
        scores_.parse(name)
    others = {each for each in names or () if each.split("(")[0] not in scores_.names()}
    stored: set[str] = set()
    for job in jobs:
        if others <= stored:
            return
        with suppress(ValueError):  # what is wrong with a file is said where it is evaluated
            stored |= set(stored_scores(Path(job.study) / f"{job.name}.npz"))
    for name in others - stored:
        raise ValueError(f"score {name!r} is in no file; {closest(name, [*stored, *scores_.names()])}")


def _do(study: Study, jobs: list[Job], workers: int | None, say: Progress) -> list[Failure]:
    """Compute the units that are not kept yet; say what is to do, how far it is, and how long it takes."""
    todo = list({job.key: job for job in jobs if Unit.load(job.file) is None}.values())
    if not todo:
        say(f"{len(jobs)} units, all done before")
        return []
    seconds = sum(job.cost for job in todo) * _rate(study)
    most = os.cpu_count() or 1
    count = whole(workers, "workers", 1) if workers is not None else (1 if seconds < _FEW else most)
    count = min(count, len(todo))
    (study.path / "units").mkdir(exist_ok=True)
    say(
        f"{len(jobs)} units, {len(jobs) - len(todo)} done before; {len(todo)} to do, "
        f"about {_time(seconds / count)} in {count} process{'es' if count > 1 else ''}"
    )
    failures: list[Failure] = []
    start, total, cost, said = time.perf_counter(), sum(job.cost for job in todo), 0.0, 0.0
    for n, (job, why) in enumerate(run_all(todo, count), 1):
        cost += job.cost
        if why is not None:
            failures.append(Failure(job.name, why))
            say(f"{job.name}: {why}")
        passed = time.perf_counter() - start
        if passed - said > 5.0 and n < len(todo):
            said = passed
            say(f"{n} of {len(todo)} units, about {_time(passed * (total / cost - 1.0))} left")
    return failures


def _gathered(
    units: Iterable[tuple[Run, SavedSet, str, Unit | None]],
    failures: list[Failure],
    level: float | None,
) -> StudyResults:
    """Return the results of units: the manifest says what each is, the unit what was found."""
    numbers: list[Document] = []
    sums: list[FloatArray] = []
    said: dict[str, None] = {}
    samples: dict[tuple[str, str, str, str], Sample] = {}
    ood: set[str] = set()
    for run, saved, mode, unit in units:
        if unit is None:
            continue
        where = {
            "data": run.data,
            "model": run.model,
            "run": run.name,
            "seed": run.seed,
            "recipe": run.recipe,
            "settings": _text(run.settings),
            "set": saved.name,
            "role": saved.role,
            "shift": _text(saved.shift),
            "id_failures": mode,
        }
        numbers += [{**where, **row} for row in unit.rows]
        if unit.sample is not None:
            samples[run.data, saved.name, run.model, run.name] = unit.sample
        ood |= {saved.name} if saved.role == "ood" else set()
        sums.append(unit.sums)
        said |= {f"{run.model} has no {score}: {why}": None for score, why in unit.lacking.items()}
        said |= {f"{run.folder}/{saved.name}: {text}": None for text in unit.warnings}
    widths = {matrix.shape[1] for matrix in sums if matrix.size}
    stacked = np.concatenate([each for each in sums if each.size]) if len(widths) == 1 else np.zeros((0, 0))
    said |= dict.fromkeys(notes(samples, ood))
    return StudyResults(tuple(numbers), tuple(failures), level, tuple(said), stacked, samples)


def _text(mapping: Document) -> str:
    return json.dumps(mapping, sort_keys=True) if mapping else ""


def _rate(study: Study) -> float:
    """Return seconds per unit of cost, as the units timed before took."""
    files = sorted((study.path / "units").glob("*.npz"))[:20] if (study.path / "units").is_dir() else []
    timed = [unit for file in files if (unit := Unit.load(file)) is not None]
    cost = sum(unit.cost for unit in timed)
    return sum(unit.seconds for unit in timed) / cost if cost > 0.0 else _USUAL / 9.0


def _time(seconds: float) -> str:
    for size, unit in ((3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{max(seconds, 1.0):.0f} s"
