"""Read a study, and add a run to one, also while others do the same."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from abstain._files import write_text
from abstain.study._manifest import Run, Study, from_json, to_json

_PATIENCE = 10.0


def read_study(path: str | os.PathLike[str]) -> Study:
    """Read the manifest of a study; its outputs are read when they are asked for.

    Parameters
    ----------
    path : str or path
        Folder with ``study.json``, or that file.

    Returns
    -------
    Study

    Raises
    ------
    FileNotFoundError
        No manifest there.
    ValueError
        A manifest that cannot be understood.

    Examples
    --------
    >>> from abstain.study import read_study
    >>> read_study("nowhere")
    Traceback (most recent call last):
        ...
    FileNotFoundError: nowhere/study.json: no such file; give the folder that 'abstain train -o' wrote
    """
    folder = Path(path)
    folder = folder.parent if folder.name == "study.json" else folder
    file = folder / "study.json"
    if not file.is_file():
        raise FileNotFoundError(f"{file}: no such file; give the folder that 'abstain train -o' wrote")
    return Study(folder, from_json(file.read_text(encoding="utf-8"), str(file)))


def add_run(path: str | os.PathLike[str], run: Run) -> None:
    """Enter a run into the manifest of a study, in the place of an older one of the same model and name.

    Parameters
    ----------
    path : str or path
        Folder of the study; the manifest is made if there is none.
    run : Run
        Its files must be there already.

    Raises
    ------
    FileNotFoundError
        A file of the run is missing.
    TimeoutError
        Another process holds the manifest for ten seconds.

    Examples
    --------
    >>> import tempfile
    >>> from abstain.study import Run, add_run
    >>> add_run(tempfile.mkdtemp(), Run("ce", "seed0", "toy", 0, ()))
    """
    folder = Path(path)
    for file in (folder / run.folder / name for each in run.sets for name in each.files):
        if not file.is_file():
            raise FileNotFoundError(f"{file}: is not there; write the outputs before their entry in study.json")
    manifest = folder / "study.json"
    with _alone(folder):
        runs = from_json(manifest.read_text(encoding="utf-8"), str(manifest)) if manifest.exists() else ()
        others = tuple(each for each in runs if each.folder != run.folder)
        write_text(manifest, to_json((*others, run)))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a lock file: several trainings may end at the same time."""
    lock = folder / ".study.lock"
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            if time.monotonic() > end:
                raise TimeoutError(f"{lock}: is held; if no other training runs, remove it") from None
            time.sleep(0.05)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
