"""Make a study of files that are there already: enter one set, or guess all of them from their names."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from abstain._checks import listed, one_of
from abstain._typing import ArrayLike, Document, Options
from abstain.outputs import Outputs, missing, read_outputs, read_pool, write_outputs, write_pool
from abstain.pool import LabelPlan, load_plan
from abstain.study._manifest import ROLES, Run, SavedSet, add_run, check_name, known_role, read_study
from abstain.study._sets import check_pool

#: Files that outputs are read from.
SUFFIXES = (".npz", ".parquet", ".csv", ".tsv", ".jsonl", ".json")
#: What a name says: the first that is found in it, as whole words.
_ROLES = (
    ("validation", r"val|valid|validation|dev|calib|calibration|holdout"),
    ("train", r"train|training|fit"),
    ("shift", r"shift|shifted|sub|subclass|corruption|corrupted|cor|corr"),
    ("ood", r"foreign|ood|near|far|newclass"),
    ("test", r"test|iid|id|eval"),
)
_CORRUPTION = re.compile(r"(?:corruption|corrupted|corr|cor|level|severity)[-_=]?(\d+)")
_SEED = re.compile(r"(\d+)$")
#: A plan next to its pool: ``<set>.plan.csv``; in a study always ``<set>.plan.json``.
_PLANS = (".plan.json", ".plan.parquet", ".plan.csv")


def add_outputs(
    path: str | os.PathLike[str],
    outputs: Outputs,
    *,
    model: str,
    run: str = "seed0",
    set: str = "test",
    role: str | None = None,
    shift: Document | None = None,
    data: str = "",
    seed: int | None = None,
    settings: Document | None = None,
    plan: LabelPlan | None = None,
    loss: ArrayLike | None = None,
) -> SavedSet:
    """Write outputs into a study and enter them in its manifest, which is made if there is none.

    Parameters
    ----------
    path : str or path
        Folder of the study.
    outputs : Outputs
    model, run, set : str
        Names: the file is ``<model>/<run>/<set>.npz``. A set of the same name is replaced.
    role : {"train", "validation", "test", "shift", "ood"}, optional
        Default: what the name of the set says, else ``"ood"`` for outputs without labels and ``"test"`` for others.
    shift : dict, optional
        What changed, as in :class:`SavedSet`.
    data : str
        Data set that the model was trained on.
    seed : int, optional
        Default: the number at the end of the run's name, else 0.
    settings : dict, optional
        Hyper-parameters of the model.
    plan : LabelPlan, optional
        The outputs are a pool, of which only the rows of this plan are labelled. Its estimates are about all rows.
    loss : array-like of shape (n_rows,), optional
        With a plan: 0/1 losses, NaN where a row has no label; the outputs themselves are unlabelled.

    Returns
    -------
    SavedSet

    Raises
    ------
    ValueError
        A name that is no file name; an unknown role; a plan without losses, or that is not for these outputs.

    Examples
    --------
    >>> import tempfile, abstain
    >>> from abstain import study
    >>> folder = tempfile.mkdtemp()
    >>> study.add_outputs(folder, abstain.datasets.synthetic("calibrated", 100, 0), model="toy", set="test").role
    'test'
    >>> study.read_study(folder).models()
    ['toy']
    """
    for name, what in ((model, "model"), (run, "run"), (set, "set")):
        check_name(name, what)
    guessed_role, guessed_shift = guess(set, plan is None and outputs.labels is None and outputs.loss is None)
    chosen = guessed_role if role is None else one_of(known_role(role), ROLES, "role")
    if plan is None and loss is not None:
        raise ValueError("loss= belongs to plan=, which says which rows are labelled; else give the outputs losses")
    losses = None if plan is None else check_pool(outputs, loss, plan, chosen, f"{model}/{run}/{set}")
    planned = 0 if plan is None else len(plan.planned)
    saved = SavedSet(set, chosen, outputs.n, dict(guessed_shift if shift is None else shift), planned)
    folder = Path(path) / model / run
    folder.mkdir(parents=True, exist_ok=True)
    if plan is None or losses is None:
        write_outputs(outputs, folder / f"{set}.npz")
    else:
        plan.save(folder / f"{set}.plan.json")
        write_pool(outputs, losses, folder / f"{set}.npz")
    _enter(Path(path), model, run, saved, data, _seed(run) if seed is None else seed, settings or {})
    return saved


def _enter(path: Path, model: str, run: str, saved: SavedSet, data: str, seed: int, settings: Document) -> None:
    known = {each.folder: each for each in read_study(path).runs} if (path / "study.json").is_file() else {}
    old = known.get(f"{model}/{run}", Run(model, run, data, seed, (), settings=dict(settings)))
    sets = tuple(saved if each.name == saved.name else each for each in old.sets)
    if all(each.name != saved.name for each in sets):
        sets = (*sets, saved)
    add_run(path, replace(old, sets=sets, data=data or old.data, settings={**old.settings, **settings}))


def init_study(
    path: str | os.PathLike[str], source: str | os.PathLike[str] | None = None, *, data: str = ""
) -> list[tuple[str, SavedSet]]:
    """Make the manifest of a folder of outputs by what its files are called; what was guessed is returned.

    Parameters
    ----------
    path : str or path
        Folder of the study. Without ``source`` its files lie where they belong, ``<model>/<run>/<set>.npz``.
    source : str or path, optional
        Another folder, whose files are read, of any format and in up to three levels, and written into the study:
        ``model/run/set``, ``model/set``, or files of sets alone. A pool of which a plan labelled some rows has the plan
        next to it: ``pool.csv`` and ``pool.plan.csv`` (or .json, .parquet).
    data : str
        Data set that the models were trained on.

    Returns
    -------
    list of (str, SavedSet)
        Folder of the run, and the set with its role and shift.

    Raises
    ------
    FileNotFoundError
        No file of outputs there.
    ValueError
        A manifest is there already; a file that cannot be read; names that are no file names.

    Notes
    -----
    Roles by whole words of a name, the first that fits: validation (val, dev, calibration), train, shift (corruption,
    shifted, sub), ood (near, far), test (test, iid, id). Else a set is ood if its outputs have no labels,
    and a test set otherwise, with a warning. A number behind ``corruption`` is the level. The seed is the number at the
    end of a run's name.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> from abstain import study
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "ce" / "seed1").mkdir(parents=True)
    >>> outputs = abstain.datasets.synthetic("calibrated", 100, 0)
    >>> for name in ("val", "iid", "corruption-3"):
    ...     abstain.write_outputs(outputs, folder / "ce" / "seed1" / f"{name}.npz")
    >>> [(run, each.name, each.role) for run, each in study.init_study(folder)]
    [('ce/seed1', 'corruption-3', 'shift'), ('ce/seed1', 'iid', 'test'), ('ce/seed1', 'val', 'validation')]
    """
    folder = Path(path)
    if (folder / "study.json").exists():
        raise ValueError(f"{folder / 'study.json'} is there already; add to it with add_outputs, or remove it")
    found = _files(folder if source is None else Path(source), source is None)
    entries: list[tuple[str, SavedSet]] = []
    for file, (model, run, name) in found:
        for each, what in ((model, "model"), (run, "run"), (name, "set")):
            check_name(each, what)
        plan_file = _plan_beside(file)
        if plan_file is None:
            outputs, loss, plan = _read(file, guess(name, False)[0]), None, None
        else:
            (outputs, loss), plan = read_pool(file), load_plan(plan_file)
        role, shift = guess(name, plan is None and outputs.labels is None and outputs.loss is None)
        if source is None:
            if plan is not None:
                check_pool(outputs, loss, plan, role, f"{model}/{run}/{name}")
            saved = SavedSet(name, role, outputs.n, shift, 0 if plan is None else len(plan.planned))
            _enter(folder, model, run, saved, data, _seed(run), {})
        else:
            saved = add_outputs(
                folder, outputs, model=model, run=run, set=name, role=role, shift=shift, data=data, plan=plan, loss=loss
            )
        entries.append((f"{model}/{run}", saved))
    _say_unknown([each for _, each in entries])
    return entries


def _say_unknown(sets: list[SavedSet]) -> None:
    """Warn of sets that are taken as test sets for want of a word: several are averaged as one."""
    names = [each.name for each in sets if each.role == "test" and not _role_in(each.name)]
    if names:
        text = f"{listed(dict.fromkeys(names))}: the name says no role, so it is a test set; else edit study.json"
        warnings.warn(text, UserWarning, stacklevel=3)


def _files(folder: Path, in_place: bool) -> list[tuple[Path, tuple[str, str, str]]]:
    """Return the files with model, run and set."""
    suffixes = (".npz",) if in_place else SUFFIXES
    files = sorted(each for each in folder.rglob("*") if each.suffix in suffixes and each.is_file())
    plans = {_plan_beside(each) for each in files}
    files = [each for each in files if each not in plans]
    found = []
    for file in files:
        parts = (*file.relative_to(folder).parts[:-1], file.stem)
        if in_place and (len(parts) != 3 or parts[0] == "units"):
            continue
        if len(parts) <= 3:
            model, run = {1: (folder.resolve().name, "seed0"), 2: (parts[0], "seed0"), 3: parts[:2]}[len(parts)]
            found.append((file, (model, run, file.stem)))
    if not found:
        where = "<model>/<run>/<set>.npz" if in_place else ", ".join(SUFFIXES)
        raise FileNotFoundError(f"{folder}: holds no outputs ({where}); give the folder that has them")
    return found


def _plan_beside(file: Path) -> Path | None:
    """Return the plan of a pool, which is called as the pool is."""
    if file.name.endswith(_PLANS):
        return None
    return next((each for kind in _PLANS if (each := file.with_name(file.stem + kind)).is_file()), None)


#: What to do with columns of other names.
OWN = "; or add this file with 'abstain study add', which takes these as options"


def _read(file: Path, role: str) -> Outputs:
    """Return the outputs; those without labels only where nothing says that there should be some."""
    try:
        return read_set(file)
    except ValueError as error:
        first = f"{error}{OWN}" if "; columns: " in str(error) else str(error)
        if role not in ("ood", "test") or _not_whole(file, {}) is not None:
            raise ValueError(first) from None
    try:
        return read_set(file, unlabelled=True)
    except ValueError:
        raise ValueError(first) from None


def read_set(file: Path, unlabelled: bool = False, **columns: Any) -> Outputs:
    """Return the outputs of a set; a pool of which only some rows are labelled is none, and neither is a plan."""
    try:
        outputs = read_outputs(file, unlabelled=unlabelled, **columns)
    except ValueError:
        why = _not_whole(file, columns)
        if why is None:
            raise
        raise ValueError(f"{file}: {why}") from None
    if unlabelled and _is_plan(file):
        raise ValueError(f"{file}: {PLAN}")
    return outputs


#: Why files of few labels are no sets of a study, and what to do with them.
PLAN = "is a plan of labels, not outputs; give it with its pool: 'abstain study add FOLDER POOL --plan PLAN'"
PARTLY = "has a label in {} of {} rows, and only a plan says how these were chosen; give it by --plan or next to it"


def _not_whole(file: Path, columns: Mapping[str, object]) -> str | None:
    """Return why a file is no set, if it is a pool with few labels or a plan of them."""
    if _is_plan(file):
        return PLAN
    found = missing(file, **columns)
    return None if found is None or not 0 < found[0] < found[1] else PARTLY.format(found[1] - found[0], found[1])


def _is_plan(file: Path) -> bool:
    try:
        load_plan(file)
    except (ValueError, OSError, ImportError):
        return False
    return True


def _role_in(name: str) -> str:
    """Return the first role that a name says as a word; "" for none."""
    words = _words(name)
    return next((role for role, pattern in _ROLES if words & set(pattern.split("|"))), "")


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", name.lower()))


def guess(name: str, unlabelled: bool) -> tuple[str, Options]:
    """Return role and shift as far as a name says."""
    words, role = _words(name), _role_in(name)
    level = _CORRUPTION.search(name.lower())
    if level or "corruption" in words:
        return "shift", {"kind": "corruption"} | ({"level": int(level[1])} if level else {})
    if words & {"sub", "subclass"}:
        return "shift", {"kind": "sub-class"}
    if role == "ood" or unlabelled:
        near = {} if not words & {"near", "far"} else {"semantic": "near" in words}
        return "ood", {"kind": "new-class"} | near
    return role or "test", {}


def _seed(run: str) -> int:
    found = _SEED.search(run)
    return int(found[1]) if found else 0
