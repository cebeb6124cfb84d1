"""A unit of a study: one set of one run, with a key that changes when anything that its numbers rest on changes."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from abstain import metrics as metrics_
from abstain._checks import UnmetNeed
from abstain._files import write_file
from abstain._typing import FloatArray, NanPolicy
from abstain._version import __version__
from abstain.evaluation import DEFAULT_METRICS, Evaluation, Measurement, evaluate
from abstain.inference import Sampling, terms_of
from abstain.metrics import Metric
from abstain.study._manifest import Run, SavedSet, Study
from abstain.study._planned import few_labels, row_of, unmeasured
from abstain.study._sets import Part, Sample, columns, fit_sets, test_set

#: Raised when saved units would be misunderstood.
UNITS = "abstain.study.unit/4"
#: Influences are kept as sums over so many groups of rows, from which runs on one test set are put together.
GROUPS = 200


@dataclass(frozen=True)
class Job:
    """What a worker needs to know; plain values, so that it can be sent as a line of JSON."""

    study: str
    model: str
    run: str
    set: str
    mode: str
    scores: tuple[str, ...]
    metrics: tuple[str, ...]
    level: float | None
    nan_policy: NanPolicy
    key: str
    cost: float

    @property
    def file(self) -> Path:
        """Where its numbers are kept."""
        return Path(self.study) / "units" / f"{self.key}.npz"

    @property
    def name(self) -> str:
        """The set of a run that it is about."""
        return f"{self.model}/{self.run}/{self.set}"

    def line(self) -> str:
        """Return the job as a line."""
        return json.dumps(asdict(self))

    @classmethod
    def of_line(cls, line: str) -> Job:
        """Return the job of a line."""
        table = json.loads(line)
        return cls(**{**table, "scores": tuple(table["scores"]), "metrics": tuple(table["metrics"])})


@dataclass(frozen=True)
class Unit:
    """What was found on a set of a run.

    ``rows``: its numbers, with their influences summed over groups of rows in ``sums``; ``lacking``: scores that the
    set does not have, and why; ``warnings``: what a reader has to know of the set; ``sample``: what names its rows
    (None: only a plan does). ``cost`` and ``seconds``: how long it took.
    """

    rows: list[dict[str, Any]]
    sums: FloatArray
    lacking: Mapping[str, str]
    warnings: Sequence[str]
    sample: Sample | None
    cost: float = 0.0
    seconds: float = 0.0

    def save(self, file: Path) -> None:
        """Write it, all of it or nothing."""
        about = {name: value for name, value in vars(self).items() if name != "sums"}
        text = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        write_file(file, lambda each: np.savez(each, about=text, sums=self.sums))

    @classmethod
    def load(cls, file: Path) -> Unit | None:
        """Return a saved unit; None where it is not there or cannot be read, and has to be done again."""
        try:
            with np.load(file, allow_pickle=False) as archive:
                about, sums = json.loads(archive["about"].tobytes().decode()), archive["sums"]
            sample = about.pop("sample")
            return cls(**about, sums=sums, sample=None if sample is None else Sample(*sample))
        except Exception:  # half a disk, another version: the numbers can be had again
            return None


def files_of(run: Run, saved: SavedSet, names: Sequence[str]) -> list[str]:
    """Return the files that the numbers of a unit rest on."""
    if saved.planned:
        return list(saved.files)
    found = [saved.name] + ([test_set(run).name] if saved.role == "foreign" else [])
    found += [each.name for each in fit_sets(run, names).values()]
    return [f"{name}.npz" for name in dict.fromkeys(found)]


def expanded(metrics: str) -> tuple[str, ...]:
    """Return the metrics behind ``"default"`` and ``"all"``; () for any other word."""
    if metrics not in ("default", "all"):
        return ()
    names = [] if metrics == "default" else metrics_.names("blocks", "probabilities")
    return tuple(dict.fromkeys([*DEFAULT_METRICS, *(metrics_.get(name).spec for name in names)]))


def key_of(digests: Mapping[str, str], about: Mapping[str, Any]) -> str:
    """Return the key: a hash of contents and options."""
    text = json.dumps({"unit": UNITS, "abstain": __version__, "files": digests, **about}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def digest(path: Path) -> str:
    """Return the hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=2)
def _study(path: str, _changed: int) -> Study:
    from abstain.study._manifest import read_study

    return read_study(path)


def work(job: Job) -> None:
    """Compute a unit and keep it, all of it or nothing.

    Raises
    ------
    ValueError, TypeError, OSError
        A file that cannot be read or evaluated; the message names it.
    """
    start = time.perf_counter()
    study = _study(job.study, (Path(job.study) / "study.json").stat().st_mtime_ns)
    run = study.run(job.model, job.run)
    saved = next(each for each in run.sets if each.name == job.set)
    unit = _of_plan(study, run, saved, job) if saved.planned else _of_set(study, run, saved, job)
    replace(unit, cost=job.cost, seconds=time.perf_counter() - start).save(job.file)


def _of_plan(study: Study, run: Run, saved: SavedSet, job: Job) -> Unit:
    rows, lacking, words = few_labels(study, run, saved, job.scores, job.metrics, job.level, job.nan_policy)
    return Unit(rows, np.full((len(rows), GROUPS), np.nan), lacking, words, None)


def _of_set(study: Study, run: Run, saved: SavedSet, job: Job) -> Unit:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        found = columns(study, run, saved, job.scores, job.mode or "keep")
    words = [str(each.message) for each in said if issubclass(each.category, UserWarning)]
    rows: list[dict[str, Any]] = []
    sums: list[FloatArray] = []
    for part in found.parts:
        evaluation = _evaluated(part, job)
        summaries = {entry.score: entry for entry in evaluation.summaries}
        for entry in evaluation.measurements:
            rows.append(row_of(entry, summaries[entry.score].n))
            sums.append(_sums(entry, summaries[entry.score].curve.blocks, part, found.n))
    return Unit(rows, np.stack(sums) if sums else np.zeros((0, 0)), found.lacking, words, found.sample)


def _evaluated(part: Part, job: Job) -> Evaluation:
    """Return the evaluation; what a set does not allow is a row with its reason."""
    chosen = [metrics_.parse(spec) for spec in job.metrics]
    options: dict[str, Any] = {"level": job.level, "nan_policy": job.nan_policy}
    named = next((name for name in ("default", "all") if expanded(name) == job.metrics), None)
    try:
        return evaluate(part.outputs, part.names, named or chosen, **options)
    except UnmetNeed:
        allowed, reasons = _allowed(part, chosen, options)
        if not allowed:
            raise
        evaluation = evaluate(part.outputs, part.names, allowed, **options)
        missing = tuple(entry for name in part.names for entry in unmeasured(name, chosen, reasons))
        return Evaluation(evaluation.measurements + missing, evaluation.summaries, evaluation.provenance)


def _allowed(part: Part, chosen: list[Metric], options: dict[str, Any]) -> tuple[list[Metric], dict[str, str]]:
    allowed, reasons = [], {}
    for each in chosen:
        try:
            evaluate(part.outputs, part.names, each, **{**options, "level": None})
            allowed.append(each)
        except UnmetNeed as why:
            reasons[each.spec] = str(why)
    return allowed, reasons


def _sums(entry: Measurement, blocks: Any, part: Part, n: int) -> FloatArray:
    """Return the influences of a measurement, summed over groups of rows, or of clusters, that all runs share."""
    outputs = part.outputs
    if not entry.standard_error > 0.0 or blocks.samples is None or blocks.n != outputs.n:
        return np.full(GROUPS, np.nan)
    metric = metrics_.parse(entry.metric)
    if metric.inference_kind not in ("smooth", "quantile") or metric.input != "blocks":
        return np.full(GROUPS, np.nan)
    terms = terms_of(metric, blocks, Sampling.of(outputs.n, None, outputs.clusters))
    groups = _groups(n)[part.place] if outputs.clusters is None else _groups(terms.size)
    return np.asarray(np.bincount(groups, terms, GROUPS), dtype=np.float64)


@lru_cache(maxsize=8)
def _groups(n: int) -> Any:
    """Return the group of each row: at random, the same for every run."""
    return np.random.default_rng(n).permutation(n) % GROUPS
