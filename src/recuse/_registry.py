"""One small registry of named, documented things. It feeds the command line, the docs and the reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from recuse._checks import closest


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
            raise ValueError(f"{self._kind} {name!r} is not known; {closest(name, self._entries)}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[T]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def names(self) -> list[str]:
        """Return all names in the order of registration."""
        return list(self._entries)
