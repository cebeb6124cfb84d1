"""The parts that rows come in: the lazy frame of an engine, or the files of a pattern or a partitioned folder.

Files are counted one after the other, and a large one in pieces: memory holds a piece and the counts so far, progress
is known, and an error names its file.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape, glob, has_magic
from pathlib import Path
from typing import Any

from abstain._checks import engine_of
from abstain.outputs._open import damaged
from abstain.outputs._outputs import Outputs

#: Rows that are counted at once.
PIECE = 1_000_000


@dataclass(frozen=True)
class Part:
    """A lazy frame of Narwhals; ``name``: its file, if it is one; ``n``: its rows, where they are known for nothing."""

    frame: Any
    name: str = ""
    n: int = 0

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        with self.about():
            return list(self.frame.collect_schema())

    @contextmanager
    def about(self) -> Iterator[None]:
        """Put the file in front of an error."""
        try:
            with damaged(self.name):
                yield
        except (ValueError, TypeError, OSError) as error:
            message = " ".join(str(error).split())
            if not self.name or message.startswith(f"{self.name}: "):
                raise
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{self.name}: {message}") from error

    def pieces(self) -> Iterator[Part]:
        """Yield the rows in pieces that fit into memory."""
        if self.n <= PIECE:
            yield self
            return
        import narwhals as nw

        native = self.frame.to_native()
        for start in range(0, self.n, PIECE):
            length = min(PIECE, self.n - start)
            yield Part(nw.from_native(native.slice(start, length)), self.name, length)


@dataclass(frozen=True)
class Parts:
    """What a source comes in, and the engine that reads it."""

    parts: list[Part]
    engine: str

    @property
    def n(self) -> int:
        """Rows of all files."""
        return sum(each.n for each in self.parts)

    @property
    def first(self) -> Part:
        """The first part with rows; of none the first."""
        return next((each for each in self.parts if each.n), self.parts[0])


def parts_of(source: Any) -> Parts | None:
    """Return the parts of a lazy frame, of a pattern of Parquet files or of a folder of them; None for all else."""
    if isinstance(source, str | os.PathLike):
        return _of_path(os.fspath(source))
    if source is None or isinstance(source, Mapping | Outputs | bytes):
        return None
    import narwhals as nw

    with warnings.catch_warnings():  # that Dask will need a package next to Narwhals is for us to say, in large.md
        warnings.filterwarnings("ignore", message="Dask support", category=FutureWarning)
        frame = nw.from_native(source, pass_through=True)
    if not isinstance(frame, nw.LazyFrame):
        return None
    return Parts([Part(frame)], engine_of(frame))


def _of_path(path: str) -> Parts | None:
    if os.path.isfile(path) or not (has_magic(path) or os.path.isdir(path)):
        return None
    pattern = os.path.join(escape(path), "**", "*.parquet") if os.path.isdir(path) else path
    names = sorted(each for each in glob(pattern, recursive=True) if os.path.isfile(each))
    if not names:
        if os.path.isdir(path):
            return None  # whoever reads files says what is wrong with a folder
        raise FileNotFoundError(f"{path}: no file matches; check the pattern")
    other = next((each for each in names if not each.lower().endswith(".parquet")), None)
    if other is not None:
        raise ValueError(f"{other}: several files are read as Parquet; write it so, or give one file")
    from abstain.outputs._frame import polars

    pl = polars("reading several files")
    keys = _partitions(names, os.path.commonpath([os.path.dirname(each) for each in names]))
    return Parts([_file(pl, name, told) for name, told in zip(names, keys, strict=True)], "polars")


def _file(pl: Any, name: str, told: Mapping[str, Any]) -> Part:
    import narwhals as nw

    from abstain.outputs._frame import readable

    with Part(None, name).about(), readable(name, pl.exceptions.PolarsError, OSError):
        frame = pl.scan_parquet(name, glob=False, hive_partitioning=False)
        number = int(frame.select(pl.len()).collect().item())
        frame = frame.with_columns(**{key: pl.lit(value) for key, value in told.items()})
    return Part(nw.from_native(frame), name, number)


def _partitions(names: list[str], root: str) -> list[dict[str, Any]]:
    """Return of each file the ``key=value`` folders that it lies in, as columns; whole numbers where all values are."""
    start = len(Path(root).parts)
    while start > 0 and "=" in Path(root).parts[start - 1]:
        start -= 1
    found: list[dict[str, Any]] = [
        dict(part.split("=", 1) for part in Path(name).parts[start:-1] if "=" in part) for name in names
    ]
    for key in {key for each in found for key in each}:
        having = [each for each in found if key in each]
        if all(re.fullmatch(r"0|-?[1-9]\d*", each[key]) for each in having):
            for each in having:
                each[key] = int(each[key])
    return found


def refuse_without_frame(function: str, columns: Mapping[str, Any], **given: Any) -> None:
    """Refuse what ``function`` takes only with ``frame=``: names of columns, a lazy frame as loss, or no rows."""
    if columns:
        raise TypeError(f"{function} has no argument {next(iter(columns))!r} but with frame=; leave it out")
    loss = given["loss"]
    if hasattr(type(loss), "columns") and parts_of(loss) is not None:
        names = ", ".join(f"{name}=..." for name in given)
        raise TypeError(f"loss is a lazy frame; give it as frame=, and name its columns: {names}")
    if missing := [name for name, value in given.items() if value is None]:
        lacks = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        raise TypeError(f"{lacks}; give {' and '.join(given)} as columns, or frame= and their names")
