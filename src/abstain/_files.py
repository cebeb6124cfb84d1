"""Write files so that nobody ever sees half of one."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

if TYPE_CHECKING:
    import polars as pl

    from abstain._typing import Document

_lock: Any
try:
    import fcntl as _lock
except ImportError:  # Windows
    _lock = None

F = TypeVar("F", "pl.DataFrame", "pl.LazyFrame")
_PREFIX, _SUFFIX = ".abstain-", ".tmp"

#: Folders that were swept in this process.
_swept: set[str] = set()


def write_file(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Call ``write`` on a hidden temporary file in the same folder, then rename it to ``path``.

    If ``write`` fails or is interrupted, the temporary file goes and an old file at ``path`` stays. A link is followed,
    and an old file keeps its permissions. Temporary files of writers that were killed are removed.
    """
    name = os.fspath(path)
    if os.path.isdir(name) or not os.path.basename(name):
        raise IsADirectoryError(f"{name}: is a folder; give the name of a file in it")
    try:
        if os.path.exists(name) and not os.path.isfile(name):  # /dev/stdout, /dev/null, a named pipe: nothing to rename
            with open(name, "wb") as file:
                write(file)
            return
        target = os.path.realpath(name)
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{name}: the folder does not exist; create it first")
        _sweep(folder)
        _replace(target, folder, write)
    except OSError as error:
        if isinstance(error, BrokenPipeError) or str(error).startswith(f"{name}: "):
            raise
        if error.errno is None and "os error 28" not in str(error):  # it has its own words
            raise
        reason = error.strerror or "No space left on device"
        raise type(error)(f"{name}: cannot be written ({reason}); choose another place") from error
    except Exception as error:
        if "os error 28" not in str(error):  # polars has an error of its own for a full disk
            raise
        raise OSError(f"{name}: cannot be written (No space left on device); choose another place") from error


def _replace(target: str, folder: str, write: Callable[[BinaryIO], object]) -> None:
    # the name of the target is not part of the temporary one: together they might be too long for the file system
    temporary = os.path.join(folder, f"{_PREFIX}{os.urandom(16).hex()}{_SUFFIX}")
    try:
        with open(temporary, "xb") as file:
            _hold(file)
            write(file)
            file.flush()
            os.fsync(file.fileno())
            if _lock is not None:
                if os.path.exists(target):
                    os.chmod(temporary, os.stat(target).st_mode & 0o777)
                os.replace(temporary, target)  # still locked, so that nobody takes it for a leftover
        if _lock is None:
            _replace_on_windows(temporary, target)
    except BaseException:
        try:
            _clear(temporary)
        except KeyboardInterrupt:  # one Ctrl-C can come twice: polars raises it, and then Python's own handler
            _clear(temporary)
            raise
        raise


def _replace_on_windows(temporary: str, target: str) -> None:
    """Rename a closed file: Windows refuses while somebody reads the target, which mostly takes moments."""
    for wait in (0.01, 0.03, 0.1, 0.3, 1.0):
        with suppress(PermissionError):
            os.replace(temporary, target)
            return
        time.sleep(wait)
    os.replace(temporary, target)


def _clear(temporary: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(temporary)


def _hold(file: BinaryIO) -> None:
    """Lock a temporary file: who is alive holds the lock, who was killed does not."""
    if _lock is not None:
        with suppress(OSError):  # a file system without locks: nothing is swept there
            _lock.flock(file, _lock.LOCK_EX | _lock.LOCK_NB)


def _sweep(folder: str) -> None:
    """Remove temporary files that no writer holds, once per folder and process."""
    if _lock is None or folder in _swept:
        return
    _swept.add(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_if_left(entry.path)


def _remove_if_left(path: str) -> None:
    if time.time() - os.stat(path).st_mtime < 60.0:  # its writer may not have come to lock it yet
        return
    with open(path, "rb") as file:
        _lock.flock(file, _lock.LOCK_EX | _lock.LOCK_NB)
        os.unlink(path)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text, all of it or nothing."""
    write_file(path, lambda file: file.write(text.encode("utf-8", "backslashreplace")))


def digest_of(content: Document) -> str:
    """Return a hash of what a JSON file holds: it shows that the file was changed, not who wrote it."""
    import hashlib

    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()


@dataclass(frozen=True)
class StateFile:
    """The JSON file of a state that goes on in other processes; it shows if it was edited or damaged.

    ``what`` has this state, and ``writer`` writes its first file. States of one origin agree in the field ``origin``.
    ``formats`` are read; the first one is written.
    """

    what: str
    writer: str
    origin: str
    formats: tuple[str, ...]

    def read(self, name: str) -> Document:
        """Return what a file holds; refuse one that was edited or damaged."""
        try:
            with open(name, encoding="utf-8") as file:
                found = json.load(file)
        except FileNotFoundError:
            raise FileNotFoundError(f"{name}: no such state; {self.writer} writes it") from None
        except (ValueError, OSError, RecursionError) as error:
            why = getattr(error, "strerror", None) or " ".join(str(error).split())
            raise ValueError(
                f"{name}: cannot be read as the state of a {self.what} ({why}); restore the file"
            ) from None
        if not isinstance(found, dict) or found.get("format") not in self.formats:
            raise ValueError(f"{name}: is no state of format {self.formats[0]!r}; {self.writer} writes one")
        content = {key: value for key, value in found.items() if key not in ("format", "digest")}
        if found.get("digest") != digest_of(content):
            raise ValueError(f"{name}: was edited or damaged, so what it says may not be true; restore the file")
        return content

    def write(self, name: str, content: Document, known: str | None) -> str:
        """Write a state and return its digest; refuse to replace another one, or what is newer than ``known``."""
        digest = digest_of(content)
        if os.path.isfile(name) and digest_of(old := self.read(name)) not in (known, digest):
            same = old[self.origin] == content[self.origin]
            whose = "rows that this one has not seen" if same else f"another {self.what}"
            raise ValueError(f"{name}: holds the state of {whose}; load it first, or write to another file")
        text = json.dumps({"format": self.formats[0], **content, "digest": digest}, allow_nan=False)
        write_text(name, text + "\n")
        return digest


_FORMULA, _NUMBER = r"^'*[=+\-@\t\r]", r"^[+-](?:[\d.,]+(?:[eE][+-]?\d+)?%?|(?i:inf|infinity|nan))?$"


def without_formulas(frame: F) -> F:
    """Return a polars frame for a CSV: texts and names that a spreadsheet would run get an apostrophe in front.

    One that has apostrophes before such a character gets one more, so that :func:`restored` finds every text again.
    """
    import polars as pl

    def safe(text: pl.Expr) -> pl.Expr:
        runs = text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
        return pl.when(runs).then(pl.concat_str(pl.lit("'"), text)).otherwise(text)

    schema = frame.collect_schema()
    texts = [name for name, kind in schema.items() if kind in (pl.String, pl.Categorical, pl.Enum)]
    frame = frame.with_columns(safe(pl.col(name).cast(pl.String)).alias(name) for name in texts)
    names = pl.select(pl.Series("name", schema.names(), dtype=pl.String)).select(safe(pl.col("name")).alias("name"))
    return frame.rename(dict(zip(schema.names(), names["name"], strict=True)))


def restored(text: str) -> str:
    """Return a text of a CSV as it was before :func:`without_formulas`."""
    return text[1:] if text.startswith("'") and re.match(_FORMULA, text[1:]) else text


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let no other thread or process into this block for any file of the same folder; a killed one lets go.

    The folder itself is locked; where that cannot be, as on Windows, a hidden file in it that stays there.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{os.fspath(path)}: the folder does not exist; create it first")
    handle = None
    try:
        handle = os.open(folder, os.O_RDONLY)
        _lock.flock(handle, _lock.LOCK_EX)
    except (OSError, AttributeError):
        if handle is not None:
            os.close(handle)
        handle = os.open(os.path.join(folder, f"{_PREFIX}lock"), os.O_RDWR | os.O_CREAT)
        if _lock is not None:
            _lock.flock(handle, _lock.LOCK_EX)
        else:
            _lock_on_windows(handle)
    try:
        yield
    finally:
        os.close(handle)


def _lock_on_windows(handle: int) -> None:
    from importlib import import_module

    windows: Any = import_module("msvcrt")
    while True:
        with suppress(OSError):  # it gives up after ten seconds
            windows.locking(handle, windows.LK_NBLCK, 1)
            return
        time.sleep(0.01)
