"""Write files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from typing import BinaryIO


def write_file(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Call ``write`` on a hidden temporary file in the same folder, then rename it to ``path``.

    If ``write`` fails, the temporary file goes and an old file at ``path`` stays. A link is followed, and an old
    file keeps its permissions.
    """
    name = os.fspath(path)
    if os.path.isdir(name) or not os.path.basename(name):
        raise IsADirectoryError(f"{name}: is a folder; give the name of a file in it")
    if os.path.exists(name) and not os.path.isfile(name):  # /dev/stdout, /dev/null, a named pipe: nothing to rename
        with open(name, "wb") as file:
            write(file)
        return
    target = os.path.realpath(name)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{name}: the folder does not exist; create it first")
    # the name of the target is not part of the temporary one: together they might be too long for the file system
    temporary = os.path.join(folder, f".abstain-{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(temporary, os.stat(target).st_mode & 0o777)
        os.replace(temporary, target)
    except OSError as error:
        if error.errno is None:  # not from the operating system: it has its own words
            raise
        raise type(error)(f"{name}: cannot be written ({error.strerror}); choose another place") from error
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text, all of it or nothing."""
    write_file(path, lambda file: file.write(text.encode("utf-8", "backslashreplace")))
