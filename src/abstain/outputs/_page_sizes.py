"""The sizes that a Parquet file states, checked before polars believes them.

polars allocates what a page says that it holds. Where a damaged file says a negative number, the allocation fails, and
that ends the process: no Python code can catch it. Only the footer and the headers of pages are read here, which is a
small part of a file. Both are structures of Thrift's compact protocol, as the Parquet format lays them out.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any, BinaryIO

#: Bytes of a header that are read at first, since statistics of long texts make longer ones, and at most.
_HEADER, _LONGEST = 256, 1 << 24
#: No size in a page header is larger: they have 32 bits.
_LARGEST = (1 << 31) - 1
#: Fields of the structures by their numbers: of the footer and its row groups, ...
_ROW_GROUPS, _COLUMNS, _CHUNK = 4, 1, 3
#: ... of a column chunk, ...
_PATH, _VALUES, _DATA_PAGE, _DICTIONARY = 3, 5, 9, 11
#: ... of a page header, and of what it holds: values, and the lengths of levels.
_PLAIN, _PACKED, _DATA, _DICTIONARY_PAGE, _DATA_V2 = 2, 3, 5, 7, 8
_IN_PAGE, _LEVELS = 1, (5, 6)


def check_sizes(path: str, names: Collection[str] | None = None) -> None:
    """Raise a ValueError if the footer, or a page of these columns (default: of all), states a size that cannot be."""
    try:
        with open(path, "rb") as file:
            footer, end = _footer(file)
            for chunk in (chunk[_CHUNK] for group in footer.get(_ROW_GROUPS, []) for chunk in group[_COLUMNS]):
                name = chunk[_PATH][0].decode("utf-8", "replace")
                if names is None or name in names:
                    _check_pages(file, end, name, chunk)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "a header is damaged"
        raise ValueError(f"{path}: is no readable Parquet file ({reason}); write it again") from None


def _footer(file: BinaryIO) -> tuple[dict[int, Any], int]:
    """Return the footer, and where the pages before it end."""
    length = file.seek(0, os.SEEK_END)
    file.seek(max(0, length - 8))
    size, magic = int.from_bytes(file.read(4), "little"), file.read(4)
    if magic != b"PAR1" or size > length - 8:
        raise ValueError("it has no footer")
    file.seek(length - 8 - size)
    return _Thrift(file.read(size)).struct(), length - 8 - size


def _check_pages(file: BinaryIO, limit: int, name: str, chunk: dict[int, Any]) -> None:
    """Read the headers of the pages of a chunk, which say how many values they hold and how long they are."""
    left, place = chunk[_VALUES], chunk[_DATA_PAGE]
    if not 0 <= left <= _most():
        raise ValueError(f"column {name!r} says that it holds {left} values, which is damage or more than memory holds")
    if 0 < chunk.get(_DICTIONARY, 0) < place:
        place = chunk[_DICTIONARY]
    while left > 0:
        header, end = _header(file, place)
        page = header.get(_DATA) or header.get(_DATA_V2) or header.get(_DICTIONARY_PAGE) or {_IN_PAGE: 0}
        sizes = [
            page[_IN_PAGE],
            header[_PLAIN],
            header[_PACKED],
            *(header.get(_DATA_V2, {}).get(k, 0) for k in _LEVELS),
        ]
        place = end + header[_PACKED]
        is_data = _DATA in header or _DATA_V2 in header
        most = left if is_data else 8 * header[_PLAIN]
        if min(sizes) < 0 or max(sizes) > _LARGEST or place > limit or page[_IN_PAGE] > most:
            raise ValueError(f"a page of column {name!r} states sizes that cannot be")
        left -= page[_IN_PAGE] if is_data else 0


def _header(file: BinaryIO, place: int) -> tuple[dict[int, Any], int]:
    """Return the header of the page at this place, and where it ends."""
    if place < 0:
        raise IndexError
    room = _HEADER
    while True:
        file.seek(place)
        content = file.read(room)
        reader = _Thrift(content)
        try:
            return reader.struct(), place + reader.place
        except IndexError:
            if len(content) < room or room >= _LONGEST:
                raise
            room *= 16


def _most() -> int:
    """Return how many float64 values memory has room for."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8
    except (AttributeError, ValueError, OSError):  # Windows
        return 1 << 40


class _Thrift:
    """Values of Thrift's compact protocol: structures are dicts by the number of the field."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.place = 0

    def struct(self) -> dict[int, Any]:
        """Return the fields of a structure."""
        found: dict[int, Any] = {}
        field = 0
        while (head := self._byte()) & 15:
            field = field + (head >> 4) if head >> 4 else self._whole()
            found[field] = self._value(head & 15, inside=False)
        return found

    def _value(self, kind: int, *, inside: bool) -> Any:
        if kind in (1, 2):  # a truth value is its type, or a byte in a list
            return self._byte() == 1 if inside else kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._whole()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._count())
        if kind in (9, 10):
            head = self._byte()
            size = self._count() if head >> 4 == 15 else head >> 4
            return [self._value(head & 15, inside=True) for _ in range(size)]
        if kind == 11:
            size = self._count()
            kinds = self._byte() if size else 0
            return [(self._value(kinds >> 4, inside=True), self._value(kinds & 15, inside=True)) for _ in range(size)]
        if kind == 12:
            return self.struct()
        raise IndexError(kind)

    def _byte(self) -> int:
        value = self._content[self.place]
        self.place += 1
        return value

    def _bytes(self, size: int) -> bytes:
        self.place += size
        if self.place > len(self._content):
            raise IndexError
        return self._content[self.place - size : self.place]

    def _count(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _whole(self) -> int:
        value = self._count()
        return (value >> 1) ^ -(value & 1)
