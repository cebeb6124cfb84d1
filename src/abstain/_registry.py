"""One small registry of named, documented things. It feeds the command line, the docs and the reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from abstain._checks import closest

#: More names than this are not listed in a message.
MANY = 12


def not_known(kind: str, name: str, known: Iterable[str]) -> ValueError:
    """Return the error about an unknown name: what may be meant, or the nearest of many and how to list them all."""
    from difflib import get_close_matches

    known = list(known)
    hint = closest(name, known)
    if len(known) > MANY and not get_close_matches(name, known):
        nearest = ", ".join(map(repr, get_close_matches(name, known, cutoff=0.0)))
        hint = f"the nearest are {nearest}; abstain.{kind}s.names() lists all"
    return ValueError(f"{kind} {name!r} is not known; {hint}")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=_Named)


class Registry(Generic[T]):
    """Named things in the order in which they were registered."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._entries: dict[str, T] = {}

    def register(self, entry: T) -> T:
        """Add an entry; a name can be taken only once."""
        if entry.name in self._entries:
            raise ValueError(f"the {self._kind} {entry.name!r} is registered already; choose another name")
        self._entries[entry.name] = entry
        return entry

    def __getitem__(self, name: str) -> T:
        try:
            return self._entries[name]
        except KeyError:
            raise not_known(self._kind, name, self._entries) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[T]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def names(self) -> list[str]:
        """Return all names in the order of registration."""
        return list(self._entries)
