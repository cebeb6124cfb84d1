"""Being told to end: what is being written is taken back first."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Ended(BaseException):
    """Raised where the process is told to end, so that open files are cleared away on the way out."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@contextmanager
def ending() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into :class:`Ended`, unless whoever started us has them ignored or handled."""
    before: dict[int, Any] = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, _frame: Any) -> None:
    raise Ended(128 + number)
