"""Recipes by name or file, and settings by key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from abstain._checks import closest, one_of
from abstain.nn.train._settings import TERMS, Recipe, Stage

_FOLDER = files("abstain.nn.train") / "recipes"


def names() -> list[str]:
    """Return the names of the recipes.

    Examples
    --------
    >>> from abstain.nn import train
    >>> "sure_plus" in train.names()
    True
    """
    return sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml"))


def recipe(name: str, settings: Sequence[str] | Mapping[str, Any] = ()) -> Recipe:
    """Return a recipe by name or from a TOML file, with some settings changed.

    Parameters
    ----------
    name : str
        One of :func:`names`, or a path that ends in ``.toml``. A file may say ``base = "sure"`` and list only what
        differs.
    settings : sequence of str, or dict
        ``["network.width=16", "stage.main.epochs=5"]``. A key may leave out its beginning where one setting is meant;
        ``epochs=5`` then holds for every stage.

    Returns
    -------
    Recipe

    Raises
    ------
    ValueError
        An unknown recipe, key or value; the message lists what is known.

    Examples
    --------
    >>> from abstain.nn import train
    >>> train.recipe("mixup", ["network.width=16", "epochs=5"]).stage["main"].epochs
    5
    """
    built: Recipe = _build(Recipe, _table(name), Path(name).stem)
    given = settings.items() if isinstance(settings, Mapping) else (_pair(text) for text in settings)
    for key, value in given:
        built = change(built, key, value)
    return built


def _table(name: str) -> dict[str, Any]:
    """Read a recipe and what it is based on."""
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise FileNotFoundError(f"{name}: no such file; 'abstain train --list' shows the recipes by name")
        text = path.read_text(encoding="utf-8")
    elif name in names():
        text = (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    else:
        raise ValueError(f"recipe {name!r} is not known; {closest(name, names())}; or give a file that ends in .toml")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name}: is no TOML ({error})") from None
    base = table.pop("base", None)
    below = {} if base is None else _table(base)
    return {**_merged(below, table), "name": Path(name).stem}


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """One table over another; ``terms.x = false`` takes a term away."""
    result = dict(below)
    for key, value in above.items():
        if value is False and isinstance(result.get(key), dict):
            del result[key]
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _merged(result[key], value)
        else:
            result[key] = value
    return result


def _build(kind: type[Any], table: Mapping[str, Any], where: str) -> Any:
    """Make a dataclass from a table; an error about an unknown key or a wrong type names its place."""
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for key, value in table.items():
        place = f"{where}.{key}"
        if key not in hints:
            raise ValueError(f"{where}: setting {key!r} is not known; {closest(key, hints)}")
        if key in ("terms", "stage"):
            kinds = TERMS if key == "terms" else dict.fromkeys(value, Stage)
            unknown = next((name for name in value if name not in kinds), None)
            if unknown is not None:
                raise ValueError(f"{place}: term {unknown!r} is not known; {closest(unknown, TERMS)}")
            values[key] = {name: _build(kinds[name], inner, f"{place}.{name}") for name, inner in value.items()}
        elif is_dataclass(hints[key]):
            values[key] = _build(hints[key], value, place)
        else:
            values[key] = _typed(hints[key], value, place)
    try:
        return kind(**values)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where}: {error}") from None


def _typed(hint: Any, value: Any, where: str) -> Any:
    """Return a value if it has the type of the setting; whole numbers pass as numbers."""
    if hint is float and type(value) is int:
        return float(value)
    if get_origin(hint) is Literal:
        return one_of(value, get_args(hint), where)
    if hint in _WORDS and type(value) is not hint:
        raise ValueError(f"{where} must be {_WORDS[hint]}, got {value!r}")
    return value


_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def _pair(text: str) -> tuple[str, Any]:
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise ValueError(f"setting {text!r} cannot be read; write key=value, such as stage.main.epochs=5")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()  # words need no quotes


def flat(built: Recipe) -> dict[str, Any]:
    """Return all settings of a recipe by their full key."""
    found: dict[str, Any] = {}

    def add(table: Mapping[str, Any], prefix: str) -> None:
        for name, value in table.items():
            if isinstance(value, Mapping):
                add(value, f"{prefix}{name}.")
            else:
                found[prefix + name] = value

    add({name: value for name, value in asdict(built).items() if name != "grid"}, "")
    return found


def change(built: Recipe, key: str, value: Any) -> Recipe:
    """Return a recipe with one setting changed, wherever its key fits."""
    keys = [each for each in flat(built) if each not in ("name", *WORDING)]
    hits = [key] if key in keys else [each for each in keys if each.endswith(f".{key}")]
    if not hits:
        last = sorted({each.rpartition(".")[2] for each in keys})
        raise ValueError(f"recipe {built.name!r} has no setting {key!r}; {closest(key, [*keys, *last])}")
    if len({re.sub(r"^stage\.\w+\.", "", hit) for hit in hits}) > 1:
        raise ValueError(f"setting {key!r} could be {' or '.join(hits)}; write one of them in full")
    table = asdict(built)
    for hit in hits:
        *path, name = hit.split(".")
        inner = table
        for step in path:
            inner = inner[step]
        inner[name] = value
    changed: Recipe = _build(Recipe, table, built.name)
    return changed


def agrees(built: Recipe, saved: Mapping[str, Any]) -> bool:
    """Return whether a recipe trains what the saved table of a recipe does; what the table lacks is the default."""
    try:
        other: Recipe = _build(Recipe, saved, built.name)
    except ValueError:
        return False
    words = {name: getattr(built, name) for name in WORDING}
    return replace(other, **words) == built


#: What is said about a recipe; other words make no other training.
WORDING = ("about", "source", "found", "grid")
