"""Progress on standard error: how long it will take, where that is worth a line; a counter where somebody watches."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import click

from abstain._extras import install

#: Seconds from which on work is announced, and those after which its length can be told.
WORTH, TOLD = 3.0, 0.5
#: What can be done about long work, by what it is.
SHORTER = {"gains beside noise": "--permutations 0 leaves these out"}

#: Work of other libraries, which no extra of ours makes quicker.
ELSEWHERE = {"counting rows"}


class Progress:
    """Hears how far work has come."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._shown = 0.0

    def __call__(self, what: str, share: float, seconds: float) -> None:
        """Announce work that takes long, once; on a terminal show how far it is."""
        if share <= 0.0:  # a first part without rows tells nothing
            return
        left = seconds * (1.0 - share) / share
        if what not in self._said and seconds >= TOLD and left >= WORTH:
            self._said.add(what)
            click.echo(f"{what}: will take about {_time(left)}{self._remedy(what)}", err=True)
        watched = what in self._said and sys.stderr is not None and sys.stderr.isatty()
        if watched and (share >= 1.0 or abs(seconds - self._shown) > 0.5):
            self._shown = seconds
            click.echo(f"\r{what}: {share:4.0%}" if share < 1.0 else f"\r{'':{len(what) + 6}}\r", err=True, nl=False)

    def _remedy(self, what: str) -> str:
        words = [SHORTER[what]] if what in SHORTER else []
        if what not in ELSEWHERE and find_spec("numba") is None and "fast" not in self._said:
            self._said.add("fast")
            words.append(f"the extra fast makes it quicker: {install('fast')}")
        return f" ({'; '.join(words)})" if words else ""


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100.0 else f"{seconds / 60.0:.0f} minutes"
