"""``study.json``: which models, runs and sets a folder holds, and how each came about; it is read and added to here."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from abstain._checks import one_of
from abstain._files import locked, write_text
from abstain._typing import Document
from abstain.outputs import Outputs, read_outputs

#: Raised when older readers would misunderstand a file.
SCHEMA = "abstain.study/1"
ROLES = ("train", "validation", "test", "shift", "ood")
#: Roles by their names of version 0.2.0, which files still have.
FORMER_ROLES = {"foreign": "ood"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=,+-]*")


def known_role(role: str) -> str:
    """Return a role by its present name, with a warning where it has another."""
    if role not in FORMER_ROLES:
        return role
    warnings.warn(f"the role {role!r} is now {FORMER_ROLES[role]!r}", FutureWarning, stacklevel=3)
    return FORMER_ROLES[role]


@dataclass(frozen=True)
class SavedSet:
    """One file of outputs of a run.

    Parameters
    ----------
    name : str
        Its file is ``<model>/<run>/<name>.npz``.
    role : {"train", "validation", "test", "shift", "ood"}
        ``"shift"`` keeps the classes; ``"ood"`` has none of them, so it has no labels.
    n : int
        Number of samples.
    shift : dict
        What changed: ``{"kind": "corruption", "level": 3}``, ``{"kind": "sub-class", ...}``,
        ``{"kind": "new-class", "semantic": True}``; empty for data like the training set.
    planned : int
        Rows that are labelled by the plan next to it, ``<name>.plan.json``; 0: all are labelled, or none.

    Raises
    ------
    ValueError
        A name that is no file name; an unknown role.

    Examples
    --------
    >>> from abstain.study import SavedSet
    >>> SavedSet("corruption-3", "shift", 900, {"kind": "corruption", "level": 3}).role
    'shift'
    """

    name: str
    role: str
    n: int
    shift: Document = field(default_factory=dict)
    planned: int = 0

    @property
    def files(self) -> tuple[str, ...]:
        """Names of its files in the folder of the run: the outputs, and the plan if there is one."""
        return (f"{self.name}.npz", *((f"{self.name}.plan.json",) if self.planned else ()))

    def __post_init__(self) -> None:
        check_name(self.name, "set")
        one_of(self.role, ROLES, "role")


@dataclass(frozen=True)
class Run:
    """One trained model: its sets, and how it was made.

    Parameters
    ----------
    model, name : str
        Folder of the run: ``<model>/<name>``.
    data : str
        Data set that it was trained on.
    seed : int
    sets : tuple of SavedSet
    recipe : str
        Name of the recipe.
    settings : dict
        All settings of the recipe, with defaults filled in.
    scores : dict
        Columns of scores other than the logits: ``{name: {"judged_on": "logits" or "passes", ...}}``, which predictions
        each is judged on.
    splits : dict
        How the data were divided, in words.
    versions : dict
        Of the libraries.
    notes : tuple of str
        What a reader has to know.

    Examples
    --------
    >>> from abstain.study import Run, SavedSet
    >>> Run("ce", "seed0", "cifar10", 0, (SavedSet("test", "test", 9000),)).folder
    'ce/seed0'
    """

    model: str
    name: str
    data: str
    seed: int
    sets: tuple[SavedSet, ...]
    recipe: str = ""
    settings: Document = field(default_factory=dict)
    scores: Document = field(default_factory=dict)
    splits: Document = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_name(self.model, "model")
        check_name(self.name, "run")
        twice = {each.name for each in self.sets if sum(other.name == each.name for other in self.sets) > 1}
        if twice:
            raise ValueError(f"run {self.folder} has two sets named {sorted(twice)[0]!r}; give each its own name")

    @property
    def folder(self) -> str:
        """Folder below the study."""
        return f"{self.model}/{self.name}"


@dataclass(frozen=True)
class Study:
    """A folder of runs.

    Parameters
    ----------
    path : Path
    runs : tuple of Run

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> from abstain import study
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> run = study.Run("ce", "seed0", "toy", 0, (study.SavedSet("test", "test", 2),))
    >>> (folder / run.folder).mkdir(parents=True)
    >>> abstain.write_outputs(abstain.Outputs(labels=[0, 1], predictions=[0, 0]), folder / "ce/seed0/test.npz")
    >>> study.add_run(folder, run)
    >>> found = study.read_study(folder)
    >>> found.models(), found.outputs("ce", "seed0", "test").error
    (['ce'], array([0., 1.]))
    """

    path: Path
    runs: tuple[Run, ...]

    def models(self) -> list[str]:
        """Return the names of the models."""
        return list(dict.fromkeys(run.model for run in self.runs))

    def runs_of(self, models: Sequence[str] | None) -> list[Run]:
        """Return the runs of some models, None: of all."""
        for name in models or ():
            one_of(name, self.models(), f"{self.path}: model")
        return [run for run in self.runs if models is None or run.model in models]

    def run(self, model: str, name: str) -> Run:
        """Return one run."""
        known = {run.folder: run for run in self.runs}
        return known[one_of(f"{model}/{name}", known, f"{self.path}: run")]

    def outputs(self, model: str, name: str, set_name: str) -> Outputs:
        """Read the outputs of one set of one run; OOD ones come without labels."""
        run = self.run(model, name)
        sets = {each.name: each for each in run.sets}
        saved = sets[one_of(set_name, sets, f"run {run.folder}: set")]
        if saved.planned:
            raise ValueError(f"{run.folder}/{set_name} is a pool of which a plan labelled {saved.planned} rows")
        file = self.path / run.folder / f"{set_name}.npz"
        outputs = read_outputs(file, unlabelled=saved.role == "ood")
        if outputs.n != saved.n:
            raise ValueError(f"{file} has {outputs.n} rows, but study.json says {saved.n}; write the set again")
        return outputs


def check_name(name: str, what: str) -> None:
    """Refuse a name that cannot be a folder or a file everywhere."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{what} {name!r} is no file name; use letters, digits and . _ = , + -")


def to_json(runs: tuple[Run, ...]) -> str:
    """Return the manifest as text."""
    entries = [asdict(run) for run in runs]
    for each in (saved for entry in entries for saved in entry["sets"]):
        if not each["planned"]:  # readers before plans know no such field
            del each["planned"]
    return json.dumps({"schema": SCHEMA, "runs": entries}, indent=1, ensure_ascii=False) + "\n"


def from_json(text: str, where: str) -> tuple[Run, ...]:
    """Return the runs of a manifest; what is wrong is said with its place."""
    try:
        table = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where}: is no JSON ({error}); restore it, or remove it and train again") from None
    if not isinstance(table, dict) or table.get("schema") != SCHEMA:
        found = table.get("schema") if isinstance(table, dict) else type(table).__name__
        raise ValueError(f"{where}: schema {found!r} is not {SCHEMA!r}; read it with the version that wrote it")
    try:
        return tuple(_run(entry) for entry in table["runs"])
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise ValueError(f"{where}: a run cannot be read ({error}); restore the file") from None


def _run(entry: Document) -> Run:
    known = {each.name for each in fields(Run)}
    values = {name: value for name, value in entry.items() if name in known}  # later versions may say more
    values["sets"] = tuple(
        SavedSet(**{**each, "role": FORMER_ROLES.get(each["role"], each["role"])}) for each in entry["sets"]
    )
    values["notes"] = tuple(entry.get("notes", ()))
    return Run(**values)


def read_study(path: Study | str | os.PathLike[str]) -> Study:
    """Read the manifest of a study; its outputs are read when they are asked for.

    Parameters
    ----------
    path : str or path
        Folder with ``study.json``, or that file. A study is returned as it is.

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
    if isinstance(path, Study):
        return path
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
    with locked(manifest):  # several trainings may end at the same time
        runs = from_json(manifest.read_text(encoding="utf-8"), str(manifest)) if manifest.exists() else ()
        others = tuple(each for each in runs if each.folder != run.folder)
        write_text(manifest, to_json((*others, run)))
