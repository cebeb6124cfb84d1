"""Recipes by name or file, and settings by key."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, get_type_hints

from abstain._checks import closest
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
    table = _table(name)
    built: Recipe = _build(Recipe, table, Path(name).stem)
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
    table = _merged(_table(base), table) if base is not None else table
    return {**table, "name": Path(name).stem}


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
    """Make a dataclass from a table; unknown keys and wrong types are said with their place."""
    hints = get_type_hints(kind)
    known = {each.name for each in dataclasses.fields(kind)}
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            raise ValueError(f"{where}: setting {key!r} is not known; {closest(key, known)}")
        place = f"{where}.{key}"
        if key == "terms":
            values[key] = {name: _term(name, settings, place) for name, settings in value.items()}
        elif key == "stage":
            values[key] = {name: _build(Stage, settings, f"{place}.{name}") for name, settings in value.items()}
        elif dataclasses.is_dataclass(hints[key]):
            values[key] = _build(hints[key], value, place)
        else:
            values[key] = _typed(hints[key], value, place)
    try:
        return kind(**values)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where}: {error}") from None


def _term(name: str, table: Any, where: str) -> Any:
    if name not in TERMS:
        raise ValueError(f"{where}: term {name!r} is not known; {closest(name, TERMS)}")
    return _build(TERMS[name], table, f"{where}.{name}")


def _typed(hint: Any, value: Any, where: str) -> Any:
    """A value of the type that the setting has; whole numbers pass as numbers."""
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint in (bool, int, float, str) and type(value) is not hint:
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


def flat(built: Any, prefix: str = "") -> dict[str, Any]:
    """Return all settings of a recipe by their full key."""
    found: dict[str, Any] = {}
    pairs = (
        built.items()
        if isinstance(built, Mapping)
        else ((each.name, getattr(built, each.name)) for each in dataclasses.fields(built))
    )
    for name, value in pairs:
        key = f"{prefix}{name}"
        if dataclasses.is_dataclass(value) or (name in ("stage", "terms") and isinstance(value, Mapping)):
            found |= flat(value, f"{key}.")
        elif name != "grid":
            found[key] = value
    return found


def change(built: Recipe, key: str, value: Any) -> Recipe:
    """Return a recipe with one setting changed, wherever its key fits."""
    fixed = {"name", "about", "source", "found"}
    keys = [each for each in flat(built) if each not in fixed]
    hits = [key] if key in keys else [each for each in keys if each.endswith(f".{key}")]
    if not hits:
        raise ValueError(f"recipe {built.name!r} has no setting {key!r}; {closest(key, [*keys, *_last(keys)])}")
    if len({_in_any_stage(hit) for hit in hits}) > 1:
        raise ValueError(f"setting {key!r} could be {' or '.join(hits)}; write one of them in full")
    for hit in hits:
        built = _replaced(built, hit.split("."), value, hit)
    return built


def _in_any_stage(key: str) -> str:
    """A key without the name of its stage."""
    parts = key.split(".")
    return ".".join(parts[2:]) if parts[0] == "stage" else key


def _last(keys: Sequence[str]) -> list[str]:
    return sorted({key.rsplit(".", 1)[-1] for key in keys})


def _replaced(built: Any, path: list[str], value: Any, where: str) -> Any:
    name, *rest = path
    if isinstance(built, Mapping):
        return {**built, name: _replaced(built[name], rest, value, where)}
    inner = getattr(built, name)
    new = _replaced(inner, rest, value, where) if rest else _typed(get_type_hints(type(built))[name], value, where)
    try:
        return dataclasses.replace(built, **{name: new})
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where}={value!r}: {error}") from None


def as_table(built: Recipe) -> dict[str, Any]:
    """Return all settings as plain values, for the manifest of a study."""
    return dataclasses.asdict(built)


def essence(built: Any) -> Any:
    """Return the settings that differ from their defaults: a setting that comes later does not change it."""
    if isinstance(built, Mapping):
        return {name: essence(value) for name, value in built.items()}
    if not dataclasses.is_dataclass(built):
        return built
    found = {}
    for each in dataclasses.fields(built):
        value = getattr(built, each.name)
        if value != _default(each):
            found[each.name] = essence(value)
    return found


def agrees(built: Any, saved: Any) -> bool:
    """Say whether a recipe is the one whose table a manifest keeps; what an older one lacks counts as its default."""
    if dataclasses.is_dataclass(built):
        if not isinstance(saved, Mapping):
            return False
        own = {each.name: each for each in dataclasses.fields(built)}
        missing = [each for name, each in own.items() if name not in saved]
        return (
            set(saved) <= set(own)
            and all(getattr(built, each.name) == _default(each) for each in missing)
            and all(agrees(getattr(built, name), value) for name, value in saved.items() if name not in WORDING)
        )
    if isinstance(built, Mapping) and isinstance(saved, Mapping):
        return built.keys() == saved.keys() and all(agrees(value, saved[name]) for name, value in built.items())
    return bool(built == saved)


#: What is said about a recipe; other words make no other training.
WORDING = ("about", "source", "found", "grid")


def _default(each: dataclasses.Field[Any]) -> Any:
    if each.default_factory is not dataclasses.MISSING:
        return each.default_factory()
    return each.default
