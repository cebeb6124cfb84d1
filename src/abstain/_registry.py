"""One small registry of named, documented things. It feeds the command line, the docs and the reports."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Generic, Protocol, TypeVar

from abstain._checks import closest

#: More names than this are not listed in a message.
MANY = 12


#: What others call some of these.
CALLED = {"error_rate": "risk", "error": "risk", "auroc": "auroc_f", "auc": "auroc_f"}


def not_known(kind: str, name: str, known: Iterable[str]) -> ValueError:
    """Return the error about an unknown name: what may be meant, or the nearest of many and how to list them all."""
    from difflib import get_close_matches

    known = list(known)
    hint = closest(name, known)
    plain = name.lower().replace(" ", "_").replace("-", "_")
    if plain in known:
        hint = f"did you mean {plain!r}?"
    elif CALLED.get(name) in known:
        hint = f"here it is called {CALLED[name]!r}"
    elif len(known) > MANY and not get_close_matches(name, known):
        nearest = ", ".join(map(repr, get_close_matches(name, known, cutoff=0.0)))
        hint = f"the nearest are {nearest}; abstain.{kind}s.names() lists all"
    return ValueError(f"{kind} {name!r} is not known; {hint}")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=_Named)


class Registry(Generic[T]):
    """Named things in the order in which they were registered.

    ``modules``: those of higher layers that register things of their own when they are loaded. They are, when somebody
    asks for a name that is not there, or for all of them.
    """

    def __init__(self, kind: str, modules: tuple[str, ...] = ()) -> None:
        self._kind = kind
        self._modules = modules
        self._entries: dict[str, T] = {}

    def register(self, entry: T) -> T:
        """Add an entry; a name can be taken only once, but a function that is defined anew replaces its entry."""
        taken = self._entries.get(entry.name)
        if taken is not None and _origin(taken) != _origin(entry):
            raise ValueError(f"the {self._kind} {entry.name!r} is registered already; choose another name")
        self._entries[entry.name] = entry
        return entry

    def __getitem__(self, name: str) -> T:
        if not isinstance(name, str):
            raise TypeError(f"name must be text, the name of a {self._kind}, got {type(name).__name__}")
        found = self._entries.get(name)
        if found is None and name not in self._all():
            raise not_known(self._kind, name, self._entries)
        return self._entries[name] if found is None else found

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._all()

    def __iter__(self) -> Iterator[T]:
        return iter(self._all().values())

    def __len__(self) -> int:
        return len(self._all())

    def names(self) -> list[str]:
        """Return all names in the order of registration."""
        return list(self._all())

    def loaded(self) -> list[T]:
        """Return what is registered so far."""
        return list(self._entries.values())

    def _all(self) -> dict[str, T]:
        while self._modules:
            module, *rest = self._modules
            self._modules = tuple(rest)
            import_module(module)
        return self._entries


def _origin(entry: object) -> tuple[object, object]:
    """Where the function of an entry was written, interactive sessions included; other things are only themselves."""
    function = getattr(entry, "function", entry)
    return getattr(function, "__module__", None), getattr(function, "__qualname__", entry)


# ---------------------------------------------------------------------- names with options as text


def read_spec(text: str, kind: str, example: str) -> tuple[str, dict[str, object]]:
    """Return the name and the options of one text; words need no quotes. ``kind`` and ``example`` are for messages."""
    if not isinstance(text, str):
        raise TypeError(f"spec must be text, the name of a {kind}, got {type(text).__name__}")
    if text.isidentifier():
        return text, {}
    bad = ValueError(f'{kind} {text!r} cannot be read; write a name, or a name with options: "{example}"')
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise bad from None
    name = ast.unparse(tree.func if isinstance(tree, ast.Call) else tree)
    if not all(part.isidentifier() for part in name.split(".")) or (isinstance(tree, ast.Call) and tree.args):
        raise bad
    if not isinstance(tree, ast.Call):
        return name, {}
    try:
        return name, {each.arg: _value(each.value) for each in tree.keywords if each.arg is not None}
    except ValueError:
        raise ValueError(f"{kind} {text!r} has an option that is no number or word") from None


def _value(node: ast.expr) -> object:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_value(entry) for entry in node.elts)
    return ast.literal_eval(node)


def known_options(name: str, options: Iterable[str], known: Mapping[str, object]) -> None:
    """Refuse an option that the named thing does not have, and list those that it has with their defaults."""
    for option in options:
        if option not in known:
            listed = ", ".join(f"{key}={value!r}" for key, value in known.items()) or "none"
            raise TypeError(f"{name} has no option {option!r}; its options: {listed}")


def split_specs(text: str) -> list[str]:
    """Return the parts of a comma-separated list; commas inside brackets belong to options."""
    if not isinstance(text, str):
        raise TypeError(f"text must be text, names with commas between them, got {type(text).__name__}")
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
