"""Write files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from typing import BinaryIO


def write_file(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Call ``write`` on a temporary file in the same folder, then rename it to ``path``."""
    name = os.fspath(path)
    if os.path.isdir(name):
        raise IsADirectoryError(f"{name}: is a directory; give the name of a file in it")
    temporary = f"{name}.{uuid.uuid4().hex}.tmp"
    try:
        with open(temporary, "xb") as file:
            write(file)
        os.replace(temporary, name)
    except FileNotFoundError:
        raise FileNotFoundError(f"{name}: the folder does not exist; create it first") from None
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text, all of it or nothing."""
    write_file(path, lambda file: file.write(text.encode("utf-8")))
