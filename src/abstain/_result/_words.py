"""Names and numbers as text: nothing hidden in a name, digits that can be compared, widths as a terminal shows them."""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Iterable

#: Names longer than this lose their middle in legends and headings of images; a table wraps them instead.
LONGEST = 40


def clean(text: object) -> str:
    """Return text with control, formatting and unassigned characters escaped: names come from files."""
    return "".join(c if c.isprintable() else _escaped(ord(c)) for c in str(text))


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def short(name: str, limit: int = LONGEST) -> str:
    """Return a name for a legend: clean, not empty, and with its middle cut out if it is long."""
    text = clean(name) or '""'
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 3
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def number(value: float) -> str:
    """Return four significant digits; a dash for NaN."""
    return fixed(value, decimals([value]))


def decimals(values: Iterable[float]) -> int | None:
    """Return the decimals that show four digits of the smallest number, but no more than five of the largest.

    Numbers of one column are compared digit by digit, so they share them. None: too small or large for decimals.
    """
    sizes = [abs(value) for value in values if math.isfinite(value) and value != 0.0]
    if not sizes or not 1e-5 <= max(sizes) < 1e6:
        return None
    least, most = (3 - math.floor(math.log10(size)) for size in (min(sizes), max(sizes)))
    return max(0, min(least, most + 1, 8))


def fixed(value: float, places: int | None) -> str:
    """Return a number with so many decimals, zeros at its end included; whole numbers, which are exact, without."""
    if math.isnan(value):
        return "—"
    if abs(value) < 1e6 and value == round(value):
        return f"{value + 0.0:.0f}"
    return f"{value:#.4g}" if places is None else f"{value:.{places}f}"


def width(text: str) -> int:
    """Return the columns of a terminal that a text takes: two for letters of East Asia and images."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrapped(text: str, most: int, indent: str = "") -> list[str]:
    """Return the lines of a text, broken at spaces, and inside a word only where it is too long for a line."""
    if width(text) <= most:
        return [text]
    room = most // 2 if width(text) > len(text) else most
    lines = textwrap.wrap(text, max(room, 1 + len(indent)), subsequent_indent=indent, break_on_hyphens=False)
    return lines or [text]
