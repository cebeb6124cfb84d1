"""How another implementation is found and called: what is passed is stated by a call, never guessed."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import math
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from abstain._checks import one_of
from abstain._typing import Options

Arrays = Literal["numpy", "torch", "list"]
#: What a call may use besides the columns, the options and ``f``.
_BUILTINS = {each.__name__: each for each in (abs, bool, float, int, len, list, max, min, range, round, sum)}
_SECONDS = 60


class Answer(NamedTuple):
    """What one call gave: a number, or an error in words."""

    value: float = math.nan
    error: str = ""


class Call(NamedTuple):
    """A way to call an implementation, and in which words."""

    text: str
    names: frozenset[str]
    answer: Callable[[Options], Answer]


def load(target: str) -> Any:
    """Return what ``package.module:name`` or ``FILE.py:name`` names."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise ValueError(f"{target!r} names no function; give package.module:name or FILE.py:name")
    if place.endswith(".py"):
        path = Path(place)
        if not path.is_file():
            raise FileNotFoundError(f"{place}: there is no such file")
        spec = spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{target}: {place} has no {name!r}")
        found = getattr(found, part)
    return found


def call_of(function: Any, text: str | None, known: tuple[str, ...], arrays: Arrays) -> Call:
    """Return how the function is called; without a text by the names of its parameters, which must be columns."""
    one_of(arrays, ("numpy", "torch", "list"), "arrays")
    if not callable(function):
        raise TypeError(f"an implementation is a function or a class with update and compute, got {function!r}")
    if text is None:
        text = _by_names(function, known)
    elif not any(isinstance(node, ast.Name) and node.id == "f" for node in ast.walk(_parsed(f"_({text})", text))):
        text = f"f({text})"
    tree = _parsed(text, text)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - bound
    unknown = sorted(names - {*known, "f", "np", "torch", *_BUILTINS})
    if unknown:
        raise ValueError(f"call: {unknown[0]!r} is no column here; there are {', '.join(known)}")
    code = compile(tree, "call", "eval")
    called = _updated(function) if isinstance(function, type) and hasattr(function, "compute") else function

    def answer(given: Options) -> Answer:
        space: Options = {"f": called, "np": np, "__builtins__": _BUILTINS}
        if "torch" in names or arrays == "torch":
            space["torch"] = importlib.import_module("torch")
        space |= {name: _as(given[name], arrays) for name in names if name in given}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                return _number(eval(code, space))
        except Exception as error:
            reason = " ".join(str(error).split())
            return Answer(error=f"{type(error).__name__}: {reason}"[:200])

    return Call(text, frozenset(names & set(known)), answer)


def command_of(command: str, metric: str, known: tuple[str, ...]) -> Call:
    """Return how a command is called: JSON on standard input, a number on standard output."""
    words = shlex.split(command)
    if not words:
        raise ValueError("command: is empty; give a program that reads JSON and writes a number")

    def answer(given: Options) -> Answer:
        plain = {name: _json(value) for name, value in given.items() if name in known}
        try:
            done = subprocess.run(
                words,
                input=json.dumps({"metric": metric, **plain}),
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return Answer(error=f"TimeoutExpired: no answer in {_SECONDS} seconds")
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            return Answer(error=f"exit code {done.returncode}: {last}"[:200])
        try:
            return Answer(float(done.stdout))
        except ValueError:
            return Answer(error=f"not a number: {done.stdout.strip()[:100]!r}")

    return Call(f"{command} < JSON", frozenset(known), answer)


def _parsed(text: str, shown: str) -> ast.Expression:
    try:
        return ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise ValueError(
            f"call: {shown!r} is not Python ({error.msg}); give 'confidence, loss' or '1 - f(...)'"
        ) from None


def _by_names(function: Any, known: tuple[str, ...]) -> str:
    """Return a call by the names of the parameters, if all that must be given are columns."""
    of = function.update if isinstance(function, type) and hasattr(function, "update") else function
    try:
        parameters = [each for each in inspect.signature(of).parameters.values() if each.name != "self"]
    except (TypeError, ValueError):
        parameters = []
    needed = [each.name for each in parameters if each.default is each.empty and each.kind not in (2, 4)]
    if not needed or not set(needed) <= set(known):
        shown = ", ".join(needed) or "unknown names"
        raise ValueError(
            f"the parameters ({shown}) do not say which columns they are; give call, such as 'confidence, loss', of: "
            + ", ".join(known)
        )
    wanted = [each.name for each in parameters if each.name in known]
    return f"f({', '.join(f'{name}={name}' for name in wanted)})"


def _updated(metric: Any) -> Callable[..., Any]:
    """Return a function of the arguments of ``update``, in the style of torchmetrics."""

    def value(*arguments: Any, **named: Any) -> Any:
        made = metric()
        made.update(*arguments, **named)
        return made.compute()

    return value


def _as(value: Any, arrays: Arrays) -> Any:
    """Return a column as the implementation takes arrays, a copy of its own; options stay numbers."""
    if not isinstance(value, np.ndarray):
        return value
    if arrays == "torch":
        return importlib.import_module("torch").tensor(value)
    return value.tolist() if arrays == "list" else value.copy()


def _json(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_json(each) for each in value.tolist()]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def _number(found: Any) -> Answer:
    if found is None:
        return Answer()
    if isinstance(found, tuple | list | dict):
        return Answer(error=f"a {type(found).__name__} is no number: say which part in the call, such as f(...)[0]")
    item = getattr(found, "item", None)
    return Answer(float(item() if item is not None else found))
