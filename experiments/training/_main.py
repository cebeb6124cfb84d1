"""The command of every study of trainings."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from abstain._files import write_text
from experiments.training._jobs import SIZES, Job, Study
from experiments.training._run import dry_run, precision_of, run


def main(study: Study, arguments: list[str] | None = None) -> int:
    """Run what is not done, in order; write tables.md of what is."""
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{study.name}", description=study.about)
    parser.add_argument(
        "--size", choices=SIZES, default="smoke", help="smoke: generated data, seconds; gpu: the papers'"
    )
    parser.add_argument("--output", type=Path, help="folder of studies, records and tables; repeat to go on")
    parser.add_argument("--settings", nargs="+", metavar="NAME", help="only these data sets")
    parser.add_argument("--models", nargs="+", metavar="NAME", help="only these rows")
    parser.add_argument("--seeds", nargs="+", type=int, help="only these")
    parser.add_argument("--precision", default="auto", help="of Lightning; auto: bf16-mixed where it is fast")
    parser.add_argument("--accelerator", default="auto", help="of Lightning")
    parser.add_argument("--threads", type=int, help="of the processor")
    parser.add_argument("--dry-run", action="store_true", help="build and count everything on generated data")
    parser.add_argument("--tables", action="store_true", help="only write the tables of what is finished")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    jobs = _chosen(list(study.jobs(options.size)), options)
    if options.dry_run:
        print(dry_run(jobs))
        return 0
    if options.output is None:
        parser.error("give --output, or --dry-run")
    output: Path = options.output
    output.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    precision = precision_of(options.precision) if options.size != "smoke" else "32-true"
    if not options.tables:
        try:
            done = run(jobs, output, precision=precision, say=_say, accelerator=options.accelerator)
        except KeyboardInterrupt:
            _say("interrupted; repeat the command, and it goes on from the last epoch")
            return 130
        _say(f"{done} trainings in {time.perf_counter() - start:.0f} s")
    text = study.tables(output, jobs)
    write_text(output / f"{study.name}-{options.size}.md", text + "\n")
    print(text)
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _chosen(jobs: list[Job], options: argparse.Namespace) -> list[Job]:
    """The jobs that are asked for; unknown names are an error."""
    chosen = jobs
    filters: list[tuple[str, list[Any] | None, Callable[[Job], Any]]] = [
        ("settings", options.settings, lambda job: job.setting.name),
        ("models", options.models, lambda job: job.model),
        ("seeds", options.seeds, lambda job: job.seed),
    ]
    for what, asked, of in filters:
        if asked is None:
            continue
        known = list(dict.fromkeys(of(job) for job in jobs))
        unknown = [each for each in asked if each not in known]
        if unknown:
            raise SystemExit(f"--{what} {unknown[0]}: is not known; known: {', '.join(map(str, known))}")
        chosen = [job for job in chosen if of(job) in asked]
    return chosen
