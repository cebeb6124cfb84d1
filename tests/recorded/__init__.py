"""Values that the public functions gave, recorded in files: a change of one is intended, or a fault.

Whether a value is right is asked by the other tests. These ask whether it is still the same, over many more options
than a definition by hand can follow. Every public function of a module ``of_*.py`` here is a case; what it returns,
or yields as pairs of a name and a value or as values, is recorded in the JSON file of the module's name.
``python -m tests.recorded`` writes the files again; the diff shows what changed, and its commit says why.
``python -m tests.recorded of_policy`` writes those of some modules.

What another processor gives otherwise, such as the order of ties in an unstable sort, is not compared: each module is
computed a second time without wide instructions, and ``ANY`` stands where the two differ.
"""

import importlib
import inspect
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import numpy as np

#: Stands for a value that depends on the processor.
ANY = "~"
#: Leaves out wide instructions: of NumPy, its BLAS, PyTorch and the C library.
NARROW = {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR", "OPENBLAS_CORETYPE": "Nehalem"}
NARROW |= {"ATEN_CPU_CAPABILITY": "default", "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"}
FOLDER = Path(__file__).parent
#: Those of PyTorch are left out where it is not installed.
MODULES = sorted(path.stem for path in FOLDER.glob("of_*.py") if find_spec("torch") or "of_nn" not in path.stem)
#: What a result says of the machine and of the day (an identity rests on the date of a policy), and its sentences.
LEFT_OUT = ("abstain", "numpy", "python", "created", "identity", "notes")


def cases(module):
    """Return the functions of a module whose values are recorded."""
    found = importlib.import_module(f"tests.recorded.{module}")
    own = inspect.getmembers(found, inspect.isfunction)
    return {name: each for name, each in own if each.__module__ == found.__name__ and not name.startswith("_")}


def given(module, name):
    """Return what a case gives; few resamples are behind what is said beside a comparison, but in one module."""
    with patch("abstain.inference._beside.RESAMPLES", 400 if module == "of_evaluations" else 40):
        return plain(cases(module)[name]())


def tolerance(module):
    """Return how far a value of the module may lie from what was recorded, relative to it."""
    return float(getattr(importlib.import_module(f"tests.recorded.{module}"), "TOLERANCE", 1e-9))


def tried(call, *values, **options):
    """Return what a call gives, or the name of its error."""
    try:
        return call(*values, **options)
    except (TypeError, ValueError, ArithmeticError, KeyError, OSError) as error:
        return type(error).__name__


def plain(value):
    """Return numbers of 12 digits and words in lists and dicts; of a sentence its numbers, other tests judge it."""
    if inspect.isgenerator(value):
        found = list(value)
        named = all(isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str) for each in found)
        value = dict(found) if named else found
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return float(f"{value:.12g}") if math.isfinite(value) else str(value)
    if isinstance(value, str):
        numbers = " ".join(re.findall(r"\d[\d.,]*\d|\d", value)) or "..."
        return value if value.count(" ") < 3 else numbers + ";" * value.count(";")  # as many as there are notes
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items() if key not in LEFT_OUT}
    if isinstance(value, list | tuple | set | frozenset | range):
        return [plain(each) for each in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if hasattr(value, "spec"):
        return value.spec
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    return type(value).__name__


def shown(result):
    """Return a result with its verdict, its notes and the columns and cells of its tables; an error's name as it is."""
    if isinstance(result, str):
        return result
    tables, marks = result.tables(), "{0.direction}{0.left:d}{0.alike:d}{0.places}{0.share:d}"
    columns = ["/".join(marks.format(each) for each in table.columns) for table in tables]
    settings = [[table.ranks, table.scale, table.heat, table.across, table.shares, table.notes] for table in tables]
    sentences, cells = [result.headline(), *result.notes()], [table.rows for table in tables]
    return {"result": result, "sentences": sentences, "columns": columns, "settings": settings, "cells": cells}


def rows_of(result):
    """Return the rows of a result, its differences and the number of its notes; an error's name as it is."""
    more = () if isinstance(result, str) else getattr(result, "differences", ())
    return result if isinstance(result, str) else [result.rows(), len(result.notes()), *more]


def apart(old, new, within, at=""):
    """Return where two values differ, and by what."""
    if old == ANY:
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        keys = (old.keys() | new.keys()) - {*LEFT_OUT}
        return [line for key in keys for line in apart(old.get(key), new.get(key), within, f"{at}/{key}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [line for k, pair in pairs for line in apart(*pair, within, f"{at}/{k}")]
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (old, new))
    same = old == new and type(old) is type(new)
    same = math.isclose(old, new, rel_tol=within, abs_tol=within / 100.0) if numbers else same
    return [] if same else [f"{at}: {old} -> {new}"]


@cache
def recorded(module):
    """Return what is recorded of a module."""
    return dict(json.loads((FOLDER / f"{module}.json").read_text()))


def values(module):
    """Return what the cases of a module give, as a JSON file holds it."""
    return dict(json.loads(json.dumps({name: given(module, name) for name in cases(module)})))


def elsewhere(module):
    """Return the same from a process without the wide instructions of newer processors."""
    code = f"import json; from tests import recorded; print(json.dumps(recorded.values({module!r})))"
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=os.environ | NARROW, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def common(one, other, within):
    """Return what is the same in two values, and ``ANY`` where they differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {key: common(each, other[key], within) for key, each in one.items()}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [common(*pair, within) for pair in zip(one, other, strict=True)]
    return ANY if apart(one, other, within) else one


def record(module):
    """Write the values of a module, a line for each case, and return how many characters these take."""
    found = common(values(module), elsewhere(module), tolerance(module))
    lines = [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in found.items()]
    return (FOLDER / f"{module}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
