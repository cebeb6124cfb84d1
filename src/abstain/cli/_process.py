"""The process: signals that end it, which take back what is being written, and readers that leave early, as head does.

A command goes on without a reader, since its exit code is an answer, too.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO


class Ended(BaseException):
    """Raised where the process is asked to end, so that open files are cleared away on the way out."""

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


def _end(number: int, _frame: object) -> None:
    raise Ended(128 + number)


class _Unheard(io.FileIO):
    """A file that leads nowhere once nobody reads it any more."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if not isinstance(error, BrokenPipeError) and error.errno != errno.EINVAL:  # as Windows calls it
                raise
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return super().write(data)


@contextmanager
def unbroken() -> Iterator[None]:
    """Let no reader that leaves end what runs in here."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_unbroken, before)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
        sys.stdout, sys.stderr = before


def _unbroken(stream: TextIO) -> TextIO:
    """Return a stream to the same file that no reader breaks; a terminal and what is no file as they are."""
    if not isinstance(stream, io.TextIOWrapper) or stream.isatty():
        return stream
    if not isinstance(getattr(stream.buffer, "raw", stream.buffer), io.FileIO):
        return stream
    stream.flush()
    raw = _Unheard(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
