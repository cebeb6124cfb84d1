"""Several processes that work on units: each reads jobs as lines and answers each with a line.

A process of its own for every worker, and no pickled functions: it works from scripts without a main guard, from
notebooks and from the command, and a worker that is killed, as for want of memory, costs the unit it was at. Metrics
that somebody registered beside those of the library are imported by every worker from where they come.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from abstain import metrics as metrics_
from abstain.study._units import Job, work

#: Modules by name, with their files; "" where a worker cannot read one: a notebook, a console, the running script.
Modules = dict[str, str]


def own_modules(specs: Iterable[str]) -> Modules:
    """Return the modules outside the library that the metrics are from."""
    names = {metrics_.parse(spec).function.__module__ for spec in specs}
    found = {name for name in names if name.partition(".")[0] != __name__.partition(".")[0]}
    return {name: _file(name) for name in sorted(found)}


def _file(name: str) -> str:
    if name == "__main__":  # to import it is to run it again
        return ""
    return str(getattr(sys.modules.get(name), "__file__", None) or "")


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


#: Called with each finished job, and why it failed, if it did.
Done = Callable[[Job, str | None], object]


def attempt(job: Job) -> str | None:
    """Compute a unit; return why it failed, None if it did not."""
    try:
        work(job)
    except Exception as why:  # whatever a damaged file can do to a reader: it is named, and the rest is done
        return f"{type(why).__name__}: {why}" if not isinstance(why, ValueError | OSError) else str(why)
    return None


def run_all(jobs: Iterable[Job], workers: int, done: Done) -> None:
    """Compute all units, in this process or in several; metrics that a worker cannot import keep them in this one."""
    waiting: SimpleQueue[Job] = SimpleQueue()
    specs: set[str] = set()
    for job in jobs:
        waiting.put(job)
        specs.update(job.metrics)
    modules = own_modules(specs)
    if workers <= 1 or not all(modules.values()):
        while not waiting.empty():
            job = waiting.get()
            done(job, attempt(job))
        return
    lock, started, stopped = threading.Lock(), list[Any](), threading.Event()
    threads = [
        threading.Thread(target=_feed, args=(waiting, modules, done, lock, started, stopped), daemon=True)
        for _ in range(workers)
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:  # interrupted: nobody works on for a parent that has gone
        stopped.set()
        for process in list(started):
            if process.poll() is None:
                process.kill()
                process.wait()


def _feed(
    waiting: SimpleQueue[Job], modules: Modules, done: Done, lock: Any, started: list[Any], stopped: threading.Event
) -> None:
    process = None
    while not stopped.is_set():
        try:
            job = waiting.get_nowait()
        except Empty:
            break
        if process is None:
            process = _start(modules)
            started.append(process)
        why = _ask(process, job)
        if process.poll() is not None:
            process = None
        if stopped.is_set():
            return
        with lock:
            done(job, why)
    if process is not None:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def _start(modules: Modules) -> Any:
    """Start a worker; libraries that would use several threads get one, because there are several workers."""
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-m", "abstain.study._workers", json.dumps(modules)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **single},
    )


def _ask(process: Any, job: Job) -> str | None:
    try:
        process.stdin.write(job.line() + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except OSError:
        answer = ""
    if not answer:
        process.kill()
        process.wait()
        process.stdout.close()
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
        print(json.dumps(attempt(Job.of_line(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
