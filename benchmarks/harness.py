"""What all measurements share: a command line that is made of functions, shares with their errors, processor time."""

import argparse
import inspect
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

say = partial(print, flush=True)
#: The folder of saved outputs, for parts that have an option ``--data``.
DATA = Path(os.environ.get("ABSTAIN_DATA", ""))


class Form(NamedTuple):
    """Whether a part runs in full, and how many samples a cell has if the command line says so."""

    full: bool = False
    samples: int | None = None

    def __call__(self, full: int, quick: int) -> int:
        """Return how many samples a cell has."""
        return self.samples or (full if self.full else quick)


def error(share: float, n: int) -> float:
    """Return 1.96 Monte Carlo errors of a share of n samples."""
    return float(1.96 * np.sqrt(max(share * (1.0 - share), 0.25 / n) / n))


def percent(k: float, n: int) -> str:
    """Return k of n in per cent with 1.96 Monte Carlo errors."""
    return f"{100 * k / n:.1f} +- {100 * error(k / n, n):.1f} %" if n else "-"


def held(found: Any) -> str:
    """Return the share of true values in per cent with 1.96 Monte Carlo errors."""
    return percent(np.sum(found), len(found))


def seconds(job: Callable[[], Any], runs: int = 5, times: int = 1) -> float:
    """Return the processor time of one of so many calls in the fastest of several runs."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        for _ in range(times):
            job()
        found.append((time.process_time() - start) / times)
    return min(found)


def bisected(low: float, high: float, below: Callable[[float], bool], steps: int = 50) -> float:
    """Return the end of an interval up to which a condition holds."""
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if below(middle) else (low, middle)
    return low


def command(text: str | None, *parts: Callable[..., None], also: tuple[Callable[..., None], ...] = ()) -> None:
    """Run the parts that the command line names; without names all of ``parts``, or of ``also``.

    The first parameter of a part is the form, each further one an option with its default.
    """
    named = {part.__name__: part for part in (*parts, *also)}
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(named)}")
    parser.add_argument("--full", action="store_true", help="all samples of the documentation")
    parser.add_argument("--samples", type=int, help="samples of each cell")
    options = {key: each.default for part in named.values() for key, each in _options(part).items()}
    for key, default in options.items():
        several = isinstance(default, tuple)
        kind = type(default[0] if several else default)
        more: Any = {"action": "store_true"} if kind is bool else {"type": kind, "nargs": "+" if several else None}
        parser.add_argument(f"--{key.replace('_', '-')}", default=default, **more)
    given = vars(parser.parse_args())
    if unknown := set(given["parts"]) - named.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(named)}")
    warnings.simplefilter("ignore")
    for part in [named[name] for name in given["parts"]] or parts or also:
        start = time.process_time()
        part(Form(given["full"], given["samples"]), **{key: given[key] for key in _options(part)})
        say(f"({part.__name__}: {time.process_time() - start:.0f} s)")


def _options(part: Callable[..., None]) -> dict[str, inspect.Parameter]:
    """Return the parameters after the form."""
    return dict(list(inspect.signature(part).parameters.items())[1:])
