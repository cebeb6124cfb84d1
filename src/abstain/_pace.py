"""How far long work has come, for whoever listens: the command does, a library call says nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import TypeVar

T = TypeVar("T")
#: Called with what is done, the share that is done, and the seconds that it took.
Listener = Callable[[str, float, float], object]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Let somebody hear how far work in this block has come."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class Pace:
    """Work of so many steps."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done, self.start = what, total, 0, monotonic()

    def advance(self, steps: int = 1) -> None:
        """Say that so many more steps are done."""
        self.done += steps
        listener = _listener.get()
        if listener is not None and self.total:
            listener(self.what, self.done / self.total, monotonic() - self.start)


def paced(items: Collection[T], what: str) -> Iterator[T]:
    """Yield items, and say how many of them are done."""
    pace = Pace(what, len(items))
    for item in items:
        yield item
        pace.advance()
