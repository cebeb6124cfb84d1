"""A unit of a study: one set of one run, with a key that changes when anything that its numbers rest on changes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

from abstain import metrics as metrics_
from abstain._checks import UnmetNeed
from abstain._files import write_file
from abstain._typing import Document, FloatArray, NanPolicy, Options
from abstain.blocks import TieBlocks
from abstain.evaluation import DEFAULT_METRICS, Evaluation, Measurement, evaluate
from abstain.inference import Sampling, terms_of
from abstain.study._manifest import Run, SavedSet, Study
from abstain.study._sets import Part, Sample, columns, fit_sets, test_set

#: Raised when saved units would be misunderstood.
UNITS = "abstain.study.unit/4"
#: What a number of a unit takes over from a measurement.
MEASURED = (
    "score", "metric", "label", "identifier", "direction", "value", "standard_error", "low", "high", "method", "reason",
    "warning",
)  # fmt: skip
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


@dataclass(frozen=True)
class Unit:
    """What was found on a set of a run.

    ``rows``: its numbers, with their influences summed over groups of rows in ``sums``; ``lacking``: scores that the
    set does not have, and why; ``warnings``: what a reader has to know of the set; ``sample``: what names its rows
    (None: only a plan does). ``cost`` and ``seconds``: how long it took.
    """

    rows: list[Document]
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
    found = [saved.name] + ([test_set(run).name] if saved.role == "ood" else [])
    found += [each.name for each in fit_sets(run, names).values()]
    return [f"{name}.npz" for name in dict.fromkeys(found)]


def expanded(metrics: str) -> tuple[str, ...]:
    """Return the metrics behind ``"default"`` and ``"all"``; () for any other word."""
    if metrics not in ("default", "all"):
        return ()
    names = [] if metrics == "default" else metrics_.names("blocks", "probabilities")
    return tuple(dict.fromkeys([*DEFAULT_METRICS, *(metrics_.get(name).spec for name in names)]))


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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        found = columns(study, run, saved, job.scores, job.mode or "keep")
        pool = study.path / run.folder / saved.files[0]
        evaluated = [_evaluated(part, job, pool) for part in found.parts]
    said = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]
    rows: list[Document] = []
    sums: list[FloatArray] = []
    for part, evaluation in zip(found.parts, evaluated, strict=True):
        summaries = {entry.score: entry for entry in evaluation.summaries}
        few = evaluation.provenance.few_labels
        for entry in evaluation.measurements:
            n = summaries[entry.score].n
            row = {name: getattr(entry, name) for name in MEASURED}
            rows.append(row | {"n": n, "labelled": n if few is None else few.labelled})
            sums.append(_sums(entry, summaries[entry.score].curve.blocks, part, found.n))
        if few is not None and part.side is not None:
            said.append(
                f"{few.labelled} of {found.n} rows are labelled, by plan ({few.design}, "
                f"{part.side.shared.digest[:8]}), {few.errors} errors seen; values and intervals are about these rows"
            )
    stacked = np.stack(sums) if sums else np.zeros((0, 0))
    unit = Unit(rows, stacked, found.lacking, list(dict.fromkeys(said)), found.sample)
    replace(unit, cost=job.cost, seconds=time.perf_counter() - start).save(job.file)


def _evaluated(part: Part, job: Job, pool: Path) -> Evaluation:
    """Return the evaluation; what a set does not allow is a row with its reason."""
    chosen = [metrics_.parse(spec) for spec in job.metrics]
    options: Options = {"level": job.level, "nan_policy": job.nan_policy}
    source: Any = part.outputs
    named = next((name for name in ("default", "all") if expanded(name) == job.metrics), None)
    if part.side is not None:
        source, options["plan"], named = pool, part.side.plan, None
    try:
        return evaluate(source, part.names, named or chosen, **options)
    except UnmetNeed:
        reasons: dict[str, str] = {}
        for each in chosen:
            try:
                evaluate(source, part.names, each, **{**options, "level": None})
            except UnmetNeed as why:
                reasons[each.spec] = str(why).partition("; ask for")[0]
        if len(reasons) == len(chosen):
            raise
        allowed = [each for each in chosen if each.spec not in reasons]
        evaluation = evaluate(source, part.names, allowed, **options)
        missing = tuple(
            Measurement(name, None, each.label, each.spec, each.identifier, each.direction, np.nan, reasons[each.spec])
            for name in part.names
            for each in chosen
            if each.spec in reasons
        )
        return Evaluation(evaluation.measurements + missing, evaluation.summaries, evaluation.provenance)


def _sums(entry: Measurement, blocks: TieBlocks, part: Part, n: int) -> FloatArray:
    """Return the influences of a measurement, summed over groups of rows, or of clusters, that all runs share."""
    outputs = part.outputs
    if part.side is not None or not entry.standard_error > 0.0 or blocks.samples is None or blocks.n != outputs.n:
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


# ---------------------------------------------------------------------- several processes

# Each reads jobs as lines and answers each with a line. A process of its own for every worker, and no pickled
# functions: it works from scripts without a main guard, from notebooks and from the command, and a worker that is
# killed, as for want of memory, costs the unit it was at. Metrics that somebody added to those of the library
# are imported by every worker from where they come.

#: Modules by name, with their files; "" where a worker cannot read one: a notebook, a console, the running script.
Modules = dict[str, str]


def own_modules(specs: Iterable[str]) -> Modules:
    """Return the modules outside the library that the metrics are from."""
    names = {metrics_.parse(spec).function.__module__ for spec in specs}
    found = {name for name in names if name.partition(".")[0] != __name__.partition(".")[0]}
    files = {name: getattr(sys.modules.get(name), "__file__", None) or "" for name in sorted(found)}
    return {name: "" if name == "__main__" else str(file) for name, file in files.items()}  # to import it runs it again


def load(modules: Modules) -> None:
    """Import them by name, or where Python does not find them so, from their files."""
    for name, file in modules.items():
        try:
            known = find_spec(name)
        except (ImportError, ValueError):
            known = None
        if known is not None and known.origin is not None and Path(known.origin) == Path(file):
            import_module(name)
            continue
        spec = spec_from_file_location(name, file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file}: holds metrics of the study, but cannot be imported")
        module = module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)


def attempt(job: Job) -> str | None:
    """Compute a unit; return why it failed, None if it did not."""
    try:
        work(job)
    except Exception as why:  # whatever a damaged file can do to a reader: it is named, and the rest is done
        return f"{type(why).__name__}: {why}" if not isinstance(why, ValueError | OSError) else str(why)
    return None


def run_all(jobs: list[Job], workers: int) -> Iterator[tuple[Job, str | None]]:
    """Compute all units, and yield each with why it failed; what a worker cannot import stays in this process."""
    modules = own_modules({spec for job in jobs for spec in job.metrics})
    if workers <= 1 or not all(modules.values()):
        yield from ((job, attempt(job)) for job in jobs)
        return
    mine, started = threading.local(), list[Any]()

    def answered(job: Job) -> str | None:
        process = getattr(mine, "process", None)
        if process is None or process.poll() is not None:
            process = mine.process = _start(modules)
            started.append(process)
        return _ask(process, job)

    with ThreadPoolExecutor(workers) as threads:
        try:
            waiting = {threads.submit(answered, job): job for job in jobs}
            for each in as_completed(waiting):
                yield waiting[each], each.result()
        finally:  # interrupted: nobody works on for a parent that has gone
            threads.shutdown(wait=False, cancel_futures=True)
            for process in started:
                process.kill()
    for process in started:
        process.communicate()


def _start(modules: Modules) -> Any:
    """Start a worker; libraries that would use several threads get one, because there are several workers."""
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-c", "from abstain.study._units import main; main()", json.dumps(modules)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",  # of which JSON uses the letters that all encodings share
        env={**os.environ, **single},
    )


def _ask(process: Any, job: Job) -> str | None:
    try:
        process.stdin.write(json.dumps(asdict(job)) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except OSError:
        answer = ""
    if not answer:
        process.kill()
        process.wait()
        return f"the process that worked on it ended with code {process.returncode}; is there enough memory?"
    why: str | None = json.loads(answer)
    return why


def main() -> None:
    """Answer jobs until there are no more."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process gets it, and ends us
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints is no answer
    load(json.loads(sys.argv[1]))
    for line in sys.stdin:
        about = json.loads(line)
        job = Job(**{**about, "scores": tuple(about["scores"]), "metrics": tuple(about["metrics"])})
        print(json.dumps(attempt(job)), file=answers, flush=True)
